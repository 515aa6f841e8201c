// A node of roscpp on simulated time. For each line of standard input it prints what it sees as JSON.
#include <iostream>
#include <string>

#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <rosgraph_msgs/Clock.h>

namespace {

unsigned long ticks, jumps_backward, repeated;
ros::Time last;

void on_tick(const rosgraph_msgs::Clock::ConstPtr &tick)
{
  if (ticks && tick->clock < last) jumps_backward++;
  if (ticks && tick->clock == last) repeated++;
  last = tick->clock;
  ticks++;
}

}  // namespace

int main(int argc, char **argv)
{
  ros::init(argc, argv, "roscpp_follower", ros::init_options::NoRosout);
  ros::NodeHandle node;
  ros::Subscriber subscriber =
      node.subscribe<rosgraph_msgs::Clock>("/clock", 1000, on_tick, ros::TransportHints().tcpNoDelay());
  ros::AsyncSpinner spinner(1);
  spinner.start();
  std::cout << "{\"sim\": " << (ros::Time::isSimTime() ? "true" : "false") << "}" << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << "{\"now_ns\": " << ros::Time::now().toNSec() << ", \"ticks\": " << ticks
              << ", \"jumps_backward\": " << jumps_backward << ", \"repeated\": " << repeated << "}"
              << std::endl;
  return 0;
}
