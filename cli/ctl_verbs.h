/* The verbs of `timebase ctl`, and the services that carry them out. */
#ifndef TB_CLI_CTL_VERBS_H
#define TB_CLI_CTL_VERBS_H

#include <stdbool.h>
#include <stdint.h>

/* What the first byte of an answer says. */
typedef enum answer_kind {
  ANSWER_NONE,    /* nothing: it has been carried out */
  ANSWER_SUCCESS, /* 1: it was done */
  ANSWER_CODE,    /* 0: it was done; jazzy's form has no fields, its byte is 0 too */
  ANSWER_BOOL,
  ANSWER_RATE,
  ANSWER_COUNT,
  ANSWER_RESULT, /* simulation_interfaces/msg/Result */
  ANSWER_STATE,  /* simulation_interfaces/msg/SimulationState, then a result */
} answer_kind_t;

/* simulation_interfaces/msg/SimulationState and Result */
enum { STATE_STOPPED, STATE_PLAYING, STATE_PAUSED, STATE_QUITTING };
enum { RESULT_OK = 1, RESULT_ALREADY_IN_TARGET_STATE = 101 };

typedef enum argument_kind {
  ARGUMENT_NONE,
  ARGUMENT_RATE,
  ARGUMENT_TIME,
  ARGUMENT_COUNT,    /* of messages */
  ARGUMENT_REPEATED, /* a count of requests */
} argument_kind_t;

/* How a release defines the service: all zeros are "now" and "all", except the number at `at`. */
typedef struct request_form {
  const char *hash; /* of the request's type; NULL: the list ends */
  uint8_t size, at;
  uint32_t number;
  answer_kind_t answer;
} request_form_t;

/* A service, as a player, a recorder or a simulator has it. */
typedef struct operation {
  const char *service; /* NULL: there is none */
  const char *type;
  argument_kind_t argument;
  answer_kind_t answer;
  const request_form_t *forms; /* NULL: there is one */
  uint8_t state;               /* of a simulator, to be set */
} operation_t;

typedef struct verb {
  const char *name;
  argument_kind_t argument;
  operation_t player, simulator;
  const char *refusal; /* the usual reason of a player or recorder */
  bool wants_playback; /* of a player: refused while it is stopped */
} verb_t;

/* NULL: there is none. */
const verb_t *ctl_find_verb(const char *word);
/* One that the word may be a misspelling of; NULL: none. */
const char *ctl_similar_verb(const char *word);

/* The form of a service whose request has this hash. The oldest one without a hash, as older
 * releases announce none; the newest one with a hash that is not known. */
const request_form_t *ctl_find_form(const operation_t *operation, const char *hash);

extern const operation_t ctl_get_rate, ctl_get_state, ctl_set_playing, ctl_get_player_state;

#endif
