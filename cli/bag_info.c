#include "bag_info.h"
#include "rosbag2_options.h"
#include "text.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct arguments {
  const char *bag;
  bool json, digest, scan, verbose, names;
  int sort; /* sort_t */
  tb_bag_limits_t limits;
} arguments_t;

typedef enum sort { AS_RECORDED, BY_NAME, BY_TYPE, BY_COUNT } sort_t;

static void note_damage(bag_info_t *info, const char *text)
{
  if (!info->damage[0]) snprintf(info->damage, sizeof info->damage, "%s", text);
}

/* Opens the recording whole, or else what is left of it. */
static tb_status_t open_bag(bag_info_t *info, const arguments_t *arguments, tb_bag_reader_t **out,
                            tb_error_t *error)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  struct stat exists;
  options.limits = arguments->limits;
  options.counts = arguments->scan ? TB_BAG_COUNTS_AUTO : TB_BAG_COUNTS_SUMMARY;
  options.content =
      arguments->digest || arguments->verbose ? TB_BAG_CONTENT_ANY : TB_BAG_CONTENT_TIMES;
  tb_status_t status = tb_bag_reader_open(arguments->bag, &options, out, error);
  bool is_damaged =
      status == TB_ERR_CORRUPT || status == TB_ERR_TRUNCATED || status == TB_ERR_NOT_FOUND;
  if (!status || !is_damaged || stat(arguments->bag, &exists) != 0) return status;
  tb_error_t second = TB_ERROR_INIT;
  options.damage = TB_BAG_DAMAGE_SALVAGE;
  if (tb_bag_reader_open(arguments->bag, &options, out, &second)) return status;
  note_damage(info, error->text);
  info->is_salvaged = true;
  return TB_OK;
}

static bool add_message(bag_info_t *info, const tb_bag_message_t *message)
{
  bag_info_topic_t *topic = &info->topics[message->topic];
  int64_t time_ns = message->log_time_ns;
  if (topic->count > 0 && time_ns - topic->last_ns > topic->longest_gap_ns)
    topic->longest_gap_ns = time_ns - topic->last_ns;
  topic->bytes += message->size;
  if (topic->count == 0 || time_ns < topic->first_ns) topic->first_ns = time_ns;
  if (topic->count == 0 || time_ns > topic->last_ns) topic->last_ns = time_ns;
  if (info->message_count == 0 || time_ns < info->start_ns) info->start_ns = time_ns;
  if (info->message_count == 0 || time_ns > info->end_ns) info->end_ns = time_ns;
  topic->count++;
  info->message_count++;
  if (topic->has_calls && !bag_service_calls_add(&topic->calls, message->data, message->size))
    return false;
  return !topic->digest || bag_digest_add(topic->digest, message->data, message->size);
}

static tb_status_t make_digests(bag_info_t *info)
{
  for (size_t i = 0; i < info->bag->topic_count; i++) {
    info->topics[i].digest = bag_digest_create();
    if (!info->topics[i].digest) return TB_ERR_NO_MEMORY;
  }
  return TB_OK;
}

static tb_status_t read_bag(bag_info_t *info, tb_bag_reader_t *reader)
{
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = info->has_digests ? make_digests(info) : TB_OK;
  for (size_t i = 0; i < info->bag->topic_count; i++)
    info->topics[i].has_calls =
        (info->has_digests || info->is_verbose) && bag_info_is_service(&info->bag->topics[i]);
  progress_span(info->bag->start_ns, info->bag->end_ns, 0, 1);
  while (!status) {
    tb_status_t read = tb_bag_reader_next(reader, &message, &error);
    if (read == TB_ERR_END) break;
    if (read == TB_ERR_LIMIT || (read && bag_is_out_of_room(&error))) {
      if (!info->refused.status) info->refused = error;
    } else if (read) {
      info->failures++;
      note_damage(info, error.text);
    } else if (!add_message(info, &message)) {
      status = TB_ERR_SYSTEM;
    } else {
      progress_at(message.log_time_ns);
    }
  }
  for (size_t i = 0; i < info->bag->topic_count && !status && info->has_digests; i++)
    if (!bag_digest_text(info->topics[i].digest, info->topics[i].sha256)) status = TB_ERR_SYSTEM;
  return status;
}

/* What the recording notes of itself, and what the files confirm. */
static void take_counts(bag_info_t *info)
{
  info->message_count = info->bag->message_count;
  info->start_ns = info->bag->start_ns;
  info->end_ns = info->bag->end_ns;
  for (size_t i = 0; i < info->bag->topic_count; i++)
    info->topics[i].count = info->bag->topics[i].message_count;
}

/* Whatever may be wrong is found by reading the messages. */
static tb_status_t count(bag_info_t *info, tb_bag_reader_t *reader, const arguments_t *arguments)
{
  const tb_bag_info_t *bag = info->bag;
  info->was_scan_asked = arguments->scan;
  info->is_scanned = arguments->scan || info->is_salvaged || bag->damage || bag->unclosed_count ||
                     bag->counted == TB_BAG_COUNTED_MESSAGES;
  if (info->is_scanned) return read_bag(info, reader);
  take_counts(info);
  return TB_OK;
}

/* ---- order ---- */

static int compare_topics(const void *a, const void *b, void *user)
{
  const bag_info_t *info = user;
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  uint64_t counts[] = {info->topics[x].count, info->topics[y].count};
  int order = 0;
  if (info->sort == BY_TYPE) order = strcmp(info->bag->topics[x].type, info->bag->topics[y].type);
  if (info->sort == BY_COUNT) order = (counts[0] > counts[1]) - (counts[0] < counts[1]);
  return order ? order : strcmp(info->bag->topics[x].name, info->bag->topics[y].name);
}

/* To be freed. */
static size_t *make_order(bag_info_t *info, int sort)
{
  size_t count = info->bag->topic_count, *order = calloc(count + 1, sizeof *order);
  for (size_t i = 0; order && i < count; i++)
    order[i] = i;
  info->sort = sort;
  if (order && sort != AS_RECORDED) qsort_r(order, count, sizeof *order, compare_topics, info);
  return order;
}

static int show(const command_t *command, const arguments_t *arguments, tb_bag_reader_t *reader,
                bag_info_t *info)
{
  info->bag = tb_bag_reader_info(reader);
  info->library = tb_bag_reader_library(reader);
  info->has_digests = arguments->digest;
  info->is_verbose = arguments->verbose;
  if (info->bag->damage) note_damage(info, info->bag->damage);
  info->topics = calloc(info->bag->topic_count + 1, sizeof *info->topics);
  tb_status_t status = info->topics ? count(info, reader, arguments) : TB_ERR_NO_MEMORY;
  if (!status && info->is_scanned)
    status = bag_evidence_read(info->bag, &arguments->limits, &info->evidence);
  else if (!status)
    status = bag_evidence_read_notes(info->bag, &info->evidence);
  size_t *order = status ? NULL : make_order(info, arguments->sort);
  if (!status && !order) status = TB_ERR_NO_MEMORY;
  info->order = order;
  if (!status && arguments->names)
    bag_info_print_names(info);
  else if (!status && !arguments->json)
    bag_info_print(info);
  if (!status && arguments->json && !arguments->names && !bag_info_print_json(info))
    status = TB_ERR_NO_MEMORY;
  for (size_t i = 0; info->topics && i < info->bag->topic_count; i++) {
    bag_digest_destroy(info->topics[i].digest);
    bag_service_calls_release(&info->topics[i].calls);
  }
  free(order);
  free(info->topics);
  bag_evidence_release(&info->evidence);
  if (status) return command_failed(command, status, NULL);
  return info->refused.status ? command_failed(command, info->refused.status, &info->refused)
                              : EXIT_OK;
}

/* False: *result is set. */
static bool parse(const command_t *command, int argc, char **argv, arguments_t *out, int *result)
{
  static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                          {"digest", no_argument, NULL, 'd'},
                                          {"scan", no_argument, NULL, 'c'},
                                          {"sort", required_argument, NULL, 'o'},
                                          {"topic-name", no_argument, NULL, 't'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          {"storage", required_argument, NULL, ROSBAG2_NO_EFFECT},
                                          PROGRESS_OPTION,
                                          BAG_LIMIT_OPTIONS,
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  static const char *const orders[] = {"recorded", "name", "type", "count", NULL};
  for (int option; (option = command_next_option(argc, argv, ":htvs:", options)) != -1;) {
    if (option == 'j') {
      out->json = true;
    } else if (option == 'd') {
      out->digest = out->scan = true;
    } else if (option == 'o') {
      if (command_parse_word(command, "--sort", optarg, orders, &out->sort)) continue;
      *result = EXIT_USAGE;
      return false;
    } else if (option == 'c') {
      out->scan = true;
    } else if (option == 't') {
      out->names = true;
    } else if (option == 'v') {
      out->verbose = out->scan = true;
    } else if (option == ROSBAG2_NO_EFFECT || option == 's') {
      (void)rosbag2_option(command, option); /* a note */
    } else if (progress_option(option)) {
      continue;
    } else if (bag_limit_option(command, option, &out->limits, result)) {
      if (*result) return false;
    } else {
      *result = option == 'h' ? command_help(command) : command_bad_option(command, option, argv);
      return false;
    }
  }
  if (optind + 1 == argc) {
    out->bag = argv[optind];
    if (out->names && out->verbose) {
      command_begin_warning(command);
      text_err("-t is ignored with -v\n");
      out->names = false;
    }
    return true;
  }
  *result = optind == argc
                ? command_usage_error(command, "missing BAG")
                : command_usage_error(command, "unexpected argument '%s'", argv[optind + 1]);
  return false;
}

static int run(const command_t *command, int argc, char **argv)
{
  arguments_t arguments = {0};
  bag_info_t info = {.refused = TB_ERROR_INIT};
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  int result = EXIT_OK;
  if (!parse(command, argc, argv, &arguments, &result)) return result;
  progress_begin(command);
  tb_status_t status = open_bag(&info, &arguments, &reader, &error);
  result = status ? bag_unreadable(command, arguments.bag, status, &error)
                  : show(command, &arguments, reader, &info);
  tb_bag_reader_close(reader);
  progress_end();
  return command_finish(command, result);
}

const command_t command_bag_info = {
    .name = "bag info",
    .summary = "show what a recording holds",
    .usage = "timebase bag info BAG [-v] [-t] [--scan] [--sort ORDER] [--json] [--digest]",
    .help =
        "Prints format, files, times, compression and topics, and what the counts rest on. "
        "Without\n"
        "--scan no message is read: MCAP is counted by its summary, if that covers the file and\n"
        "fits; sqlite3 by metadata.yaml, if that fits the rows, or else by its rows without their\n"
        "payloads. If anything contradicts, that is printed and the messages are counted. Damage\n"
        "is reported, along with what can still be read; damage inside of messages or chunks is\n"
        "only found by --scan and 'timebase bag check'.\n\n"
        "  --scan             read topic and time of every message; payloads that cannot be read\n"
        "                     may then count as messages. Also rate and longest gap of topics\n"
        "  -v, --verbose      also QoS and size of topics, requests and responses of services\n"
        "                     (one that both sides recorded counts once), and how much is saved\n"
        "                     by compression; reads every message in full\n"
        "  -t, --topic-name   only the names of topics; ignored with -v\n"
        "  -s, --storage ID   no effect: the format is told from the files\n"
        "  --sort ORDER       of topics: recorded (default), name, type or count\n"
        "  --json             one JSON object: storage, library (that wrote MCAP, or null),\n"
        "                     files, size, message_count, start_ns,\n"
        "                     end_ns, ros_distro (if known), notes (custom_data, by key),\n"
        "                     counts (what they rest on: summary, metadata, rows, messages),\n"
        "                     compression, compression_ratio (size of the files by that of the\n"
        "                     payloads; with --digest or -v, or else null), topics (name, type,\n"
        "                     serialization_format, count, and\n"
        "                     where messages were counted first_ns, last_ns, rate_hz,\n"
        "                     longest_gap_ns; with --digest or -v size, of payloads; qos,\n"
        "                     qos_recorded), services (name, type, count of events,\n"
        "                     request_count and response_count; with --digest or -v, or else\n"
        "                     null); where they apply:\n"
        "                     manifest (text, name, mode), points (where messages were counted:\n"
        "                     at which the recorder read all clocks), odd (list of contradictions\n"
        "                     that lose nothing), damaged (the reason), unclosed (true: not "
        "closed\n"
        "                     is all that is wrong), not_read (the reason why a part was not "
        "read)\n"
        "  --digest           also sha256 of each topic's decompressed payloads in time order;\n"
        "                     reads everything\n" PROGRESS_HELP BAG_LIMIT_HELP
        "  -h, --help         this text\n\n"
        "Exit status: 0, even if the recording is damaged ('timebase bag check' reports damage\n"
        "with 1); 3 if nothing can be read, or a part was not read for a limit or lack of "
        "memory.\n",
    .run = run,
};
