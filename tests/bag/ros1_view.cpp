/* ros1_view BAG: what rosbag of C++ reads of a bag, a line for each topic by its name: messages,
 * first and last time in ns, the sum of all bytes. */
#include <rosbag/bag.h>
#include <rosbag/view.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace
{

struct Seen {
  uint64_t count = 0, first_ns = 0, last_ns = 0, sum = 0;
};

} // namespace

int main(int argument_count, char **arguments)
{
  if (argument_count != 2) return 2;
  try {
    rosbag::Bag bag(arguments[1]);
    rosbag::View view(bag);
    std::map<std::string, Seen> topics;
    for (const rosbag::MessageInstance &message : view) {
      Seen &seen = topics[message.getTopic()];
      std::vector<uint8_t> data(message.size());
      ros::serialization::OStream stream(data.data(), static_cast<uint32_t>(data.size()));
      message.write(stream);
      const uint64_t time_ns = message.getTime().toNSec();
      if (seen.count++ == 0) seen.first_ns = time_ns;
      seen.last_ns = time_ns;
      for (uint8_t byte : data)
        seen.sum += byte;
    }
    for (const auto &topic : topics)
      std::printf("%s %llu %llu %llu %llu\n", topic.first.c_str(),
                  static_cast<unsigned long long>(topic.second.count),
                  static_cast<unsigned long long>(topic.second.first_ns),
                  static_cast<unsigned long long>(topic.second.last_ns),
                  static_cast<unsigned long long>(topic.second.sum));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
