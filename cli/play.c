#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_play_transport.h>
#include <timebase/ros2_player_services.h>
#include <unistd.h>

#include "bag.h"
#include "play_arguments.h"
#include "play_clock.h"
#include "play_manifest.h"
#include "play_reencoded.h"
#include "play_requests.h"
#include "play_ros1.h"
#include "play_screen.h"
#include "play_shm.h"
#include "play_topics.h"
#include "publishers.h"
#include "text.h"

#define NODE_NAME          "rosbag2_player"
#define BURST_SIZE         80
#define ENCAPSULATION_SIZE 4

/* What plays, and the thread that it plays on. */
typedef struct session {
  const command_t *command;
  tb_bag_reader_t *reader;
  tb_ros2_context_t *context;
  tb_ros2_node_t *node;
  tb_qos_overrides_t *qos;
  tb_ros2_play_transport_t *transport;
  play_ros1_t ros1; /* in place of the four */
  play_requests_t requests;
  play_reencoded_t reencoded;
  play_tap_t tap;
  tb_play_transport_t to;
  tb_clock_t *clock; /* with --use-sim-time */
  tb_player_t *player;
  size_t run, run_count; /* of a recording in which time was set back, if all are played */
  double rate;           /* of the next player */
  bool start_paused;
  tb_ros2_player_services_t *services;
  play_shm_t shm;
  publishers_watch_t others;
  int done[2];               /* a pipe that ends when the thread does */
  int burst;                 /* messages, 0: all; below 0: none, or it was done */
  bool shows_burst;          /* on the screen, by the thread that has it */
  atomic_bool burst_is_over; /* `burst_text` is there */
  char burst_text[BURST_SIZE];
  tb_status_t status;
  tb_error_t error;
} session_t;

/* --- opening --- */

/* Remappings are arguments of the node. */
static tb_status_t open_node(session_t *session, const play_arguments_t *arguments,
                             tb_error_t *error)
{
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  const words_t *remaps = &arguments->remaps;
  const char **argv = calloc(2 * remaps->count + 3, sizeof *argv);
  if (!argv) return TB_ERR_NO_MEMORY;
  tb_ros2_parameter_t sim_time = {"use_sim_time", tb_ros2_parameter_bool(true)};
  options.argv = argv;
  options.parameter_overrides = &sim_time;
  options.parameter_override_count = arguments->use_sim_time;
  argv[options.argc++] = "timebase";
  argv[options.argc++] = "--ros-args";
  for (size_t i = 0; i < remaps->count; i++) {
    argv[options.argc++] = "-r";
    argv[options.argc++] = remaps->items[i];
  }
  tb_status_t status =
      tb_ros2_node_create(session->context, NODE_NAME, "", &options, &session->node, error);
  free(argv);
  return status;
}

static bool publishes_clock(const play_arguments_t *arguments)
{
  const tb_player_options_t *player = &arguments->player;
  return !arguments->no_clock_topic &&
         (player->clock_hz > 0 || player->clock_topics_all || arguments->clock_topics.count > 0);
}

static tb_status_t open_graph(session_t *session, const play_arguments_t *arguments,
                              tb_error_t *error)
{
  tb_ros2_context_options_t context = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_play_transport_options_t transport = TB_ROS2_PLAY_TRANSPORT_OPTIONS_INIT;
  context.has_domain_id = arguments->domain >= 0;
  context.domain_id = arguments->domain >= 0 ? arguments->domain : 0;
  context.prompt_acks = arguments->wait_for_acks;
  context.argc = arguments->ros.argc;
  context.argv = arguments->ros.argv;
  transport.clock = publishes_clock(arguments);
  tb_status_t status = tb_ros2_context_create(&context, &session->context, error);
  if (!status) status = open_node(session, arguments, error);
  transport.node = session->node;
  transport.qos_overrides = session->qos;
  transport.clock_topic = arguments->own_clock;
  transport.wait_for_acks = arguments->wait_for_acks;
  transport.waits = arguments->waits;
  transport.wait_count = arguments->wait_count;
  bool is_fastest = arguments->player.rate == TB_PLAYER_FASTEST;
  if (is_fastest) transport.batch.ns = TB_NS_PER_MS;
  if (is_fastest || arguments->wait_count > 0 || arguments->has_burst)
    transport.backlog_max = arguments->backlog_max;
  if (!status && arguments->use_sim_time && transport.clock)
    status = play_clock_check(session->node, arguments, error);
  if (!status)
    status =
        tb_ros2_play_transport_create(session->context, &transport, &session->transport, error);
  if (!status && transport.clock)
    status = publishers_watch_open(&session->others, session->context, session->node,
                                   arguments->own_clock ? arguments->own_clock : "/clock",
                                   "name (--remap /clock:=NAME)", error);
  session->to = tb_ros2_play_transport_interface(session->transport);
  if (!status && arguments->use_sim_time) session->clock = tb_ros2_node_clock(session->node);
  return status;
}

/* Whether it is the arguments that leave nothing to play, and not the recording. */
static bool is_of_arguments(const play_arguments_t *arguments, tb_status_t status)
{
  bool chooses = arguments->topics.count > 0 || arguments->exclude_topics.count > 0 ||
                 arguments->regex || arguments->exclude_regex || arguments->clock_topics.count > 0;
  return status == TB_ERR_RANGE || (status == TB_ERR_NOT_FOUND && chooses);
}

static int open_transport(session_t *session, play_arguments_t *arguments)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = arguments->ros1
                           ? play_ros1_open(arguments, &session->ros1, &session->to, &error)
                           : open_graph(session, arguments, &error);
  bool has_graph = session->context || session->ros1.context;
  if (arguments->ros1) session->clock = session->ros1.clock;
  if (status == TB_ERR_INVALID && has_graph && !session->to.ops)
    return command_usage_error(session->command, "--remap: %s", error.text);
  if (status && has_graph && is_of_arguments(arguments, status))
    return command_usage_error(session->command, "%s", error.text);
  if (!status) {
    status = play_shm_open(&session->shm, arguments->shm, &session->to.clock, &error);
    if (status == TB_ERR_INVALID) return command_usage_error(session->command, "%s", error.text);
  }
  const play_requests_options_t *requests = &arguments->requests;
  if (!status && (requests->services || requests->actions))
    status = play_requests_begin(&session->requests, session->command, session->node, requests,
                                 &session->to);
  if (status) return command_failed(session->command, status, &error);
  if (play_reencoded_is_needed(tb_bag_reader_info(session->reader), arguments->ros1))
    session->to =
        play_reencoded_begin(&session->reencoded, session->command, arguments->ros1, &session->to);
  if (arguments->changes.restamps)
    status = play_restamp_begin(&arguments->changes.restamp, session->command, &session->to);
  session->to = play_tap_begin(&session->tap, &session->to);
  return status ? command_failed(session->command, status, NULL) : EXIT_OK;
}

static int open_player(session_t *session, play_arguments_t *arguments)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_player_options_t options = arguments->player;
  options.clock_topics = arguments->clock_topics.items;
  options.clock_topic_count = arguments->clock_topics.count;
  options.clock = session->clock;
  options.rate = session->rate;
  options.start_paused = session->start_paused;
  if (session->run_count > 1) options.loop = false; /* all of them are repeated */
  bool is_last = session->run == session->run_count && !arguments->player.loop;
  if (arguments->screen.holds || options.keep_alive)
    options.keep_alive = session->run_count == 1 || is_last;
  play_changes_begin(&arguments->changes, tb_bag_reader_info(session->reader), &options);
  tb_status_t status =
      tb_player_create(session->reader, &session->to, &options, &session->player, &error);
  atomic_store(&arguments->changes.player, session->player);
  if (!status && session->node)
    status =
        tb_ros2_player_services_create(session->node, session->player, &session->services, &error);
  if (status && is_of_arguments(arguments, status))
    return command_usage_error(session->command, "%s", error.text); /* does not fit the bag */
  return status ? command_failed(session->command, status, &error) : EXIT_OK;
}

/* Time is set back in a .bag: all its runs are played, unless one is chosen. */
static int count_runs(session_t *session, const play_arguments_t *arguments)
{
  const tb_player_options_t *player = &arguments->player;
  session->run = 1;
  session->run_count = arguments->run == 0 ? tb_bag_reader_info(session->reader)->run_count : 1;
  session->rate = player->rate;
  session->start_paused = player->start_paused;
  if (session->run_count > 1 && (player->start_offset.ns > 0 || player->playback_duration.ns >= 0 ||
                                 player->playback_until_ns >= 0))
    return command_usage_error(
        session->command,
        "%s: time was set back while it was recorded: to play a part, choose "
        "one of its runs with --run 1 to %zu",
        tb_bag_reader_info(session->reader)->path, session->run_count);
  return EXIT_OK;
}

/* What is read before signals are caught: one that comes meanwhile ends the program. */
static int load(session_t *session, play_arguments_t *arguments)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = TB_OK;
  int result = play_manifest_check(session->command, arguments);
  if (!result)
    result =
        play_topics_open(session->command, arguments, (size_t)arguments->run, &session->reader);
  if (!result) result = count_runs(session, arguments);
  if (!result)
    result = play_changes_apply(&arguments->changes, session->command,
                                tb_bag_reader_info(session->reader), publishes_clock(arguments),
                                &arguments->remaps);
  if (!result && arguments->qos_path)
    status = tb_qos_overrides_load(arguments->qos_path, &session->qos, &error);
  tb_qos_overrides_set_depth_max(session->qos, arguments->depth_max);
  return status ? command_bad_file(session->command, status, &error) : result;
}

/* Too short to be of any type. */
static bool is_empty_message(const tb_bag_info_t *info, const tb_bag_message_t *message)
{
  return message->size < ENCAPSULATION_SIZE &&
         strcmp(info->topics[message->topic].serialization_format, "cdr") == 0;
}

/* Without messages but empty ones, and nothing that could not be read: played to its end at once.
 */
static bool is_empty(const session_t *session)
{
  const tb_bag_info_t *info = tb_bag_reader_info(session->reader);
  tb_bag_message_t message;
  uint64_t count = 0;
  tb_status_t status;
  while (!(status = tb_bag_reader_next(session->reader, &message, NULL)) &&
         is_empty_message(info, &message) && !*command_catch_signals())
    count++;
  if (count == 0 && info->message_count > 0) return false; /* that are chosen */
  return status == TB_ERR_END || (status == TB_ERR_TRUNCATED && info->unclosed_count > 0);
}

static void report_empty(const session_t *session)
{
  flockfile(stderr);
  command_begin_warning(session->command);
  const tb_bag_info_t *info = tb_bag_reader_info(session->reader);
  text_err("%s: has no messages%s, so none are played\n", info->path,
           info->message_count > 0 ? " that are not empty" : "");
  funlockfile(stderr);
}

/* --- playing --- */

static void *play(void *user)
{
  session_t *session = user;
  session->status = tb_player_run(session->player, NULL, &session->error);
  close(session->done[1]);
  return NULL;
}

static void stop(session_t *session, play_screen_t *screen)
{
  command_force_exit_on_repeat_signal();
  play_screen_close(screen);
  tb_player_stop(session->player);
}

enum { FD_DONE, FD_SIGNAL, FD_KEYS, FD_VIEW, FD_COUNT };

static void poll_publishers(session_t *session, play_screen_t *screen)
{
  char *warning = publishers_watch_poll(&session->others);
  if (warning) play_screen_warn(screen, warning);
  free(warning);
  warning = play_requests_take_warning(&session->requests);
  if (warning) play_screen_warn(screen, warning);
  free(warning);
}

/* Once. A full screen has no place for lines of other threads. */
static void show_burst(session_t *session, play_screen_t *screen)
{
  if (!session->shows_burst || !atomic_load(&session->burst_is_over)) return;
  session->shows_burst = false;
  screen_log_add(&screen->log, "notice", session->burst_text);
}

/* False: it is to be stopped. */
static bool attend_once(session_t *session, play_screen_t *screen, const struct pollfd *fds,
                        int ready)
{
  bool goes_on = ready <= 0 || !fds[FD_SIGNAL].revents;
  if (goes_on && ready > 0 && fds[FD_VIEW].revents) screen_view_handle_input(screen->view);
  if (goes_on && ready > 0 && fds[FD_KEYS].revents) goes_on = play_screen_handle_input(screen);
  if (ready == 0) play_screen_rest(screen);
  show_burst(session, screen);
  if (ready == 0) poll_publishers(session, screen);
  if (goes_on && (ready == 0 || screen->terminal.screen)) goes_on = play_screen_show(screen);
  return goes_on;
}

/* Until the player is done. */
static void attend(session_t *session, play_screen_t *screen)
{
  bool stopped = false;
  for (;;) {
    struct pollfd fds[FD_COUNT] = {
        [FD_DONE] = {session->done[0], POLLIN, 0},
        [FD_SIGNAL] = {stopped ? -1 : command_signal_fd(), POLLIN, 0},
        [FD_KEYS] = {screen->terminal.keyboard ? STDIN_FILENO : -1, POLLIN, 0},
        [FD_VIEW] = {screen_view_fd(screen->view), POLLIN, 0}};
    int ready = poll(fds, FD_COUNT, terminal_period_ms(&screen->terminal));
    if (ready > 0 && fds[FD_DONE].revents) return;
    if (!stopped && !attend_once(session, screen, fds, ready)) {
      stopped = true;
      stop(session, screen);
    }
  }
}

/* What went wrong while it played, if anything. */
static int result_of(const session_t *session, const words_t *bags)
{
  tb_player_status_t status;
  if (session->status) return command_failed(session->command, session->status, &session->error);
  tb_player_status(session->player, &status);
  if (status.bad_rows == 0) return EXIT_OK;
  text_err("timebase play: %llu part%s of the recording could not be read\n",
           (unsigned long long)status.bad_rows, status.bad_rows == 1 ? "" : "s");
  bag_print_hint(session->command, bags->items, bags->count);
  return EXIT_IO;
}

/* Steps are refused before. */
static void await_run(session_t *session)
{
  struct pollfd done = {session->done[0], POLLIN, 0};
  tb_player_status_t status;
  do
    tb_player_status(session->player, &status);
  while (!status.running && poll(&done, 1, 1) == 0);
}

/* What was asked for, and then pause; it ends with the recording. */
static void *burst(void *user)
{
  session_t *session = user;
  uint64_t sent = 0, wanted = (uint64_t)session->burst;
  if (tb_player_burst(session->player, wanted, NULL, &sent)) return NULL; /* it has ended */
  bool is_all = !wanted || sent < wanted;
  snprintf(session->burst_text, sizeof session->burst_text, "%llu message%s sent%s",
           (unsigned long long)sent, bag_plural(sent), is_all ? "" : ", paused");
  if (!session->shows_burst) text_err("timebase bag burst: %s\n", session->burst_text);
  atomic_store(&session->burst_is_over, true);
  if (is_all) tb_player_resume(session->player);
  return NULL;
}

static int play_session(session_t *session, const play_arguments_t *arguments)
{
  pthread_t thread, burst_thread;
  play_screen_t screen;
  if (arguments->use_sim_time) play_clock_report(tb_bag_reader_info(session->reader));
  if (pipe(session->done) != 0) return command_failed(session->command, TB_ERR_SYSTEM, NULL);
  if (pthread_create(&thread, NULL, play, session) != 0)
    return command_failed(session->command, TB_ERR_SYSTEM, NULL);
  await_run(session);
  play_screen_input_t input = {.player = &arguments->player,
                               .tap = &session->tap,
                               .context = session->context,
                               .node = session->node,
                               .paths = arguments->bags.items,
                               .path_count = arguments->bags.count,
                               .reading = TB_BAG_READER_OPTIONS_INIT};
  input.reading.limits = arguments->limits;
  input.reading.run = session->run_count > 1 ? session->run : (size_t)arguments->run;
  if (input.reading.run == 0) input.reading.run = arguments->bags.count == 1;
  play_screen_open(&screen, session->command, session->player, tb_bag_reader_info(session->reader),
                   &arguments->screen, &input);
  screen.ros_clock = session->clock;
  session->shows_burst = session->burst >= 0 && screen.log.open;
  bool has_burst = session->burst >= 0 && pthread_create(&burst_thread, NULL, burst, session) == 0;
  if (!has_burst && tb_player_is_paused(session->player) && !screen.terminal.keyboard)
    text_err(session->node ? "timebase play: starting paused; no terminal: resume with the "
                             "~/resume service\n"
                           : "timebase play: starting paused, and no terminal to resume it\n");
  attend(session, &screen);
  play_screen_close(&screen);
  pthread_join(thread, NULL);
  if (has_burst) pthread_join(burst_thread, NULL);
  session->burst = -1;
  if (session->shows_burst && atomic_load(&session->burst_is_over))
    text_err("timebase bag burst: %s\n", session->burst_text);
  play_screen_summary(&screen);
  play_screen_fini(&screen);
  command_flush();
  return result_of(session, &arguments->bags);
}

static void close_player(session_t *session)
{
  tb_ros2_player_services_destroy(session->services);
  tb_player_destroy(session->player);
  session->services = NULL;
  session->player = NULL;
  if (session->done[0] > 0) close(session->done[0]);
  session->done[0] = 0;
}

/* By a signal, a key or the service. */
static bool was_stopped(const session_t *session)
{
  tb_player_status_t status = {.stopped = true};
  tb_player_status(session->player, &status);
  return status.stopped;
}

static int open_next_run(session_t *session, const play_arguments_t *arguments)
{
  tb_player_status_t status;
  tb_player_status(session->player, &status);
  session->rate = status.rate;
  session->start_paused = false;
  session->run = session->run % session->run_count + 1;
  close_player(session);
  tb_bag_reader_close(session->reader);
  session->reader = NULL;
  return play_topics_open(session->command, arguments, session->run, &session->reader);
}

/* The clock jumps back from each to the next: the next player begins with a tick of its start. */
static int play_runs(session_t *session, play_arguments_t *arguments)
{
  int worst = EXIT_OK;
  for (;;) {
    if (session->run_count > 1)
      text_err("timebase play: run %zu of %zu\n", session->run, session->run_count);
    int result = open_player(session, arguments);
    if (!result) result = play_session(session, arguments);
    if (result) worst = result;
    bool is_last = session->run == session->run_count && !arguments->player.loop;
    if (was_stopped(session) || is_last || session->run_count == 1 || session->status) return worst;
    result = open_next_run(session, arguments);
    if (result) return result;
  }
}

static void close_session(session_t *session)
{
  close_player(session);
  play_tap_end(&session->tap);
  play_reencoded_end(&session->reencoded);
  play_requests_end(&session->requests);
  play_shm_close(&session->shm);
  tb_ros2_play_transport_destroy(session->transport);
  play_ros1_close(&session->ros1);
  tb_qos_overrides_destroy(session->qos);
  publishers_watch_close(&session->others);
  tb_ros2_node_destroy(session->node);
  tb_ros2_context_destroy(session->context);
  tb_bag_reader_close(session->reader);
}

static int run(const command_t *command, int argc, char **argv)
{
  bool help = false;
  play_arguments_t arguments;
  session_t session = {.command = command, .error = TB_ERROR_INIT};
  int result = play_arguments_init(&arguments, &argc, argv)
                   ? EXIT_OK
                   : command_failed(command, TB_ERR_NO_MEMORY, NULL);
  arguments.has_burst = command == &command_bag_burst;
  if (!result) result = play_arguments_parse(command, argc, argv, &arguments, &help);
  session.burst = arguments.has_burst ? arguments.burst : -1;
  arguments.player.start_paused |= arguments.has_burst;
  if (!result && !help) {
    result = load(&session, &arguments);
    command_catch_signals();
    bool empty = !result && is_empty(&session);
    if (empty) report_empty(&session);
    if (!result && !empty) result = open_transport(&session, &arguments);
    if (!result && !empty) result = play_runs(&session, &arguments);
    close_session(&session);
    if (arguments.changes.restamps) play_restamp_end(&arguments.changes.restamp);
  }
  play_arguments_fini(&arguments);
  return help ? command_help(command) : command_finish(command, result);
}

const command_t command_play = {
    .name = "play",
    .summary = "play a recording, with /clock",
    .usage = play_usage,
    .help = play_help,
    .run = run,
};

const command_t command_bag_play = {
    .name = "bag play",
    .summary = "play a recording, with /clock",
    .usage = play_usage,
    .help = play_help,
    .run = run,
};

const command_t command_bag_burst = {
    .name = "bag burst",
    .summary = "play the first messages at once, and pause",
    .usage = play_burst_usage,
    .help = play_burst_help,
    .run = run,
};
