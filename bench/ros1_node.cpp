/* An idle node of roscpp, which follows `/clock` if `/use_sim_time` is set: a peer of the
 * benchmark. */
#include <ros/ros.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  char byte = 'r';
  ros::init(argc, argv, "bench_roscpp", ros::init_options::NoSigintHandler);
  ros::NodeHandle node;
  ros::AsyncSpinner spinner(1);
  spinner.start();
  if (write(STDOUT_FILENO, &byte, 1) != 1) return 1;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  _exit(0);
}
