/* Hashes of the descriptions of message types, which endpoints announce since ROS 2 iron. */
#ifndef TB_ROS2_TYPE_HASH_H
#define TB_ROS2_TYPE_HASH_H

/* 64 hex digits for a type by its full name, "std_msgs/msg/String"; NULL if it is not known here.
 * Static storage. */
const char *tb__type_hash_find(const char *type);

#define TB__TYPE_HASH_USER_DATA_SIZE 96

/* "typehash=RIHS01_...;", as it stands in USER_DATA; "" if it is not known. */
void tb__type_hash_user_data(const char *type, char out[TB__TYPE_HASH_USER_DATA_SIZE]);

#endif
