#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "contract/spread.h"
#include "json.h"
#include "observe.h"
#include "observe_hosts.h"
#include "observe_rows.h"
#include "observe_text.h"
#include "text.h"

#define MS 1e6

/* --- the table --- */

#define WIDE           110 /* columns; with fewer, travel and jitter are left out */
#define WIDE_NUMBERS   62
#define NARROW_NUMBERS 41
#define WORDS          12 /* columns that names leave for the words */

typedef struct table {
  FILE *out;
  int columns; /* of the terminal; 0: it is none */
  bool is_narrow;
  int topic_width, node_width;
  size_t rows, rows_max, hidden; /* rows_max 0: all */
} table_t;

/* As many as fit. They are all the program's own. */
static void print_words(const table_t *table, const observe_row_t *row)
{
  int used = table->topic_width + table->node_width + 1 +
             (table->is_narrow ? NARROW_NUMBERS : WIDE_NUMBERS);
  char *words = NULL;
  size_t size;
  FILE *memory = table->columns ? open_memstream(&words, &size) : NULL;
  if (!memory) {
    observe_print_words(table->out, row);
    return;
  }
  observe_print_words(memory, row);
  if (fclose(memory) == 0)
    text_to(table->out, "%.*s", table->columns > used ? table->columns - used : 0, words);
  free(words);
}

static void print_numbers(const table_t *table, const observe_row_t *row)
{
  const tb__stamps_t *stamps = &row->is.stamps;
  int width = table->is_narrow ? 7 : 8;
  text_to(table->out, " %*.1f", width, row->rate_hz);
  if (stamps->age.moments.count)
    text_to(table->out, " %*.1f %*.1f", width, (double)tb__spread_quantile(&stamps->age, 0.5) / MS,
            width, (double)tb__spread_quantile(&stamps->age, 0.99) / MS);
  else
    text_to(table->out, " %*s %*s", width, "-", width, "-");
  if (!table->is_narrow)
    text_to(table->out, " %8.2f %7.1f", (double)tb__spread_quantile(&row->is.travel, 0.5) / MS,
            tb__moments_deviation(&stamps->gap) / MS);
  text_to(table->out, " %*.1f %6llu  ", width, (double)stamps->gap.max_ns / MS,
          (unsigned long long)row->is.not_received);
}

static void print_row(const observe_row_t *row, void *user)
{
  table_t *table = user;
  if (table->rows_max && table->rows == table->rows_max) {
    table->hidden++;
    return;
  }
  table->rows++;
  text_to(table->out, "%-*.*s %-*.*s", table->topic_width, table->topic_width, row->topic->name,
          table->node_width, table->node_width, row->node ? row->node : "?");
  print_numbers(table, row);
  print_words(table, row);
  text_to(table->out, "\n");
}

static void print_head(const table_t *table)
{
  text_to(table->out, "%-*.*s %-*.*s", table->topic_width, table->topic_width, "TOPIC",
          table->node_width, table->node_width, "PUBLISHER");
  if (table->is_narrow)
    text_to(table->out, " %7s %7s %7s %7s %6s  %s\n", "HZ", "AGE ms", "p99", "MAX GAP", "MISSED",
            "STAMPS, GAPS");
  else
    text_to(table->out, " %8s %8s %8s %8s %7s %8s %6s  %s\n", "HZ", "AGE ms", "p99", "TRAVEL",
            "JITTER", "MAX GAP", "MISSED", "STAMPS, GAPS");
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

/* Names give way, those of nodes first. */
static void fit(table_t *table)
{
  if (!table->columns) return;
  table->is_narrow = table->columns < WIDE;
  int room = table->columns - (table->is_narrow ? NARROW_NUMBERS : WIDE_NUMBERS) - WORDS - 1;
  int least_node = room / 3 > 4 ? room / 3 : 4;
  if (table->node_width > room - table->topic_width)
    table->node_width =
        room - table->topic_width > least_node ? room - table->topic_width : least_node;
  if (table->topic_width > room - table->node_width)
    table->topic_width = room - table->node_width > 5 ? room - table->node_width : 5;
}

static void look_at_terminal(table_t *table, size_t lines)
{
  struct winsize size;
  bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  size_t rows = is_known && size.ws_row > 0 ? size.ws_row : 24;
  table->columns = is_known ? size.ws_col : 0;
  table->rows_max = rows > lines ? rows - lines : 1;
}

void observe_print(FILE *out, observe_t *observe, const observe_view_t *view)
{
  table_t table = {.out = out};
  uint64_t unattributed = 0;
  size_t lines = 5, silent = 0;
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++)
    lines += observe_is_path(&observe->paths[i]);
  look_at_terminal(&table, lines);
  if (view->is_summary) table.rows_max = 0;
  widths(observe, &table);
  fit(&table);
  observe_print_clock(out, observe, view->is_summary);
  print_head(&table);
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next) {
    observe_each_row(topic, view, print_row, &table);
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
    if (observe_is_path(&observe->paths[i])) observe_print_path(out, observe, &observe->paths[i]);
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
  for (size_t i = 0; i < OBSERVE_STAMP_WORDS; i++)
    json_put(object, observe_stamp_words[i].key,
             count_json(stamps->kinds[observe_stamp_words[i].kind]));
  json_put(object, "backward", count_json(stamps->backward));
  json_put(object, "equal", count_json(stamps->equal));
  json_put(object, "good", count_json(stamps->kinds[TB__STAMP_GOOD]));
  json_put(object, "none", count_json(stamps->kinds[TB__STAMP_NONE]));
  json_put(object, "unjudged", count_json(stamps->kinds[TB__STAMP_UNJUDGED]));
  json_put(object, "receipt_score", json_real(tb__stamps_receipt_score(stamps).score));
  return object;
}

static void push_row(const observe_row_t *row, void *user)
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
  json_put(object, "host_offset_ms", observe_hosts_json(row->topic->of, row->guid));
  json_put(object, "jitter_ms", json_real(tb__moments_deviation(&stamps->gap) / MS));
  json_put(object, "longest_gap_ms", json_real((double)stamps->gap.max_ns / MS));
  json_put(object, "gaps", count_json(row->is.gaps));
  json_put(object, "not_received_here", count_json(row->is.not_received));
  json_put(object, "late", count_json(row->is.late));
  json_put(object, "stamps", stamps_json(stamps));
  json_push(user, object);
}

static json_t *topic_json(observe_topic_t *topic, const observe_view_t *view)
{
  json_t *object = json_object(), *publishers = json_array();
  observe_each_row(topic, view, push_row, publishers);
  json_put(object, "topic", text_json(topic->name));
  json_put(object, "type", text_json(topic->type));
  json_put(object, "definition", json_string(observe_definition_text(topic)));
  const char *note = topic->entry ? tb__definition_entry_note(topic->entry) : "";
  json_put(object, "definition_note", note[0] ? text_json(note) : json_null());
  json_put(object, "has_header", json_boolean(observe_has_header(topic)));
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
  observe_clock_state_t state = observe_clock_state(&ticks, observe_steady_now(observe));
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
  json_put(object, "invalid", count_json(all->kinds[TB__TICK_INVALID]));
  json_put(object, "stalls", count_json(all->stalls));
  json_put(object, "epoch", json_integer(all->epoch.number));
  json_put(object, "state", json_string(observe_clock_state_text(state)));
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
    json_push(topics, topic_json(topic, view));
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
