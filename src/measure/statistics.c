/* Statistics of a node: its clock and the jumps of it, and the intervals of all. */
#include "measure/statistics.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/timeline.h>

#include "base/sized.h"
#include "clock/handler.h"
#include "platform/time.h"

#define FORWARD_MIN_NS INT64_C(1000000000)
#define GOOD_WINDOWS   3

bool tb__statistics_name(const char *name, char out[TB__STATISTICS_NAME_SIZE])
{
  size_t size = name ? strnlen(name, TB__STATISTICS_NAME_SIZE) : 0;
  if (!size || size == TB__STATISTICS_NAME_SIZE) return false;
  for (size_t i = 0; i < size; i++)
    if (name[i] < ' ' || name[i] > '~') return false;
  if (!strcmp(name, TB__OVERFLOW_NAME)) return false;
  memcpy(out, name, size + 1);
  return true;
}

tb_status_t tb__statistics_histogram(tb_histogram_t **out, tb_histogram_writer_t **out_writer)
{
  tb_status_t status = tb_histogram_create(NULL, out);
  if (status) return status;
  status = tb_histogram_writer_create(*out, out_writer);
  if (!status) return TB_OK;
  tb_histogram_destroy(*out);
  *out = NULL;
  return status;
}

/* ---- jumps ---- */

/* TB__JUMP_CLASSES: a first tick is no jump. */
static tb__jump_class_t class_of(const tb_jump_t *jump)
{
  switch (jump->kind) {
  case TB_JUMP_BACKWARD:
    return TB__BACKWARD;
  case TB_JUMP_FORWARD:
    return TB__FORWARD;
  case TB_JUMP_CLOCK_CHANGE:
    return TB__CHANGE;
  default:
    return TB__JUMP_CLASSES;
  }
}

static void before_jump(const tb_jump_t *jump, void *user)
{
  tb_statistics_t *statistics = user;
  tb__jump_class_t class = class_of(jump);
  if (class == TB__FORWARD && statistics->judges_forward &&
      !tb__clock_jumps_forward(statistics->clock, jump))
    return; /* a tick of a clock that runs fast */
  atomic_fetch_add(&statistics->jumps, 1);
  if (class == TB__JUMP_CLASSES) return;
  if (class != TB__FORWARD) {
    tb__epoch_begin_t begin = {jump->epoch, tb__steady_now_ns(), jump->before.ns};
    tb__mutex_lock(&statistics->jump_mutex);
    statistics->epoch_begin = begin;
    tb__mutex_unlock(&statistics->jump_mutex);
  }
  atomic_store(&statistics->last_class, (uint32_t) class);
  atomic_fetch_add(&statistics->seen[class], 1);
  atomic_store(&statistics->may_be_in_jump, true);
}

/* Whether the last jump that was seen is not over: other handlers may still run. */
static bool is_in_jump(tb_statistics_t *statistics)
{
  tb_timeline_t *timeline;
  tb__clock_lock(statistics->clock, &timeline);
  bool selected = statistics->handler->selected;
  if (!selected) atomic_store(&statistics->may_be_in_jump, false);
  tb__clock_unlock(timeline);
  return selected && atomic_load(&statistics->may_be_in_jump);
}

/* ---- snapshots ---- */

/* What is read with nothing held. */
typedef struct sample {
  int64_t steady_ns;
  tb_clock_reading_t reading;
  bool has_reading, in_jump;
  tb__tick_counts_t ticks;
  tb_timeline_stats_t timeline;
  uint64_t jumps, seen[TB__JUMP_CLASSES];
} sample_t;

static sample_t take_sample(tb_statistics_t *statistics)
{
  sample_t sample = {.in_jump = is_in_jump(statistics)};
  sample.jumps = atomic_load(&statistics->jumps);
  for (int i = 0; i < TB__JUMP_CLASSES; i++)
    sample.seen[i] = atomic_load(&statistics->seen[i]);
  tb__clock_count_ticks(statistics->clock, &sample.ticks);
  tb_timeline_stats(tb__timeline_target(tb__clock_timeline(statistics->clock)), &sample.timeline);
  sample.has_reading = !tb__clock_try_read(statistics->clock, &sample.reading);
  sample.steady_ns = tb__steady_now_ns();
  return sample;
}

static void raise_to(uint64_t *count, uint64_t value)
{
  if (value > *count) *count = value;
}

/* A count of jumps that are over never falls, though a jump may begin while it is taken. */
static void note_jumps_locked(tb_statistics_t *statistics, const sample_t *sample)
{
  tb_clock_summary_t *summary = &statistics->summary;
  uint64_t handled[TB__JUMP_CLASSES];
  memcpy(handled, sample->seen, sizeof handled);
  if (sample->in_jump) {
    uint64_t *last = &handled[atomic_load(&statistics->last_class)];
    if (*last) --*last;
  }
  raise_to(&summary->jumps_backward, handled[TB__BACKWARD]);
  raise_to(&summary->jumps_forward, handled[TB__FORWARD]);
  raise_to(&summary->clock_changes, handled[TB__CHANGE]);
  uint64_t seen = sample->seen[TB__BACKWARD] + sample->seen[TB__FORWARD] + sample->seen[TB__CHANGE];
  uint64_t done = summary->jumps_backward + summary->jumps_forward + summary->clock_changes;
  summary->jumps_unhandled = seen > done ? seen - done : 0;
}

/* Counts of a timeline go on from its own start: what the clock has followed is summed up. */
static void note_ticks_locked(tb_statistics_t *statistics, const sample_t *sample)
{
  tb_clock_summary_t *summary = &statistics->summary;
  const tb__tick_counts_t *from = &statistics->ticks, *to = &sample->ticks;
  int64_t passed_ns = sample->steady_ns - summary->from.ns;
  summary->rate_hz = 0;
  if (from->timeline == to->timeline) {
    uint64_t ticks = to->ticks - from->ticks, repeats = to->repeats - from->repeats;
    uint64_t moves = to->runs || ticks < repeats ? ticks : ticks - repeats;
    if (passed_ns > 0) summary->rate_hz = (double)moves * 1e9 / (double)passed_ns;
    summary->ticks_repeated += to->runs ? 0 : repeats;
    summary->ticks_dropped += sample->timeline.dropped - statistics->timeline.dropped;
    summary->stalls += sample->timeline.stalls - statistics->timeline.stalls;
  }
  statistics->ticks = *to;
  statistics->timeline = sample->timeline;
}

/* How far the clock has advanced in the interval; -1: unknown, as it has jumped. */
static int64_t note_time_locked(tb_statistics_t *statistics, const sample_t *sample)
{
  tb_clock_summary_t *summary = &statistics->summary;
  tb_time_t before = summary->time;
  bool even = sample->has_reading && before.ns && sample->jumps == statistics->jumps_at_snapshot &&
              sample->reading.epoch == summary->epoch && sample->reading.time.ns >= before.ns;
  int64_t advanced_ns = even ? sample->reading.time.ns - before.ns : -1;
  int64_t passed_ns = sample->steady_ns - summary->from.ns;
  summary->factor =
      even && passed_ns > 0 ? (double)advanced_ns / (double)passed_ns : __builtin_nan("");
  summary->epochs = 0;
  if (sample->has_reading) {
    summary->epochs = sample->reading.epoch != summary->epoch;
    summary->time = sample->reading.time;
    summary->epoch = sample->reading.epoch;
    summary->state = sample->reading.state;
  }
  statistics->jumps_at_snapshot = sample->jumps;
  return advanced_ns;
}

static tb__verdict_t judge_state(tb_clock_state_t state)
{
  switch (state) {
  case TB_CLOCK_STALLED:
    return (tb__verdict_t){TB_LEVEL_ERROR, "its ticks have stopped"};
  case TB_CLOCK_LOST:
    return (tb__verdict_t){TB_LEVEL_ERROR, "its publisher is gone"};
  case TB_CLOCK_NO_SOURCE:
    return (tb__verdict_t){TB_LEVEL_ERROR, "it has no source and reports system time"};
  default:
    return (tb__verdict_t){TB_LEVEL_OK, ""};
  }
}

static void note_level_locked(tb_statistics_t *statistics)
{
  tb_clock_summary_t *summary = &statistics->summary;
  tb__level_settle(&statistics->level, judge_state(summary->state), statistics->good_windows);
  summary->level = statistics->level.now.level;
  summary->reason = statistics->level.now.reason;
}

static void take_snapshot(tb_statistics_t *statistics)
{
  sample_t sample = take_sample(statistics);
  tb__mutex_lock(&statistics->mutex);
  tb_clock_summary_t *summary = &statistics->summary;
  summary->from = summary->to;
  summary->to.ns = sample.steady_ns > summary->from.ns ? sample.steady_ns : summary->from.ns;
  note_jumps_locked(statistics, &sample);
  note_ticks_locked(statistics, &sample);
  int64_t advanced_ns = note_time_locked(statistics, &sample);
  note_level_locked(statistics);
  double tick_ns = summary->rate_hz > 0 ? summary->factor * 1e9 / summary->rate_hz : 0;
  if (tick_ns > 0 && tick_ns < 1e18) atomic_store(&statistics->tick_ns, (int64_t)tick_ns);
  for (tb_topic_statistics_t *topic = statistics->topics; topic; topic = topic->next)
    tb__topic_statistics_snapshot(topic, summary->to.ns - summary->from.ns, advanced_ns);
  for (tb_timer_statistics_t *timer = statistics->timers; timer; timer = timer->next)
    tb__timer_statistics_snapshot(timer);
  tb__mutex_unlock(&statistics->mutex);
}

/* The clock is read with nothing held, so two snapshots at once would be of each other's past. */
tb_status_t tb_statistics_snapshot(tb_statistics_t *statistics)
{
  if (!statistics) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (atomic_exchange(&statistics->is_in_snapshot, true)) return TB_ERR_BUSY;
  take_snapshot(statistics);
  atomic_store(&statistics->is_in_snapshot, false);
  return TB_OK;
}

void tb_statistics_set_clock_publishers(tb_statistics_t *statistics, uint32_t count)
{
  if (statistics) atomic_store(&statistics->clock_publishers, count);
}

static tb_status_t statistics_clock(const tb_statistics_t *statistics, tb_clock_summary_t *out)
{
  if (!statistics || !out) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__mutex_t *mutex = (tb__mutex_t *)&statistics->mutex;
  tb__mutex_lock(mutex);
  *out = statistics->summary;
  tb__mutex_unlock(mutex);
  return TB_OK;
}

tb_status_t tb_statistics_clock_sized(const tb_statistics_t *statistics, tb_clock_summary_t *out,
                                      size_t out_size)
{
  tb_clock_summary_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = statistics_clock(statistics, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

void tb__statistics_visit(const tb_statistics_t *statistics,
                          const tb__statistics_visitor_t *visitor, void *user)
{
  tb__mutex_t *mutex = (tb__mutex_t *)&statistics->mutex;
  tb__mutex_lock(mutex);
  visitor->clock(statistics->node, &statistics->summary, user);
  for (const tb_topic_statistics_t *topic = statistics->topics; topic; topic = topic->next)
    visitor->topic(topic, &topic->summary, user);
  for (const tb_timer_statistics_t *timer = statistics->timers; timer; timer = timer->next)
    visitor->timer(timer, timer->name, user);
  tb__mutex_unlock(mutex);
}

/* ---- making and destroying ---- */

static void begin(tb_statistics_t *statistics)
{
  sample_t sample = take_sample(statistics);
  tb_clock_summary_t *summary = &statistics->summary;
  summary->from.ns = summary->to.ns = sample.steady_ns;
  summary->factor = __builtin_nan("");
  if (sample.has_reading) {
    summary->time = sample.reading.time;
    summary->epoch = sample.reading.epoch;
    summary->state = sample.reading.state;
  }
  statistics->ticks = sample.ticks;
  statistics->timeline = sample.timeline;
  statistics->jumps_at_snapshot = sample.jumps;
}

static tb_status_t watch_jumps(tb_statistics_t *statistics)
{
  const tb_jump_handler_options_t options = {
      .name = "statistics",
      .threshold = {.min_forward = {statistics->forward_min_ns},
                    .min_backward = {-1},
                    .on_clock_change = true},
      .before = before_jump,
      .user = statistics};
  return tb_jump_handler_create(statistics->clock, &options, &statistics->handler);
}

static tb_status_t statistics_create(const tb_statistics_options_t *options, tb_statistics_t **out)
{
  if (!options || !out || !options->clock || options->forward_jump_min.ns < 0)
    return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb_statistics_t *statistics = calloc(1, sizeof *statistics);
  if (!statistics) return TB_ERR_NO_MEMORY;
  tb__mutex_init(&statistics->jump_mutex);
  tb__mutex_init(&statistics->mutex);
  statistics->clock = options->clock;
  statistics->forward_min_ns =
      options->forward_jump_min.ns ? options->forward_jump_min.ns : FORWARD_MIN_NS;
  statistics->judges_forward = !options->forward_jump_min.ns;
  statistics->level = (tb__level_state_t)TB__LEVEL_INIT;
  statistics->summary.reason = "";
  statistics->clock_publishers = -1;
  statistics->good_windows = options->good_windows ? options->good_windows : GOOD_WINDOWS;
  tb_status_t status =
      tb__statistics_name(options->node, statistics->node) ? TB_OK : TB_ERR_INVALID;
  if (!status) status = watch_jumps(statistics);
  if (status) {
    tb_statistics_destroy(statistics);
    return status;
  }
  begin(statistics);
  *out = statistics;
  return TB_OK;
}

tb_status_t tb_statistics_create_sized(const tb_statistics_options_t *options, size_t options_size,
                                       tb_statistics_t **out)
{
  tb_statistics_options_t known;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return statistics_create(options, out);
}

void tb_statistics_destroy(tb_statistics_t *statistics)
{
  if (!statistics) return;
  tb_jump_handler_destroy(statistics->handler);
  if (tb__is_forked() && !tb__mutex_was_free(&statistics->mutex)) return; /* lists half changed */
  for (tb_topic_statistics_t *topic = statistics->topics, *next; topic; topic = next) {
    next = topic->next;
    tb__topic_statistics_free(topic);
  }
  for (tb_timer_statistics_t *timer = statistics->timers, *next; timer; timer = next) {
    next = timer->next;
    tb__timer_statistics_free(timer);
  }
  tb__mutex_fini(&statistics->jump_mutex);
  tb__mutex_fini(&statistics->mutex);
  free(statistics);
}
