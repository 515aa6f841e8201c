/* Sentences of the log of a recorded graph that tell of problems with time: kept by logger and
 * sentence. Memory is bounded. One thread at a time. */
#ifndef TB_CONTRACT_RECORDING_LOG_H
#define TB_CONTRACT_RECORDING_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "contract/log_sentence.h"

#define TB__RECORDING_LOG_MAX       64 /* of a logger and a sentence each; further ones are left out */
#define TB__RECORDING_LOGGERS_MAX   256 /* further ones are left out */
#define TB__RECORDING_LOG_TEXT_SIZE 200

typedef struct tb__recorded_log {
  const tb__log_sentence_t *sentence;
  uint64_t count;
  int64_t first_ns;                         /* log time */
  char logger[TB__RECORDING_LOG_TEXT_SIZE]; /* the name in the message, cut where it is too long */
  char text[TB__RECORDING_LOG_TEXT_SIZE];   /* of the first */
} tb__recorded_log_t;

/* How far the clock of a logger's host is from log times. Log messages are stamped with system time
 * whatever use_sim_time is. */
typedef struct tb__recorded_logger {
  char name[TB__RECORDING_LOG_TEXT_SIZE];
  uint64_t count;
  int64_t least_ns, greatest_ns; /* log time minus stamp */
} tb__recorded_logger_t;

/* All zero: empty. */
typedef struct tb__recording_log {
  tb__recorded_log_t list[TB__RECORDING_LOG_MAX];
  size_t count;
  tb__recorded_logger_t loggers[TB__RECORDING_LOGGERS_MAX];
  size_t logger_count;
} tb__recording_log_t;

/* A serialized rcl_interfaces/msg/Log. False: it is none. */
TB_PRIVATE_API bool tb__recording_log_take(tb__recording_log_t *log, const void *cdr, size_t size,
                                           int64_t log_ns);

#endif
