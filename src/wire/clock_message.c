#include "wire/clock_message.h"

#include <stdbool.h>
#include <timebase/duration.h>

#define PADDING_MAX 3

static void put_u32(uint8_t *out, uint32_t value)
{
  for (int i = 0; i < 4; i++)
    out[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get_u32(const uint8_t *in, bool little)
{
  uint32_t value = 0;
  for (int i = 0; i < 4; i++)
    value |= (uint32_t)in[i] << (8 * (little ? i : 3 - i));
  return value;
}

tb_status_t tb__clock_message_encode(int64_t time_ns, uint8_t out[TB__CLOCK_MESSAGE_SIZE])
{
  if (time_ns == 0) return TB_ERR_NOT_SET;
  if (time_ns < 0 || time_ns / TB_NS_PER_S > INT32_MAX) return TB_ERR_RANGE;
  put_u32(out, 0x00000100); /* CDR, little endian, no options: 00 01 00 00 */
  put_u32(out + 4, (uint32_t)(time_ns / TB_NS_PER_S));
  put_u32(out + 8, (uint32_t)(time_ns % TB_NS_PER_S));
  return TB_OK;
}

tb_status_t tb__clock_message_decode(const void *cdr, size_t size, int64_t *out_time_ns)
{
  const uint8_t *bytes = cdr;
  if (size < TB__CLOCK_MESSAGE_SIZE) return TB_ERR_TRUNCATED;
  if (size > TB__CLOCK_MESSAGE_SIZE + PADDING_MAX) return TB_ERR_CORRUPT; /* another layout */
  if (bytes[0] != 0 || bytes[1] > 1) return TB_ERR_CORRUPT;
  bool little = bytes[1] == 1;
  uint32_t seconds = get_u32(bytes + 4, little);
  uint32_t nanoseconds = get_u32(bytes + 8, little);
  if (nanoseconds >= TB_NS_PER_S) return TB_ERR_INVALID;
  if (seconds > INT32_MAX) return TB_ERR_RANGE;
  *out_time_ns = (int64_t)seconds * TB_NS_PER_S + nanoseconds;
  return TB_OK;
}
