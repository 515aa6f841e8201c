#include "clock/step.h"

#include <pthread.h>

#include "base/log.h"
#include "clock/handler.h"
#include "held/held_time.h"
#include "held/parking.h"
#include "held/wall_step.h"
#include "platform/thread.h"
#include "platform/time.h"

#define STEP_MIN_NS INT64_C(10000) /* a smaller sum may come from reading the clocks inexactly */
#define LINGER_MS   200            /* so that repeated short waits do not start a thread each */

_Atomic bool tb__steps_unserved;

/* Guarded by the mutex of the system timeline. */
static struct watch {
  uint32_t needs;
  int64_t offset_ns; /* tb__wall_offset_ns when watching began, and after each step */
  bool running;      /* there is a thread, which checks `needs` once more before it ends */
  bool lingering;    /* it does so soon, by itself, and need not be nudged again */
  bool asked;        /* it was needed since it began to linger */
  bool stepping;     /* it is in a jump, or waits for its turn */
  bool reported;     /* that there can be no thread */
  bool unloading;
} watch;

static tb__mutex_t thread_mutex = TB__MUTEX_INIT; /* taken before the timeline's */
static tb__thread_t thread;                       /* guarded by thread_mutex, like the next */
static bool has_thread;                           /* to be joined */

void tb__steps_need_locked(tb_timeline_t *timeline)
{
  if (timeline->kind != TB__TIMELINE_SYSTEM) return;
  watch.asked = true;
  if (watch.needs++ || watch.running || watch.unloading || tb__is_forked()) return;
  watch.offset_ns = tb__wall_offset_ns();
  atomic_store(&tb__steps_unserved, true);
}

void tb__steps_release_locked(tb_timeline_t *timeline)
{
  if (timeline->kind != TB__TIMELINE_SYSTEM || --watch.needs) return;
  atomic_store(&tb__steps_unserved, false);
  if (!watch.running || watch.lingering || tb__is_forked()) return;
  watch.lingering = true;
  watch.asked = false;
  tb__wall_step_nudge();
}

static _Atomic uint32_t holders; /* futex */

void tb__steps_hold_locked(tb_timeline_t *timeline)
{
  (void)timeline;
  atomic_fetch_add(&holders, 1);
}

void tb__steps_unblock_locked(tb_timeline_t *timeline)
{
  (void)timeline;
  if (atomic_fetch_sub(&holders, 1) == 1) tb__futex_wake_all(&holders);
}

/* After this no other thread moves the timeline, or a clock from or to it. */
static void take_turn_locked(tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex)
{
  tb__timeline_take_turn_locked(timeline);
  uint32_t held;
  while ((held = atomic_load(&holders)) > 0) {
    tb__mutex_unlock(&timeline->mutex);
    tb__futex_wait(&holders, held, TB__NO_DEADLINE);
    tb__mutex_lock(&timeline->mutex);
  }
}

static tb_jump_t describe(int64_t delta_ns)
{
  int64_t now_ns = tb__system_now_ns();
  tb_jump_t jump = {
      .kind = delta_ns > 0 ? TB_JUMP_FORWARD : TB_JUMP_BACKWARD,
      .reason = TB_JUMP_REASON_SYSTEM_STEPPED,
      .before = {now_ns - delta_ns, TB_TIME_SYSTEM},
      .after = {now_ns, TB_TIME_SYSTEM},
      .delta = {delta_ns},
  };
  if (jump.kind == TB_JUMP_BACKWARD) jump.epoch = tb__epoch_take();
  return jump;
}

/* J3, J9: the steps of a jump, except that readers are not blocked: they see the new time
 * already. */
static void jump_locked(tb_timeline_t *timeline, int64_t delta_ns, tb__waiter_t **to_wake)
    TB_REQUIRES(timeline->mutex)
{
  /* J9: "before" and "after" in a row, readers are not blocked */
  tb__jump_t jump = {.info = describe(delta_ns), .timelines = {timeline, NULL}};
  tb__jump_select_locked(&jump, timeline);
  timeline->jump = &jump; /* for threads that the jump blocks */
  tb__mutex_unlock(&timeline->mutex);
  tb__jump_call_before(&jump);
  tb__mutex_lock(&timeline->mutex);
  if (jump.info.kind == TB_JUMP_BACKWARD) {
    timeline->epoch = jump.info.epoch;
    tb__timeline_publish_locked(timeline);
  }
  tb__waiters_collect_jumped_locked(timeline, &jump.info, to_wake);
  tb__mutex_unlock(&timeline->mutex);
  tb__jump_call_after(&jump);
  tb__mutex_lock(&timeline->mutex);
  timeline->jump = NULL;
  tb__jump_release_locked(&jump, timeline);
}

/* Sleepers that wait in steady time for a system time have to compute their deadline again. While a
 * test holds time they wait for the held system time itself. */
static void settle_locked(const tb_timeline_t *timeline) TB_REQUIRES(timeline->mutex)
{
  if (tb__time_is_held()) return;
  for (tb__waiter_t *waiter = timeline->waiters.watchers; waiter; waiter = waiter->watch_next)
    if (waiter->ops->settled) waiter->ops->settled(waiter);
}

static void follow_step(tb_timeline_t *timeline)
{
  tb__waiter_t *to_wake = NULL;
  tb__mutex_lock(&timeline->mutex);
  watch.stepping = true;
  take_turn_locked(timeline);
  /* J9: the step against steady time, found after the fact; a slew is none */
  int64_t delta_ns = tb__wall_offset_ns() - watch.offset_ns;
  bool is_jump = delta_ns <= -STEP_MIN_NS || delta_ns >= STEP_MIN_NS;
  if (is_jump && !watch.unloading) {
    watch.offset_ns += delta_ns;
    jump_locked(timeline, delta_ns, &to_wake);
    settle_locked(timeline);
  }
  tb__timeline_end_turn_locked(timeline);
  watch.stepping = false;
  tb__mutex_unlock(&timeline->mutex);
  tb__waiters_wake(to_wake);
}

void tb__steps_follow(void)
{
  tb_timeline_t *timeline = tb__timeline_system();
  tb__mutex_lock(&timeline->mutex);
  bool wanted = watch.needs > 0 || watch.running;
  tb__mutex_unlock(&timeline->mutex);
  if (wanted) follow_step(timeline);
}

/* Whether the thread continues, and how long it waits. */
static bool continues(tb_timeline_t *timeline, tb__wall_event_t event, int *out_limit_ms)
{
  tb__mutex_lock(&timeline->mutex);
  bool quiet = event == TB__WALL_QUIET; /* it has lingered long enough */
  bool over = quiet && !watch.asked && watch.needs == 0;
  watch.running = !watch.unloading && !over;
  watch.lingering = (watch.lingering && !quiet) || watch.needs == 0;
  if (quiet) watch.asked = false;
  *out_limit_ms = watch.lingering ? LINGER_MS : -1;
  bool running = watch.running;
  tb__mutex_unlock(&timeline->mutex);
  return running;
}

static void give_up(tb_timeline_t *timeline)
{
  tb__mutex_lock(&timeline->mutex);
  watch.running = false;
  atomic_store(&tb__steps_unserved, watch.needs > 0); /* the next one may succeed */
  bool first = !watch.reported;
  watch.reported = true;
  tb__mutex_unlock(&timeline->mutex);
  if (first)
    tb__log(TB_LOG_WARN, "steps of system time are not detected: no thread or descriptor "
                         "is available to watch the clock");
}

static void *steps_run(void *argument)
{
  tb_timeline_t *timeline = argument;
  if (tb__wall_step_open()) {
    give_up(timeline);
    return NULL;
  }
  int limit_ms;
  tb__wall_event_t event = TB__WALL_STEPPED; /* perhaps, since the thread was needed */
  do {
    if (event == TB__WALL_STEPPED) follow_step(timeline);
    if (!continues(timeline, event, &limit_ms)) break;
    event = tb__wall_step_wait(limit_ms);
  } while (true);
  tb__wall_step_close();
  return NULL;
}

static bool claim(tb_timeline_t *timeline)
{
  tb__mutex_lock(&timeline->mutex);
  bool wanted = watch.needs > 0 && !watch.running && !watch.unloading && !tb__is_forked();
  if (wanted) {
    watch.running = true;
    watch.lingering = false;
    atomic_store(&tb__steps_unserved, false);
  }
  tb__mutex_unlock(&timeline->mutex);
  return wanted;
}

/* With thread_mutex. The previous thread is ending and uses nothing any more. */
static void thread_join(void)
{
  if (has_thread) tb__thread_join(&thread);
  has_thread = false;
}

void tb__steps_start(void)
{
  tb_timeline_t *timeline = tb__timeline_system();
  tb__mutex_lock(&thread_mutex);
  bool wanted = claim(timeline);
  if (wanted) {
    thread_join();
    has_thread = !tb__thread_start(&thread, "tb-steps", steps_run, timeline);
  }
  bool failed = wanted && !has_thread;
  tb__mutex_unlock(&thread_mutex);
  if (failed) give_up(timeline);
}

/* At exit, or when the library is unloaded. Does not wait for a callback in progress. */
__attribute__((destructor)) static void steps_unload(void)
{
  if (tb__is_forked()) return;
  tb_timeline_t *timeline = tb__timeline_system();
  tb__mutex_lock(&thread_mutex);
  tb__mutex_lock(&timeline->mutex);
  watch.unloading = true;
  bool stepping = watch.stepping;
  if (watch.running) tb__wall_step_nudge();
  tb__mutex_unlock(&timeline->mutex);
  if (!stepping)
    thread_join();
  else
    tb__thread_detach(&thread);
  tb__mutex_unlock(&thread_mutex);
}
