/* The anchor after a tick, so that time runs on between ticks: pure functions. */
#ifndef TB_SOURCE_EXTRAPOLATION_H
#define TB_SOURCE_EXTRAPOLATION_H

#include <timebase/timeline.h>

#include "source/rate_estimate.h"

typedef struct tb__extrapolation_errors {
  int64_t last_ns, largest_ns; /* tick minus the time read before it */
  double sum_ns;               /* of magnitudes */
  uint64_t count, held;
} tb__extrapolation_errors_t;

typedef struct tb__extrapolation {
  int64_t bound_ns; /* steady, after a tick */
  tb__rate_estimate_t estimate;
  double rate;      /* in use */
  int64_t last_ns;  /* the last tick; 0: none */
  uint32_t repeats; /* ticks in a row that repeated it */
  tb__extrapolation_errors_t errors;
} tb__extrapolation_t;

typedef struct tb__observed_tick {
  int64_t time_ns;
  int64_t arrival_ns; /* steady */
  tb_jump_reason_t reason;
  tb_clock_state_t state;
} tb__observed_tick_t;

/* Processes the tick and returns its anchor. The timeline is halted at `time_ns` and
 * `steady_ns`. */
tb_anchor_t tb__extrapolation_tick(tb__extrapolation_t *self, const tb__observed_tick_t *tick,
                                   int64_t time_ns, int64_t steady_ns);

/* Processes an anchor that determines itself how time runs. */
void tb__extrapolation_anchor(tb__extrapolation_t *self, const tb_anchor_t *anchor);

/* How far time runs at most after a tick. */
int64_t tb__extrapolation_reach(const tb__extrapolation_t *self);

#endif
