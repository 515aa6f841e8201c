#include "clock/jump_wait.h"

#include <string.h>

#include "base/log.h"
#include "base/saturate.h"
#include "clock/clock.h"
#include "held/parking.h"
#include "platform/time.h"

/* A blocked thread that knows no deadline looks again after the handlers' limit, but not more often
 * than this. */
#define LOOK_AGAIN_NS        INT64_C(100000000)
#define FOLLOWER_PATIENCE_NS INT64_C(10000000)

/* What a blocked thread has found out about the cause. */
typedef struct cause {
  char name[sizeof((struct tb_jump_handler *)0)->name];
  int64_t took_ns;
  int64_t limit_ns; /* of a handler; INT64_MAX: no jump */
  int64_t look_ns;  /* steady: when to look again */
  uint32_t readers;
  bool report;
  bool readers_give_up;
} cause_t;

tb_status_t tb__users_wait(_Atomic uint32_t *users, int64_t limit_ns)
{
  uint32_t count;
  while ((count = atomic_load(users)) > 0)
    if (!tb__futex_wait(users, count, tb__deadline_at(limit_ns)) && atomic_load(users) > 0)
      return TB_ERR_TIMEOUT;
  return TB_OK;
}

/* ---- the handler's side ---- */

static int64_t slow_limit(const tb__jump_t *jump)
{
  int64_t limit_ns = 0; /* not known */
  for (int i = 0; i < 2; i++) {
    const tb_timeline_t *timeline = jump->timelines[i];
    if (!timeline || timeline->kind != TB__TIMELINE_ROS) continue;
    int64_t own_ns = atomic_load_explicit(&timeline->slow_handler_ns, memory_order_relaxed);
    if (!limit_ns || own_ns < limit_ns) limit_ns = own_ns;
  }
  return limit_ns ? limit_ns : TB__SLOW_HANDLER_NS;
}

static bool readers_give_up(const tb__jump_t *jump)
{
  for (int i = 0; i < 2; i++)
    if (jump->timelines[i] &&
        atomic_load_explicit(&jump->timelines[i]->readers_give_up, memory_order_relaxed))
      return true;
  return false;
}

static uint32_t readers_of(const tb__jump_t *jump)
{
  return atomic_load(jump->moved ? &jump->moved->readers : &jump->timelines[0]->readers);
}

static void keep_longest(const tb__jump_t *jump, int64_t took_ns)
{
  for (int i = 0; i < 2; i++) {
    if (!jump->timelines[i]) continue;
    _Atomic int64_t *longest = &jump->timelines[i]->counts.longest_handler_ns;
    int64_t seen = atomic_load_explicit(longest, memory_order_relaxed);
    while (took_ns > seen && !atomic_compare_exchange_weak(longest, &seen, took_ns)) {
    }
  }
}

/* `call` is the start of a call, doubled, plus one once it has been reported. The thread that sets
 * that bit reports, so each call is reported once, and no other call than the one that was looked
 * at. */
static int64_t call_start(int64_t call)
{
  return call >> 1;
}

static bool claim_report(struct tb_jump_handler *handler, int64_t call)
{
  /* J7: a slow call is reported once */
  return !(call & 1) && atomic_compare_exchange_strong(&handler->call, &call, call | 1);
}

static void report(const cause_t *cause, const char *how)
{
  /* J7, J8: names the handler and counts the readers that it blocks */
  tb__log(TB_LOG_WARN,
          "jump handler \"%s\" %s %.9f s, its limit is %.9f s; readers blocked: %u. It must not "
          "wait for a thread that reads the time, nor for a mutex that is held while the time is "
          "read: read the time before taking the mutex, or do the work after the jump on another "
          "thread",
          cause->name, how, (double)cause->took_ns / 1e9, (double)cause->limit_ns / 1e9,
          cause->readers);
}

static void describe(const tb__jump_t *jump, const struct tb_jump_handler *handler, int64_t took_ns,
                     cause_t *cause)
{
  memcpy(cause->name, handler->name, sizeof cause->name);
  cause->took_ns = took_ns;
  cause->readers = readers_of(jump);
  keep_longest(jump, took_ns);
}

void tb__handler_call_begin(tb__jump_t *jump, struct tb_jump_handler *handler)
{
  atomic_store(&handler->call, tb__steady_now_ns() * 2);
  atomic_store(&jump->running, handler);
}

void tb__handler_call_end(tb__jump_t *jump, struct tb_jump_handler *handler)
{
  if (tb__is_forked()) return;
  int64_t call = atomic_exchange(&handler->call, 0);
  cause_t cause = {.limit_ns = slow_limit(jump)};
  int64_t took_ns = tb__steady_now_ns() - call_start(call);
  atomic_store(&jump->running, NULL);
  if (took_ns < cause.limit_ns || (call & 1)) {
    keep_longest(jump, took_ns);
    return;
  }
  describe(jump, handler, took_ns, &cause);
  report(&cause, "took");
}

/* ---- the side of blocked threads ---- */

/* With the mutex that guards `jump` and its handlers. */
static void look_at(const tb__jump_t *jump, int64_t now_ns, cause_t *cause)
{
  cause->limit_ns = slow_limit(jump);
  cause->readers_give_up = readers_give_up(jump);
  if (cause->limit_ns > LOOK_AGAIN_NS) cause->look_ns = tb__add_saturated(now_ns, cause->limit_ns);
  struct tb_jump_handler *handler = atomic_load(&jump->running);
  int64_t call = handler ? atomic_load(&handler->call) : 0;
  if (!call || (call & 1)) return;
  int64_t due_ns = tb__add_saturated(call_start(call), cause->limit_ns);
  if (now_ns < due_ns) {
    cause->look_ns = due_ns;
  } else if (claim_report(handler, call)) {
    cause->report = true;
    describe(jump, handler, now_ns - call_start(call), cause);
  }
}

static int64_t earlier(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static cause_t unknown_cause(int64_t now_ns)
{
  return (cause_t){.limit_ns = INT64_MAX, .look_ns = tb__add_saturated(now_ns, LOOK_AGAIN_NS)};
}

static cause_t cause_on_timeline(tb_timeline_t *timeline, int64_t now_ns)
{
  cause_t cause = unknown_cause(now_ns);
  tb__mutex_lock(&timeline->mutex);
  if (timeline->jump) {
    look_at(timeline->jump, now_ns, &cause);
  } else if (timeline->announced) { /* its handlers have yet to be called */
    cause.limit_ns = atomic_load(&timeline->slow_handler_ns);
    cause.readers_give_up = atomic_load(&timeline->readers_give_up);
  }
  tb__mutex_unlock(&timeline->mutex);
  if (timeline->view) /* the thread that follows the page may have to be woken */
    cause.look_ns = earlier(cause.look_ns, tb__add_saturated(now_ns, FOLLOWER_PATIENCE_NS));
  return cause;
}

static cause_t cause_of_change(const tb_clock_t *clock, int64_t now_ns)
{
  cause_t cause = unknown_cause(now_ns);
  if (!clock) return cause;
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  if (clock->change) look_at(clock->change, now_ns, &cause);
  tb__clock_unlock(timeline);
  return cause;
}

static tb_status_t wait_for(tb__jump_wait_t *wait, const cause_t *cause, int64_t now_ns,
                            _Atomic uint32_t *word, uint32_t seen)
{
  if (cause->report) report(cause, "has been running for");
  if (now_ns >= wait->limit_ns) return TB_ERR_TIMEOUT;
  int64_t until_ns = earlier(cause->look_ns, wait->limit_ns);
  if (cause->readers_give_up && wait->since_ns) {
    int64_t enough_ns = tb__add_saturated(wait->since_ns, cause->limit_ns);
    if (now_ns >= enough_ns) return TB_ERR_BUSY;
    until_ns = earlier(until_ns, enough_ns);
  }
  tb__futex_wait(word, seen, (tb__deadline_t){TB__DEADLINE_STEADY, until_ns});
  return TB_OK;
}

tb_status_t tb__jump_wait_for(tb__jump_wait_t *wait, tb_timeline_t *timeline,
                              _Atomic uint32_t *word, uint32_t seen)
{
  int64_t now_ns = tb__steady_now_ns();
  cause_t cause = cause_on_timeline(timeline, now_ns);
  return wait_for(wait, &cause, now_ns, word, seen);
}

tb_status_t tb__jump_wait_for_change(tb__jump_wait_t *wait, const tb_clock_t *clock,
                                     _Atomic uint32_t *word, uint32_t seen)
{
  int64_t now_ns = tb__steady_now_ns();
  cause_t cause = cause_of_change(clock, now_ns);
  return wait_for(wait, &cause, now_ns, word, seen);
}

static void reader_begin(tb__jump_wait_t *wait, _Atomic uint32_t *readers)
{
  if (!wait->since_ns) wait->since_ns = tb__steady_now_ns();
  atomic_fetch_add(readers, 1);
}

tb_status_t tb__jump_wait_read_timeline(tb__jump_wait_t *wait, tb_timeline_t *timeline,
                                        uint32_t seen)
{
  reader_begin(wait, &timeline->readers);
  tb_status_t status = tb__jump_wait_for(wait, timeline, &timeline->gate, seen);
  atomic_fetch_sub(&timeline->readers, 1);
  return status;
}

tb_status_t tb__jump_wait_read_clock(tb__jump_wait_t *wait, tb_clock_t *clock, uint32_t seen)
{
  reader_begin(wait, &clock->readers);
  tb_status_t status = tb__jump_wait_for_change(wait, clock, &clock->gate, seen);
  atomic_fetch_sub(&clock->readers, 1);
  return status;
}

/* ---- options ---- */

void tb__jump_wait_set_options_locked(tb_timeline_t *timeline, const tb_timeline_options_t *options)
{
  int64_t limit_ns = options->slow_handler_limit.ns;
  atomic_store(&timeline->slow_handler_ns, limit_ns ? limit_ns : INT64_MAX);
  atomic_store(&timeline->readers_give_up, options->readers_give_up);
  atomic_store(&timeline->readers_never_block, options->readers_never_block);
  if (options->readers_never_block)
    tb__timeline_unblock_locked(timeline);
  else if (timeline->announced)
    tb__timeline_block_locked(timeline);
  _Atomic uint32_t *gate = &timeline->gate;
  if (timeline->jump && timeline->jump->moved) {
    tb_clock_t *moved = timeline->jump->moved;
    if (options->readers_never_block) atomic_fetch_or(&moved->word, TB__WORD_OPEN);
    gate = &moved->gate;
  }
  atomic_fetch_add(gate, 1);
  tb__futex_wake_all(gate);
}
