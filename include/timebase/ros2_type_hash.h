/* Hashes of message types, which endpoints announce since ROS 2 iron. */
#ifndef TIMEBASE_ROS2_TYPE_HASH_H
#define TIMEBASE_ROS2_TYPE_HASH_H

#include <timebase/error.h>
#include <timebase/export.h>

TB_BEGIN_DECLS

/** Has publishers, subscriptions, clients and services of a type that are made from now on announce
 * its hash; without one, each ROS node that sees them warns that it cannot read it. Those of
 * the time contract and of common messages are known already. `type`: "package/msg/Name", or
 * "package/srv/Name_Request" and "_Response", which both sides of a service have. `hash`: "RIHS01_"
 * and 64 hex digits, as `ros2 interface` and the share folder of a package have it. A second hash
 * of a type replaces the first. For the whole process. [any thread] [from callbacks] TB_ERR_INVALID
 * with the reason in the text, TB_ERR_NO_MEMORY, TB_ERR_FORKED. */
TB_API tb_status_t tb_ros2_type_hash_register(const char *type, const char *hash,
                                              tb_error_t *error);

TB_END_DECLS

#endif
