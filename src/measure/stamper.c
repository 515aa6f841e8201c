/* Stamps of acquisition. What the clock has reported is a ring of points in order of steady time;
 * within an epoch their times never fall. At a jump there are three: the last time when its
 * handlers begin to run, the same when they have run, and the new time at that moment. */
#include <stdatomic.h>
#include <stdlib.h>
#include <timebase/jump.h>
#include <timebase/stamper.h>

#include "base/saturate.h"
#include "base/sized.h"
#include "clock/clock.h"
#include "held/wall_step.h"
#include "platform/time.h"

#define POINTS      1024
#define HISTORY_NS  INT64_C(5000000000)
#define STEP_MIN_NS INT64_C(1000000) /* of system time: less may be inexact reading */
#define CLOSE_NS    INT64_C(20000)   /* of two readings that belong together */
#define SEEK_NS     INT64_C(1000000000)
#define ATTEMPTS    5
#define NOTHING     ((tb_jump_kind_t)0)

__extension__ typedef __int128 wide_t;

typedef struct point {
  int64_t steady_ns;
  int64_t time_ns; /* 0: not started */
  int64_t wall_ns; /* tb__wall_offset_ns */
  uint64_t epoch;
  tb_jump_kind_t begins; /* the jump that its epoch begins with; 0: it continues */
  bool is_of_source;     /* as it was read: within an epoch the time does not fall */
} point_t;

struct tb_stamper {
  tb_clock_t *clock;
  tb_jump_handler_t *handler;
  int64_t spacing_ns;
  bool accepts_stale;
  tb__mutex_t mutex; /* of the following; the clock is not read under it (J8) */
  uint32_t first, count;
  point_t points[POINTS];
};

/* Counted from the newest. */
static point_t *point_at(tb_stamper_t *stamper, uint32_t back)
{
  return &stamper->points[(stamper->first + stamper->count - 1 - back) % POINTS];
}

/* In order of steady time; within an epoch the time does not fall. */
static void push_locked(tb_stamper_t *stamper, point_t point)
{
  if (stamper->count) {
    const point_t *newest = point_at(stamper, 0);
    if (point.steady_ns < newest->steady_ns) point.steady_ns = newest->steady_ns;
    if (point.epoch == newest->epoch && point.time_ns < newest->time_ns)
      point.time_ns = newest->time_ns;
  }
  if (stamper->count < POINTS)
    stamper->count++;
  else
    stamper->first = (stamper->first + 1) % POINTS;
  *point_at(stamper, 0) = point;
}

/* ---- jumps ---- */

static bool begins_epoch(const tb_jump_t *jump)
{
  return jump->kind == TB_JUMP_BACKWARD || jump->kind == TB_JUMP_CLOCK_CHANGE;
}

/* The last time of what the jump ends, unless the new time has been noted already: handlers that
 * run before this one may have done so. */
static void push_end_locked(tb_stamper_t *stamper, const tb_jump_t *jump, int64_t steady_ns)
{
  const point_t *newest = point_at(stamper, 0);
  if (begins_epoch(jump) && newest->epoch == jump->epoch) return;
  bool beyond = newest->time_ns > jump->before.ns; /* a step forward that a reader has seen */
  push_locked(stamper, (point_t){.steady_ns = steady_ns,
                                 .time_ns = beyond ? newest->time_ns : jump->before.ns,
                                 .wall_ns = newest->wall_ns,
                                 .epoch = newest->epoch});
}

/* What begins the epoch is kept with its first point. */
static void mark_first_locked(tb_stamper_t *stamper, const tb_jump_t *jump)
{
  point_t *first = NULL;
  for (uint32_t back = 0; back < stamper->count; back++) {
    point_t *point = point_at(stamper, back);
    if (point->epoch != jump->epoch) break;
    first = point;
  }
  if (first) first->begins = jump->kind;
}

static void before_jump(const tb_jump_t *jump, void *user)
{
  tb_stamper_t *stamper = user;
  tb__mutex_lock(&stamper->mutex);
  push_end_locked(stamper, jump, tb__steady_now_ns());
  tb__mutex_unlock(&stamper->mutex);
}

static void after_jump(const tb_jump_t *jump, void *user)
{
  tb_stamper_t *stamper = user;
  int64_t wall_ns = tb__wall_offset_ns(), steady_ns = tb__steady_now_ns();
  tb__mutex_lock(&stamper->mutex);
  push_end_locked(stamper, jump, steady_ns);
  push_locked(stamper, (point_t){.steady_ns = steady_ns,
                                 .time_ns = jump->after.ns,
                                 .wall_ns = wall_ns,
                                 .epoch = jump->epoch});
  if (begins_epoch(jump)) mark_first_locked(stamper, jump);
  tb__mutex_unlock(&stamper->mutex);
}

/* ---- reading the clock ---- */

/* Whether the clock has got the time from a source, so that it never falls within an epoch. */
static bool is_of_source(tb_clock_state_t state)
{
  return state != TB_CLOCK_INACTIVE && state != TB_CLOCK_NO_SOURCE && state != TB_CLOCK_CLOSED;
}

/* Steady time and the clock at about one moment. TB_ERR_BUSY: a blocking jump is in progress. */
static tb_status_t read_now(const tb_stamper_t *stamper, point_t *out)
{
  int64_t closest_ns = INT64_MAX;
  for (int i = 0; i < ATTEMPTS && closest_ns > CLOSE_NS; i++) {
    tb_clock_reading_t reading;
    int64_t begin_ns = tb__steady_now_ns();
    tb_status_t status = tb__clock_try_read(stamper->clock, &reading);
    if (status) return status;
    int64_t end_ns = tb__steady_now_ns();
    if (end_ns - begin_ns >= closest_ns) continue;
    closest_ns = end_ns - begin_ns;
    *out = (point_t){.steady_ns = end_ns,
                     .time_ns = reading.time.ns,
                     .epoch = reading.epoch,
                     .is_of_source = is_of_source(reading.state)};
  }
  out->wall_ns = tb__wall_offset_ns();
  return TB_OK;
}

/* Another thread has noted a later time or epoch meanwhile: that is what the clock reports now. On
 * system time it may have been stepped back, which has not been found yet. */
static bool settle_locked(const point_t *newest, point_t *point)
{
  bool earlier = point->epoch == newest->epoch ? point->time_ns < newest->time_ns
                                               : point->epoch < newest->epoch;
  if (earlier && !point->is_of_source) return false;
  if (earlier) *point = *newest;
  if (point->steady_ns < newest->steady_ns) point->steady_ns = newest->steady_ns;
  point->begins = NOTHING;
  return true;
}

/* Takes the mutex with success: `*out` is not before any point. TB_ERR_BUSY: a blocking jump is in
 * progress, or system time has been stepped back and the jump follows. */
static tb_status_t read_and_lock(tb_stamper_t *stamper, point_t *out)
    TB_TRY_ACQUIRE(0, stamper->mutex)
{
  for (int i = 0; i < ATTEMPTS; i++) {
    tb_status_t status = read_now(stamper, out);
    if (status) return status;
    tb__mutex_lock(&stamper->mutex);
    if (settle_locked(point_at(stamper, 0), out)) return TB_OK;
    tb__mutex_unlock(&stamper->mutex);
  }
  return TB_ERR_BUSY;
}

static void remember_locked(tb_stamper_t *stamper, const point_t *now)
{
  const point_t *newest = point_at(stamper, 0);
  if (now->steady_ns - newest->steady_ns >= stamper->spacing_ns || now->epoch != newest->epoch)
    push_locked(stamper, *now);
}

tb_status_t tb_stamper_note(tb_stamper_t *stamper)
{
  if (!stamper) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  point_t now;
  tb_status_t status = read_and_lock(stamper, &now);
  if (status) return status;
  remember_locked(stamper, &now);
  tb__mutex_unlock(&stamper->mutex);
  return TB_OK;
}

/* ---- stamps ---- */

/* The time at a moment between two points. */
static void interpolate(const point_t *from, const point_t *to, int64_t steady_ns, tb_stamp_t *out)
{
  int64_t passed_ns = 0, step_ns = 0;
  if (from->epoch == to->epoch && from->time_ns && to->steady_ns > from->steady_ns) {
    step_ns = to->time_ns - from->time_ns;
    passed_ns = (int64_t)((wide_t)step_ns * (steady_ns - from->steady_ns) /
                          (to->steady_ns - from->steady_ns));
  }
  out->stamp.ns = from->time_ns + passed_ns;
  out->bound.ns = passed_ns > step_ns - passed_ns ? passed_ns : step_ns - passed_ns;
  out->epoch = from->epoch;
}

/* Finds the points around the moment. */
static tb_status_t stamp_locked(tb_stamper_t *stamper, const point_t *now, int64_t steady_ns,
                                tb_stamp_t *out)
{
  tb_jump_kind_t ended_by = NOTHING; /* what has ended the epoch of the point that is looked at */
  const point_t *later = now;
  if (steady_ns > now->steady_ns) return TB_ERR_RANGE;
  for (uint32_t back = 0; back < stamper->count; back++) {
    const point_t *point = point_at(stamper, back);
    if (point->epoch != later->epoch && !ended_by)
      ended_by = later->begins ? later->begins : TB_JUMP_BACKWARD;
    if (point->steady_ns <= steady_ns) {
      if (point->epoch != now->epoch && !stamper->accepts_stale)
        return ended_by == TB_JUMP_CLOCK_CHANGE ? TB_ERR_CLOCK_CHANGED : TB_ERR_JUMP_BACKWARD;
      if (!point->time_ns) return TB_ERR_NOT_SET;
      interpolate(point, later, steady_ns, out);
      out->stale = out->epoch != now->epoch;
      return TB_OK;
    }
    later = point;
  }
  return TB_ERR_RANGE;
}

static tb_status_t stamp_at_locked(tb_stamper_t *stamper, const point_t *now, int64_t steady_ns,
                                   tb_stamp_t *out)
{
  tb_time_kind_t kind = stamper->clock->kind;
  tb_stamp_t stamp = {
      .stamp.kind = kind,
      .received = {now->time_ns, kind},
      .received_epoch = now->epoch,
      .acquired_steady = {steady_ns},
      .received_steady = {now->steady_ns},
  };
  tb_status_t status = stamp_locked(stamper, now, steady_ns, &stamp);
  if (!status) *out = stamp;
  return status;
}

static tb_status_t stamp_from_steady(tb_stamper_t *stamper, tb_steady_time_t acquired,
                                     tb_stamp_t *out)
{
  if (!stamper || !out) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  point_t now;
  tb_status_t status = read_and_lock(stamper, &now);
  if (status) return status;
  status = stamp_at_locked(stamper, &now, acquired.ns, out);
  remember_locked(stamper, &now);
  tb__mutex_unlock(&stamper->mutex);
  return status;
}

/* Whether system time was stepped after the moment, or may have been: `steady_ns` was computed as
 * if it was not, and is off by the step if the moment was before it. */
static bool was_stepped_locked(tb_stamper_t *stamper, const point_t *now, int64_t steady_ns)
{
  const point_t *later = now;
  for (uint32_t back = 0; back < stamper->count; back++) {
    const point_t *point = point_at(stamper, back);
    int64_t step_ns = later->wall_ns - point->wall_ns;
    bool stepped = step_ns >= STEP_MIN_NS || step_ns <= -STEP_MIN_NS;
    int64_t until_ns = tb__add_saturated(later->steady_ns, step_ns < 0 ? -step_ns : 0);
    if (stepped && steady_ns <= until_ns) return true;
    later = point;
  }
  return false;
}

static int64_t system_minus_steady_ns(void)
{
  int64_t closest_ns = INT64_MAX, offset_ns = 0;
  for (int i = 0; i < ATTEMPTS && closest_ns > CLOSE_NS; i++) {
    int64_t begin_ns = tb__steady_now_ns();
    int64_t system_ns = tb__system_now_ns();
    int64_t width_ns = tb__steady_now_ns() - begin_ns;
    if (width_ns >= closest_ns) continue;
    closest_ns = width_ns;
    offset_ns = system_ns - begin_ns - width_ns / 2;
  }
  return offset_ns;
}

static tb_status_t stamp_from_system(tb_stamper_t *stamper, tb_time_t acquired, tb_stamp_t *out)
{
  if (!stamper || !out) return TB_ERR_INVALID;
  if (acquired.kind != TB_TIME_SYSTEM) return TB_ERR_CLOCK_MISMATCH;
  if (tb__is_forked()) return TB_ERR_FORKED;
  point_t now;
  int64_t steady_ns;
  if (__builtin_sub_overflow(acquired.ns, system_minus_steady_ns(), &steady_ns))
    return TB_ERR_RANGE;
  tb_status_t status = read_and_lock(stamper, &now);
  if (status) return status;
  if (was_stepped_locked(stamper, &now, steady_ns))
    status = TB_ERR_CLOCK_CHANGED;
  else
    status = stamp_at_locked(stamper, &now, steady_ns, out);
  remember_locked(stamper, &now);
  tb__mutex_unlock(&stamper->mutex);
  return status;
}

tb_status_t tb_stamp_from_steady_sized(tb_stamper_t *stamper, tb_steady_time_t acquired,
                                       tb_stamp_t *out, size_t out_size)
{
  tb_stamp_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = stamp_from_steady(stamper, acquired, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

tb_status_t tb_stamp_from_system_sized(tb_stamper_t *stamper, tb_time_t acquired, tb_stamp_t *out,
                                       size_t out_size)
{
  tb_stamp_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = stamp_from_system(stamper, acquired, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

/* ---- making and destroying ---- */

/* The first point: nothing is known before it. */
static tb_status_t begin(tb_stamper_t *stamper)
{
  const tb_jump_handler_options_t options = {
      .name = "stamper",
      .threshold = {.min_forward = {SEEK_NS}, .min_backward = {-1}, .on_clock_change = true},
      .before = before_jump,
      .after = after_jump,
      .user = stamper};
  /* of no epoch: the time before is unknown, and a jump may come before the clock is read */
  push_locked(stamper, (point_t){.steady_ns = tb__steady_now_ns(),
                                 .wall_ns = tb__wall_offset_ns(),
                                 .epoch = tb_clock_epoch(stamper->clock)});
  tb_status_t status = tb_jump_handler_create(stamper->clock, &options, &stamper->handler);
  point_t now;
  /* in a jump that has begun before: its handlers are chosen, so the new time is noted by the first
   * call after it */
  if (status || read_and_lock(stamper, &now)) return status;
  push_locked(stamper, now);
  tb__mutex_unlock(&stamper->mutex);
  return TB_OK;
}

static tb_status_t stamper_create(tb_clock_t *clock, const tb_stamper_options_t *options,
                                  tb_stamper_t **out)
{
  int64_t history_ns = options && options->history.ns ? options->history.ns : HISTORY_NS;
  if (!clock || !out || history_ns < 0) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_stamper_t *stamper = calloc(1, sizeof *stamper);
  if (!stamper) return TB_ERR_NO_MEMORY;
  tb__mutex_init(&stamper->mutex);
  stamper->clock = clock;
  stamper->spacing_ns = history_ns / (POINTS / 2); /* the other half is for jumps */
  stamper->accepts_stale = options && options->accepts_stale;
  tb_status_t status = begin(stamper);
  if (status)
    free(stamper);
  else
    *out = stamper;
  return status;
}

tb_status_t tb_stamper_create_sized(tb_clock_t *clock, const tb_stamper_options_t *options,
                                    size_t options_size, tb_stamper_t **out)
{
  tb_stamper_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return stamper_create(clock, options, out);
}

void tb_stamper_destroy(tb_stamper_t *stamper)
{
  if (!stamper) return;
  tb_jump_handler_destroy(stamper->handler);
  tb__mutex_fini(&stamper->mutex);
  free(stamper);
}
