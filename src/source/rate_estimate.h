/* The rate of a clock, from the arrival of its ticks: pure functions. It is the median of the
 * slopes between a few samples, so one late tick does not change it, and a new rate is followed
 * within three samples. */
#ifndef TB_SOURCE_RATE_ESTIMATE_H
#define TB_SOURCE_RATE_ESTIMATE_H

#include <stdint.h>

#define TB__RATE_SAMPLES    5
#define TB__RATE_SPACING_NS INT64_C(10000000) /* of samples: arrival is not exact */

typedef struct tb__rate_sample {
  int64_t time_ns, steady_ns;
} tb__rate_sample_t;

typedef struct tb__rate_estimate {
  tb__rate_sample_t samples[TB__RATE_SAMPLES]; /* oldest first */
  uint32_t count;
  double rate; /* timeline seconds per steady second; 0: unknown, or time is stopped */
} tb__rate_estimate_t;

/* Adds a tick that is not below the last one. After a gap, or a step far ahead of the line, the
 * estimate restarts. */
void tb__rate_estimate_add(tb__rate_estimate_t *estimate, int64_t time_ns, int64_t steady_ns);

#endif
