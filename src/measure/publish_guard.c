/* Publish guards: one look at the clock for each message. */
#include <stdatomic.h>
#include <stdlib.h>
#include <timebase/publish_guard.h>

#include "base/sized.h"
#include "clock/callback_context.h"
#include "clock/clock.h"
#include "platform/deadline.h"

struct tb_publish_guard {
  tb_clock_t *clock;
  _Atomic uint64_t passed, refused_not_set, refused_jump, held;
  _Atomic int64_t longest_hold_ns;
};

static void count(_Atomic uint64_t *counter)
{
  atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

tb_status_t tb_publish_guard_create(tb_clock_t *clock, tb_publish_guard_t **out)
{
  if (!clock || !out) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_publish_guard_t *guard = calloc(1, sizeof *guard);
  if (!guard) return TB_ERR_NO_MEMORY;
  guard->clock = clock;
  *out = guard;
  return TB_OK;
}

void tb_publish_guard_destroy(tb_publish_guard_t *guard)
{
  free(guard);
}

/* Whether this thread is in a callback of a jump of the clock that is no step forward. The clock
 * can be read there. */
static bool is_in_jump_of(const tb_clock_t *clock)
{
  const tb__jump_t *jump = tb__jump_of_thread;
  if (!jump || jump->info.kind == TB_JUMP_FORWARD) return false;
  return jump->moved ? jump->moved == clock : tb__jump_concerns(jump, tb__clock_timeline(clock));
}

static tb_status_t look(const tb_publish_guard_t *guard, tb_clock_reading_t *out)
{
  tb_clock_reading_t reading;
  if (is_in_jump_of(guard->clock)) return TB_ERR_BUSY;
  tb_status_t status = tb__clock_try_read(guard->clock, &reading);
  if (status) return status;
  bool unset = reading.time.ns == 0 || reading.state == TB_CLOCK_NO_SOURCE;
  if (guard->clock->kind == TB_TIME_ROS && unset) return TB_ERR_NOT_SET;
  if (out) *out = reading;
  return TB_OK;
}

static tb_status_t guard_check(tb_publish_guard_t *guard, tb_clock_reading_t *out)
{
  if (!guard) return TB_ERR_INVALID;
  tb_status_t status = look(guard, out);
  if (!status) count(&guard->passed);
  if (status == TB_ERR_NOT_SET) count(&guard->refused_not_set);
  if (status == TB_ERR_BUSY) count(&guard->refused_jump);
  return status;
}

tb_status_t tb_publish_guard_check_sized(tb_publish_guard_t *guard, tb_clock_reading_t *out,
                                         size_t out_size)
{
  tb_clock_reading_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = guard_check(guard, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

static void note_hold(tb_publish_guard_t *guard, int64_t hold_ns)
{
  int64_t longest_ns = atomic_load(&guard->longest_hold_ns);
  while (hold_ns > longest_ns &&
         !atomic_compare_exchange_weak(&guard->longest_hold_ns, &longest_ns, hold_ns)) {
  }
}

/* What is left of the limit, as a limit: never "none". */
static tb_duration_t what_is_left(tb__deadline_t deadline)
{
  if (deadline.clock == TB__DEADLINE_NONE) return TB_NO_LIMIT;
  int64_t left_ns = tb__deadline_has_passed(deadline) ? 0 : deadline.ns - tb__steady_now_ns();
  return left_ns > 0 ? (tb_duration_t){left_ns} : TB_NO_WAIT;
}

#define STATES_WITH_SOURCE                                                                         \
  (TB_CLOCK_STATE_BIT(TB_CLOCK_NO_PUBLISHER) | TB_CLOCK_STATE_BIT(TB_CLOCK_QOS_MISMATCH) |         \
   TB_CLOCK_STATE_BIT(TB_CLOCK_WAITING) | TB_CLOCK_STATE_BIT(TB_CLOCK_RUNNING) |                   \
   TB_CLOCK_STATE_BIT(TB_CLOCK_PAUSED) | TB_CLOCK_STATE_BIT(TB_CLOCK_STALLED) |                    \
   TB_CLOCK_STATE_BIT(TB_CLOCK_LOST))

/* A clock that follows a default which is not there reports system time, until there is one: a
 * change of its source. */
static tb_status_t wait_for_source(const tb_publish_guard_t *guard, tb_wait_options_t options)
{
  tb_clock_reading_t reading;
  tb_status_t status = tb__clock_try_read(guard->clock, &reading);
  if (status || reading.state != TB_CLOCK_NO_SOURCE) return TB_OK;
  bool fails = options.flags & TB_WAIT_FAIL_ON_CLOCK_CHANGE;
  uint32_t states = STATES_WITH_SOURCE | TB_CLOCK_STATE_BIT(TB_CLOCK_INACTIVE);
  options.flags = 0; /* time does not count meanwhile */
  status = tb_clock_wait_for_state(guard->clock, states, &options, NULL);
  return !status && fails ? TB_ERR_CLOCK_CHANGED : status;
}

/* Each round waits for a jump that is in progress, then for the first tick. Another jump may have
 * begun by then. */
static tb_status_t hold(tb_publish_guard_t *guard, tb_wait_options_t options,
                        tb__deadline_t deadline, tb_clock_reading_t *out)
{
  tb_status_t status;
  do {
    options.limit = what_is_left(deadline);
    status = wait_for_source(guard, options);
    if (status) return status;
    options.limit = what_is_left(deadline);
    status = tb_clock_wait_until_started(guard->clock, &options);
    if (status) return status;
    status = look(guard, out);
  } while (status == TB_ERR_NOT_SET || status == TB_ERR_BUSY);
  return status;
}

static tb_status_t guard_wait(tb_publish_guard_t *guard, const tb_wait_options_t *options,
                              tb_clock_reading_t *out)
{
  tb_wait_options_t own = TB_WAIT_OPTIONS_INIT;
  tb__deadline_t deadline;
  if (options) own = *options;
  if (!guard || (own.clock && own.clock != guard->clock)) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__may_not_wait()) return TB_ERR_DEADLOCK;
  tb_status_t status = tb__limit_begin(own.limit, &deadline);
  if (status) return status;
  bool plain = !own.flags && !tb_cancel_token_is_cancelled(own.token);
  if (!plain || look(guard, out)) {
    bool must_wait = look(guard, NULL) != TB_OK;
    int64_t begin_ns = tb__steady_now_ns();
    status = hold(guard, own, deadline, out);
    if (must_wait) count(&guard->held);
    if (must_wait) note_hold(guard, tb__steady_now_ns() - begin_ns);
  }
  if (!status) count(&guard->passed);
  return status;
}

tb_status_t tb_publish_guard_wait_sized(tb_publish_guard_t *guard, const tb_wait_options_t *options,
                                        size_t options_size, tb_clock_reading_t *out,
                                        size_t out_size)
{
  tb_wait_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  tb_clock_reading_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = guard_wait(guard, options, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

static uint64_t count_of(const _Atomic uint64_t *counter)
{
  return atomic_load_explicit(counter, memory_order_relaxed);
}

static tb_status_t guard_stats(const tb_publish_guard_t *guard, tb_publish_guard_stats_t *out)
{
  if (!guard || !out) return TB_ERR_INVALID;
  *out = (tb_publish_guard_stats_t){
      .passed = count_of(&guard->passed),
      .refused_not_set = count_of(&guard->refused_not_set),
      .refused_jump = count_of(&guard->refused_jump),
      .held = count_of(&guard->held),
      .longest_hold = {atomic_load(&guard->longest_hold_ns)},
  };
  return TB_OK;
}

tb_status_t tb_publish_guard_stats_sized(const tb_publish_guard_t *guard,
                                         tb_publish_guard_stats_t *out, size_t out_size)
{
  tb_publish_guard_stats_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = guard_stats(guard, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}
