#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bag.h"
#include "bag_parts.h"
#include "text.h"

/* What rosbag2 has as plugins; names as there. */
typedef struct plugin {
  int type;
  const char *name, *what;
} plugin_t;

enum {
  STORAGE,
  CONVERTER,
  COMPRESSOR,
  DECOMPRESSOR,
  CHANNELS,
  SCHEMAS,
  CHUNKS,
  ATTACHMENTS,
  METADATA,
};
enum { OPTION_JSON = 256 };

static const plugin_t plugins[] = {
    {STORAGE, "mcap", "read and written; chunks plain, with zstd or with lz4"},
    {STORAGE, "rosbag1", "bags of ROS 1, .bag: read and written"},
    {STORAGE, "sqlite3", "read and written"},
    {CONVERTER, "cdr", "the messages of ROS 2"},
    {CONVERTER, "ros1", "those of ROS 1, to cdr and back by their definitions"},
    {COMPRESSOR, "zstd", "of messages, files and chunks"},
    {DECOMPRESSOR, "zstd", "of messages, files and chunks"},
};

/* --- what is in recordings --- */

static void print_channels(const tb_bag_info_t *info, bool is_verbose)
{
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    text_out("%s: %s", topic->name, topic->type);
    if (is_verbose)
      text_out(" (%s%s%s), %" PRIu64 " message%s", topic->serialization_format,
               *topic->type_hash ? ", " : "", topic->type_hash, topic->message_count,
               bag_plural(topic->message_count));
    text_out("\n");
  }
}

static bool is_same_schema(const tb_bag_topic_t *a, const tb_bag_topic_t *b)
{
  return strcmp(a->type, b->type) == 0 &&
         strcmp(a->definition_encoding, b->definition_encoding) == 0 &&
         strcmp(a->definition, b->definition) == 0;
}

/* Each line of the definition by itself: what is printed is escaped. */
static void print_definition(const char *text)
{
  while (*text) {
    size_t length = strcspn(text, "\n");
    char *line = strndup(text, length);
    text_out("  %s\n", line ? line : "out of memory");
    free(line);
    text += length + (text[length] == '\n');
  }
}

static void print_schemas(const tb_bag_info_t *info, bool is_verbose)
{
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    size_t first = 0;
    while (!is_same_schema(&info->topics[first], topic))
      first++;
    if (first < i) continue;
    bool has_text = *topic->definition != '\0';
    text_out("%s: %s\n", topic->type, has_text ? topic->definition_encoding : "no definition");
    if (is_verbose) print_definition(topic->definition);
  }
}

static int list_bags(const command_t *command, const char *const *paths, size_t count,
                     bool is_schemas, bool is_verbose)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  options.counts = TB_BAG_COUNTS_SUMMARY;
  command_show_log(command);
  if (count == 0) return command_usage_error(command, "missing BAG");
  if (tb_bag_reader_open_many(paths, count, &options, &reader, &error))
    return bag_refused(command, paths, count, &error);
  if (is_schemas)
    print_schemas(tb_bag_reader_info(reader), is_verbose);
  else
    print_channels(tb_bag_reader_info(reader), is_verbose);
  tb_bag_reader_close(reader);
  return EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {{"verbose", no_argument, NULL, 'v'},
                                          {"json", no_argument, NULL, OPTION_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  static const char *const types[] = {"storage",  "converter", "compressor", "decompressor",
                                      "channels", "schemas",   "chunks",     "attachments",
                                      "metadata", NULL};
  bool is_verbose = false, is_json = false;
  int type = 0;
  for (int option; (option = command_next_option(argc, argv, ":hv", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (option != 'v' && option != OPTION_JSON) return command_bad_option(command, option, argv);
    is_verbose |= option == 'v';
    is_json |= option == OPTION_JSON;
  }
  if (optind == argc)
    return command_usage_error(command, "missing: storage, converter, compressor, decompressor, "
                                        "channels, schemas, chunks, attachments or metadata");
  if (!command_parse_word(command, "list", argv[optind], types, &type)) return EXIT_USAGE;
  command_use_form(types[type]);
  if (type >= CHUNKS)
    return command_finish(command,
                          bag_parts_list(command, (const char *const *)argv + optind + 1,
                                         (size_t)(argc - optind) - 1,
                                         (tb_mcap_part_kind_t)(type - CHUNKS + 1), is_json));
  if (is_json)
    return command_usage_error(command, "--json is for chunks, attachments and metadata");
  if (type == CHANNELS || type == SCHEMAS)
    return command_finish(command,
                          list_bags(command, (const char *const *)argv + optind + 1,
                                    (size_t)(argc - optind) - 1, type == SCHEMAS, is_verbose));
  if (optind + 1 < argc)
    return command_usage_error(command, "unexpected argument '%s'", argv[optind + 1]);
  for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
    if (plugins[i].type != type) continue;
    text_out("%s", plugins[i].name);
    if (is_verbose) text_out(": %s", plugins[i].what);
    text_out("\n");
  }
  return command_finish(command, EXIT_OK);
}

const command_t command_bag_list = {
    .name = "bag list",
    .summary = "list storages, compressors; channels, schemas, chunks, attachments of recordings",
    .usage = "timebase bag list storage|converter|compressor|decompressor [-v]\n"
             "       timebase bag list channels|schemas BAG... [-v]\n"
             "       timebase bag list chunks|attachments|metadata BAG... [--json]",
    .help = "Prints the names that -s and the options of compression take, a line each, as\n"
            "ros2 bag does. All are built in. With channels, the topics of recordings and their\n"
            "types; with schemas, the types of their messages and how these are defined; and of\n"
            "recordings in MCAP with chunks where they are, their times, compression, sizes and\n"
            "messages, with attachments and metadata what there is beside messages.\n\n"
            "  -v, --verbose  also what they are: of channels the format, hash and number of\n"
            "                 messages, of schemas the text of the definition\n"
            "  --json         of chunks, attachments and metadata: an object in each line\n"
            "                 (message_count is null of a chunk without a message index)\n"
            "  -h, --help     this text\n",
    .run = run,
};
