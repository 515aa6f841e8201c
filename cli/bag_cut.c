#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bag.h"
#include "bag_select.h"
#include "text.h"

/* cut, filter and merge: parts of recordings. They differ in what they do if nothing is requested.
 */

enum {
  OPTION_START = 256,
  OPTION_END,
  OPTION_DURATION,
  OPTION_RUN,
  OPTION_LATCHED,
  OPTION_NO_LATCHED,
  OPTION_OFFSET
};

typedef struct cut {
  bag_copy_t copy;
  bag_words_t inputs;
  bag_select_t select;
  int run;                            /* 0: not given */
  const char *start, *end, *duration; /* as given, or NULL */
  bool is_offset;                     /* `start` is a duration */
  bool keeps_latched;
} cut_t;

static int parse_option(cut_t *cut, int option, int argc, char **argv)
{
  const command_t *command = cut->copy.command;
  int result;
  switch (option) {
  case OPTION_START:
  case OPTION_OFFSET:
    cut->start = optarg;
    cut->is_offset = option == OPTION_OFFSET;
    return EXIT_OK;
  case OPTION_END:
    cut->end = optarg;
    return EXIT_OK;
  case OPTION_DURATION:
    cut->duration = optarg;
    return EXIT_OK;
  case OPTION_LATCHED:
  case OPTION_NO_LATCHED:
    cut->keeps_latched = option == OPTION_LATCHED;
    return EXIT_OK;
  case OPTION_RUN:
    return command_parse_int(command, "--run", optarg, 1, INT_MAX, &cut->run) ? EXIT_OK
                                                                              : EXIT_USAGE;
  case 1:
    cut->inputs.items[cut->inputs.count++] = optarg;
    return EXIT_OK;
  default:
    if (bag_select_option(&cut->select, command, option, argc, argv, &result)) return result;
    if (bag_output_option(&cut->copy, option, &result)) return result;
    return command_bad_option(command, option, argv);
  }
}

static int parse(cut_t *cut, int argc, char **argv, bool *help)
{
  static const struct option options[] = {
      BAG_OUTPUT_OPTIONS,
      BAG_SELECT_OPTIONS,
      {"start", required_argument, NULL, OPTION_START},
      {"start-offset", required_argument, NULL, OPTION_OFFSET},
      {"end", required_argument, NULL, OPTION_END},
      {"duration", required_argument, NULL, OPTION_DURATION},
      {"playback-duration", required_argument, NULL, OPTION_DURATION},
      {"latched", no_argument, NULL, OPTION_LATCHED},
      {"no-latched", no_argument, NULL, OPTION_NO_LATCHED},
      {"run", required_argument, NULL, OPTION_RUN},
      {"help", no_argument, NULL, 'h'},
      {0}};
  const command_t *command = cut->copy.command;
  int option, result = EXIT_OK;
  while (!result && (option = command_next_option(argc, argv, "-:o:s:" BAG_SELECT_SHORTS "h",
                                                  options)) != -1) {
    if (option == 'h') {
      *help = true;
      return EXIT_OK;
    }
    result = parse_option(cut, option, argc, argv);
  }
  if (result) return result;
  while (optind < argc)
    cut->inputs.items[cut->inputs.count++] = argv[optind++];
  if (cut->inputs.count == 0) return command_usage_error(command, "missing BAG");
  if (command == &command_bag_merge && cut->inputs.count < 2)
    return command_usage_error(command, "missing another BAG: there is nothing to merge");
  if (!cut->copy.output) return command_usage_error(command, "missing --output OUT");
  if (cut->end && cut->duration)
    return command_usage_error(command, "--end and --duration exclude each other");
  if (cut->run > 0 && cut->inputs.count > 1)
    return command_usage_error(command, "--run: of one recording only");
  return EXIT_OK;
}

/* A time, or "+S" after the start of the recording. */
static bool parse_time(const cut_t *cut, const char *name, const char *text, int64_t *out)
{
  tb_duration_t offset;
  bool is_offset = *text == '+' || (cut->is_offset && text == cut->start);
  if (!is_offset && command_take_time(text, out)) return true;
  if (!is_offset || tb_duration_parse(text + (*text == '+'), &offset)) {
    command_usage_error(cut->copy.command,
                        "%s %s: not a time; write seconds since 1970, 2023-11-14T22:13:20Z, or "
                        "+1.5s for that long after the start of the recording",
                        name, text);
    return false;
  }
  int64_t start_ns = tb_bag_reader_info(cut->copy.reader)->start_ns;
  if (!__builtin_add_overflow(start_ns, offset.ns, out)) return true;
  command_usage_error(cut->copy.command, "%s %s: out of range", name, text);
  return false;
}

static bool parse_bounds(cut_t *cut)
{
  bag_copy_t *copy = &cut->copy;
  tb_duration_t duration = {0};
  const char *start = cut->is_offset ? "--start-offset" : "--start";
  if (cut->start && !parse_time(cut, start, cut->start, &copy->start_ns)) return false;
  if (cut->end && !parse_time(cut, "--end", cut->end, &copy->end_ns)) return false;
  if (!cut->duration) return true;
  if (!command_parse_duration(copy->command, "--duration", cut->duration, &duration)) return false;
  int64_t from_ns = cut->start ? copy->start_ns : tb_bag_reader_info(copy->reader)->start_ns;
  if (__builtin_add_overflow(from_ns, duration.ns, &copy->end_ns)) copy->end_ns = INT64_MAX;
  return true;
}

/* A part that lies outside of the recording is a slip: no empty recording is made of it. */
static bool parse_times(cut_t *cut)
{
  const bag_copy_t *copy = &cut->copy;
  const tb_bag_info_t *info = tb_bag_reader_info(copy->reader);
  if (!parse_bounds(cut)) return false;
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

/* Of one recording of which neither a run nor a time was requested, all runs are filtered. */
static int open_bags(cut_t *cut)
{
  bag_copy_t *copy = &cut->copy;
  bool has_time = cut->start || cut->end || cut->duration;
  copy->input.content = TB_BAG_CONTENT_ANY;
  copy->input.run = (size_t)cut->run;
  if (copy->command == &command_bag_filter && cut->inputs.count == 1 && !has_time && !cut->run) {
    copy->path = cut->inputs.items[0];
    copy->input.run = 1;
  }
  if (cut->keeps_latched) {
    copy->latched_paths = cut->inputs.items;
    copy->latched_path_count = cut->inputs.count;
  }
  return bag_open_run(copy->command, cut->inputs.items, cut->inputs.count, &copy->input,
                      &copy->reader);
}

static int cut_bags(cut_t *cut)
{
  bag_copy_t *copy = &cut->copy;
  bool *wanted = NULL;
  int result = open_bags(cut);
  if (!result && cut->inputs.count > 1)
    result = bag_check_definitions(copy->command, tb_bag_reader_info(copy->reader), &copy->input,
                                   cut->inputs.items, cut->inputs.count);
  if (!result && !parse_times(cut)) result = EXIT_USAGE;
  if (!result)
    result =
        bag_select_topics(&cut->select, copy->command, tb_bag_reader_info(copy->reader), &wanted);
  if (result) return result;
  if (copy->start_ns > 0) tb_bag_reader_seek(copy->reader, copy->start_ns);
  result = bag_copy_result(copy, bag_copy_run(copy, wanted));
  free(wanted);
  return result;
}

static int run(const command_t *command, int argc, char **argv)
{
  cut_t cut = {.copy = BAG_COPY_INIT(command), .keeps_latched = command == &command_bag_cut};
  bool help = false;
  int result = EXIT_IO;
  cut.inputs.items = calloc((size_t)argc + 1, sizeof *cut.inputs.items);
  if (!cut.inputs.items) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  if (bag_select_begin(&cut.select, command, argc)) result = parse(&cut, argc, argv, &help);
  if (!result && !help) {
    command_show_log(command);
    progress_begin(command);
    if (cut.inputs.count > 1)
      bag_warn_of_unlike(command, &cut.copy.input.limits, cut.inputs.items, cut.inputs.count);
    result = cut_bags(&cut);
    bag_copy_end(&cut.copy);
  }
  bag_select_end(&cut.select);
  free(cut.inputs.items);
  return help ? command_help(command) : command_finish(command, result);
}

#define TIME_HELP                                                                                  \
  "  --start T          from T on (default: all); --start-offset S is +S\n"                        \
  "  --end T            up to but not including T\n"                                               \
  "  --duration S       the end, counted from the start; also --playback-duration\n"
#define OUTPUT_HELP                                                                                \
  "  -o, --output OUT   the folder of the new recording, a .bag file in ROS 1; must not exist\n"   \
  "  -s, --storage S    its format: sqlite3, mcap, rosbag1 (default: by the extension of\n"        \
  "                     OUT, .db3, .mcap or .bag; otherwise that of BAG, mcap if they "            \
  "differ)\n" BAG_OUTPUT_HELP "  -h, --help         this text\n\n"
#define END_HELP                                                                                   \
  "T is seconds since 1970, 2023-11-14T22:13:20Z, or +S for S after the start of the\n"            \
  "recording. Where something could not be read, the rest is copied: status 3.\n"
#define LATCHED_TEXT                                                                               \
  "have, of topics that are transient local (/tf_static), the messages from before it\n"           \
  "that a late subscription would get: as many as the publishers kept, of bags of ROS 1\n"         \
  "the last one of each publisher. They get the start as log time and keep their publish\n"        \
  "time (of sqlite3, which has none, their log time).\n"

const command_t command_bag_cut = {
    .name = "bag cut",
    .summary = "write a part of recordings: a time range, some of their topics",
    .usage = "timebase bag cut BAG... -o OUT [--start T] [--end T | --duration S] [--topics T...] "
             "[-e E] [-x E]",
    .help =
        "Copies the messages with log times from --start on and before --end, byte for byte; from\n"
        "MCAP to MCAP also attachments of that time, and all metadata. Several recordings are\n"
        "merged by time. What begins at --start will\n" LATCHED_TEXT "\n" TIME_HELP BAG_SELECT_HELP
        "  --no-latched       no messages from before --start\n"
        "  --run N            which run, of a recording in which time was set back\n" OUTPUT_HELP
            END_HELP,
    .run = run,
};

const command_t command_bag_filter = {
    .name = "bag filter",
    .summary = "write some topics of recordings, by name, type or expression",
    .usage = "timebase bag filter BAG... -o OUT [-e E] [-x E] [--topics T...] [--topic-types T...] "
             "[--start T] [--end T]",
    .help =
        "Copies the messages of the topics that are chosen, byte for byte; from MCAP to MCAP also\n"
        "attachments and metadata. All runs of a recording in which time was set back are\n"
        "filtered, unless a run or a time is given. With --latched, parts that begin at "
        "--start\n" LATCHED_TEXT "\n" BAG_SELECT_HELP TIME_HELP
        "  --latched          with latched messages from before --start, as cut has them\n"
        "  --run N            which run, of a recording in which time was set back\n" OUTPUT_HELP
            END_HELP,
    .run = run,
};

const command_t command_bag_merge = {
    .name = "bag merge",
    .summary = "merge recordings into one, by time",
    .usage = "timebase bag merge BAG BAG... -o OUT [-e E] [-x E] [--start T] [--end T]",
    .help =
        "Copies the messages of all recordings in the order of their log times, byte for byte;\n"
        "equal times keep the order of the recordings. A topic that has another type in a later\n"
        "recording gets a number (/a_2), which is reported; one whose definition or hash differs\n"
        "under one type is refused by name. Notes that differ are all kept. Recordings of\n"
        "different times (system time and ROS time) are merged with a warning.\n\n" BAG_SELECT_HELP
            TIME_HELP "  --latched          with latched messages from before --start, as cut has "
        "them\n" OUTPUT_HELP END_HELP,
    .run = run,
};
