#include "clock/running.h"

#include "held/held_time.h"
#include "held/inflight.h"
#include "held/parking.h"
#include "platform/time.h"

/* ---- reading ---- */

static tb__linear_time_t linear_load(const tb__linear_slot_t *slot)
{
  return (tb__linear_time_t){
      .time_ns = atomic_load_explicit(&slot->time_ns, memory_order_acquire),
      .steady_ns = atomic_load_explicit(&slot->steady_ns, memory_order_acquire),
      .until_ns = atomic_load_explicit(&slot->until_ns, memory_order_acquire),
      .rate = atomic_load_explicit(&slot->rate, memory_order_acquire),
  };
}

/* While the timeline is being halted, the first thread to get here, the writer or a reader, decides
 * at which moment it stops, and all use that. No thread waits, and no thread sees a later time than
 * the one at which the timeline stops. Before that, `halt_steady_ns` has a negative number that is
 * unique to this halt. */
static int64_t halt_moment(const tb_timeline_t *timeline, uint64_t version)
{
  _Atomic int64_t *moment = (_Atomic int64_t *)&timeline->halt_steady_ns;
  int64_t undecided = -(int64_t)version;
  int64_t decided = undecided; /* what was found, if another thread was first */
  int64_t now_ns = tb__steady_now_ordered_ns();
  return atomic_compare_exchange_strong(moment, &decided, now_ns) ? now_ns : decided;
}

bool tb__running_read(const tb_timeline_t *timeline, uint64_t version, int64_t *out_ns)
{
  tb__linear_time_t linear = linear_load(&timeline->linear_slots[tb__version_slot(version)]);
  int64_t steady_ns =
      version & TB__VERSION_HALTING ? halt_moment(timeline, version) : tb__steady_now_ordered_ns();
  if (steady_ns < 0) return false; /* of another halt: the version has changed */
  *out_ns = tb__linear_time_at(&linear, steady_ns);
  return true;
}

int64_t tb__running_time_locked(const tb_timeline_t *timeline)
{
  return tb__linear_time_at(&timeline->linear, tb__steady_now_ns());
}

/* ---- the wake-up thread ---- */

static int64_t next_moment_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex)
{
  int64_t deadline_ns;
  if (!timeline->running || timeline->turn_next != atomic_load(&timeline->turn_serving) ||
      !tb__timeline_next_deadline_locked(timeline, &deadline_ns))
    return INT64_MAX;
  return tb__linear_time_moment(&timeline->linear, deadline_ns);
}

void tb__running_deadline_changed_locked(tb_timeline_t *timeline)
{
  tb__wakeup_thread_t *wakeup = &timeline->wakeup_thread;
  if (!timeline->running || next_moment_locked(timeline) >= wakeup->alarm_ns) return;
  wakeup->alarm_ns = INT64_MIN; /* it wakes up: once is enough */
  wakeup->counted = tb__time_is_held();
  if (wakeup->counted) tb__inflight_begin(tb__inflight_of_os());
  atomic_fetch_add(&wakeup->word, 1);
  tb__futex_wake_one(&wakeup->word);
}

static void *wakeup_thread_run(void *argument)
{
  tb_timeline_t *timeline = argument;
  tb__wakeup_thread_t *wakeup = &timeline->wakeup_thread;
  tb__mutex_lock(&timeline->mutex);
  while (!wakeup->stopping) {
    tb__waiter_t *to_wake = NULL;
    uint32_t seen = atomic_load(&wakeup->word);
    if (wakeup->counted) tb__inflight_adopt(tb__inflight_of_os());
    wakeup->counted = false;
    bool held = tb__time_is_held();
    if (next_moment_locked(timeline) != INT64_MAX)
      tb__waiters_collect_due_locked(timeline, &to_wake);
    wakeup->alarm_ns = next_moment_locked(timeline); /* of waiters that are not due yet */
    tb__wait_spec_t spec = {.deadline = {TB__DEADLINE_STEADY, wakeup->alarm_ns},
                            .system_ns = INT64_MAX,
                            .held = held,
                            .rechecks = true,
                            .counts_as_idle = true,
                            .uncounted = true};
    if (wakeup->alarm_ns == INT64_MAX) spec.deadline = TB__NO_DEADLINE;
    tb__mutex_unlock(&timeline->mutex);
    tb__waiters_wake(to_wake);
    tb__futex_wait_spec(&wakeup->word, seen, &spec);
    tb__mutex_lock(&timeline->mutex);
  }
  if (wakeup->counted) tb__inflight_end(tb__inflight_of_os());
  wakeup->counted = false;
  tb__mutex_unlock(&timeline->mutex);
  return NULL;
}

tb_status_t tb__running_prepare_locked(tb_timeline_t *timeline)
{
  tb__wakeup_thread_t *wakeup = &timeline->wakeup_thread;
  if (wakeup->exists) return TB_OK;
  wakeup->stopping = false;
  wakeup->alarm_ns = INT64_MAX;
  tb_status_t status = tb__thread_start(&wakeup->thread, "tb-wakeup", wakeup_thread_run, timeline);
  wakeup->exists = !status;
  return status;
}

void tb__running_end(tb_timeline_t *timeline)
{
  tb__wakeup_thread_t *wakeup = &timeline->wakeup_thread;
  tb__mutex_lock(&timeline->mutex);
  if (timeline->running) tb__running_halt_locked(timeline);
  bool exists = wakeup->exists;
  wakeup->stopping = true;
  atomic_fetch_add(&wakeup->word, 1);
  tb__mutex_unlock(&timeline->mutex);
  if (!exists) return;
  tb__futex_wake_one(&wakeup->word);
  tb__thread_join(&wakeup->thread);
  tb__mutex_lock(&timeline->mutex);
  wakeup->exists = false;
  tb__mutex_unlock(&timeline->mutex);
}

/* ---- moving ---- */

void tb__running_halt_locked(tb_timeline_t *timeline)
{
  uint64_t version = atomic_load_explicit(&timeline->version, memory_order_relaxed);
  uint64_t halting = (version | TB__VERSION_HALTING) + TB__VERSION_STEP;
  atomic_store(&timeline->halt_steady_ns, -(int64_t)halting);
  atomic_exchange(&timeline->version, halting);
  timeline->time_ns = tb__linear_time_at(&timeline->linear, halt_moment(timeline, halting));
  timeline->running = false;
  tb__timeline_publish_locked(timeline);
}

void tb__running_start_locked(tb_timeline_t *timeline, const tb__linear_time_t *linear)
{
  timeline->linear = *linear;
  timeline->running = true;
  tb__timeline_publish_locked(timeline);
  tb__running_deadline_changed_locked(timeline);
}
