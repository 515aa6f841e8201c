/* Waiting for a clock to be ready, with a thread or with a callback. The thread is a waiter of the
 * clock, as a jump handler might have to be waited for: until time starts, and while its state
 * keeps it from being ready. The callback has a handler, and looks at intervals too. Time that has
 * to advance is observed by looking at it at intervals. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/jump.h>
#include <timebase/ready.h>

#include "base/callback_depth.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "clock/callback_context.h"
#include "held/parking.h"
#include "measure/monitor.h"
#include "measure/readiness.h"
#include "wait/call_wait.h"
#include "wait/timer_queue.h"

#define REST_NS INT64_C(1000000)

static const char *const reason_names[] = {
    [TB_READY] = "ready",
    [TB_READY_NO_SOURCE] = "no-source",
    [TB_READY_NO_PUBLISHER] = "no-publisher",
    [TB_READY_QOS] = "qos",
    [TB_READY_ZERO] = "zero",
    [TB_READY_LOST] = "lost",
    [TB_READY_STALLED] = "stalled",
    [TB_READY_PAUSED] = "paused",
    [TB_READY_OBSERVING] = "observing",
    [TB_READY_SLOW] = "slow",
    [TB_READY_FAST] = "fast",
    [TB_READY_BACKWARDS] = "backwards",
};

#define REASONS (sizeof reason_names / sizeof *reason_names)

const char *tb_ready_reason_name(tb_ready_reason_t reason)
{
  return (size_t)reason < REASONS ? reason_names[reason] : "unknown";
}

#define CONSISTENT_ATTEMPTS 5

/* False: a jump is in progress. Ticks that come meanwhile belong to the next sample. */
static bool take_sample(const tb_clock_t *clock, tb__ready_sample_t *out)
{
  tb__tick_counts_t after;
  for (int i = 0; i < CONSISTENT_ATTEMPTS; i++) {
    tb__clock_count_ticks(clock, &out->counts);
    if (tb__clock_try_read(clock, &out->reading)) return false;
    out->steady_ns = tb__steady_now_ns();
    tb__clock_count_ticks(clock, &after);
    if (after.timeline == out->counts.timeline && after.ticks == out->counts.ticks) break;
  }
  return true;
}

/* Until a jump may be over, whose end wakes nobody here: a little real time, also while a test
 * holds it. */
static void rest(void)
{
  _Atomic uint32_t never = 0;
  tb__futex_wait_kernel(&never, 0, tb__deadline_at(tb__real_steady_now_ns() + REST_NS));
}

/* ---- with a thread ---- */

typedef struct ready_wait {
  tb_clock_t *clock;
  tb__readiness_t readiness;
  tb__call_wait_t wait;
  _Atomic uint32_t word; /* futex */
} ready_wait_t;

/* The limit, or the time of the next sample. */
static tb__deadline_t next_look(const ready_wait_t *self)
{
  tb__deadline_t limit = self->wait.deadline;
  int64_t next_ns = tb__steady_now_ns() + tb__readiness_pause_ns(&self->readiness);
  return limit.ns <= next_ns ? limit : tb__deadline_at(next_ns);
}

static bool limit_has_passed(const ready_wait_t *self)
{
  int64_t limit_ns = self->wait.deadline.ns;
  return limit_ns != INT64_MAX && (limit_ns <= 0 || limit_ns <= tb__steady_now_ns());
}

/* A clock that is in one of these is not ready before its state changes. */
static bool has_to_change_state(tb_ready_reason_t reason)
{
  return reason == TB_READY_NO_SOURCE || reason == TB_READY_LOST || reason == TB_READY_STALLED ||
         reason == TB_READY_PAUSED;
}

#define ALL_STATES                                                                                 \
  (TB_CLOCK_STATE_BIT(TB_CLOCK_INACTIVE) | TB_CLOCK_STATE_BIT(TB_CLOCK_NO_SOURCE) |                \
   TB_CLOCK_STATE_BIT(TB_CLOCK_NO_PUBLISHER) | TB_CLOCK_STATE_BIT(TB_CLOCK_QOS_MISMATCH) |         \
   TB_CLOCK_STATE_BIT(TB_CLOCK_WAITING) | TB_CLOCK_STATE_BIT(TB_CLOCK_RUNNING) |                   \
   TB_CLOCK_STATE_BIT(TB_CLOCK_PAUSED) | TB_CLOCK_STATE_BIT(TB_CLOCK_STALLED) |                    \
   TB_CLOCK_STATE_BIT(TB_CLOCK_LOST))

/* Until something happens that may make it ready: time starts, or the state changes. While time is
 * observed, until the next sample. */
static tb_status_t pause(ready_wait_t *self, const tb_wait_options_t *options, uint32_t seen)
{
  const tb_ready_result_t *result = &self->readiness.result;
  bool waits_for_state = has_to_change_state(result->reason);
  if (result->time.ns && !waits_for_state) {
    tb__futex_wait(&self->word, seen, next_look(self));
    return TB_OK;
  }
  tb_wait_options_t until_limit = *options;
  int64_t limit_ns = self->wait.deadline.ns, left_ns = limit_ns - tb__steady_now_ns();
  until_limit.limit = limit_ns == INT64_MAX ? TB_NO_LIMIT
                      : left_ns > 0         ? (tb_duration_t){left_ns}
                                            : TB_NO_WAIT;
  uint32_t others = ALL_STATES & ~TB_CLOCK_STATE_BIT(result->state);
  tb_status_t status = waits_for_state
                           ? tb_clock_wait_for_state(self->clock, others, &until_limit, NULL)
                           : tb_clock_wait_until_started(self->clock, &until_limit);
  return status == TB_ERR_TIMEOUT ? TB_OK : status;
}

static tb_status_t wait_until_ready(ready_wait_t *self, const tb_wait_options_t *options)
{
  for (;;) {
    uint32_t seen = atomic_load(&self->word);
    tb_status_t status = tb__call_wait_ended(&self->wait); /* S5: before what is due */
    if (status) return status;
    tb__ready_sample_t sample;
    bool passed = limit_has_passed(self); /* what has happened before that counts */
    bool taken = take_sample(self->clock, &sample);
    if (taken && tb__readiness_add(&self->readiness, &sample)) return TB_OK;
    if (passed) return TB_ERR_TIMEOUT;
    if (taken)
      status = pause(self, options, seen);
    else
      rest();
    if (status) return status;
  }
}

static tb_status_t run_wait(ready_wait_t *self, const tb_wait_options_t *options)
{
  tb_status_t status = tb__call_wait_begin(&self->wait, options, &self->word);
  if (status) return status;
  status = wait_until_ready(self, options);
  tb__call_wait_end(&self->wait);
  return status;
}

/* Appends "at least 20 Hz", or nothing if neither bound was asked for. */
static void put_range(char *text, size_t size, const char *what, double min, double max,
                      const char *unit)
{
  size_t length = strlen(text);
  char *end = text + length;
  const char *before = length ? ", " : "; asked for: ";
  size -= length;
  if (min > 0 && max > 0)
    snprintf(end, size, "%s%s %g to %g%s", before, what, min, max, unit);
  else if (min > 0)
    snprintf(end, size, "%s%s at least %g%s", before, what, min, unit);
  else if (max > 0)
    snprintf(end, size, "%s%s at most %g%s", before, what, max, unit);
}

static tb_status_t report_timeout(const tb_ready_result_t *result, tb_error_t *error)
{
  static const char *const details[REASONS] = {
      [TB_READY_NO_SOURCE] = "no source moves it; set one (tb_clock_set_source), or use_sim_time",
      [TB_READY_NO_PUBLISHER] = "nothing publishes its time; start a publisher",
      [TB_READY_QOS] =
          "a publisher is there, but its QoS does not match; change the QoS of one side",
      [TB_READY_ZERO] = "it has had no tick above zero; check that the publisher is running",
      [TB_READY_LOST] = "its publisher is gone; start it again",
      [TB_READY_STALLED] = "its ticks have stopped; check the publisher",
      [TB_READY_PAUSED] = "its time is paused; resume it",
      [TB_READY_OBSERVING] = "it was not observed for long enough; raise the limit",
      [TB_READY_SLOW] = "it ticks or runs too slowly",
      [TB_READY_FAST] = "it ticks or runs too fast",
      [TB_READY_BACKWARDS] = "its time goes back; check for a second publisher",
  };
  char asked[160] = "", measured[80] = "";
  put_range(asked, sizeof asked, "rate", result->min_rate_hz, result->max_rate_hz, " Hz");
  put_range(asked, sizeof asked, "factor", result->min_factor, result->max_factor, "");
  if (result->observed.ns > 0)
    snprintf(measured, sizeof measured, ". Measured: rate %g Hz, factor %g", result->rate_hz,
             result->factor);
  return tb_error_set(error, TB_ERR_TIMEOUT, "the clock is not ready (%s): %s%s%s",
                      tb_ready_reason_name(result->reason), details[result->reason], measured,
                      asked);
}

static tb_status_t ready_wait(tb_clock_t *clock, const tb_ready_options_t *options,
                              const tb_wait_options_t *wait, tb_ready_result_t *out,
                              tb_error_t *error)
{
  if (!clock) return tb__null_argument(error, "tb_ready_wait");
  if (tb__may_not_wait() || tb__in_callback() || tb__queue_of_thread || tb__monitor_is_here())
    return tb_error_set(error, TB_ERR_DEADLOCK,
                        "tb_ready_wait: in a callback, which may delay what it waits for; use "
                        "tb_ready_on");
  if (clock->kind != TB_TIME_ROS)
    return tb_error_set(error, TB_ERR_CLOCK_MISMATCH, "tb_ready_wait: not a clock of ROS time");
  ready_wait_t self = {.clock = clock};
  tb_wait_options_t on_clock = TB_WAIT_OPTIONS_INIT;
  if (wait) on_clock = *wait;
  bool other = on_clock.clock && on_clock.clock != clock;
  on_clock.clock = clock;
  if (other || !tb__readiness_init(&self.readiness, options))
    return tb_error_set(error, TB_ERR_INVALID, "tb_ready_wait: invalid options; see ready.h");
  tb_status_t status = run_wait(&self, &on_clock);
  if (out && (!status || status == TB_ERR_TIMEOUT)) *out = self.readiness.result;
  if (status == TB_ERR_TIMEOUT) return report_timeout(&self.readiness.result, error);
  return status ? tb_error_set(error, status, "tb_ready_wait: %s", tb_status_name(status)) : TB_OK;
}

tb_status_t tb_ready_wait_sized(tb_clock_t *clock, const tb_ready_options_t *options,
                                size_t options_size, const tb_wait_options_t *wait,
                                size_t wait_size, tb_ready_result_t *out, size_t out_size,
                                tb_error_t *error)
{
  tb_ready_options_t known;
  tb_wait_options_t known_wait;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ready_options_t");
  if (!TB__SIZED_IN(wait, wait_size, known_wait))
    return tb__sized_unsupported(error, "tb_wait_options_t");
  tb_ready_result_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = ready_wait(clock, options, wait, full, error);
  TB__SIZED_END(status == TB_ERR_TIMEOUT ? TB_OK : status, out, out_size, full);
  return status;
}

/* ---- with a callback ---- */

struct tb_ready {
  tb__monitored_t item; /* first */
  tb_clock_t *clock;    /* a reference to its memory */
  tb_jump_handler_t *handler;
  tb_ready_callback_t callback;
  void *user;
  _Atomic bool armed;        /* it is complete: checks count */
  _Atomic bool discarded;    /* destroyed where that must not wait: a check removes it */
  tb__mutex_t mutex;         /* of `readiness`; no other is taken under it */
  tb__readiness_t readiness; /* the thread changes it */
};

/* Destroyed without waiting: a jump in progress may use the handler, and through it the item, so
 * both stay until it is over. */
static int64_t check_discarded(tb_ready_t *ready, int64_t now_ns)
{
  if (tb_jump_handler_destroy_within(ready->handler, TB_NO_WAIT))
    return now_ns + tb__readiness_pause_ns(&ready->readiness);
  tb__monitor_remove(&ready->item);
  return INT64_MAX;
}

static bool is_closed(const tb_clock_t *clock)
{
  tb_timeline_t *timeline;
  tb__clock_lock(clock, &timeline);
  bool closed = clock->closed;
  tb__clock_unlock(timeline);
  return closed;
}

static void call_once(tb_ready_t *ready, const tb_ready_result_t *result)
{
  tb_ready_callback_t callback = ready->callback;
  ready->callback = NULL;
  if (callback) callback(ready, result, ready->user);
}

static int64_t ready_check(tb__monitored_t *item, int64_t now_ns)
{
  tb_ready_t *ready = (tb_ready_t *)item;
  if (!atomic_load(&ready->armed)) return INT64_MAX;
  if (atomic_load(&ready->discarded)) return check_discarded(ready, now_ns);
  tb__ready_sample_t sample;
  bool taken = take_sample(ready->clock, &sample);
  if (is_closed(ready->clock)) return INT64_MAX;
  tb__mutex_lock(&ready->mutex);
  bool is_ready = taken && tb__readiness_add(&ready->readiness, &sample);
  const tb_ready_result_t result = ready->readiness.result;
  int64_t pause_ns = tb__readiness_pause_ns(&ready->readiness);
  tb__mutex_unlock(&ready->mutex);
  if (!taken) {
    rest();
    return now_ns;
  }
  if (!is_ready) return now_ns + pause_ns;
  call_once(ready, &result);
  return INT64_MAX; /* one that was discarded in the call has been poked */
}

static void ready_release(tb__monitored_t *item)
{
  tb_ready_t *ready = (tb_ready_t *)item;
  tb__clock_unref(ready->clock);
  tb__mutex_fini(&ready->mutex);
  free(ready);
}

static const tb__monitored_ops_t ready_ops = {ready_check, ready_release};

static void look_again(const tb_jump_t *jump, void *user)
{
  (void)jump;
  tb__monitor_poke(&((tb_ready_t *)user)->item);
}

/* Looks after the first tick of the clock, and after a change of its source. */
static tb_status_t watch_start(tb_ready_t *ready)
{
  const tb_jump_handler_options_t options = {.name = "readiness",
                                             .threshold = {.on_clock_change = true},
                                             .after = look_again,
                                             .user = ready};
  return tb_jump_handler_create(ready->clock, &options, &ready->handler);
}

static tb_ready_t *ready_alloc(tb_clock_t *clock, tb_ready_callback_t callback, void *user)
{
  tb_ready_t *ready = calloc(1, sizeof *ready);
  if (!ready) return NULL;
  ready->item.ops = &ready_ops;
  ready->clock = clock;
  ready->callback = callback;
  ready->user = user;
  tb__mutex_init(&ready->mutex);
  tb__clock_ref(clock);
  return ready;
}

static tb_status_t ready_on(tb_clock_t *clock, const tb_ready_options_t *options,
                            tb_ready_callback_t callback, void *user, tb_ready_t **out)
{
  tb__readiness_t readiness;
  if (!clock || !callback || !out || !tb__readiness_init(&readiness, options))
    return TB_ERR_INVALID;
  if (clock->kind != TB_TIME_ROS) return TB_ERR_CLOCK_MISMATCH;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_ready_t *ready = ready_alloc(clock, callback, user);
  if (!ready) return TB_ERR_NO_MEMORY;
  ready->readiness = readiness;
  tb_status_t status = tb__monitor_add(&ready->item, INT64_MAX);
  if (status) {
    ready_release(&ready->item);
    return status;
  }
  status = watch_start(ready);
  if (status) {
    tb__monitor_remove(&ready->item);
    return status;
  }
  *out = ready;
  atomic_store(&ready->armed, true);
  tb__monitor_poke(&ready->item);
  return TB_OK;
}

tb_status_t tb_ready_on_sized(tb_clock_t *clock, const tb_ready_options_t *options,
                              size_t options_size, tb_ready_callback_t callback, void *user,
                              tb_ready_t **out)
{
  tb_ready_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return ready_on(clock, options, callback, user, out);
}

void tb_ready_destroy(tb_ready_t *ready)
{
  if (!ready) return;
  if (!tb__is_forked() && (tb__may_not_wait() || tb__monitor_is_here())) {
    atomic_store(&ready->discarded, true);
    tb__monitor_poke(&ready->item);
    return;
  }
  tb_jump_handler_destroy(ready->handler); /* after this nothing pokes the item */
  tb__monitor_remove(&ready->item);
}

static tb_status_t ready_read(const tb_ready_t *ready, tb_ready_result_t *out)
{
  if (!ready || !out) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_t *mutex = (tb__mutex_t *)&ready->mutex;
  tb__mutex_lock(mutex);
  *out = ready->readiness.result;
  tb__mutex_unlock(mutex);
  return TB_OK;
}

tb_status_t tb_ready_read_sized(const tb_ready_t *ready, tb_ready_result_t *out, size_t out_size)
{
  tb_ready_result_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = ready_read(ready, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}
