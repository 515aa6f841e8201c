#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

#include "bag.h"
#include "json.h"
#include "text.h"

typedef struct usage {
  const tb_bag_topic_t *topic;
  uint64_t bytes, messages;
} usage_t;

static int by_bytes(const void *a, const void *b)
{
  const usage_t *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->topic < y->topic ? -1 : 1; /* topics are an array */
}

/* How many parts could not be read. */
static uint64_t add_up(const command_t *command, tb_bag_reader_t *reader, usage_t *usages)
{
  const atomic_int *signalled = command_catch_signals();
  uint64_t failures = 0;
  tb_bag_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  while (!*signalled) {
    tb_status_t status = tb_bag_reader_next(reader, &message, &error);
    if (status == TB_ERR_END) break;
    if (status) {
      command_part_failed(command, &error);
      failures++;
      continue;
    }
    progress_at(message.log_time_ns);
    usages[message.topic].bytes += message.size;
    usages[message.topic].messages++;
  }
  if (*signalled)
    text_err("timebase %s: stopped by a signal: not all was counted\n", command->name);
  return failures + (*signalled != 0);
}

static uint64_t total_of(const usage_t *usages, size_t count)
{
  uint64_t total = 0;
  for (size_t i = 0; i < count; i++)
    total += usages[i].bytes;
  return total;
}

static void print(const usage_t *usages, size_t count, uint64_t file_size)
{
  uint64_t total = total_of(usages, count);
  for (size_t i = 0; i < count; i++)
    text_out("%14" PRIu64 " %5.1f %%  %s (%" PRIu64 " message%s)\n", usages[i].bytes,
             total ? 100 * (double)usages[i].bytes / (double)total : 0.0, usages[i].topic->name,
             usages[i].messages, bag_plural(usages[i].messages));
  text_out("%14" PRIu64 "          in all; files: %" PRIu64 " bytes\n", total, file_size);
}

static int print_json(const command_t *command, const usage_t *usages, size_t count,
                      uint64_t file_size, int result)
{
  json_t *root = json_object(), *topics = json_array();
  for (size_t i = 0; i < count; i++) {
    json_t *topic = json_object();
    json_put(topic, "name", text_json(usages[i].topic->name));
    json_put(topic, "bytes", json_integer((json_int_t)usages[i].bytes));
    json_put(topic, "count", json_integer((json_int_t)usages[i].messages));
    json_push(topics, topic);
  }
  json_put(root, "bytes", json_integer((json_int_t)total_of(usages, count)));
  json_put(root, "size", json_integer((json_int_t)file_size));
  json_put(root, "topics", topics);
  return json_finish(command, root, result);
}

static int measure(const command_t *command, const char *const *paths, size_t count, bool json,
                   const tb_bag_limits_t *limits)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  options.content = TB_BAG_CONTENT_ANY;
  options.limits = *limits;
  command_show_log(command);
  progress_begin(command);
  if (tb_bag_reader_open_many(paths, count, &options, &reader, &error))
    return bag_refused(command, paths, count, &error);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  usage_t *usages = calloc(info->topic_count + 1, sizeof *usages);
  int result = EXIT_OK;
  if (!usages) {
    tb_bag_reader_close(reader);
    return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  }
  for (size_t i = 0; i < info->topic_count; i++)
    usages[i].topic = &info->topics[i];
  progress_span(info->start_ns, info->end_ns, 0, 1);
  if (add_up(command, reader, usages) > 0) result = EXIT_IO;
  progress_end();
  qsort(usages, info->topic_count, sizeof *usages, by_bytes);
  if (json)
    result = print_json(command, usages, info->topic_count, bag_file_size(info), result);
  else
    print(usages, info->topic_count, bag_file_size(info));
  free(usages);
  tb_bag_reader_close(reader);
  return result;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {BAG_LIMIT_OPTIONS,
                                          PROGRESS_OPTION,
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  tb_bag_limits_t limits = {0};
  bool json = false;
  int result = EXIT_OK;
  for (int option; (option = command_next_option(argc, argv, ":h", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (progress_option(option)) continue;
    if (option == 'j')
      json = true;
    else if (!bag_limit_option(command, option, &limits, &result))
      return command_bad_option(command, option, argv);
    if (result) return result;
  }
  if (optind == argc) return command_usage_error(command, "missing BAG");
  result =
      measure(command, (const char *const *)argv + optind, (size_t)(argc - optind), json, &limits);
  progress_end();
  return command_finish(command, result);
}

const command_t command_bag_du = {
    .name = "bag du",
    .summary = "bytes of each topic of a recording",
    .usage = "timebase bag du BAG... [--json] [--quiet]",
    .help =
        "Reads all messages, and prints the bytes of their payloads for each topic, the largest\n"
        "first, with its part of all payloads; and the size of the files, which compression makes\n"
        "smaller. Several recordings are added up.\n\n"
        "  --json             {\"bytes\", \"size\" (of the files), \"topics\": [{\"name\", "
        "\"bytes\",\n"
        "                     \"count\"}]}\n" PROGRESS_HELP BAG_LIMIT_HELP
        "  -h, --help         this text\n\n"
        "Where something could not be read, the rest is counted: status 3.\n",
    .run = run,
};
