#include "definition/msg_line.h"

#include <string.h>

#include "definition/parsers.h"

#define SPACES " \t\r\n\v\f"

bool tb__span_is(tb__span_t span, const char *text)
{
  return strlen(text) == span.size && memcmp(span.at, text, span.size) == 0;
}

static bool is_one_of(char character, const char *characters)
{
  return character != '\0' && strchr(characters, character);
}

tb__span_t tb__span_trimmed(tb__span_t span)
{
  while (span.size > 0 && is_one_of(span.at[0], SPACES)) {
    span.at++;
    span.size--;
  }
  while (span.size > 0 && is_one_of(span.at[span.size - 1], SPACES))
    span.size--;
  return span;
}

tb__span_t tb__span_before(tb__span_t span, const char *characters)
{
  size_t size = 0;
  while (size < span.size && !is_one_of(span.at[size], characters))
    size++;
  return (tb__span_t){span.at, size};
}

static tb__span_t line_at(const char *text, size_t *at)
{
  tb__span_t line = {text + *at, strcspn(text + *at, "\n")};
  *at += line.size + (line.at[line.size] == '\n');
  return line;
}

static tb__span_t span_behind(tb__span_t all, tb__span_t part)
{
  const char *begin = part.at + part.size;
  return (tb__span_t){begin, (size_t)(all.at + all.size - begin)};
}

/* After a line of '='. */
static void take_heading(const char *text, size_t *at, tb__msg_line_t *line)
{
  size_t next = *at;
  tb__span_t below = tb__span_trimmed(line_at(text, &next));
  if (below.size < 4 || memcmp(below.at, "MSG:", 4) != 0) return;
  line->kind = TB__MSG_LINE_HEADING;
  line->name = tb__span_trimmed((tb__span_t){below.at + 4, below.size - 4});
  *at = next;
}

static void take_field(tb__msg_line_t *line)
{
  tb__span_t left = tb__span_trimmed(line->text);
  if (left.size == 0 || left.at[0] == '#') return;
  line->type = tb__span_before(left, SPACES);
  left = tb__span_trimmed(span_behind(left, line->type));
  line->name = tb__span_before(left, SPACES "=#");
  left = tb__span_trimmed(span_behind(left, line->name));
  bool is_constant = left.size > 0 && left.at[0] == '=';
  line->kind = is_constant ? TB__MSG_LINE_CONSTANT : TB__MSG_LINE_FIELD;
  line->rest = is_constant ? tb__span_trimmed((tb__span_t){left.at + 1, left.size - 1}) : left;
}

bool tb__msg_line_next(const char *text, size_t *at, tb__msg_line_t *out)
{
  if (!text[*at]) return false;
  *out = (tb__msg_line_t){.text = line_at(text, at)};
  if (tb__is_rule(out->text.at, out->text.size))
    take_heading(text, at, out);
  else
    take_field(out);
  return true;
}
