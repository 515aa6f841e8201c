/* A recording of a replay beside what was played: which messages came, in which order, and how far
 * the gaps between them are off. Messages are matched by topic and content, in order. Bounded
 * memory. One thread at a time. */
#ifndef TB_CONTRACT_AGAINST_H
#define TB_CONTRACT_AGAINST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

#include "contract/spread.h"

/* A message is looked for among this many of its topic, and this far ahead of the last match: what
 * is the same may come again. Twice as far each time that so many in a row were not found. */
#define TB__AGAINST_SEARCH_MAX  4096
#define TB__AGAINST_LOST_MAX    64
#define TB__AGAINST_AHEAD_NS    INT64_C(10000000000)
#define TB__AGAINST_WAITING_MAX 1000000 /* originals that wait for their replay, of all topics */
enum { TB__AGAINST_SKIPPED = 64 };

/* Of one recording: time is its log time. */
typedef struct tb__against_message {
  uint32_t topic; /* below the number of topics */
  int64_t time_ns;
  uint64_t digest; /* of its content: tb__against_digest */
} tb__against_message_t;

/* Zeros at the end, up to a multiple of 4 bytes, make no difference. */
TB_PRIVATE_API uint64_t tb__against_digest(const void *data, size_t size);

/* The next original. False: no more of them. */
typedef bool (*tb__against_next_fn)(void *user, tb__against_message_t *out);

typedef struct tb__against_original {
  uint64_t digest, number;
  int64_t time_ns;
} tb__against_original_t;

typedef struct tb__against_topic {
  uint64_t originals, replayed; /* messages of either recording */
  uint64_t matched;
  uint64_t missing;    /* originals between the first and the last match that were not replayed */
  uint64_t outside;    /* originals before the first match or after the last: not played */
  uint64_t extra;      /* replayed ones that are no originals */
  uint64_t reordered;  /* matched, after a later one of the topic */
  tb__spread_t *error; /* of gaps: how much longer they are than they should be; NULL: none */
  int64_t worst_ns;    /* the greatest error, either way, with its sign */
  int64_t worst_at_ns; /* original time after that gap */
  bool has_last;
  int64_t last_original_ns, last_replay_ns; /* of the last match */
  tb__against_original_t *waiting;          /* a ring */
  uint32_t waiting_at, waiting_count, waiting_capacity;
  tb__against_original_t skipped[TB__AGAINST_SKIPPED]; /* the last ones, a ring */
  uint64_t skipped_count;
} tb__against_topic_t;

typedef struct tb__against {
  tb__against_next_fn next;
  void *user;
  tb__against_topic_t *topics;
  uint32_t topic_count;
  double rate; /* of the replay: original time by replay time; 0: not known, no errors of gaps */
  bool is_at_end;
  uint64_t numbered, waiting;
  uint64_t lost; /* that were not found, since the last match */
  int64_t ahead_ns;
  int64_t read_ns; /* time of the last original that was read */
  uint64_t matched;
  int64_t first_original_ns, last_original_ns; /* of matches: the least and the greatest */
  int64_t first_replay_ns, last_replay_ns;
  uint64_t inversions;     /* matches that are before an earlier match in the original */
  int64_t inversion_ns;    /* by how much, at most, in original time */
  uint64_t inversions_1ms; /* those by more than a millisecond */
} tb__against_t;

/* TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__against_init(tb__against_t *against, uint32_t topic_count,
                                            double rate, tb__against_next_fn next,
                                            void *user) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__against_fini(tb__against_t *against);

/* A replayed message, in the order of the recording. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__against_take(tb__against_t *against,
                                            const tb__against_message_t *message) TB_WARN_UNUSED;
/* There are no more: reads the originals that are left. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__against_end(tb__against_t *against) TB_WARN_UNUSED;

/* Original time by replay time between the first and the last match; 0: not known. */
TB_PRIVATE_API double tb__against_rate(const tb__against_t *against);

#endif
