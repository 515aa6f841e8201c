/* Hashes of the descriptions of message types, which endpoints announce since ROS 2 iron. */
#ifndef TB_ROS2_TYPE_HASH_H
#define TB_ROS2_TYPE_HASH_H

/* 64 hex digits for a type by its full name, "std_msgs/msg/String"; NULL if it is not known here.
 * Static storage. */
const char *tb__type_hash_find(const char *type);

#endif
