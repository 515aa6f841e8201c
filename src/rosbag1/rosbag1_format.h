/* The bag formats of ROS 1 (2.0, and 1.2 for reading), for the files of a bag. */
#ifndef TB_ROSBAG1_ROSBAG1_FORMAT_H
#define TB_ROSBAG1_ROSBAG1_FORMAT_H

#include "storage/output.h"
#include "storage/storage.h"

extern const tb__bag_storage_t tb__rosbag1_storage;
/* The same for damaged files. */
extern const tb__bag_storage_t tb__rosbag1_salvage;
extern const tb__bag_output_format_t tb__rosbag1_output; /* 2.0 */

#endif
