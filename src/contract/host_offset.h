/* How far the system clock of another host is ahead of this one's: by requests that were answered,
 * or, where there is none, by the least time that its messages were on their way. One thread at a
 * time. */
#ifndef TB_CONTRACT_HOST_OFFSET_H
#define TB_CONTRACT_HOST_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/private_api.h"

#define TB__HOST_EXCHANGES 8  /* the best of so many requests is enough */
#define TB__HOST_SAMPLES   10 /* of fewer messages the least time is not judged */
/* Messages may be on their way for as long as this all the time. */
#define TB__HOST_TRANSPORT_NS INT64_C(20000000)

/* All zero: nothing is known. */
typedef struct tb__host_offset {
  uint32_t exchanges;
  int64_t offset_ns; /* of the best exchange: their clock minus ours */
  int64_t bound_ns;  /* the offset is wrong by at most that: half the round trip */
  uint64_t samples;
  int64_t one_way_ns; /* the least of received - sent, each by its own clock */
} tb__host_offset_t;

/* A request: sent and its answer received by our clock, answered by theirs; ns since 1970. One that
 * is no possible order of events (a clock was set) does not count. */
TB_PRIVATE_API void tb__host_offset_exchange(tb__host_offset_t *offset, int64_t asked_ns,
                                             int64_t replied_ns, int64_t received_ns);
/* A message: 0 if it has no time of sending. */
TB_PRIVATE_API void tb__host_offset_sample(tb__host_offset_t *offset, int64_t sent_ns,
                                           int64_t received_ns);

typedef enum tb__host_evidence {
  TB__HOST_UNKNOWN,
  TB__HOST_BY_REQUESTS,
  TB__HOST_ONE_WAY, /* too few samples: UNKNOWN */
} tb__host_evidence_t;

/* The best that is known: *out_ns is theirs minus ours, wrong by at most *out_bound_ns (one way: 0,
 * the way of the message makes it look behind). */
TB_PRIVATE_API tb__host_evidence_t tb__host_offset_best(const tb__host_offset_t *offset,
                                                        int64_t *out_ns, int64_t *out_bound_ns);
/* Whether it is certainly off by more than the limit: beyond what the bound leaves open, and one
 * way beyond what the transport may take. */
TB_PRIVATE_API bool tb__host_offset_is_off(const tb__host_offset_t *offset, int64_t limit_ns);
/* Evidence, for a finding: "its system clock is 50.1 ms ahead of this host's ...". */
TB_PRIVATE_API void tb__host_offset_text(const tb__host_offset_t *offset, char *out, size_t size);

#endif
