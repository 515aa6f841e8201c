#include <timebase/condition.h>

#include <stdlib.h>

#include "base/sized.h"
#include "clock/jump_wait.h"
#include "held/parking.h"
#include "wait/sleeper.h"

struct tb_cond {
  tb_clock_t *clock;         /* its memory is kept */
  tb__sleeper_queue_t queue; /* by the mutex of the clock's timeline */
  _Atomic uint32_t users;    /* futex: threads inside a wait; the condition outlives them */
};

struct tb_steady_cond {
  tb_cond_t core; /* first and only: the memory is freed as a tb_cond_t */
};

static tb_status_t cond_create(tb_clock_t *clock, tb_steady_cond_t **out)
{
  tb_status_t status = tb__fork_watch();
  if (status) return status;
  tb_steady_cond_t *cond = calloc(1, sizeof *cond); /* of either kind */
  if (!cond) return TB_ERR_NO_MEMORY;
  tb__clock_ref(clock);
  cond->core.clock = clock;
  *out = cond;
  return TB_OK;
}

tb_status_t tb_cond_create(tb_clock_t *clock, tb_cond_t **out)
{
  if (!clock || !out) return TB_ERR_INVALID;
  tb_steady_cond_t *cond;
  tb_status_t status = cond_create(clock, &cond);
  if (!status) *out = &cond->core;
  return status;
}

tb_status_t tb_steady_cond_create(tb_steady_clock_t *clock, tb_steady_cond_t **out)
{
  return clock && out ? cond_create(&clock->core, out) : TB_ERR_INVALID;
}

static tb_status_t cond_close(tb_cond_t *cond, int64_t limit_ns)
{
  /* L1: all waits end, and have left the condition on return */
  tb__waiter_t *to_wake = NULL;
  tb_timeline_t *timeline;
  tb__clock_lock(cond->clock, &timeline);
  tb__sleeper_queue_close_locked(&cond->queue, &to_wake);
  tb__clock_unlock(timeline);
  tb__waiters_wake(to_wake);
  return tb__users_wait(&cond->users, limit_ns);
}

static tb_status_t cond_destroy(tb_cond_t *cond, int64_t limit_ns)
{
  if (!cond) return TB_OK;
  if (!tb__is_forked()) { /* else the waiting threads do not exist */
    if (tb__may_not_wait()) return TB_ERR_DEADLOCK;
    tb_status_t status = cond_close(cond, limit_ns);
    if (status) return status;
  }
  tb__clock_unref(cond->clock);
  free(cond);
  return TB_OK;
}

tb_status_t tb_cond_destroy(tb_cond_t *cond)
{
  return cond_destroy(cond, INT64_MAX);
}

tb_status_t tb_cond_destroy_within(tb_cond_t *cond, tb_duration_t limit)
{
  tb__deadline_t deadline;
  tb_status_t status = tb__limit_begin(limit, &deadline);
  return status ? status : cond_destroy(cond, deadline.ns);
}

tb_status_t tb_steady_cond_destroy(tb_steady_cond_t *cond)
{
  return cond ? tb_cond_destroy(&cond->core) : TB_OK;
}

static tb_status_t cond_wait(tb_cond_t *cond, pthread_mutex_t *mutex, tb__goal_t goal,
                             int64_t goal_ns, const tb_wait_options_t *options, bool *out_signalled)
{
  tb__sleeper_t sleeper;
  tb_status_t status = tb__sleeper_init(&sleeper, cond->clock, goal, goal_ns, options);
  if (status) return status;
  sleeper.queue = &cond->queue;
  sleeper.mutex = mutex;
  atomic_fetch_add(&cond->users, 1);
  status = tb__sleeper_run(&sleeper);
  if (atomic_fetch_sub(&cond->users, 1) == 1)
    tb__futex_wake_all(&cond->users); /* the memory may be gone: at worst a stray wake-up */
  /* S8: the mutex is held again, whatever the wait returns */
  if (sleeper.released) pthread_mutex_lock(mutex);
  if (!status && out_signalled) *out_signalled = sleeper.signalled;
  return status;
}

tb_status_t tb_cond_wait_until_sized(tb_cond_t *cond, pthread_mutex_t *mutex, tb_time_t target,
                                     const tb_wait_options_t *options, size_t options_size,
                                     bool *out_signalled)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  if (!cond || !mutex) return TB_ERR_INVALID;
  if (target.kind != cond->clock->kind) return TB_ERR_CLOCK_MISMATCH;
  if (target.kind == TB_TIME_ROS && target.ns == 0) return TB_ERR_NOT_SET;
  return cond_wait(cond, mutex, TB__GOAL_UNTIL, target.ns, options, out_signalled);
}

tb_status_t tb_cond_wait_for_sized(tb_cond_t *cond, pthread_mutex_t *mutex, tb_duration_t duration,
                                   const tb_wait_options_t *options, size_t options_size,
                                   bool *out_signalled)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  if (!cond || !mutex) return TB_ERR_INVALID;
  return cond_wait(cond, mutex, TB__GOAL_FOR, duration.ns, options, out_signalled);
}

tb_status_t tb_steady_cond_wait_until_sized(tb_steady_cond_t *cond, pthread_mutex_t *mutex,
                                            tb_steady_time_t target,
                                            const tb_wait_options_t *options, size_t options_size,
                                            bool *out_signalled)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  if (!cond || !mutex) return TB_ERR_INVALID;
  return cond_wait(&cond->core, mutex, TB__GOAL_UNTIL, target.ns, options, out_signalled);
}

tb_status_t tb_steady_cond_wait_for_sized(tb_steady_cond_t *cond, pthread_mutex_t *mutex,
                                          tb_duration_t duration, const tb_wait_options_t *options,
                                          size_t options_size, bool *out_signalled)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return cond ? tb_cond_wait_for(&cond->core, mutex, duration, options, out_signalled)
              : TB_ERR_INVALID;
}

tb_status_t tb_cond_signal(tb_cond_t *cond)
{
  if (!cond) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__waiter_t *to_wake = NULL;
  tb_timeline_t *timeline;
  tb__clock_lock(cond->clock, &timeline);
  tb__sleeper_signal_locked(&cond->queue, &to_wake);
  tb__clock_unlock(timeline);
  tb__waiters_wake(to_wake);
  return TB_OK;
}

tb_status_t tb_cond_broadcast(tb_cond_t *cond)
{
  if (!cond) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__waiter_t *to_wake = NULL;
  tb_timeline_t *timeline;
  tb__clock_lock(cond->clock, &timeline);
  while (tb__sleeper_signal_locked(&cond->queue, &to_wake)) {
  }
  tb__clock_unlock(timeline);
  tb__waiters_wake(to_wake);
  return TB_OK;
}

tb_status_t tb_steady_cond_signal(tb_steady_cond_t *cond)
{
  return cond ? tb_cond_signal(&cond->core) : TB_ERR_INVALID;
}

tb_status_t tb_steady_cond_broadcast(tb_steady_cond_t *cond)
{
  return cond ? tb_cond_broadcast(&cond->core) : TB_ERR_INVALID;
}
