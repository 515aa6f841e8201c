/* The lines of .msg files, of either generation, as they are written. Pure. */
#ifndef TB_DEFINITION_MSG_LINE_H
#define TB_DEFINITION_MSG_LINE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tb__span {
  const char *at;
  size_t size;
} tb__span_t;

typedef enum tb__msg_line_kind {
  TB__MSG_LINE_OTHER,   /* blank, or a comment */
  TB__MSG_LINE_HEADING, /* one of '=', and one with "MSG: " and `name` */
  TB__MSG_LINE_FIELD,
  TB__MSG_LINE_CONSTANT,
} tb__msg_line_kind_t;

typedef struct tb__msg_line {
  tb__msg_line_kind_t kind;
  tb__span_t text; /* without its end */
  tb__span_t type, name;
  tb__span_t rest; /* after the name: of a constant after the '=', without spaces around it */
} tb__msg_line_t;

/* False: at the end. */
bool tb__msg_line_next(const char *text, size_t *at, tb__msg_line_t *out);

bool tb__span_is(tb__span_t span, const char *text);
/* Without spaces around it. */
tb__span_t tb__span_trimmed(tb__span_t span);
/* Up to the first of these characters. */
tb__span_t tb__span_before(tb__span_t span, const char *characters);

#endif
