#include "ctl_verbs.h"

#include <stddef.h>
#include <string.h>

#include "similar.h"

#define PLAYER    "rosbag2_interfaces/srv/" /* recorders too */
#define SIMULATOR "simulation_interfaces/srv/"

#define PLAYS(service, type, argument, answer)                                                     \
  {                                                                                                \
    service, PLAYER type, argument, answer, NULL, 0                                                \
  }
#define PLAYS_IN_FORMS(service, type, forms)                                                       \
  {                                                                                                \
    service, PLAYER type, ARGUMENT_NONE, ANSWER_NONE, forms, 0                                     \
  }
#define SETS_STATE(state)                                                                          \
  {                                                                                                \
    "set_simulation_state", SIMULATOR "SetSimulationState", ARGUMENT_NONE, ANSWER_RESULT, NULL,    \
        state                                                                                      \
  }
#define NO_OPERATION                                                                               \
  {                                                                                                \
    0                                                                                              \
  }

#define HASH(sha256) "RIHS01_" sha256

/* Oldest first. A request without fields is one byte; after a time, a mode and the length of "". */
static const request_form_t resume_forms[] = {
    {HASH("fb988aa8fefd54ec0e79a58a51aa06101e0bcb1668dc38bbc0b4e02d6df274d9"), 4, 0, 0,
     ANSWER_NONE},
    {HASH("dd236846a672cc19f5970e4936deda5d9e5dbc1223299f5dee50f3b128fa45a0"), 8, 0, 0,
     ANSWER_CODE},
    {HASH("5520bb24aaa6559ceeca6db869c4d109899d9177eb730dbf01e6a4d1628378be"), 20, 12, 1,
     ANSWER_CODE},
    {0},
};
static const request_form_t split_forms[] = {
    {HASH("9918ae60556a6e2acce55c52f4755aa0d52ac69300aa7dac283b56008f271bdc"), 4, 0, 0,
     ANSWER_NONE},
    {HASH("cf327bb2b97399b19d15caea4bfa60f5947e8bb39655302c32c876209531584a"), 8, 0, 0,
     ANSWER_CODE},
    {HASH("459a71e782a92f9c3fa2235284e4dc64536b61b34c1756762731adf6dba5d6f4"), 20, 12, 1,
     ANSWER_CODE},
    {0},
};
/* The number is the longest duration: a player of rosbag2 takes a negative one for an end. */
static const request_form_t play_forms[] = {
    {HASH("39c4aa78517b0d95a9361dd0a735a38dd3a4b87be5163914406de8f05c4060b4"), 24, 8, INT32_MAX,
     ANSWER_SUCCESS},
    {HASH("ffb6caac6841bb563815b90cd588a030ab33cf442a5106f56247744fc2a0a3f5"), 32, 16, INT32_MAX,
     ANSWER_CODE},
    {0},
};

static const verb_t verbs[] = {
    {"pause", ARGUMENT_NONE, PLAYS("pause", "Pause", ARGUMENT_NONE, ANSWER_NONE),
     SETS_STATE(STATE_PAUSED), NULL, false},
    {"resume", ARGUMENT_NONE, PLAYS_IN_FORMS("resume", "Resume", resume_forms),
     SETS_STATE(STATE_PLAYING), NULL, true},
    {"toggle", ARGUMENT_NONE, PLAYS("toggle_paused", "TogglePaused", ARGUMENT_NONE, ANSWER_NONE),
     SETS_STATE(STATE_PAUSED), NULL, false},
    {"seek", ARGUMENT_TIME, PLAYS("seek", "Seek", ARGUMENT_TIME, ANSWER_SUCCESS), NO_OPERATION,
     "the time is not in the recording, or nothing is being played", true},
    {"rate", ARGUMENT_RATE, PLAYS("set_rate", "SetRate", ARGUMENT_RATE, ANSWER_SUCCESS),
     NO_OPERATION, "it does not play at this rate", false},
    {"next", ARGUMENT_NONE, PLAYS("play_next", "PlayNext", ARGUMENT_NONE, ANSWER_SUCCESS),
     NO_OPERATION, "it is not paused, or there is no next message", true},
    {"step",
     ARGUMENT_REPEATED,
     PLAYS("play_next", "PlayNext", ARGUMENT_REPEATED, ANSWER_SUCCESS),
     {"step_simulation", SIMULATOR "StepSimulation", ARGUMENT_COUNT, ANSWER_RESULT, NULL, 0},
     "it is not paused, or there is no next message",
     true},
    {"burst", ARGUMENT_COUNT, PLAYS("burst", "Burst", ARGUMENT_COUNT, ANSWER_COUNT), NO_OPERATION,
     NULL, true},
    {"reset",
     ARGUMENT_NONE,
     NO_OPERATION,
     {"reset_simulation", SIMULATOR "ResetSimulation", ARGUMENT_NONE, ANSWER_RESULT, NULL, 0},
     NULL,
     false},
    {"stop", ARGUMENT_NONE, PLAYS("stop", "Stop", ARGUMENT_NONE, ANSWER_CODE),
     SETS_STATE(STATE_STOPPED), "it was stopped already", true},
    {"play", ARGUMENT_NONE, PLAYS_IN_FORMS("play", "Play", play_forms), NO_OPERATION,
     "it is playing already", false},
    {"split", ARGUMENT_NONE, PLAYS_IN_FORMS("split_bagfile", "SplitBagfile", split_forms),
     NO_OPERATION, "it is not recording, or the file could not be split", false},
    {"snapshot", ARGUMENT_NONE, PLAYS("snapshot", "Snapshot", ARGUMENT_NONE, ANSWER_SUCCESS),
     NO_OPERATION, "nothing was written", false},
    {"status",
     ARGUMENT_NONE,
     PLAYS("is_paused", "IsPaused", ARGUMENT_NONE, ANSWER_BOOL),
     {"get_simulation_state", SIMULATOR "GetSimulationState", ARGUMENT_NONE, ANSWER_STATE, NULL, 0},
     NULL,
     false},
};
#define VERBS (sizeof verbs / sizeof *verbs)

const operation_t ctl_get_rate = PLAYS("get_rate", "GetRate", ARGUMENT_NONE, ANSWER_RATE);
const operation_t ctl_get_state = {
    "get_simulation_state", SIMULATOR "GetSimulationState", ARGUMENT_NONE, ANSWER_STATE, NULL, 0};
const operation_t ctl_get_player_state = {
    "state", "std_srvs/srv/Trigger", ARGUMENT_NONE, ANSWER_SUCCESS, NULL, 0};
const operation_t ctl_set_playing = SETS_STATE(STATE_PLAYING);

const request_form_t *ctl_find_form(const operation_t *operation, const char *hash)
{
  const request_form_t *form = operation->forms;
  while (form && hash && strcmp(form->hash, hash) != 0 && form[1].hash)
    form++;
  return form;
}

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
