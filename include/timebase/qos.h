/* Quality of service, by ROS's names (rmw_qos_profile_t). Used by topics of bags and of ROS 2. */
#ifndef TIMEBASE_QOS_H
#define TIMEBASE_QOS_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/export.h>
#include <timebase/status.h>

/** Whether lost samples are sent again. */
typedef enum tb_qos_reliability {
  TB_QOS_RELIABLE = 1,    /**< lost samples are sent again */
  TB_QOS_BEST_EFFORT = 2, /**< lost samples stay lost */
} tb_qos_reliability_t;

/** What late subscribers get. */
typedef enum tb_qos_durability {
  TB_QOS_TRANSIENT_LOCAL = 1, /**< late subscriptions get what is kept */
  TB_QOS_VOLATILE = 2,        /**< they get only what is sent afterwards */
} tb_qos_durability_t;

/** How many samples are kept. */
typedef enum tb_qos_history {
  TB_QOS_KEEP_LAST = 1,       /**< `depth` samples */
  TB_QOS_KEEP_ALL = 2,        /**< as many as memory allows */
  TB_QOS_HISTORY_UNKNOWN = 3, /**< of an endpoint on the graph: not announced, as by Fast DDS, and
                                 its depth is 0; one that is created with it keeps the last 10 */
} tb_qos_history_t;

/** How a publisher shows that it is alive. */
typedef enum tb_qos_liveliness {
  TB_QOS_LIVELINESS_AUTOMATIC = 1, /**< alive as long as the process is */
  TB_QOS_LIVELINESS_MANUAL_BY_TOPIC = 3,
} tb_qos_liveliness_t; /**< values as in rmw/types.h, which bags store as numbers */

/** A duration policy that never expires. */
#define TB_QOS_INFINITE ((tb_duration_t){INT64_MAX})

/** The policies of a publisher or subscription. */
typedef struct tb_qos {
  tb_qos_reliability_t reliability;     /**< whether lost samples are sent again */
  tb_qos_durability_t durability;       /**< what late subscriptions get */
  tb_qos_history_t history;             /**< how many samples are kept */
  int32_t depth;                        /**< samples kept, >= 1; ignored with keep all */
  tb_duration_t deadline;               /**< the longest time between samples; >= 0 */
  tb_duration_t lifespan;               /**< how long a sample is worth sending; >= 0 */
  tb_qos_liveliness_t liveliness;       /**< how a publisher shows that it is alive */
  tb_duration_t liveliness_lease;       /**< how often it must; >= 0 */
  bool avoid_ros_namespace_conventions; /**< the topic's name goes to DDS without its "rt" prefix */
  bool has_key; /**< the type has a key (@key in its IDL): DDS matches such with such only */
  uint64_t reserved[4]; /**< 0 */
} tb_qos_t;

/** rmw_qos_profile_default: reliable, volatile, keep last 10. */
#define TB_QOS_INIT_DEFAULT                                                                        \
  {                                                                                                \
    TB_QOS_RELIABLE, TB_QOS_VOLATILE, TB_QOS_KEEP_LAST, 10, {INT64_MAX}, {INT64_MAX},              \
        TB_QOS_LIVELINESS_AUTOMATIC, {INT64_MAX}, false, false,                                    \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

/** rclcpp::ClockQoS: best effort, volatile, keep last 1. */
#define TB_QOS_INIT_CLOCK                                                                          \
  {                                                                                                \
    TB_QOS_BEST_EFFORT, TB_QOS_VOLATILE, TB_QOS_KEEP_LAST, 1, {INT64_MAX}, {INT64_MAX},            \
        TB_QOS_LIVELINESS_AUTOMATIC, {INT64_MAX}, false, false,                                    \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

/** Why a publisher and a subscription of one topic do not match: bits of one number. */
typedef enum tb_qos_policy {
  TB_QOS_POLICY_RELIABILITY = 1 << 0,         /**< best effort offered, reliable requested */
  TB_QOS_POLICY_DURABILITY = 1 << 1,          /**< less offered than requested */
  TB_QOS_POLICY_DEADLINE = 1 << 2,            /**< a longer one offered than requested */
  TB_QOS_POLICY_LIVELINESS = 1 << 3,          /**< a weaker kind offered than requested */
  TB_QOS_POLICY_LIVELINESS_LEASE = 1 << 4,    /**< a longer one offered than requested */
  TB_QOS_POLICY_OWNERSHIP = 1 << 5,           /**< one is shared, one exclusive */
  TB_QOS_POLICY_PARTITION = 1 << 6,           /**< one is in the default partition, one is not */
  TB_QOS_POLICY_DATA_REPRESENTATION = 1 << 7, /**< offered in a form that is not read (XCDR2) */
  TB_QOS_POLICY_TYPE = 1 << 8, /**< different types: not a policy, but no match either */
} tb_qos_policy_t;

TB_BEGIN_DECLS

/** Why a subscription that requests `requested` gets nothing from a publisher that offers
 * `offered`: tb_qos_policy_t bits, 0 if they are compatible. By the rules of DDS; the last four
 * bits are about what tb_qos_t does not hold. A duration of 0 is unspecified, that is infinite.
 * [any thread] [from callbacks] */
TB_API uint32_t tb_qos_mismatches(const tb_qos_t *offered, const tb_qos_t *requested);

/** "reliability", "liveliness lease" and so on, of one bit; static storage. NULL: not a policy.
 * [any thread] [from callbacks] */
TB_API const char *tb_qos_policy_name(tb_qos_policy_t policy);

TB_END_DECLS

#endif
