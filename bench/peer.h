/* The other process of a row: this program, executed again, as a forked child of a process that has
 * used the library must not use it. */
#ifndef TB_BENCH_PEER_H
#define TB_BENCH_PEER_H

#ifdef TB_BENCH_ROS2
#include <dds/dds.h>
#endif
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct peer {
  pid_t pid;
  int in, out; /* its standard input and output; -1: none */
} peer_t;

#define PEER_NONE ((peer_t){0, -1, -1})

/* `kind` is the program's argument that makes it a peer; `role` and `count` follow it, where they
 * are not NULL. Returns when it is ready. */
bool peer_start(peer_t *peer, const char *kind, const char *role, const char *count);
/* Closes its input, and waits until it has ended. */
void peer_end(peer_t *peer);

/* In the peer: reports that it is ready, and waits until its input ends. */
int peer_serve(bool ready);

/* Processor time that it has used, ns; -1: it is gone. */
int64_t peer_cpu_ns(const peer_t *peer);

#ifdef TB_BENCH_ROS2
/* A participant of bare Cyclone DDS, in the domain of ROS. */
dds_entity_t peer_participant(void);
/* Reliable, and nothing is lost; to be deleted. */
dds_qos_t *peer_lossless_qos(void);
#endif

#endif
