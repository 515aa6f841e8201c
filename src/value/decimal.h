/* Decimal digits in texts of time. */
#ifndef TB_VALUE_DECIMAL_H
#define TB_VALUE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

static inline bool tb__is_digit(char c)
{
  return c >= '0' && c <= '9';
}

/* How many digits `text` begins with. */
size_t tb__digits_count(const char *text);

/* The value of `count` digits. False: more than uint64 holds. */
bool tb__digits_value(const char *digits, size_t count, uint64_t *out);

/* 0.<digits> of a unit, to the nearest nanosecond, ties up: 0..unit_ns. unit_ns: up to a day. */
int64_t tb__fraction_ns(const char *digits, size_t count, int64_t unit_ns);

/* Writes `value` with at least `width` digits and no NUL. Returns the end of what was written. */
char *tb__digits_put(char *out, uint64_t value, int width);

/* Writes a point and `value` padded with zeros to `width` digits, without trailing zeros and
 * without a NUL. 0 writes nothing. Returns the end of what was written. */
char *tb__fraction_put(char *out, uint32_t value, int width);

/* Copies a finished text. TB_ERR_INVALID: NULL. TB_ERR_LIMIT: no room. */
tb_status_t tb__text_copy(const char *text, char *buffer, size_t size) TB_WARN_UNUSED;

#endif
