/* Alarms while time is in a test's hand, and from there back to the kernel's. */
#include "platform/activity.h"
#include "platform/held_time.h"
#include "platform/mutex.h"
#include "platform/poll_set.h"

static tb__mutex_t list_mutex = TB__MUTEX_INIT;
static tb__poll_alarm_t *alarms; /* all, by `list_mutex`; so is `owed` of each */

/* Where the kernel runs the clock. */
static void set_running(const tb__poll_alarm_t *alarm, int64_t when_ns)
{
  if (when_ns != INT64_MAX && !alarm->system &&
      __builtin_sub_overflow(when_ns, tb__steady_ahead_ns(), &when_ns))
    when_ns = 0;
  tb__poll_alarm_set_kernel(alarm, when_ns);
}

static void pay_locked(tb__poll_alarm_t *alarm) TB_REQUIRES(list_mutex);
static void pay_locked(tb__poll_alarm_t *alarm)
{
  if (alarm->owed) tb__activity_pay(tb__activity_of_os());
  alarm->owed = false;
}

static tb__deadline_clock_t clock_of(const tb__poll_alarm_t *alarm)
{
  return alarm->system ? TB__DEADLINE_SYSTEM : TB__DEADLINE_STEADY;
}

/* Off at once where its time has come, else never. */
static void set_held_locked(tb__poll_alarm_t *alarm) TB_REQUIRES(list_mutex);
static void set_held_locked(tb__poll_alarm_t *alarm)
{
  int64_t when_ns = atomic_load(&alarm->when_ns);
  bool due = when_ns != INT64_MAX && when_ns <= tb__held_time_now(clock_of(alarm));
  if (due && !alarm->owed)
    tb__activity_owe(tb__activity_of_os());
  else if (due)
    tb__activity_poke(tb__activity_of_os());
  if (due) alarm->owed = true;
  tb__poll_alarm_set_kernel(alarm, due ? 0 : INT64_MAX);
  if (!due) pay_locked(alarm);
}

void tb__poll_alarm_list(tb__poll_alarm_t *alarm)
{
  tb__mutex_lock(&list_mutex);
  alarm->next = alarms;
  if (alarms) alarms->previous = alarm;
  alarms = alarm;
  tb__mutex_unlock(&list_mutex);
}

void tb__poll_alarm_unlist(tb__poll_alarm_t *alarm)
{
  tb__mutex_lock(&list_mutex);
  pay_locked(alarm);
  if (alarm->previous)
    alarm->previous->next = alarm->next;
  else
    alarms = alarm->next;
  if (alarm->next) alarm->next->previous = alarm->previous;
  tb__mutex_unlock(&list_mutex);
}

/* The flag is looked at after the time is noted: whoever takes time meanwhile sees the one, or is
 * seen here. An alarm that goes off for nothing does no harm. */
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

void tb__poll_alarm_rest(tb__poll_alarm_t *alarm)
{
  tb__mutex_lock(&list_mutex);
  pay_locked(alarm);
  tb__mutex_unlock(&list_mutex);
}

void tb__poll_alarms_review(void)
{
  tb__mutex_lock(&list_mutex);
  for (tb__poll_alarm_t *alarm = alarms; alarm; alarm = alarm->next) {
    if (tb__time_is_held()) {
      set_held_locked(alarm);
    } else {
      pay_locked(alarm);
      int64_t when_ns;
      do { /* somebody may be setting it */
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
