/* What one reader sees of one publisher of a topic, from outside of its node. Fixed memory, no
 * allocation. One thread at a time. */
#ifndef TB_CONTRACT_TOPIC_STREAM_H
#define TB_CONTRACT_TOPIC_STREAM_H

#include "contract/stamps.h"

/* More numbers than this that are left out are not counted: they may be forged. */
#define TB__TOPIC_STREAM_GAP_MAX UINT64_C(1000000)

/* A message. */
typedef struct tb__received {
  uint64_t sequence;  /* the publisher's number of it; 0: not known */
  int64_t source_ns;  /* system time of the publisher's host at publishing; 0 or below: not known */
  int64_t receive_ns; /* system time here at reception */
  uint64_t size;      /* in bytes */
  tb__stamp_sample_t stamp;
} tb__received_t;

typedef struct tb__topic_stream {
  tb__stamps_t stamps; /* with the rate and gaps of arrivals */
  tb__spread_t travel; /* source to receive: the clocks of two hosts, so it may be below 0 */
  uint64_t bytes;
  uint64_t not_received; /* messages that were published and did not come to this reader */
  uint64_t late;         /* came after a later one; no longer in not_received */
  uint64_t last_sequence;
  uint64_t leapt_to; /* a number too far ahead of it to count; 0: none */
} tb__topic_stream_t;

/* `limits` as those of tb__stamps_init. */
TB_PRIVATE_API void tb__topic_stream_init(tb__topic_stream_t *stream,
                                          const tb__stamp_limits_t *limits);
/* What was published before the first message does not count. */
TB_PRIVATE_API tb__stamp_kind_t tb__topic_stream_feed(tb__topic_stream_t *stream,
                                                      const tb__received_t *received);

#endif
