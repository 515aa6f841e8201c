/* Durations: signed nanoseconds, no clock attached. */
#ifndef TIMEBASE_DURATION_H
#define TIMEBASE_DURATION_H

#include <stdint.h>
#include <timebase/status.h>

#define TB_NS_PER_US INT64_C(1000)
#define TB_NS_PER_MS INT64_C(1000000)
#define TB_NS_PER_S  INT64_C(1000000000)

typedef struct tb_duration {
  int64_t ns; /* negative: towards the past; the full int64 range is valid */
} tb_duration_t;

#endif
