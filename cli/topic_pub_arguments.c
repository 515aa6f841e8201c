#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "topic_pub.h"

enum {
  OPTION_WAIT_MAX = 256,
  OPTION_KEEP_ALIVE,
  OPTION_SIM_TIME,
  OPTION_DOMAIN,
  OPTION_DEFINITIONS,
  OPTION_PROFILE,
  OPTION_DEPTH,
  OPTION_HISTORY,
  OPTION_RELIABILITY,
  OPTION_DURABILITY,
  OPTION_LIVELINESS,
  OPTION_LEASE,
  OPTION_STDIN,
  OPTION_YAML_FILE,
  OPTION_ROS1,
};

/* What is not the system's default, or unknown, is set: 0 leaves it as it is. */
static bool take_policy(const command_t *command, const char *option, const char *const *words,
                        const int *values, int *out)
{
  int index = 0;
  if (!command_parse_word(command, option, optarg, words, &index)) return false;
  *out = values[index];
  return true;
}

static bool take_profile(const command_t *command, tb_qos_t *qos)
{
  static const char *const names[] = {"default",     "system_default",   "services_default",
                                      "parameters",  "parameter_events", "action_status_default",
                                      "sensor_data", "best_available",   NULL};
  enum { PARAMETERS = 3, PARAMETER_EVENTS, ACTION_STATUS, SENSOR_DATA };
  const tb_qos_t usual = TB_QOS_INIT_DEFAULT;
  int index = 0;
  if (!command_parse_word(command, "--qos-profile", optarg, names, &index)) return false;
  *qos = usual;
  if (index == PARAMETERS || index == PARAMETER_EVENTS) qos->depth = 1000;
  if (index == ACTION_STATUS) {
    qos->durability = TB_QOS_TRANSIENT_LOCAL;
    qos->depth = 1;
  }
  if (index == SENSOR_DATA) {
    qos->reliability = TB_QOS_BEST_EFFORT;
    qos->depth = 5;
  }
  return true;
}

static bool take_history(const command_t *command, tb_qos_t *qos)
{
  static const char *const words[] = {"system_default", "unknown", "keep_last", "keep_all", NULL};
  static const int values[] = {0, 0, TB_QOS_KEEP_LAST, TB_QOS_KEEP_ALL};
  int value = 0;
  if (!take_policy(command, "--qos-history", words, values, &value)) return false;
  if (value) qos->history = (tb_qos_history_t)value;
  return true;
}

static bool take_reliability(const command_t *command, tb_qos_t *qos)
{
  static const char *const words[] = {"system_default", "unknown",     "best_available",
                                      "reliable",       "best_effort", NULL};
  static const int values[] = {0, 0, 0, TB_QOS_RELIABLE, TB_QOS_BEST_EFFORT};
  int value = 0;
  if (!take_policy(command, "--qos-reliability", words, values, &value)) return false;
  if (value) qos->reliability = (tb_qos_reliability_t)value;
  return true;
}

static bool take_durability(const command_t *command, tb_qos_t *qos)
{
  static const char *const words[] = {"system_default",  "unknown",  "best_available",
                                      "transient_local", "volatile", NULL};
  static const int values[] = {0, 0, 0, TB_QOS_TRANSIENT_LOCAL, TB_QOS_VOLATILE};
  int value = 0;
  if (!take_policy(command, "--qos-durability", words, values, &value)) return false;
  if (value) qos->durability = (tb_qos_durability_t)value;
  return true;
}

static bool take_liveliness(const command_t *command, tb_qos_t *qos)
{
  static const char *const words[] = {"system_default", "unknown",         "best_available",
                                      "automatic",      "manual_by_topic", NULL};
  static const int values[] = {0, 0, 0, TB_QOS_LIVELINESS_AUTOMATIC,
                               TB_QOS_LIVELINESS_MANUAL_BY_TOPIC};
  int value = 0;
  if (!take_policy(command, "--qos-liveliness", words, values, &value)) return false;
  if (value) qos->liveliness = (tb_qos_liveliness_t)value;
  return true;
}

/* False: a message was printed. */
static bool take_qos(const command_t *command, int option, char **argv, tb_qos_t *qos)
{
  int depth = 0;
  switch (option) {
  case OPTION_PROFILE:
    return take_profile(command, qos);
  case OPTION_DEPTH:
    if (!command_parse_int(command, "--qos-depth", optarg, 1, INT32_MAX, &depth)) return false;
    qos->depth = depth;
    return true;
  case OPTION_HISTORY:
    return take_history(command, qos);
  case OPTION_RELIABILITY:
    return take_reliability(command, qos);
  case OPTION_DURABILITY:
    return take_durability(command, qos);
  case OPTION_LIVELINESS:
    return take_liveliness(command, qos);
  case OPTION_LEASE:
    return command_parse_limit(command, "--qos-liveliness-lease-duration-seconds", optarg,
                               &qos->liveliness_lease);
  default:
    command_bad_option(command, option, argv);
    return false;
  }
}

static bool take_folder(const command_t *command, topic_pub_arguments_t *out)
{
  if (out->folder_count < TOPIC_PUB_FOLDERS_MAX) {
    out->folders[out->folder_count++] = optarg;
    return true;
  }
  command_usage_error(command, "more than %d times --definitions", TOPIC_PUB_FOLDERS_MAX);
  return false;
}

/* False: a message was printed. */
static bool take(const command_t *command, int option, char **argv, topic_pub_arguments_t *out)
{
  switch (option) {
  case 'r':
    return command_parse_hz(command, "--rate", optarg, 1e-6, 1e9, &out->hz);
  case '1':
    out->times = 1;
    return true;
  case 't':
    return command_parse_int(command, "--times", optarg, 0, INT32_MAX, &out->times);
  case 'p':
    return command_parse_int(command, "--print", optarg, 0, INT32_MAX, &out->print);
  case 'w':
    return command_parse_int(command, "--wait-matching-subscriptions", optarg, 0, INT32_MAX,
                             &out->wait_matching);
  case 'n':
    out->node = optarg;
    return true;
  case OPTION_WAIT_MAX:
    return command_parse_limit(command, "--max-wait-time-secs", optarg, &out->wait_max);
  case OPTION_KEEP_ALIVE:
    return command_parse_limit(command, "--keep-alive", optarg, &out->keep_alive);
  case OPTION_SIM_TIME:
    out->use_sim_time = true;
    return true;
  case OPTION_DOMAIN:
    return command_parse_domain(command, optarg, &out->domain);
  case OPTION_DEFINITIONS:
    return take_folder(command, out);
  case OPTION_STDIN:
    out->from_stdin = true;
    return true;
  case OPTION_YAML_FILE:
    out->file = optarg;
    return true;
  case OPTION_ROS1:
    out->ros1 = true;
    return true;
  default:
    return take_qos(command, option, argv, &out->qos);
  }
}

/* "std_msgs/String" too. */
static bool take_type(const char *word, char out[TOPIC_PUB_TYPE_SIZE])
{
  const char *slash = strchr(word, '/');
  if (!slash || slash == word || !slash[1]) return false;
  bool is_short = !strchr(slash + 1, '/');
  int length = snprintf(out, TOPIC_PUB_TYPE_SIZE, "%.*s/%s%s", (int)(slash - word), word,
                        is_short ? "msg/" : "", slash + 1);
  return length < TOPIC_PUB_TYPE_SIZE;
}

static int take_words(const command_t *command, int argc, char **argv, topic_pub_arguments_t *out)
{
  int words = argc - optind;
  if (words < 2) return command_usage_error(command, "missing %s", words ? "TYPE" : "TOPIC");
  if (words > 3) return command_usage_error(command, "unexpected argument '%s'", argv[optind + 3]);
  if ((words > 2) + out->from_stdin + (out->file != NULL) > 1)
    return command_usage_error(command, "YAML, --stdin and --yaml-file exclude each other");
  out->topic = argv[optind];
  out->values = words > 2 ? argv[optind + 2] : "";
  if (take_type(argv[optind + 1], out->type)) return EXIT_OK;
  return command_usage_error(command, "%s: not a type; write package/msg/Name", argv[optind + 1]);
}

int topic_pub_parse(const command_t *command, int argc, char **argv, topic_pub_arguments_t *out,
                    bool *out_help)
{
  static const struct option options[] = {
      {"rate", required_argument, NULL, 'r'},
      {"once", no_argument, NULL, '1'},
      {"times", required_argument, NULL, 't'},
      {"print", required_argument, NULL, 'p'},
      {"wait-matching-subscriptions", required_argument, NULL, 'w'},
      {"max-wait-time-secs", required_argument, NULL, OPTION_WAIT_MAX},
      {"keep-alive", required_argument, NULL, OPTION_KEEP_ALIVE},
      {"node-name", required_argument, NULL, 'n'},
      {"use-sim-time", no_argument, NULL, OPTION_SIM_TIME},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"definitions", required_argument, NULL, OPTION_DEFINITIONS},
      {"stdin", no_argument, NULL, OPTION_STDIN},
      {"yaml-file", required_argument, NULL, OPTION_YAML_FILE},
      {"ros1", no_argument, NULL, OPTION_ROS1},
      {"qos-profile", required_argument, NULL, OPTION_PROFILE},
      {"qos-depth", required_argument, NULL, OPTION_DEPTH},
      {"qos-history", required_argument, NULL, OPTION_HISTORY},
      {"qos-reliability", required_argument, NULL, OPTION_RELIABILITY},
      {"qos-durability", required_argument, NULL, OPTION_DURABILITY},
      {"qos-liveliness", required_argument, NULL, OPTION_LIVELINESS},
      {"qos-liveliness-lease-duration-seconds", required_argument, NULL, OPTION_LEASE},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  bool is_once = false, has_times = false;
  for (int option; (option = command_next_option(argc, argv, ":h1r:t:p:w:n:", options)) != -1;) {
    if (option == 'h') {
      *out_help = true;
      return EXIT_OK;
    }
    is_once |= option == '1';
    has_times |= option == 't';
    if (!take(command, option, argv, out)) return EXIT_USAGE;
  }
  const char *only_ros2 = out->use_sim_time  ? "--use-sim-time"
                          : out->domain >= 0 ? "--domain"
                          : out->node        ? "--node-name"
                                             : NULL;
  if (out->ros1 && only_ros2)
    return command_usage_error(command, "%s cannot be used with --ros1", only_ros2);
  if (is_once && has_times)
    return command_usage_error(command, "--once and --times exclude each other");
  if (out->wait_matching < 0) out->wait_matching = out->times > 0;
  return take_words(command, argc, argv, out);
}

const char topic_pub_usage[] =
    "timebase topic pub TOPIC TYPE [YAML | --stdin | --yaml-file FILE] [-r HZ] [-1 | -t N] [-w N]\n"
    "       [--qos-...] [--domain N | --ros1]";

const char topic_pub_help[] =
    "Publishes a message on a ROS 2 graph, with the options of 'ros2 topic pub'. YAML is a "
    "mapping\n"
    "of fields: \"{linear: {x: 0.5}}\"; others have their defaults. 'now' for a time is the time "
    "of\n"
    "each message, and so is the stamp of 'auto' for a std_msgs/msg/Header. Definitions come from\n"
    "AMENT_PREFIX_PATH, --definitions, are built in, or come from a node that has the type.\n\n"
    "  --stdin            YAML is what standard input has, to its end\n"
    "  --yaml-file FILE   YAML of several messages, with a line of --- between them, as 'timebase\n"
    "                     topic echo' and 'ros2 topic echo' print them: one after the other\n"
    "  -r, --rate HZ      messages a second (default 1)\n"
    "  -1, --once         one message\n"
    "  -t, --times N      N messages; otherwise until SIGINT or SIGTERM\n"
    "  -w, --wait-matching-subscriptions N\n"
    "                     wait for so many subscriptions first (default: 1 with -1 and -t, else "
    "0)\n"
    "  --max-wait-time-secs S\n"
    "                     no longer than that: status 1\n"
    "  --keep-alive S     stay so long after the last message (default 0.2), beyond the wait of "
    "at\n"
    "                     most 5 s for reliable subscriptions to acknowledge it\n"
    "  -p, --print N      print each N-th message (default 1; 0: none)\n"
    "  -n, --node-name NAME\n"
    "                     of the node\n"
    "  --use-sim-time     rate and 'now' in the time of /clock; it waits for the first tick\n"
    "  --qos-profile default|sensor_data|services_default|parameters|...\n"
    "  --qos-reliability reliable|best_effort, --qos-durability volatile|transient_local,\n"
    "  --qos-history keep_last|keep_all, --qos-depth N, --qos-liveliness "
    "automatic|manual_by_topic,\n"
    "  --qos-liveliness-lease-duration-seconds S\n"
    "                     the QoS that it offers (default: reliable, volatile, the last 10)\n"
    "  --definitions DIR  where message definitions are looked for; up to 16 times\n"
    "  --domain N         DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
    "  --ros1             on the ROS 1 graph of ROS_MASTER_URI. TYPE is that of ROS 1; of the QoS\n"
    "                     durability transient_local latches, and the others mean nothing there\n"
    "  -h, --help         this text\n\n"
    "Status 2 if YAML is not of the type, 3 if its definition is found nowhere.\n";
