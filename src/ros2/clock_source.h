/* The inside of the /clock source, for nodes. */
#ifndef TB_ROS2_CLOCK_SOURCE_H
#define TB_ROS2_CLOCK_SOURCE_H

#include <timebase/ros2_clock_source.h>

/* Of its subscription. False: it has none now. */
bool tb__clock_source_reader_guid(tb_source_t *source, uint8_t out[16]);

#endif
