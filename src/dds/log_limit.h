/* Decides which messages of the middleware are passed on where one cause brings many. Pure; one
 * thread at a time. */
#ifndef TB_DDS_LOG_LIMIT_H
#define TB_DDS_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define TB__LOG_CAUSES        64
#define TB__LOG_LIMIT_SPAN_NS INT64_C(10000000000)

/* A place in the source code that logs. */
typedef struct tb__log_cause {
  const char *file; /* compared as a pointer; NULL: unused */
  uint32_t line;
  uint32_t passed;   /* since `begin_ns` */
  uint64_t left_out; /* since the last one that was passed on */
  int64_t begin_ns;  /* steady */
} tb__log_cause_t;

/* A further cause replaces the oldest. */
typedef struct tb__log_limit {
  tb__log_cause_t causes[TB__LOG_CAUSES];
} tb__log_limit_t;

/* Whether the next message of the place is passed on: at most `most` in 10 s are (0: all).
 * *out_left_out: how many were left out since the last one that was passed on. */
bool tb__log_limit_take(tb__log_limit_t *limit, const char *file, uint32_t line, uint32_t most,
                        int64_t now_ns, uint64_t *out_left_out);

/* Returns how many were left out and not yet reported. */
uint64_t tb__log_limit_end(tb__log_limit_t *limit);

#endif
