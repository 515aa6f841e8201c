/* The participants and endpoints of a domain, as DDS reports them, including those of this process.
 */
#ifndef TB_DDS_BUILTIN_TOPICS_H
#define TB_DDS_BUILTIN_TOPICS_H

#include <timebase/ros2_graph.h>

#include "dds/guid.h"
#include "dds/participant.h"

typedef struct tb__builtin_topics tb__builtin_topics_t;

/* Longer USER_DATA is cut. */
#define TB__SEEN_USER_DATA_SIZE 512

#define TB__SEEN_ADDRESSES_SIZE 256
#define TB__SEEN_HOST_NAME_SIZE 65

typedef struct tb__seen_participant {
  tb__guid_t guid;
  bool is_gone; /* then nothing below is set */
  char user_data[TB__SEEN_USER_DATA_SIZE];
  char addresses[TB__SEEN_ADDRESSES_SIZE]; /* where DDS reaches its discovery, by commas; cut */
  char host_name[TB__SEEN_HOST_NAME_SIZE]; /* as Cyclone DDS announces it; "": not known */
  uint64_t process_id;                     /* there, the same; 0: not known */
} tb__seen_participant_t;

typedef struct tb__seen_endpoint {
  tb__guid_t guid;
  bool is_gone; /* then nothing below is set */
  bool is_writer;
  tb__guid_t participant_guid;
  const char *topic, *type; /* DDS names; valid during the call */
  char user_data[TB__SEEN_USER_DATA_SIZE];
  tb_qos_t qos;
  tb_ros2_endpoint_dds_qos_t dds_qos;
} tb__seen_endpoint_t;

/* Called when something has appeared, changed or gone, one call at a time: on threads of DDS, on
 * threads that create or delete entities, and on the one that calls create. DDS may hold locks: do
 * not call it, nor wait for a thread that does. */
typedef struct tb__builtin_callbacks {
  void (*participant)(const tb__seen_participant_t *seen, void *user);
  void (*endpoint)(const tb__seen_endpoint_t *seen, void *user);
  void *user;
} tb__builtin_callbacks_t;

/* When it returns, everything that DDS knew has been reported. */
TB_WARN_UNUSED tb_status_t tb__builtin_topics_create(tb__participant_t *participant,
                                                     const tb__builtin_callbacks_t *callbacks,
                                                     tb__builtin_topics_t **out, tb_error_t *error);

/* Accepts NULL. Waits for running callbacks. */
void tb__builtin_topics_destroy(tb__builtin_topics_t *topics);

#endif
