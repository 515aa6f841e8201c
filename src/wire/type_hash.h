/* Hashes of the descriptions of message types, which endpoints announce since ROS 2 iron. */
#ifndef TB_ROS2_TYPE_HASH_H
#define TB_ROS2_TYPE_HASH_H

#include <stdbool.h>

#define TB__TYPE_HASH_SIZE           65
#define TB__TYPE_HASH_USER_DATA_SIZE 96

/* 64 hex digits for a type by its full name, "std_msgs/msg/String". False: unknown. */
bool tb__type_hash_find(const char *type, char out[TB__TYPE_HASH_SIZE]);

/* "typehash=RIHS01_...;", as in USER_DATA; "" if the hash is unknown. */
void tb__type_hash_user_data(const char *type, char out[TB__TYPE_HASH_USER_DATA_SIZE]);

#endif
