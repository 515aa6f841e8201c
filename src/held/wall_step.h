/* Detecting that the wall clock was set: by hand, by NTP, or when the machine resumed. One thread
 * of the process watches at a time. */
#ifndef TB_HELD_WALL_STEP_H
#define TB_HELD_WALL_STEP_H

#include <stdint.h>
#include <timebase/status.h>

typedef enum tb__wall_event {
  TB__WALL_STEPPED, /* the clock was set, perhaps to the time that it had */
  TB__WALL_NUDGED,
  TB__WALL_QUIET, /* the limit has passed */
} tb__wall_event_t;

/* Begins and ends the watch. TB_ERR_SYSTEM: no more descriptors. */
tb_status_t tb__wall_step_open(void) TB_WARN_UNUSED;
void tb__wall_step_close(void);

/* Blocks until something happened since the last call. `limit_ms` < 0: none. [the thread that
 * opened] */
tb__wall_event_t tb__wall_step_wait(int limit_ms);

/* Wakes the watcher, if there is one. [any thread] */
void tb__wall_step_nudge(void);

/* For tests that give the process another system time (tb__clock_gettime): notifies the watcher
 * that it was set. Call it after every move of it against steady time. [any thread] */
void tb__wall_step_announce(void);

/* System time minus steady time, without the difference that a test has made by moving one of them.
 * It changes only by steps, as slewing affects both. Exact within the time that it takes to read a
 * clock. */
int64_t tb__wall_offset_ns(void);

#endif
