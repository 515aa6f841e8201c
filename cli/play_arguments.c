#include "play_arguments.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rosbag2_options.h"

#define RATE_MIN  0.001 /* see timebase/player.h */
#define RATE_MAX  1000
#define CLOCK_MIN 0.001
#define CLOCK_MAX 10000

enum {
  OPTION_CLOCK = 256,
  OPTION_CLOCK_TOPICS,
  OPTION_CLOCK_TOPICS_ALL,
  OPTION_OFFSET,
  OPTION_DURATION,
  OPTION_UNTIL_SEC,
  OPTION_UNTIL_NSEC,
  OPTION_TOPICS,
  OPTION_EXCLUDE_TOPICS,
  OPTION_QOS,
  OPTION_DEPTH,
  OPTION_BACKLOG,
  OPTION_AHEAD,
  OPTION_ACKED,
  OPTION_WAIT_ACKS,
  OPTION_WAIT_FOR,
  OPTION_NO_KEYBOARD,
  OPTION_SIM_TIME,
  OPTION_PLAIN,
  OPTION_DOMAIN,
  OPTION_RUN,
  OPTION_MANIFEST,
  OPTION_ROS1,
  OPTION_SERVICES,
  OPTION_EXCLUDE_SERVICES,
  OPTION_ACTIONS,
  OPTION_EXCLUDE_ACTIONS,
  OPTION_ORDER,
  OPTION_KEEP_ALIVE,
  OPTION_HOLD,
  OPTION_SHM,
  OPTION_NO_CLOCK_TOPIC,
  OPTION_REQUESTS,
  OPTION_GOALS,
  OPTION_REQUEST_SOURCE,
};

static const struct option options[] = {
    {"clock", optional_argument, NULL, OPTION_CLOCK},
    {"manifest", required_argument, NULL, OPTION_MANIFEST},
    {"clock-topics", required_argument, NULL, OPTION_CLOCK_TOPICS},
    {"clock-topics-all", no_argument, NULL, OPTION_CLOCK_TOPICS_ALL},
    {"shm", required_argument, NULL, OPTION_SHM},
    {"no-clock-topic", no_argument, NULL, OPTION_NO_CLOCK_TOPIC},
    {"rate", required_argument, NULL, 'r'},
    {"loop", no_argument, NULL, 'l'},
    {"delay", required_argument, NULL, 'd'},
    {"start-paused", no_argument, NULL, 'p'},
    {"start-offset", required_argument, NULL, OPTION_OFFSET},
    {"playback-duration", required_argument, NULL, OPTION_DURATION},
    {"playback-until-sec", required_argument, NULL, OPTION_UNTIL_SEC},
    {"playback-until-nsec", required_argument, NULL, OPTION_UNTIL_NSEC},
    {"topics", required_argument, NULL, OPTION_TOPICS},
    {"exclude-topics", required_argument, NULL, OPTION_EXCLUDE_TOPICS},
    {"regex", required_argument, NULL, 'e'},
    {"exclude-regex", required_argument, NULL, 'x'},
    {"remap", required_argument, NULL, 'm'},
    {"qos-profile-overrides-path", required_argument, NULL, OPTION_QOS},
    {"max-depth", required_argument, NULL, OPTION_DEPTH},
    {"max-backlog", required_argument, NULL, OPTION_BACKLOG},
    {"message-order", required_argument, NULL, OPTION_ORDER},
    {"keep-alive", no_argument, NULL, OPTION_KEEP_ALIVE},
    {"hold", no_argument, NULL, OPTION_HOLD},
    {"read-ahead-queue-size", required_argument, NULL, OPTION_AHEAD},
    {"wait-for-all-acked", required_argument, NULL, OPTION_ACKED},
    {"wait-for-acks", no_argument, NULL, OPTION_WAIT_ACKS},
    {"wait-for", required_argument, NULL, OPTION_WAIT_FOR},
    {"disable-keyboard-controls", no_argument, NULL, OPTION_NO_KEYBOARD},
    {"use-sim-time", no_argument, NULL, OPTION_SIM_TIME},
    {"plain", no_argument, NULL, OPTION_PLAIN},
    {"ros1", no_argument, NULL, OPTION_ROS1},
    {"domain", required_argument, NULL, OPTION_DOMAIN},
    {"run", required_argument, NULL, OPTION_RUN},
    {"input", required_argument, NULL, 'i'},
    {"storage", required_argument, NULL, 's'},
    {"services", required_argument, NULL, OPTION_SERVICES},
    {"exclude-services", required_argument, NULL, OPTION_EXCLUDE_SERVICES},
    {"actions", required_argument, NULL, OPTION_ACTIONS},
    {"exclude-actions", required_argument, NULL, OPTION_EXCLUDE_ACTIONS},
    {"publish-service-requests", no_argument, NULL, OPTION_REQUESTS},
    {"service-requests-source", required_argument, NULL, OPTION_REQUEST_SOURCE},
    {"send-actions-as-client", no_argument, NULL, OPTION_GOALS},
    {"storage-config-file", required_argument, NULL, ROSBAG2_NO_EFFECT},
    {"disable-loan-message", no_argument, NULL, ROSBAG2_NO_EFFECT},
    {"progress-bar", required_argument, NULL, ROSBAG2_NO_EFFECT},
    {"progress-bar-update-rate", required_argument, NULL, ROSBAG2_NO_EFFECT},
    {"progress-bar-separation-lines", required_argument, NULL, ROSBAG2_NO_EFFECT},
    {"log-level", required_argument, NULL, ROSBAG2_LOG_LEVEL},
    {"num-messages", required_argument, NULL, 'n'},
    PLAY_CHANGE_OPTIONS,
    BAG_LIMIT_OPTIONS,
    {"help", no_argument, NULL, 'h'},
    {0},
};

bool play_arguments_init(play_arguments_t *arguments, int *argc, char **argv)
{
  tb_player_options_t player = TB_PLAYER_OPTIONS_INIT;
  *arguments = (play_arguments_t){.player = player,
                                  .backlog_max = UINT64_C(256) << 20,
                                  .domain = -1,
                                  .requests.source = TB__SERVICE_REQUEST_RECEIVED};
  *argc = ros_arguments_take(*argc, argv, &arguments->ros);
  if (*argc < 0) return false;
  words_t *lists[] = {&arguments->bags,
                      &arguments->topics,
                      &arguments->exclude_topics,
                      &arguments->clock_topics,
                      &arguments->remaps,
                      &arguments->services,
                      &arguments->exclude_services,
                      &arguments->actions,
                      &arguments->exclude_actions};
  arguments->waits = calloc((size_t)*argc + 1, sizeof *arguments->waits);
  bool complete = arguments->waits;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    lists[i]->items = calloc((size_t)*argc + 1, sizeof *lists[i]->items);
    complete = complete && lists[i]->items;
  }
  return play_changes_init(&arguments->changes, *argc) && complete;
}

void play_arguments_fini(play_arguments_t *arguments)
{
  for (size_t i = 0; i < arguments->wait_count; i++)
    free((char *)(uintptr_t)arguments->waits[i].topic); /* and the node's name after it */
  free(arguments->waits);
  free(arguments->bags.items);
  free(arguments->topics.items);
  free(arguments->exclude_topics.items);
  free(arguments->clock_topics.items);
  free(arguments->remaps.items);
  play_changes_fini(&arguments->changes);
  for (size_t i = 0; i < arguments->services.count; i++)
    free((char *)(uintptr_t)arguments->services.items[i]);
  for (size_t i = 0; i < arguments->exclude_services.count; i++)
    free((char *)(uintptr_t)arguments->exclude_services.items[i]);
  free(arguments->actions.items);
  free(arguments->exclude_actions.items);
  free(arguments->services.items);
  free(arguments->exclude_services.items);
  ros_arguments_release(&arguments->ros);
}

/* The word after `--clock` is its value if it is a number, as with `ros2 bag play`. */
static bool parse_clock(const command_t *command, int argc, char **argv, double *out)
{
  const char *text = optarg;
  if (!text && optind < argc && strchr("0123456789.", argv[optind][0]) && argv[optind][0]) {
    char *end;
    strtod(argv[optind], &end);
    if (!*end || !strcasecmp(end, "hz") || !strcasecmp(end, "khz")) text = argv[optind++];
  }
  *out = TB_PLAYER_CLOCK_HZ;
  return !text || command_parse_hz(command, "--clock", text, CLOCK_MIN, CLOCK_MAX, out);
}

static bool parse_rate(const command_t *command, double *out)
{
  if (strcmp(optarg, "max") == 0) {
    *out = TB_PLAYER_FASTEST;
    return true;
  }
  char *end;
  *out = strtod(optarg, &end);
  if (end != optarg && !*end && *out >= RATE_MIN && *out <= RATE_MAX) return true;
  command_usage_error(command, "--rate %s: must be a number from %g to %g, or max", optarg,
                      (double)RATE_MIN, (double)RATE_MAX);
  return false;
}

static bool parse_positive(const command_t *command, const char *name, tb_duration_t *out)
{
  if (!command_parse_duration(command, name, optarg, out)) return false;
  if (out->ns >= 0) return true;
  command_usage_error(command, "%s %s: must not be negative", name, optarg);
  return false;
}

/* Whole seconds and fractions exactly, as a duration reads them. */
static bool parse_until_sec(const command_t *command, int64_t *out_ns)
{
  tb_duration_t since_1970;
  if (tb_duration_parse(optarg, &since_1970) == TB_OK) {
    *out_ns = since_1970.ns;
    return true;
  }
  command_usage_error(command, "--playback-until-sec %s: not a time; write seconds since 1970",
                      optarg);
  return false;
}

static bool parse_until_nsec(const command_t *command, int64_t *out_ns)
{
  char *end;
  long long value = strtoll(optarg, &end, 10);
  if (*optarg && !*end) {
    *out_ns = value;
    return true;
  }
  command_usage_error(command, "--playback-until-nsec %s: must be a whole number", optarg);
  return false;
}

static bool parse_acked(const command_t *command, tb_duration_t *out)
{
  int ms = 0;
  if (!command_parse_int(command, "--wait-for-all-acked", optarg, 0, INT32_MAX, &ms)) return false;
  out->ns = ms * TB_NS_PER_MS;
  return true;
}

static bool parse_ahead(const command_t *command, size_t *out)
{
  int messages = 0;
  if (!command_parse_int(command, "--read-ahead-queue-size", optarg, 1, INT32_MAX, &messages))
    return false;
  *out = (size_t)messages;
  return true;
}

/* False: what is wrong with it was printed. */
static bool read_wait(const command_t *command, char *node, tb_ros2_play_wait_t *wait)
{
  static const char form[] = "write OUT=NODE or OUT=NODE:LAG, a topic and the node that publishes "
                             "it, such as /odom=/slam:100ms";
  tb_error_t error = TB_ERROR_INIT;
  if (!node) {
    command_usage_error(command, "--wait-for %s: no '=': %s", optarg, form);
    return false;
  }
  *node++ = '\0';
  char *lag = strchr(node, ':');
  if (lag) *lag++ = '\0';
  wait->node = node;
  if (lag && tb_duration_parse(lag, &wait->lag) != TB_OK) {
    command_usage_error(command, "--wait-for %s: LAG '%s' is not a duration: %s", optarg, lag,
                        form);
    return false;
  }
  if (tb_ros2_play_wait_check(wait, &error) == TB_OK) return true;
  command_usage_error(command, "--wait-for %s: %s: %s", optarg, error.text, form);
  return false;
}

/* OUT=NODE[:LAG]. */
static bool parse_wait(const command_t *command, play_arguments_t *arguments)
{
  char *text = strdup(optarg);
  tb_ros2_play_wait_t *wait = &arguments->waits[arguments->wait_count];
  if (!text) {
    command_failed(command, TB_ERR_NO_MEMORY, NULL);
    return false;
  }
  *wait = (tb_ros2_play_wait_t){.topic = text, .lag = TB_ROS2_PLAY_LAG_DEFAULT};
  arguments->wait_count++;
  return read_wait(command, strchr(text, '='), wait);
}

static int take_bag(const char *word, play_arguments_t *arguments)
{
  arguments->bags.items[arguments->bags.count++] = word;
  return EXIT_OK;
}

/* The topics of service events: "/add" is "/add/_service_event", to be freed. */
static bool take_services(const command_t *command, int argc, char **argv, words_t *services)
{
  const char *word = optarg;
  for (;;) {
    char *topic = NULL;
    if (asprintf(&topic, "/%s/_service_event", word + (*word == '/')) < 0) {
      command_failed(command, TB_ERR_NO_MEMORY, NULL);
      return false;
    }
    services->items[services->count++] = topic;
    if (optind == argc || argv[optind][0] == '-') return true;
    word = argv[optind++];
  }
}

/* URI [STORAGE]: the storage is told from the files. */
static void take_input(int argc, char **argv, play_arguments_t *arguments)
{
  static const char *const storages[] = {"sqlite3", "mcap", "rosbag1", NULL};
  arguments->bags.items[arguments->bags.count++] = optarg;
  for (int i = 0; storages[i] && optind < argc; i++)
    if (strcmp(argv[optind], storages[i]) == 0) {
      optind++;
      return;
    }
}

/* Options that only set something. False: it is none of them. */
static bool take_flag(int option, play_arguments_t *arguments)
{
  switch (option) {
  case OPTION_CLOCK_TOPICS_ALL:
    arguments->player.clock_topics_all = true;
    return true;
  case OPTION_NO_CLOCK_TOPIC:
    arguments->no_clock_topic = true;
    return true;
  case 'l':
    arguments->player.loop = true;
    return true;
  case 'p':
    arguments->player.start_paused = true;
    return true;
  case OPTION_KEEP_ALIVE:
    arguments->player.keep_alive = true;
    return true;
  case OPTION_HOLD:
    arguments->screen.holds = true;
    return true;
  case OPTION_QOS:
    arguments->qos_path = optarg;
    return true;
  case OPTION_NO_KEYBOARD:
    arguments->screen.no_keyboard = true;
    return true;
  case OPTION_PLAIN:
    arguments->screen.plain = true;
    return true;
  case OPTION_SIM_TIME:
    arguments->use_sim_time = true;
    return true;
  case OPTION_REQUESTS:
    arguments->requests.services = true;
    return true;
  case OPTION_GOALS:
    arguments->requests.actions = true;
    return true;
  case OPTION_ROS1:
    arguments->ros1 = true;
    return true;
  case OPTION_WAIT_ACKS:
    arguments->wait_for_acks = true;
    return true;
  default:
    return false;
  }
}

/* Options with lists of words. False: it is none of them. */
static bool take_list(int option, int argc, char **argv, play_arguments_t *arguments)
{
  words_t *list = option == OPTION_TOPICS            ? &arguments->topics
                  : option == OPTION_EXCLUDE_TOPICS  ? &arguments->exclude_topics
                  : option == OPTION_CLOCK_TOPICS    ? &arguments->clock_topics
                  : option == OPTION_ACTIONS         ? &arguments->actions
                  : option == OPTION_EXCLUDE_ACTIONS ? &arguments->exclude_actions
                  : option == 'm'                    ? &arguments->remaps
                                                     : NULL;
  if (list) words_take(list, argc, argv);
  return list;
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

static bool parse_order(const command_t *command, tb_player_order_t *out)
{
  bool sent = strcmp(optarg, "sent") == 0;
  if (!sent && strcmp(optarg, "received") != 0) {
    command_usage_error(command, "--message-order: '%s' is neither sent nor received", optarg);
    return false;
  }
  *out = sent ? TB_PLAYER_ORDER_SENT : TB_PLAYER_ORDER_RECEIVED;
  return true;
}

static bool parse_value(const command_t *command, int option, int argc, char **argv,
                        play_arguments_t *arguments)
{
  tb_player_options_t *player = &arguments->player;
  switch (option) {
  case OPTION_CLOCK:
    return parse_clock(command, argc, argv, &player->clock_hz);
  case 'r':
    return parse_rate(command, &player->rate);
  case 'e':
    return parse_expression(command, "--regex", &arguments->regex);
  case 'x':
    return parse_expression(command, "--exclude-regex", &arguments->exclude_regex);
  case 'd':
    return parse_positive(command, "--delay", &player->delay);
  case OPTION_MANIFEST:
    arguments->manifest_path = optarg;
    return true;
  case OPTION_SHM:
    arguments->shm = optarg;
    return true;
  case OPTION_OFFSET:
    return parse_positive(command, "--start-offset", &player->start_offset);
  case OPTION_DURATION:
    return command_parse_duration(command, "--playback-duration", optarg,
                                  &player->playback_duration);
  case OPTION_UNTIL_SEC:
    return parse_until_sec(command, &player->playback_until_ns);
  case OPTION_UNTIL_NSEC:
    return parse_until_nsec(command, &player->playback_until_ns);
  case OPTION_DEPTH:
    return command_parse_int(command, "--max-depth", optarg, 1, INT32_MAX, &arguments->depth_max);
  case OPTION_BACKLOG:
    return command_parse_size(command, "--max-backlog", optarg, UINT64_MAX,
                              &arguments->backlog_max);
  case OPTION_ORDER:
    return parse_order(command, &player->order);
  case OPTION_AHEAD:
    return parse_ahead(command, &player->read_ahead_messages);
  case OPTION_ACKED:
    return parse_acked(command, &player->ack_limit);
  case OPTION_WAIT_FOR:
    return parse_wait(command, arguments);
  case 'i':
    take_input(argc, argv, arguments);
    return true;
  case OPTION_REQUEST_SOURCE:
    return play_requests_parse_source(command, optarg, &arguments->requests.source);
  case OPTION_SERVICES:
    return take_services(command, argc, argv, &arguments->services);
  case OPTION_EXCLUDE_SERVICES:
    return take_services(command, argc, argv, &arguments->exclude_services);
  case OPTION_DOMAIN:
    return command_parse_domain(command, optarg, &arguments->domain);
  case 'n':
    if (arguments->has_burst)
      return command_parse_int(command, "--num-messages", optarg, 0, INT_MAX, &arguments->burst);
    command_usage_error(command, "--num-messages is an option of 'timebase bag burst'");
    return false;
  case OPTION_RUN:
    return command_parse_int(command, "--run", optarg, 1, INT_MAX, &arguments->run);
  default:
    return play_changes_option(&arguments->changes, command, option, argc, argv,
                               &arguments->player);
  }
}

static int parse_option(const command_t *command, int option, int argc, char **argv,
                        play_arguments_t *arguments)
{
  int result;
  if (bag_limit_option(command, option, &arguments->limits, &result)) return result;
  if (is_rosbag2_option(option) || option == 's') return rosbag2_option(command, option);
  if (option == 1) return take_bag(optarg, arguments);
  if (take_flag(option, arguments) || take_list(option, argc, argv, arguments)) return EXIT_OK;
  return parse_value(command, option, argc, argv, arguments) ? EXIT_OK : EXIT_USAGE;
}

/* "/clock:=NAME" is the name of the clock that is published: the node's own subscription keeps
 * its topic. */
static void take_own_clock(play_arguments_t *arguments)
{
  static const char rule[] = "clock:=";
  words_t *remaps = &arguments->remaps;
  size_t kept = 0;
  for (size_t i = 0; i < remaps->count; i++) {
    const char *word = remaps->items[i];
    const char *name = word + (*word == '/');
    bool is_own = strncmp(name, rule, sizeof rule - 1) == 0;
    if (is_own && !arguments->own_clock) arguments->own_clock = name + sizeof rule - 1;
    if (!is_own) remaps->items[kept++] = word;
  }
  remaps->count = kept;
}

/* The option given that only a graph of ROS 2 has; NULL: none. */
static const char *ros2_option(const play_arguments_t *arguments)
{
  return arguments->wait_for_acks       ? "--wait-for-acks"
         : arguments->wait_count > 0    ? "--wait-for"
         : arguments->qos_path          ? "--qos-profile-overrides-path"
         : arguments->depth_max > 0     ? "--max-depth"
         : arguments->domain >= 0       ? "--domain"
         : arguments->ros.argv          ? "--ros-args"
         : arguments->no_clock_topic    ? "--no-clock-topic"
         : arguments->requests.services ? "--publish-service-requests"
         : arguments->requests.actions  ? "--send-actions-as-client"
                                        : NULL;
}

static int check(const command_t *command, play_arguments_t *arguments)
{
  const tb_player_options_t *player = &arguments->player;
  bool has_clock =
      player->clock_hz > 0 || player->clock_topics_all || arguments->clock_topics.count > 0;
  if (arguments->shm && !has_clock) arguments->player.clock_hz = TB_PLAYER_CLOCK_HZ;
  if (arguments->no_clock_topic && !arguments->shm)
    return command_usage_error(command, "--no-clock-topic needs --shm NAME");
  int clocks =
      (player->clock_hz > 0) + player->clock_topics_all + (arguments->clock_topics.count > 0);
  if (arguments->use_sim_time && player->rate == TB_PLAYER_FASTEST)
    return command_usage_error(
        command, "--rate max cannot be used with --use-sim-time: it follows no clock");
  if (arguments->use_sim_time && clocks > 0) take_own_clock(arguments);
  if (arguments->ros1 && ros2_option(arguments))
    return command_usage_error(command, "%s cannot be used with --ros1: a graph of ROS 1 has none",
                               ros2_option(arguments));
  if (arguments->bags.count == 0) return command_usage_error(command, "missing BAG");
  if (clocks > 1)
    return command_usage_error(
        command, "--clock, --clock-topics and --clock-topics-all cannot be used together");
  return EXIT_OK;
}

int play_arguments_parse(const command_t *command, int argc, char **argv,
                         play_arguments_t *arguments, bool *out_help)
{
  int option, result = EXIT_OK;
  while (!result &&
         (option = command_next_option(argc, argv, "-:r:ld:pe:x:m:s:i:n:h", options)) != -1) {
    if (option == 'h') {
      *out_help = true;
      return EXIT_OK;
    }
    result = parse_option(command, option, argc, argv, arguments);
  }
  while (!result && optind < argc)
    result = take_bag(argv[optind++], arguments);
  return result ? result : check(command, arguments);
}
