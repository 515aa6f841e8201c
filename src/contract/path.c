#include "contract/path.h"

#include <string.h>

enum { PROBES = 8, JUDGED_WINDOWS = 5 };

#define GROWTH_SLOPE    0.02 /* seconds of latency a second */
#define GROWTH_LEAST_NS 50e6
#define GROWTH_RATIO    1.25
#define FACTOR_SPREAD   0.2 /* of windows that are compared */

void tb__path_init(tb__path_t *path, int64_t budget_ns)
{
  memset(path, 0, sizeof *path);
  path->budget_ns = budget_ns;
  path->state = TB__PATH_UNKNOWN;
}

const char *tb__path_state_text(tb__path_state_t state)
{
  static const char *const texts[] = {[TB__PATH_UNKNOWN] = "too few messages",
                                      [TB__PATH_NO_OUTPUT] = "no output",
                                      [TB__PATH_BACKLOG] = "cannot keep up",
                                      [TB__PATH_LATE] = "over budget",
                                      [TB__PATH_FACTOR] = "over budget in ROS time alone",
                                      [TB__PATH_HOLDS] = "holds"};
  size_t index = (size_t)state;
  return index < sizeof texts / sizeof *texts && texts[index] ? texts[index] : "?";
}

static int64_t minus(int64_t a, int64_t b)
{
  int64_t result;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return a < b ? INT64_MIN : INT64_MAX;
}

/* --- matching --- */

/* Of a sample's stamp, or where it may be put: a free slot, or the oldest of its eight. */
static tb__path_slot_t *slot_of(tb__path_t *path, int64_t stamp_ns, bool *out_found)
{
  uint64_t hash = (uint64_t)stamp_ns * 0x9E3779B97F4A7C15u;
  size_t begin = (size_t)(hash >> 32) % (TB__PATH_SLOTS / PROBES) * PROBES;
  tb__path_slot_t *oldest = &path->slots[begin];
  *out_found = false;
  for (size_t i = 0; i < PROBES; i++) {
    tb__path_slot_t *slot = &path->slots[begin + i];
    *out_found = slot->order > 0 && slot->stamp_ns == stamp_ns;
    if (*out_found) return slot;
    if (slot->order < oldest->order) oldest = slot;
  }
  return oldest;
}

static void begin_sample(tb__path_t *path, const tb__path_sample_t *sample)
{
  if (sample->epoch != path->epoch) {
    for (size_t i = 0; i < TB__PATH_SLOTS; i++)
      path->slots[i].order = 0;
    path->epoch = sample->epoch;
    path->first_output_ns = 0;
    path->window_begin_ros_ns = 0;
  }
  if (path->window_begin_ns == 0) path->window_begin_ns = sample->steady_ns;
  if (path->window_begin_ros_ns == 0) path->window_begin_ros_ns = sample->ros_ns;
  path->last_ros_ns = sample->ros_ns;
}

static void put(tb__path_t *path, tb__path_slot_t *slot, const tb__path_sample_t *sample,
                bool is_output)
{
  *slot = (tb__path_slot_t){.stamp_ns = sample->stamp_ns,
                            .steady_ns = sample->steady_ns,
                            .ros_ns = sample->ros_ns,
                            .order = ++path->order,
                            .is_output = is_output};
}

static void match(tb__path_t *path, int64_t steady_ns, int64_t ros_ns, bool has_ros)
{
  path->matched++;
  path->window_outputs++;
  tb__spread_add(&path->steady, steady_ns);
  path->window_steady_ns += (double)steady_ns;
  if (!has_ros) return;
  tb__spread_add(&path->ros, ros_ns);
  path->window_ros_ns += (double)ros_ns;
}

void tb__path_input(tb__path_t *path, const tb__path_sample_t *sample)
{
  bool is_found;
  begin_sample(path, sample);
  path->inputs++;
  path->window_inputs++;
  if (sample->stamp_ns == 0) return;
  tb__path_slot_t *slot = slot_of(path, sample->stamp_ns, &is_found);
  if (is_found && !slot->is_output) return; /* a second input of a stamp: the first one counts */
  if (is_found) {
    match(path, minus(slot->steady_ns, sample->steady_ns), minus(slot->ros_ns, sample->ros_ns),
          slot->ros_ns != 0 && sample->ros_ns != 0);
    put(path, slot, sample, false);
    slot->is_matched = true;
  } else {
    put(path, slot, sample, false);
  }
}

static void note_progress(tb__path_t *path, const tb__path_sample_t *sample)
{
  if (path->first_output_ns == 0) {
    path->first_output_ns = sample->steady_ns;
    path->first_output_stamp_ns = sample->stamp_ns;
  }
  path->last_output_ns = sample->steady_ns;
  path->last_output_stamp_ns = sample->stamp_ns;
}

void tb__path_output(tb__path_t *path, const tb__path_sample_t *sample)
{
  bool is_found;
  begin_sample(path, sample);
  path->outputs++;
  if (sample->stamp_ns == 0) return;
  tb__path_slot_t *slot = slot_of(path, sample->stamp_ns, &is_found);
  if (!is_found) {
    put(path, slot, sample, true);
    return;
  }
  if (slot->is_output || slot->is_matched) {
    path->repeated++;
    return;
  }
  slot->is_matched = true;
  note_progress(path, sample);
  match(path, minus(sample->steady_ns, slot->steady_ns), minus(sample->ros_ns, slot->ros_ns),
        sample->ros_ns != 0 && slot->ros_ns != 0);
}

/* --- judging --- */

static tb__path_window_t take_window(tb__path_t *path, int64_t steady_ns, int64_t ros_ns)
{
  double outputs = (double)path->window_outputs;
  double span_ns = (double)minus(steady_ns, path->window_begin_ns);
  double output_ns = (double)minus(path->last_output_ns, path->first_output_ns);
  tb__path_window_t window = {.inputs = path->window_inputs, .outputs = path->window_outputs};
  if (outputs > 0) {
    window.steady_ns = path->window_steady_ns / outputs;
    window.ros_ns = path->window_ros_ns / outputs;
  }
  if (path->window_begin_ns != 0 && path->window_begin_ros_ns != 0 && ros_ns != 0 && span_ns > 0)
    window.factor = (double)minus(ros_ns, path->window_begin_ros_ns) / span_ns;
  if (path->first_output_ns != 0 && output_ns > 0)
    window.progress =
        (double)minus(path->last_output_stamp_ns, path->first_output_stamp_ns) / output_ns;
  path->window_inputs = path->window_outputs = 0;
  path->window_steady_ns = path->window_ros_ns = 0;
  path->window_begin_ns = steady_ns;
  path->window_begin_ros_ns = ros_ns;
  path->first_output_ns = path->last_output_ns;
  path->first_output_stamp_ns = path->last_output_stamp_ns;
  return window;
}

static bool is_alike(double a, double b)
{
  double greater = a > b ? a : b;
  return greater <= 0 || (greater - (a < b ? a : b)) / greater <= FACTOR_SPREAD;
}

/* Windows of another factor say nothing about this one. */
static void keep_window(tb__path_t *path, const tb__path_window_t *window)
{
  if (path->window_count > 0 &&
      !is_alike(path->windows[path->window_count - 1].factor, window->factor)) {
    path->window_count = 0;
    path->has_backlog = false;
    path->peak_ns = 0;
  }
  if (path->window_count == TB__PATH_WINDOWS) {
    memmove(path->windows, path->windows + 1, sizeof path->windows - sizeof *path->windows);
    path->window_count--;
  }
  path->windows[path->window_count++] = *window;
}

/* Means, and the slope of the latency by least squares. */
static void summarize(tb__path_t *path)
{
  double n = (double)path->window_count, x_mean = (n - 1) / 2, y_mean = 0, product = 0, square = 0;
  path->factor = path->progress = path->slope = 0;
  for (uint32_t i = 0; i < path->window_count; i++) {
    y_mean += path->windows[i].steady_ns / n;
    path->factor += path->windows[i].factor / n;
    path->progress += path->windows[i].progress / n;
  }
  for (uint32_t i = 0; i < path->window_count; i++) {
    product += ((double)i - x_mean) * (path->windows[i].steady_ns - y_mean);
    square += ((double)i - x_mean) * ((double)i - x_mean);
  }
  if (square > 0) path->slope = product / square / 1e9;
}

/* All the time, and not by one long message. */
static bool does_grow(const tb__path_t *path)
{
  double first = path->windows[0].steady_ns, last = path->windows[path->window_count - 1].steady_ns;
  uint32_t rises = 0;
  for (uint32_t i = 1; i < path->window_count; i++)
    rises += path->windows[i].steady_ns > path->windows[i - 1].steady_ns;
  return path->slope >= GROWTH_SLOPE && last - first >= GROWTH_LEAST_NS &&
         last >= first * GROWTH_RATIO && 4 * rises >= 3 * (path->window_count - 1);
}

/* A queue of limited length ends to grow, and is backlog until it has shrunk to half. */
static void note_backlog(tb__path_t *path)
{
  double last = path->windows[path->window_count - 1].steady_ns;
  if (does_grow(path)) {
    if (!path->has_backlog) path->base_ns = path->windows[0].steady_ns;
    path->has_backlog = true;
    if (path->failed_factor == 0 || path->factor < path->failed_factor)
      path->failed_factor = path->factor;
  }
  if (!path->has_backlog) return;
  if (last > path->peak_ns) path->peak_ns = last;
  if (last < path->base_ns + (path->peak_ns - path->base_ns) / 2) {
    path->has_backlog = false;
    path->peak_ns = 0;
  }
}

static tb__path_state_t judge(tb__path_t *path)
{
  const tb__path_window_t *last = &path->windows[path->window_count - 1];
  double budget_ns = (double)path->budget_ns;
  summarize(path);
  if (path->window_count >= JUDGED_WINDOWS) note_backlog(path);
  if (path->has_backlog) return TB__PATH_BACKLOG;
  if (budget_ns > 0 && last->steady_ns > budget_ns) return TB__PATH_LATE;
  if (budget_ns > 0 && last->ros_ns > budget_ns) return TB__PATH_FACTOR;
  if (path->window_count < JUDGED_WINDOWS) return TB__PATH_UNKNOWN;
  if (path->factor > path->held_factor) path->held_factor = path->factor;
  return TB__PATH_HOLDS;
}

tb__path_state_t tb__path_end_window(tb__path_t *path, int64_t steady_ns, int64_t ros_ns)
{
  tb__path_window_t window = take_window(path, steady_ns, ros_ns);
  if (window.outputs > 0) {
    path->silent_windows = 0;
    keep_window(path, &window);
    path->state = judge(path);
  } else if (window.inputs > 0 && ++path->silent_windows >= JUDGED_WINDOWS) {
    path->state = TB__PATH_NO_OUTPUT;
    path->window_count = 0;
  }
  return path->state;
}
