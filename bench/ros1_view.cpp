#include "ros1_view.h"

#include <rosbag/bag.h>
#include <rosbag/view.h>

#include <cstdio>
#include <vector>

int64_t bench_ros1_view(const char *path, uint64_t *out_sum)
{
  int64_t count = 0;
  try {
    rosbag::Bag bag(path);
    rosbag::View view(bag);
    std::vector<uint8_t> data;
    for (const rosbag::MessageInstance &message : view) {
      data.resize(message.size());
      ros::serialization::OStream stream(data.data(), static_cast<uint32_t>(data.size()));
      message.write(stream);
      *out_sum += bench_touch(data.data(), data.size());
      count++;
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", path, error.what());
    return -1;
  }
  return count;
}
