/* Which nodes are in processes of this machine that follow a time in shared memory. */
#ifndef TB_CLI_SHARED_TIMES_H
#define TB_CLI_SHARED_TIMES_H

#include <timebase/ros2_graph.h>
#include <timebase/shm_readers.h>

typedef struct shared_times {
  tb_shm_readers_t *readers; /* NULL: not known */
  char host_name[65];
} shared_times_t;

typedef enum shared_time {
  SHARED_TIME_NONE,
  SHARED_TIME_UNKNOWN, /* processes follow one, and whether the node's does is not known */
  SHARED_TIME_FOLLOWED,
} shared_time_t;

void shared_times_read(shared_times_t *out);
void shared_times_release(shared_times_t *times);

/* Of the process of a participant. *out_name (may be NULL): of the time, if followed; else NULL. */
shared_time_t shared_times_of(const shared_times_t *times, const tb_ros2_graph_snapshot_t *snapshot,
                              const uint8_t participant_guid[16], const char **out_name);

#endif
