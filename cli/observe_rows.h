/* Rows of what `timebase observe` and `timebase top` show: one for each publisher of a topic. */
#ifndef TB_CLI_OBSERVE_ROWS_H
#define TB_CLI_OBSERVE_ROWS_H

#include "observe.h"

/* A copy, so that readers do not wait for the output. */
typedef struct observe_row {
  const observe_topic_t *topic;
  observe_stream_t *stream; /* for what is the owner's */
  const char *node;         /* NULL: not known */
  uint8_t guid[16];
  double rate_hz;
  tb__topic_stream_t is; /* large */
} observe_row_t;

typedef void (*observe_row_fn_t)(const observe_row_t *row, void *user);

/* Those that there is a row for; also of publishers that have gone. */
void observe_each_row(observe_topic_t *topic, const observe_view_t *view, observe_row_fn_t show,
                      void *user);

/* What a stamp can be, as it is printed and as JSON has it. */
typedef struct observe_stamp_word {
  tb__stamp_kind_t kind;
  const char *text, *key;
} observe_stamp_word_t;

enum { OBSERVE_STAMP_WORDS = 7 };
extern const observe_stamp_word_t observe_stamp_words[OBSERVE_STAMP_WORDS];

/* Where the definition of its type is from; static text. */
const char *observe_definition_text(const observe_topic_t *topic);
/* Messages are read by a definition of its type. */
bool observe_is_defined(const observe_topic_t *topic);
bool observe_has_header(const observe_topic_t *topic);
/* The definition of its type is nowhere. */
bool observe_is_unknown(const observe_topic_t *topic);

#endif
