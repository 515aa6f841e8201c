#include "ros1_clock.h"

#include <ros/time.h>

void bench_ros1_start()
{
  ros::Time::init();
  ros::Time::setNow(ros::Time(1, 0));
}

void bench_ros1_read(int64_t times)
{
  for (int64_t i = 0; i < times; i++) {
    ros::Time now = ros::Time::now();
    __asm__ volatile("" : : "r"(now.nsec) : "memory");
  }
}
