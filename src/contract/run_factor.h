/* The real-time factor of a clock, and how far it strayed: from ticks and the steady time at which
 * each was received. Of each half second the tick that came with the least delay counts, so a
 * receiver that is late now and then does not show. Fixed memory, no allocation. One thread at a
 * time. */
#ifndef TB_CONTRACT_RUN_FACTOR_H
#define TB_CONTRACT_RUN_FACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/private_api.h"

enum { TB__FACTOR_POINTS = 512 };

typedef struct tb__factor_point {
  int64_t steady_ns, tick_ns;
} tb__factor_point_t;

/* All zero: empty. */
typedef struct tb__run_factor {
  tb__factor_point_t points[TB__FACTOR_POINTS]; /* of each window one; the last one is open */
  uint32_t count;
  int64_t window_ns; /* steady; doubles when there is no room */
  int64_t window_end_ns;
  uint64_t ticks;
} tb__run_factor_t;

/* Simulated time by steady time. */
typedef struct tb__factor_range {
  double mean;         /* from the first point to the last */
  double least, most;  /* of any stretch of about two seconds */
  int64_t measured_ns; /* steady */
} tb__factor_range_t;

TB_PRIVATE_API void tb__run_factor_feed(tb__run_factor_t *run, int64_t tick_ns, int64_t steady_ns);
/* False: less than a second was measured. */
TB_PRIVATE_API bool tb__run_factor_range(const tb__run_factor_t *run, tb__factor_range_t *out);

#endif
