/* What is known of the publishers of a clock's topic, and the state of time that follows from it.
 * Pure: the caller has a mutex. */
#ifndef TB_ROS2_CLOCK_PRESENCE_H
#define TB_ROS2_CLOCK_PRESENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>

typedef struct tb__clock_presence {
  uint32_t matched;      /* publishers now */
  uint32_t appearances;  /* how often there was one where there was none */
  uint32_t incompatible; /* how many were refused for their QoS so far */
  bool unmatched;        /* one that was refused is still there */
  bool ticked;           /* time has started */
  bool alive;            /* a tick has come since the publishers came back */
  bool lost;             /* all were gone meanwhile, and nobody has been told */
  tb_clock_state_t told; /* since the last tick; 0: nothing */
} tb__clock_presence_t;

#define TB__CLOCK_PRESENCE_STATES 2

void tb__clock_presence_matched(tb__clock_presence_t *presence, uint32_t matched);
void tb__clock_presence_incompatible(tb__clock_presence_t *presence, uint32_t incompatible);

/* A tick that is about to be committed, which makes the state running, or waiting. True: nobody is
 * there any more, so that there is something to tell after it. */
bool tb__clock_presence_tick(tb__clock_presence_t *presence, int64_t time_ns);

/* The states to be told now, in order; how many. */
size_t tb__clock_presence_take(tb__clock_presence_t *presence,
                               tb_clock_state_t out[TB__CLOCK_PRESENCE_STATES]);

#endif
