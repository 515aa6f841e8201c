#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <timebase/duration.h>

typedef struct unit {
  const char *name;
  int64_t ns;
} unit_t;

/* Longer names before those that they begin with. */
static const unit_t units[] = {
    {"ms", TB_NS_PER_MS},     {"us", TB_NS_PER_US},       {"ns", 1},
    {"s", TB_NS_PER_S},       {"m", 60 * TB_NS_PER_S},    {"h", 3600 * TB_NS_PER_S},
    {"d", 86400 * TB_NS_PER_S},
};

#define UNIT_COUNT (sizeof units / sizeof *units)

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* A number of digits with a point somewhere: whole and fraction / 10^places, cut after 18 places. */
typedef struct number {
  __int128 whole;
  int64_t fraction;
  int64_t scale; /* 10^places */
  bool too_large;
} number_t;

static const char *number_read(const char *text, number_t *out)
{
  *out = (number_t){.scale = 1};
  const char *start = text;
  for (; is_digit(*text); text++) {
    out->whole = out->whole * 10 + (*text - '0');
    out->too_large |= out->whole > INT64_MAX;
    if (out->too_large)
      out->whole = INT64_MAX;
  }
  size_t digits = (size_t)(text - start);
  if (*text == '.') {
    start = ++text;
    for (; is_digit(*text); text++) {
      if (out->scale < INT64_C(1000000000000000000)) {
        out->fraction = out->fraction * 10 + (*text - '0');
        out->scale *= 10;
      }
    }
    if (text == start)
      return NULL;
    digits += (size_t)(text - start);
  }
  return digits ? text : NULL;
}

static const unit_t *unit_read(const char *text)
{
  for (size_t i = 0; i < UNIT_COUNT; i++)
    if (!strncmp(text, units[i].name, strlen(units[i].name)))
      return &units[i];
  return NULL;
}

static bool add_number(__int128 *sum, const number_t *number, int64_t unit_ns)
{
  *sum += number->whole * unit_ns + (__int128)number->fraction * unit_ns / number->scale;
  return !number->too_large && *sum <= (__int128)INT64_MAX + 1;
}

tb_status_t tb_duration_parse(const char *text, tb_duration_t *out)
{
  if (!text || !out)
    return TB_ERR_INVALID;
  bool negative = *text == '-', fits = true;
  if (*text == '-' || *text == '+')
    text++;
  __int128 sum = 0;
  for (bool first = true; first || *text; first = false) {
    number_t number;
    text = number_read(text, &number);
    if (!text)
      return TB_ERR_INVALID;
    const unit_t *unit = unit_read(text);
    if (!unit && (!first || *text)) /* only a number that stands alone may go without */
      return TB_ERR_INVALID;
    fits &= fits && add_number(&sum, &number, unit ? unit->ns : TB_NS_PER_S);
    if (!fits)
      sum = 0;
    text += unit ? strlen(unit->name) : 0;
  }
  if (negative)
    sum = -sum;
  if (!fits || sum > INT64_MAX)
    return TB_ERR_RANGE;
  out->ns = (int64_t)sum;
  return TB_OK;
}

tb_status_t tb_duration_format(tb_duration_t duration, char *buffer, size_t size)
{
  static const unit_t scale[] = {
      {"s", TB_NS_PER_S}, {"ms", TB_NS_PER_MS}, {"us", TB_NS_PER_US}, {"ns", 1}};
  static const int places[] = {9, 6, 3, 0};
  if (!buffer)
    return TB_ERR_INVALID;
  bool negative = duration.ns < 0;
  uint64_t ns = negative ? -(uint64_t)duration.ns : (uint64_t)duration.ns;
  int i = 0;
  while (ns && ns < (uint64_t)scale[i].ns)
    i++;
  uint64_t whole = ns / (uint64_t)scale[i].ns, part = ns % (uint64_t)scale[i].ns;
  char fraction[16] = "";
  if (part) {
    snprintf(fraction, sizeof fraction, ".%0*llu", places[i], (unsigned long long)part);
    for (size_t end = strlen(fraction); fraction[end - 1] == '0'; end--)
      fraction[end - 1] = '\0';
  }
  char text[TB_DURATION_TEXT_SIZE];
  int length = snprintf(text, sizeof text, "%s%llu%s%s", negative ? "-" : "",
                        (unsigned long long)whole, fraction, scale[i].name);
  if ((size_t)length >= size)
    return TB_ERR_LIMIT;
  memcpy(buffer, text, (size_t)length + 1);
  return TB_OK;
}
