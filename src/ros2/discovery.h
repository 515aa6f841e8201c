/* The Cyclone DDS configuration for the domain and discovery variables of ROS 2. Pure, except
 * tb__ros2_environment_read. Follows rcl and rmw_cyclonedds of ROS 2 jazzy. */
#ifndef TB_ROS2_DISCOVERY_H
#define TB_ROS2_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/error.h>

#define TB__DOMAIN_ID_MAX 232

/* Values of the variables; NULL or "" when unset. */
typedef struct tb__ros2_environment {
  const char *domain_id;       /* ROS_DOMAIN_ID */
  const char *distro;          /* ROS_DISTRO */
  const char *discovery_range; /* ROS_AUTOMATIC_DISCOVERY_RANGE */
  const char *static_peers;    /* ROS_STATIC_PEERS */
  const char *localhost_only;  /* ROS_LOCALHOST_ONLY */
  const char *cyclonedds_uri;  /* CYCLONEDDS_URI */
  bool prompt_acks; /* not from the environment: send heartbeats shortly after each sample */
} tb__ros2_environment_t;

/* The pointers last until the environment changes. */
tb__ros2_environment_t tb__ros2_environment_read(void);

/* strtoul with base 0; "" is 0. TB_ERR_INVALID, TB_ERR_RANGE (0 to 232). */
TB_WARN_UNUSED tb_status_t tb__domain_id_parse(const char *text, uint32_t *out, tb_error_t *error);

/* The configuration for dds_create_domain; free it. `pid` makes the tag for range OFF.
 * TB_ERR_INVALID: a peer with control characters, or too long. */
TB_WARN_UNUSED tb_status_t tb__discovery_config(const tb__ros2_environment_t *environment, int pid,
                                                char **out, tb_error_t *error);

#endif
