/* How far the system clocks of a graph's processes are from this host's: by requests for a
 * parameter where nodes answer, else by the messages that are received. */
#ifndef TB_CLI_HOST_CLOCKS_H
#define TB_CLI_HOST_CLOCKS_H

#include <pthread.h>
#include <timebase/ros2_sample.h>

#include "contract/host_offset.h"
#include "graph_view.h"

#define HOST_CLOCKS_MAX 64 /* processes that are compared */

/* A process: all its clocks are its host's. */
typedef struct host_clock {
  uint8_t participant[12]; /* of its GUIDs */
  char node[512];          /* that is asked; empty: none, or there are too many */
  tb__host_offset_t offset;
} host_clock_t;

typedef struct host_clocks {
  pthread_mutex_t mutex; /* for what follows */
  host_clock_t list[HOST_CLOCKS_MAX];
  size_t count;
} host_clocks_t;

void host_clocks_init(host_clocks_t *clocks);
void host_clocks_fini(host_clocks_t *clocks);

/* Chooses processes of the view's snapshot, one of each host first, and forgets those before. */
void host_clocks_begin(host_clocks_t *clocks, const graph_view_t *view);
/* Asks their nodes eight times each, and returns when all have answered or `limit` has passed. To
 * be called once after _begin. [any thread] EXIT_OK, or a message has been printed. */
int host_clocks_ask(host_clocks_t *clocks, const graph_view_t *view, tb_duration_t limit);
/* A message that was received. [any thread] */
void host_clocks_sample(host_clocks_t *clocks, const tb_ros2_sample_t *sample);
/* Whether the process has the GUID of an endpoint, a node or a participant. */
bool host_clock_is_of(const host_clock_t *clock, const uint8_t guid[16]);

#endif
