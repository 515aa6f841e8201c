#include <getopt.h>
#include <inttypes.h>

#include "bag.h"
#include "text.h"

static int reindex(const command_t *command, const char *path, const char *storage)
{
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  tb_bag_reader_t *reader = NULL;
  tb_error_t error = TB_ERROR_INIT;
  options.counts = TB_BAG_COUNTS_SUMMARY;
  command_show_log(command);
  progress_begin(command);
  progress_expect_bytes(2 * bag_size_of_path(path)); /* messages, then checksums */
  bool is_made = !tb_bag_reindex(path, storage, &error) &&
                 !tb_bag_reader_open(path, &options, &reader, &error);
  progress_end();
  if (!is_made) return bag_refused(command, &path, 1, &error);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  text_out("%s: metadata.yaml of %zu file%s, %" PRIu64 " message%s\n", path, info->file_count,
           bag_plural(info->file_count), info->message_count, bag_plural(info->message_count));
  tb_bag_reader_close(reader);
  return EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {{"storage", required_argument, NULL, 's'},
                                          PROGRESS_OPTION,
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  const char *storage = NULL;
  for (int option; (option = command_next_option(argc, argv, ":s:h", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (progress_option(option)) continue;
    if (option != 's') return command_bad_option(command, option, argv);
    if (!command_parse_storage(command, optarg, &storage)) return EXIT_USAGE;
  }
  if (optind == argc) return command_usage_error(command, "missing BAG");
  if (optind + 1 < argc)
    return command_usage_error(command, "unexpected argument '%s'", argv[optind + 1]);
  return command_finish(command, reindex(command, argv[optind], storage));
}

const command_t command_bag_reindex = {
    .name = "bag reindex",
    .summary = "make metadata.yaml again from the files of a recording",
    .usage = "timebase bag reindex BAG [-s sqlite3|mcap] [--quiet]",
    .help =
        "Writes metadata.yaml of the folder BAG from the files in it, in the order of their\n"
        "names, compressed ones too. The files are not changed; an old metadata.yaml is\n"
        "replaced, and its notes (custom_data) are kept, or those that the files have inside.\n"
        "All of the files is read, and damaged ones are refused: see 'timebase bag recover'.\n"
        "Files that were only not closed are taken.\n\n"
        "  -s, --storage S    refuse files of another format than sqlite3 or mcap\n" PROGRESS_HELP
        "  -h, --help         this text\n",
    .run = run,
};
