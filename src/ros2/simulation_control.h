/* Carries out the services of simulation_interfaces on a clock server: from a decoded request to
 * the response. Sends nothing. Not thread-safe. */
#ifndef TB_ROS2_SIMULATION_CONTROL_H
#define TB_ROS2_SIMULATION_CONTROL_H

#include <timebase/clock_server.h>

#include "server/step_waiter.h"
#include "wire/messages.h"

#define TB__SIMULATION_TEXT_SIZE 256

typedef struct tb__simulation_control {
  tb_clock_server_t *server;
  int64_t step_ns; /* 0: a tick */
  bool can_quit;
  bool quitting;
  bool held; /* PAUSED was requested at the start time, and time has not advanced since */
} tb__simulation_control_t;

/* The response of a service. It points to `text`: do not copy. */
typedef struct tb__simulation_answer {
  union {
    tb__get_simulator_features_response_t features;
    tb__get_simulation_state_response_t state;
    tb__simulation_response_t response;
  } message;
  char text[TB__SIMULATION_TEXT_SIZE];
} tb__simulation_answer_t;

typedef enum tb__simulation_next {
  TB__SIMULATION_ANSWER, /* now */
  TB__SIMULATION_QUIT,   /* answer now, then quit */
  TB__SIMULATION_WAIT,   /* answer with tb__simulation_step_done when the waiter is done */
} tb__simulation_next_t;

typedef struct tb__simulation_service {
  const char *name; /* relative */
  const char *type;
  const tb__cdr_type_t *request, *response;
  /* `request` may hold any values. `waiter` is used only with TB__SIMULATION_WAIT. */
  tb__simulation_next_t (*carry_out)(tb__simulation_control_t *control, const void *request,
                                     tb__step_waiter_t *waiter, tb__simulation_answer_t *out);
} tb__simulation_service_t;

enum {
  TB__GET_SIMULATOR_FEATURES,
  TB__GET_SIMULATION_STATE,
  TB__SET_SIMULATION_STATE,
  TB__STEP_SIMULATION,
  TB__RESET_SIMULATION,
  TB__SIMULATION_SERVICE_COUNT,
};

extern const tb__simulation_service_t tb__simulation_services[TB__SIMULATION_SERVICE_COUNT];

void tb__simulation_step_done(tb_status_t status, tb__simulation_answer_t *out);

#endif
