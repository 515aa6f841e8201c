#include "ros2/simulation_control.h"
#include "value/seconds_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <timebase/duration.h>

/* simulation_interfaces/msg/SimulatorFeatures */
static const uint16_t features[] = {
    20, /* SIMULATION_RESET */
    21, /* SIMULATION_RESET_TIME */
    24, /* SIMULATION_STATE_GETTING */
    25, /* SIMULATION_STATE_SETTING */
    26, /* SIMULATION_STATE_PAUSE */
    31, /* STEP_SIMULATION_SINGLE */
    32, /* STEP_SIMULATION_MULTIPLE */
};

/* simulation_interfaces/srv/ResetSimulation: bits, except 0, which is ALL. */
enum {
  SCOPE_DEFAULT = 0,
  SCOPE_TIME = 1,
  SCOPE_STATE = 2,
  SCOPE_SPAWNED = 4,
  SCOPE_ALL = 255,
};

static void respond(tb__simulation_answer_t *out, uint8_t result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void respond(tb__simulation_answer_t *out, uint8_t result, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(out->text, sizeof out->text, format, arguments);
  va_end(arguments);
  out->message.response.result = (tb__simulation_result_t){result, out->text};
}

static void respond_ok(tb__simulation_answer_t *out)
{
  out->message.response.result = (tb__simulation_result_t){TB__RESULT_OK, ""};
}

static void respond_status(tb__simulation_answer_t *out, tb_status_t status)
{
  if (!status)
    respond_ok(out);
  else
    respond(out, TB__RESULT_OPERATION_FAILED, "%s", tb_status_message(status));
}

/* --- state --- */

static const char *state_name(uint8_t state)
{
  static const char *const names[] = {"stopped",  "playing",  "paused",
                                      "quitting", "no world", "loading world"};
  return state < sizeof names / sizeof names[0] ? names[state] : NULL;
}

static uint8_t current_state(tb__simulation_control_t *control, tb_clock_server_status_t *status)
{
  tb_clock_server_status(control->server, status);
  bool is_stopped = status->paused || status->ended;
  bool at_start = is_stopped && status->time_ns == status->start_ns;
  if (!at_start) control->held = false;
  if (control->quitting) return TB__SIMULATION_QUITTING;
  if (!is_stopped) return TB__SIMULATION_PLAYING;
  return at_start && !control->held ? TB__SIMULATION_STOPPED : TB__SIMULATION_PAUSED;
}

static tb__simulation_next_t get_features(tb__simulation_control_t *control, const void *request,
                                          tb__step_waiter_t *waiter, tb__simulation_answer_t *out)
{
  (void)control, (void)request, (void)waiter;
  out->message.features = (tb__get_simulator_features_response_t){
      {.features = {features, sizeof features / sizeof features[0]},
       .custom_info = "timebase: a clock without a world"}};
  return TB__SIMULATION_ANSWER;
}

static tb__simulation_next_t get_state(tb__simulation_control_t *control, const void *request,
                                       tb__step_waiter_t *waiter, tb__simulation_answer_t *out)
{
  (void)request, (void)waiter;
  tb_clock_server_status_t status;
  out->message.state =
      (tb__get_simulation_state_response_t){{current_state(control, &status)}, {TB__RESULT_OK, ""}};
  return TB__SIMULATION_ANSWER;
}

static tb__simulation_next_t stop(tb__simulation_control_t *control, tb__simulation_answer_t *out)
{
  tb_clock_server_pause(control->server);
  control->held = false;
  respond_status(out, tb_clock_server_reset(control->server));
  return TB__SIMULATION_ANSWER;
}

static tb__simulation_next_t play(tb__simulation_control_t *control, tb__simulation_answer_t *out)
{
  tb_clock_server_status_t status;
  tb_clock_server_status(control->server, &status);
  if (status.ended) {
    respond(out, TB__RESULT_STATE_TRANSITION_ERROR,
            "the clock has reached its end; reset it first");
  } else {
    tb_clock_server_resume(control->server);
    respond_ok(out);
  }
  return TB__SIMULATION_ANSWER;
}

static tb__simulation_next_t hold(tb__simulation_control_t *control, tb__simulation_answer_t *out)
{
  tb_clock_server_pause(control->server);
  control->held = true;
  respond_ok(out);
  return TB__SIMULATION_ANSWER;
}

/* Pauses time and does not set it back, as the server is about to end. */
static tb__simulation_next_t quit(tb__simulation_control_t *control, tb__simulation_answer_t *out)
{
  if (!control->can_quit) {
    respond(out, TB__RESULT_FEATURE_UNSUPPORTED, "this program cannot be ended by a service");
    return TB__SIMULATION_ANSWER;
  }
  tb_clock_server_pause(control->server);
  control->quitting = true;
  respond_ok(out);
  return TB__SIMULATION_QUIT;
}

static tb__simulation_next_t (*const transitions[])(tb__simulation_control_t *control,
                                                    tb__simulation_answer_t *out) = {
    [TB__SIMULATION_STOPPED] = stop,
    [TB__SIMULATION_PLAYING] = play,
    [TB__SIMULATION_PAUSED] = hold,
    [TB__SIMULATION_QUITTING] = quit,
};

static tb__simulation_next_t set_state(tb__simulation_control_t *control, const void *request,
                                       tb__step_waiter_t *waiter, tb__simulation_answer_t *out)
{
  (void)waiter;
  tb_clock_server_status_t status;
  uint8_t wanted = ((const tb__set_simulation_state_request_t *)request)->state.state;
  uint8_t current = current_state(control, &status);
  if (!state_name(wanted))
    respond(out, TB__RESULT_INCORRECT_TRANSITION, "unknown simulation state %u", wanted);
  else if (wanted >= sizeof transitions / sizeof transitions[0])
    respond(out, TB__RESULT_FEATURE_UNSUPPORTED,
            "a clock has no worlds, so it cannot have the state %s", state_name(wanted));
  else if (wanted == current && !status.stepping)
    respond(out, TB__RESULT_ALREADY_IN_TARGET_STATE, "already %s", state_name(current));
  else if (control->quitting)
    respond(out, TB__RESULT_INCORRECT_TRANSITION, "already quitting");
  else
    return transitions[wanted](control, out);
  return TB__SIMULATION_ANSWER;
}

/* --- steps --- */

/* The duration of a tick. */
static int64_t tick_ns(const tb_clock_server_status_t *status)
{
  double ns = (double)(int64_t)(1e9 / status->hz + 0.5) * status->factor + 0.5;
  return ns < 1 ? 1 : (int64_t)ns;
}

static void respond_step(tb__simulation_answer_t *out, tb_status_t status, uint64_t steps,
                         int64_t step_ns)
{
  switch (status) {
  case TB_ERR_BUSY:
    respond(out, TB__RESULT_OPERATION_FAILED,
            "time is running, or a step is in progress; pause the simulation first");
    break;
  case TB_ERR_END:
  case TB_ERR_OVERFLOW:
    respond(out, TB__RESULT_OPERATION_FAILED,
            "%llu steps of %s s exceed the end of time; nothing was done",
            (unsigned long long)steps, tb__seconds_text(step_ns).text);
    break;
  default:
    respond_status(out, status);
    break;
  }
}

static tb__simulation_next_t step(tb__simulation_control_t *control, const void *request,
                                  tb__step_waiter_t *waiter, tb__simulation_answer_t *out)
{
  tb_clock_server_status_t status;
  uint64_t steps = ((const tb__step_simulation_request_t *)request)->steps;
  current_state(control, &status);
  int64_t step_ns = control->step_ns ? control->step_ns : tick_ns(&status), duration_ns;
  tb_status_t begun = TB_ERR_OVERFLOW;
  if (control->quitting) {
    respond(out, TB__RESULT_INCORRECT_STATE, "quitting");
    return TB__SIMULATION_ANSWER;
  }
  if (steps == 0) {
    respond(out, TB__RESULT_OPERATION_FAILED, "0 steps requested; request at least 1");
    return TB__SIMULATION_ANSWER;
  }
  if (!__builtin_mul_overflow(steps, step_ns, &duration_ns))
    begun =
        tb__clock_server_begin_paused_step(control->server, (tb_duration_t){duration_ns}, waiter);
  if (begun == TB_OK) return TB__SIMULATION_WAIT;
  respond_step(out, begun, steps, step_ns);
  return TB__SIMULATION_ANSWER;
}

void tb__simulation_step_done(tb_status_t status, tb__simulation_answer_t *out)
{
  if (status == TB_ERR_CANCELLED)
    respond(out, TB__RESULT_OPERATION_FAILED,
            "cancelled by another control, or because the clock has ended");
  else
    respond_status(out, status);
}

/* --- reset --- */

static tb__simulation_next_t reset(tb__simulation_control_t *control, const void *request,
                                   tb__step_waiter_t *waiter, tb__simulation_answer_t *out)
{
  (void)waiter;
  uint8_t scope = ((const tb__reset_simulation_request_t *)request)->scope;
  if (control->quitting)
    respond(out, TB__RESULT_INCORRECT_STATE, "quitting");
  else if (scope == SCOPE_DEFAULT || scope == SCOPE_TIME || scope == SCOPE_ALL)
    respond_status(out, tb_clock_server_reset(control->server));
  else if (scope & ~(SCOPE_TIME | SCOPE_STATE | SCOPE_SPAWNED))
    respond(out, TB__RESULT_FEATURE_UNSUPPORTED, "unknown reset scope %u", scope);
  else
    respond(out, TB__RESULT_FEATURE_UNSUPPORTED,
            "scope %u: a clock has only time, no states or spawned entities", scope);
  return TB__SIMULATION_ANSWER;
}

#define TYPES(name) &tb__##name##_request_type, &tb__##name##_response_type

const tb__simulation_service_t tb__simulation_services[TB__SIMULATION_SERVICE_COUNT] = {
    [TB__GET_SIMULATOR_FEATURES] = {"get_simulator_features",
                                    "simulation_interfaces/srv/GetSimulatorFeatures",
                                    TYPES(get_simulator_features), get_features},
    [TB__GET_SIMULATION_STATE] = {"get_simulation_state",
                                  "simulation_interfaces/srv/GetSimulationState",
                                  TYPES(get_simulation_state), get_state},
    [TB__SET_SIMULATION_STATE] = {"set_simulation_state",
                                  "simulation_interfaces/srv/SetSimulationState",
                                  TYPES(set_simulation_state), set_state},
    [TB__STEP_SIMULATION] = {"step_simulation", "simulation_interfaces/srv/StepSimulation",
                             TYPES(step_simulation), step},
    [TB__RESET_SIMULATION] = {"reset_simulation", "simulation_interfaces/srv/ResetSimulation",
                              TYPES(reset_simulation), reset},
};
