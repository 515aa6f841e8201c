/* Goals of recorded actions that are sent again. A cancel or a request of the result that follows a
 * goal waits until the server has accepted it: the three are different services, so it could come
 * first. */
#ifndef TB_CLI_PLAY_GOALS_H
#define TB_CLI_PLAY_GOALS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct play_goal play_goal_t;

typedef struct play_goals {
  pthread_mutex_t mutex;
  play_goal_t *open; /* without an answer */
} play_goals_t;

#define PLAY_GOALS_INIT                                                                            \
  {                                                                                                \
    .mutex = PTHREAD_MUTEX_INITIALIZER, .open = NULL                                               \
  }

/* What waits for the answer of a goal. */
typedef struct play_goals_request {
  struct play_goals_request *next;
  void *service; /* of the caller */
  size_t size;
  uint8_t cdr[];
} play_goals_request_t;

#define PLAY_GOALS_SIZE_MIN 20 /* of a request, with the id at its begin */

/* A goal that is about to be sent; `action` lives as long as it. NULL: out of memory. */
play_goal_t *play_goals_add(play_goals_t *goals, const char *action, const void *cdr);
/* Keeps the request if it is for a goal without an answer. */
typedef enum play_goals_result {
  PLAY_GOALS_KEPT,
  PLAY_GOALS_IS_DUE, /* send it now */
  PLAY_GOALS_NO_MEMORY,
} play_goals_result_t;
play_goals_result_t play_goals_keep(play_goals_t *goals, const char *action, void *service,
                                    const void *cdr, size_t size);
/* The goal has been answered, or was not sent: what waited for it, in its order; each to be freed.
 * [any thread] */
play_goals_request_t *play_goals_answered(play_goals_t *goals, play_goal_t *goal);

#endif
