/* OpenMetrics text (version 1.0.0), written from first to last: a family's head, then its samples.
 * Numbers have a point whatever the locale is. One thread at a time. */
#ifndef TB_CONTRACT_METRICS_TEXT_H
#define TB_CONTRACT_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/spread.h"

enum { TB__METRICS_LABELS = 4 };

/* All zero: empty. */
typedef struct tb__metrics_text {
  char *text; /* to be freed */
  size_t size, room;
  bool is_failed; /* out of memory, or above 4 MiB: the text is of no use */
} tb__metrics_text_t;

/* Up to the first without a name. Bytes of values that are not printable ASCII become '?'. */
typedef struct tb__metrics_labels {
  struct {
    const char *name, *value;
  } of[TB__METRICS_LABELS];
} tb__metrics_labels_t;

/* Which values of a spread a histogram has. Those of negative ones have no sign. */
typedef enum tb__metrics_part {
  TB__METRICS_ALL, /* may be negative: then there is neither a sum nor a count */
  TB__METRICS_NOT_NEGATIVE,
  TB__METRICS_NEGATIVE,
} tb__metrics_part_t;

/* `type`: "gauge", "counter", "histogram", "info". `unit`: the end of the name, or NULL. `help`:
 * without a full stop, and nothing to escape. */
TB_PRIVATE_API void tb__metrics_head(tb__metrics_text_t *text, const char *name, const char *type,
                                     const char *unit, const char *help);
/* `name`: with its suffix, such as "_total". */
TB_PRIVATE_API void tb__metrics_count(tb__metrics_text_t *text, const char *name,
                                      const tb__metrics_labels_t *labels, uint64_t value);
TB_PRIVATE_API void tb__metrics_number(tb__metrics_text_t *text, const char *name,
                                       const tb__metrics_labels_t *labels, double value);
/* In seconds, to a millionth; its bounds are exact to 1.6 % or 1 us. */
TB_PRIVATE_API void tb__metrics_histogram(tb__metrics_text_t *text, const char *name,
                                          const tb__metrics_labels_t *labels,
                                          const tb__spread_t *spread, tb__metrics_part_t part);
TB_PRIVATE_API void tb__metrics_end(tb__metrics_text_t *text);

#endif
