/* What DDS tells of the participants and endpoints of a domain, those of this process included. */
#ifndef TB_DDS_BUILTIN_TOPICS_H
#define TB_DDS_BUILTIN_TOPICS_H

#include <timebase/ros2_graph.h>

#include "dds/participant.h"

typedef struct tb__builtin_topics tb__builtin_topics_t;

/* Of USER_DATA there may be more than this: it is cut. */
#define TB__SEEN_USER_DATA_SIZE 512

typedef struct tb__seen_participant {
  uint8_t guid[16]; /* network order */
  bool is_gone;     /* then nothing below is filled in */
  char user_data[TB__SEEN_USER_DATA_SIZE];
} tb__seen_participant_t;

typedef struct tb__seen_endpoint {
  uint8_t guid[16];
  bool is_gone; /* then nothing below is filled in */
  bool is_writer;
  uint8_t participant_guid[16];
  const char *topic, *type; /* DDS's names; end with the call */
  char user_data[TB__SEEN_USER_DATA_SIZE];
  tb_qos_t qos;
  tb_ros2_endpoint_dds_qos_t dds_qos;
} tb__seen_endpoint_t;

/* Called when something has come, has changed or is gone, one call at a time. On DDS's threads, on
 * those that make or delete entities, and on the one that calls create. DDS may hold locks: neither
 * call it nor wait for anybody who does. */
typedef struct tb__builtin_callbacks {
  void (*participant)(const tb__seen_participant_t *seen, void *user);
  void (*endpoint)(const tb__seen_endpoint_t *seen, void *user);
  void *user;
} tb__builtin_callbacks_t;

/* When it returns, all that DDS knew has been told. */
tb_status_t tb__builtin_topics_create(tb__participant_t *participant,
                                      const tb__builtin_callbacks_t *callbacks,
                                      tb__builtin_topics_t **out, tb_error_t *error);

/* Accepts NULL. Waits for running callbacks. */
void tb__builtin_topics_destroy(tb__builtin_topics_t *topics);

#endif
