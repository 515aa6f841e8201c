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

#include "bag.h"
#include "command.h"
#include "record_arguments.h"
#include "record_evidence.h"
#include "record_names.h"
#include "record_ros1.h"
#include "record_screen.h"
#include "record_stop.h"
#include "text.h"

#define NODE_NAME "rosbag2_recorder"

typedef struct session {
  const command_t *command;
  tb_ros2_context_t *context;
  tb_ros2_node_t *node;
  tb_ros2_recorder_t *recorder;
  record_ros1_t ros1; /* in place of the three */
  tb_recorder_t *core;
  record_evidence_t evidence;
  record_stop_t stop;
} session_t;

/* --- recording --- */

static int open_ros1(session_t *session, const record_arguments_t *arguments)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = record_ros1_open(arguments->path, arguments->node, &arguments->options,
                                        &session->ros1, &session->core, &error);
  if (status == TB_ERR_INVALID && !session->ros1.context)
    return command_usage_error(session->command, "%s", error.text);
  return status ? command_failed(session->command, status, &error) : EXIT_OK;
}

static int open_session(session_t *session, record_arguments_t *arguments)
{
  if (arguments->ros1) return open_ros1(session, arguments);
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t context = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_node_options_t node = TB_ROS2_NODE_OPTIONS_INIT;
  tb_ros2_parameter_t sim_time = {.name = "use_sim_time",
                                  .value = {.type = TB_ROS2_PARAMETER_BOOL, .bool_value = true}};
  context.has_domain_id = arguments->domain >= 0;
  context.domain_id = arguments->domain >= 0 ? arguments->domain : 0;
  context.argc = arguments->ros.argc;
  context.argv = arguments->ros.argv;
  node.parameter_overrides = &sim_time;
  node.parameter_override_count = arguments->use_sim_time;
  tb_status_t status = tb_ros2_context_create(&context, &session->context, &error);
  if (!status)
    status = tb_ros2_node_create(session->context, arguments->node ? arguments->node : NODE_NAME,
                                 "/", &node, &session->node, &error);
  if (status) return command_failed(session->command, status, &error);
  int result = record_names_resolve(session->command, arguments, session->node);
  if (result) return result;
  status = tb_ros2_recorder_create(session->node, arguments->path, &arguments->options,
                                   &session->recorder, &error);
  if (status) return command_failed(session->command, status, &error);
  session->core = tb_ros2_recorder_core(session->recorder);
  result = record_stop_begin(&session->stop, session->command, session->node);
  if (result) return result;
  return record_evidence_begin(&session->evidence, session->core, session->context, session->node);
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
  record_ros1_close(&session->ros1);
  tb_ros2_recorder_destroy(session->recorder);
  record_stop_close(&session->stop);
  record_evidence_close(&session->evidence);
  tb_ros2_node_destroy(session->node);
  tb_ros2_context_destroy(session->context);
}

/* Until a signal, q or the service. A closed output is no reason to stop. */
static void attend(record_screen_t *screen, session_t *session)
{
  tb_recorder_t *recorder = session->core;
  record_evidence_t *evidence = &session->evidence;
  tb_recorder_status_t status;
  for (;;) {
    struct pollfd fds[] = {{command_signal_fd(), POLLIN, 0},
                           {screen->terminal.keyboard ? STDIN_FILENO : -1, POLLIN, 0},
                           {record_evidence_fd(evidence), POLLIN, 0},
                           {screen_view_fd(screen->view), POLLIN, 0},
                           {record_stop_fd(&session->stop), POLLIN, 0}};
    int period_ms = terminal_period_ms(&screen->terminal);
    int timeout_ms = record_evidence_timeout_ms(evidence, period_ms);
    int ready = poll(fds, sizeof fds / sizeof *fds, timeout_ms);
    if (ready > 0 && (fds[0].revents || fds[4].revents)) return;
    if (ready > 0 && fds[3].revents) screen_view_handle_input(screen->view);
    if (ready > 0 && fds[1].revents && !record_screen_handle_input(screen, recorder)) return;
    record_evidence_poll(evidence);
    tb_recorder_status(recorder, &status);
    if (status.out_of_space) return;
    if ((ready == 0 && timeout_ms == period_ms) || screen->terminal.screen) {
      record_screen_show(screen, recorder);
      command_flush();
    }
  }
}

static int exit_status(const record_arguments_t *arguments, tb_recorder_t *recorder)
{
  tb_recorder_status_t status;
  tb_recorder_status(recorder, &status);
  return status.lost > 0 && !arguments->allow_loss ? EXIT_CHECK : EXIT_OK;
}

static int record(session_t *session, const record_arguments_t *arguments)
{
  record_screen_t screen;
  tb_error_t error = TB_ERROR_INIT;
  tb_recorder_t *core = session->core;
  text_out("recording to %s\n", arguments->path);
  command_flush();
  record_screen_options_t shown = {
      .no_keyboard = arguments->no_keyboard,
      .plain = arguments->plain,
      .snapshot_mode = arguments->options.recorder.snapshot_mode,
      .cache_size = arguments->options.recorder.cache_size,
  };
  record_screen_open(&screen, session->command, arguments->path, &shown);
  attend(&screen, session);
  command_force_exit_on_repeat_signal();
  record_screen_close(&screen);
  record_evidence_end(&session->evidence);
  tb_status_t status = session->recorder ? tb_ros2_recorder_stop(session->recorder, &error)
                                         : record_ros1_stop(&session->ros1, &error);
  record_screen_summary(&screen, core);
  record_screen_fini(&screen);
  command_flush();
  return status ? command_failed(session->command, status, &error) : exit_status(arguments, core);
}

static int run(const command_t *command, int argc, char **argv)
{
  bool help = false;
  record_arguments_t arguments;
  session_t session = {.command = command, .evidence = {.jump_pipe = {-1, -1}}};
  int result = record_arguments_init(&arguments, &argc, argv)
                   ? record_arguments_parse(command, argc, argv, &arguments, &help)
                   : command_failed(command, TB_ERR_NO_MEMORY, NULL);
  if (!result && !help) result = check_overrides(command, arguments.options.qos_overrides_path);
  if (!result && !help)
    result = record_evidence_load(command, arguments.manifest, &session.evidence);
  if (!result && !help) {
    if (session.evidence.text) arguments.notes[arguments.note_count] = session.evidence.note;
    arguments.options.recorder.bag.notes = arguments.notes;
    arguments.options.recorder.bag.note_count =
        arguments.note_count + (session.evidence.text != NULL);
    command_catch_signals();
    command_show_log(command);
    result = open_session(&session, &arguments);
    if (!result) result = record(&session, &arguments);
    close_session(&session);
  } else {
    record_evidence_close(&session.evidence);
  }
  record_arguments_fini(&arguments);
  return help ? command_help(command) : command_finish(command, result);
}

const command_t command_record = {
    .name = "record",
    .summary = "record topics to a bag",
    .usage = record_usage,
    .help = record_help,
    .run = run,
};

const command_t command_bag_record = {
    .name = "bag record",
    .summary = "record topics to a bag",
    .usage = record_usage,
    .help = record_help,
    .run = run,
};
