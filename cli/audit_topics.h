/* Stamps of sampled topics: a bounded number of best-effort readers, each for a while. */
#ifndef TB_CLI_AUDIT_TOPICS_H
#define TB_CLI_AUDIT_TOPICS_H

#include <pthread.h>
#include <timebase/ros2_subscription.h>

#include "definition_requests.h"
#include "stamp_intake.h"

struct audit;

#define AUDIT_TOPICS_MAX  64 /* sampled at once */
#define AUDIT_WRITERS_MAX 8  /* of a topic whose rate is measured */

typedef struct audit_topic {
  struct audit_topics *all;
  char *name, *type;
  char *hash; /* of the type, as the publisher announces it; NULL: it does not */
  tb__definition_entry_t *entry;
  tb_ros2_subscription_t *subscription; /* NULL: not sampled */
  const tb__known_definition_t *known;
  bool is_checked, is_misfit; /* whether the first message is of the definition */
  bool is_reported;           /* to the definition, that it is */
  bool has_key;               /* its type */
  bool is_over;               /* enough was sampled */
  bool is_unknown;            /* there is no definition */
  double rate_hz;             /* declared; 0: none */
  struct audit_arrivals {
    uint8_t writer[16];
    uint64_t samples;
    uint64_t first_sequence, last_sequence; /* 0: not known */
    int64_t first_ns, last_ns;              /* steady */
  } arrivals[AUDIT_WRITERS_MAX];            /* where a rate is declared */
  size_t arrivals_count;
  int64_t begin_ns; /* steady: since when it is sampled; 0: it is not */
  uint64_t samples, bytes, malformed;
  stamp_topic_t stamped;
} audit_topic_t;

typedef struct audit_topics {
  tb__definitions_t *definitions;
  definition_requests_t *requests;
  struct audit *audit;
  size_t first; /* of the candidates: rotates */
  pthread_mutex_t mutex;
  audit_topic_t list[AUDIT_TOPICS_MAX];
  size_t count, candidates;
  stamp_intake_t intake; /* with a publisher of /clock the graph's time is not system time */
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
                                      const tb_ros2_sample_t *sample, const stamp_now_t *now);

/* Adds what stamps show of a node: tb__base_facts_t. */
void audit_topics_base(const struct audit *audit, const char *node, uint64_t *of_clock,
                       uint64_t *of_wall);
/* Findings about stamps. */
void audit_topics_find(struct audit *audit);
/* Topics with samples. */
size_t audit_topics_sampled(const audit_topics_t *topics);

#endif
