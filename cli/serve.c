#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/clock_server.h>
#include <unistd.h>

#include "serve_sinks.h"
#include "terminal.h"
#include "text.h"

#define FACTOR_MIN 0.001 /* see timebase/clock_server.h */
#define FACTOR_MAX 1000
#define HZ_MIN     0.001
#define HZ_MAX     10000
#define LINGER_MS  200 /* for the last tick to arrive before its publisher is destroyed */

enum {
  OPTION_START = 256,
  OPTION_HZ,
  OPTION_TOPIC,
  OPTION_NO_TOPIC,
  OPTION_SHM,
  OPTION_ROS1,
  OPTION_FAST,
  OPTION_UNTIL,
  OPTION_STEP,
  OPTION_DOMAIN,
  OPTION_NODE,
  OPTION_NAMESPACE,
  OPTION_NO_SERVICES
};

typedef struct arguments {
  tb_clock_server_options_t server;
  serve_places_t places;
  tb_duration_t step; /* 0: a tick */
  bool services;
} arguments_t;

/* The server, and the thread that it runs on. */
typedef struct session {
  const command_t *command;
  const arguments_t *arguments;
  tb_clock_server_t *server;
  serve_sinks_t sinks;
  terminal_t terminal;
  int done[2]; /* a pipe that ends when the thread does */
  bool stopped;
  tb_status_t status;
  tb_error_t error;
} session_t;

/* --- arguments --- */

static bool parse_shm(const command_t *command, const char **out)
{
  *out = optarg;
  if (optarg[0]) return true;
  command_usage_error(command, "--shm: the name is empty");
  return false;
}

static int parse_option(const command_t *command, int option, char **argv, arguments_t *arguments)
{
  tb_clock_server_options_t *server = &arguments->server;
  bool good = true;
  switch (option) {
  case 'r':
    good = command_parse_double(command, "--rate", optarg, FACTOR_MIN, FACTOR_MAX, &server->factor);
    break;
  case OPTION_START:
    good = command_parse_time(command, "--start", optarg, &server->start_ns);
    break;
  case OPTION_HZ:
    good = command_parse_hz(command, "--hz", optarg, HZ_MIN, HZ_MAX, &server->hz);
    break;
  case 'p':
    server->start_paused = true;
    break;
  case OPTION_TOPIC:
    arguments->places.topic = optarg;
    break;
  case OPTION_NO_TOPIC:
    arguments->places.ros2 = false;
    break;
  case OPTION_ROS1:
    arguments->places.ros1 = true;
    break;
  case OPTION_SHM:
    good = parse_shm(command, &arguments->places.shm);
    break;
  case OPTION_FAST:
    server->as_fast_as_possible = true;
    break;
  case OPTION_UNTIL:
    good = command_parse_time(command, "--until", optarg, &server->end_ns);
    break;
  case OPTION_STEP:
    good = command_parse_limit(command, "--step", optarg, &arguments->step);
    break;
  case OPTION_DOMAIN:
    good = command_parse_domain(command, optarg, &arguments->places.domain);
    break;
  case OPTION_NODE:
    arguments->places.node = optarg;
    break;
  case OPTION_NAMESPACE:
    arguments->places.name_space = optarg;
    break;
  case OPTION_NO_SERVICES:
    arguments->services = false;
    break;
  default:
    return command_bad_option(command, option, argv);
  }
  return good ? EXIT_OK : EXIT_USAGE;
}

/* The first option given that needs a topic that there is not; NULL: none. */
static const char *topic_option(const serve_places_t *places)
{
  if (places->ros2) return NULL;
  bool has_topic = places->ros1;
  return places->topic && !has_topic        ? "--topic"
         : places->node && !has_topic       ? "--node"
         : places->name_space && !has_topic ? "--namespace"
         : places->domain >= 0              ? "--domain"
         : places->argc                     ? "--ros-args"
                                            : NULL;
}

static int check(const command_t *command, const arguments_t *arguments, bool has_until)
{
  const tb_clock_server_options_t *server = &arguments->server;
  const char *refused = topic_option(&arguments->places);
  if (refused) return command_usage_error(command, "--no-topic and %s exclude each other", refused);
  if (has_until && server->end_ns <= server->start_ns)
    return command_usage_error(command, "--until: must be after the start time");
  if (!arguments->places.ros2 && !arguments->places.shm && !arguments->places.ros1)
    return command_usage_error(command,
                               "nothing to publish to: --no-topic needs --shm NAME or --ros1");
  return EXIT_OK;
}

static int parse(const command_t *command, int argc, char **argv, arguments_t *arguments,
                 bool *out_help)
{
  static const struct option options[] = {
      {"rate", required_argument, NULL, 'r'},
      {"start", required_argument, NULL, OPTION_START},
      {"hz", required_argument, NULL, OPTION_HZ},
      {"paused", no_argument, NULL, 'p'},
      {"topic", required_argument, NULL, OPTION_TOPIC},
      {"no-topic", no_argument, NULL, OPTION_NO_TOPIC},
      {"shm", required_argument, NULL, OPTION_SHM},
      {"ros1", no_argument, NULL, OPTION_ROS1},
      {"as-fast-as-possible", no_argument, NULL, OPTION_FAST},
      {"until", required_argument, NULL, OPTION_UNTIL},
      {"step", required_argument, NULL, OPTION_STEP},
      {"domain", required_argument, NULL, OPTION_DOMAIN},
      {"node", required_argument, NULL, OPTION_NODE},
      {"namespace", required_argument, NULL, OPTION_NAMESPACE},
      {"no-services", no_argument, NULL, OPTION_NO_SERVICES},
      {"help", no_argument, NULL, 'h'},
      {0},
  };
  int option, result = EXIT_OK;
  bool has_until = false;
  while (!result && (option = command_next_option(argc, argv, ":r:ph", options)) != -1) {
    if (option == 'h') {
      *out_help = true;
      return EXIT_OK;
    }
    has_until |= option == OPTION_UNTIL;
    result = parse_option(command, option, argv, arguments);
  }
  if (!result && optind < argc)
    return command_usage_error(command, "unexpected argument '%s'", argv[optind]);
  return result ? result : check(command, arguments, has_until);
}

/* --- showing --- */

static const char *state_name(const tb_clock_server_status_t *status)
{
  return status->paused                ? "paused"
         : status->stepping            ? "stepping"
         : status->as_fast_as_possible ? "as fast as possible"
                                       : "running";
}

/* The most important comes first: a narrow terminal cuts off the rest. */
static void show_status(session_t *session)
{
  tb_clock_server_status_t status;
  char line[256];
  tb_clock_server_status(session->server, &status);
  snprintf(line, sizeof line,
           "time %" PRId64 ".%03d s  %s  factor %.4g (%.4g reached)  %" PRIu64 " ticks",
           status.time_ns / TB_NS_PER_S, (int)(status.time_ns % TB_NS_PER_S / TB_NS_PER_MS),
           state_name(&status), status.factor, status.factor_reached, status.ticks);
  if (session->terminal.screen)
    terminal_show(line);
  else
    text_out("%s\n", line);
}

static void show_summary(session_t *session)
{
  tb_clock_server_status_t status;
  tb_clock_server_status(session->server, &status);
  terminal_clear(&session->terminal);
  text_out("%s at %" PRId64 ".%09d s: %" PRIu64 " ticks\n", status.ended ? "ended" : "stopped",
           status.time_ns / TB_NS_PER_S, (int)(status.time_ns % TB_NS_PER_S), status.ticks);
}

static void show_start(session_t *session)
{
  const arguments_t *arguments = session->arguments;
  if (session->terminal.keyboard && session->terminal.screen)
    text_out("SPACE pauses and resumes, s steps, + and - change the factor, r resets, q quits\n");
  if (arguments->server.start_paused && !session->terminal.keyboard && !session->sinks.services)
    text_err("timebase %s: starting paused, with neither a terminal nor services to resume it\n",
             session->command->name);
}

/* --- serving --- */

static void stop(session_t *session)
{
  session->stopped = true;
  command_force_exit_on_repeat_signal();
  terminal_close(&session->terminal);
  tb_clock_server_stop(session->server);
}

static void step(session_t *session)
{
  tb_clock_server_status_t status;
  tb_duration_t step = session->arguments->step;
  tb_clock_server_status(session->server, &status);
  if (step.ns == 0) step.ns = (int64_t)(1e9 / status.hz * status.factor + 0.5);
  if (step.ns == 0) step.ns = 1;
  if (tb_clock_server_begin_step(session->server, step) == TB_ERR_END)
    tb_clock_server_begin_step_to(session->server, status.end_ns);
}

/* Beyond its bounds the factor does not change. */
static void scale_factor(session_t *session, double by)
{
  tb_clock_server_status_t status;
  tb_clock_server_status(session->server, &status);
  tb_clock_server_set_factor(session->server, status.factor * by);
}

static void take_key(session_t *session, char key)
{
  switch (key) {
  case ' ':
    tb_clock_server_toggle_paused(session->server);
    break;
  case 's':
    step(session);
    break;
  case '+':
    scale_factor(session, 2);
    break;
  case '-':
    scale_factor(session, 0.5);
    break;
  case 'r':
    tb_clock_server_reset(session->server);
    break;
  case 'q':
    if (!session->stopped) stop(session);
    break;
  default:
    break;
  }
}

static void take_keys(session_t *session)
{
  char keys[64];
  size_t count = terminal_read(&session->terminal, keys, sizeof keys);
  for (size_t i = 0; i < count; i++)
    take_key(session, keys[i]);
}

/* Until the server has ended. */
static void handle_events(session_t *session)
{
  for (;;) {
    struct pollfd fds[] = {{session->done[0], POLLIN, 0},
                           {session->stopped ? -1 : command_signal_fd(), POLLIN, 0},
                           {session->terminal.keyboard ? STDIN_FILENO : -1, POLLIN, 0}};
    int ready = poll(fds, 3, terminal_period_ms(&session->terminal));
    if (ready > 0 && fds[0].revents) return;
    if (ready > 0 && fds[1].revents) stop(session);
    if (ready > 0 && fds[2].revents) take_keys(session);
    if (ready == 0) serve_sinks_poll_publishers(session->command, &session->sinks);
    if ((ready == 0 || session->terminal.screen) && !session->stopped) {
      show_status(session);
      if (!command_flush()) stop(session); /* standard output was closed */
    }
  }
}

static void linger(const session_t *session)
{
  struct pollfd fd = {command_signal_fd(), POLLIN, 0};
  if (!session->stopped && !session->status && session->sinks.publisher) poll(&fd, 1, LINGER_MS);
}

static void *serve(void *user)
{
  session_t *session = user;
  session->status = tb_clock_server_run(session->server, &session->error);
  close(session->done[1]);
  return NULL;
}

static int serve_session(session_t *session)
{
  pthread_t thread;
  if (pipe(session->done) != 0) return command_failed(session->command, TB_ERR_SYSTEM, NULL);
  if (pthread_create(&thread, NULL, serve, session) != 0)
    return command_failed(session->command, TB_ERR_SYSTEM, NULL);
  terminal_open(&session->terminal);
  show_start(session);
  handle_events(session);
  pthread_join(thread, NULL);
  terminal_close(&session->terminal);
  linger(session);
  show_summary(session);
  command_flush();
  if (session->status) return command_failed(session->command, session->status, &session->error);
  return EXIT_OK;
}

/* On a thread of the library. */
static void on_quit(void *user)
{
  session_t *session = user;
  tb_clock_server_stop(session->server);
}

static int open_and_serve(session_t *session)
{
  const arguments_t *arguments = session->arguments;
  command_show_log(session->command);
  command_catch_signals();
  int result = serve_sinks_open(session->command, &arguments->places, &session->sinks);
  if (result) return result;
  tb_status_t status =
      tb_clock_server_create(&arguments->server, session->sinks.sinks, session->sinks.count,
                             &session->server, &session->error);
  if (status) return command_failed(session->command, status, &session->error);
  if (arguments->services)
    result = serve_sinks_offer_services(session->command, &session->sinks, session->server,
                                        arguments->step, on_quit, session);
  return result ? result : serve_session(session);
}

static void name_places(serve_places_t *places)
{
  if (!places->topic) places->topic = "/clock";
  if (!places->node) places->node = "clock_server";
  if (!places->name_space) places->name_space = "/";
}

static int run(const command_t *command, int argc, char **argv)
{
  bool help = false;
  char **words = malloc(((size_t)argc + 1) * sizeof *words);
  if (!words) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  memcpy(words, argv, ((size_t)argc + 1) * sizeof *words);
  arguments_t arguments = {
      .server = TB_CLOCK_SERVER_OPTIONS_INIT,
      .places = {.ros2 = true, .domain = -1, .argv = (const char *const *)words},
      .services = true};
  session_t session = {.command = command, .arguments = &arguments, .error = TB_ERROR_INIT};
  int left = serve_sinks_remove_ros_arguments(argc, argv);
  if (left < argc) arguments.places.argc = argc;
  int result = parse(command, left, argv, &arguments, &help);
  name_places(&arguments.places);
  if (!result && !help) result = open_and_serve(&session);
  serve_sinks_end_services(&session.sinks);
  tb_clock_server_destroy(session.server);
  serve_sinks_close(&session.sinks);
  free(words);
  return help ? command_help(command) : command_finish(command, result);
}

const command_t command_serve = {
    .name = "serve",
    .summary = "publish a simulated time, as a simulator does",
    .usage = "timebase serve [-r FACTOR] [--start TIME] [--until TIME] [--hz N] [-p] [OPTION...]",
    .help =
        "Publishes simulated time on /clock of ROS 2 or ROS 1, in shared memory, or on several.\n\n"
        "  -r, --rate FACTOR  real-time factor, 0.001 to 1000 (default 1)\n"
        "  --start TIME       first time (default 1 ns; zero means \"no time\" in ROS)\n"
        "  --hz N             ticks per second of real time, 0.001 to 10000 (default 100)\n"
        "  -p, --paused       start paused: the start time is repeated\n"
        "  --as-fast-as-possible\n"
        "                     the same ticks, FACTOR / N seconds apart, without waiting\n"
        "  --until TIME       end at TIME, which is the last tick\n"
        "  --step D           length of a step (1.5s, 20ms; default: one tick)\n"
        "  --topic T          publish on T instead of /clock\n"
        "  --no-topic         not on a topic of ROS 2\n"
        "  --shm NAME         for clocks on this machine: TIMEBASE_SOURCE=shm:NAME\n"
        "  --ros1             on the ROS 1 graph of ROS_MASTER_URI too, also if its master is\n"
        "                     started later; /use_sim_time is true there meanwhile. Nodes read it\n"
        "                     when they start: start them after this. A later node of the same\n"
        "                     name ends it\n"
        "  --domain N         DDS domain, 0 to 232 (default: ROS_DOMAIN_ID, else 0)\n"
        "  --node NAME        name of the node (default clock_server)\n"
        "  --namespace NS     of the node and its services (default /)\n"
        "  --no-services      do not offer control services\n"
        "  --ros-args ...     arguments of ROS 2 nodes: -r /clock:=/sim/clock, -r __node:=sim, -p "
        "...\n"
        "  -h, --help         this text\n\n"
        "TIME is seconds since 1970 (12.5, 1h2m), 2023-11-14T22:13:20Z, or now. Keys on a\n"
        "terminal: SPACE pauses and resumes, s steps and pauses, + doubles and - halves the\n"
        "factor, r resets to the start, q quits. While paused, the time is repeated N times a\n"
        "second. SIGINT, SIGTERM and a closed output end it within a second, with status 0.\n"
        "Status 3 if time can no longer be published.\n\n"
        "With a topic it also has the services of simulation_interfaces: get_simulator_features,\n"
        "get_simulation_state, set_simulation_state (0 stopped: paused and reset, 1 playing,\n"
        "2 paused, 3 quitting: ends the command), step_simulation, reset_simulation. For "
        "example:\n\n"
        "  ros2 service call /step_simulation simulation_interfaces/srv/StepSimulation '{steps: "
        "5}'\n",
    .run = run,
};
