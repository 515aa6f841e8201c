#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bag_part.h"
#include "contract/output_options.h"
#include "text.h"

bool bag_convert_option(bag_copy_t *copy, int option, int *result)
{
  bag_reencode_t *reencode = &copy->reencode;
  *result = EXIT_OK;
  if (option == BAG_CONVERT_KEEP_ROS1)
    reencode->keeps_ros1 = true;
  else if (option != BAG_CONVERT_DEFINITIONS)
    return false;
  else if (reencode->folder_count < BAG_REENCODE_FOLDERS_MAX)
    reencode->folders[reencode->folder_count++] = optarg;
  else
    *result = command_usage_error(copy->command, "more than %d times --definitions",
                                  BAG_REENCODE_FOLDERS_MAX);
  return true;
}

int bag_convert_result(const bag_copy_t *copy, int result)
{
  const bag_reencode_t *reencode = &copy->reencode;
  if (result || reencode->left_out + reencode->failures == 0) return result;
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

static bool is_yaml_name(const char *name)
{
  size_t length = strlen(name);
  return (length > 5 && strcmp(name + length - 5, ".yaml") == 0) ||
         (length > 4 && strcmp(name + length - 4, ".yml") == 0);
}

/* As in `ros2 bag convert`, -o names a file of outputs, or here also a recording to write. */
static const char *outputs_of(const bag_part_t *part)
{
  const char *output = part->copy.output;
  struct stat there;
  if (part->output_options) return part->output_options;
  if (!output || !is_yaml_name(output)) return NULL;
  return stat(output, &there) == 0 && S_ISREG(there.st_mode) ? output : NULL;
}

/* A recording is not named like a file of outputs: the name is a slip. */
static int check_is_there(const bag_part_t *part)
{
  const char *output = part->copy.output;
  struct stat there;
  if (part->output_options || !output || !is_yaml_name(output) || stat(output, &there) == 0)
    return EXIT_OK;
  text_err("timebase %s: %s: %m; -o OUT.yaml names a file that lists outputs, which must exist\n",
           part->copy.command->name, output);
  return EXIT_IO;
}

/* One output: checked, and its place found, or without `place` written. */
static int convert_one(const command_t *command, const tb__output_words_t *output, char **place,
                       int argc, char **argv)
{
  bag_part_t part = BAG_PART_INIT(command);
  const words_t words = {(const char **)output->items, output->count};
  int result = bag_part_begin(&part, argc, argv, &words);
  if (!result) result = place ? bag_part_check(&part) : bag_part_write(&part);
  if (!result && place) {
    *place = bag_copy_place(&part.copy);
    if (!*place) result = command_failed(command, TB_ERR_NO_MEMORY, NULL);
  }
  bag_part_end(&part);
  return result;
}

/* What is wrong with a later one is found before the first is written. */
static int check_all(const command_t *command, const char *path,
                     const tb__output_options_t *outputs, int argc, char **argv)
{
  char **places = calloc(outputs->count + 1, sizeof *places);
  int result = EXIT_OK;
  if (!places) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; i < outputs->count && !result; i++) {
    result = convert_one(command, &outputs->outputs[i], &places[i], argc, argv);
    for (size_t before = 0; before < i && !result; before++)
      if (strcmp(places[before], places[i]) == 0)
        result = command_usage_error(command, "%s: two outputs would be %s", path, places[i]);
  }
  for (size_t i = 0; i < outputs->count; i++)
    free(places[i]);
  free(places);
  return result;
}

/* Also after one of which something could not be copied; not after a signal. The worst status. */
static int write_all(const command_t *command, const tb__output_options_t *outputs, int argc,
                     char **argv)
{
  int worst = EXIT_OK;
  for (size_t i = 0; i < outputs->count && !*command_catch_signals(); i++) {
    int result = convert_one(command, &outputs->outputs[i], NULL, argc, argv);
    if (result > worst) worst = result;
  }
  return worst;
}

/* One after another, each from the recordings again. */
static int convert_all(const command_t *command, const char *path, int argc, char **argv)
{
  tb__output_options_t outputs = {0};
  tb_error_t error = TB_ERROR_INIT;
  int result = EXIT_OK;
  if (tb__output_options_load(path, &outputs, &error))
    return error.status == TB_ERR_CORRUPT ? command_usage_error(command, "%s", error.text)
                                          : command_failed(command, error.status, &error);
  result = check_all(command, path, &outputs, argc, argv);
  if (!result) result = write_all(command, &outputs, argc, argv);
  tb__output_options_fini(&outputs);
  return result;
}

/* What the file says for each output must not be given for all of them. */
static int check_outputs(const bag_part_t *part)
{
  const command_t *command = part->copy.command;
  if (part->output_options && part->copy.output)
    return command_usage_error(command,
                               "--output-options and --output exclude each other: %s names the "
                               "outputs",
                               part->output_options);
  if (bag_select_is_given(&part->select))
    return command_usage_error(command,
                               "%s chooses the topics of each output: write topics, regex and "
                               "exclude there, and leave out -e, -x, --topics and so on",
                               outputs_of(part));
  return EXIT_OK;
}

static int convert(const command_t *command, int argc, char **argv)
{
  bag_part_t part = BAG_PART_INIT(command);
  int result = bag_part_begin(&part, argc, argv, NULL);
  const char *outputs = outputs_of(&part);
  bool help = part.help;
  if (!result && !help) result = check_is_there(&part);
  if (!result && !help && outputs) result = check_outputs(&part);
  if (!result && !help)
    result = outputs ? convert_all(command, outputs, argc, argv) : bag_part_write(&part);
  bag_part_end(&part);
  return help ? command_help(command) : command_finish(command, result);
}

const command_t command_bag_convert = {
    .name = "bag convert",
    .summary = "rewrite recordings, in another format or merged into one",
    .usage = "timebase bag convert BAG... -o OUT [-s sqlite3|mcap|rosbag1] [-e E] [-x E] "
             "[--keep-ros1] [--compression-mode M] [--max-bag-size BYTES] | -i BAG... -o YAML",
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
        "As in ros2 bag, recordings may be named with -i, and -o may be a file OUT.yaml, which "
        "must\n"
        "exist, that lists several outputs below 'output_bags', each with uri, storage_id, "
        "topics,\n"
        "regex and so on; other options hold for all of them, but topics are chosen there\n"
        "only (no -e, -x, --topics). Topics, times and places of all outputs are checked before\n"
        "the first is written, and one that fails does not end the others. With --latched,\n"
        "parts that begin at --start have the latched messages from before it.\n\n"
        "  -i, --input BAG [S]\n"
        "                     a recording; the format S is told from its files\n"
        "  --output-options YAML\n"
        "                     the same as -o OUT.yaml\n"
        "  --rename A:=B...   topic A is written as B\n"
        "  -o, --output OUT   the new recording: a folder, or of the name OUT.mcap, OUT.db3 or "
        "OUT.bag\n"
        "                     a file (unless it may become several); must not exist\n"
        "  -s, --storage S    its format: sqlite3, mcap, rosbag1 (default: by the extension of\n"
        "                     OUT, .db3, .mcap or .bag; otherwise mcap)\n"
        "  --keep-ros1        topics of ROS 1 that cannot be re-encoded stay as they are, in MCAP\n"
        "  --definitions DIR  where definitions of ROS 2 are looked for after AMENT_PREFIX_PATH, "
        "as\n"
        "                     DIR/PACKAGE/msg/NAME.msg; may be repeated\n"
        "  --start T, --end T, --duration S, --run N\n"
        "                     a part, as cut has it\n"
        "  --latched          with latched messages from before --start, as cut has "
        "them\n" BAG_SELECT_HELP BAG_OUTPUT_HELP "  -h, --help         this text\n\n"
        "Where something could not be read, the rest is copied: status 3.\n",
    .run = convert,
};
