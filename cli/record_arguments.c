#include "record_arguments.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/topic_expression.h>

#include "record_evidence.h"
#include "record_names.h"
#include "record_ros1.h"
#include "rosbag2_options.h"

enum {
  OPTION_TOPICS = 256,
  OPTION_EXCLUDE_TOPICS,
  OPTION_HIDDEN,
  OPTION_MODE,
  OPTION_FORMAT,
  OPTION_CHUNKS,
  OPTION_CACHE,
  OPTION_LOG_TIME,
  OPTION_SIM_TIME,
  OPTION_PAUSED,
  OPTION_SNAPSHOT,
  OPTION_NO_PROVENANCE,
  OPTION_MAX_FILES,
  OPTION_RECORD_SIZE,
  OPTION_RECORD_DURATION,
  OPTION_MIN_SPACE,
  OPTION_PLAIN,
  OPTION_SNAPSHOT_DURATION,
  OPTION_ALL_ACTIONS,
  OPTION_ACTIONS,
  OPTION_EXCLUDE_ACTIONS,
  OPTION_QOS,
  OPTION_DEPTH,
  OPTION_GAP,
  OPTION_ALLOW_LOSS,
  OPTION_FSYNC,
  OPTION_NODE,
  OPTION_DOMAIN,
  OPTION_MANIFEST,
  OPTION_ROS1,
  OPTION_ALL_TOPICS,
  OPTION_TYPES,
  OPTION_EXCLUDE_TYPES,
  OPTION_ALL_SERVICES,
  OPTION_SERVICES,
  OPTION_EXCLUDE_SERVICES,
  OPTION_UNPUBLISHED,
  OPTION_LEAVES,
  OPTION_NO_DISCOVERY,
  OPTION_CUSTOM_DATA,
  OPTION_PROFILE,
  OPTION_NO_KEYBOARD,
  OPTION_REPEAT,
};

static bool parse_gap(const command_t *command, uint64_t *out)
{
  int gap = 0;
  if (!command_parse_int(command, "--max-gap", optarg, 1, INT32_MAX, &gap)) return false;
  *out = (uint64_t)gap;
  return true;
}

static bool parse_duration(const command_t *command, const char *name, tb_duration_t *out)
{
  if (!command_parse_duration(command, name, optarg, out)) return false;
  if (out->ns >= 0) return true;
  command_usage_error(command, "%s %s: must not be negative", name, optarg);
  return false;
}

/* How much is kept, and how much stays free. */
static bool parse_room(const command_t *command, int option, tb_recorder_options_t *recorder)
{
  int files = 0;
  switch (option) {
  case OPTION_MAX_FILES:
    if (!command_parse_int(command, "--max-bag-files", optarg, 1, INT32_MAX, &files)) return false;
    recorder->bag.max_files = (size_t)files;
    return true;
  case OPTION_RECORD_SIZE:
    return command_parse_size(command, "--max-record-size", optarg, UINT64_MAX,
                              &recorder->bag.max_total_size);
  case OPTION_RECORD_DURATION:
    return parse_duration(command, "--max-record-duration", &recorder->bag.max_total_duration);
  default:
    return command_parse_size(command, "--min-space", optarg, UINT64_MAX, &recorder->min_space);
  }
}

/* A ring is made of files. */
static int check_ring(const command_t *command, const tb_bag_writer_options_t *bag)
{
  const char *option = bag->max_files > 0               ? "--max-bag-files"
                       : bag->max_total_size > 0        ? "--max-record-size"
                       : bag->max_total_duration.ns > 0 ? "--max-record-duration"
                                                        : NULL;
  if (!option || bag->max_size > 0 || bag->max_duration.ns > 0) return EXIT_OK;
  return command_usage_error(command,
                             "%s removes the oldest files of a recording: --max-bag-size or "
                             "--max-bag-duration makes it one of several files",
                             option);
}

static bool parse_mode(const command_t *command, record_arguments_t *arguments)
{
  static const char *const words[] = {"none", "message", "file", NULL};
  int mode;
  if (!command_parse_word(command, "--compression-mode", optarg, words, &mode)) return false;
  arguments->options.recorder.bag.compression_mode = (tb_bag_compression_mode_t)mode;
  return true;
}

static bool parse_chunks(const command_t *command, record_arguments_t *arguments)
{
  static const char *const words[] = {"none", "zstd", "lz4", "bz2", NULL};
  int compression;
  if (!command_parse_word(command, "--chunk-compression", optarg, words, &compression))
    return false;
  arguments->options.recorder.bag.chunk_compression = (tb_bag_chunk_compression_t)compression;
  arguments->packed_by = compression ? "--chunk-compression" : NULL;
  return true;
}

static bool parse_log_time(const command_t *command, record_arguments_t *arguments)
{
  static const char *const words[] = {"receive", "source", "ros", NULL};
  int log_time;
  if (!command_parse_word(command, "--log-time", optarg, words, &log_time)) return false;
  arguments->options.recorder.log_time = (tb_recorder_time_t)log_time;
  arguments->has_log_time = true;
  return true;
}

/* One expression each: of two, the first would be ignored. False: a message was printed. */
static bool parse_expression(const command_t *command, const char *name, const char **out)
{
  if (*out) {
    command_usage_error(command, "%s: given twice; write one expression, 'A|B'", name);
    return false;
  }
  *out = optarg;
  return true;
}

/* The words after the option, up to the next one. */
static void take_words(int argc, char **argv, const char **list, size_t *count)
{
  list[(*count)++] = optarg;
  while (optind < argc && argv[optind][0] != '-')
    list[(*count)++] = argv[optind++];
}

/* Options with lists of words. False: it is none of them. */
static bool take_list(int option, int argc, char **argv, record_arguments_t *arguments)
{
  tb_ros2_recorder_options_t *graph = &arguments->options;
  static const int lists[RECORD_LISTS] = {
      OPTION_TOPICS,   OPTION_EXCLUDE_TOPICS,   OPTION_TYPES,   OPTION_EXCLUDE_TYPES,
      OPTION_SERVICES, OPTION_EXCLUDE_SERVICES, OPTION_ACTIONS, OPTION_EXCLUDE_ACTIONS};
  size_t *counts[RECORD_LISTS] = {&graph->topic_count,   &graph->exclude_topic_count,
                                  &graph->type_count,    &graph->exclude_type_count,
                                  &graph->service_count, &graph->exclude_service_count,
                                  &graph->action_count,  &graph->exclude_action_count};
  for (int i = 0; i < RECORD_LISTS; i++)
    if (lists[i] == option) {
      take_words(argc, argv, arguments->lists[i], counts[i]);
      return true;
    }
  return false;
}

/* KEY=VALUE, up to the next option. False: a message was printed. */
static bool take_custom_data(const command_t *command, int argc, char **argv,
                             record_arguments_t *arguments)
{
  const char *word = optarg;
  for (;;) {
    const char *equals = strchr(word, '=');
    char *key = equals && equals != word ? strndup(word, (size_t)(equals - word)) : NULL;
    if (!key) {
      command_usage_error(command, "--custom-data %s: write KEY=VALUE", word);
      return false;
    }
    arguments->notes[arguments->note_count++] = (tb_bag_note_t){key, equals + 1};
    if (optind == argc || argv[optind][0] == '-') return true;
    word = argv[optind++];
  }
}

/* Presets of rosbag2's storages. */
static bool take_profile(const command_t *command, record_arguments_t *arguments)
{
  static const char *const words[] = {"none",       "fastwrite", "zstd_fast",
                                      "zstd_small", "resilient", NULL};
  tb_bag_writer_options_t *bag = &arguments->options.recorder.bag;
  int profile;
  if (!command_parse_word(command, "--storage-preset-profile", optarg, words, &profile))
    return false;
  bool is_packed = profile == 2 || profile == 3;
  if (is_packed) {
    bag->chunk_compression = TB_BAG_CHUNKS_ZSTD;
    arguments->packed_by = "--storage-preset-profile";
    bag->compression_level = profile == 2 ? 1 : 10;
  }
  return true;
}

static bool take_format(const command_t *command)
{
  static const char *const words[] = {"cdr", NULL};
  int format;
  return command_parse_word(command, "--serialization-format", optarg, words, &format);
}

/* False: a message was printed. */
static bool take_option(const command_t *command, int option, int argc, char **argv,
                        record_arguments_t *arguments)
{
  tb_ros2_recorder_options_t *graph = &arguments->options;
  tb_recorder_options_t *recorder = &graph->recorder;
  switch (option) {
  case 1:
    arguments->lists[RECORD_TOPICS][graph->topic_count++] = optarg;
    return true;
  case OPTION_CUSTOM_DATA:
    return take_custom_data(command, argc, argv, arguments);
  case OPTION_PROFILE:
    return take_profile(command, arguments);
  case 'f':
    return take_format(command);
  case 'b':
    return command_parse_size(command, "--max-bag-size", optarg, UINT64_MAX,
                              &recorder->bag.max_size);
  case 'd':
    return parse_duration(command, "--max-bag-duration", &recorder->bag.max_duration);
  case OPTION_MAX_FILES:
  case OPTION_RECORD_SIZE:
  case OPTION_RECORD_DURATION:
  case OPTION_MIN_SPACE:
    return parse_room(command, option, recorder);
  case OPTION_CACHE:
    return command_parse_size(command, "--max-cache-size", optarg, UINT64_MAX,
                              &recorder->cache_size);
  case OPTION_MODE:
    return parse_mode(command, arguments);
  case OPTION_CHUNKS:
    return parse_chunks(command, arguments);
  case OPTION_LOG_TIME:
    return parse_log_time(command, arguments);
  case OPTION_SNAPSHOT_DURATION:
    return parse_duration(command, "--snapshot-duration", &recorder->snapshot_duration);
  case OPTION_FSYNC:
    return parse_duration(command, "--fsync-interval", &recorder->fsync_interval);
  case OPTION_DEPTH:
    return command_parse_int(command, "--max-depth", optarg, 1, INT32_MAX, &graph->qos_depth_max);
  case OPTION_GAP:
    return parse_gap(command, &graph->gap_max);
  case 'e':
    return parse_expression(command, "--regex", &graph->regex);
  case 'x':
    return parse_expression(command, "--exclude-regex", &graph->exclude_regex);
  case 's':
    return command_parse_storage(command, optarg, &arguments->storage);
  case OPTION_DOMAIN:
    return command_parse_domain(command, optarg, &arguments->domain);
  default:
    command_bad_option(command, option, argv);
    return false;
  }
}

/* True: it was one that is merely noted. */
static bool note_option(int option, record_arguments_t *arguments)
{
  tb_ros2_recorder_options_t *graph = &arguments->options;
  switch (option) {
  case 'a':
    return graph->all = graph->all_services = graph->all_actions = true;
  case OPTION_ALL_TOPICS:
    return graph->all = true;
  case OPTION_ALL_SERVICES:
    return graph->all_services = true;
  case OPTION_ALL_ACTIONS:
    return graph->all_actions = true;
  case OPTION_UNPUBLISHED:
    return graph->include_unpublished = true;
  case OPTION_LEAVES:
    return graph->ignore_leaf_topics = true;
  case OPTION_NO_DISCOVERY:
    return graph->no_discovery = true;
  case 'o':
    return (arguments->path = optarg);
  case OPTION_FORMAT:
    return (graph->recorder.bag.compression_format = optarg);
  case OPTION_QOS:
    return (graph->qos_overrides_path = optarg);
  case OPTION_NODE:
    return (arguments->node = optarg);
  case OPTION_MANIFEST:
    return (arguments->manifest = optarg);
  case OPTION_ROS1:
    return arguments->ros1 = true;
  case OPTION_ALLOW_LOSS:
    return arguments->allow_loss = true;
  case OPTION_HIDDEN:
    return graph->include_hidden = true;
  case OPTION_SIM_TIME:
    return arguments->use_sim_time = true;
  case OPTION_PAUSED:
    return graph->recorder.start_paused = true;
  case OPTION_NO_KEYBOARD:
    return arguments->no_keyboard = true;
  case OPTION_NO_PROVENANCE:
    return graph->recorder.no_provenance = true;
  case OPTION_REPEAT:
    return graph->recorder.repeat_latched = true;
  case OPTION_PLAIN:
    return arguments->plain = true;
  case OPTION_SNAPSHOT:
    return graph->recorder.snapshot_mode = true;
  default:
    return false;
  }
}

/* As `ros2 bag record` and `rosbag record` name them. */
static void name_bag(record_arguments_t *arguments)
{
  time_t now = time(NULL);
  struct tm local;
  localtime_r(&now, &local);
  if (arguments->ros1)
    strftime(arguments->default_path, RECORD_PATH_SIZE, "%Y-%m-%d-%H-%M-%S.bag", &local);
  else
    strftime(arguments->default_path, RECORD_PATH_SIZE, "rosbag2_%Y_%m_%d-%H_%M_%S", &local);
  arguments->path = arguments->default_path;
}

static bool check_expression(const command_t *command, const char *option, const char *text)
{
  tb_topic_expression_t *expression = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (!text || tb_topic_expression_create(text, &expression, &error) == TB_OK) {
    tb_topic_expression_destroy(expression);
    return true;
  }
  command_usage_error(command, "%s: %s", option, error.text);
  return false;
}

/* The option given that only a graph of ROS 2 has, or its recordings; NULL: none. */
static const char *ros2_option(const record_arguments_t *arguments)
{
  const tb_ros2_recorder_options_t *graph = &arguments->options;
  const tb_recorder_options_t *recorder = &graph->recorder;
  return graph->qos_overrides_path                       ? "--qos-profile-overrides-path"
         : graph->qos_depth_max > 0                      ? "--max-depth"
         : graph->gap_max > 0                            ? "--max-gap"
         : graph->include_hidden                         ? "--include-hidden-topics"
         : graph->type_count > 0                         ? "--topic-types"
         : graph->exclude_type_count > 0                 ? "--exclude-topic-types"
         : graph->service_count > 0                      ? "--services"
         : graph->exclude_service_count > 0              ? "--exclude-services"
         : graph->action_count > 0                       ? "--actions"
         : graph->exclude_action_count > 0               ? "--exclude-actions"
         : graph->include_unpublished                    ? "--include-unpublished-topics"
         : graph->ignore_leaf_topics                     ? "--ignore-leaf-topics"
         : graph->no_discovery                           ? "--no-discovery"
         : arguments->ros.argv                           ? "--ros-args"
         : arguments->note_count > 0                     ? "--custom-data"
         : arguments->manifest                           ? "--manifest"
         : arguments->domain >= 0                        ? "--domain"
         : recorder->bag.compression_mode                ? "--compression-mode"
         : recorder->snapshot_mode                       ? "--snapshot-mode"
         : recorder->log_time == TB_RECORDER_TIME_SOURCE ? "--log-time source"
                                                         : NULL;
}

static int choose_storage(const command_t *command, record_arguments_t *arguments)
{
  tb_bag_writer_options_t *bag = &arguments->options.recorder.bag;
  if (arguments->storage) bag->storage_id = arguments->storage;
  if (bag->compression_format && *bag->compression_format && !bag->compression_mode)
    return command_usage_error(command,
                               "--compression-format %s needs --compression-mode message or file",
                               bag->compression_format);
  if (arguments->packed_by && arguments->storage && strcmp(arguments->storage, "sqlite3") == 0)
    return command_usage_error(command,
                               "%s compresses chunks, which files of sqlite3 do not have; use -s "
                               "mcap, or --compression-mode message or file",
                               arguments->packed_by);
  if (!arguments->ros1) return record_names_check_types(command, arguments);
  if (arguments->storage)
    return command_usage_error(command, "-s %s: with --ros1 a .bag is written", arguments->storage);
  bag->storage_id = RECORD_ROS1_STORAGE;
  const char *option = ros2_option(arguments);
  return option ? command_usage_error(command, "%s cannot be used with --ros1", option) : EXIT_OK;
}

static int finish_arguments(const command_t *command, record_arguments_t *arguments)
{
  tb_ros2_recorder_options_t *graph = &arguments->options;
  int result = check_ring(command, &graph->recorder.bag);
  if (result) return result;
  if (!graph->all && !graph->all_services && !graph->all_actions && !graph->regex &&
      graph->topic_count + graph->type_count + graph->service_count + graph->action_count == 0)
    return command_usage_error(command, "no topics: name them, or give --all or --regex");
  if (!check_expression(command, "--regex", graph->regex) ||
      !check_expression(command, "--exclude-regex", graph->exclude_regex))
    return EXIT_USAGE;
  if (graph->recorder.snapshot_duration.ns > 0 && !graph->recorder.snapshot_mode)
    return command_usage_error(command, "--snapshot-duration needs --snapshot-mode");
  if (arguments->use_sim_time) {
    if (arguments->has_log_time && graph->recorder.log_time != TB_RECORDER_TIME_ROS)
      return command_usage_error(command,
                                 "--use-sim-time records ROS time: it needs --log-time ros");
    graph->recorder.log_time = TB_RECORDER_TIME_ROS;
  }
  if (arguments->manifest) { /* the recorder adds them by itself */
    arguments->lists[RECORD_EXCLUDED_TOPICS][graph->exclude_topic_count++] = TB__MANIFEST_TOPIC;
    arguments->lists[RECORD_EXCLUDED_TOPICS][graph->exclude_topic_count++] = TB__POINTS_TOPIC;
  }
  graph->topics = arguments->lists[RECORD_TOPICS];
  graph->exclude_topics = arguments->lists[RECORD_EXCLUDED_TOPICS];
  graph->types = arguments->lists[RECORD_TYPES];
  graph->exclude_types = arguments->lists[RECORD_EXCLUDED_TYPES];
  graph->services = arguments->lists[RECORD_SERVICES];
  graph->exclude_services = arguments->lists[RECORD_EXCLUDED_SERVICES];
  graph->actions = arguments->lists[RECORD_ACTIONS];
  graph->exclude_actions = arguments->lists[RECORD_EXCLUDED_ACTIONS];
  if (!arguments->path) name_bag(arguments);
  return choose_storage(command, arguments);
}

bool record_arguments_init(record_arguments_t *arguments, int *argc, char **argv)
{
  const tb_ros2_recorder_options_t options = TB_ROS2_RECORDER_OPTIONS_INIT;
  *arguments = (record_arguments_t){.options = options, .domain = -1};
  *argc = ros_arguments_take(*argc, argv, &arguments->ros);
  if (*argc < 0) return false;
  arguments->notes = calloc((size_t)*argc + 1, sizeof *arguments->notes);
  bool is_complete = arguments->notes;
  for (int i = 0; i < RECORD_LISTS; i++) { /* with room for what the command adds */
    arguments->lists[i] = calloc((size_t)*argc + 2, sizeof *arguments->lists[i]);
    is_complete = is_complete && arguments->lists[i];
  }
  return is_complete;
}

void record_arguments_fini(record_arguments_t *arguments)
{
  for (int i = 0; i < RECORD_LISTS; i++)
    free(arguments->lists[i]);
  free(arguments->names);
  for (size_t i = 0; i < arguments->note_count; i++)
    free((char *)(uintptr_t)arguments->notes[i].key);
  free(arguments->notes);
  ros_arguments_release(&arguments->ros);
}

static const struct option options[] = {
    {"all", no_argument, NULL, 'a'},
    {"all-topics", no_argument, NULL, OPTION_ALL_TOPICS},
    {"all-services", no_argument, NULL, OPTION_ALL_SERVICES},
    {"topic-types", required_argument, NULL, OPTION_TYPES},
    {"exclude-topic-types", required_argument, NULL, OPTION_EXCLUDE_TYPES},
    {"services", required_argument, NULL, OPTION_SERVICES},
    {"all-actions", no_argument, NULL, OPTION_ALL_ACTIONS},
    {"actions", required_argument, NULL, OPTION_ACTIONS},
    {"exclude-actions", required_argument, NULL, OPTION_EXCLUDE_ACTIONS},
    {"exclude-services", required_argument, NULL, OPTION_EXCLUDE_SERVICES},
    {"include-unpublished-topics", no_argument, NULL, OPTION_UNPUBLISHED},
    {"ignore-leaf-topics", no_argument, NULL, OPTION_LEAVES},
    {"no-discovery", no_argument, NULL, OPTION_NO_DISCOVERY},
    {"polling-interval", required_argument, NULL, ROSBAG2_NO_EFFECT},
    {"serialization-format", required_argument, NULL, 'f'},
    {"custom-data", required_argument, NULL, OPTION_CUSTOM_DATA},
    {"storage-preset-profile", required_argument, NULL, OPTION_PROFILE},
    {"storage-config-file", required_argument, NULL, ROSBAG2_NO_EFFECT},
    {"compression-queue-size", required_argument, NULL, ROSBAG2_NO_EFFECT},
    {"compression-threads", required_argument, NULL, ROSBAG2_NO_EFFECT},
    {"compression-threads-priority", required_argument, NULL, ROSBAG2_NO_EFFECT},
    {"disable-keyboard-controls", no_argument, NULL, OPTION_NO_KEYBOARD},
    {"log-level", required_argument, NULL, ROSBAG2_LOG_LEVEL},
    {"topics", required_argument, NULL, OPTION_TOPICS},
    {"regex", required_argument, NULL, 'e'},
    {"exclude-regex", required_argument, NULL, 'x'},
    {"exclude-topics", required_argument, NULL, OPTION_EXCLUDE_TOPICS},
    {"include-hidden-topics", no_argument, NULL, OPTION_HIDDEN},
    {"output", required_argument, NULL, 'o'},
    {"storage", required_argument, NULL, 's'},
    {"compression-mode", required_argument, NULL, OPTION_MODE},
    {"compression-format", required_argument, NULL, OPTION_FORMAT},
    {"chunk-compression", required_argument, NULL, OPTION_CHUNKS},
    {"max-bag-size", required_argument, NULL, 'b'},
    {"max-bag-duration", required_argument, NULL, 'd'},
    {"max-cache-size", required_argument, NULL, OPTION_CACHE},
    {"log-time", required_argument, NULL, OPTION_LOG_TIME},
    {"use-sim-time", no_argument, NULL, OPTION_SIM_TIME},
    {"start-paused", no_argument, NULL, OPTION_PAUSED},
    {"snapshot-mode", no_argument, NULL, OPTION_SNAPSHOT},
    {"max-bag-files", required_argument, NULL, OPTION_MAX_FILES},
    {"max-record-size", required_argument, NULL, OPTION_RECORD_SIZE},
    {"max-record-duration", required_argument, NULL, OPTION_RECORD_DURATION},
    {"min-space", required_argument, NULL, OPTION_MIN_SPACE},
    {"no-provenance", no_argument, NULL, OPTION_NO_PROVENANCE},
    {"repeat-all-transient-local", no_argument, NULL, OPTION_REPEAT},
    {"repeat-latched", no_argument, NULL, OPTION_REPEAT},
    {"plain", no_argument, NULL, OPTION_PLAIN},
    {"snapshot-duration", required_argument, NULL, OPTION_SNAPSHOT_DURATION},
    {"qos-profile-overrides-path", required_argument, NULL, OPTION_QOS},
    {"max-depth", required_argument, NULL, OPTION_DEPTH},
    {"max-gap", required_argument, NULL, OPTION_GAP},
    {"allow-loss", no_argument, NULL, OPTION_ALLOW_LOSS},
    {"fsync-interval", required_argument, NULL, OPTION_FSYNC},
    {"node-name", required_argument, NULL, OPTION_NODE},
    {"ros1", no_argument, NULL, OPTION_ROS1},
    {"domain", required_argument, NULL, OPTION_DOMAIN},
    {"manifest", required_argument, NULL, OPTION_MANIFEST},
    {"help", no_argument, NULL, 'h'},
    {0},
};

int record_arguments_parse(const command_t *command, int argc, char **argv,
                           record_arguments_t *arguments, bool *out_help)
{
  int option;
  while ((option = command_next_option(argc, argv, "-:ae:x:o:s:b:d:f:p:h", options)) != -1) {
    if (option == 'h') {
      *out_help = true;
      return EXIT_OK;
    }
    if (is_rosbag2_option(option) || option == 'p') {
      if (rosbag2_option(command, option)) return EXIT_USAGE;
    } else if (!note_option(option, arguments) && !take_list(option, argc, argv, arguments) &&
               !take_option(command, option, argc, argv, arguments)) {
      return EXIT_USAGE;
    }
  }
  while (optind < argc)
    arguments->lists[RECORD_TOPICS][arguments->options.topic_count++] = argv[optind++];
  return finish_arguments(command, arguments);
}

const char record_usage[] =
    "timebase record [--all] [TOPIC...] [-e REGEX] [-x REGEX] [-o BAG] [-s ID] "
    "[--use-sim-time] [OPTION...]";

const char record_help[] =
    "Records topics of the ROS 2 graph until SIGINT, SIGTERM or the key q, or 'timebase ctl\n"
    "stop'; new ones as they appear.\n\n"
    "  -a, --all              all topics, the events of all services, and all actions\n"
    "  --all-topics, --all-services, --all-actions  one of the three\n"
    "  --topics T...          these topics: all words up to the next option (or --)\n"
    "  --topic-types T...     topics of these types, such as sensor_msgs/msg/Imu\n"
    "  --services S...        the events of these services (topics S/_service_event, which\n"
    "                         services with introspection publish)\n"
    "  --actions A...         feedback, status and service events of these actions\n"
    "  -e, --regex R          topics that match R anywhere in the name; R is as in ros2 bag\n"
    "                         (ECMAScript): '^/camera/(?:left|right)/', '\\d$'\n"
    "  -x, --exclude-regex R  except those that match R\n"
    "  --exclude-topics T..., --exclude-topic-types T..., --exclude-services S...,\n"
    "  --exclude-actions A...\n"
    "                         except these\n"
    "  --include-unpublished-topics  also topics with a subscription and no publisher so far\n"
    "  --ignore-leaf-topics   only topics to which something else is subscribed too\n"
    "  --no-discovery         only what is found within 1 s after the start\n"
    "  --include-hidden-topics  also topics with a name part that begins with '_'\n"
    "  -o, --output BAG       the folder to create (default rosbag2_DATE-TIME)\n"
    "  --ros1                 topics of the ROS 1 graph of ROS_MASTER_URI, to the file BAG\n"
    "                         (default DATE-TIME.bag); see below\n"
    "  -s, --storage ID       mcap (default) or sqlite3\n"
    "  --compression-mode M   none, message or file (default none)\n"
    "  --compression-format F zstd; only with a mode\n"
    "  --chunk-compression C  none, zstd or lz4, in mcap files (default none); with --ros1\n"
    "                         none, lz4 or bz2\n"
    "  --storage-preset-profile P  zstd_fast or zstd_small: compressed chunks of mcap files;\n"
    "                         none, fastwrite, resilient: no change\n"
    "  -b, --max-bag-size B   start another file after B bytes (10MB, 10MiB)\n"
    "  -d, --max-bag-duration T  or after T of log time (90s, 5m; bare: seconds)\n"
    "  --max-bag-files N, --max-record-size B, --max-record-duration T\n"
    "                         a ring: when a file begins, the oldest ones are removed until all\n"
    "                         that is kept fits, with -b or -d\n"
    "  --repeat-all-transient-local, --repeat-latched\n"
    "                         begin each further file with the state of latched topics, as many\n"
    "                         messages as their publishers keep, at the time of its first\n"
    "                         message: each file can be used alone. Those who read all files\n"
    "                         get these messages again\n"
    "  --min-space B          with less free on the disk, remove the oldest files of a ring; "
    "where\n"
    "                         there is none, end (status 3)\n"
    "  --max-cache-size B     bytes that may wait for the disk (default 104857600);\n"
    "                         messages that do not fit are lost, and counted\n"
    "  --log-time WHICH       receive (default): system time at which DDS received the "
    "message;\n"
    "                         source: at which it was sent; ros: ROS time at receipt\n"
    "  --use-sim-time         ROS time from /clock, which is recorded too. Nothing is\n"
    "                         recorded before the first tick; latched messages get its time.\n"
    "                         Each jump back starts a run in a new file ('timebase play\n"
    "                         --run N'). Jumps are recorded on topic /timebase/jumps\n"
    "  --start-paused         start paused; SPACE or ~/resume starts recording. Latched\n"
    "                         messages that arrived before get the time of the resume\n"
    "  --snapshot-mode        keep the newest messages in the cache; ~/snapshot or the key s\n"
    "                         writes them, after the state of latched topics at their start\n"
    "  --snapshot-duration S  with that: only those of the last S by their log times (0: all that\n"
    "                         the cache has room for)\n"
    "  --qos-profile-overrides-path F  QoS by topic, in YAML as for ros2 bag\n"
    "  --max-depth N          reduce a depth in F to at most N (default 100000)\n"
    "  --max-gap N            count a gap of up to N in a publisher's sequence numbers as "
    "lost\n"
    "                         messages (default 1000000); a larger gap is ignored\n"
    "  --allow-loss           status 0 even if messages were lost\n"
    "  --manifest FILE        store FILE (see 'timebase manifest') with the recording: in\n"
    "                         metadata.yaml and as a message of /timebase/manifest. Also "
    "points\n"
    "                         at which all clocks were read (ROS, system, steady, and how far\n"
    "                         system time may be off), on /timebase/points: at the start, "
    "when\n"
    "                         ROS time begins or jumps, each minute, and at the end. Both are\n"
    "                         published, latched, for other recorders too\n"
    "  --fsync-interval T     sync to disk every T (default: when the system does)\n"
    "  --node-name NAME       of the node on the graph (default rosbag2_recorder)\n"
    "  --custom-data K=V...   texts for custom_data of metadata.yaml\n"
    "  --no-provenance        nothing of how the recording was made. Otherwise metadata.yaml, and\n"
    "                         in MCAP a record, has the host, whether its clock was synchronized,\n"
    "                         the publishers, and pauses, splits, losses and failures of the disk\n"
    "                         with their times ('timebase bag info' prints it, 'timebase check'\n"
    "                         judges it)\n"
    "  --disable-keyboard-controls  no keys, and no full screen\n"
    "  --plain                on a terminal: one status line instead of the full screen\n"
    "  --log-level L          debug, info, warn (default), error or fatal\n"
    "  --ros-args ...         arguments of ROS 2 nodes: -r __node:=recorder, -p "
    "use_sim_time:=true\n"
    "  --domain N             DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
    "  -h, --help             this text\n"
    "Options of ros2 bag record without effect here, with a note: --storage-config-file,\n"
    "--polling-interval, --compression-queue-size, --compression-threads,\n"
    "--compression-threads-priority. -f takes cdr.\n\n"
    "A message can be read from the file at most a second after it arrived, however the\n"
    "process ends. A slow disk does not block publishers. A suspended recorder (SIGSTOP) "
    "does,\n"
    "like any reliable subscription: a publisher with more than half a megabyte that is not\n"
    "acknowledged is blocked, for at most 10 s.\n\n"
    "Losses are counted by topic: on the way (gaps in a publisher's sequence numbers), "
    "because\n"
    "the queue was full, or because the file could not be written, or was truncated or "
    "removed\n"
    "by another process; then another file is tried. A message that is not known to be in the\n"
    "file counts as lost. What a publisher sent before its first message that came counts as\n"
    "lost on the way if the publisher appeared 5 s after the start or later; of others the\n"
    "summary has \"up to N sent before the first one recorded\", as they may be older than the\n"
    "recording. The last ones of a topic cannot be counted, as no later number shows the gap.\n"
    "The counts are in the recording too (custom_data), and 'timebase check' reports them.\n\n"
    "With --ros1 a bag of format 2.0 is written: BAG, or BAG_0.bag, BAG_1.bag and so on with "
    "a\n"
    "limit of size or duration. Named topics are subscribed to at once, others within a "
    "second\n"
    "after the master knows a publisher. Each publisher is a connection of the bag, with its\n"
    "callerid, type, MD5 sum and definition, and whether it latches. Log times are system "
    "time\n"
    "at receipt, or ROS time with --use-sim-time. There are no services, and no gaps to "
    "count.\n"
    "On a terminal the full screen shows each topic, what is held in snapshot mode, and when the\n"
    "disk is full at this rate. SPACE pauses, s writes a snapshot, q ends.\n\n"
    "Same services as ros2 bag record: ~/pause, ~/resume, ~/is_paused, ~/split_bagfile,\n"
    "~/snapshot, and ~/stop, which ends the recording as SIGINT does.\n\n"
    "Exit status: 1 if messages are known to be lost (not with --allow-loss), 3 if the file "
    "system\n"
    "failed.\n";
