/* sort, compress and decompress: a recording as it is, in another order or form. */
#include <getopt.h>
#include <string.h>

#include "bag.h"

static int parse(bag_copy_t *copy, int argc, char **argv, bool *help)
{
  static const struct option options[] = {
      BAG_OUTPUT_OPTIONS, {"help", no_argument, NULL, 'h'}, {0}};
  int result = EXIT_OK;
  for (int option;
       !result && (option = command_next_option(argc, argv, ":o:s:h", options)) != -1;) {
    *help |= option == 'h';
    if (*help) return EXIT_OK;
    if (!bag_output_option(copy, option, &result))
      result = command_bad_option(copy->command, option, argv);
  }
  if (result) return result;
  if (optind == argc) return command_usage_error(copy->command, "missing BAG");
  if (optind + 1 < argc)
    return command_usage_error(copy->command, "unexpected argument '%s'", argv[optind + 1]);
  if (!copy->output) return command_usage_error(copy->command, "missing --output OUT");
  return EXIT_OK;
}

/* Unless they were requested in another way: chunks where the format has them, else files. */
static void choose_form(bag_copy_t *copy)
{
  const char *storage = bag_output_storage(copy);
  if (!storage) storage = tb_bag_reader_info(copy->reader)->storage_id;
  if (copy->has_chunk_compression || copy->options.compression_mode != TB_BAG_COMPRESS_NONE ||
      copy->command == &command_bag_sort)
    return;
  copy->has_chunk_compression = true;
  if (copy->command == &command_bag_decompress)
    copy->options.chunk_compression = TB_BAG_CHUNKS_PLAIN;
  else if (strcmp(storage, "mcap") == 0)
    copy->options.chunk_compression = TB_BAG_CHUNKS_ZSTD;
  else if (strcmp(storage, "rosbag1") == 0)
    copy->options.chunk_compression = TB_BAG_CHUNKS_BZ2;
  else
    copy->options.compression_mode =
        copy->is_single_file ? TB_BAG_COMPRESS_MESSAGES : TB_BAG_COMPRESS_FILES;
}

static int run(const command_t *command, int argc, char **argv)
{
  bag_copy_t copy = BAG_COPY_INIT(command);
  bool help = false;
  tb_error_t error = TB_ERROR_INIT;
  int result = parse(&copy, argc, argv, &help);
  if (result) return result;
  if (help) return command_help(command);
  command_show_log(command);
  copy.path = argv[optind];
  copy.input.content = TB_BAG_CONTENT_ANY;
  copy.input.run = 1;
  copy.input.read_ahead_size = BAG_READ_AHEAD;
  if (tb_bag_reader_open(copy.path, &copy.input, &copy.reader, &error))
    return bag_refused(command, &copy.path, 1, &error);
  choose_form(&copy);
  result = bag_copy_result(&copy, bag_copy_run(&copy, NULL));
  bag_copy_end(&copy);
  return command_finish(command, result);
}

#define OUTPUT_HELP                                                                                \
  "\n  -o, --output OUT   the folder of the new recording, a .bag file in ROS 1; must not exist\n" \
  "  -s, --storage S    its format: sqlite3, mcap, rosbag1 (default: by the extension of\n"        \
  "                     OUT, .db3, .mcap or .bag; otherwise that of BAG)\n" BAG_OUTPUT_HELP        \
  "  -h, --help         this text\n\n"                                                             \
  "BAG is not changed. Where something could not be read, the rest is copied: status 3.\n"

const command_t command_bag_sort = {
    .name = "bag sort",
    .summary = "write a recording in the order of log times",
    .usage = "timebase bag sort BAG -o OUT",
    .help =
        "Copies all messages, byte for byte, in the order of their log times; equal times keep\n"
        "their order. The runs of a recording in which time was set back stay separate, each\n"
        "of them sorted. Chunks that overlap in time are kept in memory up to\n"
        "--max-overlap-size; what does not fit is read again.\n" OUTPUT_HELP,
    .run = run,
};

const command_t command_bag_compress = {
    .name = "bag compress",
    .summary = "write a recording with compression",
    .usage = "timebase bag compress BAG -o OUT [--chunk-compression C | --compression-mode M] "
             "[--compression-level N]",
    .help = "Copies all messages. Chunks are compressed with zstd in MCAP and bz2 in .bag files;\n"
            "sqlite3, which has none, is compressed by files, as --compression-mode file "
            "does.\n" OUTPUT_HELP,
    .run = run,
};

const command_t command_bag_decompress = {
    .name = "bag decompress",
    .summary = "write a recording without compression",
    .usage = "timebase bag decompress BAG -o OUT",
    .help = "Copies all messages, with no compression of chunks, messages or files.\n" OUTPUT_HELP,
    .run = run,
};
