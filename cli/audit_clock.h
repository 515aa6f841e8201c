/* /clock as the audit receives it. */
#ifndef TB_CLI_AUDIT_CLOCK_H
#define TB_CLI_AUDIT_CLOCK_H

#include <pthread.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_subscription.h>
#include <timebase/steady_clock.h>

#include "contract/limits.h"
#include "contract/tick_history.h"
#include "contract/ticks.h"
#include "stamp_intake.h"

struct audit;

typedef struct audit_clock {
  tb_ros2_subscription_t *subscription;
  tb_steady_clock_t *steady;
  pthread_mutex_t mutex;
  int64_t begin_ns; /* steady, of what is gathered */
  tb__ticks_t ticks;
  tb__spread_t latency; /* from the publisher's system time to ours */
  int64_t step_ns;      /* the last usual one that was known */
  uint8_t guids[TB__TICK_PUBLISHERS][16];
  tb__tick_history_t recent;
  struct audit_clock_cut {
    int64_t begin_ns, end_ns;
    tb__ticks_t ticks;
    tb__spread_t latency;
    uint8_t guids[TB__TICK_PUBLISHERS][16];
  } cut; /* the main thread's: what is judged */
} audit_clock_t;

/* Zeroes it and subscribes. EXIT_OK, or a message has been printed. Close it either way. */
int audit_clock_open(struct audit *audit);
void audit_clock_close(audit_clock_t *clock);
/* What was gathered until now is to be judged; what comes later is for the next time. Nothing is
 * lost in between. */
void audit_clock_cut(struct audit *audit);

/* [any thread] */
void audit_clock_now(audit_clock_t *clock, stamp_now_t *out);

/* Whether a stamp that was ahead of /clock is so; `now_ns`: steady. */
tb__ahead_state_t audit_clock_settle(audit_clock_t *clock, const tb__ahead_t *ahead,
                                     int64_t now_ns);

/* Of what is judged: whether it jumped backward, once or all the time. */
bool audit_clock_jumps(const audit_clock_t *clock);

/* Findings about /clock itself. */
void audit_clock_find(struct audit *audit);

#endif
