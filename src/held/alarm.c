#include "held/alarm.h"
#include "base/list.h"

#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "held/held_time.h"
#include "held/inflight.h"
#include "platform/mutex.h"

static tb__mutex_t list_mutex = TB__MUTEX_INIT;
static tb__poll_alarm_t *alarms; /* all, by `list_mutex`; so is `inflight` of each */

static void set_kernel(const tb__poll_alarm_t *alarm, int64_t when_ns)
{
  struct itimerspec spec = {0};
  if (when_ns != INT64_MAX) {
    int64_t at = when_ns > 0 ? when_ns : 1; /* zero would disarm */
    spec.it_value.tv_sec = at / 1000000000;
    spec.it_value.tv_nsec = at % 1000000000;
  }
  timerfd_settime(alarm->fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* While the kernel runs the clock. */
static void set_running(const tb__poll_alarm_t *alarm, int64_t when_ns)
{
  if (when_ns != INT64_MAX && !alarm->system &&
      __builtin_sub_overflow(when_ns, tb__steady_ahead_ns(), &when_ns))
    when_ns = 0;
  set_kernel(alarm, when_ns);
}

static void inflight_end_locked(tb__poll_alarm_t *alarm) TB_REQUIRES(list_mutex)
{
  if (alarm->inflight) tb__inflight_end(tb__inflight_of_os());
  alarm->inflight = false;
}

static tb__deadline_clock_t clock_of(const tb__poll_alarm_t *alarm)
{
  return alarm->system ? TB__DEADLINE_SYSTEM : TB__DEADLINE_STEADY;
}

/* Goes off at once if it is due, else not until time moves. */
static void set_held_locked(tb__poll_alarm_t *alarm) TB_REQUIRES(list_mutex)
{
  int64_t when_ns = atomic_load(&alarm->when_ns);
  bool due = when_ns != INT64_MAX && when_ns <= tb__held_time_now(clock_of(alarm));
  if (due && !alarm->inflight)
    tb__inflight_begin(tb__inflight_of_os());
  else if (due)
    tb__inflight_notify(tb__inflight_of_os());
  if (due) alarm->inflight = true;
  set_kernel(alarm, due ? 0 : INT64_MAX);
  if (!due) inflight_end_locked(alarm);
}

static void list(tb__poll_alarm_t *alarm)
{
  tb__mutex_lock(&list_mutex);
  TB__LIST_PUSH(alarms, alarm);
  tb__mutex_unlock(&list_mutex);
}

static void unlist(tb__poll_alarm_t *alarm)
{
  tb__mutex_lock(&list_mutex);
  inflight_end_locked(alarm);
  TB__LIST_REMOVE(alarms, alarm);
  tb__mutex_unlock(&list_mutex);
}

tb_status_t tb__poll_alarm_init(tb__poll_alarm_t *alarm, tb__poll_set_t *set, bool system)
{
  *alarm = (tb__poll_alarm_t){.system = system, .when_ns = INT64_MAX};
  alarm->fd = timerfd_create(system ? CLOCK_REALTIME : CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (alarm->fd < 0 || tb__poll_set_add(set, alarm->fd)) {
    if (alarm->fd >= 0) close(alarm->fd);
    alarm->fd = -1;
    return TB_ERR_SYSTEM;
  }
  list(alarm);
  return TB_OK;
}

void tb__poll_alarm_fini(tb__poll_alarm_t *alarm)
{
  if (alarm->fd < 0) return;
  unlist(alarm);
  close(alarm->fd);
  alarm->fd = -1;
}

/* The flag is read after the time is stored: a thread that takes time meanwhile sees the stored
 * time, or is seen here. An alarm that goes off without being due does no harm. */
void tb__poll_alarm_set(tb__poll_alarm_t *alarm, int64_t when_ns)
{
  atomic_store(&alarm->when_ns, when_ns);
  if (!tb__time_is_held()) {
    set_running(alarm, when_ns);
    if (!tb__time_is_held()) return;
  }
  tb__mutex_lock(&list_mutex);
  if (tb__time_is_held())
    set_held_locked(alarm);
  else
    set_running(alarm, when_ns);
  tb__mutex_unlock(&list_mutex);
}

void tb__poll_alarm_quiesce(tb__poll_alarm_t *alarm)
{
  tb__mutex_lock(&list_mutex);
  inflight_end_locked(alarm);
  tb__mutex_unlock(&list_mutex);
}

void tb__poll_alarms_review(void)
{
  tb__mutex_lock(&list_mutex);
  for (tb__poll_alarm_t *alarm = alarms; alarm; alarm = alarm->next) {
    if (tb__time_is_held()) {
      set_held_locked(alarm);
    } else {
      inflight_end_locked(alarm);
      int64_t when_ns;
      do { /* another thread may be setting it */
        when_ns = atomic_load(&alarm->when_ns);
        set_running(alarm, when_ns);
      } while (when_ns != atomic_load(&alarm->when_ns));
    }
  }
  tb__mutex_unlock(&list_mutex);
}

int64_t tb__poll_alarms_next(bool system, int64_t after_ns)
{
  int64_t best_ns = INT64_MAX;
  tb__mutex_lock(&list_mutex);
  for (const tb__poll_alarm_t *alarm = alarms; alarm; alarm = alarm->next) {
    int64_t when_ns = atomic_load(&alarm->when_ns);
    if (alarm->system == system && when_ns > after_ns && when_ns < best_ns) best_ns = when_ns;
  }
  tb__mutex_unlock(&list_mutex);
  return best_ns;
}

void tb__poll_alarm_clear(tb__poll_alarm_t *alarm)
{
  uint64_t count;
  ssize_t got =
      read(alarm->fd, &count, sizeof count); /* it does not block if the alarm has not gone off */
  (void)got;
}
