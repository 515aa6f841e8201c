// A participant of Fast DDS with nodes and endpoints as rmw_fastrtps makes them.
#ifndef TB_TEST_FASTDDS_PARTICIPANT_H
#define TB_TEST_FASTDDS_PARTICIPANT_H

#include <chrono>
#include <condition_variable>
#include <deque>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cdr.h"

namespace peer
{

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using std::chrono::milliseconds;

// "/clock" as "rt/clock", "std_msgs/msg/String" as "std_msgs::msg::dds_::String_".
std::string topic_on_wire(const std::string &name);
std::string type_on_wire(const std::string &name, const std::string &suffix = "");

// Something was received, or matched: threads of the library report it, others wait for it.
class Events
{
public:
  void notify();
  uint64_t number();
  // Until there are more than `number`, or the limit is over.
  void wait(uint64_t number, std::chrono::steady_clock::time_point limit);

  // False: the limit is over. The condition is evaluated with nothing locked.
  template <typename Condition> bool wait_for(milliseconds limit, Condition condition)
  {
    auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
      uint64_t before = number();
      if (condition()) return true;
      if (std::chrono::steady_clock::now() >= end) return false;
      wait(before, end);
    }
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t number_ = 0;
};

// Knows what its endpoint is matched with.
class Listener : public dds::DataWriterListener, public dds::DataReaderListener
{
public:
  explicit Listener(Events &events) : events_(events) {}
  size_t matched();
  bool is_matched(const rtps::GUID_t &guid);
  void on_publication_matched(dds::DataWriter *,
                              const dds::PublicationMatchedStatus &status) override;
  void on_subscription_matched(dds::DataReader *,
                               const dds::SubscriptionMatchedStatus &status) override;
  void on_data_available(dds::DataReader *) override;

private:
  void change(int count, const dds::InstanceHandle_t &handle);
  Events &events_;
  std::mutex mutex_;
  std::set<rtps::GUID_t> matched_;
};

struct Writer {
  dds::DataWriter *dds;
  std::unique_ptr<Listener> listener;
};

struct Reader {
  dds::DataReader *dds;
  std::unique_ptr<Listener> listener;
  bool take(Bytes &bytes, dds::SampleInfo &info);
};

struct Qos {
  bool reliable = true;
  bool latched = false;
  int depth = 10;
};

// What ros_discovery_info has of a node.
struct Node {
  std::string space, name;
  std::vector<rtps::GUID_t> readers, writers;
  std::string full_name() const;
};

class Participant
{
public:
  struct Options {
    uint32_t domain = 0;
    bool is_local = true;  // 127.0.0.1 alone; otherwise shared memory, and UDP with multicast
    bool has_graph = true; // endpoints of ros_discovery_info
    int lease_s = 20;
  };

  explicit Participant(const Options &options);
  ~Participant();
  // Ends it: no listener is called any more, and no endpoint is left.
  void close();

  // On names of the wire. `hash`: RIHS01_..., or empty.
  Writer writer(const std::string &topic, const std::string &type, Qos qos,
                const std::string &hash = "");
  // Exists and has a GUID, but no other participant is told before it is enabled.
  Reader disabled_reader(const std::string &name, const std::string &type, Qos qos);
  Reader reader(const std::string &topic, const std::string &type, Qos qos,
                const std::string &hash = "");
  // Of endpoints that are made from now on; "-": the default.
  void use_partition(const std::string &name);
  void remove(Writer &writer);
  void remove(Reader &reader);

  Node &add_node(const std::string &full_name);
  std::deque<Node> &nodes()
  {
    return nodes_;
  }
  // Sends ros_discovery_info, from the first call of announce() on.
  void announce();
  void announce_changes();
  // Whether a participant has announced a node of that full name.
  bool sees(const std::string &full_name);
  // Another participant reads ros_discovery_info.
  bool is_heard();

  Events events;

private:
  dds::Topic *topic(const std::string &name, const std::string &type);
  dds::DomainParticipant *participant_;
  dds::Publisher *publisher_;
  dds::Subscriber *subscriber_;
  std::deque<Node> nodes_; // references to them stay valid
  Writer graph_writer_;
  Reader graph_reader_;
  std::set<std::string> seen_;
  bool is_announced_ = false;
};

} // namespace peer

#endif
