#include "ros2/lifecycle_graph.h"

#include <string.h>

#include "base/assert.h"

#define S(name) TB_ROS2_LIFECYCLE_##name

const uint8_t tb__lifecycle_states[TB__LIFECYCLE_STATES] = {
    S(UNKNOWN),    S(UNCONFIGURED), S(INACTIVE),         S(ACTIVE),
    S(FINALIZED),  S(CONFIGURING),  S(CLEANING_UP),      S(SHUTTING_DOWN),
    S(ACTIVATING), S(DEACTIVATING), S(ERROR_PROCESSING),
};

static const char success[] = "transition_success", failure[] = "transition_failure",
                  error[] = "transition_error";

/* The ends of a transition: `success` leads to a, `failure` to b, `error` to c. */
#define ENDS(id, state, a, b, c)                                                                   \
  {(id), S(state), S(a), success}, {(id) + 1, S(state), S(b), failure},                            \
  {                                                                                                \
    (id) + 2, S(state), S(c), error                                                                \
  }

const tb__lifecycle_transition_t tb__lifecycle_transitions[TB__LIFECYCLE_TRANSITIONS] = {
    {S(CONFIGURE), S(UNCONFIGURED), S(CONFIGURING), "configure"},
    ENDS(10, CONFIGURING, INACTIVE, UNCONFIGURED, ERROR_PROCESSING),
    {S(CLEANUP), S(INACTIVE), S(CLEANING_UP), "cleanup"},
    ENDS(20, CLEANING_UP, UNCONFIGURED, INACTIVE, ERROR_PROCESSING),
    {S(ACTIVATE), S(INACTIVE), S(ACTIVATING), "activate"},
    ENDS(30, ACTIVATING, ACTIVE, INACTIVE, ERROR_PROCESSING),
    {S(DEACTIVATE), S(ACTIVE), S(DEACTIVATING), "deactivate"},
    ENDS(40, DEACTIVATING, INACTIVE, ACTIVE, ERROR_PROCESSING),
    {S(UNCONFIGURED_SHUTDOWN), S(UNCONFIGURED), S(SHUTTING_DOWN), "shutdown"},
    {S(INACTIVE_SHUTDOWN), S(INACTIVE), S(SHUTTING_DOWN), "shutdown"},
    {S(ACTIVE_SHUTDOWN), S(ACTIVE), S(SHUTTING_DOWN), "shutdown"},
    ENDS(50, SHUTTING_DOWN, FINALIZED, FINALIZED, ERROR_PROCESSING),
    ENDS(60, ERROR_PROCESSING, UNCONFIGURED, FINALIZED, FINALIZED),
};

const char *tb_ros2_lifecycle_state_name(tb_ros2_lifecycle_state_t state)
{
  switch (state) {
  case S(UNCONFIGURED):
    return "unconfigured";
  case S(INACTIVE):
    return "inactive";
  case S(ACTIVE):
    return "active";
  case S(FINALIZED):
    return "finalized";
  case S(CONFIGURING):
    return "configuring";
  case S(CLEANING_UP):
    return "cleaningup";
  case S(SHUTTING_DOWN):
    return "shuttingdown";
  case S(ACTIVATING):
    return "activating";
  case S(DEACTIVATING):
    return "deactivating";
  case S(ERROR_PROCESSING):
    return "errorprocessing";
  default:
    return "unknown";
  }
}

const tb__lifecycle_transition_t *tb__lifecycle_find(uint8_t state, uint8_t id, const char *label)
{
  for (size_t i = 0; i < TB__LIFECYCLE_TRANSITIONS; i++) {
    const tb__lifecycle_transition_t *transition = &tb__lifecycle_transitions[i];
    if (transition->start != state) continue;
    if (label && label[0] ? strcmp(transition->label, label) == 0 : transition->id == id)
      return transition;
  }
  return NULL;
}

const tb__lifecycle_transition_t *tb__lifecycle_end(uint8_t state,
                                                    tb_ros2_lifecycle_return_t result)
{
  const char *label = result == TB_ROS2_LIFECYCLE_SUCCESS   ? success
                      : result == TB_ROS2_LIFECYCLE_FAILURE ? failure
                                                            : error;
  const tb__lifecycle_transition_t *end = tb__lifecycle_find(state, 0, label);
  TB__ASSERT(end);
  return end;
}
