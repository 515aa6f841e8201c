/* Sentences that well-known programs log when time is wrong: evidence in /rosout, live or recorded.
 * A table: a new sentence is a row. */
#ifndef TB_CONTRACT_LOG_SENTENCE_H
#define TB_CONTRACT_LOG_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/private_api.h"

typedef struct tb__log_sentence {
  const char *fragment; /* of the log message; case counts */
  const char *meaning;  /* "tf2 dropped a transform ..." */
  bool is_of_jump;      /* what a jump of /clock brings about */
  bool is_of_mix;       /* what a node on another time base brings about, also in other nodes */
} tb__log_sentence_t;

/* The first row whose fragment is in the text; NULL: none is. */
TB_PRIVATE_API const tb__log_sentence_t *tb__log_sentence_find(const char *text, size_t length);

/* The rows; NULL after the last. */
TB_PRIVATE_API const tb__log_sentence_t *tb__log_sentence_at(size_t index);

#endif
