/* The clock of a playback in shared memory, beside that on its topic. */
#ifndef TB_CLI_PLAY_SHM_H
#define TB_CLI_PLAY_SHM_H

#include <timebase/shm_publisher.h>
#include <timebase/tick_sink.h>

typedef struct play_shm {
  tb_shm_publisher_t *publisher;
  tb_tick_sink_t shared, topic; /* .tick NULL: not on a topic */
} play_shm_t;

/* Replaces the sink by one that ticks both. `name` NULL: nothing is done. */
tb_status_t play_shm_open(play_shm_t *shm, const char *name, tb_tick_sink_t *sink,
                          tb_error_t *error);
void play_shm_close(play_shm_t *shm);

#endif
