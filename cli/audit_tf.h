/* Whether tf2 would have answered: /tf and /tf_static as they come, and the frames and stamps of
 * sampled topics. */
#ifndef TB_CLI_AUDIT_TF_H
#define TB_CLI_AUDIT_TF_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/ros2_subscription.h>

#include "contract/stamps.h"
#include "contract/tf_cover.h"
#include "definition/definitions.h"
#include "json.h"

struct audit;

#define AUDIT_TF_WRITERS_MAX 256 /* publishers of transforms; others are not told apart */
#define AUDIT_TF_READERS_MAX 32  /* two for each tree; others are not read */

typedef struct audit_tf_reader {
  struct audit *audit;
  bool is_static;
  char *topic;        /* "/tf", "/r1/tf_static" */
  size_t tree_length; /* of the namespace in it */
  tb_ros2_subscription_t *subscription;
} audit_tf_reader_t;

typedef struct audit_tf {
  struct audit *audit;
  bool is_open;
  tb__definitions_t *definitions;
  const tb__known_definition_t *known;
  audit_tf_reader_t readers[AUDIT_TF_READERS_MAX];
  size_t reader_count;   /* under the mutex, as is what they are */
  pthread_mutex_t mutex; /* after that of topics; for what follows */
  tb__tf_cover_t cover;
  bool has_clock; /* as audit_topics_t has it; waits are in ROS time then */
  uint32_t epoch;
  uint8_t writers[AUDIT_TF_WRITERS_MAX][16];
  bool is_gone[AUDIT_TF_WRITERS_MAX];
  size_t writer_count;
  uint64_t malformed; /* messages that are no transforms */
} audit_tf_t;

/* EXIT_OK, or a message has been printed. Close it either way. */
int audit_tf_open(struct audit *audit);
void audit_tf_close(audit_tf_t *tf);

/* A round: subscribes where there are publishers now. EXIT_OK, or a message has been printed. */
int audit_tf_begin(struct audit *audit);
void audit_tf_end(struct audit *audit);

/* A message of the sampled topic with that number and name. [any thread] */
void audit_tf_message(audit_tf_t *tf, size_t topic, const char *name, const char *frame,
                      size_t length, const tb__stamp_sample_t *sample, tb__stamp_kind_t kind);

/* Findings about edges. */
void audit_tf_find(struct audit *audit);
/* {"malformed": N, "topics": [...], "edges": [...]} */
json_t *audit_tf_json(const struct audit *audit);

#endif
