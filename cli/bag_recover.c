#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag.h"
#include "text.h"

/* False: *result is set. */
static bool parse(bag_copy_t *copy, int argc, char **argv, int *result)
{
  static const struct option options[] = {
      BAG_OUTPUT_OPTIONS, {"help", no_argument, NULL, 'h'}, {0}};
  for (int option; (option = command_next_option(argc, argv, ":o:s:h", options)) != -1;) {
    if (option == 'h') {
      *result = command_help(copy->command);
      return false;
    }
    if (!bag_output_option(copy, option, result))
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

/* Of what was opened to be recovered. Returns EXIT_CHECK if anything of it was lost, or is kept
 * though it may be wrong. */
static int report_lost(const bag_copy_t *copy, const char *path, bool is_unclosed)
{
  const char *damage = copy->damage;
  bool is_vain = bag_copy_is_vain(copy);
  if (*damage && strcmp(damage, copy->failure) != 0)
    text_out("%s: damaged (%s); %s\n", path, damage,
             is_vain ? "nothing could be read" : "what can be read was copied");
  else if (copy->failures > 0 && is_vain)
    text_out("%s: damaged; nothing could be read\n", path);
  else if (copy->failures > 5) /* not all are listed */
    text_out("%s: damaged; %" PRIu64 " parts like those listed above were lost\n", path,
             copy->failures);
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
  copy.path = argv[optind];
  copy.input.content = TB_BAG_CONTENT_ANY;
  copy.input.damage = TB_BAG_DAMAGE_SALVAGE;
  copy.input.run = 1;
  copy.input.read_ahead_size = BAG_READ_AHEAD;
  tb_status_t status = tb_bag_reader_open(copy.path, &copy.input, &copy.reader, &error);
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

const command_t command_bag_recover = {
    .name = "bag recover",
    .summary = "write what can be read of a damaged recording",
    .usage = "timebase bag recover BAG -o OUT [-s sqlite3|mcap|rosbag1]",
    .help =
        "Copies what can be read, even if metadata.yaml is bad, files are missing or indexes are\n"
        "damaged: everything before and after the damage; from MCAP to MCAP also attachments and\n"
        "metadata. Pages of sqlite3 are found without the pages that lead to them.\n"
        "MCAP chunks with a wrong CRC are kept, as most of their messages are right.\n"
        "Parts that were lost or are doubtful are listed, the first five of each kind, and the\n"
        "note 'recovered' (custom_data) is added to the new recording. Where nothing can be\n"
        "read, none is made.\n\n"
        "  -o, --output OUT   the folder of the new recording, a .bag file in ROS 1; must not "
        "exist\n"
        "  -s, --storage S    its format: sqlite3, mcap, rosbag1 (default: by the extension of\n"
        "                     OUT, .db3, .mcap or .bag; otherwise that of BAG)\n" BAG_OUTPUT_HELP
        "  -h, --help         this text\n\n"
        "Exit status: 0 nothing was lost, 1 something was, or is doubtful, 3 nothing could be\n"
        "read or written.\n",
    .run = recover,
};
