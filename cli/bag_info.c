#include "bag_info.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct arguments {
  const char *bag;
  bool json, digest;
  tb_bag_limits_t limits;
} arguments_t;

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
  options.content = arguments->digest ? TB_BAG_CONTENT_ANY : TB_BAG_CONTENT_TIMES;
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
  if (topic->count == 0 || time_ns < topic->first_ns) topic->first_ns = time_ns;
  if (topic->count == 0 || time_ns > topic->last_ns) topic->last_ns = time_ns;
  if (info->message_count == 0 || time_ns < info->start_ns) info->start_ns = time_ns;
  if (info->message_count == 0 || time_ns > info->end_ns) info->end_ns = time_ns;
  topic->count++;
  info->message_count++;
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
    }
  }
  for (size_t i = 0; i < info->bag->topic_count && !status && info->has_digests; i++)
    if (!bag_digest_text(info->topics[i].digest, info->topics[i].sha256)) status = TB_ERR_SYSTEM;
  return status;
}

static int show(const command_t *command, const arguments_t *arguments, tb_bag_reader_t *reader,
                bag_info_t *info)
{
  info->bag = tb_bag_reader_info(reader);
  info->has_digests = arguments->digest;
  if (info->bag->damage) note_damage(info, info->bag->damage);
  info->topics = calloc(info->bag->topic_count + 1, sizeof *info->topics);
  tb_status_t status = info->topics ? read_bag(info, reader) : TB_ERR_NO_MEMORY;
  if (!status) status = bag_evidence_read(info->bag, &arguments->limits, &info->evidence);
  if (!status && !arguments->json) bag_info_print(info);
  if (!status && arguments->json && !bag_info_print_json(info)) status = TB_ERR_NO_MEMORY;
  for (size_t i = 0; info->topics && i < info->bag->topic_count; i++)
    bag_digest_destroy(info->topics[i].digest);
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
                                          BAG_LIMIT_OPTIONS,
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  for (int option; (option = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
    if (option == 'j') {
      out->json = true;
    } else if (option == 'd') {
      out->digest = true;
    } else if (bag_limit_option(command, option, &out->limits, result)) {
      if (*result) return false;
    } else {
      *result = option == 'h' ? command_help(command) : command_bad_option(command, option, argv);
      return false;
    }
  }
  if (optind + 1 == argc) {
    out->bag = argv[optind];
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
  tb_status_t status = open_bag(&info, &arguments, &reader, &error);
  result = status ? bag_unreadable(command, arguments.bag, status, &error)
                  : show(command, &arguments, reader, &info);
  tb_bag_reader_close(reader);
  return command_finish(command, result);
}

const command_t command_bag_info = {
    .name = "bag info",
    .summary = "show what a recording holds",
    .usage = "timebase bag info BAG [--json] [--digest]",
    .help =
        "Prints format, files, times, compression and topics, counted from the messages\n"
        "themselves, and how much of them was read. Damage is reported, along with what can still\n"
        "be read; payloads that cannot be read may then count as messages.\n\n"
        "  --json             one JSON object: storage, files, message_count, start_ns, end_ns,\n"
        "                     compression, topics (name, type, serialization_format, count,\n"
        "                     first_ns, last_ns); where they apply: manifest (text, name, mode), "
        "points\n"
        "                     (at which the recorder read all clocks), odd (list of "
        "contradictions\n"
        "                     that lose nothing), damaged (the reason), unclosed (true: not "
        "closed\n"
        "                     is all that is wrong), not_read (the reason why a part was not "
        "read)\n"
        "  --digest           also sha256 of each topic's decompressed payloads in time order;\n"
        "                     reads everything\n" BAG_LIMIT_HELP
        "  -h, --help         this text\n\n"
        "Exit status: 0, even if the recording is damaged ('timebase bag check' reports damage\n"
        "with 1); 3 if nothing can be read, or a part was not read for a limit or lack of "
        "memory.\n",
    .run = run,
};
