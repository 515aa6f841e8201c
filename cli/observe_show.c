#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "contract/spread.h"
#include "json.h"
#include "observe.h"
#include "text.h"

#define MS 1e6

/* One row of the table: a copy, so that readers do not wait for the output. */
typedef struct row {
  const observe_topic_t *topic;
  const char *node; /* NULL: not known */
  uint8_t guid[16];
  double rate_hz;
  tb__topic_stream_t is; /* large */
} row_t;

typedef void (*row_fn_t)(const row_t *row, void *user);

static double rate_of(observe_stream_t *stream, const observe_t *observe,
                      const observe_view_t *view)
{
  uint64_t arrivals = stream->is.stamps.arrivals, before = stream->shown_arrivals;
  double seconds = (double)(view->steady_ns - observe->shown_ns) / 1e9;
  stream->shown_arrivals = arrivals;
  if (view->is_summary) return tb__stamps_rate(&stream->is.stamps);
  return seconds > 0 ? (double)(arrivals - before) / seconds : 0;
}

/* Those that there is a row for; also of publishers that have gone. */
static void each_row(observe_t *observe, observe_topic_t *topic, const observe_view_t *view,
                     row_fn_t show, void *user)
{
  static row_t row; /* large */
  pthread_mutex_lock(&topic->lock);
  observe_stream_t *stream = topic->streams; /* only this thread takes any away */
  pthread_mutex_unlock(&topic->lock);
  while (stream) {
    pthread_mutex_lock(&topic->lock);
    row = (row_t){.topic = topic, .node = stream->node, .is = stream->is};
    row.rate_hz = rate_of(stream, observe, view);
    memcpy(row.guid, stream->guid, sizeof row.guid);
    observe_stream_t *next = stream->next;
    pthread_mutex_unlock(&topic->lock);
    show(&row, user);
    stream = next;
  }
}

/* What a stamp can be, as it is printed and as JSON has it. */
static const struct stamp_word {
  tb__stamp_kind_t kind;
  const char *text, *key;
} stamp_words[] = {
    {TB__STAMP_ZERO, "zero", "zero"},
    {TB__STAMP_FUTURE, "future", "future"},
    {TB__STAMP_SYSTEM, "system time", "system_time"},
    {TB__STAMP_FAR, "far off", "far_off"},
    {TB__STAMP_STALE_EPOCH, "before the jump", "stale_epoch"},
    {TB__STAMP_OLD, "old", "old"},
};

static const char *definition_text(const observe_topic_t *topic)
{
  if (!topic->entry) return "definition unknown";
  const tb__known_definition_t *known = tb__definition_entry_known(topic->entry);
  if (tb__definition_entry_state(topic->entry) == TB__DEFINITION_IS_AWAITED) return "asking a node";
  return known ? tb__definition_origin_text(known->origin) : "definition unknown";
}

static bool has_header(const observe_topic_t *topic)
{
  const tb__known_definition_t *known =
      topic->entry ? tb__definition_entry_known(topic->entry) : NULL;
  return known && known->head.stamp;
}

static bool is_unknown(const observe_topic_t *topic)
{
  return !topic->entry || tb__definition_entry_state(topic->entry) == TB__DEFINITION_IS_UNKNOWN;
}

/* --- the table --- */

static void print_clock(FILE *out, observe_t *observe)
{
  observe_clock_t *clock = &observe->clock;
  static tb__ticks_t ticks; /* large */
  pthread_mutex_lock(&clock->lock);
  bool is_expected = clock->is_expected;
  ticks = clock->ticks;
  pthread_mutex_unlock(&clock->lock);
  const tb__tick_stream_t *all = &ticks.all;
  if (!is_expected) {
    text_to(out, "ROS time is system time: no publisher of /clock\n");
    return;
  }
  if (all->first_ns == 0) {
    text_to(out, "ROS time is not known: /clock has a publisher and no tick was received\n");
    return;
  }
  uint32_t publishers = tb__ticks_simultaneous(&ticks);
  text_to(out, "ROS time is that of /clock: %.3f s, factor %.2f, %.1f Hz",
          (double)all->last_ns / 1e9, tb__tick_stream_factor(all), tb__tick_stream_rate(all));
  if (publishers > 1) text_to(out, ", %u publishers at once", publishers);
  if (publishers <= 1 && tb__tick_stream_is_double(all)) text_to(out, ", two streams at once");
  if (all->kinds[TB__TICK_BACKWARD])
    text_to(out, ", %llu jumps back", (unsigned long long)all->kinds[TB__TICK_BACKWARD]);
  if (all->kinds[TB__TICK_SKIP])
    text_to(out, ", %llu jumps forward", (unsigned long long)all->kinds[TB__TICK_SKIP]);
  if (all->stalls) text_to(out, ", %llu stalls", (unsigned long long)all->stalls);
  if (all->kinds[TB__TICK_ZERO])
    text_to(out, ", %llu zero ticks", (unsigned long long)all->kinds[TB__TICK_ZERO]);
  if (all->kinds[TB__TICK_REORDERED])
    text_to(out, ", %llu out of order", (unsigned long long)all->kinds[TB__TICK_REORDERED]);
  text_to(out, "\n");
}

static void print_word(FILE *out, bool *has_words, const char *word, uint64_t count)
{
  if (count == 0) return;
  text_to(out, "%s%s %llu", *has_words ? ", " : "", word, (unsigned long long)count);
  *has_words = true;
}

static void print_words(FILE *out, const row_t *row)
{
  const tb__stamps_t *stamps = &row->is.stamps;
  bool has_words = false;
  print_word(out, &has_words, "gaps", row->is.gaps);
  if (is_unknown(row->topic)) {
    text_to(out, "%sdefinition unknown: %.1f kB/s", has_words ? ", " : "",
            row->rate_hz * (double)row->is.bytes /
                (double)(stamps->arrivals ? stamps->arrivals : 1) / 1e3);
    return;
  }
  if (!has_header(row->topic)) {
    if (tb__definition_entry_known(row->topic->entry))
      text_to(out, "%sno header", has_words ? ", " : "");
    return;
  }
  for (size_t i = 0; i < sizeof stamp_words / sizeof *stamp_words; i++)
    print_word(out, &has_words, stamp_words[i].text, stamps->kinds[stamp_words[i].kind]);
  print_word(out, &has_words, "backward", stamps->backward);
  print_word(out, &has_words, "equal", stamps->equal);
}

typedef struct table {
  FILE *out;
  int topic_width, node_width;
  size_t rows, rows_max, hidden; /* rows_max 0: all */
} table_t;

static void print_row(const row_t *row, void *user)
{
  table_t *table = user;
  const tb__stamps_t *stamps = &row->is.stamps;
  if (table->rows_max && table->rows == table->rows_max) {
    table->hidden++;
    return;
  }
  table->rows++;
  text_to(table->out, "%-*.*s %-*.*s %8.1f", table->topic_width, table->topic_width,
          row->topic->name, table->node_width, table->node_width, row->node ? row->node : "?",
          row->rate_hz);
  if (stamps->age.moments.count)
    text_to(table->out, " %8.1f %8.1f", (double)tb__spread_quantile(&stamps->age, 0.5) / MS,
            (double)tb__spread_quantile(&stamps->age, 0.99) / MS);
  else
    text_to(table->out, " %8s %8s", "-", "-");
  text_to(table->out, " %8.2f %7.1f %8.1f %6llu  ",
          (double)tb__spread_quantile(&row->is.travel, 0.5) / MS,
          tb__moments_deviation(&stamps->gap) / MS, (double)stamps->gap.max_ns / MS,
          (unsigned long long)row->is.not_received);
  print_words(table->out, row);
  text_to(table->out, "\n");
}

static void widths(observe_t *observe, table_t *table)
{
  table->topic_width = 5;
  table->node_width = 9;
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next) {
    int width = text_columns(topic->name);
    if (width > table->topic_width) table->topic_width = width;
    pthread_mutex_lock(&topic->lock);
    for (const observe_stream_t *stream = topic->streams; stream; stream = stream->next) {
      int node = stream->node ? text_columns(stream->node) : 0;
      if (node > table->node_width) table->node_width = node;
    }
    pthread_mutex_unlock(&topic->lock);
  }
  if (table->topic_width > 40) table->topic_width = 40;
  if (table->node_width > 24) table->node_width = 24;
}

static size_t terminal_rows(void)
{
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

/* Why nothing can be matched. */
static void print_end(FILE *out, const observe_t *observe, const char *name)
{
  const observe_topic_t *topic = observe->topics;
  while (topic && strcmp(topic->name, name) != 0)
    topic = topic->next;
  if (!topic)
    text_to(out, "; %s is not observed: it has no publisher so far", name);
  else if (is_unknown(topic))
    text_to(out, "; the definition of %s is unknown: its stamps are not read", name);
  else if (tb__definition_entry_known(topic->entry) && !has_header(topic))
    text_to(out, "; the type of %s has no header", name);
}

static void print_path(FILE *out, const observe_t *observe, observe_path_t *shared)
{
  static tb__path_t path; /* large */
  pthread_mutex_lock(&shared->lock);
  path = shared->is;
  pthread_mutex_unlock(&shared->lock);
  text_to(out, "%s to %s%s: %s", shared->from, shared->to, shared->is_candidate ? " (found)" : "",
          tb__path_state_text(path.state));
  if (path.state == TB__PATH_BACKLOG && path.factor > 0) {
    text_to(out, " at %.1f: outputs advance at %.1f", path.factor, path.progress);
    if (path.held_factor > 0) text_to(out, "; highest factor that held: %.1f", path.held_factor);
  }
  if (path.state == TB__PATH_DROPS)
    text_to(out, " at %.1f: %.0f %% of them have an output, and %.0f %% at %.1f", path.factor,
            100 * path.share, 100 * path.held_share, path.held_share_factor);
  text_to(out, "; %llu of %llu inputs matched", (unsigned long long)path.matched,
          (unsigned long long)path.inputs);
  print_end(out, observe, shared->from);
  print_end(out, observe, shared->to);
  if (path.matched)
    text_to(out, "; latency %.1f ms, p99 %.1f ms in steady time",
            (double)tb__spread_quantile(&path.steady, 0.5) / MS,
            (double)tb__spread_quantile(&path.steady, 0.99) / MS);
  if (path.ros.moments.count)
    text_to(out, "; %.1f ms, p99 %.1f ms in ROS time",
            (double)tb__spread_quantile(&path.ros, 0.5) / MS,
            (double)tb__spread_quantile(&path.ros, 0.99) / MS);
  if (path.budget_ns) text_to(out, "; budget %.1f ms", (double)path.budget_ns / MS);
  text_to(out, "\n");
}

void observe_print(FILE *out, observe_t *observe, const observe_view_t *view)
{
  table_t table = {.out = out};
  uint64_t unattributed = 0;
  size_t lines = 5, silent = 0;
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++)
    lines += observe_is_path(&observe->paths[i]);
  if (!view->is_summary) table.rows_max = terminal_rows() > lines ? terminal_rows() - lines : 1;
  widths(observe, &table);
  print_clock(out, observe);
  text_to(out, "%-*s %-*s %8s %8s %8s %8s %7s %8s %6s  %s\n", table.topic_width, "TOPIC",
          table.node_width, "PUBLISHER", "HZ", "AGE ms", "p99", "TRAVEL", "JITTER", "MAX GAP",
          "MISSED", "STAMPS, GAPS");
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next) {
    each_row(observe, topic, view, print_row, &table);
    pthread_mutex_lock(&topic->lock);
    unattributed += topic->unattributed;
    silent += topic->messages == 0;
    pthread_mutex_unlock(&topic->lock);
  }
  if (table.hidden) text_to(out, "%zu more rows: the terminal is too small\n", table.hidden);
  if (silent) text_to(out, "%zu topics without a message\n", silent);
  if (observe->left_out)
    text_to(out,
            "%zu more topics are not observed: name those that matter, or raise --max-topics\n",
            observe->left_out);
  if (unattributed)
    text_to(out, "%llu messages of publishers above the limit of %d are not in the table\n",
            (unsigned long long)unattributed, OBSERVE_STREAMS_MAX);
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++)
    if (observe_is_path(&observe->paths[i])) print_path(out, observe, &observe->paths[i]);
}

/* --- JSON --- */

static json_t *spread_json(const tb__spread_t *spread)
{
  static const struct {
    const char *key;
    double share;
  } quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
  json_t *object = json_object();
  json_put(object, "count", json_integer((json_int_t)spread->moments.count));
  if (spread->moments.count == 0) return object;
  json_put(object, "min", json_real((double)spread->moments.min_ns / MS));
  json_put(object, "mean", json_real(spread->moments.mean_ns / MS));
  json_put(object, "max", json_real((double)spread->moments.max_ns / MS));
  json_put(object, "deviation", json_real(tb__moments_deviation(&spread->moments) / MS));
  for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
    json_put(object, quantiles[i].key,
             json_real((double)tb__spread_quantile(spread, quantiles[i].share) / MS));
  return object;
}

static json_t *count_json(uint64_t count)
{
  return json_integer((json_int_t)(count < INT64_MAX ? count : INT64_MAX));
}

static json_t *stamps_json(const tb__stamps_t *stamps)
{
  json_t *object = json_object();
  for (size_t i = 0; i < sizeof stamp_words / sizeof *stamp_words; i++)
    json_put(object, stamp_words[i].key, count_json(stamps->kinds[stamp_words[i].kind]));
  json_put(object, "backward", count_json(stamps->backward));
  json_put(object, "equal", count_json(stamps->equal));
  json_put(object, "good", count_json(stamps->kinds[TB__STAMP_GOOD]));
  json_put(object, "none", count_json(stamps->kinds[TB__STAMP_NONE]));
  json_put(object, "unjudged", count_json(stamps->kinds[TB__STAMP_UNJUDGED]));
  return object;
}

static void push_row(const row_t *row, void *user)
{
  json_t *object = json_object();
  char guid[33];
  const tb__stamps_t *stamps = &row->is.stamps;
  for (int i = 0; i < 16; i++)
    snprintf(guid + 2 * i, 3, "%02x", row->guid[i]);
  json_put(object, "node", row->node ? text_json(row->node) : json_null());
  json_put(object, "guid", json_string(guid));
  json_put(object, "messages", count_json(stamps->arrivals));
  json_put(object, "bytes", count_json(row->is.bytes));
  json_put(object, "rate_hz", json_real(row->rate_hz));
  json_put(object, "age_ms", spread_json(&stamps->age));
  json_put(object, "source_to_receive_ms", spread_json(&row->is.travel));
  json_put(object, "jitter_ms", json_real(tb__moments_deviation(&stamps->gap) / MS));
  json_put(object, "longest_gap_ms", json_real((double)stamps->gap.max_ns / MS));
  json_put(object, "gaps", count_json(row->is.gaps));
  json_put(object, "not_received_here", count_json(row->is.not_received));
  json_put(object, "late", count_json(row->is.late));
  json_put(object, "stamps", stamps_json(stamps));
  json_push(user, object);
}

static json_t *topic_json(observe_t *observe, observe_topic_t *topic, const observe_view_t *view)
{
  json_t *object = json_object(), *publishers = json_array();
  each_row(observe, topic, view, push_row, publishers);
  json_put(object, "topic", text_json(topic->name));
  json_put(object, "type", text_json(topic->type));
  json_put(object, "definition", json_string(definition_text(topic)));
  const char *note = topic->entry ? tb__definition_entry_note(topic->entry) : "";
  json_put(object, "definition_note", note[0] ? text_json(note) : json_null());
  json_put(object, "has_header", json_boolean(has_header(topic)));
  json_put(object, "matched", json_integer(tb_ros2_subscription_matched(topic->subscription)));
  pthread_mutex_lock(&topic->lock);
  json_put(object, "malformed", count_json(topic->malformed));
  json_put(object, "unattributed", count_json(topic->unattributed));
  pthread_mutex_unlock(&topic->lock);
  json_put(object, "publishers", publishers);
  return object;
}

static json_t *clock_json(observe_t *observe)
{
  observe_clock_t *clock = &observe->clock;
  static tb__ticks_t ticks; /* large */
  pthread_mutex_lock(&clock->lock);
  bool is_expected = clock->is_expected;
  ticks = clock->ticks;
  pthread_mutex_unlock(&clock->lock);
  const tb__tick_stream_t *all = &ticks.all;
  if (!is_expected) return json_null();
  json_t *object = json_object();
  json_put(object, "matched", json_integer(tb_ros2_subscription_matched(clock->subscription)));
  json_put(object, "time_ns", json_integer(all->last_ns));
  json_put(object, "factor", json_real(tb__tick_stream_factor(all)));
  json_put(object, "rate_hz", json_real(tb__tick_stream_rate(all)));
  json_put(object, "ticks", count_json(all->ticks));
  json_put(object, "jumps_backward", count_json(all->kinds[TB__TICK_BACKWARD]));
  json_put(object, "jumps_forward", count_json(all->kinds[TB__TICK_SKIP]));
  json_put(object, "reordered", count_json(all->kinds[TB__TICK_REORDERED]));
  json_put(object, "zero", count_json(all->kinds[TB__TICK_ZERO]));
  json_put(object, "stalls", count_json(all->stalls));
  json_put(object, "publishers", json_integer(tb__ticks_simultaneous(&ticks)));
  json_put(object, "two_streams", json_boolean(tb__tick_stream_is_double(all)));
  return object;
}

static json_t *factor_json(double factor)
{
  return factor > 0 ? json_real(factor) : json_null();
}

static json_t *path_json(observe_path_t *shared)
{
  static tb__path_t path; /* large */
  json_t *object = json_object();
  pthread_mutex_lock(&shared->lock);
  path = shared->is;
  pthread_mutex_unlock(&shared->lock);
  json_put(object, "from", text_json(shared->from));
  json_put(object, "to", text_json(shared->to));
  json_put(object, "found", json_boolean(shared->is_candidate));
  json_put(object, "state", json_string(tb__path_state_text(path.state)));
  json_put(object, "budget_ms",
           path.budget_ns ? json_real((double)path.budget_ns / MS) : json_null());
  json_put(object, "inputs", count_json(path.inputs));
  json_put(object, "outputs", count_json(path.outputs));
  json_put(object, "matched", count_json(path.matched));
  json_put(object, "repeated", count_json(path.repeated));
  json_put(object, "steady_ms", spread_json(&path.steady));
  json_put(object, "ros_ms", spread_json(&path.ros));
  json_put(object, "share", json_real(path.share));
  json_put(object, "growth", json_real(path.slope));
  json_put(object, "factor", factor_json(path.factor));
  json_put(object, "output_factor", factor_json(path.progress));
  json_put(object, "highest_factor_that_held", factor_json(path.held_factor));
  json_put(object, "lowest_factor_that_did_not", factor_json(path.failed_factor));
  return object;
}

bool observe_print_json(observe_t *observe, const observe_view_t *view)
{
  json_t *object = json_object(), *topics = json_array(), *paths = json_array();
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next)
    json_push(topics, topic_json(observe, topic, view));
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++)
    if (observe_is_path(&observe->paths[i])) json_push(paths, path_json(&observe->paths[i]));
  json_put(object, "elapsed_s", json_real((double)(view->steady_ns - observe->begin_ns) / 1e9));
  json_put(object, "clock", clock_json(observe));
  json_put(object, "topics", topics);
  json_put(object, "topics_left_out", json_integer((json_int_t)observe->left_out));
  json_put(object, "paths", paths);
  if (view->is_summary) json_put(object, "summary", json_true());
  return json_print(object, JSON_COMPACT);
}
