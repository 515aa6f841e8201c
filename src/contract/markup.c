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

void tb__markup_text(tb__markup_t *markup, const char *text, size_t most)
{
  char one[TB_TEXT_CHARACTER_SIZE];
  for (size_t taken; (taken = tb_text_escape_character(text, one)) > 0; text += taken) {
    if (most-- == 0) {
      tb__markup_raw(markup, "...");
      return;
    }
    append_escaped(markup, one);
  }
}

/* --- numbers --- */

void tb__number_text(double value, int decimals, char text[TB__DURATION_TEXT_SIZE])
{
  static const double scales[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
  double scale = scales[decimals < 0 ? 0 : decimals > 6 ? 6 : decimals];
  if (!isfinite(value) || fabs(value) * scale > 9e17) {
    snprintf(text, TB__DURATION_TEXT_SIZE, "-");
    return;
  }
  long long scaled = llround(value * scale), whole = scaled / (long long)scale;
  long long part = llabs(scaled % (long long)scale);
  const char *sign = scaled < 0 && whole == 0 ? "-" : "";
  if (decimals > 0)
    snprintf(text, TB__DURATION_TEXT_SIZE, "%s%lld.%0*lld", sign, whole,
             decimals > 6 ? 6 : decimals, part);
  else
    snprintf(text, TB__DURATION_TEXT_SIZE, "%lld", whole);
}

/* From a minute on in two whole units. */
static void long_duration_text(const char *sign, uint64_t seconds, char *text)
{
  static const struct {
    uint64_t s;
    const char *name;
  } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
  size_t unit = 0;
  while (seconds < units[unit].s)
    unit++;
  uint64_t first = seconds / units[unit].s;
  uint64_t second = seconds % units[unit].s / units[unit + 1].s;
  if (second)
    snprintf(text, TB__DURATION_TEXT_SIZE, "%s%llu %s %llu %s", sign, (unsigned long long)first,
             units[unit].name, (unsigned long long)second, units[unit + 1].name);
  else
    snprintf(text, TB__DURATION_TEXT_SIZE, "%s%llu %s", sign, (unsigned long long)first,
             units[unit].name);
}

void tb__duration_text(int64_t ns, char text[TB__DURATION_TEXT_SIZE])
{
  static const struct {
    uint64_t ns;
    const char *name;
  } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
  uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
  if (size >= UINT64_C(60) * 1000000000) {
    long_duration_text(ns < 0 ? "-" : "", size / 1000000000, text);
    return;
  }
  size_t unit = 0;
  while (unit < 3 && size < units[unit].ns)
    unit++;
  if (size == 0) unit = 0;
  double value = (double)size / (double)units[unit].ns;
  char number[TB__DURATION_TEXT_SIZE];
  tb__number_text(value,
                  unit == 3 || size == 0 ? 0
                  : value < 9.995        ? 2
                  : value < 99.95        ? 1
                                         : 0,
                  number);
  snprintf(text, TB__DURATION_TEXT_SIZE, "%s%.24s %s", ns < 0 ? "-" : "", number, units[unit].name);
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
