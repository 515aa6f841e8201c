#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <timebase/bag_check.h>

#include "bag.h"
#include "text.h"

static void print_finding(const char *text, void *user)
{
  (void)user;
  const char *after = text_fold(text);
  if (after) text_out("%s%s\n", text, after);
}

/* They are counted, read and verified: what that makes of the bytes was measured. */
#define TIMES_READ 3

static int check(const command_t *command, const char *path, const tb_bag_limits_t *limits)
{
  tb_bag_check_result_t result;
  tb_error_t error = TB_ERROR_INIT;
  text_fold_reset();
  progress_expect_bytes(TIMES_READ * bag_size_of_path(path));
  tb_status_t status = tb_bag_check_within(path, limits, print_finding, NULL, &result, &error);
  if (status) return command_failed(command, status, &error);
  if (result.finding_count == 0)
    text_out("%s: whole, %" PRIu64 " message%s\n", path, result.message_count,
             bag_plural(result.message_count));
  else if (result.unclosed_count == result.finding_count)
    text_out("%s: not closed; everything in it can be read: %" PRIu64 " message%s\n", path,
             result.message_count, bag_plural(result.message_count));
  else
    text_out("%s: damaged: %" PRIu64 " finding%s; %" PRIu64 " message%s could be read\n", path,
             result.finding_count, bag_plural(result.finding_count), result.message_count,
             bag_plural(result.message_count));
  return result.finding_count ? EXIT_CHECK : EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  static const struct option options[] = {
      PROGRESS_OPTION, BAG_LIMIT_OPTIONS, {"help", no_argument, NULL, 'h'}, {0}};
  tb_bag_limits_t limits = {0};
  int result = EXIT_OK;
  for (int option; (option = command_next_option(argc, argv, ":h", options)) != -1;) {
    if (option == 'h') return command_help(command);
    if (progress_option(option)) continue;
    if (!bag_limit_option(command, option, &limits, &result))
      return command_bad_option(command, option, argv);
    if (result) return result;
  }
  if (optind == argc) return command_usage_error(command, "missing BAG");
  progress_begin(command);
  for (; optind < argc && result != EXIT_IO; optind++) {
    int one = check(command, argv[optind], &limits);
    if (one != EXIT_OK) result = one;
  }
  progress_end();
  return command_finish(command, result);
}

const command_t command_bag_check = {
    .name = "bag check",
    .summary = "read everything and report what is wrong",
    .usage = "timebase bag check BAG...",
    .help =
        "Reads every byte of the recordings and prints one line for each thing that is wrong,\n"
        "of those that differ in numbers alone the first five:\n"
        "what cannot be read, wrong checksums, tables that contradict each other, times out of\n"
        "order, and a metadata.yaml that contradicts the files.\n\n" PROGRESS_HELP BAG_LIMIT_HELP
        "  -h, --help         this text\n\n"
        "Exit status: 0 whole, 1 damaged or not closed, 2 wrong usage, 3 the check could\n"
        "not be done.\n",
    .run = run,
};
