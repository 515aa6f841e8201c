#include "screen_text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

screen_line_t screen_line_begin(int columns)
{
  return (screen_line_t){.text = "", .room = columns};
}

void screen_line_put(screen_line_t *line, const char *format, ...)
{
  char piece[512];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(piece, sizeof piece, format, args);
  va_end(args);
  line->full = line->full || length > line->room || length >= (int)sizeof piece;
  if (line->full) return;
  memcpy(line->text + line->length, piece, (size_t)length + 1);
  line->length += (size_t)length;
  line->room -= length;
}

/* The bytes and columns of the character at `text`. */
static size_t character(const char *text, int *out_columns)
{
  wchar_t wide;
  mbstate_t state = {0};
  size_t size = mbrtowc(&wide, text, strlen(text), &state);
  bool valid = size > 0 && size <= MB_LEN_MAX;
  int columns = valid ? wcwidth(wide) : 1;
  *out_columns = columns < 0 ? 1 : columns;
  return valid ? size : 1;
}

int screen_columns(const char *text)
{
  int sum = 0, columns;
  for (; *text; sum += columns)
    text += character(text, &columns);
  return sum;
}

void screen_fit(const char *text, int columns, bool keeps_end, char *out, size_t size)
{
  static const char ellipsis[] = "…";
  int all = screen_columns(text), width;
  if (all <= columns) {
    snprintf(out, size, "%s", text);
    return;
  }
  if (columns < 1) {
    snprintf(out, size, "%s", "");
    return;
  }
  const char *from = text;
  int used = 0;
  if (keeps_end) {
    for (int left = all; left > columns - 1; left -= width)
      from += character(from, &width);
    snprintf(out, size, "%s%s", ellipsis, from);
    return;
  }
  while (*from) {
    size_t bytes = character(from, &width);
    if (used + width > columns - 1) break;
    used += width;
    from += bytes;
  }
  snprintf(out, size, "%.*s%s", (int)(from - text), text, ellipsis);
}

void screen_fit_middle(const char *text, int columns, char *out, size_t size)
{
  char head[SCREEN_TEXT_SIZE], tail[SCREEN_TEXT_SIZE];
  int all = screen_columns(text), before = (columns - 1) / 2;
  if (all <= columns || before < 1) {
    screen_fit(text, columns, true, out, size);
    return;
  }
  screen_fit(text, before + 1, false, head, sizeof head); /* with its own ellipsis */
  int rest = columns - screen_columns(head);
  screen_fit(text, rest + 1, true, tail, sizeof tail);
  snprintf(out, size, "%s%s", head, tail + strlen("…"));
}
