// A node of Fast DDS with services of parameters, as rmw_fastrtps makes them, that answers nothing:
//
//   fastdds_peer DOMAIN NODE
//
// "count" on standard input: "requests N", how many have come so far. Ends at the end of that.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace fast = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;

namespace
{

using Bytes = std::vector<unsigned char>;

// Samples are what follows the encapsulation.
class Opaque : public fast::TopicDataType
{
public:
  explicit Opaque(const std::string &name)
  {
    setName(name.c_str());
    m_typeSize = 1 << 16;
    m_isGetKeyDefined = false;
  }
  bool serialize(void *data, rtps::SerializedPayload_t *payload) override
  {
    const Bytes &bytes = *static_cast<Bytes *>(data);
    payload->encapsulation = CDR_LE;
    payload->length = static_cast<uint32_t>(bytes.size());
    std::memcpy(payload->data, bytes.data(), bytes.size());
    return true;
  }
  bool deserialize(rtps::SerializedPayload_t *payload, void *data) override
  {
    static_cast<Bytes *>(data)->assign(payload->data, payload->data + payload->length);
    return true;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void *data) override
  {
    return [data] { return static_cast<uint32_t>(static_cast<Bytes *>(data)->size()); };
  }
  void *createData() override
  {
    return new Bytes;
  }
  void deleteData(void *data) override
  {
    delete static_cast<Bytes *>(data);
  }
  bool getKey(void *, rtps::InstanceHandle_t *, bool) override
  {
    return false;
  }
};

// Little-endian CDR.
struct Message {
  Bytes bytes{0, 1, 0, 0};
  void number(uint32_t value)
  {
    while (bytes.size() % 4 != 0)
      bytes.push_back(0);
    for (int i = 0; i < 4; i++)
      bytes.push_back(static_cast<unsigned char>(value >> (8 * i)));
  }
  void text(const std::string &value)
  {
    number(static_cast<uint32_t>(value.size() + 1));
    bytes.insert(bytes.end(), value.begin(), value.end());
    bytes.push_back(0);
  }
  void guid(const rtps::GUID_t &value)
  {
    bytes.insert(bytes.end(), value.guidPrefix.value, value.guidPrefix.value + 12);
    bytes.insert(bytes.end(), value.entityId.value, value.entityId.value + 4);
  }
  void guids(const std::vector<rtps::GUID_t> &values)
  {
    number(static_cast<uint32_t>(values.size()));
    for (const rtps::GUID_t &value : values)
      guid(value);
  }
};

fast::DomainParticipant *participant;
fast::Publisher *publisher;
fast::Subscriber *subscriber;

fast::Topic *topic_of(const std::string &name, const std::string &type)
{
  fast::TypeSupport support(new Opaque(type));
  support.register_type(participant);
  return participant->create_topic(name, type, fast::TOPIC_QOS_DEFAULT);
}

fast::DataReader *reader_of(const std::string &name, const std::string &type)
{
  fast::DataReaderQos qos = fast::DATAREADER_QOS_DEFAULT;
  qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
  qos.data_sharing().off();
  return subscriber->create_datareader(topic_of(name, type), qos);
}

fast::DataWriter *writer_of(const std::string &name, const std::string &type, bool keeps)
{
  fast::DataWriterQos qos = fast::DATAWRITER_QOS_DEFAULT;
  qos.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
  qos.durability().kind =
      keeps ? fast::TRANSIENT_LOCAL_DURABILITY_QOS : fast::VOLATILE_DURABILITY_QOS;
  qos.data_sharing().off();
  return publisher->create_datawriter(topic_of(name, type), qos);
}

// On loopback alone.
fast::DomainParticipantQos local_qos()
{
  fast::DomainParticipantQos qos = fast::PARTICIPANT_QOS_DEFAULT;
  auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
  udp->maxInitialPeersRange = 32;
  udp->interfaceWhiteList.push_back("127.0.0.1");
  qos.transport().use_builtin_transports = false;
  qos.transport().user_transports.push_back(udp);
  auto &builtin = qos.wire_protocol().builtin;
  builtin.metatrafficUnicastLocatorList.push_back(rtps::Locator_t());
  rtps::Locator_t peer;
  rtps::IPLocator::setIPv4(peer, "127.0.0.1");
  builtin.initialPeersList.push_back(peer);
  const std::string enclave = "enclave=/;";
  qos.user_data().data_vec(std::vector<rtps::octet>(enclave.begin(), enclave.end()));
  return qos;
}

size_t take_all(const std::vector<fast::DataReader *> &readers)
{
  size_t count = 0;
  Bytes data;
  fast::SampleInfo info;
  for (fast::DataReader *reader : readers)
    while (reader->take_next_sample(&data, &info) == ReturnCode_t::RETCODE_OK)
      count += info.valid_data;
  return count;
}

} // namespace

int main(int argc, char **argv)
{
  static const char *const services[][2] = {{"set_parameters", "SetParameters"},
                                            {"get_parameters", "GetParameters"},
                                            {"list_parameters", "ListParameters"}};
  if (argc != 3) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string node = argv[2], types = "rcl_interfaces::srv::dds_::";
  participant = fast::DomainParticipantFactory::get_instance()->create_participant(
      static_cast<uint32_t>(std::atoi(argv[1])), local_qos());
  if (!participant) return 3;
  publisher = participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT);
  subscriber = participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
  std::vector<fast::DataReader *> readers;
  std::vector<rtps::GUID_t> reader_guids, writer_guids;
  for (const auto &service : services) {
    const std::string name = "/" + node + "/" + service[0], type = types + service[1];
    readers.push_back(reader_of("rq" + name + "Request", type + "_Request_"));
    reader_guids.push_back(readers.back()->guid());
    writer_guids.push_back(writer_of("rr" + name + "Reply", type + "_Response_", false)->guid());
  }
  fast::DataWriter *graph =
      writer_of("ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_", true);
  Message message;
  message.guid(participant->guid());
  message.number(1);
  message.text("/");
  message.text(node);
  message.guids(reader_guids);
  message.guids(writer_guids);
  graph->write(&message.bytes);
  std::puts("ready");
  size_t requests = 0;
  for (std::string line; std::getline(std::cin, line);) {
    requests += take_all(readers);
    std::printf("requests %zu\n", requests);
  }
  participant->delete_contained_entities();
  fast::DomainParticipantFactory::get_instance()->delete_participant(participant);
  return 0;
}
