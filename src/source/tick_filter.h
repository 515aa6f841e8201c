/* Which ticks of a topic become time: a state machine for samples of one or more publishers. It
 * reads no clock and allocates nothing. Not thread-safe. */
#ifndef TB_SOURCE_TICK_FILTER_H
#define TB_SOURCE_TICK_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/private_api.h"

#define TB__WRITER_ID_SIZE 24

/* A publisher; size 0: not known. Bytes past `size` are zero. */
typedef struct tb__writer_id {
  uint8_t bytes[TB__WRITER_ID_SIZE];
  uint8_t size;
} tb__writer_id_t;

typedef struct tb__tick_sample {
  tb__writer_id_t writer;
  int64_t time_ns;         /* the value */
  int64_t source_stamp_ns; /* the writer's own, any value */
  int64_t steady_ns;       /* arrival */
} tb__tick_sample_t;

typedef enum tb__tick_verdict {
  TB__TICK_ACCEPT,
  TB__TICK_REORDERED, /* a later one of the same writer arrived first */
  TB__TICK_REFUSED,   /* another publisher holds the clock */
} tb__tick_verdict_t;

typedef struct tb__tick_filter_options {
  bool hold_to_first;    /* follow the first publisher while it ticks; else all */
  int64_t hold_limit_ns; /* steady; a holder that is silent for this long loses the clock; > 0 */
} tb__tick_filter_options_t;

/* The last tick of a writer, of any verdict. */
typedef struct tb__writer_sign {
  tb__writer_id_t writer; /* size 0: none */
  int64_t steady_ns;
} tb__writer_sign_t;

typedef struct tb__tick_filter {
  tb__tick_filter_options_t options;
  bool has_last;
  tb__tick_sample_t last;        /* accepted */
  tb__writer_sign_t latest;      /* the writer that ticked last */
  tb__writer_sign_t other;       /* the other writer that ticked last */
  tb__writer_sign_t holder;      /* with hold_to_first */
  bool fault;                    /* two writers within a second; reported once until it is over */
  uint64_t reordered, refused;   /* samples */
  uint64_t faults;               /* how many have begun */
  tb__writer_id_t fault_pair[2]; /* of the last one: the writer before, and the new one */
} tb__tick_filter_t;

TB_PRIVATE_API void tb__tick_filter_init(tb__tick_filter_t *filter,
                                         const tb__tick_filter_options_t *options);

/* Starts from scratch but keeps the counts. Call when samples were missed. */
TB_PRIVATE_API void tb__tick_filter_restart(tb__tick_filter_t *filter);

/* Judges the next sample, in order of arrival. When it begins a fault, `faults` rises. */
TB_PRIVATE_API tb__tick_verdict_t tb__tick_filter_sample(tb__tick_filter_t *filter,
                                                         const tb__tick_sample_t *sample);

/* `size` up to TB__WRITER_ID_SIZE; All zero: not known. */
TB_PRIVATE_API tb__writer_id_t tb__writer_id(const uint8_t *bytes, uint8_t size);

#endif
