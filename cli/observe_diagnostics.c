#include "observe_diagnostics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_diagnostics.h>

#include "contract/spread.h"
#include "observe_rows.h"
#include "observe_text.h"
#include "text.h"

#define NODE_NAME    "timebase_observe"
#define GOOD_SECONDS 3 /* after which a level falls */
#define MS           1e6
#define NAME_SIZE    1024

/* A level rises at once, and falls after some good seconds. */
typedef struct level {
  tb_level_t now;
  const char *message; /* static */
  int good_seconds;
} level_t;

/* What a publisher had at the last report. */
typedef struct observe_reported {
  level_t level;
  uint64_t kinds[TB__STAMP_KIND_COUNT];
  uint64_t backward;
  tb__spread_t age;
  tb__moments_t travel;
} observe_reported_t;

struct observe_diagnostics {
  observe_t *observe;
  tb_ros2_node_t *node;
  tb_ros2_diagnostics_t *out;
  level_t clock;
  uint64_t clock_stalls, clock_backward;
  level_t paths[OBSERVE_PATHS_MAX];
  size_t count, others; /* publishers with a status, and without */
  bool has_failed;      /* and that was reported */
};

/* --- levels --- */

typedef struct verdict {
  tb_level_t level;
  const char *message;
} verdict_t;

static void raise_to(verdict_t *verdict, bool is_so, tb_level_t level, const char *message)
{
  if (is_so && level > verdict->level) *verdict = (verdict_t){level, message};
}

static void take_verdict(level_t *level, const verdict_t *verdict)
{
  if (!level->message) level->message = "";
  if (verdict->level >= level->now) {
    level->now = verdict->level;
    level->message = verdict->message;
    level->good_seconds = 0;
  } else if (++level->good_seconds >= GOOD_SECONDS) {
    *level = (level_t){verdict->level, verdict->message, 0};
  }
}

static bool has_more(const tb__stamps_t *stamps, const observe_reported_t *before,
                     tb__stamp_kind_t kind)
{
  return stamps->kinds[kind] > before->kinds[kind];
}

static verdict_t verdict_of(const tb__stamps_t *stamps, const observe_reported_t *before)
{
  verdict_t verdict = {TB_LEVEL_OK, ""};
  raise_to(&verdict, has_more(stamps, before, TB__STAMP_SYSTEM), TB_LEVEL_ERROR,
           "stamps are of system time");
  raise_to(&verdict, has_more(stamps, before, TB__STAMP_FAR), TB_LEVEL_ERROR,
           "stamps are more than a year off");
  raise_to(&verdict, has_more(stamps, before, TB__STAMP_INVALID), TB_LEVEL_ERROR,
           "stamps are no valid time");
  raise_to(&verdict, has_more(stamps, before, TB__STAMP_OLD), TB_LEVEL_ERROR,
           "messages are too old");
  raise_to(&verdict, has_more(stamps, before, TB__STAMP_ZERO), TB_LEVEL_WARN, "stamps are zero");
  raise_to(&verdict, has_more(stamps, before, TB__STAMP_FUTURE), TB_LEVEL_WARN,
           "stamps are in the future");
  raise_to(&verdict, has_more(stamps, before, TB__STAMP_STALE_EPOCH), TB_LEVEL_WARN,
           "stamps are of the time before a jump");
  raise_to(&verdict, stamps->backward > before->backward, TB_LEVEL_WARN,
           "stamps are before the one before");
  return verdict;
}

/* --- values --- */

/* The mean of what came since; NaN: nothing. */
static double mean_since(const tb__moments_t *now, const tb__moments_t *before)
{
  double count = (double)(now->count - before->count);
  if (now->count <= before->count) return NAN;
  return (now->mean_ns * (double)now->count - before->mean_ns * (double)before->count) / count / MS;
}

/* NaN: nothing came since. */
static double p99_since(const tb__spread_t *now, const tb__spread_t *before)
{
  static tb__spread_t since; /* large */
  if (now->moments.count <= before->moments.count) return NAN;
  since = *now;
  since.moments.count -= before->moments.count;
  for (size_t i = 0; i < TB__SPREAD_BINS; i++) {
    since.above[i] -= before->above[i];
    since.below[i] -= before->below[i];
  }
  return (double)tb__spread_quantile(&since, 0.99) / MS;
}

static void add_counts(tb_ros2_diagnostics_t *out, const tb__topic_stream_t *is)
{
  const tb__stamps_t *stamps = &is->stamps;
  const struct {
    const char *key;
    uint64_t count;
  } counts[] = {
      {"message_count", stamps->arrivals},
      {"stale_epoch_count", stamps->kinds[TB__STAMP_STALE_EPOCH]},
      {"zero_stamp_count", stamps->kinds[TB__STAMP_ZERO]},
      {"invalid_stamp_count", stamps->kinds[TB__STAMP_INVALID]},
      {"no_stamp_count", stamps->kinds[TB__STAMP_NONE]},
      {"no_time_count", stamps->kinds[TB__STAMP_UNJUDGED]},
      {"future_count", stamps->kinds[TB__STAMP_FUTURE]},
      {"old_count", stamps->kinds[TB__STAMP_OLD]},
      {"system_time_count", stamps->kinds[TB__STAMP_SYSTEM]},
      {"far_off_count", stamps->kinds[TB__STAMP_FAR]},
      {"duplicate_count", stamps->equal},
      {"stamp_back_count", stamps->backward},
      {"not_received_count", is->not_received},
      {"gap_count", is->gaps},
  };
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    tb_ros2_diagnostics_add_count(out, counts[i].key, counts[i].count);
}

/* --- publishers --- */

/* Viewers may show names as markup. */
static void make_harmless(char *name)
{
  for (; *name; name++)
    if (*name < ' ' || *name > '~' || strchr("<>&\"'", *name)) *name = '?';
}

/* "/scan of /lidar"; different for each publisher. */
static void name_task(const observe_row_t *row, char out[NAME_SIZE])
{
  size_t same = 0;
  for (const observe_stream_t *stream = row->topic->streams; stream && stream != row->stream;
       stream = stream->next)
    same += row->node && stream->node && strcmp(stream->node, row->node) == 0;
  if (row->node) {
    snprintf(out, NAME_SIZE, "%s of %s", row->topic->name, row->node);
    size_t used = strlen(out);
    if (same) snprintf(out + used, NAME_SIZE - used, " (%zu)", same + 1);
  } else {
    int used = snprintf(out, NAME_SIZE - 33, "%s of ", row->topic->name);
    size_t at = used < NAME_SIZE - 33 ? (size_t)used : NAME_SIZE - 34;
    for (size_t i = 0; i < sizeof row->guid; i++, at += 2)
      snprintf(out + at, 3, "%02x", row->guid[i]);
  }
  make_harmless(out);
}

static bool is_there(const observe_t *observe, const observe_row_t *row)
{
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  if (!observe->snapshot) return false;
  size_t count = tb_ros2_graph_publishers(observe->snapshot, row->topic->name, &publishers);
  for (size_t i = 0; i < count; i++)
    if (memcmp(publishers[i].guid, row->guid, sizeof row->guid) == 0) return true;
  return false;
}

/* One that has gone has no status: aggregators take it for stale. */
static void add_row(const observe_row_t *row, void *user)
{
  observe_diagnostics_t *diagnostics = user;
  observe_reported_t *before = row->stream->reported;
  char task[NAME_SIZE];
  if (!is_there(diagnostics->observe, row)) return;
  if (!before && diagnostics->count < OBSERVE_DIAGNOSTICS_MAX)
    before = row->stream->reported = calloc(1, sizeof *before);
  if (!before || diagnostics->count == OBSERVE_DIAGNOSTICS_MAX) {
    diagnostics->others++;
    return;
  }
  diagnostics->count++;
  const tb__stamps_t *stamps = &row->is.stamps;
  if (stamps->arrivals < before->age.moments.count)
    *before = (observe_reported_t){.level = before->level}; /* counting began again */
  verdict_t verdict = verdict_of(stamps, before);
  take_verdict(&before->level, &verdict);
  name_task(row, task);
  tb_ros2_diagnostics_begin(diagnostics->out, before->level.now, task, before->level.message);
  tb_ros2_diagnostics_add_number(diagnostics->out, "message_age_ms",
                                 mean_since(&stamps->age.moments, &before->age.moments));
  tb_ros2_diagnostics_add_number(diagnostics->out, "message_age_p99_ms",
                                 p99_since(&stamps->age, &before->age));
  tb_ros2_diagnostics_add_number(diagnostics->out, "source_to_receive_ms",
                                 mean_since(&row->is.travel.moments, &before->travel));
  tb_ros2_diagnostics_add_number(diagnostics->out, "message_rate_hz", row->rate_hz);
  tb_ros2_diagnostics_add_number(diagnostics->out, "jitter_ms",
                                 tb__moments_deviation(&stamps->gap) / MS);
  add_counts(diagnostics->out, &row->is);
  memcpy(before->kinds, stamps->kinds, sizeof before->kinds);
  before->backward = stamps->backward;
  before->age = stamps->age;
  before->travel = row->is.travel.moments;
}

/* --- the clock --- */

static void add_clock(observe_diagnostics_t *diagnostics)
{
  static tb__ticks_t ticks; /* large */
  observe_clock_t *clock = &diagnostics->observe->clock;
  verdict_t verdict = {TB_LEVEL_OK, ""};
  pthread_mutex_lock(&clock->lock);
  bool is_expected = clock->is_expected;
  ticks = clock->ticks;
  pthread_mutex_unlock(&clock->lock);
  if (!is_expected) return;
  const tb__tick_stream_t *all = &ticks.all;
  observe_clock_state_t state =
      observe_clock_state(&ticks, observe_steady_now(diagnostics->observe));
  uint32_t publishers = tb__ticks_simultaneous(&ticks);
  bool is_running = state == OBSERVE_CLOCK_RUNS;
  raise_to(&verdict, state == OBSERVE_CLOCK_SILENT, TB_LEVEL_ERROR, "its ticks have stopped");
  raise_to(&verdict, publishers > 1, TB_LEVEL_ERROR, "it has several publishers");
  raise_to(&verdict, tb__tick_stream_is_double(all), TB_LEVEL_ERROR, "it has two streams of time");
  raise_to(&verdict, all->kinds[TB__TICK_BACKWARD] > diagnostics->clock_backward, TB_LEVEL_WARN,
           "it jumped back");
  raise_to(&verdict, all->stalls > diagnostics->clock_stalls, TB_LEVEL_WARN, "it stalled");
  take_verdict(&diagnostics->clock, &verdict);
  bool is_paused = state == OBSERVE_CLOCK_PAUSED && diagnostics->clock.now == TB_LEVEL_OK;
  diagnostics->clock_backward = all->kinds[TB__TICK_BACKWARD];
  diagnostics->clock_stalls = all->stalls;
  tb_ros2_diagnostics_begin(diagnostics->out, diagnostics->clock.now, "clock",
                            is_paused ? "paused" : diagnostics->clock.message);
  tb_ros2_diagnostics_add_number(diagnostics->out, "clock_rate_hz",
                                 is_running ? clock->rate_now : 0);
  tb_ros2_diagnostics_add_number(diagnostics->out, "real_time_factor",
                                 is_running ? clock->factor_now : 0);
  tb_ros2_diagnostics_add_count(diagnostics->out, "clock_publisher_count",
                                publishers ? publishers : all->ticks > 0);
  tb_ros2_diagnostics_add_count(diagnostics->out, "time_jump_count",
                                all->kinds[TB__TICK_BACKWARD] + all->kinds[TB__TICK_SKIP]);
  tb_ros2_diagnostics_add_count(diagnostics->out, "time_jump_backward_count",
                                all->kinds[TB__TICK_BACKWARD]);
  tb_ros2_diagnostics_add_count(diagnostics->out, "time_jump_forward_count",
                                all->kinds[TB__TICK_SKIP]);
  tb_ros2_diagnostics_add_count(diagnostics->out, "ticks_repeated_count",
                                all->kinds[TB__TICK_REPEAT]);
  tb_ros2_diagnostics_add_count(diagnostics->out, "clock_stall_count", all->stalls);
  tb_ros2_diagnostics_add_count(diagnostics->out, "epoch", all->epoch.number);
}

/* --- paths --- */

static void add_path(observe_diagnostics_t *diagnostics, size_t index)
{
  static tb__path_t path; /* large */
  observe_path_t *shared = &diagnostics->observe->paths[index];
  char task[NAME_SIZE];
  verdict_t verdict = {TB_LEVEL_OK, ""};
  pthread_mutex_lock(&shared->lock);
  path = shared->is;
  pthread_mutex_unlock(&shared->lock);
  bool is_good = path.state == TB__PATH_HOLDS || path.state == TB__PATH_UNKNOWN || !path.state;
  raise_to(&verdict, path.state == TB__PATH_FACTOR, TB_LEVEL_WARN, tb__path_state_text(path.state));
  raise_to(&verdict, !is_good, TB_LEVEL_ERROR, tb__path_state_text(path.state));
  take_verdict(&diagnostics->paths[index], &verdict);
  snprintf(task, sizeof task, "path %s to %s", shared->from, shared->to);
  make_harmless(task);
  tb_ros2_diagnostics_begin(diagnostics->out, diagnostics->paths[index].now, task,
                            diagnostics->paths[index].message);
  const tb__path_window_t *last = path.window_count ? &path.windows[path.window_count - 1] : NULL;
  tb_ros2_diagnostics_add_number(diagnostics->out, "path_latency_ms",
                                 last ? last->steady_ns / MS : NAN);
  tb_ros2_diagnostics_add_number(diagnostics->out, "path_latency_ros_ms",
                                 last ? last->ros_ns / MS : NAN);
  tb_ros2_diagnostics_add_number(diagnostics->out, "highest_factor_that_held",
                                 path.held_factor > 0 ? path.held_factor : NAN);
  tb_ros2_diagnostics_add_count(diagnostics->out, "input_count", path.inputs);
  tb_ros2_diagnostics_add_count(diagnostics->out, "matched_count", path.matched);
}

/* --- all of it --- */

static void publish(observe_diagnostics_t *diagnostics, int64_t ros_ns)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status =
      tb_ros2_diagnostics_publish(diagnostics->out, (tb_time_t){ros_ns, TB_TIME_ROS}, &error);
  if (status && !diagnostics->has_failed) {
    command_begin_warning(diagnostics->observe->command);
    text_err("diagnostics are not published: %s\n", error.text);
  }
  diagnostics->has_failed = status != TB_OK;
}

void observe_diagnostics_update(observe_diagnostics_t *diagnostics)
{
  if (!diagnostics) return;
  observe_t *observe = diagnostics->observe;
  observe_view_t view = {observe_steady_now(observe), false};
  observe_time_t now = observe_now(observe, observe_system_now(observe));
  if (now.ros_ns <= 0) return;
  diagnostics->count = diagnostics->others = 0;
  add_clock(diagnostics);
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next)
    observe_each_row(topic, &view, add_row, diagnostics);
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++)
    if (observe_is_path(&observe->paths[i])) add_path(diagnostics, i);
  if (diagnostics->others) {
    tb_ros2_diagnostics_begin(diagnostics->out, TB_LEVEL_OK, "others",
                              "publishers without a status of their own");
    tb_ros2_diagnostics_add_count(diagnostics->out, "publisher_count", diagnostics->others);
  }
  publish(diagnostics, now.ros_ns);
}

int observe_diagnostics_open(observe_diagnostics_t **out, observe_t *observe)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  observe_diagnostics_t *diagnostics = calloc(1, sizeof *diagnostics);
  if (!diagnostics) return command_failed(observe->command, TB_ERR_NO_MEMORY, NULL);
  *out = diagnostics;
  diagnostics->observe = observe;
  observe->own_node = "/" NODE_NAME;
  options.no_parameter_events = true;
  options.clock_activation = TB_ROS2_CLOCK_BY_PUBLISHER; /* its stamps are ROS time */
  tb_status_t status =
      tb_ros2_node_create(observe->context, NODE_NAME, "/", &options, &diagnostics->node, &error);
  if (!status)
    status = tb_ros2_diagnostics_create(diagnostics->node, NULL, &diagnostics->out, &error);
  return status ? command_failed(observe->command, status, &error) : EXIT_OK;
}

void observe_diagnostics_close(observe_diagnostics_t *diagnostics)
{
  if (!diagnostics) return;
  tb_ros2_diagnostics_destroy(diagnostics->out);
  tb_ros2_node_destroy(diagnostics->node);
  free(diagnostics);
}
