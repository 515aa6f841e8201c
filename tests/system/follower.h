/* All that a program does with a clock, on a source that another process moves: readers, a handler,
 * a sleeper and a timer, while time must not fall in one epoch (C6), nor without a call of the
 * handler (J1, J3). */
#ifndef TB_TEST_FOLLOWER_H
#define TB_TEST_FOLLOWER_H

#include <stdlib.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/sleep.h>
#include <timebase/timer.h>

#include "never_falls.h"

#define FOLLOWER_CLOCKS  2
#define FOLLOWER_READERS 3 /* two of them on the first clock */

typedef struct follower {
  tb_clock_t *clocks[FOLLOWER_CLOCKS];
  never_falls_t seen[FOLLOWER_CLOCKS];
  never_falls_t seen_anywhere; /* times only, where epochs are equal */
  tb_jump_handler_t *handlers[FOLLOWER_CLOCKS];
  tb_timer_queue_t *queue;
  tb_timer_t *timer;
  pthread_t readers[FOLLOWER_READERS], sleeper;
  _Atomic uint32_t started; /* readers */
  _Atomic uint64_t jumps[FOLLOWER_CLOCKS];
  _Atomic uint64_t reads, timers;
  _Atomic bool stop, fell;
} follower_t;

static follower_t follower;

static inline void follower_must(bool good, const char *what)
{
  if (good) return;
  fprintf(stderr, "follower: %s\n", what);
  atomic_store(&follower.fell, true);
}

static inline void follower_before(const tb_jump_t *jump, void *user)
{
  tb_time_t now = {-1, TB_TIME_ROS};
  const int clock = *(const int *)user;
  follower_must(!tb_now(follower.clocks[clock], &now), "no time before a jump");
  follower_must(jump->kind == TB_JUMP_CLOCK_CHANGE || now.ns == jump->before.ns,
                "another time before a jump");
  if (jump->kind != TB_JUMP_BACKWARD) return;
  never_falls_floor_t floor = never_falls_begin(&follower.seen[clock]);
  follower_must(floor.epoch != tb_clock_epoch(follower.clocks[clock]) ||
                    floor.time_ns <= jump->before.ns,
                "before a jump back: below what was read");
}

static inline void follower_after(const tb_jump_t *jump, void *user)
{
  (void)jump;
  atomic_fetch_add(&follower.jumps[*(const int *)user], 1);
}

static inline bool follower_look(int clock, tb_clock_reading_t *out)
{
  never_falls_floor_t floor = never_falls_begin(&follower.seen_anywhere);
  if (!never_falls_read(&follower.seen[clock], follower.clocks[clock], out)) return false;
  bool comparable = out->epoch == floor.epoch;
  never_falls_floor_t none = {0};
  return never_falls_end(&follower.seen_anywhere, comparable ? &floor : &none, out->epoch,
                         out->time.ns) &&
         never_falls_now(&follower.seen[clock], follower.clocks[clock], true) &&
         never_falls_now(&follower.seen[clock], follower.clocks[clock], false);
}

static inline void *follower_read(void *unused)
{
  (void)unused;
  int clock = (int)(atomic_fetch_add(&follower.started, 1) % FOLLOWER_CLOCKS);
  tb_clock_reading_t last = {0}, next = {0};
  for (uint64_t jumps_before = 0; !atomic_load(&follower.stop); last = next) {
    uint64_t jumps = atomic_load(&follower.jumps[clock]);
    follower_must(follower_look(clock, &next), "time falls in one epoch");
    follower_must(next.time.ns >= last.time.ns ||
                      atomic_load(&follower.jumps[clock]) != jumps_before,
                  "time falls without a call of the handler");
    jumps_before = jumps;
    atomic_fetch_add(&follower.reads, 1);
  }
  return NULL;
}

static inline void *follower_sleep(void *unused)
{
  (void)unused;
  tb_wait_options_t options = {.limit = {TB_NS_PER_MS}};
  for (uint32_t i = 0; !atomic_load(&follower.stop); i++) {
    options.flags = i % 3 ? 0 : TB_WAIT_FAIL_ON_BACKWARD;
    tb_status_t status =
        tb_sleep_for(follower.clocks[i % FOLLOWER_CLOCKS], TB_NS(1 + i % 1000 * 1000), &options);
    (void)status;                                                     /* any */
    if (i % 64 == 0) nanosleep(&(struct timespec){0, 1000000}, NULL); /* without a waiter */
  }
  return NULL;
}

static inline void follower_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer, (void)user;
  follower_must(info->actual.ns >= info->scheduled.ns, "a timer that is early");
  atomic_fetch_add(&follower.timers, 1);
}

static inline tb_status_t follower_open(tb_source_t *source)
{
  static int numbers[FOLLOWER_CLOCKS];
  tb_status_t status = tb_timer_queue_create(&follower.queue);
  follower.seen_anywhere = (never_falls_t)NEVER_FALLS_INIT;
  for (int i = 0; i < FOLLOWER_CLOCKS && !status; i++) {
    numbers[i] = i;
    follower.seen[i] = (never_falls_t)NEVER_FALLS_INIT;
    tb_jump_handler_options_t handler = {.threshold = {{0}, {-1}, true},
                                         .before = follower_before,
                                         .after = follower_after,
                                         .user = &numbers[i]};
    status = tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &follower.clocks[i]);
    if (!status)
      status = tb_jump_handler_create(follower.clocks[i], &handler, &follower.handlers[i]);
  }
  tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
  options.period.ns = TB_NS_PER_MS / 2;
  options.callback = follower_timer;
  if (!status)
    status = tb_timer_create(follower.queue, follower.clocks[0], &options, &follower.timer);
  if (!status) status = tb_timer_start(follower.timer);
  return status ? status : tb_timer_queue_start_thread(follower.queue);
}

static inline tb_status_t follower_start(tb_source_t *source)
{
  tb_status_t status = follower_open(source);
  for (int i = 0; i < FOLLOWER_READERS && !status; i++)
    if (pthread_create(&follower.readers[i], NULL, follower_read, NULL)) status = TB_ERR_SYSTEM;
  if (!status && pthread_create(&follower.sleeper, NULL, follower_sleep, NULL))
    status = TB_ERR_SYSTEM;
  return status;
}

/* Ends a follower that has been started; whether time never fell. Time must be running, or no jump
 * in progress. */
static inline bool follower_stop(void)
{
  atomic_store(&follower.stop, true);
  for (int i = 0; i < FOLLOWER_READERS; i++)
    pthread_join(follower.readers[i], NULL);
  pthread_join(follower.sleeper, NULL);
  tb_timer_queue_destroy(follower.queue);
  for (int i = 0; i < FOLLOWER_CLOCKS; i++) {
    tb_jump_handler_destroy(follower.handlers[i]);
    tb_clock_destroy(follower.clocks[i]);
  }
  return !atomic_load(&follower.fell);
}

#endif
