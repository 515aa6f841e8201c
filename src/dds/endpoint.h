/* Options and results that readers and writers of raw samples share. */
#ifndef TB_DDS_ENDPOINT_H
#define TB_DDS_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/error.h>
#include <timebase/qos.h>

#include "dds/guid.h"
#include "dds/resend.h"

#define TB__USER_DATA_SIZE 256

#define TB__DEPTH_DEFAULT 10 /* of TB_QOS_INIT_DEFAULT */

/* The samples that an endpoint keeps if it does not keep all. */
static inline int32_t tb__qos_depth(const tb_qos_t *qos)
{
  return qos->history == TB_QOS_HISTORY_UNKNOWN ? TB__DEPTH_DEFAULT : qos->depth;
}

/* The writers of a reader. */
typedef struct tb__writers_status {
  uint32_t matched;      /* now */
  uint32_t incompatible; /* writers refused for their QoS so far */
  const char *policy;    /* the last such policy (static storage); NULL: none */
} tb__writers_status_t;

typedef void (*tb__writers_callback_t)(const tb__writers_status_t *status, void *user);

typedef struct tb__endpoint_options {
  const char *topic; /* DDS names: "rt/clock", "rosgraph_msgs::msg::dds_::Clock_" */
  const char *type;
  const tb_qos_t *qos;
  const char *user_data;  /* USER_DATA as text; NULL: none */
  const char *partition;  /* NULL: the default */
  bool ignore_local;      /* do not match endpoints of the same participant */
  bool ignore_process;    /* do not match endpoints of the same process */
  bool is_keyed;          /* as the type's other endpoints are: the kinds do not match each other */
  bool keeps_all;         /* for readers that are there; `qos` says what late ones get */
  int64_t write_limit_ns; /* a reliable writer blocks at most so long: TB_ERR_TIMEOUT; 0: forever */
  bool refuses_fast_dds;  /* writers: while a reader of Fast DDS is matched, TB_ERR_UNSUPPORTED */
  tb__resend_t resend;    /* of writers, to readers of Fast DDS; the library stays loaded then */

  /* Called on a thread of DDS when matched endpoints change; may be NULL. Must not call DDS. */
  void (*on_matched)(void *user);
  void *on_matched_user;

  /* Readers only: the same, and for each writer that is refused for its QoS; in order, one call at
   * a time for a reader. The first call may precede the return of create. */
  tb__writers_callback_t on_writers;
  void *on_writers_user;
} tb__endpoint_options_t;

/* A remote or local endpoint that ours is matched with. */
typedef struct tb__matched {
  uint64_t instance; /* its handle in this process */
  tb__guid_t guid;
  bool in_partition;                  /* other than the default */
  char user_data[TB__USER_DATA_SIZE]; /* the beginning of USER_DATA, as text */
} tb__matched_t;

#endif
