/* What sources of `/clock` of both generations know of the messages that came in. Guarded by the
 * mutex of the source, unless marked otherwise. */
#ifndef TB_SOURCE_TICK_INTAKE_H
#define TB_SOURCE_TICK_INTAKE_H

#include "base/private_api.h"
#include "source/clock_presence.h"
#include "source/tick_filter.h"
#include "source/tick_queue.h"

typedef struct tb__tick_intake {
  tb__clock_presence_t presence;
  tb__tick_filter_t filter;
  int64_t first_sample_steady_ns, last_sample_steady_ns;
  uint64_t invalid;
  tb_status_t invalid_status; /* why the first one was */
  uint64_t reported_faults;   /* of the filter's */
  bool reported_invalid;
} tb__tick_intake_t;

/* Of a message, and what is to be done when the mutex is free. */
typedef struct tb__tick_taken {
  bool accepted;         /* else it must not become a tick */
  bool report, is_state; /* a fault; a state that follows from it */
} tb__tick_taken_t;

/* What is to be reported, each once. */
typedef struct tb__tick_reports {
  bool fault, invalid;
  bool hold; /* the first publisher is followed */
  tb_status_t why;
} tb__tick_reports_t;

TB_PRIVATE_API tb__tick_taken_t tb__tick_intake_take(tb__tick_intake_t *intake,
                                                     const tb__tick_sample_t *tick);
/* Without the mutex. */
TB_PRIVATE_API void tb__tick_taken_signal(tb__tick_taken_t taken, tb__tick_queue_t *queue);
/* Counts a message that holds no time. True: the first one, which is to be reported. */
TB_PRIVATE_API bool tb__tick_intake_refuse(tb__tick_intake_t *intake, tb_status_t status);
TB_PRIVATE_API tb__tick_reports_t tb__tick_intake_reports(tb__tick_intake_t *intake);
/* Without the mutex. */
TB_PRIVATE_API void tb__tick_reports_log_invalid(const tb__tick_reports_t *reports,
                                                 const char *topic);

#endif
