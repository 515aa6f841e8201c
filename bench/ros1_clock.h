/* The clock of ROS 1, in simulated time. */
#ifndef TB_BENCH_ROS1_CLOCK_H
#define TB_BENCH_ROS1_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the time, without a master. */
void bench_ros1_start(void);
/* ros::Time::now(), so many times. */
void bench_ros1_read(int64_t times);

#ifdef __cplusplus
}
#endif

#endif
