/* Diagnostics of a node on the graph, on /diagnostics: diagnostic_msgs/msg/DiagnosticArray.
 * Statistics of a node are reported by themselves (ros2_statistics.h); this is for what a program
 * measures. */
#ifndef TIMEBASE_ROS2_DIAGNOSTICS_H
#define TIMEBASE_ROS2_DIAGNOSTICS_H

#include <stdint.h>
#include <timebase/error.h>
#include <timebase/ros2_node.h>
#include <timebase/statistics.h>
#include <timebase/time.h>

/** A publisher of diagnostics, and the report that is put together. Of one thread at a time. */
typedef struct tb_ros2_diagnostics tb_ros2_diagnostics_t;

TB_BEGIN_DECLS

/** Publishes on /diagnostics as the node, reliable, depth 10. `hardware_id` of each status; NULL:
 * the name of the host. Copied. Destroy it before the node. [any thread] [from callbacks]
 * TB_ERR_INVALID, TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_FORKED. */
TB_API TB_WARN_UNUSED tb_status_t tb_ros2_diagnostics_create(tb_ros2_node_t *node,
                                                             const char *hardware_id,
                                                             tb_ros2_diagnostics_t **out,
                                                             tb_error_t *error);

/** Drops what has not been published. Accepts NULL. [owner thread] */
TB_API void tb_ros2_diagnostics_destroy(tb_ros2_diagnostics_t *diagnostics);

/** Begins a status, to which values are added. Its name becomes "NODE: TASK", with the full name of
 * the node. Texts are copied, and sent as they are; viewers may take them for markup. Where memory
 * is short, tb_ros2_diagnostics_publish fails; so do values before the first status. NULL does
 * nothing. [owner thread] [from callbacks] */
TB_API void tb_ros2_diagnostics_begin(tb_ros2_diagnostics_t *diagnostics, tb_level_t level,
                                      const char *task, const char *message);

/** A value of the status that was begun last. Numbers are bare, with a point whatever the locale
 * is, to a millionth; NaN and infinities are not known, and left out. NULL does nothing. [owner
 * thread] [from callbacks] */
TB_API void tb_ros2_diagnostics_add_number(tb_ros2_diagnostics_t *diagnostics, const char *key,
                                           double number);
/** [owner thread] [from callbacks] */
TB_API void tb_ros2_diagnostics_add_count(tb_ros2_diagnostics_t *diagnostics, const char *key,
                                          uint64_t count);
/** [owner thread] [from callbacks] */
TB_API void tb_ros2_diagnostics_add_text(tb_ros2_diagnostics_t *diagnostics, const char *key,
                                         const char *text);

/** Publishes the report, and begins an empty one, also if it fails. `stamp`: ROS time, above 0:
 * what is stamped 0 would be taken for a message from before the clock started.
 *
 *   TB_ERR_RANGE      the stamp is not above 0, or not before 2038
 *   TB_ERR_INVALID    NULL, or a value was added before the first status
 *   TB_ERR_NO_MEMORY, TB_ERR_TRANSPORT, TB_ERR_FORKED
 *
 * [owner thread] [from callbacks] */
TB_API tb_status_t tb_ros2_diagnostics_publish(tb_ros2_diagnostics_t *diagnostics, tb_time_t stamp,
                                               tb_error_t *error);

TB_END_DECLS

#endif
