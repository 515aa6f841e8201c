/* What readers and writers of raw samples have in common. */
#ifndef TB_DDS_ENDPOINT_H
#define TB_DDS_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/qos.h>

#define TB__USER_DATA_SIZE 256

/* What a reader knows of writers. */
typedef struct tb__writers_status {
  uint32_t matched;      /* now */
  uint32_t incompatible; /* how often one was refused for its QoS so far */
  const char *policy;    /* the last such policy (static storage); NULL: none */
} tb__writers_status_t;

typedef void (*tb__writers_callback_t)(const tb__writers_status_t *status, void *user);

typedef struct tb__endpoint_options {
  const char *topic; /* DDS names: "rt/clock", "rosgraph_msgs::msg::dds_::Clock_" */
  const char *type;
  const tb_qos_t *qos;
  const char *user_data; /* USER_DATA as text; NULL: none */
  bool ignore_local;     /* do not match endpoints of the same participant */
  int64_t
      write_limit_ns; /* how long a reliable writer may block, TB_ERR_TIMEOUT then; 0: for ever */

  /* Called on a thread of DDS with each change of what is matched; may be NULL. Must not call DDS.
   */
  void (*on_matched)(void *user);
  void *on_matched_user;

  /* The same for readers alone, also with each writer that is refused for its QoS; one call at a
   * time for a reader, in order. May come before the reader is there. */
  tb__writers_callback_t on_writers;
  void *on_writers_user;
} tb__endpoint_options_t;

/* An endpoint of somebody else's that ours is matched with. */
typedef struct tb__matched {
  uint64_t instance; /* DDS's name for it in this process */
  uint8_t guid[16];
  char user_data[TB__USER_DATA_SIZE]; /* the beginning of USER_DATA, as text */
} tb__matched_t;

#endif
