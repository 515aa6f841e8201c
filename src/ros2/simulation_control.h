/* What the services of simulation_interfaces do to a clock server: a decoded request, calls of the
 * server, the response. Sends nothing. Not thread-safe. */
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
  bool held; /* PAUSED was asked for at the start, where time has stood since */
} tb__simulation_control_t;

/* The message for the service's type; its text lies here, so do not copy. */
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
  TB__SIMULATION_QUIT,   /* answer, then quit */
  TB__SIMULATION_WAIT,   /* until the waiter is done: tb__simulation_step_done has the answer */
} tb__simulation_next_t;

typedef struct tb__simulation_service {
  const char *name; /* relative */
  const char *type;
  const tb__cdr_type_t *request, *response;
  /* `request` may hold any values. `waiter` is used with TB__SIMULATION_WAIT alone. */
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
