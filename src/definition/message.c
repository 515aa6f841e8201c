#include "definition/message.h"

#include <string.h>

#define ENCAPSULATION_SIZE 4
#define PADDING_MAX        3 /* bytes after the last field */
#define NS_PER_S           1000000000

static uint32_t load32(const tb__message_t *message, size_t at)
{
  uint32_t number;
  memcpy(&number, message->body + at, sizeof number);
  bool is_other = message->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
  return is_other ? __builtin_bswap32(number) : number;
}

/* Moves to a multiple of `width` (not in ROS 1), with that many bytes there. */
static bool align(const tb__message_t *message, uint32_t width, size_t *at)
{
  size_t begin = *at;
  if (!message->schema->is_ros1) begin = (begin + width - 1) & ~(size_t)(width - 1);
  if (begin > message->size || message->size - begin < width) return false;
  *at = begin;
  return true;
}

static tb_status_t take32(const tb__message_t *message, size_t *at, uint32_t *out)
{
  if (!align(message, 4, at)) return TB_ERR_TRUNCATED;
  *out = load32(message, *at);
  *at += 4;
  return TB_OK;
}

static tb_status_t move(const tb__message_t *message, uint64_t size, size_t *at)
{
  if (size > message->size - *at) return TB_ERR_TRUNCATED;
  *at += (size_t)size;
  return TB_OK;
}

/* --- skipping --- */

tb_status_t tb__message_length(const tb__message_t *message, uint32_t bound, size_t *at,
                               uint32_t *out)
{
  tb_status_t status = take32(message, at, out);
  if (status) return status;
  if (bound > 0 && *out > bound) return TB_ERR_CORRUPT;
  return *out > message->size - *at ? TB_ERR_TRUNCATED : TB_OK; /* no element is empty */
}

static tb_status_t skip_strings(const tb__message_t *message, uint32_t count, size_t *at)
{
  tb_status_t status = TB_OK;
  for (; count > 0 && !status; count--) {
    uint32_t size = 0;
    status = take32(message, at, &size);
    if (!status) status = move(message, size, at);
  }
  return status;
}

static tb_status_t skip_wide_strings(const tb__message_t *message, uint32_t count, size_t *at)
{
  tb_status_t status = TB_OK;
  for (; count > 0 && !status; count--) {
    uint32_t length = 0;
    status = take32(message, at, &length);
    if (!status && message->has_short_wide && length % 2 != 0) status = TB_ERR_CORRUPT;
    if (!status)
      status = move(message, message->has_short_wide ? length : (uint64_t)length * 4, at);
  }
  return status;
}

static tb_status_t skip_structs(const tb__message_t *message, uint32_t index, uint32_t count,
                                size_t *at)
{
  const tb__schema_type_t *type = &message->schema->types[index];
  const tb__skip_t *skips = &message->schema->skips[type->first_skip];
  tb_status_t status = TB_OK;
  for (; count > 0 && !status; count--)
    status = tb__message_skip(message, skips, type->skip_count, at);
  return status;
}

static tb_status_t skip_one(const tb__message_t *message, const tb__skip_t *skip, size_t *at)
{
  uint32_t count = skip->count;
  if (skip->kind == TB__SKIP_ENTER) {
    tb_status_t status = tb__message_length(message, skip->count, at, &count);
    return !status && count <= skip->type ? TB_ERR_NOT_FOUND : status;
  }
  if (skip->is_sequence) {
    tb_status_t status = tb__message_length(message, skip->count, at, &count);
    if (status) return status;
  }
  switch (skip->kind) {
  case TB__SKIP_STRING:
    return skip_strings(message, count, at);
  case TB__SKIP_WSTRING:
    return skip_wide_strings(message, count, at);
  case TB__SKIP_STRUCT:
    return skip_structs(message, skip->type, count, at);
  default:
    return move(
        message,
        count == 1 ? skip->extent.size[*at & 7] : tb__extent_times(&skip->extent, *at, count), at);
  }
}

tb_status_t tb__message_skip(const tb__message_t *message, const tb__skip_t *skips, uint32_t count,
                             size_t *at)
{
  tb_status_t status = TB_OK;
  for (uint32_t i = 0; i < count && !status; i++)
    status = skip_one(message, &skips[i], at);
  return status;
}

/* --- values --- */

tb_status_t tb__message_bits(const tb__message_t *message, uint32_t width, size_t *at,
                             uint64_t *out)
{
  uint64_t bits = 0;
  if (!align(message, width, at)) return TB_ERR_TRUNCATED;
  for (uint32_t i = 0; i < width; i++)
    bits |= (uint64_t)message->body[*at + i] << (8 * (message->big_endian ? width - 1 - i : i));
  *at += width;
  *out = bits;
  return TB_OK;
}

static double number_of(tb__field_kind_t kind, uint64_t bits)
{
  uint32_t low = (uint32_t)bits;
  float single;
  double number;
  switch (kind) {
  case TB__FIELD_INT8:
    return (int8_t)bits;
  case TB__FIELD_INT16:
    return (int16_t)bits;
  case TB__FIELD_INT32:
    return (int32_t)bits;
  case TB__FIELD_INT64:
    return (double)(int64_t)bits;
  case TB__FIELD_FLOAT32:
    memcpy(&single, &low, sizeof single);
    return (double)single;
  case TB__FIELD_FLOAT64:
    memcpy(&number, &bits, sizeof number);
    return number;
  default:
    return (double)bits;
  }
}

tb_status_t tb__message_number(const tb__message_t *message, tb__field_kind_t kind, size_t *at,
                               double *out)
{
  uint32_t width = tb__field_width(kind);
  uint64_t bits = 0;
  tb_status_t status = width > 0 ? tb__message_bits(message, width, at, &bits) : TB_ERR_INVALID;
  if (!status) *out = number_of(kind, bits);
  return status;
}

tb_status_t tb__message_string(const tb__message_t *message, size_t *at, const char **out,
                               size_t *out_length)
{
  uint32_t size = 0;
  size_t end = *at;
  tb_status_t status = take32(message, &end, &size);
  if (!status) status = move(message, size, &end);
  bool has_nul = !message->schema->is_ros1;
  if (!status && has_nul && size > 0 && message->body[end - 1] != '\0') status = TB_ERR_CORRUPT;
  if (status) return status;
  *out = size > 0 ? (const char *)message->body + end - size : "";
  *out_length = size > 0 && has_nul ? size - 1 : size;
  *at = end;
  return TB_OK;
}

int64_t tb__time_of_fields(int64_t seconds, uint32_t nanoseconds)
{
  return nanoseconds < NS_PER_S ? seconds * NS_PER_S + nanoseconds : TB__NO_TIME_NS + nanoseconds;
}

tb_status_t tb__message_any_time(const tb__message_t *message, size_t *at, int64_t *out_ns)
{
  size_t begin = *at;
  if (!align(message, 4, &begin) || message->size - begin < 8) return TB_ERR_TRUNCATED;
  uint32_t seconds = load32(message, begin);
  int64_t whole = message->schema->is_ros1 ? (int64_t)seconds : (int64_t)(int32_t)seconds;
  *out_ns = tb__time_of_fields(whole, load32(message, begin + 4));
  *at = begin + 8;
  return TB_OK;
}

tb_status_t tb__message_time(const tb__message_t *message, size_t *at, int64_t *out_ns)
{
  int64_t ns;
  size_t end = *at;
  tb_status_t status = tb__message_any_time(message, &end, &ns);
  if (status) return status;
  if (tb__is_no_time(ns)) return TB_ERR_CORRUPT;
  *out_ns = ns;
  *at = end;
  return TB_OK;
}

/* --- messages --- */

static bool is_read_to_its_end(const tb__message_t *message)
{
  size_t at = 0;
  return skip_structs(message, message->schema->root, 1, &at) == TB_OK &&
         message->size - at <= PADDING_MAX;
}

tb_status_t tb__message_open(tb__message_t *message, const tb__schema_t *schema, const void *cdr,
                             size_t size)
{
  const uint8_t *bytes = cdr;
  if (schema->is_ros1) {
    *message = (tb__message_t){.schema = schema, .body = bytes, .size = size};
    return TB_OK;
  }
  if (size < ENCAPSULATION_SIZE) return TB_ERR_TRUNCATED;
  if (bytes[0] != 0 || bytes[1] > 1) return TB_ERR_UNSUPPORTED;
  *message = (tb__message_t){.schema = schema,
                             .body = bytes + ENCAPSULATION_SIZE,
                             .size = size - ENCAPSULATION_SIZE,
                             .big_endian = bytes[1] == 0};
  if (schema->has_wide && !is_read_to_its_end(message)) {
    message->has_short_wide = true;
    message->has_short_wide = is_read_to_its_end(message);
  }
  return TB_OK;
}
