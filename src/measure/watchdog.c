/* Watchdogs. A kick stores its time; the monitor looks at it when the limit would have passed since
 * the kick that it knows of. A kick that comes after the limit, while the monitor is late, notes
 * the silence that it ends. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/watchdog.h>

#include "base/saturate.h"
#include "base/sized.h"
#include "clock/clock.h"
#include "measure/monitor.h"
#include "platform/time.h"

#define NAME_SIZE       48
#define LOOKS_PER_LIMIT 8
#define LOOK_MIN_NS     INT64_C(1000000)

struct tb_watchdog {
  tb__monitored_t item; /* first */
  char name[NAME_SIZE];
  int64_t limit_ns;
  tb_watchdog_callback_t on_expired, on_recovered;
  void *user;
  tb_clock_t *clock; /* a reference to its memory, or NULL */
  bool watch_clock;
  _Atomic int64_t kicked_ns;
  _Atomic bool expired; /* a kick wakes the monitor; changed with `mutex` */

  tb__mutex_t mutex; /* no other is taken under it; guards the following */
  bool running;
  int64_t started_ns;
  int64_t silent_since_ns; /* while expired: the last kick before */
  bool unreported;         /* while expired: `late` is to be handed to on_expired */
  tb_watchdog_info_t late; /* what a kick has found */
  uint64_t expirations;
  tb_clock_reading_t reading; /* of the last check; state 0: none */
};

static tb_watchdog_info_t info_locked(const tb_watchdog_t *watchdog, int64_t now_ns)
{
  int64_t kicked_ns = atomic_load(&watchdog->kicked_ns);
  return (tb_watchdog_info_t){
      .name = watchdog->name,
      .limit = {watchdog->limit_ns},
      .kicked = {kicked_ns},
      .now = {now_ns},
      .silence = {watchdog->running && now_ns > kicked_ns ? now_ns - kicked_ns : 0},
      .expirations = watchdog->expirations,
      .time = watchdog->reading.time,
      .epoch = watchdog->reading.epoch,
      .clock_state = watchdog->reading.state,
      .expired = atomic_load(&watchdog->expired),
  };
}

/* Of several kicks the latest one counts, in whatever order they get here. Returns the one before.
 */
static int64_t note_kick(tb_watchdog_t *watchdog, int64_t now_ns)
{
  int64_t last_ns = atomic_load(&watchdog->kicked_ns);
  while (last_ns < now_ns &&
         !atomic_compare_exchange_weak(&watchdog->kicked_ns, &last_ns, now_ns)) {
  }
  return last_ns;
}

/* System time that a clock without a source reports is no sign of life of it, nor is a reset. */
static bool is_sign_of_life(const tb_clock_reading_t *last, const tb_clock_reading_t *reading)
{
  switch (reading->state) {
  case TB_CLOCK_INACTIVE:
  case TB_CLOCK_NO_SOURCE:
  case TB_CLOCK_CLOSED:
    return false;
  default:
    return last->state && reading->time.ns &&
           (reading->time.ns != last->time.ns || reading->epoch != last->epoch);
  }
}

/* The clock is read with nothing held: that may call the log hook. During a jump the last reading
 * stays. */
static void look_at_clock(tb_watchdog_t *watchdog, int64_t now_ns)
{
  tb_clock_reading_t reading;
  if (!watchdog->clock || tb__clock_try_read(watchdog->clock, &reading)) return;
  tb__mutex_lock(&watchdog->mutex);
  bool kicks = watchdog->watch_clock && is_sign_of_life(&watchdog->reading, &reading);
  watchdog->reading = reading;
  if (kicks) note_kick(watchdog, now_ns);
  tb__mutex_unlock(&watchdog->mutex);
}

/* What is to be called, or NULL. */
static tb_watchdog_callback_t judge_locked(tb_watchdog_t *watchdog, int64_t now_ns,
                                           tb_watchdog_info_t *out)
{
  if (watchdog->unreported) {
    watchdog->unreported = false;
    *out = watchdog->late;
    return watchdog->on_expired;
  }
  int64_t kicked_ns = atomic_load(&watchdog->kicked_ns);
  bool silent = now_ns - kicked_ns >= watchdog->limit_ns;
  bool was_expired = atomic_load(&watchdog->expired);
  if (silent && !was_expired) {
    atomic_store(&watchdog->expired, true);
    /* a kick that has not seen that came before, and counts */
    if (atomic_load(&watchdog->kicked_ns) == kicked_ns) {
      watchdog->silent_since_ns = kicked_ns;
      watchdog->expirations++;
      *out = info_locked(watchdog, now_ns);
      return watchdog->on_expired;
    }
    atomic_store(&watchdog->expired, false);
  } else if (!silent && was_expired) {
    atomic_store(&watchdog->expired, false);
    *out = info_locked(watchdog, now_ns);
    out->silence.ns = kicked_ns - watchdog->silent_since_ns;
    return watchdog->on_recovered;
  }
  return NULL;
}

/* The next check. A kick of one that has expired asks for it by itself. */
static int64_t next_ns_locked(const tb_watchdog_t *watchdog, int64_t now_ns)
{
  bool expired = atomic_load(&watchdog->expired);
  int64_t end_ns = tb__add_saturated(atomic_load(&watchdog->kicked_ns), watchdog->limit_ns);
  if (!watchdog->running) return INT64_MAX;
  if (watchdog->unreported || (expired && end_ns > now_ns)) return now_ns; /* another call is due */
  if (!watchdog->watch_clock) return expired ? INT64_MAX : end_ns;
  int64_t pause_ns = watchdog->limit_ns / LOOKS_PER_LIMIT;
  int64_t look_ns = tb__add_saturated(now_ns, pause_ns > LOOK_MIN_NS ? pause_ns : LOOK_MIN_NS);
  return expired || look_ns < end_ns ? look_ns : end_ns;
}

static int64_t watchdog_check(tb__monitored_t *item, int64_t now_ns)
{
  tb_watchdog_t *watchdog = (tb_watchdog_t *)item;
  tb_watchdog_info_t info;
  tb_watchdog_callback_t call = NULL;
  look_at_clock(watchdog, now_ns);
  tb__mutex_lock(&watchdog->mutex);
  if (watchdog->running) call = judge_locked(watchdog, now_ns, &info);
  int64_t next_ns = next_ns_locked(watchdog, now_ns);
  tb__mutex_unlock(&watchdog->mutex);
  if (call) call(watchdog, &info, watchdog->user);
  return next_ns;
}

static void watchdog_release(tb__monitored_t *item)
{
  tb_watchdog_t *watchdog = (tb_watchdog_t *)item;
  if (watchdog->clock) tb__clock_unref(watchdog->clock);
  tb__mutex_fini(&watchdog->mutex);
  free(watchdog);
}

static const tb__monitored_ops_t watchdog_ops = {watchdog_check, watchdog_release};

static tb_status_t watchdog_create(const tb_watchdog_options_t *options, tb_watchdog_t **out)
{
  if (!options || !out || options->limit.ns <= 0 || !options->on_expired ||
      (options->watch_clock && !options->clock))
    return TB_ERR_INVALID;
  if (options->watch_clock && options->clock->kind != TB_TIME_ROS) return TB_ERR_CLOCK_MISMATCH;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_watchdog_t *watchdog = calloc(1, sizeof *watchdog);
  if (!watchdog) return TB_ERR_NO_MEMORY;
  watchdog->item.ops = &watchdog_ops;
  snprintf(watchdog->name, sizeof watchdog->name, "%s", options->name ? options->name : "unnamed");
  watchdog->limit_ns = options->limit.ns;
  watchdog->on_expired = options->on_expired;
  watchdog->on_recovered = options->on_recovered;
  watchdog->user = options->user;
  watchdog->clock = options->clock;
  watchdog->watch_clock = options->watch_clock;
  tb__mutex_init(&watchdog->mutex);
  if (watchdog->clock) tb__clock_ref(watchdog->clock);
  tb_status_t status = tb__monitor_add(&watchdog->item, INT64_MAX);
  if (status)
    watchdog_release(&watchdog->item);
  else
    *out = watchdog;
  return status;
}

tb_status_t tb_watchdog_create_sized(const tb_watchdog_options_t *options, size_t options_size,
                                     tb_watchdog_t **out)
{
  tb_watchdog_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return watchdog_create(options, out);
}

void tb_watchdog_destroy(tb_watchdog_t *watchdog)
{
  if (!watchdog) return;
  if (!tb__is_forked()) tb_watchdog_stop(watchdog);
  tb__monitor_remove(&watchdog->item);
}

tb_status_t tb_watchdog_start(tb_watchdog_t *watchdog)
{
  if (!watchdog) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_lock(&watchdog->mutex);
  watchdog->started_ns = tb__steady_now_ns();
  note_kick(watchdog, watchdog->started_ns);
  atomic_store(&watchdog->expired, false);
  watchdog->unreported = false;
  watchdog->reading = (tb_clock_reading_t){0};
  watchdog->running = true;
  tb__mutex_unlock(&watchdog->mutex);
  tb__monitor_poke(&watchdog->item);
  return TB_OK;
}

tb_status_t tb_watchdog_stop(tb_watchdog_t *watchdog)
{
  if (!watchdog) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_lock(&watchdog->mutex);
  watchdog->running = watchdog->unreported = false;
  atomic_store(&watchdog->expired, false);
  tb__mutex_unlock(&watchdog->mutex);
  return TB_OK;
}

/* The limit had passed before the kick, and the monitor has not seen it. */
static void note_late_kick(tb_watchdog_t *watchdog, int64_t last_ns, int64_t now_ns)
{
  if (tb__is_forked()) return;
  tb__mutex_lock(&watchdog->mutex);
  bool unseen = watchdog->running && last_ns >= watchdog->started_ns &&
                !atomic_load(&watchdog->expired) && now_ns - last_ns >= watchdog->limit_ns;
  if (unseen) {
    watchdog->silent_since_ns = last_ns;
    watchdog->unreported = true;
    watchdog->expirations++;
    watchdog->late = info_locked(watchdog, now_ns);
    watchdog->late.kicked.ns = last_ns;
    watchdog->late.silence.ns = now_ns - last_ns;
    watchdog->late.expired = 1;
    atomic_store(&watchdog->expired, true);
  }
  tb__mutex_unlock(&watchdog->mutex);
}

void tb_watchdog_kick(tb_watchdog_t *watchdog)
{
  if (!watchdog) return;
  int64_t now_ns = tb__steady_now_ns();
  int64_t last_ns = note_kick(watchdog, now_ns);
  if (__builtin_expect(now_ns - last_ns >= watchdog->limit_ns, 0))
    note_late_kick(watchdog, last_ns, now_ns);
  if (__builtin_expect(atomic_load(&watchdog->expired), 0) && !tb__is_forked())
    tb__monitor_poke(&watchdog->item);
}

static tb_status_t watchdog_read(const tb_watchdog_t *watchdog, tb_watchdog_info_t *out)
{
  if (!watchdog || !out) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_t *mutex = (tb__mutex_t *)&watchdog->mutex;
  int64_t now_ns = tb__steady_now_ns();
  tb__mutex_lock(mutex);
  *out = info_locked(watchdog, now_ns);
  tb__mutex_unlock(mutex);
  return TB_OK;
}

tb_status_t tb_watchdog_read_sized(const tb_watchdog_t *watchdog, tb_watchdog_info_t *out,
                                   size_t out_size)
{
  tb_watchdog_info_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = watchdog_read(watchdog, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}
