/* Which nodes are in processes of this machine that follow a time in shared memory. */
#ifndef TB_CLI_SHARED_TIMES_H
#define TB_CLI_SHARED_TIMES_H

#include <timebase/ros2_graph.h>
#include <timebase/shm_readers.h>

/* A process whose memory was looked at. */
typedef struct shared_mapping {
  struct shared_mapping *next;
  uint64_t process;
  char name[65]; /* of the page that it reads; "": none */
} shared_mapping_t;

/* A process that shows the names of its nodes (src/rcl/node_names.h). */
typedef struct shared_node_names {
  struct shared_node_names *next;
  uint64_t process;
  char *names; /* each with a newline before and after it */
} shared_node_names_t;

typedef struct shared_names {
  bool are_read; /* when the first participant has not announced its process */
  shared_node_names_t *first;
} shared_names_t;

typedef struct shared_times {
  tb_shm_readers_t *readers; /* NULL: not known */
  shared_mapping_t **mappings;
  shared_names_t *names; /* NULL: out of memory */
  char host_name[65];
} shared_times_t;

typedef enum shared_time {
  SHARED_TIME_NONE,
  SHARED_TIME_UNKNOWN, /* processes follow one, and whether the node's does is not known */
  SHARED_TIME_FOLLOWED,
} shared_time_t;

void shared_times_read(shared_times_t *out);
void shared_times_release(shared_times_t *times);

/* Of the process of a participant, which it has announced (Cyclone DDS does), or which shows the
 * names of its nodes, as libtimebase-rcl.so lets it: it is in the list beside the page, or, before
 * the time has had a publisher, after that has ended, and where the list is full or may not be
 * written, it has the page in its memory. *out_name (may be NULL): of the time, if followed; else
 * NULL. */
shared_time_t shared_times_of(const shared_times_t *times, const tb_ros2_graph_snapshot_t *snapshot,
                              const uint8_t participant_guid[16], const char **out_name);

/* Whether the time of that name has a publisher now; also true where that is not known. */
bool shared_time_has_publisher(const char *name);

#endif
