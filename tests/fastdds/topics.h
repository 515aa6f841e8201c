// Publishers and subscriptions of topics, and /clock.
#ifndef TB_TEST_FASTDDS_TOPICS_H
#define TB_TEST_FASTDDS_TOPICS_H

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "participant.h"

namespace peer
{

extern const char clock_type[];

// RIHS01_... of the types that this file knows, or empty.
std::string known_hash(const std::string &type);

class Publisher
{
public:
  Publisher(Participant &participant, Node &node, const std::string &topic, const std::string &type,
            Qos qos, const std::string &hash);
  // Waits before it would replace a sample that readers may not have.
  void send(Bytes bytes);
  // `count` texts "TOPIC NUMBER ...", each of `size` bytes at least: std_msgs/msg/String.
  void send_texts(size_t count, size_t size);
  // False: readers have not acknowledged all in time.
  bool flush();
  Writer &writer()
  {
    return writer_;
  }

private:
  std::string topic_;
  Writer writer_;
  int depth_;
  int kept_ = 0; // since all were acknowledged
  size_t sent_ = 0;
};

class Subscription
{
public:
  Subscription(Participant &participant, Node &node, const std::string &topic,
               const std::string &type, Qos qos);
  // Takes all that has come.
  void drain(const std::function<void(const Bytes &)> &handle);
  Reader &reader()
  {
    return reader_;
  }
  size_t messages() const
  {
    return messages_;
  }
  size_t bytes() const
  {
    return bytes_;
  }

private:
  Reader reader_;
  size_t messages_ = 0, bytes_ = 0;
};

Bytes clock_sample(int64_t time_ns);
int64_t clock_time_ns(const Bytes &sample);

// Publishes /clock at a steady pace, on a thread of its own.
class Ticker
{
public:
  Ticker(Publisher &publisher, int64_t from_ns, int64_t step_ns, milliseconds period);
  ~Ticker();

private:
  void run(Publisher &publisher, int64_t time_ns, int64_t step_ns, milliseconds period);
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool is_stopping_ = false;
  std::thread thread_;
};

} // namespace peer

#endif
