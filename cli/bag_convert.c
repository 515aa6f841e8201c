#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag.h"
#include "text.h"

static tb_status_t open_input(bag_copy_t *copy, const char *const *paths, size_t count,
                              tb_bag_damage_t damage, tb_error_t *error)
{
  copy->input.content = TB_BAG_CONTENT_ANY;
  copy->input.damage = damage;
  copy->input.run = count == 1;
  if (count == 1) copy->path = paths[0];
  return tb_bag_reader_open_many(paths, count, &copy->input, &copy->reader, error);
}

enum { KEEP_ROS1 = 0x100, DEFINITIONS };

/* Of convert. False: it is none of these, or *result is set. */
static bool reencode_option(bag_copy_t *copy, int option, int *result)
{
  bag_reencode_t *reencode = &copy->reencode;
  *result = EXIT_OK;
  if (option == KEEP_ROS1)
    reencode->keeps_ros1 = true;
  else if (option != DEFINITIONS)
    return false;
  else if (reencode->folder_count < BAG_REENCODE_FOLDERS_MAX)
    reencode->folders[reencode->folder_count++] = optarg;
  else
    *result = command_usage_error(copy->command, "more than %d times --definitions",
                                  BAG_REENCODE_FOLDERS_MAX);
  return true;
}

/* False: *result is set. */
static bool parse(bag_copy_t *copy, int argc, char **argv, int *result)
{
  static const struct option options[] = {
      BAG_OUTPUT_OPTIONS, {"help", no_argument, NULL, 'h'}, {0}};
  static const struct option convert_options[] = {
      BAG_OUTPUT_OPTIONS,
      {"keep-ros1", no_argument, NULL, KEEP_ROS1},
      {"definitions", required_argument, NULL, DEFINITIONS},
      {"help", no_argument, NULL, 'h'},
      {0}};
  const struct option *its_options = copy->reencode.is_on ? convert_options : options;
  for (int option; (option = command_next_option(argc, argv, ":o:s:h", its_options)) != -1;) {
    if (option == 'h') {
      *result = command_help(copy->command);
      return false;
    }
    if (!bag_output_option(copy, option, result) && !reencode_option(copy, option, result))
      *result = command_bad_option(copy->command, option, argv);
    if (*result) return false;
  }
  *result = EXIT_USAGE;
  if (optind == argc)
    command_usage_error(copy->command, "missing BAG");
  else if (!copy->output)
    command_usage_error(copy->command, "missing --output OUT");
  else
    return true;
  return false;
}

/* What was left out as it has no counterpart. */
static int report_unconverted(const bag_copy_t *copy)
{
  const bag_reencode_t *reencode = &copy->reencode;
  if (reencode->left_out + reencode->failures == 0) return EXIT_OK;
  flockfile(stderr);
  text_err("timebase bag convert: could not be converted:");
  if (reencode->left_out > 0)
    text_err(" %zu topic%s", reencode->left_out, bag_plural(reencode->left_out));
  if (reencode->failures > 0)
    text_err("%s %" PRIu64 " message%s of %stopics", reencode->left_out > 0 ? ";" : "",
             reencode->failures, bag_plural(reencode->failures),
             reencode->left_out > 0 ? "other " : "");
  text_err("\n");
  funlockfile(stderr);
  return EXIT_CHECK;
}

static int convert(const command_t *command, int argc, char **argv)
{
  bag_copy_t copy = BAG_COPY_INIT(command);
  int result = EXIT_OK;
  copy.reencode.is_on = true;
  if (!parse(&copy, argc, argv, &result)) return result;
  copy.default_storage = "mcap"; /* as record has it */
  if (copy.reencode.keeps_ros1 && strcmp(bag_output_storage(&copy), "mcap") != 0)
    return command_usage_error(command, "--keep-ros1: only MCAP has messages of ROS 1 beside those "
                                        "of ROS 2; write an .mcap");
  command_show_log(command);
  tb_error_t error = TB_ERROR_INIT;
  const char *const *paths = (const char *const *)argv + optind;
  size_t count = (size_t)(argc - optind);
  progress_begin(command);
  bag_warn_of_unlike(command, &copy.input.limits, paths, count);
  tb_status_t status = open_input(&copy, paths, count, TB_BAG_DAMAGE_REFUSE, &error);
  result = status ? bag_refused(command, paths, count, &error) : bag_copy_run(&copy, NULL);
  if (!result) result = report_unconverted(&copy);
  result = bag_copy_result(&copy, result);
  bag_copy_end(&copy);
  return command_finish(command, result);
}

/* Of what was opened to be recovered. Returns EXIT_CHECK if anything of it was lost, or is kept
 * though it may be wrong. */
static int report_lost(const bag_copy_t *copy, const char *path, bool is_unclosed)
{
  const char *damage = copy->damage;
  if (*damage && strcmp(damage, copy->failure) != 0)
    text_out("%s: damaged (%s); the part listed was lost\n", path, damage);
  else if (copy->failures > 0)
    text_out("%s: damaged; the parts listed above were lost\n", path);
  else
    text_out("%s: %s\n", path,
             is_unclosed ? "was not closed; everything in it was recovered" : "nothing was lost");
  return *damage || copy->failures > 0 ? EXIT_CHECK : EXIT_OK;
}

static int recover_opened(bag_copy_t *copy, const char *path)
{
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  bool is_unclosed = info->unclosed_count > 0;
  copy->notes_losses = copy->keeps_part = true;
  if (info->damage) snprintf(copy->damage, sizeof copy->damage, "%s", info->damage);
  int result = bag_copy_run(copy, NULL);
  if (result) return result;
  result = report_lost(copy, path, is_unclosed);
  if (result == EXIT_OK || copy->copied > 0) return result;
  text_err("timebase bag recover: %s: nothing could be read; is it a recording?\n", path);
  if (bag_copy_is_vain(copy)) bag_copy_remove(copy);
  return EXIT_IO;
}

static int recover(const command_t *command, int argc, char **argv)
{
  bag_copy_t copy = BAG_COPY_INIT(command);
  int result = EXIT_OK;
  if (!parse(&copy, argc, argv, &result)) return result;
  if (optind + 1 < argc)
    return command_usage_error(command, "unexpected argument '%s'", argv[optind + 1]);
  command_show_log(command); /* reports what is left out */
  progress_begin(command);
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status =
      open_input(&copy, (const char *const *)argv + optind, 1, TB_BAG_DAMAGE_SALVAGE, &error);
  if (status) return bag_unreadable(command, argv[optind], status, &error);
  result = recover_opened(&copy, argv[optind]);
  if (copy.is_at_limit) {
    text_err(
        "timebase bag recover: %s: not everything readable was copied to %s: raise the limit\n",
        argv[optind], copy.output);
    result = EXIT_IO;
  }
  if (copy.is_out_of_room)
    text_err("timebase bag recover: %s: not everything readable was copied to %s: free memory "
             "or descriptors, or raise their limits (ulimit)\n",
             argv[optind], copy.output);
  bag_copy_end(&copy);
  return command_finish(command, result);
}

const command_t command_bag_convert = {
    .name = "bag convert",
    .summary = "rewrite recordings, in another format or merged into one",
    .usage = "timebase bag convert BAG... -o OUT [-s sqlite3|mcap|rosbag1] [--keep-ros1] "
             "[--definitions DIR]... [--compression-mode M] [--max-bag-size BYTES] "
             "[--max-bag-duration S]",
    .help =
        "Copies every message of the recordings, in time order, byte for byte, with\n"
        "topics, QoS, message definitions and notes (custom_data); from MCAP to MCAP also\n"
        "attachments and metadata. sqlite3 stores neither of these, and no publish times. The "
        "runs\n"
        "of a recording in which time was set back stay separate. Several recordings are merged;\n"
        "where their notes have different values for one KEY, the later one becomes 'KEY (2)'.\n"
        "Recordings of different times (log times of one are system time and of the other ROS\n"
        "time, or only the stamps of one fit its log times) are merged with a warning.\n"
        "From a .bag file of ROS 1 to the other formats and back, messages are re-encoded by the\n"
        "definitions of their types, which must be the same in both but for Header.seq: it is\n"
        "dropped, and to ROS 1 counted for each publisher. Latched topics are transient local;\n"
        "MCAP keeps callerids. A topic whose type differs is left out and named, with the first\n"
        "field that does: status 1. .bag files keep no notes.\n\n"
        "  -o, --output OUT   the folder of the new recording, a .bag file in ROS 1; must not "
        "exist\n"
        "  -s, --storage S    its format: sqlite3, mcap, rosbag1 (default: by the extension of\n"
        "                     OUT, .db3, .mcap or .bag; otherwise mcap)\n"
        "  --keep-ros1        topics of ROS 1 that cannot be re-encoded stay as they are, in MCAP\n"
        "  --definitions DIR  where definitions of ROS 2 are looked for after AMENT_PREFIX_PATH, "
        "as\n"
        "                     DIR/PACKAGE/msg/NAME.msg; may be repeated\n" BAG_OUTPUT_HELP
        "  -h, --help         this text\n\n"
        "Where something could not be read, the rest is copied: status 3.\n",
    .run = convert,
};

const command_t command_bag_recover = {
    .name = "bag recover",
    .summary = "write what can be read of a damaged recording",
    .usage = "timebase bag recover BAG -o OUT [-s sqlite3|mcap|rosbag1]",
    .help =
        "Copies what can be read, even if metadata.yaml is bad, files are missing or indexes are\n"
        "damaged: everything before and after the damage; from MCAP to MCAP also attachments and\n"
        "metadata. Pages of sqlite3 are found without the pages that lead to them.\n"
        "MCAP chunks with a wrong CRC are kept, as most of their messages are right.\n"
        "Each part that was lost or is doubtful is listed, and the note 'recovered' (custom_data)\n"
        "is added to the new recording. Where nothing can be read, none is made.\n\n"
        "  -o, --output OUT   the folder of the new recording, a .bag file in ROS 1; must not "
        "exist\n"
        "  -s, --storage S    its format: sqlite3, mcap, rosbag1 (default: by the extension of\n"
        "                     OUT, .db3, .mcap or .bag; otherwise that of BAG)\n" BAG_OUTPUT_HELP
        "  -h, --help         this text\n\n"
        "Exit status: 0 nothing was lost, 1 something was, or is doubtful, 3 nothing could be\n"
        "read or written.\n",
    .run = recover,
};
