#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_play_transport.h>
#include <unistd.h>

#include "play_screen.h"

#define RATE_MIN  0.001 /* see timebase/player.h */
#define RATE_MAX  1000
#define CLOCK_MIN 0.001
#define CLOCK_MAX 10000

enum { OPTION_CLOCK = 256, OPTION_OFFSET, OPTION_TOPICS, OPTION_DOMAIN };

typedef struct arguments {
  const char *bag;
  tb_player_options_t player;
  const char **topics; /* as given, then as recorded */
  size_t topic_count;
  int domain;
} arguments_t;

/* What plays, and the thread that it plays on. */
typedef struct session {
  const command_t *command;
  tb_bag_reader_t *reader;
  tb_ros2_context_t *context;
  tb_ros2_play_transport_t *transport;
  tb_player_t *player;
  int done[2]; /* a pipe that ends when the thread does */
  tb_status_t status;
  tb_error_t error;
} session_t;

/* --- arguments --- */

/* The word behind `--clock` is its value if it is a number, as with `ros2 bag play`. */
static bool parse_clock(const command_t *command, int argc, char **argv, double *out)
{
  const char *text = optarg;
  if (!text && optind < argc && strchr("0123456789.", argv[optind][0]) && argv[optind][0]) {
    char *end;
    strtod(argv[optind], &end);
    if (!*end) text = argv[optind++];
  }
  *out = TB_PLAYER_CLOCK_HZ;
  return !text || command_parse_double(command, "--clock", text, CLOCK_MIN, CLOCK_MAX, out);
}

static bool parse_offset(const command_t *command, tb_duration_t *out)
{
  if (!command_parse_duration(command, "--start-offset", optarg, out)) return false;
  if (out->ns >= 0) return true;
  command_usage_error(command, "--start-offset %s: must not be negative", optarg);
  return false;
}

/* The words behind `--topics`, up to the next option. */
static void take_topics(int argc, char **argv, arguments_t *arguments)
{
  arguments->topics[arguments->topic_count++] = optarg;
  while (optind < argc && argv[optind][0] != '-')
    arguments->topics[arguments->topic_count++] = argv[optind++];
}

static int take_bag(const command_t *command, const char *word, arguments_t *arguments)
{
  if (arguments->bag) return command_usage_error(command, "unexpected argument '%s'", word);
  arguments->bag = word;
  return EXIT_OK;
}

static int parse_option(const command_t *command, int option, int argc, char **argv,
                        arguments_t *arguments)
{
  tb_player_options_t *player = &arguments->player;
  switch (option) {
  case 1:
    return take_bag(command, optarg, arguments);
  case OPTION_CLOCK:
    return parse_clock(command, argc, argv, &player->clock_hz) ? EXIT_OK : EXIT_USAGE;
  case 'r':
    return command_parse_double(command, "--rate", optarg, RATE_MIN, RATE_MAX, &player->rate)
               ? EXIT_OK
               : EXIT_USAGE;
  case 'l':
    player->loop = true;
    return EXIT_OK;
  case 'p':
    player->start_paused = true;
    return EXIT_OK;
  case OPTION_OFFSET:
    return parse_offset(command, &player->start_offset) ? EXIT_OK : EXIT_USAGE;
  case OPTION_TOPICS:
    take_topics(argc, argv, arguments);
    return EXIT_OK;
  case OPTION_DOMAIN:
    return command_parse_int(command, "--domain", optarg, 0, 232, &arguments->domain) ? EXIT_OK
                                                                                      : EXIT_USAGE;
  default:
    return command_bad_option(command, option, argv);
  }
}

static int parse(const command_t *command, int argc, char **argv, arguments_t *arguments,
                 bool *out_help)
{
  static const struct option options[] = {
      {"clock", optional_argument, NULL, OPTION_CLOCK},
      {"rate", required_argument, NULL, 'r'},
      {"loop", no_argument, NULL, 'l'},
      {"start-offset", required_argument, NULL, OPTION_OFFSET},
      {"start-paused", no_argument, NULL, 'p'},
      {"topics", required_argument, NULL, OPTION_TOPICS},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  int option, result = EXIT_OK;
  while (!result && (option = getopt_long(argc, argv, "-:r:lph", options, NULL)) != -1) {
    if (option == 'h') {
      *out_help = true;
      return EXIT_OK;
    }
    result = parse_option(command, option, argc, argv, arguments);
  }
  while (!result && optind < argc)
    result = take_bag(command, argv[optind++], arguments);
  if (!result && !arguments->bag) result = command_usage_error(command, "which recording?");
  return result;
}

/* --- opening --- */

static const char *without_slash(const char *name)
{
  return name + (*name == '/');
}

/* Puts the recorded name in the place of the given one. False: a message was printed. */
static bool resolve_topic(const command_t *command, const tb_bag_info_t *info, const char **topic)
{
  for (size_t i = 0; i < info->topic_count; i++) {
    if (strcmp(without_slash(info->topics[i].name), without_slash(*topic)) != 0) continue;
    *topic = info->topics[i].name;
    return true;
  }
  fprintf(stderr, "timebase %s: --topics: %s has no topic %s; it has", command->name, info->path,
          *topic);
  for (size_t i = 0; i < info->topic_count; i++)
    fprintf(stderr, "%s %s", i ? "," : "", info->topics[i].name);
  fprintf(stderr, "\nusage: %s\n", command->usage);
  return false;
}

/* The names of --topics become the recorded ones. The log comes with the second opening. */
static int resolve_topics(const command_t *command, arguments_t *arguments,
                          tb_bag_reader_t **out_whole)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_bag_reader_open(arguments->bag, NULL, out_whole, &error);
  if (status) return command_failed(command, status, &error);
  for (size_t i = 0; i < arguments->topic_count; i++)
    if (!resolve_topic(command, tb_bag_reader_info(*out_whole), &arguments->topics[i]))
      return EXIT_USAGE;
  return EXIT_OK;
}

static int open_bag(session_t *session, arguments_t *arguments)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_reader_t *whole = NULL; /* owns the names */
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  int result = EXIT_OK;
  if (arguments->topic_count > 0) result = resolve_topics(session->command, arguments, &whole);
  command_show_log(session->command);
  options.topics = arguments->topics;
  options.topic_count = arguments->topic_count;
  if (!result) {
    tb_status_t status = tb_bag_reader_open(arguments->bag, &options, &session->reader, &error);
    if (status) result = command_failed(session->command, status, &error);
  }
  tb_bag_reader_close(whole);
  return result;
}

static int open_player(session_t *session, const arguments_t *arguments)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t context = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_play_transport_options_t transport = TB_ROS2_PLAY_TRANSPORT_OPTIONS_INIT;
  context.domain_id = arguments->domain;
  transport.clock = arguments->player.clock_hz > 0;
  tb_status_t status = tb_ros2_context_create(&context, &session->context, &error);
  if (!status)
    status =
        tb_ros2_play_transport_create(session->context, &transport, &session->transport, &error);
  if (!status) {
    tb_play_transport_t interface = tb_ros2_play_transport_interface(session->transport);
    status =
        tb_player_create(session->reader, &interface, &arguments->player, &session->player, &error);
  }
  if (status == TB_ERR_RANGE && session->transport) /* what was asked for does not fit the bag */
    return command_usage_error(session->command, "%s", error.text);
  return status ? command_failed(session->command, status, &error) : EXIT_OK;
}

static void close_session(session_t *session)
{
  tb_player_destroy(session->player);
  tb_ros2_play_transport_destroy(session->transport);
  tb_ros2_context_destroy(session->context);
  tb_bag_reader_close(session->reader);
}

/* --- playing --- */

static void *play(void *user)
{
  session_t *session = user;
  session->status = tb_player_run(session->player, &session->error);
  close(session->done[1]);
  return NULL;
}

static void stop(session_t *session, play_screen_t *screen)
{
  command_die_of_late_signals();
  terminal_close(&screen->terminal);
  tb_player_stop(session->player);
}

/* False: nobody reads any more. */
static bool show(const session_t *session, const play_screen_t *screen)
{
  tb_player_status_t status;
  tb_player_status(session->player, &status);
  play_screen_show(screen, &status);
  return command_flush();
}

/* Until the player is done. True: it was stopped. */
static bool attend(session_t *session, play_screen_t *screen)
{
  bool stopped = false;
  for (;;) {
    struct pollfd fds[] = {{session->done[0], POLLIN, 0},
                           {stopped ? -1 : command_signal_fd(), POLLIN, 0},
                           {screen->terminal.keyboard ? STDIN_FILENO : -1, POLLIN, 0}};
    int ready = poll(fds, 3, terminal_period_ms(&screen->terminal));
    if (ready > 0 && fds[0].revents) return stopped;
    if (ready > 0 && fds[1].revents) {
      stopped = true;
      stop(session, screen);
    }
    if (ready > 0 && fds[2].revents)
      for (int spaces = play_screen_read_spaces(screen); spaces > 0; spaces--)
        tb_player_toggle_paused(session->player);
    if ((ready == 0 || screen->terminal.screen) && !stopped && !show(session, screen)) {
      stopped = true;
      stop(session, screen);
    }
  }
}

static int play_session(session_t *session)
{
  pthread_t thread;
  play_screen_t screen;
  if (pipe(session->done) != 0) return command_failed(session->command, TB_ERR_SYSTEM, NULL);
  if (pthread_create(&thread, NULL, play, session) != 0)
    return command_failed(session->command, TB_ERR_SYSTEM, NULL);
  play_screen_open(&screen, tb_bag_reader_info(session->reader));
  if (tb_player_is_paused(session->player) && !screen.terminal.keyboard)
    fprintf(stderr, "timebase play: paused, and there is no terminal to resume it from\n");
  bool stopped = attend(session, &screen);
  pthread_join(thread, NULL);
  terminal_close(&screen.terminal);
  tb_player_status_t status;
  tb_player_status(session->player, &status);
  play_screen_summary(&screen, &status, stopped);
  command_flush();
  if (!session->status && status.bad_rows > 0) {
    fprintf(stderr,
            "timebase play: the recording is damaged: %llu time%s a part of it could not be "
            "read\n",
            (unsigned long long)status.bad_rows, status.bad_rows == 1 ? "" : "s");
    return EXIT_IO;
  }
  if (session->status) return command_failed(session->command, session->status, &session->error);
  return EXIT_OK;
}

static int run(const command_t *command, int argc, char **argv)
{
  bool help = false;
  arguments_t arguments = {.player = TB_PLAYER_OPTIONS_INIT, .domain = -1};
  session_t session = {.command = command, .error = TB_ERROR_INIT};
  arguments.topics = calloc((size_t)argc, sizeof *arguments.topics);
  if (!arguments.topics) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  int result = parse(command, argc, argv, &arguments, &help);
  if (!result && !help) {
    result = open_bag(&session, &arguments); /* may take long: a signal kills it */
    command_catch_signals();
    if (!result) result = open_player(&session, &arguments);
    if (!result) result = play_session(&session);
    close_session(&session);
  }
  free(arguments.topics);
  return help ? command_help(command) : command_finish(command, result);
}

const command_t command_play = {
    .name = "play",
    .summary = "play a recording of rosbag2, with /clock",
    .usage = "timebase play BAG [--clock [HZ]] [-r RATE] [-l] [-p] [--start-offset S] "
             "[--topics T...] [--domain N]",
    .help =
        "Plays BAG (a folder with metadata.yaml, or a .db3 file) on the ROS 2 graph.\n\n"
        "  --clock [HZ]       publish /clock, HZ times a second (0.001 to 10000, default 40) and\n"
        "                     before each message; a recorded /clock is left out. The word behind\n"
        "                     it is taken for HZ if it is a number: write --clock=40 before a BAG\n"
        "                     named so\n"
        "  -r, --rate R       recorded seconds per second, 0.001 to 1000 (default 1)\n"
        "  -l, --loop         start again at the end, until stopped\n"
        "  -p, --start-paused begin paused, with /clock at the start time; SPACE starts\n"
        "  --start-offset S   skip S of the recording, in each round (1.5s, 2m; bare: seconds)\n"
        "  --topics T...      only these topics: all words up to the next option (or --)\n"
        "  --domain N         DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  -h, --help         this text\n\n"
        "SPACE pauses and resumes, on a terminal. Time starts with the first message and never\n"
        "runs ahead of the data: the last tick is the last message's time. SIGINT and SIGTERM end\n"
        "the playing within a second, as does a closed output; that is a normal end, with exit\n"
        "status 0. Where a part of the recording cannot be read, the rest is played: status 3.\n",
    .run = run,
};
