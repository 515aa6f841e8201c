#include "ctl_verbs.h"

#include <stddef.h>
#include <string.h>

#include "similar.h"

#define PLAYER    "rosbag2_interfaces/srv/" /* recorders too */
#define SIMULATOR "simulation_interfaces/srv/"

#define PLAYS(service, type, argument, answer)                                                     \
  {                                                                                                \
    service, PLAYER type, argument, answer, false, 0                                               \
  }
#define PLAYS_TIMED(service, type)                                                                 \
  {                                                                                                \
    service, PLAYER type, ARGUMENT_NONE, ANSWER_CODE, true, 0                                      \
  }
#define SETS_STATE(state)                                                                          \
  {                                                                                                \
    "set_simulation_state", SIMULATOR "SetSimulationState", ARGUMENT_NONE, ANSWER_RESULT, false,   \
        state                                                                                      \
  }
#define NO_OPERATION                                                                               \
  {                                                                                                \
    0                                                                                              \
  }

static const verb_t verbs[] = {
    {"pause", ARGUMENT_NONE, PLAYS("pause", "Pause", ARGUMENT_NONE, ANSWER_NONE),
     SETS_STATE(STATE_PAUSED), NULL},
    {"resume", ARGUMENT_NONE, PLAYS_TIMED("resume", "Resume"), SETS_STATE(STATE_PLAYING), NULL},
    {"toggle", ARGUMENT_NONE, PLAYS("toggle_paused", "TogglePaused", ARGUMENT_NONE, ANSWER_NONE),
     SETS_STATE(STATE_PAUSED), NULL},
    {"seek", ARGUMENT_TIME, PLAYS("seek", "Seek", ARGUMENT_TIME, ANSWER_SUCCESS), NO_OPERATION,
     "the time is not in the recording, or nothing is being played"},
    {"rate", ARGUMENT_RATE, PLAYS("set_rate", "SetRate", ARGUMENT_RATE, ANSWER_SUCCESS),
     NO_OPERATION, "it does not play at this rate"},
    {"next", ARGUMENT_NONE, PLAYS("play_next", "PlayNext", ARGUMENT_NONE, ANSWER_SUCCESS),
     NO_OPERATION, "it is not paused, or there is no next message"},
    {"step",
     ARGUMENT_REPEATED,
     PLAYS("play_next", "PlayNext", ARGUMENT_REPEATED, ANSWER_SUCCESS),
     {"step_simulation", SIMULATOR "StepSimulation", ARGUMENT_COUNT, ANSWER_RESULT, false, 0},
     "it is not paused, or there is no next message"},
    {"burst", ARGUMENT_COUNT, PLAYS("burst", "Burst", ARGUMENT_COUNT, ANSWER_COUNT), NO_OPERATION,
     NULL},
    {"reset",
     ARGUMENT_NONE,
     NO_OPERATION,
     {"reset_simulation", SIMULATOR "ResetSimulation", ARGUMENT_NONE, ANSWER_RESULT, false, 0},
     NULL},
    {"stop", ARGUMENT_NONE, PLAYS("stop", "Stop", ARGUMENT_NONE, ANSWER_CODE),
     SETS_STATE(STATE_STOPPED), "it was stopped already"},
    {"split", ARGUMENT_NONE, PLAYS_TIMED("split_bagfile", "SplitBagfile"), NO_OPERATION,
     "it is not recording, or the file could not be split"},
    {"snapshot", ARGUMENT_NONE, PLAYS("snapshot", "Snapshot", ARGUMENT_NONE, ANSWER_SUCCESS),
     NO_OPERATION, "nothing was written"},
    {"status",
     ARGUMENT_NONE,
     PLAYS("is_paused", "IsPaused", ARGUMENT_NONE, ANSWER_BOOL),
     {"get_simulation_state", SIMULATOR "GetSimulationState", ARGUMENT_NONE, ANSWER_STATE, false,
      0},
     NULL},
};
#define VERBS (sizeof verbs / sizeof *verbs)

const operation_t ctl_get_rate = PLAYS("get_rate", "GetRate", ARGUMENT_NONE, ANSWER_RATE);
const operation_t ctl_get_state = {
    "get_simulation_state", SIMULATOR "GetSimulationState", ARGUMENT_NONE, ANSWER_STATE, false, 0};
const operation_t ctl_set_playing = SETS_STATE(STATE_PLAYING);

const verb_t *ctl_find_verb(const char *word)
{
  for (size_t i = 0; i < VERBS; i++)
    if (strcmp(verbs[i].name, word) == 0) return &verbs[i];
  return NULL;
}

const char *ctl_similar_verb(const char *word)
{
  for (size_t i = 0; i < VERBS; i++)
    if (is_similar(word, verbs[i].name)) return verbs[i].name;
  return NULL;
}
