/* A time that was typed while a recording is played. */
#ifndef TB_CLI_PLAY_TIME_H
#define TB_CLI_PLAY_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAY_TIME_FORMS "12.5s or 1m3s from the start, +5s, -5s, 2023-11-14T22:13:20Z, 1700000000.5"

/* Recorded times. */
typedef struct play_span {
  int64_t bag_start_ns;
  int64_t first_ns, end_ns; /* what can be played */
  int64_t position_ns;
} play_span_t;

/* False: `reason` holds why. */
bool play_time_parse(const char *text, const play_span_t *span, int64_t *out_ns, char *reason,
                     size_t size);

/* "12.34" since the start of the recording. */
double play_time_in_bag(const play_span_t *span, int64_t time_ns);

#endif
