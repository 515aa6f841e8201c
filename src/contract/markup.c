#include "contract/markup.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/text.h>

void tb__markup_fini(tb__markup_t *markup)
{
  free(markup->text);
  *markup = (tb__markup_t){0};
}

static void append(tb__markup_t *markup, const char *text, size_t length)
{
  if (markup->is_lost) return;
  if (markup->length + length >= markup->capacity) {
    size_t capacity = (markup->length + length + 1) * 2 + 4096;
    char *grown = realloc(markup->text, capacity);
    if (!grown) {
      markup->is_lost = true;
      return;
    }
    markup->text = grown;
    markup->capacity = capacity;
  }
  memcpy(markup->text + markup->length, text, length);
  markup->length += length;
  markup->text[markup->length] = '\0';
}

void tb__markup_raw(tb__markup_t *markup, const char *text)
{
  append(markup, text, strlen(text));
}

void tb__markup_print(tb__markup_t *markup, const char *format, ...)
{
  char text[512];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length > 0) append(markup, text, strlen(text));
}

/* One character that tb_text_escape let pass. U+FFFE and U+FFFF are no characters of XML. */
static void append_escaped(tb__markup_t *markup, const char *one)
{
  if (strcmp(one, "&") == 0)
    tb__markup_raw(markup, "&amp;");
  else if (strcmp(one, "<") == 0)
    tb__markup_raw(markup, "&lt;");
  else if (strcmp(one, ">") == 0)
    tb__markup_raw(markup, "&gt;");
  else if (strcmp(one, "\"") == 0)
    tb__markup_raw(markup, "&quot;");
  else if (strcmp(one, "'") == 0)
    tb__markup_raw(markup, "&#39;");
  else if (strcmp(one, "\xEF\xBF\xBE") == 0)
    tb__markup_raw(markup, "\\ufffe");
  else if (strcmp(one, "\xEF\xBF\xBF") == 0)
    tb__markup_raw(markup, "\\uffff");
  else
    tb__markup_raw(markup, one);
}

static void append_text(tb__markup_t *markup, const char *text, size_t most, const char *breaks)
{
  char one[TB_TEXT_CHARACTER_SIZE];
  const char *begin = text;
  for (size_t taken; (taken = tb_text_escape_character(text, one)) > 0; text += taken) {
    if (most-- == 0) {
      tb__markup_raw(markup, "...");
      return;
    }
    append_escaped(markup, one);
    if (*breaks && text > begin && strcmp(one, "/") == 0) tb__markup_raw(markup, breaks);
  }
}

void tb__markup_text(tb__markup_t *markup, const char *text, size_t most)
{
  append_text(markup, text, most, "");
}

void tb__markup_name(tb__markup_t *markup, const char *name, size_t most)
{
  append_text(markup, name, most, "<wbr/>");
}

/* --- numbers --- */

void tb__number_text(double value, int decimals, char text[TB__NUMBER_TEXT_SIZE])
{
  static const double scales[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
  double scale = scales[decimals < 0 ? 0 : decimals > 6 ? 6 : decimals];
  if (!isfinite(value) || fabs(value) * scale > 9e17) {
    snprintf(text, TB__NUMBER_TEXT_SIZE, "-");
    return;
  }
  long long scaled = llround(value * scale), whole = scaled / (long long)scale;
  long long part = llabs(scaled % (long long)scale);
  const char *sign = scaled < 0 && whole == 0 ? "-" : "";
  if (decimals > 0)
    snprintf(text, TB__NUMBER_TEXT_SIZE, "%s%lld.%0*lld", sign, whole, decimals > 6 ? 6 : decimals,
             part);
  else
    snprintf(text, TB__NUMBER_TEXT_SIZE, "%lld", whole);
}

void tb__instant_text(int64_t ns, char text[TB__INSTANT_TEXT_SIZE])
{
  const int64_t second = 1000000000;
  int64_t seconds = ns / second, part = ns % second;
  if (part < 0) {
    seconds--;
    part += second;
  }
  struct tm parts;
  time_t time = (time_t)seconds;
  if (seconds >= 946684800 && gmtime_r(&time, &parts))
    snprintf(text, TB__INSTANT_TEXT_SIZE, "%04d-%02d-%02d %02d:%02d:%02d.%03d UTC",
             parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
             parts.tm_sec, (int)(part / 1000000));
  else
    snprintf(text, TB__INSTANT_TEXT_SIZE, "%lld.%03d s", (long long)seconds, (int)(part / 1000000));
}
