/* QoS from a file, by topic, which replaces what was recorded or found: the files of `ros2 bag`'s
 * --qos-profile-overrides-path. */
#ifndef TIMEBASE_QOS_OVERRIDES_H
#define TIMEBASE_QOS_OVERRIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/qos.h>

/** The depth that a file may ask for, unless tb_qos_overrides_set_depth_max sets another: a
 * publisher that is transient local takes 8 bytes for each at once. */
#define TB_QOS_OVERRIDES_DEPTH_MAX 100000

/** The policies of a file. */
typedef struct tb_qos_overrides tb_qos_overrides_t;

TB_BEGIN_DECLS

/** Reads YAML: a mapping of topics to mappings of policies.
 *
 *     /scan:
 *       reliability: best_effort
 *       history: keep_last
 *       depth: 5
 *       deadline: {sec: 0, nsec: 500000000}
 *
 * Policies: reliability, durability, history, depth, deadline, lifespan, liveliness,
 * liveliness_lease_duration, avoid_ros_namespace_conventions; words, or the numbers of rmw/types.h.
 * "system_default", "unknown" and "best_available" override nothing.
 *
 *   TB_ERR_CORRUPT  not such a file: see the error's text, which has the line
 *   TB_ERR_LIMIT    larger than 1 MiB, or nested too deeply
 *   TB_ERR_NO_MEMORY
 *
 * [any thread] */
TB_API TB_WARN_UNUSED tb_status_t tb_qos_overrides_parse(const char *text, size_t size,
                                                         tb_qos_overrides_t **out,
                                                         tb_error_t *error);

/** The same of a regular file; a pipe or a device is refused at once. Also TB_ERR_NOT_FOUND,
 * TB_ERR_INVALID (not a regular file) and TB_ERR_SYSTEM. [any thread] [blocks: file system] */
TB_API TB_WARN_UNUSED tb_status_t tb_qos_overrides_load(const char *path, tb_qos_overrides_t **out,
                                                        tb_error_t *error);

/** Accepts NULL. [any thread] */
TB_API void tb_qos_overrides_destroy(tb_qos_overrides_t *overrides);

/** A larger depth of the file is reduced to `depth_max` (>= 1; else TB_QOS_OVERRIDES_DEPTH_MAX)
 * when it is applied, which is reported to the log. [owner thread] */
TB_API void tb_qos_overrides_set_depth_max(tb_qos_overrides_t *overrides, int32_t depth_max);

/** Puts the policies that the file sets for `topic` (with or without the leading '/') into *qos and
 * leaves the others. False: it sets none. `overrides` may be NULL. [any thread] */
TB_API bool tb_qos_overrides_apply(const tb_qos_overrides_t *overrides, const char *topic,
                                   tb_qos_t *qos);

TB_END_DECLS

#endif
