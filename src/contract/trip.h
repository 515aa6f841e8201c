/* Whether an output has tripped, and since when. Pure. One thread at a time. */
#ifndef TB_CONTRACT_TRIP_H
#define TB_CONTRACT_TRIP_H

#include <stdbool.h>
#include <stdint.h>

#include "definition/field_path.h"

/* All zero: nothing was received. */
typedef struct tb__trip {
  uint64_t messages;
  bool is_tripped;
  int64_t since_ns; /* steady: the first message of this state */
} tb__trip_t;

TB_PRIVATE_API void tb__trip_feed(tb__trip_t *trip, bool is_tripped, int64_t steady_ns);

/* Whether the field of a message has the value, as a manifest writes it: "true", "2", "STOP". False
 * also if the message has no such field. */
TB_PRIVATE_API bool tb__trip_is_value(const tb__field_path_t *field, const tb__message_t *message,
                                      const char *value);
/* TB_ERR_INVALID: a field of this type never has such a value, or has parts. */
TB_PRIVATE_API tb_status_t tb__trip_check(const tb__field_path_t *field, const char *value,
                                          tb_error_t *error) TB_WARN_UNUSED;

#endif
