/* Ticks of 1 kHz, from one process to others. */
#ifndef TB_BENCH_TICK_PEERS_H
#define TB_BENCH_TICK_PEERS_H

#include "bench.h"
#include "peer.h"

typedef enum tick_path { TICK_OURS, TICK_BARE, TICK_PATHS } tick_path_t;

/* From publishing a tick to reading it in a peer that polls: by our path, and by its bare
 * counterpart. They take turns tick by tick, so that other load on the machine affects both.
 *
 * In the peer: reports that it is ready, and polls until its input ends. `latest`: the time last
 * received by that path, ns. */
int tick_latency_read(int64_t (*latest)(void *user, tick_path_t path), void *user);

/* One tick a millisecond: medians in us. `publish` sends a time in ns by that path. False: the peer
 * is gone, or most ticks were lost. */
bool tick_latency_measure(const peer_t *peer,
                          void (*publish)(void *user, tick_path_t path, int64_t time_ns),
                          void *user, result_t *out);

/* The processor time that each of two peers takes to follow the same ticks, us for one. */
bool tick_cpu_measure(const peer_t *value, const peer_t *against,
                      void (*publish)(void *user, int64_t time_ns), void *user, result_t *out);

#endif
