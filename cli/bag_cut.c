#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bag.h"
#include "text.h"

enum { OPTION_START = 256, OPTION_END, OPTION_DURATION, OPTION_TOPICS, OPTION_RUN };

typedef struct cut {
  bag_copy_t copy;
  const char *input;
  int run;                            /* 0: not given */
  const char *start, *end, *duration; /* as given, or NULL */
  char **topics;
  size_t topic_count;
} cut_t;

static int parse_option(cut_t *cut, int option, int argc, char **argv)
{
  int result;
  switch (option) {
  case OPTION_START:
    cut->start = optarg;
    return EXIT_OK;
  case OPTION_END:
    cut->end = optarg;
    return EXIT_OK;
  case OPTION_DURATION:
    cut->duration = optarg;
    return EXIT_OK;
  case OPTION_TOPICS:
    cut->topics[cut->topic_count++] = optarg;
    while (optind < argc && argv[optind][0] != '-')
      cut->topics[cut->topic_count++] = argv[optind++];
    return EXIT_OK;
  case OPTION_RUN:
    return command_parse_int(cut->copy.command, "--run", optarg, 1, INT_MAX, &cut->run)
               ? EXIT_OK
               : EXIT_USAGE;
  case 1:
    if (cut->input)
      return command_usage_error(cut->copy.command, "unexpected argument '%s'", optarg);
    cut->input = optarg;
    return EXIT_OK;
  default:
    if (bag_output_option(&cut->copy, option, &result)) return result;
    return command_bad_option(cut->copy.command, option, argv);
  }
}

static int parse(cut_t *cut, int argc, char **argv, bool *help)
{
  static const struct option options[] = {BAG_OUTPUT_OPTIONS,
                                          {"start", required_argument, NULL, OPTION_START},
                                          {"end", required_argument, NULL, OPTION_END},
                                          {"duration", required_argument, NULL, OPTION_DURATION},
                                          {"topics", required_argument, NULL, OPTION_TOPICS},
                                          {"run", required_argument, NULL, OPTION_RUN},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
  const command_t *command = cut->copy.command;
  int option, result = EXIT_OK;
  while (!result && (option = command_next_option(argc, argv, "-:o:s:h", options)) != -1) {
    if (option == 'h') {
      *help = true;
      return EXIT_OK;
    }
    result = parse_option(cut, option, argc, argv);
  }
  if (!result && !cut->input && optind < argc) cut->input = argv[optind++];
  if (result) return result;
  if (optind < argc) return command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  if (!cut->input) return command_usage_error(command, "missing BAG");
  if (!cut->copy.output) return command_usage_error(command, "missing --output OUT");
  if (cut->end && cut->duration)
    return command_usage_error(command, "--end and --duration exclude each other");
  return EXIT_OK;
}

/* A time, or "+S" after the start of the recording. */
static bool parse_time(const cut_t *cut, const char *name, const char *text, int64_t *out)
{
  tb_duration_t offset;
  if (*text != '+' && command_take_time(text, out)) return true;
  if (*text != '+' || tb_duration_parse(text + 1, &offset)) {
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
  if (cut->start && !parse_time(cut, "--start", cut->start, &copy->start_ns)) return false;
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

static const char *without_slash(const char *name)
{
  return name + (*name == '/');
}

/* By topic of the recording, to be freed; NULL after a message. */
static bool *choose_topics(const cut_t *cut)
{
  const tb_bag_info_t *info = tb_bag_reader_info(cut->copy.reader);
  bool *wanted = calloc(info->topic_count + 1, sizeof *wanted);
  if (!wanted) command_failed(cut->copy.command, TB_ERR_NO_MEMORY, NULL);
  for (size_t i = 0; wanted && i < info->topic_count; i++)
    wanted[i] = cut->topic_count == 0;
  for (size_t i = 0; wanted && i < cut->topic_count; i++) {
    bool found = false;
    for (size_t j = 0; j < info->topic_count; j++)
      if (!strcmp(without_slash(info->topics[j].name), without_slash(cut->topics[i])))
        found = wanted[j] = true;
    if (found) continue;
    bag_no_topic(cut->copy.command, "--topics", info, cut->topics[i]);
    free(wanted);
    wanted = NULL;
  }
  return wanted;
}

static int cut_bag(cut_t *cut)
{
  bag_copy_t *copy = &cut->copy;
  copy->input.content = TB_BAG_CONTENT_ANY;
  copy->input.run = (size_t)cut->run;
  int result = bag_open_run(copy->command, &cut->input, 1, &copy->input, &copy->reader);
  if (result) return result;
  if (!parse_times(cut)) return EXIT_USAGE;
  bool *wanted = choose_topics(cut);
  if (!wanted) return EXIT_USAGE;
  if (copy->start_ns > 0) tb_bag_reader_seek(copy->reader, copy->start_ns);
  result = bag_copy_run(copy, wanted);
  free(wanted);
  if (result || copy->failures == 0) return result;
  text_err("timebase bag cut: %" PRIu64 " part%s could not be copied\n", copy->failures,
           bag_plural(copy->failures));
  return EXIT_IO;
}

static int run(const command_t *command, int argc, char **argv)
{
  cut_t cut = {.copy = BAG_COPY_INIT(command)};
  bool help = false;
  cut.topics = calloc((size_t)argc, sizeof *cut.topics);
  if (!cut.topics) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  int result = parse(&cut, argc, argv, &help);
  if (!result && !help) {
    command_show_log(command);
    progress_begin(command);
    result = cut_bag(&cut);
    bag_copy_end(&cut.copy);
  }
  free(cut.topics);
  return help ? command_help(command) : command_finish(command, result);
}

const command_t command_bag_cut = {
    .name = "bag cut",
    .summary = "write a part of a recording: a time range, some of its topics",
    .usage = "timebase bag cut BAG -o OUT [--start T] [--end T | --duration S] [--topics T...]",
    .help =
        "Copies the messages with log times from --start on and before --end, byte for byte; from\n"
        "MCAP to MCAP also attachments of that time, and all metadata.\n\n"
        "  --start T          from T on (default: all)\n"
        "  --end T            up to but not including T: adjacent cuts share no message\n"
        "  --duration S       the end, counted from the start\n"
        "  --topics T...      only these topics: all words up to the next option (or --)\n"
        "  --run N            which run, of a recording in which time was set back\n"
        "  -o, --output OUT   the folder of the new recording, a .bag file in ROS 1; must not "
        "exist\n"
        "  -s, --storage S    its format: sqlite3, mcap, rosbag1 (default: by the extension of\n"
        "                     OUT, .db3, .mcap or .bag; otherwise that of BAG)\n" BAG_OUTPUT_HELP
        "  -h, --help         this text\n\n"
        "T is seconds since 1970, 2023-11-14T22:13:20Z, or +S for S after the start of the\n"
        "recording. Where something could not be read, the rest is copied: status 3.\n",
    .run = run,
};
