/* Quality of service, by ROS's names (rmw_qos_profile_t). Used by topics of bags and of ROS 2. */
#ifndef TIMEBASE_QOS_H
#define TIMEBASE_QOS_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/status.h>

typedef enum tb_qos_reliability {
  TB_QOS_RELIABLE = 1,
  TB_QOS_BEST_EFFORT = 2,
} tb_qos_reliability_t;

typedef enum tb_qos_durability {
  TB_QOS_TRANSIENT_LOCAL = 1,
  TB_QOS_VOLATILE = 2,
} tb_qos_durability_t;

typedef enum tb_qos_history {
  TB_QOS_KEEP_LAST = 1,
  TB_QOS_KEEP_ALL = 2,
} tb_qos_history_t;

typedef enum tb_qos_liveliness {
  TB_QOS_LIVELINESS_AUTOMATIC = 1,
  TB_QOS_LIVELINESS_MANUAL_BY_TOPIC = 3,
} tb_qos_liveliness_t; /* values as in rmw/types.h, which bags store as numbers */

/* A duration policy that never expires. */
#define TB_QOS_INFINITE ((tb_duration_t){INT64_MAX})

typedef struct tb_qos {
  tb_qos_reliability_t reliability;
  tb_qos_durability_t durability;
  tb_qos_history_t history;
  int32_t depth; /* samples kept, >= 1; ignored with keep all */
  tb_duration_t deadline;
  tb_duration_t lifespan;
  tb_qos_liveliness_t liveliness;
  tb_duration_t liveliness_lease;
  bool avoid_ros_namespace_conventions; /* the topic's name goes to DDS without its "rt" prefix */
} tb_qos_t;

/* rmw_qos_profile_default: reliable, volatile, keep last 10. */
#define TB_QOS_INIT_DEFAULT                                                                        \
  {                                                                                                \
    TB_QOS_RELIABLE, TB_QOS_VOLATILE, TB_QOS_KEEP_LAST, 10, {INT64_MAX}, {INT64_MAX},              \
        TB_QOS_LIVELINESS_AUTOMATIC, {INT64_MAX}, false                                            \
  }

/* rclcpp::ClockQoS: best effort, volatile, keep last 1. */
#define TB_QOS_INIT_CLOCK                                                                          \
  {                                                                                                \
    TB_QOS_BEST_EFFORT, TB_QOS_VOLATILE, TB_QOS_KEEP_LAST, 1, {INT64_MAX}, {INT64_MAX},            \
        TB_QOS_LIVELINESS_AUTOMATIC, {INT64_MAX}, false                                            \
  }

#endif
