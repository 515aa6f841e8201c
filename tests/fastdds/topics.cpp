#include "topics.h"

#include <climits>
#include <map>

namespace peer
{

const char clock_type[] = "rosgraph_msgs/msg/Clock";

std::string known_hash(const std::string &type)
{
  static const std::map<std::string, std::string> hashes = {
      {clock_type, "RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564"},
      {"rcl_interfaces/msg/Log",
       "RIHS01_e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac"},
      {"rcl_interfaces/msg/ParameterEvent",
       "RIHS01_043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204"},
      {"std_msgs/msg/String",
       "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"},
  };
  auto found = hashes.find(type);
  return found == hashes.end() ? "" : found->second;
}

Publisher::Publisher(Participant &participant, Node &node, const std::string &topic,
                     const std::string &type, Qos qos, const std::string &hash)
    : topic_(topic),
      writer_(participant.writer(topic_on_wire(topic), type_on_wire(type), qos, hash)),
      depth_(qos.reliable ? qos.depth : INT_MAX)
{
  node.writers.push_back(writer_.dds->guid());
}

void Publisher::send(Bytes bytes)
{
  if (kept_ == depth_) flush();
  writer_.dds->write(&bytes);
  kept_++;
  sent_++;
}

void Publisher::send_texts(size_t count, size_t size)
{
  for (; count > 0; count--) {
    std::string text = topic_ + " " + std::to_string(sent_) + " ";
    CdrWriter sample;
    if (text.size() + 9 < size) text.resize(size - 9, 'x'); // what CDR needs beside it
    sample.text(text);
    send(sample.bytes());
  }
}

bool Publisher::flush()
{
  kept_ = 0;
  return writer_.dds->wait_for_acknowledgments({60, 0}) == ReturnCode_t::RETCODE_OK;
}

Subscription::Subscription(Participant &participant, Node &node, const std::string &topic,
                           const std::string &type, Qos qos)
    : reader_(participant.reader(topic_on_wire(topic), type_on_wire(type), qos, known_hash(type)))
{
  node.readers.push_back(reader_.dds->guid());
}

void Subscription::drain(const std::function<void(const Bytes &)> &handle)
{
  Bytes sample;
  dds::SampleInfo info;
  while (reader_.take(sample, info)) {
    messages_++;
    bytes_ += sample.size();
    if (handle) handle(sample);
  }
}

Bytes clock_sample(int64_t time_ns)
{
  CdrWriter sample;
  sample.uint32(static_cast<uint32_t>(time_ns / 1000000000));
  sample.uint32(static_cast<uint32_t>(time_ns % 1000000000));
  return sample.bytes();
}

int64_t clock_time_ns(const Bytes &sample)
{
  CdrReader in(sample);
  int64_t seconds = static_cast<int32_t>(in.uint32());
  int64_t time_ns = seconds * 1000000000 + in.uint32();
  in.end();
  return time_ns;
}

Ticker::Ticker(Publisher &publisher, int64_t from_ns, int64_t step_ns, milliseconds period)
    : thread_(&Ticker::run, this, std::ref(publisher), from_ns, step_ns, period)
{
}

Ticker::~Ticker()
{
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_stopping_ = true;
  }
  stopping_.notify_all();
  thread_.join();
}

void Ticker::run(Publisher &publisher, int64_t time_ns, int64_t step_ns, milliseconds period)
{
  auto next = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  do {
    publisher.send(clock_sample(time_ns));
    time_ns += step_ns;
    next += period;
  } while (!stopping_.wait_until(lock, next, [&] { return is_stopping_; }));
}

} // namespace peer
