#include "play_goals.h"

#include <stdlib.h>
#include <string.h>

#define ENCAPSULATION_SIZE 4
#define ID_SIZE            (PLAY_GOALS_SIZE_MIN - ENCAPSULATION_SIZE)

struct play_goal {
  play_goal_t *next;
  const char *action;
  uint8_t id[ID_SIZE];
  play_goals_request_t *first, **last;
};

/* All three requests begin with the id. */
static const uint8_t *id_of(const void *cdr)
{
  return (const uint8_t *)cdr + ENCAPSULATION_SIZE;
}

play_goal_t *play_goals_add(play_goals_t *goals, const char *action, const void *cdr)
{
  play_goal_t *goal = calloc(1, sizeof *goal);
  if (!goal) return NULL;
  goal->action = action;
  memcpy(goal->id, id_of(cdr), ID_SIZE);
  goal->last = &goal->first;
  pthread_mutex_lock(&goals->mutex);
  goal->next = goals->open;
  goals->open = goal;
  pthread_mutex_unlock(&goals->mutex);
  return goal;
}

static play_goals_request_t *copy(void *service, const void *cdr, size_t size)
{
  play_goals_request_t *request = malloc(sizeof *request + size);
  if (!request) return NULL;
  *request = (play_goals_request_t){.service = service, .size = size};
  memcpy(request->cdr, cdr, size);
  return request;
}

play_goals_result_t play_goals_keep(play_goals_t *goals, const char *action, void *service,
                                    const void *cdr, size_t size)
{
  const uint8_t *id = id_of(cdr);
  play_goals_result_t result = PLAY_GOALS_IS_DUE;
  pthread_mutex_lock(&goals->mutex);
  play_goal_t *goal = goals->open;
  while (goal && (strcmp(goal->action, action) != 0 || memcmp(goal->id, id, ID_SIZE) != 0))
    goal = goal->next;
  if (goal) {
    play_goals_request_t *request = copy(service, cdr, size);
    if (request) {
      *goal->last = request;
      goal->last = &request->next;
    }
    result = request ? PLAY_GOALS_KEPT : PLAY_GOALS_NO_MEMORY;
  }
  pthread_mutex_unlock(&goals->mutex);
  return result;
}

play_goals_request_t *play_goals_answered(play_goals_t *goals, play_goal_t *goal)
{
  pthread_mutex_lock(&goals->mutex);
  play_goal_t **at = &goals->open;
  while (*at != goal)
    at = &(*at)->next;
  *at = goal->next;
  pthread_mutex_unlock(&goals->mutex);
  play_goals_request_t *first = goal->first;
  free(goal);
  return first;
}
