#include "value/decimal.h"

#include <string.h>

size_t tb__digits_count(const char *text)
{
  size_t count = 0;
  while (tb__is_digit(text[count]))
    count++;
  return count;
}

bool tb__digits_value(const char *digits, size_t count, uint64_t *out)
{
  uint64_t value = 0;
  for (size_t i = 0; i < count; i++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(digits[i] - '0'), &value))
      return false;
  *out = value;
  return true;
}

int64_t tb__fraction_ns(const char *digits, size_t count, int64_t unit_ns)
{
  /* Twice the fraction, rounded down, from the last digit to the first: rounding down at each step
   * is exact, however many digits there are. */
  int64_t twice_ns = 0;
  for (size_t i = count; i-- > 0;)
    twice_ns = ((digits[i] - '0') * 2 * unit_ns + twice_ns) / 10;
  return (twice_ns + 1) / 2;
}

char *tb__digits_put(char *out, uint64_t value, int width)
{
  int length = 1;
  for (uint64_t rest = value / 10; rest; rest /= 10)
    length++;
  if (length < width) length = width;
  for (int i = length; i-- > 0; value /= 10)
    out[i] = (char)('0' + value % 10);
  return out + length;
}

char *tb__fraction_put(char *out, uint32_t value, int width)
{
  int length = width;
  if (value == 0) return out;
  for (; value % 10 == 0; value /= 10)
    length--;
  *out = '.';
  return tb__digits_put(out + 1, value, length);
}

tb_status_t tb__text_copy(const char *text, char *buffer, size_t size)
{
  size_t length = strlen(text);
  if (!buffer) return TB_ERR_INVALID;
  if (length >= size) return TB_ERR_LIMIT;
  memcpy(buffer, text, length + 1);
  return TB_OK;
}
