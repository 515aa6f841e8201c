#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bag_part.h"
#include "text.h"

#define SMALL_S 100000000 /* times of real recordings are later */

enum {
  OPTION_START = 256,
  OPTION_END,
  OPTION_DURATION,
  OPTION_RUN,
  OPTION_LATCHED,
  OPTION_NO_LATCHED,
  OPTION_OFFSET,
  OPTION_OUTPUTS,
  OPTION_RENAME,
};

/* As in ros2 bag: a storage may follow, which the files show themselves. */
static void take_input(bag_part_t *part, int argc, char **argv)
{
  static const char *const storages[] = {"sqlite3", "mcap", "rosbag1", NULL};
  part->inputs.items[part->inputs.count++] = optarg;
  for (int i = 0; storages[i] && optind < argc; i++)
    if (strcmp(argv[optind], storages[i]) == 0) {
      optind++;
      return;
    }
}

static int parse_option(bag_part_t *part, int option, int argc, char **argv)
{
  const command_t *command = part->copy.command;
  int result;
  switch (option) {
  case OPTION_START:
  case OPTION_OFFSET:
    part->start = optarg;
    part->is_offset = option == OPTION_OFFSET;
    return EXIT_OK;
  case OPTION_END:
    part->end = optarg;
    return EXIT_OK;
  case OPTION_DURATION:
    part->duration = optarg;
    return EXIT_OK;
  case OPTION_LATCHED:
  case OPTION_NO_LATCHED:
    part->keeps_latched = option == OPTION_LATCHED;
    return EXIT_OK;
  case OPTION_RUN:
    return command_parse_int(command, "--run", optarg, 1, INT_MAX, &part->run) ? EXIT_OK
                                                                               : EXIT_USAGE;
  case OPTION_RENAME:
    words_take(&part->copy.renames, argc, argv);
    return EXIT_OK;
  case OPTION_OUTPUTS:
    part->output_options = optarg;
    return EXIT_OK;
  case 'i':
    take_input(part, argc, argv);
    return EXIT_OK;
  case 1:
    part->inputs.items[part->inputs.count++] = optarg;
    return EXIT_OK;
  default:
    if (bag_select_option(&part->select, command, option, argc, argv, &result)) return result;
    if (bag_output_option(&part->copy, option, &result)) return result;
    if (bag_convert_option(&part->copy, option, &result)) return result;
    return command_bad_option(command, option, argv);
  }
}

#define PART_OPTIONS                                                                               \
  BAG_OUTPUT_OPTIONS, BAG_SELECT_OPTIONS, {"start", required_argument, NULL, OPTION_START},        \
      {"start-offset", required_argument, NULL, OPTION_OFFSET},                                    \
      {"end", required_argument, NULL, OPTION_END},                                                \
      {"duration", required_argument, NULL, OPTION_DURATION},                                      \
      {"playback-duration", required_argument, NULL, OPTION_DURATION},                             \
      {"latched", no_argument, NULL, OPTION_LATCHED},                                              \
      {"no-latched", no_argument, NULL, OPTION_NO_LATCHED},                                        \
      {"run", required_argument, NULL, OPTION_RUN},                                                \
      {"rename", required_argument, NULL, OPTION_RENAME},                                          \
  {                                                                                                \
    "help", no_argument, NULL, 'h'                                                                 \
  }

static bool is_convert(const bag_part_t *part)
{
  return part->copy.command == &command_bag_convert;
}

static int parse(bag_part_t *part, int argc, char **argv)
{
  static const struct option part_options[] = {PART_OPTIONS, {0}};
  static const struct option convert_options[] = {
      PART_OPTIONS,
      {"input", required_argument, NULL, 'i'},
      {"output-options", required_argument, NULL, OPTION_OUTPUTS},
      {"keep-ros1", no_argument, NULL, BAG_CONVERT_KEEP_ROS1},
      {"definitions", required_argument, NULL, BAG_CONVERT_DEFINITIONS},
      {0}};
  const struct option *options = is_convert(part) ? convert_options : part_options;
  const char *shorts =
      is_convert(part) ? "-:o:s:i:" BAG_SELECT_SHORTS "h" : "-:o:s:" BAG_SELECT_SHORTS "h";
  int option, result = EXIT_OK;
  while (!result && (option = command_next_option(argc, argv, shorts, options)) != -1) {
    if (option == 'h') {
      part->help = true;
      return EXIT_OK;
    }
    result = parse_option(part, option, argc, argv);
  }
  while (!result && optind < argc)
    part->inputs.items[part->inputs.count++] = argv[optind++];
  return result;
}

/* From the start of another list of arguments. */
static int parse_more(bag_part_t *part, char *name, const words_t *more)
{
  char **argv = calloc(more->count + 2, sizeof *argv);
  if (!argv) return command_failed(part->copy.command, TB_ERR_NO_MEMORY, NULL);
  argv[0] = name;
  memcpy(argv + 1, more->items, more->count * sizeof *argv);
  optind = 0;
  int result = parse(part, (int)more->count + 1, argv);
  free(argv);
  return result;
}

int bag_part_begin(bag_part_t *part, int argc, char **argv, const words_t *more)
{
  const command_t *command = part->copy.command;
  int words = argc + (more ? (int)more->count : 0);
  part->inputs.items = calloc((size_t)argc + 1, sizeof *part->inputs.items);
  part->copy.renames.items = calloc((size_t)words + 1, sizeof *part->copy.renames.items);
  if (!part->inputs.items || !part->copy.renames.items)
    return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  part->copy.may_be_file = !more; /* `ros2 bag convert` makes folders of the outputs in a YAML */
  if (!bag_select_begin(&part->select, command, words)) return EXIT_IO;
  if (is_convert(part)) {
    part->copy.reencode.is_on = true;
    part->copy.default_storage = "mcap"; /* as record has it */
  }
  optind = 0;
  int result = parse(part, argc, argv);
  return result || part->help || !more ? result : parse_more(part, argv[0], more);
}

void bag_part_end(bag_part_t *part)
{
  bag_copy_end(&part->copy);
  bag_select_end(&part->select);
  free(part->inputs.items);
  free(part->copy.renames.items);
}

static int check(const bag_part_t *part)
{
  const command_t *command = part->copy.command;
  if (part->inputs.count == 0) return command_usage_error(command, "missing BAG");
  if (command == &command_bag_merge && part->inputs.count < 2)
    return command_usage_error(command, "missing another BAG: there is nothing to merge");
  if (!part->copy.output) return command_usage_error(command, "missing --output OUT");
  if (part->end && part->duration)
    return command_usage_error(command, "--end and --duration exclude each other");
  if (part->run > 0 && part->inputs.count > 1)
    return command_usage_error(command, "--run: of one recording only");
  if (part->copy.reencode.keeps_ros1 && strcmp(bag_output_storage(&part->copy), "mcap") != 0)
    return command_usage_error(command, "--keep-ros1: only MCAP has messages of ROS 1 beside those "
                                        "of ROS 2; write an .mcap");
  return EXIT_OK;
}

/* A time, or "+S" after the start of the recording. */
static bool parse_time(const bag_part_t *part, const char *name, const char *text, int64_t *out)
{
  tb_duration_t offset;
  bool is_offset = *text == '+' || (part->is_offset && text == part->start);
  if (!is_offset && command_take_time(text, out)) return true;
  if (!is_offset || tb_duration_parse(text + (*text == '+'), &offset)) {
    command_usage_error(part->copy.command,
                        "%s %s: not a time; write seconds since 1970, 2023-11-14T22:13:20Z, or "
                        "+1.5s for that long after the start of the recording",
                        name, text);
    return false;
  }
  int64_t start_ns = tb_bag_reader_info(part->copy.reader)->start_ns;
  if (!__builtin_add_overflow(start_ns, offset.ns, out)) return true;
  command_usage_error(part->copy.command, "%s %s: out of range", name, text);
  return false;
}

static bool parse_bounds(bag_part_t *part)
{
  bag_copy_t *copy = &part->copy;
  tb_duration_t duration = {0};
  const char *start = part->is_offset ? "--start-offset" : "--start";
  if (part->start && !parse_time(part, start, part->start, &copy->start_ns)) return false;
  if (part->end && !parse_time(part, "--end", part->end, &copy->end_ns)) return false;
  if (!part->duration) return true;
  if (!command_parse_limit(copy->command, "--duration", part->duration, &duration)) return false;
  int64_t from_ns = part->start ? copy->start_ns : tb_bag_reader_info(copy->reader)->start_ns;
  if (__builtin_add_overflow(from_ns, duration.ns, &copy->end_ns)) copy->end_ns = INT64_MAX;
  return true;
}

/* A small number is a time of 1970; whoever writes one may mean another. */
static void warn_of_small_start(const bag_part_t *part, const tb_bag_info_t *info)
{
  const int64_t small_ns = SMALL_S * TB_NS_PER_S;
  bool is_time = part->start && *part->start != '+' && !part->is_offset;
  int64_t start_ns = part->copy.start_ns;
  if (!is_time || start_ns <= 0 || start_ns >= small_ns || info->start_ns < small_ns) return;
  command_begin_warning(part->copy.command);
  text_err("--start %s is a time of 1970, before the recording; write +%s for so long after its "
           "start\n",
           part->start, part->start);
}

/* A part that lies outside of the recording is a slip: no empty recording is made of it. */
static bool parse_times(bag_part_t *part)
{
  const bag_copy_t *copy = &part->copy;
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  if (!parse_bounds(part)) return false;
  warn_of_small_start(part, info);
  if (copy->start_ns >= copy->end_ns)
    command_usage_error(copy->command, "nothing to cut: --end must be after --start");
  else if (info->message_count > 0 &&
           (copy->start_ns > info->end_ns ||
            (copy->end_ns <= info->start_ns && copy->end_ns != INT64_MAX)))
    command_usage_error(copy->command,
                        "nothing to cut: %s lasts from %" PRId64 ".%09" PRId64 " s to %" PRId64
                        ".%09" PRId64 " s",
                        info->path, info->start_ns / TB_NS_PER_S, info->start_ns % TB_NS_PER_S,
                        info->end_ns / TB_NS_PER_S, info->end_ns % TB_NS_PER_S);
  else
    return true;
  return false;
}

/* Of one recording of which neither a run nor a time was requested, all runs are written. */
static int open_bags(bag_part_t *part)
{
  bag_copy_t *copy = &part->copy;
  bool has_time = part->start || part->end || part->duration;
  copy->input.content = TB_BAG_CONTENT_ANY;
  copy->input.run = (size_t)part->run;
  copy->input.read_ahead_size = BAG_READ_AHEAD;
  if (copy->command != &command_bag_cut && part->inputs.count == 1 && !has_time && !part->run) {
    copy->path = part->inputs.items[0];
    copy->input.run = 1;
  }
  if (part->keeps_latched) {
    copy->latched_paths = part->inputs.items;
    copy->latched_path_count = part->inputs.count;
  }
  return bag_open_run(copy->command, part->inputs.items, part->inputs.count, &copy->input,
                      &copy->reader);
}

/* The recordings are opened, and the topics in *wanted chosen, which is to be freed. */
static int prepare(bag_part_t *part, bool **wanted)
{
  bag_copy_t *copy = &part->copy;
  const char *const *paths = part->inputs.items;
  size_t count = part->inputs.count;
  int result = open_bags(part);
  if (result) return result;
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  result = bag_select_topics(&part->select, copy->command, info, wanted);
  if (!result) result = bag_rename_check(&copy->renames, copy->command, info, *wanted);
  if (!result && count > 1)
    result = bag_check_definitions(copy->command, info, *wanted, &copy->input, paths, count);
  if (!result && !parse_times(part)) result = EXIT_USAGE;
  return result;
}

int bag_part_check(bag_part_t *part)
{
  bool *wanted = NULL;
  int result = check(part);
  if (result) return result;
  command_show_log(part->copy.command);
  result = prepare(part, &wanted);
  if (!result) result = bag_copy_check(&part->copy, wanted);
  free(wanted);
  return result;
}

int bag_part_write(bag_part_t *part)
{
  bag_copy_t *copy = &part->copy;
  bool *wanted = NULL;
  int result = check(part);
  if (result) return result;
  command_show_log(copy->command);
  progress_begin(copy->command);
  if (part->inputs.count > 1)
    bag_warn_of_unlike(copy->command, &copy->input.limits, part->inputs.items, part->inputs.count);
  result = prepare(part, &wanted);
  if (result) {
    free(wanted);
    return result;
  }
  if (copy->start_ns > 0) tb_bag_reader_seek(copy->reader, copy->start_ns);
  result = bag_convert_result(copy, bag_copy_run(copy, wanted));
  free(wanted);
  return bag_copy_result(copy, result);
}
