#include <getopt.h>

#include "bag.h"
#include "text.h"

/* What rosbag2 has as plugins; names as there. */
typedef struct plugin {
  int type;
  const char *name, *what;
} plugin_t;

enum { STORAGE, CONVERTER, COMPRESSOR, DECOMPRESSOR };

static const plugin_t plugins[] = {
    {STORAGE, "mcap", "read and written; chunks plain, with zstd or with lz4"},
    {STORAGE, "rosbag1", "bags of ROS 1, .bag: read and written"},
    {STORAGE, "sqlite3", "read and written"},
    {CONVERTER, "cdr", "the messages of ROS 2"},
    {CONVERTER, "ros1", "those of ROS 1, to cdr and back by their definitions"},
    {COMPRESSOR, "zstd", "of messages, files and chunks"},
    {DECOMPRESSOR, "zstd", "of messages, files and chunks"},
};

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      {"verbose", no_argument, NULL, 'v'}, {"help", no_argument, NULL, 'h'}, {0}};
  static const char *const types[] = {"storage", "converter", "compressor", "decompressor", NULL};
  bool is_verbose = false;
  int type = 0;
  for (int option; (option = command_next_option(argc, argv, ":hv", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (option != 'v') return command_bad_option(command, option, argv);
    is_verbose = true;
  }
  if (optind + 1 < argc)
    return command_usage_error(command, "unexpected argument '%s'", argv[optind + 1]);
  if (optind == argc)
    return command_usage_error(command, "missing: storage, converter, compressor or decompressor");
  if (!command_parse_word(command, "list", argv[optind], types, &type)) return EXIT_USAGE;
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
    .summary = "list storages, converters, compressors",
    .usage = "timebase bag list storage|converter|compressor|decompressor [-v]",
    .help = "Prints the names that -s and the options of compression take, a line each. All are\n"
            "built in.\n\n"
            "  -v, --verbose  also what they are\n"
            "  -h, --help     this text\n",
    .run = run,
};
