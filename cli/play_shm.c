#include "play_shm.h"

/* The page first: what follows the topic is not ahead of what reads the page. */
static tb_status_t tick_both(void *self, int64_t time_ns, tb_jump_reason_t reason,
                             tb_error_t *error)
{
  const play_shm_t *shm = self;
  tb_status_t status = shm->shared.tick(shm->shared.self, time_ns, reason, error);
  if (status || !shm->topic.tick) return status;
  return shm->topic.tick(shm->topic.self, time_ns, reason, error);
}

tb_status_t play_shm_open(play_shm_t *shm, const char *name, tb_tick_sink_t *sink,
                          tb_error_t *error)
{
  if (!name) return TB_OK;
  tb_status_t status = tb_shm_publisher_open(name, NULL, &shm->publisher, error);
  if (status) return status;
  shm->shared = tb_shm_publisher_sink(shm->publisher);
  shm->topic = *sink;
  *sink = (tb_tick_sink_t){tick_both, shm};
  return TB_OK;
}

void play_shm_close(play_shm_t *shm)
{
  tb_shm_publisher_close(shm->publisher);
  *shm = (play_shm_t){0};
}
