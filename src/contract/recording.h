/* What the messages of a recording show of its time: each is taken once, in the order of the
 * recording. Reads no files. Memory is bounded: it grows with the topics, and with the frames of
 * their messages up to a limit, never with the messages. One thread at a time. */
#ifndef TB_CONTRACT_RECORDING_H
#define TB_CONTRACT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

#include "contract/finding.h"
#include "contract/frames.h"
#include "contract/manifest.h"
#include "contract/points.h"
#include "contract/recording_log.h"
#include "contract/recording_made.h"
#include "contract/report.h"
#include "contract/spread.h"
#include "contract/stamps.h"
#include "contract/tf_cover.h"
#include "contract/ticks.h"
#include "definition/definitions.h"

#define TB__RECORDING_STREAMS_MAX 4096 /* with statistics of their own; about 10 KB each */
#define TB__RECORDING_TOPICS_MAX  4096 /* the messages of others are counted only */
#define TB__RECORDING_FRAMES_MAX  512  /* of one topic; the others share one stream */

/* What a topic is to the contract. */
typedef enum tb__recorded_role {
  TB__RECORDED_PLAIN,
  TB__RECORDED_CLOCK,
  TB__RECORDED_TF,        /* each edge is a stream */
  TB__RECORDED_TF_STATIC, /* its stamps mean nothing */
  TB__RECORDED_LOG,       /* /rosout */
  TB__RECORDED_OWN,       /* /timebase/...: of the recorder itself */
} tb__recorded_role_t;

/* What is recorded of a topic. Texts are copied, and may be any bytes. */
typedef struct tb__recorded_topic_input {
  const char *name, *type;
  const char *type_hash, *definition, *definition_encoding; /* may be empty */
  bool is_cdr;          /* or else of ROS 1, where the encoding is "ros1msg" */
  bool is_latched;      /* transient local: samples may be older than the recording */
  const char *oddity;   /* the reader numbers a topic that has another type than before under this
                           name ("/a_2"): what it reports; NULL: it is none */
  uint32_t offer_count; /* publishers when it was recorded; 0: not known */
  uint64_t message_count;
} tb__recorded_topic_input_t;

typedef struct tb__recorded_stream {
  uint32_t topic;
  uint32_t frame; /* in `frames`; UINT32_MAX: of all frames that there was no room for */
  tb__stamps_t stamps;
  struct tb__recorded_stream *next; /* of the topic, in the order of appearance */
} tb__recorded_stream_t;

typedef struct tb__recorded_topic {
  char *name, *type;
  char *oddity; /* NULL: none */
  tb__recorded_role_t role;
  bool is_cdr, is_ros1, is_latched;
  size_t
      tree_length; /* of the namespace in its name whose transforms are its own; 0: those of all */
  uint32_t offer_count;
  tb__definition_entry_t *definition;  /* NULL: none is needed, or there are too many */
  const tb__known_definition_t *known; /* that its messages fit; NULL: none, or none yet */
  int64_t budget_ns;                   /* 0: none */
  double rate_hz;                      /* declared; 0: not */
  tb__contract_limits_t limits;
  uint64_t messages, bytes;
  uint64_t unreadable;       /* not of the definition */
  int64_t first_ns, last_ns; /* log times */
  tb__moments_t gap;         /* between log times */
  int64_t gap_at_ns;         /* log time before the greatest */
  /* By places in the files: of the last message so far, of the first one that was written after a
   * step back of log times, and the greatest such step. */
  uint64_t last_place, turn_place;
  int64_t last_place_ns, turn_ns, back_ns, back_at_ns;
  uint64_t sent_backward; /* sent before the message that was received before it */
  int64_t sent_last_ns;   /* publish time; -1: none yet */
  tb__spread_t *travel;   /* log time minus publish time; NULL: none is known */
  uint32_t frame_count;
  tb__recorded_stream_t *first, *newest; /* its streams; may be NULL */
  tb__recorded_stream_t *rest;           /* of the frames that there was no room for; may be NULL */
  tb__recorded_stream_t *last;           /* of the message before; may be NULL */
  tb__report_topic_t *pictures;          /* in the report; NULL: it has no room, or there is none */
} tb__recorded_topic_t;

/* Whose time log times are. */
typedef enum tb__log_time {
  TB__LOG_TIME_UNKNOWN,
  TB__LOG_TIME_RECEIVED, /* system time at reception */
  TB__LOG_TIME_SENT,     /* system time at sending */
  TB__LOG_TIME_SYSTEM,   /* one of these two */
  TB__LOG_TIME_ROS,      /* ROS time that is not system time */
} tb__log_time_t;

typedef struct tb__provenance {
  tb__log_time_t log_time;
  bool is_declared;  /* else inferred */
  double confidence; /* 0 to 1 */
  char why[256];
} tb__provenance_t;

typedef struct tb__recording {
  const tb__manifest_t *manifest; /* may be NULL */
  tb__contract_limits_t limits;
  tb__definitions_t *definitions;
  tb__recorded_topic_t *topics;
  uint32_t topic_count, topic_capacity;
  tb__frames_t frames;
  tb__recorded_stream_t **streams; /* by number of the frame */
  uint32_t stream_capacity;
  tb__tf_cover_t cover; /* with log times as those of reception */
  uint32_t cover_epoch;
  uint64_t messages;
  int64_t start_ns, end_ns; /* log times; the least and the greatest */
  int64_t last_log_ns;
  uint64_t log_zeros;                /* messages with the log time 0 */
  int64_t silence_ns, silence_at_ns; /* the longest without any message; log time before it */
  tb__epoch_t log_epoch;             /* by log times that go back: further runs */
  bool awaits_clock;                 /* there are ticks, perhaps later */
  bool has_clock;                    /* a tick that is not zero */
  bool is_in_simulated_time;         /* the ticks are not system time */
  tb__ticks_t ticks;                 /* by log times */
  tb__ticks_t sent_ticks;            /* by publish times, where there are any */
  uint64_t late_zeros;               /* ticks of 0 after the first other one */
  int64_t clock_first_log_ns;
  tb__spread_t tick_off;          /* log time minus tick, at ticks */
  uint64_t sent_known, sent_same; /* publish times, and those that are the log time */
  uint32_t run_count;             /* runs with log times that start again */
  bool declares_ros_time;         /* a recorder noted jumps of its clock */
  tb__recording_made_t made;      /* by its notes */
  tb__log_time_t by_points;       /* by the points at which a recorder read all clocks */
  bool has_manifest;              /* in the recording */
  tb__recording_log_t *log;       /* of /rosout; NULL: it has no message */
  tb__provenance_t provenance;    /* once finished */
  tb__report_t *report;           /* is fed too; NULL: none. Set before the first topic */
  bool has_age;                   /* of the message that is taken: the greatest of its stamps */
  int64_t age_ns;
} tb__recording_t;

/* `manifest` may be NULL, else it outlives the recording. `places` are where definitions are looked
 * for after the recording. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__recording_init(tb__recording_t *recording,
                                              const tb__manifest_t *manifest,
                                              const tb__definition_places_t *places) TB_WARN_UNUSED;
TB_PRIVATE_API void tb__recording_fini(tb__recording_t *recording);

/* Numbers are from 0 on. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__recording_add_topic(tb__recording_t *recording,
                                                   const tb__recorded_topic_input_t *topic,
                                                   uint32_t *out) TB_WARN_UNUSED;

/* An entry of custom_data. */
TB_PRIVATE_API void tb__recording_note(tb__recording_t *recording, const char *key,
                                       const char *value);

/* Log times start again: the next messages are of another run. */
TB_PRIVATE_API void tb__recording_begin_run(tb__recording_t *recording);

typedef struct tb__recorded_message {
  uint32_t topic;
  int64_t log_ns;
  int64_t publish_ns; /* below 1: not known */
  uint64_t place;     /* grows in the order of writing; 0: not known */
  const void *data;   /* may be anything */
  size_t size;
} tb__recorded_message_t;

/* TB_ERR_NO_MEMORY: its stamp is not counted. Bad data is counted. */
TB_PRIVATE_API tb_status_t tb__recording_take(tb__recording_t *recording,
                                              const tb__recorded_message_t *message);

/* After the last message: infers what log times are. */
TB_PRIVATE_API void tb__recording_finish(tb__recording_t *recording);

/* Of a finished one: gives the report its facts, and the statistics of stamps. */
TB_PRIVATE_API void tb__recording_report(const tb__recording_t *recording);

/* Of a finished one: adds what is wrong. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__recording_judge(const tb__recording_t *recording,
                                               tb__findings_t *findings) TB_WARN_UNUSED;

/* NULL: not recorded. */
TB_PRIVATE_API const tb__recorded_topic_t *tb__recording_topic(const tb__recording_t *recording,
                                                               const char *name);
/* The frame_id, or the edge; NULL: of the frames that there was no room for. */
TB_PRIVATE_API const char *tb__recorded_stream_frame(const tb__recording_t *recording,
                                                     const tb__recorded_stream_t *stream);
/* The ticks with the arrivals that are nearest to steady time, and whether they are that. */
TB_PRIVATE_API const tb__ticks_t *tb__recording_ticks(const tb__recording_t *recording,
                                                      bool *out_is_steady);
/* Whether most stamps of all topics fit no time of the recording, and it has no /clock: it is of
 * simulated time, or of an older recording that was played without it. */
TB_PRIVATE_API bool tb__recording_lacks_clock(const tb__recording_t *recording);
/* ROS time by log times: 1 where they are the same. 0: that changed in the course of the recording,
 * or is not known. */
TB_PRIVATE_API double tb__recording_ros_by_log_time(const tb__recording_t *recording);
/* Whether it is a topic of a sensor, whose stamps should be of acquisition. */
TB_PRIVATE_API bool tb__recorded_topic_is_sensor(const tb__recorded_topic_t *topic);
/* "unknown", "system time at reception", ... */
TB_PRIVATE_API const char *tb__log_time_text(tb__log_time_t log_time);

#endif
