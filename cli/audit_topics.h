/* Stamps of sampled topics: a bounded number of best-effort readers, each for a while. */
#ifndef TB_CLI_AUDIT_TOPICS_H
#define TB_CLI_AUDIT_TOPICS_H

#include <pthread.h>
#include <timebase/ros2_subscription.h>

#include "contract/stamps.h"
#include "definition_requests.h"

struct audit;
struct audit_now;

#define AUDIT_TOPICS_MAX  64 /* sampled at once */
#define AUDIT_WRITERS_MAX 8  /* of a topic whose rate is measured */

/* The stamps of one publisher in one frame. */
typedef struct audit_stream {
  const struct audit_topic *topic;
  uint8_t writer[16];
  uint64_t frame; /* hash of frame_id, or of a transform's child */
  tb__stamps_t stamps;
  bool is_waiting;            /* samples of it are in "ahead" */
  uint64_t of_clock, of_wall; /* stamps that fit the one and not the other */
} audit_stream_t;

typedef struct audit_topic {
  struct audit_topics *all;
  char *name, *type;
  char *hash; /* of the type, as the publisher announces it; NULL: it does not */
  tb__definition_entry_t *entry;
  tb_ros2_subscription_t *subscription; /* NULL: not sampled */
  const tb__known_definition_t *known;
  bool is_checked, is_misfit;   /* whether the first message is of the definition */
  bool is_reported;             /* to the definition, that it is */
  bool is_over;                 /* enough was sampled */
  bool is_unknown;              /* there is no definition */
  tb__contract_limits_t limits; /* the manifest's, or the defaults */
  int64_t budget_ns;            /* of the age; 0: none */
  double rate_hz;               /* declared; 0: none */
  struct audit_arrivals {
    uint8_t writer[16];
    uint64_t samples;
    uint64_t first_sequence, last_sequence; /* 0: not known */
    int64_t first_ns, last_ns;              /* steady */
  } arrivals[AUDIT_WRITERS_MAX];            /* where a rate is declared */
  size_t arrivals_count;
  int64_t begin_ns; /* steady: since when it is sampled; 0: it is not */
  uint64_t samples, bytes, malformed;
  audit_stream_t **streams;
  size_t stream_count;
} audit_topic_t;

/* A stamp ahead of /clock, as the publisher may have got a tick before we did, or one after it. */
typedef struct audit_ahead {
  audit_stream_t *stream;
  tb__stamp_sample_t sample;
  int64_t source_ns;
  bool is_ahead;
} audit_ahead_t;

#define AUDIT_AHEAD_MAX 1024

typedef struct audit_topics {
  tb__definitions_t *definitions;
  definition_requests_t *requests;
  struct audit *audit;
  bool has_clock; /* a publisher of /clock: the graph's time is not system time */
  size_t first;   /* of the candidates: rotates */
  pthread_mutex_t mutex;
  audit_topic_t list[AUDIT_TOPICS_MAX];
  size_t count, candidates;
  audit_ahead_t ahead[AUDIT_AHEAD_MAX];
  size_t ahead_count;
} audit_topics_t;

/* EXIT_OK, or a message has been printed. Close it either way. */
int audit_topics_open(struct audit *audit);
void audit_topics_close(audit_topics_t *topics);

/* Chooses topics of the snapshot and forgets those before. Then step about every 50 ms, and end. */
int audit_topics_begin(struct audit *audit);
void audit_topics_step(struct audit *audit);
void audit_topics_end(struct audit *audit);

/* A stamp that was received; `has_clock` as above. */
tb__stamp_sample_t audit_stamp_sample(bool has_clock, int64_t stamp_ns,
                                      const tb_ros2_sample_t *sample, const struct audit_now *now);

/* Adds what stamps show of a node: tb__base_facts_t. */
void audit_topics_base(const struct audit *audit, const char *node, uint64_t *of_clock,
                       uint64_t *of_wall);
/* Findings about stamps. */
void audit_topics_find(struct audit *audit);
/* Topics with samples. */
size_t audit_topics_sampled(const audit_topics_t *topics);

#endif
