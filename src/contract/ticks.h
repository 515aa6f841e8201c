/* Statistics of the ticks of `/clock`: of all publishers together, and of each. Fixed memory, no
 * allocation. One thread at a time. */
#ifndef TB_CONTRACT_TICKS_H
#define TB_CONTRACT_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "contract/limits.h"
#include "contract/spread.h"
#include "contract/stamps.h"

/* What a tick was. */
typedef enum tb__tick_kind {
  TB__TICK_ZERO = 1,  /* time 0 is "no time yet": it changes nothing */
  TB__TICK_INVALID,   /* below 0, or no time (tb__is_no_time): it changes nothing */
  TB__TICK_FIRST,     /* the first that is not zero */
  TB__TICK_REPEAT,    /* the time of the tick before */
  TB__TICK_FORWARD,   /* an ordinary step */
  TB__TICK_GAP,       /* a long step forward, that took as long */
  TB__TICK_SKIP,      /* a long step forward in less time than that: a jump */
  TB__TICK_REORDERED, /* a small step back; perhaps a late tick: the next ones decide */
  TB__TICK_BACKWARD,  /* a jump back */
  TB__TICK_SWITCH,    /* it goes on where another stream of ticks was left */
  TB__TICK_KIND_COUNT,
} tb__tick_kind_t;

enum { TB__TICK_STEPS = 32, TB__TICK_TRACKS = 3 };

/* A place where ticks were left by a jump, and may be continued. */
typedef struct tb__tick_track {
  bool is_set;
  bool was_switched; /* the jump from it was found to be a switch */
  int64_t tick_ns, arrival_ns;
  tb__tick_kind_t left_by; /* TB__TICK_BACKWARD or TB__TICK_SKIP */
} tb__tick_track_t;

typedef struct tb__tick_stream {
  uint64_t ticks; /* all of them */
  uint64_t kinds[TB__TICK_KIND_COUNT];
  int64_t invalid_ns;                 /* the first such tick; 0: none */
  int64_t first_ns, first_arrival_ns; /* of the first that is not zero */
  int64_t last_ns, last_arrival_ns;   /* of the last distinct tick, reordered ones excepted */
  int64_t heard_ns;                   /* arrival of the last tick, of whatever kind */
  int64_t silence_ns; /* the longest between two ticks since the last distinct one */
  tb__epoch_t epoch;  /* by jumps back */
  int64_t backward_ns, backward_at_ns; /* the greatest jump back; tick before the first of them */
  int64_t skip_ns, skip_at_ns;         /* the greatest jump forward; tick before the first */
  int64_t gap_ns, gap_at_ns;           /* the longest gap; tick before it */
  int64_t reordered_ns;                /* the greatest small step back */
  uint64_t stalls, pauses;             /* steady time without a distinct tick: without and with */
  int64_t stall_ns, stall_at_ns;       /* repeats. The longest, and the tick before it */
  int64_t early_ns, early_at_ns;       /* the longest before it is known what is usual */
  int64_t pause_ns;                    /* in pauses, altogether */
  int64_t run_ns, run_arrival_ns;      /* sums of ordinary steps, and of the time they took */
  uint64_t run_steps;
  tb__moments_t wait;            /* between arrivals of ordinary steps */
  int64_t apart_ns;              /* between two streams: the greatest switch */
  int64_t steps[TB__TICK_STEPS]; /* the last ordinary ones */
  int64_t waits[TB__TICK_STEPS];
  uint32_t next_step;
  int64_t usual_step_ns, usual_wait_ns; /* their medians; 0: too few yet */
  int64_t longest_step_ns; /* forward, that was no jump: of ordinary ones and of gaps */
  tb__tick_track_t tracks[TB__TICK_TRACKS];
  uint32_t late_count; /* reordered ticks since the last ordinary one */
  int64_t late_ns;     /* the last of them */
  int64_t late_arrival_ns;
} tb__tick_stream_t;

enum { TB__TICK_PUBLISHERS = 8 };

typedef struct tb__tick_publisher {
  uint64_t id;
  tb__tick_stream_t stream;
} tb__tick_publisher_t;

typedef struct tb__ticks {
  tb__contract_limits_t limits;
  bool has_steady; /* arrivals are steady time; else they say nothing about how long a step took */
  tb__tick_stream_t all; /* in the order of reception: what a clock of ROS time follows */
  tb__tick_publisher_t publishers[TB__TICK_PUBLISHERS];
  uint32_t publisher_count;
  uint64_t unattributed; /* ticks of publishers that there was no room for */
  uint64_t handovers;    /* a tick of another publisher than the tick before */
  uint64_t last_publisher;
} tb__ticks_t;

/* `limits` may be NULL: the defaults. Time without a tick is a stall if tb__contract_stall_ns says
 * so of the median of the last 32 periods; a step of time is a gap if it does of their median step.
 * `has_steady` false: recordings whose log times are
 * simulated time. */
TB_PRIVATE_API void tb__ticks_init(tb__ticks_t *ticks, const tb__contract_limits_t *limits,
                                   bool has_steady);
/* Begins again where `before` ended, from its last tick: what happens between two is seen. */
TB_PRIVATE_API void tb__ticks_init_after(tb__ticks_t *ticks, const tb__ticks_t *before);
/* `publisher`: what identifies it, 0 if that is not known. `arrival_ns`: in steady time. Returns
 * what the tick was among all. A late tick does not set time back; `all.last_ns` is ROS time. */
TB_PRIVATE_API tb__tick_kind_t tb__ticks_feed(tb__ticks_t *ticks, uint64_t publisher,
                                              int64_t tick_ns, int64_t arrival_ns);
/* There are no more, and it is `arrival_ns` now: the last silence is counted if it is a stall. */
TB_PRIVATE_API void tb__ticks_end(tb__ticks_t *ticks, int64_t arrival_ns);

/* Ticks a second of steady time, while it runs; 0: not known. */
TB_PRIVATE_API double tb__tick_stream_rate(const tb__tick_stream_t *stream);
/* Simulated time by steady time, while it runs; 0: not known. */
TB_PRIVATE_API double tb__tick_stream_factor(const tb__tick_stream_t *stream);
/* Two times at once in one stream: it went from one to the other and back at least twice, or every
 * tenth tick and at least 20 are before the tick before. */
TB_PRIVATE_API bool tb__tick_stream_is_double(const tb__tick_stream_t *stream);
/* Publishers that ticked by turns; one that took over from another is not counted. 0 or 1 if there
 * were not two at once. */
TB_PRIVATE_API uint32_t tb__ticks_simultaneous(const tb__ticks_t *ticks);
/* What is a stall of this stream. */
TB_PRIVATE_API int64_t tb__tick_stream_stall_limit(const tb__tick_stream_t *stream,
                                                   const tb__contract_limits_t *limits);

#endif
