#include "participant.h"

#include <algorithm>
#include <cstring>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>
#include <stdexcept>

namespace peer
{

namespace
{

const char graph_type[] = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";

// Samples of any type, as the bytes that they have on the wire.
class Opaque : public dds::TopicDataType
{
public:
  explicit Opaque(const std::string &name)
  {
    setName(name.c_str());
    m_typeSize = 1024; // to begin with: histories grow
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

dds::DomainParticipantQos participant_qos(const Participant::Options &options)
{
  static const char enclave[] = "enclave=/;"; // with its NUL
  dds::DomainParticipantQos qos = dds::PARTICIPANT_QOS_DEFAULT;
  auto &builtin = qos.wire_protocol().builtin;
  builtin.readerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  builtin.writerHistoryMemoryPolicy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  qos.user_data().data_vec(std::vector<rtps::octet>(enclave, enclave + sizeof enclave));
  qos.name("/");
  builtin.discovery_config.leaseDuration = {options.lease_s, 0};
  builtin.discovery_config.leaseDuration_announcementperiod =
      eprosima::fastrtps::Duration_t(std::min(3.0, options.lease_s / 4.0)); // 3 s by default
  if (!options.is_local) return qos;
  auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
  udp->maxInitialPeersRange = 32;
  udp->interfaceWhiteList.push_back("127.0.0.1");
  qos.transport().use_builtin_transports = false;
  qos.transport().user_transports.push_back(udp);
  builtin.metatrafficUnicastLocatorList.push_back(rtps::Locator_t()); // no multicast
  rtps::Locator_t self;
  rtps::IPLocator::setIPv4(self, "127.0.0.1");
  builtin.initialPeersList.push_back(self);
  return qos;
}

// What both kinds of endpoints have.
template <typename EndpointQos>
void fill_qos(EndpointQos &out, const Qos &qos, const std::string &hash)
{
  out.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  out.data_sharing().off();
  out.reliability().kind =
      qos.reliable ? dds::RELIABLE_RELIABILITY_QOS : dds::BEST_EFFORT_RELIABILITY_QOS;
  out.durability().kind =
      qos.latched ? dds::TRANSIENT_LOCAL_DURABILITY_QOS : dds::VOLATILE_DURABILITY_QOS;
  out.history().kind = dds::KEEP_LAST_HISTORY_QOS;
  out.history().depth = qos.depth;
  if (hash.empty()) return;
  std::string text = "typehash=" + hash + ";";
  out.user_data().data_vec(std::vector<rtps::octet>(text.begin(), text.end()));
}

void put_guid(CdrWriter &out, const rtps::GUID_t &guid)
{
  out.raw(guid.guidPrefix.value, 12);
  out.raw(guid.entityId.value, 4);
}

void put_guids(CdrWriter &out, const std::vector<rtps::GUID_t> &guids)
{
  out.uint32(static_cast<uint32_t>(guids.size()));
  for (const rtps::GUID_t &guid : guids)
    put_guid(out, guid);
}

void skip_guids(CdrReader &in)
{
  for (size_t bytes = 16 * in.count(16); bytes > 0; bytes--)
    in.octet();
}

} // namespace

std::string topic_on_wire(const std::string &name)
{
  return "rt" + name;
}

std::string type_on_wire(const std::string &name, const std::string &suffix)
{
  std::string wire = name;
  for (size_t at; (at = wire.find('/')) != std::string::npos;)
    wire.replace(at, 1, "::");
  size_t last = wire.rfind("::");
  if (last == std::string::npos) throw std::runtime_error("a type is PACKAGE/msg/NAME");
  return wire.insert(last, "::dds_") + suffix + "_";
}

void Events::notify()
{
  std::lock_guard<std::mutex> lock(mutex_);
  number_++;
  changed_.notify_all();
}

uint64_t Events::number()
{
  std::lock_guard<std::mutex> lock(mutex_);
  return number_;
}

void Events::wait(uint64_t number, std::chrono::steady_clock::time_point limit)
{
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_until(lock, limit, [&] { return number_ > number; });
}

size_t Listener::matched()
{
  std::lock_guard<std::mutex> lock(mutex_);
  return matched_.size();
}

bool Listener::is_matched(const rtps::GUID_t &guid)
{
  std::lock_guard<std::mutex> lock(mutex_);
  return matched_.count(guid) > 0;
}

void Listener::change(int count, const dds::InstanceHandle_t &handle)
{
  rtps::GUID_t guid;
  rtps::iHandle2GUID(guid, handle);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (count > 0)
      matched_.insert(guid);
    else if (count < 0)
      matched_.erase(guid);
  }
  events_.notify();
}

void Listener::on_publication_matched(dds::DataWriter *,
                                      const dds::PublicationMatchedStatus &status)
{
  change(status.current_count_change, status.last_subscription_handle);
}

void Listener::on_subscription_matched(dds::DataReader *,
                                       const dds::SubscriptionMatchedStatus &status)
{
  change(status.current_count_change, status.last_publication_handle);
}

void Listener::on_data_available(dds::DataReader *)
{
  events_.notify();
}

bool Reader::take(Bytes &bytes, dds::SampleInfo &info)
{
  while (dds->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK)
    if (info.valid_data) return true;
  return false;
}

std::string Node::full_name() const
{
  return (space == "/" ? "" : space) + "/" + name;
}

Participant::Participant(const Options &options)
{
  participant_ = dds::DomainParticipantFactory::get_instance()->create_participant(
      options.domain, participant_qos(options));
  if (!participant_) throw std::runtime_error("no participant");
  publisher_ = participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT);
  subscriber_ = participant_->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT);
  if (!options.has_graph) return;
  graph_writer_ = writer("ros_discovery_info", graph_type, {true, true, 1});
  graph_reader_ = reader("ros_discovery_info", graph_type, {true, true, 1000});
}

Participant::~Participant()
{
  close();
}

void Participant::close()
{
  if (!participant_) return;
  participant_->delete_contained_entities();
  dds::DomainParticipantFactory::get_instance()->delete_participant(participant_);
  participant_ = nullptr;
}

dds::Topic *Participant::topic(const std::string &name, const std::string &type)
{
  if (auto *known = participant_->lookup_topicdescription(name)) {
    if (known->get_type_name() != type) throw std::runtime_error(name + " has another type");
    return static_cast<dds::Topic *>(known);
  }
  if (participant_->find_type(type).empty())
    dds::TypeSupport(new Opaque(type)).register_type(participant_);
  return participant_->create_topic(name, type, dds::TOPIC_QOS_DEFAULT);
}

Writer Participant::writer(const std::string &name, const std::string &type, Qos qos,
                           const std::string &hash)
{
  dds::DataWriterQos all = dds::DATAWRITER_QOS_DEFAULT;
  fill_qos(all, qos, hash);
  all.publish_mode().kind = dds::SYNCHRONOUS_PUBLISH_MODE;
  auto listener = std::make_unique<Listener>(events);
  auto *made = publisher_->create_datawriter(topic(name, type), all, listener.get());
  if (!made) throw std::runtime_error("no writer of " + name);
  return {made, std::move(listener)};
}

Reader Participant::reader(const std::string &name, const std::string &type, Qos qos,
                           const std::string &hash)
{
  dds::DataReaderQos all = dds::DATAREADER_QOS_DEFAULT;
  fill_qos(all, qos, hash);
  auto listener = std::make_unique<Listener>(events);
  auto *made = subscriber_->create_datareader(topic(name, type), all, listener.get());
  if (!made) throw std::runtime_error("no reader of " + name);
  return {made, std::move(listener)};
}

Reader Participant::disabled_reader(const std::string &name, const std::string &type, Qos qos)
{
  dds::SubscriberQos of_subscriber = dds::SUBSCRIBER_QOS_DEFAULT;
  of_subscriber.entity_factory().autoenable_created_entities = false;
  dds::Subscriber *usual = subscriber_;
  subscriber_ = participant_->create_subscriber(of_subscriber);
  Reader made = reader(name, type, qos);
  subscriber_ = usual;
  return made;
}

void Participant::use_partition(const std::string &name)
{
  dds::PublisherQos publisher = dds::PUBLISHER_QOS_DEFAULT;
  dds::SubscriberQos subscriber = dds::SUBSCRIBER_QOS_DEFAULT;
  if (name != "-") {
    publisher.partition().push_back(name.c_str());
    subscriber.partition().push_back(name.c_str());
  }
  publisher_ = participant_->create_publisher(publisher);
  subscriber_ = participant_->create_subscriber(subscriber);
}

void Participant::remove(Writer &writer)
{
  const_cast<dds::Publisher *>(writer.dds->get_publisher())->delete_datawriter(writer.dds);
}

void Participant::remove(Reader &reader)
{
  const_cast<dds::Subscriber *>(reader.dds->get_subscriber())->delete_datareader(reader.dds);
}

Node &Participant::add_node(const std::string &full_name)
{
  size_t last = full_name.rfind('/');
  if (last == std::string::npos)
    nodes_.push_back({"/", full_name, {}, {}});
  else
    nodes_.push_back({last ? full_name.substr(0, last) : "/", full_name.substr(last + 1), {}, {}});
  return nodes_.back();
}

void Participant::announce()
{
  is_announced_ = true;
  announce_changes();
}

void Participant::announce_changes()
{
  if (!is_announced_) return;
  CdrWriter sample;
  put_guid(sample, participant_->guid());
  sample.uint32(static_cast<uint32_t>(nodes_.size()));
  for (const Node &node : nodes_) {
    sample.text(node.space);
    sample.text(node.name);
    put_guids(sample, node.readers);
    put_guids(sample, node.writers);
  }
  Bytes bytes = sample.bytes();
  graph_writer_.dds->write(&bytes);
}

// Its own reader is one.
bool Participant::is_heard()
{
  return graph_writer_.listener->matched() > 1;
}

bool Participant::sees(const std::string &full_name)
{
  Bytes bytes;
  dds::SampleInfo info;
  while (graph_reader_.take(bytes, info)) {
    CdrReader in(bytes);
    for (int i = 0; i < 16; i++)
      in.octet();
    for (size_t count = in.count(16); count > 0; count--) {
      Node node;
      node.space = in.text();
      node.name = in.text();
      skip_guids(in);
      skip_guids(in);
      seen_.insert(node.full_name());
    }
  }
  return seen_.count(full_name) > 0;
}

} // namespace peer
