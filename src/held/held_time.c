#include "held/held_time.h"

#include <sched.h>

#include "base/fork.h"
#include "held/alarm.h"
#include "held/parking.h"
#include "held/wall_step.h"
#include "platform/mutex.h"
#include "platform/time.h"

_Atomic bool tb__time_held;

static tb__mutex_t holder = TB__MUTEX_INIT; /* held while time is held, moved or released */
static _Atomic int64_t held_steady_ns, held_system_ns;
static _Atomic int64_t steady_ahead_ns, wall_offset_ns, apart_ns;
static int64_t apart_at_hold_ns; /* guarded by `holder`: the two clocks are not read at the same
                                  instant when time is held */
typedef int (*gettime_t)(clockid_t id, struct timespec *out);
static gettime_t real_gettime; /* guarded by `holder`; set once */

static _Atomic int64_t *held_ns(tb__deadline_clock_t clock)
{
  return clock == TB__DEADLINE_SYSTEM ? &held_system_ns : &held_steady_ns;
}

static struct timespec timespec_of(int64_t ns)
{
  int64_t part = ns % INT64_C(1000000000);
  if (part < 0) part += INT64_C(1000000000);
  return (struct timespec){(ns - part) / INT64_C(1000000000), part};
}

static bool is_steady(clockid_t id)
{
  return id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE;
}

static int held_gettime(clockid_t id, struct timespec *out)
{
  if (is_steady(id))
    *out = timespec_of(atomic_load(&held_steady_ns));
  else if (id == CLOCK_REALTIME)
    *out = timespec_of(atomic_load(&held_system_ns));
  else
    return real_gettime(id, out);
  return 0;
}

/* After a test has moved steady time ahead of the kernel's: it never goes back. */
static int ahead_gettime(clockid_t id, struct timespec *out)
{
  int failed = real_gettime(id, out);
  if (failed || !is_steady(id)) return failed;
  int64_t ns = (int64_t)out->tv_sec * INT64_C(1000000000) + out->tv_nsec;
  *out = timespec_of(ns + atomic_load(&steady_ahead_ns));
  return 0;
}

/* While time is being held: no reading from before is later than one from after. In a forked child
 * the thread that takes it does not exist: time runs. */
static int taking_gettime(clockid_t id, struct timespec *out)
{
  gettime_t now;
  while ((now = atomic_load(&tb__clock_gettime)) == taking_gettime) {
    if (tb__is_forked()) return ahead_gettime(id, out);
    sched_yield();
  }
  return now(id, out);
}

static int64_t read_with(gettime_t gettime, clockid_t id)
{
  struct timespec now;
  gettime(id, &now);
  return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int64_t tb__steady_ahead_ns(void)
{
  return atomic_load(&steady_ahead_ns);
}

int64_t tb__held_time_now(tb__deadline_clock_t clock)
{
  return atomic_load(held_ns(clock));
}

tb_status_t tb__held_time_take(void)
{
  tb__mutex_lock(&holder);
  bool held = tb__time_is_held();
  if (!held) {
    if (!real_gettime) real_gettime = atomic_load(&tb__clock_gettime);
    int64_t offset_ns = tb__wall_offset_ns();
    gettime_t running = atomic_exchange(&tb__clock_gettime, taking_gettime);
    atomic_store(&wall_offset_ns, offset_ns);
    atomic_store(&held_steady_ns, read_with(running, CLOCK_MONOTONIC));
    atomic_store(&held_system_ns, read_with(running, CLOCK_REALTIME));
    apart_at_hold_ns = atomic_load(&held_system_ns) - atomic_load(&held_steady_ns) - offset_ns -
                       atomic_load(&apart_ns);
    atomic_store(&tb__clock_gettime, held_gettime);
    atomic_store(&tb__time_held, true);
    tb__parking_take_over();
    tb__poll_alarms_review();
  }
  tb__mutex_unlock(&holder);
  return held ? TB_ERR_BUSY : TB_OK;
}

tb_status_t tb__held_time_give_back(void)
{
  tb__mutex_lock(&holder);
  bool held = tb__time_is_held();
  if (held) {
    int64_t between_ns = atomic_load(&held_system_ns) - atomic_load(&held_steady_ns);
    int64_t ahead_ns = atomic_load(&held_steady_ns) - tb__real_steady_now_ns();
    atomic_store(&apart_ns, between_ns - atomic_load(&wall_offset_ns) - apart_at_hold_ns);
    atomic_store(&steady_ahead_ns, ahead_ns > 0 ? ahead_ns : 0);
    atomic_store(&tb__clock_gettime, ahead_ns > 0 ? ahead_gettime : real_gettime);
    atomic_store(&tb__time_held, false);
    tb__parking_give_back();
    tb__poll_alarms_review();
  }
  tb__mutex_unlock(&holder);
  return held ? TB_OK : TB_ERR_DETACHED;
}

int64_t tb__held_wall_offset_ns(void)
{
  return atomic_load(&wall_offset_ns);
}

int64_t tb__moved_apart_ns(void)
{
  return atomic_load(&apart_ns);
}

tb_status_t tb__held_time_set(tb__deadline_clock_t clock, int64_t ns, bool is_step)
{
  tb_status_t status = TB_OK;
  tb__mutex_lock(&holder);
  _Atomic int64_t *now = held_ns(clock);
  if (!tb__time_is_held()) {
    status = TB_ERR_DETACHED;
  } else if (ns < 0 || (clock == TB__DEADLINE_STEADY && ns < atomic_load(now))) {
    status = TB_ERR_RANGE;
  } else {
    is_step = is_step || ns < atomic_load(now); /* time does not pass backward */
    if (is_step) atomic_fetch_add(&wall_offset_ns, ns - atomic_load(now));
    atomic_store(now, ns);
    tb__parking_wake_due();
    tb__poll_alarms_review();
  }
  tb__mutex_unlock(&holder);
  return status;
}

tb_status_t tb__held_time_get(tb__deadline_clock_t clock, int64_t *out_ns)
{
  if (!tb__time_is_held()) return TB_ERR_DETACHED;
  *out_ns = tb__held_time_now(clock);
  return TB_OK;
}

bool tb__held_time_next(tb__deadline_clock_t clock, int64_t *out_ns)
{
  int64_t now_ns = tb__held_time_now(clock);
  int64_t parked_ns = tb__parking_next(clock, now_ns);
  int64_t alarm_ns = tb__poll_alarms_next(clock == TB__DEADLINE_SYSTEM, now_ns);
  int64_t next_ns = parked_ns < alarm_ns ? parked_ns : alarm_ns;
  if (next_ns == INT64_MAX) return false;
  *out_ns = next_ns;
  return true;
}
