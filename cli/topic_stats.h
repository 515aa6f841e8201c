/* Rate, size and age of the messages of a topic. */
#ifndef TB_CLI_TOPIC_STATS_H
#define TB_CLI_TOPIC_STATS_H

#include <jansson.h>

#include "contract/spread.h"
#include "topic.h"
#include "topic_queue.h"

/* What is wrong with a stamp. */
typedef enum topic_stamp {
  TOPIC_STAMP_NONE, /* the type has no header, or its definition is unknown */
  TOPIC_STAMP_GOOD,
  TOPIC_STAMP_ZERO,
  TOPIC_STAMP_INVALID, /* below 0, or no time (tb__is_no_time) */
  TOPIC_STAMP_FUTURE,
  TOPIC_STAMP_BACKWARD, /* before the last one of its publisher */
  TOPIC_STAMP_COUNT
} topic_stamp_t;

/* "zero", "invalid", "future", "backward"; NULL: nothing is wrong. */
const char *topic_stamp_problem(topic_stamp_t stamp);

typedef struct topic_stats {
  uint64_t messages, bytes;
  int64_t first_ns, last_ns;         /* steady time of the first and the last */
  int64_t first_now_ns, last_now_ns; /* of the time that nodes have */
  tb__moments_t interval, size, delay;
  uint64_t stamps[TOPIC_STAMP_COUNT];
} topic_stats_t;

/* `previous_ns`: steady time of the message before, 0: none. `delay_ns` counts where the stamp is
 * not zero and is valid. */
void topic_stats_add(topic_stats_t *stats, const topic_message_t *message, int64_t previous_ns,
                     topic_stamp_t stamp, int64_t delay_ns);

/* A line for the verb; `seconds` that it is of. */
void topic_stats_print(const topic_stats_t *stats, topic_verb_t verb, double seconds,
                       bool is_summary);
json_t *topic_stats_json(const topic_stats_t *stats, double seconds, uint64_t dropped);

#endif
