/* The publishers of a clock's topic, and the state of time that follows from them. Pure; the caller
 * holds a mutex. */
#ifndef TB_SOURCE_CLOCK_PRESENCE_H
#define TB_SOURCE_CLOCK_PRESENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/clock.h>

#include "base/private_api.h"

typedef struct tb__clock_presence {
  uint32_t matched;          /* publishers now */
  uint32_t appearances;      /* how often the first one has appeared */
  uint32_t incompatible;     /* refused for their QoS so far */
  bool unmatched;            /* a refused one still exists */
  bool ticked;               /* time has started */
  bool alive;                /* a tick was received since the publishers came back */
  bool lost;                 /* all were gone in between, not reported yet */
  tb_clock_state_t reported; /* since the last tick; 0: nothing */
} tb__clock_presence_t;

#define TB__CLOCK_PRESENCE_STATES 2

TB_PRIVATE_API void tb__clock_presence_matched(tb__clock_presence_t *presence, uint32_t matched);
TB_PRIVATE_API void tb__clock_presence_incompatible(tb__clock_presence_t *presence,
                                                    uint32_t incompatible);

/* A tick is about to be committed, which makes the state running, or waiting. True: there are no
 * publishers any more, which is to be reported after it. */
TB_PRIVATE_API bool tb__clock_presence_tick(tb__clock_presence_t *presence, int64_t time_ns);

/* Takes the states to report now, in order, and returns how many. */
TB_PRIVATE_API size_t tb__clock_presence_take(tb__clock_presence_t *presence,
                                              tb_clock_state_t out[TB__CLOCK_PRESENCE_STATES]);

#endif
