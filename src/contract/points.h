/* Points at which all clocks of a host were read at once: by them a time of the operator's watch is
 * found in a recording. As texts of TB__POINTS_TOPIC: "reason=start ros_ns=12500000000
 * system_ns=1700000000000000000 steady_ns=81000000 spread_ns=900 max_error_ns=16000000
 * synchronized=yes jumps=0". */
#ifndef TB_CONTRACT_POINTS_H
#define TB_CONTRACT_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/private_api.h"
#include "platform/system_sync.h" /* tb__system_sync_t, tb__system_sync_read */

#define TB__POINT_TEXT_SIZE 256

typedef enum tb__point_reason {
  TB__POINT_START = 1,
  TB__POINT_CLOCK,  /* ROS time has begun */
  TB__POINT_JUMP,   /* it has jumped */
  TB__POINT_MINUTE, /* a minute has passed since the last one */
  TB__POINT_END,
} tb__point_reason_t;

typedef struct tb__point {
  tb__point_reason_t reason;
  bool has_ros;         /* there was ROS time */
  int64_t ros_ns;       /* 0 without it */
  int64_t system_ns;    /* since 1970 */
  int64_t steady_ns;    /* in the middle of the readings; of one run of the system */
  int64_t spread_ns;    /* how long the readings took: the clocks differ by no more */
  int64_t max_error_ns; /* of system time, as the kernel has it; -1: not known */
  bool is_synchronized; /* system time, by the kernel's flag */
  uint64_t jumps;       /* of ROS time since the start */
} tb__point_t;

/* The text, always with its NUL. */
TB_PRIVATE_API void tb__point_format(const tb__point_t *point, char out[TB__POINT_TEXT_SIZE]);

/* False: it is not such a text. Keys that are not known are skipped. */
TB_PRIVATE_API bool tb__point_parse(const char *text, size_t length, tb__point_t *out);

/* "start", "jump", ... */
TB_PRIVATE_API const char *tb__point_reason_name(tb__point_reason_t reason);

#endif
