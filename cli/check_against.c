#include "check_against.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag.h"
#include "contract/against.h"
#include "contract/durations.h"
#include "contract/junit.h"
#include "contract/report.h"
#include "json.h"
#include "text.h"

#define COLUMN_MAX 48

typedef struct side {
  tb_bag_reader_t *reader;
  uint32_t *topics;   /* by topic of the reader; UINT32_MAX: not compared */
  tb_error_t failure; /* the first */
  uint64_t failures;
  bool is_at_limit; /* one of them is of a limit, or of memory */
} side_t;

typedef struct names {
  const char **items; /* in the readers */
  uint32_t count;
} names_t;

typedef struct comparison {
  const command_t *command;
  const against_arguments_t *arguments;
  side_t original, replay;
  names_t names;
  tb__against_t result;
  tb__report_t *report;          /* NULL: none is wanted */
  tb__report_topic_t **pictures; /* by name */
} comparison_t;

/* What players make themselves, and what every node publishes. */
static bool is_left_out(const char *name)
{
  static const char *const names[] = {"clock", "rosout", "parameter_events"};
  if (*name == '/') name++;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return strncmp(name, "timebase/", 9) == 0 || strncmp(name, "events/", 7) == 0;
}

static const char *bare(const char *name)
{
  return *name == '/' ? name + 1 : name;
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(bare(*(const char *const *)a), bare(*(const char *const *)b));
}

static uint32_t find_name(const names_t *names, const char *name)
{
  const char **found = bsearch(&name, names->items, names->count, sizeof name, compare_names);
  return found ? (uint32_t)(found - names->items) : UINT32_MAX;
}

/* The names of both recordings, once. */
static tb_status_t list_names(comparison_t *comparison)
{
  const tb_bag_info_t *sides[] = {tb_bag_reader_info(comparison->original.reader),
                                  tb_bag_reader_info(comparison->replay.reader)};
  names_t *names = &comparison->names;
  size_t count = 0, kept = 0;
  names->items = calloc(sides[0]->topic_count + sides[1]->topic_count + 1, sizeof *names->items);
  if (!names->items) return TB_ERR_NO_MEMORY;
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < sides[side]->topic_count; i++)
      if (!is_left_out(sides[side]->topics[i].name))
        names->items[count++] = sides[side]->topics[i].name;
  qsort(names->items, count, sizeof *names->items, compare_names);
  for (size_t i = 0; i < count; i++)
    if (kept == 0 || compare_names(&names->items[kept - 1], &names->items[i]) != 0)
      names->items[kept++] = names->items[i];
  names->count = (uint32_t)kept;
  return TB_OK;
}

static tb_status_t number_topics(side_t *side, const names_t *names)
{
  const tb_bag_info_t *info = tb_bag_reader_info(side->reader);
  side->topics = calloc(info->topic_count + 1, sizeof *side->topics);
  if (!side->topics) return TB_ERR_NO_MEMORY;
  for (size_t i = 0; i < info->topic_count; i++)
    side->topics[i] = find_name(names, info->topics[i].name);
  return TB_OK;
}

static bool next_of(side_t *side, tb__against_message_t *out)
{
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  for (;;) {
    tb_status_t status = tb_bag_reader_next(side->reader, &message, &error);
    if (status == TB_ERR_END) return false;
    if (status) {
      bool is_at_limit = status == TB_ERR_LIMIT || bag_is_out_of_room(&error);
      if (side->failures++ == 0 || (is_at_limit && !side->is_at_limit)) side->failure = error;
      side->is_at_limit |= is_at_limit;
      continue;
    }
    if (side->topics[message.topic] == UINT32_MAX) continue;
    *out = (tb__against_message_t){side->topics[message.topic], message.log_time_ns,
                                   tb__against_digest(message.data, message.size)};
    return true;
  }
}

static bool next_original(void *user, tb__against_message_t *out)
{
  comparison_t *comparison = user;
  return next_of(&comparison->original, out);
}

static tb_status_t compare_at(comparison_t *comparison, double rate)
{
  tb__against_message_t message;
  tb__against_fini(&comparison->result);
  tb_status_t status = tb_bag_reader_seek(comparison->original.reader, 0);
  if (!status) status = tb_bag_reader_seek(comparison->replay.reader, 0);
  const tb_bag_info_t *info = tb_bag_reader_info(comparison->replay.reader);
  bool is_once = comparison->arguments->rate > 0;
  progress_span(info->start_ns, info->end_ns, !is_once && rate > 0, is_once ? 1 : 2);
  comparison->original.failures = comparison->replay.failures = 0;
  if (!status)
    status = tb__against_init(&comparison->result, comparison->names.count, rate, next_original,
                              comparison);
  while (!status && next_of(&comparison->replay, &message)) {
    progress_at(message.time_ns);
    if (comparison->report && rate > 0) /* the last time */
      tb__report_message(comparison->report, comparison->pictures[message.topic], message.time_ns,
                         NULL);
    status = tb__against_take(&comparison->result, &message);
  }
  return status ? status : tb__against_end(&comparison->result);
}

/* The names of the topics have been listed. */
static tb_status_t begin_report(comparison_t *comparison)
{
  const char *path = comparison->arguments->bag, *slash = strrchr(path, '/');
  if (!comparison->arguments->html) return TB_OK;
  comparison->report = tb__report_create(slash && slash[1] ? slash + 1 : path, "log time");
  comparison->pictures = calloc(comparison->names.count + 1, sizeof *comparison->pictures);
  if (!comparison->report || !comparison->pictures) return TB_ERR_NO_MEMORY;
  for (uint32_t i = 0; i < comparison->names.count; i++)
    comparison->pictures[i] = tb__report_topic(comparison->report, comparison->names.items[i], "");
  return TB_OK;
}

/* Once to find the rate, and once to measure gaps by it. */
static tb_status_t compare(comparison_t *comparison)
{
  double rate = comparison->arguments->rate;
  tb_status_t status = list_names(comparison);
  if (!status) status = begin_report(comparison);
  if (!status) status = number_topics(&comparison->original, &comparison->names);
  if (!status) status = number_topics(&comparison->replay, &comparison->names);
  if (!status && rate <= 0) {
    status = compare_at(comparison, 0);
    if (!status) rate = tb__against_rate(&comparison->result);
  }
  return status ? status : compare_at(comparison, rate);
}

typedef struct sums {
  uint64_t matched, missing, outside, extra, reordered;
} sums_t;

static sums_t sums_of(const tb__against_t *result)
{
  sums_t sums = {0};
  for (uint32_t i = 0; i < result->topic_count; i++) {
    const tb__against_topic_t *topic = &result->topics[i];
    sums.matched += topic->matched;
    sums.missing += topic->missing;
    sums.outside += topic->outside;
    sums.extra += topic->extra;
    sums.reordered += topic->reordered;
  }
  return sums;
}

static const char *problem_of(const sums_t *sums)
{
  if (sums->matched == 0) return "none of the messages is one of the original's";
  if (sums->missing || sums->extra || sums->reordered) return "not what was played";
  return NULL;
}

/* --- as text --- */

static void print_topic(const tb__against_topic_t *topic, const char *name, int width)
{
  const tb__spread_t *error = topic->error;
  text_out("%-*s %9" PRIu64 " %9" PRIu64 " %8" PRIu64 " %8" PRIu64 " %9" PRIu64 " %10s %10s %11s\n",
           width, name, topic->matched, topic->missing, topic->outside, topic->extra,
           topic->reordered, error ? tb__duration_text(tb__spread_quantile(error, 0.5)).text : "-",
           error ? tb__duration_text(tb__spread_quantile(error, 0.99)).text : "-",
           error ? tb__duration_text(topic->worst_ns).text : "-");
}

static void print_failures(const char *path, const side_t *side)
{
  if (side->failures)
    text_out("%s: damaged: %" PRIu64 " part%s could not be read; the first: %s\n", path,
             side->failures, bag_plural(side->failures), side->failure.text);
}

static void print(const comparison_t *comparison, const sums_t *sums)
{
  const tb__against_t *result = &comparison->result;
  const char *problem = problem_of(sums);
  int width = 5;
  text_out("%s: %" PRIu64 " matched, %" PRIu64 " missing, %" PRIu64 " extra, %" PRIu64
           " out of order within their topic\n",
           problem ? problem : "all that was played", sums->matched, sums->missing, sums->extra,
           sums->reordered);
  if (result->matched > 1)
    text_out("rate: %.3f; %s of %s were played\n", result->rate,
             tb__duration_text(result->last_original_ns - result->first_original_ns).text,
             comparison->arguments->original);
  text_out("order between topics: %" PRIu64 " message%s after a later one, %" PRIu64
           " by more than 1 ms, %s at most\n",
           result->inversions, bag_plural(result->inversions), result->inversions_1ms,
           tb__duration_text(result->inversion_ns).text);
  print_failures(comparison->arguments->original, &comparison->original);
  print_failures(comparison->arguments->bag, &comparison->replay);
  for (uint32_t i = 0; i < comparison->names.count; i++) {
    int columns = text_columns(comparison->names.items[i]);
    if (columns > width && columns <= COLUMN_MAX) width = columns;
  }
  text_out("\n%-*s %9s %9s %8s %8s %9s %10s %10s %11s\n", width, "topic", "matched", "missing",
           "unplayed", "extra", "reordered", "gap 50 %", "gap 99 %", "worst");
  for (uint32_t i = 0; i < comparison->names.count; i++)
    print_topic(&result->topics[i], comparison->names.items[i], width);
}

/* --- as JSON --- */

static json_t *integer(uint64_t value)
{
  return json_integer((json_int_t)value);
}

static json_t *topic_json(const tb__against_topic_t *topic, const char *name)
{
  json_t *out = json_object(), *gaps = topic->error ? json_object() : json_null();
  json_put(out, "name", text_json(name));
  json_put(out, "originals", integer(topic->originals));
  json_put(out, "replayed", integer(topic->replayed));
  json_put(out, "matched", integer(topic->matched));
  json_put(out, "missing", integer(topic->missing));
  json_put(out, "outside", integer(topic->outside));
  json_put(out, "extra", integer(topic->extra));
  json_put(out, "reordered", integer(topic->reordered));
  if (topic->error) {
    json_put(gaps, "count", integer(topic->error->moments.count));
    json_put(gaps, "p50_ns", json_integer(tb__spread_quantile(topic->error, 0.5)));
    json_put(gaps, "p99_ns", json_integer(tb__spread_quantile(topic->error, 0.99)));
    json_put(gaps, "worst_ns", json_integer(topic->worst_ns));
    json_put(gaps, "worst_at_ns", json_integer(topic->worst_at_ns));
  }
  json_put(out, "gap_error", gaps);
  return out;
}

static json_t *to_json(const comparison_t *comparison, const sums_t *sums)
{
  const tb__against_t *result = &comparison->result;
  json_t *out = json_object(), *topics = json_array();
  for (uint32_t i = 0; i < comparison->names.count; i++)
    json_push(topics, topic_json(&result->topics[i], comparison->names.items[i]));
  json_put(out, "bag", text_json(comparison->arguments->bag));
  json_put(out, "original", text_json(comparison->arguments->original));
  json_put(out, "good", json_boolean(!problem_of(sums)));
  json_put(out, "rate", result->rate > 0 ? json_real(result->rate) : json_null());
  json_put(out, "matched", integer(sums->matched));
  json_put(out, "missing", integer(sums->missing));
  json_put(out, "outside", integer(sums->outside));
  json_put(out, "extra", integer(sums->extra));
  json_put(out, "reordered", integer(sums->reordered));
  json_put(out, "inversions", integer(result->inversions));
  json_put(out, "inversions_above_1ms", integer(result->inversions_1ms));
  json_put(out, "inversion_greatest_ns", json_integer(result->inversion_ns));
  json_put(out, "first_original_ns", json_integer(result->first_original_ns));
  json_put(out, "last_original_ns", json_integer(result->last_original_ns));
  json_put(out, "unread", integer(comparison->original.failures + comparison->replay.failures));
  json_put(out, "topics", topics);
  return out;
}

/* --- as findings, for the files --- */

static tb_status_t find_topic(tb__findings_t *findings, const tb__against_topic_t *topic,
                              const char *name)
{
  const struct {
    tb__rule_id_t rule;
    uint64_t count;
    const char *text;
  } faults[] = {{TB__RULE_REPLAY_MISSING, topic->missing, "are missing"},
                {TB__RULE_REPLAY_EXTRA, topic->extra, "are not the original's"},
                {TB__RULE_REPLAY_REORDERED, topic->reordered, "came after a later one"}};
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < sizeof faults / sizeof *faults && !status; i++) {
    tb__finding_input_t input = {
        .rule = faults[i].rule, .kind = TB__SUBJECT_TOPIC, .subject = name};
    if (faults[i].count)
      status = tb__findings_add(findings, &input,
                                "%" PRIu64 " %s; %" PRIu64 " were recorded originally, %" PRIu64
                                " in the replay, %" PRIu64 " match",
                                faults[i].count, faults[i].text, topic->originals, topic->replayed,
                                topic->matched);
  }
  return status;
}

static void add_facts(const comparison_t *comparison, const sums_t *sums)
{
  char text[128];
  tb__report_fact(comparison->report, "Replay", comparison->arguments->bag);
  tb__report_fact(comparison->report, "Original", comparison->arguments->original);
  snprintf(text, sizeof text,
           "%" PRIu64 " matched, %" PRIu64 " missing, %" PRIu64 " extra, %" PRIu64
           " out of order within their topic",
           sums->matched, sums->missing, sums->extra, sums->reordered);
  tb__report_fact(comparison->report, "Messages", text);
  snprintf(text, sizeof text, "%.3f", comparison->result.rate);
  tb__report_fact(comparison->report, "Rate", text);
  snprintf(text, sizeof text, "%" PRIu64 " messages after a later one, %s at most",
           comparison->result.inversions, tb__duration_text(comparison->result.inversion_ns).text);
  tb__report_fact(comparison->report, "Order between topics", text);
}

/* EXIT_OK, or a message was printed. */
static int write_files(const comparison_t *comparison, const sums_t *sums)
{
  const against_arguments_t *arguments = comparison->arguments;
  tb_error_t error = TB_ERROR_INIT;
  if (!arguments->html && !arguments->junit) return EXIT_OK;
  tb__findings_t *findings = tb__findings_create();
  tb_status_t status = findings ? TB_OK : TB_ERR_NO_MEMORY;
  if (findings) tb__findings_of_replay(findings);
  for (uint32_t i = 0; i < comparison->names.count && !status; i++)
    status = find_topic(findings, &comparison->result.topics[i], comparison->names.items[i]);
  if (!status) status = tb__findings_finish(findings);
  if (!status && arguments->html) {
    add_facts(comparison, sums);
    status = tb__report_write(comparison->report, findings, arguments->html, &error);
  }
  if (!status && arguments->junit)
    status = tb__junit_write(findings, arguments->bag, TB__SEVERITY_WARN, arguments->junit, &error);
  tb__findings_destroy(findings);
  return status ? command_failed(comparison->command, status, error.status ? &error : NULL)
                : EXIT_OK;
}

static int report(comparison_t *comparison)
{
  sums_t sums = sums_of(&comparison->result);
  bool is_damaged = comparison->original.failures || comparison->replay.failures;
  int status = problem_of(&sums) || is_damaged ? EXIT_CHECK : EXIT_OK;
  if (comparison->arguments->json)
    status = json_finish(comparison->command, to_json(comparison, &sums), status);
  else
    print(comparison, &sums);
  int written = write_files(comparison, &sums);
  if (written) status = written;
  const side_t *sides[] = {&comparison->original, &comparison->replay};
  for (int i = 0; i < 2; i++)
    if (sides[i]->is_at_limit)
      status = command_failed(comparison->command, sides[i]->failure.status, &sides[i]->failure);
  return status;
}

static int open_side(const comparison_t *comparison, const char *path, side_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.limits = comparison->arguments->limits;
  options.content = TB_BAG_CONTENT_ANY;
  return tb_bag_reader_open(path, &options, &out->reader, &error)
             ? bag_refused(comparison->command, &path, 1, &error)
             : EXIT_OK;
}

static void end_side(side_t *side)
{
  tb_bag_reader_close(side->reader);
  free(side->topics);
}

int check_against(const command_t *command, const against_arguments_t *arguments)
{
  comparison_t comparison = {.command = command,
                             .arguments = arguments,
                             .original.failure = TB_ERROR_INIT,
                             .replay.failure = TB_ERROR_INIT};
  progress_begin(command);
  int result = open_side(&comparison, arguments->original, &comparison.original);
  if (!result) result = open_side(&comparison, arguments->bag, &comparison.replay);
  if (!result) {
    tb_status_t status = compare(&comparison);
    result = status ? command_failed(command, status, NULL) : report(&comparison);
  }
  tb__against_fini(&comparison.result);
  free(comparison.names.items);
  free(comparison.pictures);
  tb__report_destroy(comparison.report);
  end_side(&comparison.original);
  end_side(&comparison.replay);
  progress_end();
  return result;
}
