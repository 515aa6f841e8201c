/* Whether a clock is ready: a state machine without a clock, which is given samples. */
#ifndef TB_MEASURE_READINESS_H
#define TB_MEASURE_READINESS_H

#include <timebase/ready.h>

#include "clock/clock.h"

/* A clock at one moment. The ticks may be those of a moment before or after. */
typedef struct tb__ready_sample {
  int64_t steady_ns;
  tb_clock_reading_t reading;
  tb__tick_counts_t counts;
} tb__ready_sample_t;

typedef struct tb__readiness {
  tb_ready_options_t options;
  bool in_view;   /* time has started; `last` is set */
  bool anchored;  /* a tick has moved time: `first` is set */
  bool went_back; /* since the last observation that was complete */
  uint64_t moves; /* since `first` */
  tb_ready_reason_t
      verdict; /* on the last observation that was complete; TB_READY_OBSERVING: none */
  tb__ready_sample_t first; /* where the observation begins */
  tb__ready_sample_t last;
  tb_ready_result_t result;
} tb__readiness_t;

/* False: the options are invalid. NULL: the defaults. */
bool tb__readiness_init(tb__readiness_t *readiness, const tb_ready_options_t *options);

/* True: it is ready. Else `result` has the reason so far. */
bool tb__readiness_add(tb__readiness_t *readiness, const tb__ready_sample_t *sample);

/* How long the next sample may take, in ns: short while time is observed. */
int64_t tb__readiness_pause_ns(const tb__readiness_t *readiness);

#endif
