#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/duration.h>
#include <unistd.h>

#include "bag.h"
#include "bag_topics.h"
#include "definition/definitions.h"
#include "json.h"
#include "message_style.h"
#include "text.h"

enum { FOLDERS_MAX = 16 };

enum {
  OPTION_JSON = 256,
  OPTION_CSV,
  OPTION_TOPICS,
  OPTION_EXCLUDE_TOPICS,
  OPTION_START,
  OPTION_DURATION,
  OPTION_FIELD,
  OPTION_FULL,
  OPTION_RUN,
  OPTION_DEFINITIONS,
};

/* A topic of the recordings. */
typedef struct cat_topic {
  tb__definition_entry_t *entry; /* NULL: without messages so far */
  const tb__known_definition_t *known;
  bool is_left_out; /* which has been printed */
  uint64_t misfits; /* messages that are not of the definition */
  uint64_t empty;   /* too short to be of any */
} cat_topic_t;

typedef struct cat {
  const command_t *command;
  words_t bags, topics, exclude_topics, none;
  bag_topics_t wanted;
  message_style_t style;
  bool has_range, is_full;
  tb_duration_t start, duration; /* duration below 0: to the end */
  int count;                     /* 0: all */
  int run;                       /* 0: not given */
  const char *folders[FOLDERS_MAX];
  size_t folder_count;
  tb__definitions_t *definitions;
  tb_bag_reader_t *reader;
  cat_topic_t *state; /* by topic of the reader */
  uint64_t shown, failures;
  bool is_incomplete; /* something was left out, which has been printed */
  bool is_over;       /* enough, or standard output is closed */
} cat_t;

/* --- arguments --- */

static int parse_span(cat_t *cat, const char *name, tb_duration_t *out)
{
  cat->has_range = true;
  if (!command_parse_duration(cat->command, name, optarg, out)) return EXIT_USAGE;
  if (out->ns >= 0) return EXIT_OK;
  return command_usage_error(cat->command, "%s %s: must not be negative", name, optarg);
}

static int take_folder(cat_t *cat)
{
  if (cat->folder_count == FOLDERS_MAX)
    return command_usage_error(cat->command, "more than %d times --definitions", FOLDERS_MAX);
  cat->folders[cat->folder_count++] = optarg;
  return EXIT_OK;
}

static int parse_option(cat_t *cat, int option, int argc, char **argv)
{
  int result = EXIT_OK;
  switch (option) {
  case 1:
    cat->bags.items[cat->bags.count++] = optarg;
    return EXIT_OK;
  case OPTION_JSON:
    return message_style_take_form(cat->command, &cat->style, MESSAGE_JSON);
  case OPTION_CSV:
    return message_style_take_form(cat->command, &cat->style, MESSAGE_CSV);
  case OPTION_TOPICS:
    words_take(&cat->topics, argc, argv);
    return EXIT_OK;
  case OPTION_EXCLUDE_TOPICS:
    words_take(&cat->exclude_topics, argc, argv);
    return EXIT_OK;
  case 'e':
    cat->wanted.regex = optarg;
    return EXIT_OK;
  case 'x':
    cat->wanted.exclude_regex = optarg;
    return EXIT_OK;
  case OPTION_START:
    return parse_span(cat, "--start", &cat->start);
  case OPTION_DURATION:
    return parse_span(cat, "--duration", &cat->duration);
  case OPTION_FIELD:
    return message_style_take_field(cat->command, &cat->style, optarg);
  case OPTION_FULL:
    cat->is_full = true;
    return EXIT_OK;
  case OPTION_DEFINITIONS:
    return take_folder(cat);
  case OPTION_RUN:
    return command_parse_int(cat->command, "--run", optarg, 1, INT_MAX, &cat->run) ? EXIT_OK
                                                                                   : EXIT_USAGE;
  case 'n':
    return command_parse_int(cat->command, "-n", optarg, 1, INT_MAX, &cat->count) ? EXIT_OK
                                                                                  : EXIT_USAGE;
  default:
    if (bag_limit_option(cat->command, option, &cat->wanted.limits, &result)) return result;
    return command_bad_option(cat->command, option, argv);
  }
}

static int parse(cat_t *cat, int argc, char **argv, bool *help)
{
  static const struct option options[] = {
      {"json", no_argument, NULL, OPTION_JSON},
      {"csv", no_argument, NULL, OPTION_CSV},
      {"topics", required_argument, NULL, OPTION_TOPICS},
      {"exclude-topics", required_argument, NULL, OPTION_EXCLUDE_TOPICS},
      {"regex", required_argument, NULL, 'e'},
      {"exclude-regex", required_argument, NULL, 'x'},
      {"start", required_argument, NULL, OPTION_START},
      {"start-offset", required_argument, NULL, OPTION_START},
      {"duration", required_argument, NULL, OPTION_DURATION},
      {"playback-duration", required_argument, NULL, OPTION_DURATION},
      {"field", required_argument, NULL, OPTION_FIELD},
      {"full", no_argument, NULL, OPTION_FULL},
      {"definitions", required_argument, NULL, OPTION_DEFINITIONS},
      {"run", required_argument, NULL, OPTION_RUN},
      BAG_LIMIT_OPTIONS,
      PROGRESS_OPTION,
      {"help", no_argument, NULL, 'h'},
      {0}};
  int option, result = EXIT_OK;
  while (!result && (option = command_next_option(argc, argv, "-:e:x:n:h", options)) != -1) {
    if (progress_option(option)) continue;
    if (option == 'h') {
      *help = true;
      return EXIT_OK;
    }
    result = parse_option(cat, option, argc, argv);
  }
  while (!result && optind < argc)
    cat->bags.items[cat->bags.count++] = argv[optind++];
  if (!result && cat->bags.count == 0) return command_usage_error(cat->command, "missing BAG");
  bool is_cut = cat->style.form == MESSAGE_YAML && !cat->is_full;
  cat->style.items_max = is_cut ? MESSAGE_ITEMS_DEFAULT : 0;
  return result;
}

/* --- definitions --- */

static tb_status_t open_definitions(cat_t *cat)
{
  tb__definition_places_t places = {.prefixes = getenv("AMENT_PREFIX_PATH"),
                                    .folders = cat->folders,
                                    .folder_count = cat->folder_count};
  return tb__definitions_create(&places, &cat->definitions);
}

static tb_status_t find_entry(cat_t *cat, const tb_bag_topic_t *topic, cat_topic_t *state)
{
  tb__definition_key_t key = {.type = topic->type,
                              .type_hash = topic->type_hash,
                              .recorded = topic->definition,
                              .recorded_encoding = topic->definition_encoding};
  return tb__definitions_get(cat->definitions, &key, &state->entry);
}

static void leave_out(cat_t *cat, const tb_bag_topic_t *topic, cat_topic_t *state,
                      const char *reason)
{
  state->is_left_out = cat->is_incomplete = true;
  fflush(stdout);
  text_err("timebase %s: %s is left out: %s\n", cat->command->name, topic->name, reason);
}

/* Less than CDR begins with, or in ROS 1 not a byte: no definition is judged by it. */
static bool is_empty(const tb_bag_topic_t *topic, const tb_bag_message_t *message)
{
  return message->size < (strcmp(topic->serialization_format, "cdr") == 0 ? 4 : 1);
}

/* NULL: it is not printed. */
static const tb__known_definition_t *definition_of(cat_t *cat, const tb_bag_topic_t *topic,
                                                   cat_topic_t *state,
                                                   const tb_bag_message_t *message)
{
  char text[2 * TB_ERROR_TEXT_SIZE];
  tb_error_t error = TB_ERROR_INIT;
  if (state->known) return state->known;
  if (strcmp(topic->serialization_format, "cdr") != 0 &&
      strcmp(topic->serialization_format, "ros1") != 0) {
    snprintf(text, sizeof text, "it is serialized as %.100s, neither as cdr nor as ros1",
             topic->serialization_format);
    leave_out(cat, topic, state, text);
    return NULL;
  }
  if (is_empty(topic, message)) return tb__definition_entry_known(state->entry);
  state->known = tb__definition_entry_fit(state->entry, message->data, message->size);
  if (!state->known && tb__definition_entry_state(state->entry) == TB__DEFINITION_IS_UNKNOWN) {
    const char *note = tb__definition_entry_note(state->entry);
    snprintf(text, sizeof text,
             "the definition of %s is unknown%s%s; name its folder with --definitions, or source "
             "its workspace (AMENT_PREFIX_PATH)",
             topic->type, *note ? ": " : "", note);
    leave_out(cat, topic, state, text);
  } else if (state->known && message_style_check(&cat->style, state->known->schema, &error)) {
    leave_out(cat, topic, state, error.text);
  }
  return state->is_left_out ? NULL : state->known;
}

/* --- messages --- */

/* A table has the columns of one type. */
static int check_types(const cat_t *cat, const tb_bag_info_t *info)
{
  const char *type = NULL;
  if (cat->style.form != MESSAGE_CSV || cat->style.field_count) return EXIT_OK;
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    if (!topic->message_count || !bag_topics_choose(&cat->wanted, topic->name)) continue;
    if (type && strcmp(type, topic->type) != 0)
      return command_usage_error(cat->command,
                                 "--csv prints one type, and these topics have %s, %s: choose with "
                                 "--topics, or fields that all have with --field",
                                 type, topic->type);
    type = topic->type;
  }
  return EXIT_OK;
}

/* False: out of memory. */
static bool print_json(const message_style_t *style, const tb_bag_topic_t *topic,
                       const tb_bag_message_t *message, json_t *shown)
{
  json_t *out = json_object();
  int64_t publish_ns = message->publish_time_ns;
  json_put(out, "topic", text_json(topic->name));
  json_put(out, "type", text_json(topic->type));
  json_put(out, "log_time_ns", json_integer(message->log_time_ns));
  json_put(out, "publish_time_ns", publish_ns < 0 ? json_null() : json_integer(publish_ns));
  if (message->publisher) json_put(out, "publisher", text_json(message->publisher));
  json_put(out, message_style_key(style), json_incref(shown));
  return json_print(out, JSON_COMPACT);
}

static void print_yaml(const message_style_t *style, const tb_bag_topic_t *topic,
                       const tb_bag_message_t *message, const json_t *shown)
{
  text_out("# %s %s %" PRId64 ".%09" PRId64 "\n", topic->name, topic->type,
           message->log_time_ns / TB_NS_PER_S, message->log_time_ns % TB_NS_PER_S);
  message_style_yaml(style, shown);
}

/* False: out of memory. */
static bool print_csv(message_style_t *style, const tb_bag_topic_t *topic,
                      const tb_bag_message_t *message, const json_t *shown)
{
  json_t *first = json_object();
  json_put(first, "log_time_ns", json_integer(message->log_time_ns));
  json_put(first, "topic", text_json(topic->name));
  if (json_is_whole()) message_style_csv(style, first, shown);
  json_decref(first);
  return json_is_whole();
}

/* TB_ERR_TRUNCATED, TB_ERR_CORRUPT, TB_ERR_UNSUPPORTED: the message is not of the schema;
 * TB_ERR_NO_MEMORY. */
static tb_status_t print(message_style_t *style, const tb_bag_topic_t *topic,
                         const tb_bag_message_t *message, const tb__schema_t *schema)
{
  json_t *shown = NULL;
  bool is_printed = true;
  tb_status_t status = message_style_decode(style, schema, message->data, message->size, &shown);
  if (status) return status;
  if (style->form == MESSAGE_JSON)
    is_printed = print_json(style, topic, message, shown);
  else if (style->form == MESSAGE_CSV)
    is_printed = print_csv(style, topic, message, shown);
  else
    print_yaml(style, topic, message, shown);
  json_decref(shown);
  return is_printed ? TB_OK : TB_ERR_NO_MEMORY;
}

/* EXIT_OK, or a message was printed. */
static int show_message(cat_t *cat, const tb_bag_info_t *info, const tb_bag_message_t *message)
{
  const tb_bag_topic_t *topic = &info->topics[message->topic];
  cat_topic_t *state = &cat->state[message->topic];
  tb_status_t status = state->entry ? TB_OK : find_entry(cat, topic, state);
  if (status) return command_failed(cat->command, status, NULL);
  if (state->is_left_out) return EXIT_OK;
  const tb__known_definition_t *known = definition_of(cat, topic, state, message);
  if (state->is_left_out) return EXIT_OK;
  status = known ? print(&cat->style, topic, message, known->schema) : TB_ERR_CORRUPT;
  if (status == TB_ERR_NO_MEMORY) return command_failed(cat->command, status, NULL);
  if (status && is_empty(topic, message))
    state->empty++;
  else if (status)
    state->misfits++;
  else
    cat->shown++;
  cat->is_over =
      (cat->count && cat->shown >= (uint64_t)cat->count) || (ferror(stdout) && !command_flush());
  return EXIT_OK;
}

static void report_failure(cat_t *cat, const tb_error_t *error)
{
  if (cat->failures++ > 0) return;
  fflush(stdout);
  text_err("timebase %s: %s\n", cat->command->name, error->text);
}

static int show_messages(cat_t *cat, const tb_bag_info_t *info, int64_t end_ns)
{
  tb_bag_message_t message;
  int result = EXIT_OK;
  while (!result && !cat->is_over) {
    tb_error_t error = TB_ERROR_INIT;
    tb_status_t status = tb_bag_reader_next(cat->reader, &message, &error);
    if (status == TB_ERR_END || (!status && message.log_time_ns >= end_ns)) break;
    if (!status) progress_at(message.log_time_ns);
    if (status && bag_is_out_of_room(&error)) return command_failed(cat->command, status, &error);
    if (status)
      report_failure(cat, &error);
    else
      result = show_message(cat, info, &message);
  }
  return result;
}

/* Offsets count from the start of the recording, whichever topics are shown. */
static int seek(cat_t *cat, const tb_bag_info_t *info, int64_t *end_ns)
{
  int64_t from_ns;
  *end_ns = INT64_MAX;
  if (!cat->has_range) return EXIT_OK;
  bool is_past = __builtin_add_overflow(info->start_ns, cat->start.ns, &from_ns);
  if (info->message_count && (is_past || from_ns > info->end_ns))
    return command_usage_error(cat->command, "--start: %s lasts %.3f s", info->path,
                               (double)(info->end_ns - info->start_ns) / 1e9);
  if (cat->start.ns) tb_bag_reader_seek(cat->reader, from_ns);
  if (cat->duration.ns >= 0 && __builtin_add_overflow(from_ns, cat->duration.ns, end_ns))
    *end_ns = INT64_MAX;
  return EXIT_OK;
}

static void report_some(const cat_t *cat, const tb_bag_topic_t *topic, uint64_t count,
                        const char *what)
{
  if (count == 0) return;
  fflush(stdout);
  text_err("timebase %s: %s: %" PRIu64 " message%s %s %s\n", cat->command->name, topic->name, count,
           count == 1 ? " is" : "s are", what, topic->type);
}

static void report_misfits(cat_t *cat, const tb_bag_info_t *info)
{
  for (size_t i = 0; i < info->topic_count; i++) {
    const cat_topic_t *state = &cat->state[i];
    cat->is_incomplete |= state->misfits > 0;
    report_some(cat, &info->topics[i], state->misfits, "not of the definition of");
    report_some(cat, &info->topics[i], state->empty, "empty or too short to be of type");
  }
}

/* One run. *run_count: of the recording. */
static int show_run(cat_t *cat, size_t *run_count)
{
  int64_t end_ns;
  int result = bag_topics_open(cat->command, &cat->wanted, &cat->reader);
  if (result) return result;
  const tb_bag_info_t *info = tb_bag_reader_info(cat->reader);
  *run_count = info->run_count;
  cat->state = calloc(info->topic_count + 1, sizeof *cat->state);
  if (!cat->state) result = command_failed(cat->command, TB_ERR_NO_MEMORY, NULL);
  if (!result && cat->has_range && !cat->run && info->run_count > 1)
    result = command_usage_error(cat->command,
                                 "%s: time was set back while it was recorded: choose one of its "
                                 "runs with --run 1 to %zu",
                                 info->path, info->run_count);
  if (!result) result = check_types(cat, info);
  if (!result) result = seek(cat, info, &end_ns);
  if (!result) {
    int64_t last_ns = end_ns < info->end_ns ? end_ns : info->end_ns;
    progress_span(info->start_ns + cat->start.ns, last_ns, 0, 1);
    result = show_messages(cat, info, end_ns);
  }
  if (cat->state) report_misfits(cat, info);
  free(cat->state);
  cat->state = NULL;
  tb_bag_reader_close(cat->reader);
  cat->reader = NULL;
  return result;
}

/* The runs of a recording one after the other, as they were recorded. */
static int show(cat_t *cat)
{
  size_t runs = 1;
  tb_status_t status = open_definitions(cat);
  int result = status ? command_failed(cat->command, status, NULL) : EXIT_OK;
  bool is_each = cat->bags.count == 1 && !cat->run;
  for (size_t run = 1; !result && run <= runs && !cat->is_over; run++) {
    cat->wanted.run = is_each ? run : (size_t)cat->run;
    result = show_run(cat, &runs);
    if (!is_each) break;
  }
  if (result) return result;
  if (cat->failures > 0) {
    text_err("timebase %s: %" PRIu64 " part%s could not be read\n", cat->command->name,
             cat->failures, bag_plural(cat->failures));
    return EXIT_IO;
  }
  return cat->is_incomplete ? EXIT_CHECK : EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  cat_t cat = {.command = command, .duration = {-1}};
  bool help = false, is_complete = true;
  words_t *lists[] = {&cat.bags, &cat.topics, &cat.exclude_topics};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    lists[i]->items = calloc((size_t)argc + 1, sizeof *lists[i]->items);
    is_complete = is_complete && lists[i]->items;
  }
  cat.wanted = (bag_topics_t){.bags = &cat.bags,
                              .topics = &cat.topics,
                              .exclude_topics = &cat.exclude_topics,
                              .services = &cat.none,
                              .exclude_services = &cat.none,
                              .actions = &cat.none,
                              .exclude_actions = &cat.none};
  int result = is_complete ? parse(&cat, argc, argv, &help)
                           : command_failed(command, TB_ERR_NO_MEMORY, NULL);
  if (!result && !help) {
    if (!isatty(STDOUT_FILENO)) progress_begin(command);
    result = show(&cat);
    progress_end();
  }
  tb__definitions_destroy(cat.definitions);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    free(lists[i]->items);
  return help ? command_help(command) : command_finish(command, result);
}

const command_t command_bag_cat = {
    .name = "bag cat",
    .summary = "print messages as YAML, JSON lines or CSV",
    .usage = "timebase bag cat BAG... [--json | --csv] [--topics T...] [-e REGEX] [-x REGEX]\n"
             "       [--start S] [--duration S] [--field PATH]... [-n N]",
    .help =
        "Prints the messages of recordings in the order of time, several merged. Definitions come\n"
        "from the recording, AMENT_PREFIX_PATH, --definitions, or are built in. A recording in\n"
        "which time was set back is printed run by run.\n\n"
        "  --json             an object in each line, with \"topic\", \"type\", \"log_time_ns\",\n"
        "                     \"publish_time_ns\" (null: not recorded), \"publisher\" where it is\n"
        "                     recorded, and \"message\", or \"fields\" with --field\n"
        "  --csv              log time in ns, topic, and a column for each field, with a header;\n"
        "                     arrays are one column, as JSON. Of one type, unless with --field\n"
        "  --topics T...      only these topics: all words up to the next option (or --)\n"
        "  --exclude-topics T...   not these\n"
        "  -e, --regex R, -x, --exclude-regex R\n"
        "                     topics whose names match, and do not\n"
        "  --start S, --start-offset S\n"
        "                     from S after the start of the recording on (1.5s, 2m; bare: "
        "seconds)\n"
        "  --duration S, --playback-duration S\n"
        "                     only messages before S after that\n"
        "  --field PATH       only this field, such as header.stamp, position[0],\n"
        "                     transforms[].child_frame_id; again for more\n"
        "  --full             YAML: arrays whole; otherwise their first 128 elements, and \"...\"\n"
        "  -n N               end after N messages\n"
        "  --definitions DIR  where message definitions are looked for after the recording and\n"
        "                     AMENT_PREFIX_PATH; up to 16 times\n"
        "  --run N            which run, of a recording in which time was set "
        "back\n"
        "  --quiet            do not show the progress, which a terminal shows while messages go "
        "to\n"
        "                     a file or a program\n" BAG_LIMIT_HELP
        "  -h, --help         this text\n\n"
        "YAML has topic, type and log time in a comment before each message, and --- after it.\n"
        "Status 1 if a topic was left out, as its type is unknown or lacks the field, or a "
        "message\n"
        "is not of its definition; 3 where something could not be read.\n",
    .run = run,
};
