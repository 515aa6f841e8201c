#include <timebase/duration.h>

#include <stdbool.h>
#include <string.h>

#include "value/decimal.h"

#define INFINITE "infinite"

typedef struct unit {
  const char *name;
  int64_t ns;
} unit_t;

static const unit_t units[] = {
    {"d", 86400 * TB_NS_PER_S},
    {"h", 3600 * TB_NS_PER_S},
    {"m", 60 * TB_NS_PER_S},
    {"s", TB_NS_PER_S},
    {"ms", TB_NS_PER_MS},
    {"us", TB_NS_PER_US},
    {"ns", 1},
};

#define UNIT_COUNT (sizeof units / sizeof *units)

typedef struct part {
  uint64_t whole;
  bool too_large; /* `whole` does not fit */
  const char *fraction;
  size_t fraction_count;
  bool has_fraction;
  const unit_t *unit; /* NULL: none was given */
} part_t;

static const unit_t *unit_find(const char *name, size_t length)
{
  for (size_t i = 0; i < UNIT_COUNT; i++)
    if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
      return &units[i];
  return NULL;
}

/* Reads one number and its unit. Returns the text after it, NULL if it is not one. */
static const char *part_read(const char *text, part_t *part)
{
  size_t whole_count = tb__digits_count(text);
  *part = (part_t){0};
  part->too_large = !tb__digits_value(text, whole_count, &part->whole);
  text += whole_count;
  if (*text == '.') {
    part->has_fraction = true;
    part->fraction = ++text;
    part->fraction_count = tb__digits_count(text);
    text += part->fraction_count;
    if (part->fraction_count == 0) return NULL;
  } else if (whole_count == 0) {
    return NULL;
  }
  size_t length = strspn(text, "dhmnsu");
  part->unit = unit_find(text, length);
  return length && !part->unit ? NULL : text + length;
}

/* Adds the part to *total_ns. False: it does not fit. */
static bool part_add(const part_t *part, int64_t unit_ns, uint64_t *total_ns)
{
  uint64_t whole_ns;
  int64_t fraction_ns = tb__fraction_ns(part->fraction, part->fraction_count, unit_ns);
  return !part->too_large && !__builtin_mul_overflow(part->whole, (uint64_t)unit_ns, &whole_ns) &&
         !__builtin_add_overflow(*total_ns, whole_ns, total_ns) &&
         !__builtin_add_overflow(*total_ns, (uint64_t)fraction_ns, total_ns);
}

/* The magnitude after the sign. Invalid text is reported in preference to a number that is too
 * large. */
static tb_status_t magnitude_parse(const char *text, uint64_t *out_ns)
{
  const unit_t *last = NULL;
  bool fits = true, has_fraction = false;
  *out_ns = 0;
  do {
    part_t part;
    text = part_read(text, &part);
    if (!text || has_fraction) return TB_ERR_INVALID;
    if (!part.unit) { /* a number without a unit must be the only one */
      if (last || *text) return TB_ERR_INVALID;
      return part_add(&part, TB_NS_PER_S, out_ns) ? TB_OK : TB_ERR_RANGE;
    }
    if (last && part.unit <= last) return TB_ERR_INVALID;
    last = part.unit;
    has_fraction = part.has_fraction;
    fits = part_add(&part, part.unit->ns, out_ns) && fits;
  } while (*text);
  return fits ? TB_OK : TB_ERR_RANGE;
}

tb_status_t tb_duration_parse(const char *text, tb_duration_t *out)
{
  uint64_t magnitude_ns;
  if (!text || !out) return TB_ERR_INVALID;
  if (!strcmp(text, INFINITE)) {
    *out = TB_DURATION_INFINITE;
    return TB_OK;
  }
  bool negative = *text == '-';
  tb_status_t status = magnitude_parse(text + (*text == '-' || *text == '+'), &magnitude_ns);
  if (status) return status;
  if (magnitude_ns > (uint64_t)INT64_MAX + negative) return TB_ERR_RANGE;
  if (negative && magnitude_ns)
    out->ns = -(int64_t)(magnitude_ns - 1) - 1;
  else
    out->ns = (int64_t)magnitude_ns;
  return TB_OK;
}

static char *name_put(char *out, const char *name)
{
  while (*name)
    *out++ = *name++;
  return out;
}

/* Below a second: one number, in the largest unit that leaves no zero before the point. */
static char *small_put(char *out, uint32_t ns)
{
  const unit_t *unit = &units[UNIT_COUNT - 1];
  int width = 0;
  while (ns >= unit->ns * 1000) {
    unit--;
    width += 3;
  }
  out = tb__digits_put(out, (uint64_t)(ns / unit->ns), 1);
  out = tb__fraction_put(out, (uint32_t)(ns % unit->ns), width);
  return name_put(out, unit->name);
}

static char *large_put(char *out, uint64_t seconds, uint32_t ns)
{
  for (const unit_t *unit = units; unit->ns > TB_NS_PER_S; unit++) {
    uint64_t unit_s = (uint64_t)(unit->ns / TB_NS_PER_S);
    if (seconds >= unit_s) out = name_put(tb__digits_put(out, seconds / unit_s, 1), unit->name);
    seconds %= unit_s;
  }
  if (seconds == 0 && ns == 0) return out;
  out = tb__digits_put(out, seconds, 1);
  return name_put(tb__fraction_put(out, ns, 9), "s");
}

tb_status_t tb_duration_format(tb_duration_t duration, char *buffer, size_t size)
{
  char text[TB_DURATION_TEXT_SIZE];
  uint64_t magnitude_ns = duration.ns < 0 ? 0 - (uint64_t)duration.ns : (uint64_t)duration.ns;
  uint64_t seconds = magnitude_ns / (uint64_t)TB_NS_PER_S;
  uint32_t ns = (uint32_t)(magnitude_ns % (uint64_t)TB_NS_PER_S);
  char *end = text;
  if (duration.ns == TB_DURATION_INFINITE.ns) return tb__text_copy(INFINITE, buffer, size);
  if (duration.ns < 0) *end++ = '-';
  if (seconds)
    end = large_put(end, seconds, ns);
  else if (ns)
    end = small_put(end, ns);
  else
    end = name_put(end, "0s");
  *end = '\0';
  return tb__text_copy(text, buffer, size);
}
