/* Statistics of the header stamps of one stream of messages: of a topic and its publisher, or of a
 * topic and a frame_id. Zero stamps are counted and never aged. Equal stamps are duplicates, not
 * steps back. After a jump back of ROS time a stamp of the time before is of a stale epoch: it is
 * counted and not aged. Fixed memory, no allocation. One thread at a time. */
#ifndef TB_CONTRACT_STAMPS_H
#define TB_CONTRACT_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/limits.h"
#include "contract/spread.h"

/* Each above 0; INT64_MAX: never. */
typedef struct tb__stamp_limits {
  int64_t future_ns; /* further ahead of ROS time than this: in the future */
  int64_t old_ns;    /* a greater age is old */
  int64_t other_ns;  /* a stamp further off than this, either way, that fits system time and not ROS
                        time is of system time */
  int64_t far_ns;    /* further off than this it is of another domain in any case */
} tb__stamp_limits_t;

/* Of a topic. `tick_ns`: the usual step of /clock, 0 without one. `budget_ns`: 0 without one. */
TB_PRIVATE_API tb__stamp_limits_t tb__stamp_limits(const tb__contract_limits_t *limits,
                                                   int64_t tick_ns, int64_t budget_ns);

/* Stretches of ROS time between jumps back. */
typedef struct tb__epoch {
  uint32_t number;        /* 0: there was no jump back */
  int64_t from_ns, to_ns; /* of the last jump back: ROS time before and after it */
} tb__epoch_t;

typedef struct tb__stamp_sample {
  bool has_stamp;     /* false: the type has no header; nothing but the arrival is counted */
  int64_t stamp_ns;   /* may be anything */
  int64_t ros_ns;     /* ROS time at reception; 0: not known yet, the stamp is not judged */
  int64_t system_ns;  /* system time at reception; 0: not known, or the same as ROS time */
  int64_t arrival_ns; /* at reception, in steady time; of a recording what is nearest to that */
  tb__epoch_t epoch;
} tb__stamp_sample_t;

/* What a stamp was. The first that applies. */
typedef enum tb__stamp_kind {
  TB__STAMP_NONE = 1,    /* no header */
  TB__STAMP_ZERO,        /* seconds and nanoseconds are 0 */
  TB__STAMP_INVALID,     /* below 0, or no time: 1e9 ns or more (tb__is_no_time) */
  TB__STAMP_UNJUDGED,    /* ROS time was not known */
  TB__STAMP_STALE_EPOCH, /* of the time before the last jump back */
  TB__STAMP_SYSTEM,      /* fits system time, and not ROS time */
  TB__STAMP_FAR,         /* off by more than any fault of a time base (limits: a year) */
  TB__STAMP_FUTURE,      /* ahead of ROS time */
  TB__STAMP_OLD,         /* the age is above the limit */
  TB__STAMP_GOOD,
  TB__STAMP_KIND_COUNT,
} tb__stamp_kind_t;

TB_PRIVATE_API tb__stamp_kind_t tb__stamp_kind(const tb__stamp_limits_t *limits,
                                               const tb__stamp_sample_t *sample);

/* How ages of one kind of stamp were off. */
typedef struct tb__stamp_excess {
  int64_t greatest_ns; /* of the amount ahead or the age, 0 if there was none */
  int64_t at_ns;       /* ROS time of the first */
  int64_t stamp_ns;    /* of the first */
} tb__stamp_excess_t;

enum { TB__STAMP_PAIRS = 128 };

typedef struct tb__stamps {
  tb__stamp_limits_t limits; /* may be changed at any time */
  uint64_t kinds[TB__STAMP_KIND_COUNT];
  tb__stamp_excess_t excess[TB__STAMP_KIND_COUNT]; /* of all but good and unjudged ones */
  uint64_t equal;         /* the same stamp as the one before, in the same epoch */
  uint64_t repeated;      /* of these, when ROS time had moved by more than future_ns */
  uint64_t whole;         /* whole seconds, of those that have an age */
  uint64_t backward;      /* before the one before, in the same epoch */
  int64_t backward_ns;    /* the greatest such step, as a positive number */
  int64_t backward_at_ns; /* ROS time of the first */
  tb__spread_t age;       /* of good, old and future stamps: the last are below 0 */
  tb__moments_t step;     /* between stamps that follow each other, forward only */
  tb__moments_t gap;      /* between arrivals, of messages with and without a stamp */
  int64_t first_arrival_ns, last_arrival_ns;
  uint64_t arrivals;
  int64_t gap_at_ns; /* where the greatest gap begins: as arrival_ns */
  bool has_last;
  uint32_t last_epoch;
  int64_t last_stamp_ns, last_stamped_arrival_ns, last_ros_ns;
  /* Steps of stamps and of arrivals side by side: every `stride`th. */
  struct {
    int64_t stamp_ns, arrival_ns;
  } pairs[TB__STAMP_PAIRS];
  uint32_t pair_count, stride;
  uint64_t pairs_seen;
} tb__stamps_t;

/* `limits` may be NULL: the defaults, without a tick and a budget. */
TB_PRIVATE_API void tb__stamps_init(tb__stamps_t *stamps, const tb__stamp_limits_t *limits);
TB_PRIVATE_API tb__stamp_kind_t tb__stamps_feed(tb__stamps_t *stamps,
                                                const tb__stamp_sample_t *sample);
/* "3 of 9 stamps are no valid time, first nanosec 1500000000". False: all are. */
TB_PRIVATE_API bool tb__stamps_invalid_text(const tb__stamps_t *stamps, char *out, size_t size);
/* Stamps that are repeated, from `share` of all of them on: "40 of 100 stamps repeat the one
 * before". False: fewer are. */
TB_PRIVATE_API bool tb__stamps_repeated_text(const tb__stamps_t *stamps, double share, char *out,
                                             size_t size);
/* Stamps that have lost their fractions: all are whole seconds, and ages differ by more than half
 * of one. */
TB_PRIVATE_API bool tb__stamps_whole_text(const tb__stamps_t *stamps, char *out, size_t size);

/* Stamps that are always as far off, with what they are likely to be. `remedy`: what makes it last.
 */
typedef struct tb__stamp_offset {
  int64_t by_ns; /* ahead; below 0: behind */
  const char *remedy;
  char cause[96]; /* empty: it is the amount of no known time */
} tb__stamp_offset_t;

/* False: they are not, or by so little that it says nothing. */
TB_PRIVATE_API bool tb__stamps_offset(const tb__stamps_t *stamps, tb__stamp_offset_t *out);
/* "all 100 stamps are 37.000 s ahead, always the same to 2.000 ms, first at ... (stamp ...)". */
TB_PRIVATE_API void tb__stamps_offset_text(const tb__stamps_t *stamps,
                                           const tb__stamp_offset_t *offset, char *out,
                                           size_t size);
/* Messages a second between the first and the last arrival; 0 below two. */
TB_PRIVATE_API double tb__stamps_rate(const tb__stamps_t *stamps);

/* Whether stamps look as if they were made on reception: as a score with what it is made of. It is
 * no evidence in simulated time, where arrivals are on ticks. */
typedef struct tb__receipt_score {
  double score;       /* 0 to 1: the correlation, if the ages are as small as that; 0 if there are
                         fewer than 32 pairs of steps, or none of them differs from the others */
  double correlation; /* of the steps of stamps with those of arrivals, -1 to 1 */
  int64_t age_p01_ns, age_p50_ns; /* 1st and 50th percentile */
  uint32_t pair_count;            /* after those beside a gap were left out */
} tb__receipt_score_t;

#define TB__RECEIPT_AGE_NS INT64_C(1000000)
#define TB__RECEIPT_SCORE  0.95 /* from here on it looks so */
#define TB__RECEIPT_PAIRS  32

TB_PRIVATE_API tb__receipt_score_t tb__stamps_receipt_score(const tb__stamps_t *stamps);

#endif
