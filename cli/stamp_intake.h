/* Stamps of sampled topics as they come in, of a graph of either generation: a stream for each
 * publisher and frame, judged by the graph's time. For one thread at a time: each call is under the
 * mutex of what samples. */
#ifndef TB_CLI_STAMP_INTAKE_H
#define TB_CLI_STAMP_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/limits.h"
#include "contract/stamps.h"
#include "contract/tick_history.h"
#include "definition/definitions.h"

#define STAMP_SAMPLES_ENOUGH 200               /* of a topic */
#define STAMP_BYTES_ENOUGH   (8 * 1024 * 1024) /* of a topic */

/* What time it is on the graph. */
typedef struct stamp_now {
  int64_t steady_ns;
  int64_t clock_ns; /* the last tick; 0: none */
  int64_t step_ns;  /* the usual one; 0: not known */
  tb__epoch_t epoch;
} stamp_now_t;

/* The stamps of one publisher in one frame. */
typedef struct stamp_stream {
  const struct stamp_topic *topic;
  uint8_t writer[16];
  uint64_t frame; /* hash of frame_id, or of a transform's child */
  tb__stamps_t stamps;
  bool is_waiting;            /* samples of it are in "ahead" */
  uint64_t of_clock, of_wall; /* stamps that fit the one and not the other */
} stamp_stream_t;

/* All zero but for the limits: nothing has come. */
typedef struct stamp_topic {
  tb__contract_limits_t limits; /* a manifest's, or the defaults */
  int64_t budget_ns;            /* of the age; 0: none */
  bool is_tf;                   /* transforms may be further ahead */
  stamp_stream_t **streams;
  size_t stream_count;
} stamp_topic_t;

/* A stamp ahead of /clock, as the publisher may have got a tick before we did, or one after it. */
typedef struct stamp_ahead {
  stamp_stream_t *stream;
  tb__stamp_sample_t sample;
  int64_t source_ns;
  bool is_ahead;
} stamp_ahead_t;

#define STAMP_AHEAD_MAX 1024

typedef struct stamp_intake {
  bool has_clock; /* the graph's time is that of /clock, not system time */
  void (*now)(void *user, stamp_now_t *out);
  /* Whether a stamp that was ahead of /clock is so; `now_ns`: steady. */
  tb__ahead_state_t (*settle)(void *user, const tb__ahead_t *ahead, int64_t now_ns);
  void *user;
  stamp_ahead_t ahead[STAMP_AHEAD_MAX];
  size_t ahead_count;
} stamp_intake_t;

/* A stamp that was received at `system_ns`. */
tb__stamp_sample_t stamp_sample(bool has_clock, int64_t stamp_ns, int64_t system_ns,
                                const stamp_now_t *now);

/* NULL: no memory, or there are too many. */
stamp_stream_t *stamp_stream_of(stamp_topic_t *topic, const uint8_t writer[16], const char *frame,
                                size_t frame_length);
/* Nothing of it may be "ahead". */
void stamp_topic_fini(stamp_topic_t *topic);

/* `source_ns`: system time of the publisher's host when it was sent; 0: not known. */
void stamp_intake_take(stamp_intake_t *intake, stamp_stream_t *stream, tb__stamp_sample_t sample,
                       int64_t source_ns, const stamp_now_t *now);
/* Feeds what no longer waits for /clock; `must_feed`: nothing waits afterwards. */
void stamp_intake_settle(stamp_intake_t *intake, bool must_feed);

/* A stamp of a message, and what it is in: the header's frame_id, or a transform's child. */
typedef void (*stamp_fn)(void *user, int64_t stamp_ns, const char *frame, size_t length);
/* Those of a message, of a definition that has stamps. TB_ERR_TRUNCATED, TB_ERR_CORRUPT,
 * TB_ERR_UNSUPPORTED: it is not of its definition. */
tb_status_t stamps_read(const tb__known_definition_t *known, const void *data, size_t size,
                        stamp_fn found, void *user);

#endif
