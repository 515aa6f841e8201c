#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/qos_overrides.h>
#include <timebase/ros2_recorder.h>
#include <timebase/topic_expression.h>
#include <unistd.h>

#include "command.h"
#include "record_evidence.h"
#include "record_screen.h"
#include "text.h"

#define PATH_SIZE 64

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
  OPTION_QOS,
  OPTION_DEPTH,
  OPTION_GAP,
  OPTION_FSYNC,
  OPTION_NODE,
  OPTION_DOMAIN,
  OPTION_MANIFEST,
};

typedef struct arguments {
  tb_ros2_recorder_options_t options;
  const char **topics, **excluded;
  const char *path;
  char default_path[PATH_SIZE];
  const char *node;
  const char *manifest; /* NULL: none */
  bool use_sim_time;
  bool has_log_time;
  int domain;
} arguments_t;

typedef struct session {
  const command_t *command;
  tb_ros2_context_t *context;
  tb_ros2_node_t *node;
  tb_ros2_recorder_t *recorder;
  record_evidence_t evidence;
} session_t;

/* --- arguments --- */

static bool parse_bytes(const command_t *command, const char *name, uint64_t *out)
{
  char *end;
  errno = 0;
  unsigned long long value = strtoull(optarg, &end, 10);
  if (strchr("0123456789", optarg[0]) && end != optarg && !*end && !errno) {
    *out = value;
    return true;
  }
  command_usage_error(command, "%s %s: must be a number of bytes", name, optarg);
  return false;
}

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

static bool parse_mode(const command_t *command, arguments_t *arguments)
{
  static const char *const words[] = {"none", "message", "file", NULL};
  int mode;
  if (!command_parse_word(command, "--compression-mode", optarg, words, &mode)) return false;
  arguments->options.recorder.bag.compression_mode = (tb_bag_compression_mode_t)mode;
  return true;
}

static bool parse_chunks(const command_t *command, arguments_t *arguments)
{
  static const char *const words[] = {"none", "zstd", "lz4", NULL};
  int compression;
  if (!command_parse_word(command, "--chunk-compression", optarg, words, &compression))
    return false;
  arguments->options.recorder.bag.chunk_compression = (tb_bag_chunk_compression_t)compression;
  return true;
}

static bool parse_log_time(const command_t *command, arguments_t *arguments)
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
static bool take_words(int argc, char **argv, const char **list, size_t *count)
{
  list[(*count)++] = optarg;
  while (optind < argc && argv[optind][0] != '-')
    list[(*count)++] = argv[optind++];
  return true;
}

/* False: a message was printed. */
static bool take_option(const command_t *command, int option, int argc, char **argv,
                        arguments_t *arguments)
{
  tb_ros2_recorder_options_t *graph = &arguments->options;
  tb_recorder_options_t *recorder = &graph->recorder;
  switch (option) {
  case 1:
    arguments->topics[graph->topic_count++] = optarg;
    return true;
  case OPTION_TOPICS:
    return take_words(argc, argv, arguments->topics, &graph->topic_count);
  case OPTION_EXCLUDE_TOPICS:
    return take_words(argc, argv, arguments->excluded, &graph->exclude_topic_count);
  case 'b':
    return parse_bytes(command, "--max-bag-size", &recorder->bag.max_size);
  case 'd':
    return parse_duration(command, "--max-bag-duration", &recorder->bag.max_duration);
  case OPTION_CACHE:
    return parse_bytes(command, "--max-cache-size", &recorder->cache_size);
  case OPTION_MODE:
    return parse_mode(command, arguments);
  case OPTION_CHUNKS:
    return parse_chunks(command, arguments);
  case OPTION_LOG_TIME:
    return parse_log_time(command, arguments);
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
    return command_parse_storage(command, optarg, &recorder->bag.storage_id);
  case OPTION_DOMAIN:
    return command_parse_domain(command, optarg, &arguments->domain);
  default:
    command_bad_option(command, option, argv);
    return false;
  }
}

/* True: it was one that is merely noted. */
static bool note_option(int option, arguments_t *arguments)
{
  tb_ros2_recorder_options_t *graph = &arguments->options;
  switch (option) {
  case 'a':
    return graph->all = true;
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
  case OPTION_HIDDEN:
    return graph->include_hidden = true;
  case OPTION_SIM_TIME:
    return arguments->use_sim_time = true;
  case OPTION_PAUSED:
    return graph->recorder.start_paused = true;
  case OPTION_SNAPSHOT:
    return graph->recorder.snapshot_mode = true;
  default:
    return false;
  }
}

/* As `ros2 bag record` names them. */
static void name_bag(arguments_t *arguments)
{
  time_t now = time(NULL);
  struct tm local;
  localtime_r(&now, &local);
  strftime(arguments->default_path, PATH_SIZE, "rosbag2_%Y_%m_%d-%H_%M_%S", &local);
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

static int finish_arguments(const command_t *command, arguments_t *arguments)
{
  tb_ros2_recorder_options_t *graph = &arguments->options;
  if (!graph->all && !graph->regex && graph->topic_count == 0)
    return command_usage_error(command, "no topics: name them, or give --all or --regex");
  if (!check_expression(command, "--regex", graph->regex) ||
      !check_expression(command, "--exclude-regex", graph->exclude_regex))
    return EXIT_USAGE;
  if (arguments->use_sim_time) {
    if (arguments->has_log_time && graph->recorder.log_time != TB_RECORDER_TIME_ROS)
      return command_usage_error(command,
                                 "--use-sim-time records ROS time: it needs --log-time ros");
    graph->recorder.log_time = TB_RECORDER_TIME_ROS;
  }
  if (arguments->manifest) { /* the recorder adds them by itself */
    arguments->excluded[graph->exclude_topic_count++] = TB__MANIFEST_TOPIC;
    arguments->excluded[graph->exclude_topic_count++] = TB__POINTS_TOPIC;
  }
  graph->topics = arguments->topics;
  graph->exclude_topics = arguments->excluded;
  if (!arguments->path) name_bag(arguments);
  return EXIT_OK;
}

static int parse(const command_t *command, int argc, char **argv, arguments_t *arguments,
                 bool *out_help)
{
  static const struct option options[] = {
      {"all", no_argument, NULL, 'a'},
      {"all-topics", no_argument, NULL, 'a'},
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
      {"qos-profile-overrides-path", required_argument, NULL, OPTION_QOS},
      {"max-depth", required_argument, NULL, OPTION_DEPTH},
      {"max-gap", required_argument, NULL, OPTION_GAP},
      {"fsync-interval", required_argument, NULL, OPTION_FSYNC},
      {"node-name", required_argument, NULL, OPTION_NODE},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"manifest", required_argument, NULL, OPTION_MANIFEST},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  int option;
  while ((option = getopt_long(argc, argv, "-:ae:x:o:s:b:d:h", options, NULL)) != -1) {
    if (option == 'h') {
      *out_help = true;
      return EXIT_OK;
    }
    if (!note_option(option, arguments) && !take_option(command, option, argc, argv, arguments))
      return EXIT_USAGE;
  }
  while (optind < argc)
    arguments->topics[arguments->options.topic_count++] = argv[optind++];
  return finish_arguments(command, arguments);
}

/* --- recording --- */

static int open_session(session_t *session, const arguments_t *arguments)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t context = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_node_options_t node = TB_ROS2_NODE_OPTIONS_INIT;
  tb_ros2_parameter_t sim_time = {.name = "use_sim_time",
                                  .value = {.type = TB_ROS2_PARAMETER_BOOL, .bool_value = true}};
  context.has_domain_id = arguments->domain >= 0;
  context.domain_id = arguments->domain >= 0 ? arguments->domain : 0;
  node.parameter_overrides = &sim_time;
  node.parameter_override_count = arguments->use_sim_time;
  tb_status_t status = tb_ros2_context_create(&context, &session->context, &error);
  if (!status)
    status =
        tb_ros2_node_create(session->context, arguments->node, "/", &node, &session->node, &error);
  if (!status)
    status = tb_ros2_recorder_create(session->node, arguments->path, &arguments->options,
                                     &session->recorder, &error);
  if (status) return command_failed(session->command, status, &error);
  return record_evidence_begin(&session->evidence, tb_ros2_recorder_core(session->recorder),
                               session->context, session->node);
}

/* Before signals are caught, as one that comes while it is read ends the program; and before the
 * bag is made. */
static int check_overrides(const command_t *command, const char *path)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_overrides_t *overrides = NULL;
  tb_status_t status = path ? tb_qos_overrides_load(path, &overrides, &error) : TB_OK;
  tb_qos_overrides_destroy(overrides);
  return status ? command_bad_file(command, status, &error) : EXIT_OK;
}

static void close_session(session_t *session)
{
  tb_ros2_recorder_destroy(session->recorder);
  record_evidence_close(&session->evidence);
  tb_ros2_node_destroy(session->node);
  tb_ros2_context_destroy(session->context);
}

static void toggle_paused(tb_recorder_t *recorder)
{
  if (tb_recorder_is_paused(recorder))
    tb_recorder_resume(recorder);
  else
    tb_recorder_pause(recorder);
}

static void read_keys(record_screen_t *screen, tb_recorder_t *recorder)
{
  char keys[64];
  size_t count = terminal_read(&screen->terminal, keys, sizeof keys);
  for (size_t i = 0; i < count; i++)
    if (keys[i] == ' ') toggle_paused(recorder);
}

/* Until a signal. A closed output is no reason to stop. */
static void attend(record_screen_t *screen, session_t *session)
{
  tb_recorder_t *recorder = tb_ros2_recorder_core(session->recorder);
  record_evidence_t *evidence = &session->evidence;
  for (;;) {
    struct pollfd fds[] = {{command_signal_fd(), POLLIN, 0},
                           {screen->terminal.keyboard ? STDIN_FILENO : -1, POLLIN, 0},
                           {record_evidence_fd(evidence), POLLIN, 0}};
    int period_ms = terminal_period_ms(&screen->terminal);
    int timeout_ms = record_evidence_timeout_ms(evidence, period_ms);
    int ready = poll(fds, 3, timeout_ms);
    if (ready > 0 && fds[0].revents) return;
    if (ready > 0 && fds[1].revents) read_keys(screen, recorder);
    record_evidence_poll(evidence);
    if ((ready == 0 && timeout_ms == period_ms) || screen->terminal.screen) {
      record_screen_show(screen, recorder);
      command_flush();
    }
  }
}

static int exit_status(tb_recorder_t *recorder)
{
  tb_recorder_topic_status_t topic;
  for (size_t i = 0; tb_recorder_topic_status(recorder, i, &topic) == TB_OK; i++)
    if (topic.lost_in_queue > 0) return EXIT_CHECK;
  return EXIT_OK;
}

static int record(session_t *session, const char *path)
{
  record_screen_t screen;
  tb_error_t error = TB_ERROR_INIT;
  tb_recorder_t *core = tb_ros2_recorder_core(session->recorder);
  text_out("recording to %s\n", path);
  command_flush();
  record_screen_open(&screen, path);
  attend(&screen, session);
  command_force_exit_on_repeat_signal();
  terminal_close(&screen.terminal);
  record_evidence_end(&session->evidence);
  tb_status_t status = tb_ros2_recorder_stop(session->recorder, &error);
  record_screen_summary(&screen, core);
  command_flush();
  return status ? command_failed(session->command, status, &error) : exit_status(core);
}

static int run(const command_t *command, int argc, char **argv)
{
  bool help = false;
  arguments_t arguments = {.options = TB_ROS2_RECORDER_OPTIONS_INIT,
                           .node = "rosbag2_recorder",
                           .domain = -1,
                           .topics = calloc((size_t)argc, sizeof *arguments.topics),
                           .excluded = calloc((size_t)argc + 2, sizeof *arguments.excluded)};
  session_t session = {.command = command, .evidence = {.jump_pipe = {-1, -1}}};
  int result = arguments.topics && arguments.excluded
                   ? parse(command, argc, argv, &arguments, &help)
                   : command_failed(command, TB_ERR_NO_MEMORY, NULL);
  if (!result && !help) result = check_overrides(command, arguments.options.qos_overrides_path);
  if (!result && !help)
    result = record_evidence_load(command, arguments.manifest, &session.evidence);
  if (!result && !help) {
    if (session.evidence.text) {
      arguments.options.recorder.bag.notes = &session.evidence.note;
      arguments.options.recorder.bag.note_count = 1;
    }
    command_catch_signals();
    command_show_log(command);
    result = open_session(&session, &arguments);
    if (!result) result = record(&session, arguments.path);
    close_session(&session);
  } else {
    record_evidence_close(&session.evidence);
  }
  free(arguments.topics);
  free(arguments.excluded);
  return help ? command_help(command) : command_finish(command, result);
}

const command_t command_record = {
    .name = "record",
    .summary = "record topics to a rosbag2 bag",
    .usage = "timebase record [--all] [TOPIC...] [-e REGEX] [-x REGEX] [-o BAG] [-s ID] "
             "[--use-sim-time] [OPTION...]",
    .help =
        "Records topics of the ROS 2 graph until SIGINT or SIGTERM; new ones as they appear.\n\n"
        "  -a, --all              all topics\n"
        "  --topics T...          these topics: all words up to the next option (or --)\n"
        "  -e, --regex R          topics that match R anywhere in the name; R is as in ros2 bag\n"
        "                         (ECMAScript): '^/camera/(?:left|right)/', '\\d$'\n"
        "  -x, --exclude-regex R  except those that match R\n"
        "  --exclude-topics T...  except these\n"
        "  --include-hidden-topics  also topics with a name part that begins with '_'\n"
        "  -o, --output BAG       the folder to create (default rosbag2_DATE-TIME)\n"
        "  -s, --storage ID       mcap (default) or sqlite3\n"
        "  --compression-mode M   none, message or file (default none)\n"
        "  --compression-format F zstd\n"
        "  --chunk-compression C  none, zstd or lz4, in mcap files (default none)\n"
        "  -b, --max-bag-size B   start another file after B bytes\n"
        "  -d, --max-bag-duration T  or after T of log time (90s, 5m; bare: seconds)\n"
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
        "  --snapshot-mode        keep the newest messages in the cache; ~/snapshot writes them\n"
        "  --qos-profile-overrides-path F  QoS by topic, in YAML as for ros2 bag\n"
        "  --max-depth N          reduce a depth in F to at most N (default 100000)\n"
        "  --max-gap N            count a gap of up to N in a publisher's sequence numbers as "
        "lost\n"
        "                         messages (default 1000000); a larger gap is ignored\n"
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
        "  --domain N             DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  -h, --help             this text\n\n"
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
        "file counts as lost. Two kinds of losses cannot be counted: messages sent before the\n"
        "publisher was matched, and the last ones of a topic, as no later number shows the gap.\n\n"
        "Same services as ros2 bag record: ~/pause, ~/resume, ~/is_paused, ~/split_bagfile,\n"
        "~/snapshot.\n\n"
        "Exit status: 1 if messages were lost because the queue was full, 3 if the file system "
        "failed.\n",
    .run = run,
};
