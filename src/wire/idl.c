#include <timebase/ros2_idl.h>

#include <stdlib.h>
#include <string.h>

#include "base/null_argument.h"
#include "dds/idl_type.h"
#include "wire/cdr_passes.h"

static void members_encode(tb__cdr_writer_t *writer, const uint32_t *members, const uint8_t *from);

static void element_encode(tb__cdr_writer_t *writer, const tb__idl_member_t *member,
                           const uint8_t *from)
{
  const char *text = (const char *)from;
  switch (member->kind) {
  case TB__IDL_STRUCT:
    members_encode(writer, member->members, from);
    break;
  case TB__IDL_STRING:
    memcpy(&text, from, sizeof text);
    tb__cdr_write_string(writer, text);
    break;
  case TB__IDL_CHARS:
    if (memchr(text, '\0', member->size))
      tb__cdr_write_string(writer, text);
    else
      tb__cdr_writer_fail(writer, TB_ERR_INVALID);
    break;
  default:
    tb__cdr_write_number(writer, 1, *from != 0);
  }
}

static void elements_encode(tb__cdr_writer_t *writer, const tb__idl_member_t *member, size_t count,
                            const uint8_t *from)
{
  if (member->kind == TB__IDL_NUMBER) {
    tb__cdr_write_numbers(writer, member->size, count, from);
    return;
  }
  for (size_t i = 0; i < count && !writer->status; i++)
    element_encode(writer, member, from + i * member->size);
}

static void sequence_encode(tb__cdr_writer_t *writer, const tb__idl_member_t *member,
                            const uint8_t *from)
{
  tb__idl_sequence_t sequence;
  memcpy(&sequence, from, sizeof sequence);
  if (sequence.length > 0 && !sequence.buffer) tb__cdr_writer_fail(writer, TB_ERR_INVALID);
  if (member->count && sequence.length > member->count) tb__cdr_writer_fail(writer, TB_ERR_LIMIT);
  tb__cdr_write_count(writer, sequence.length);
  if (!writer->status) elements_encode(writer, member, sequence.length, sequence.buffer);
}

static void members_encode(tb__cdr_writer_t *writer, const uint32_t *members, const uint8_t *from)
{
  tb__idl_member_t member;
  while (!writer->status && tb__idl_next(&members, &member)) {
    if (member.shape == TB__IDL_SEQUENCE)
      sequence_encode(writer, &member, from + member.offset);
    else
      elements_encode(writer, &member, member.shape == TB__IDL_ARRAY ? member.count : 1,
                      from + member.offset);
  }
}

static void sample_encode(tb__cdr_writer_t *writer, const void *members, const void *sample)
{
  members_encode(writer, members, sample);
}

static const char *encode_reason(tb_status_t status)
{
  if (status == TB_ERR_LIMIT)
    return "a sequence is longer than its bound, or the message than DDS can carry";
  if (status == TB_ERR_INVALID)
    return "a bounded string without its NUL, or a sequence whose _buffer is NULL";
  return tb_status_message(status);
}

tb_status_t tb_ros2_idl_encode(const struct dds_topic_descriptor *descriptor, const void *sample,
                               void **out_cdr, size_t *out_size, tb_error_t *error)
{
  if (!descriptor || !sample || !out_cdr || !out_size) return tb__null_argument(error, __func__);
  tb__idl_type_t type;
  uint8_t *cdr;
  tb_status_t status = tb__idl_type_init(&type, descriptor, error);
  if (status) return status;
  if (!sample) return tb_error_set(error, TB_ERR_INVALID, "%s: sample is NULL", type.name);
  status = tb__cdr_encode_twice(sample_encode, type.members, sample, false, &cdr, out_size);
  if (status)
    return tb_error_set(error, status, "%s cannot be encoded: %s", type.name,
                        encode_reason(status));
  *out_cdr = cdr;
  return TB_OK;
}

/* The least number of bytes on the wire, without alignment. */
static size_t members_wire_min(const uint32_t *members);

static size_t element_wire_min(const tb__idl_member_t *member)
{
  if (member->kind == TB__IDL_STRUCT) return members_wire_min(member->members);
  return member->kind == TB__IDL_STRING || member->kind == TB__IDL_CHARS ? 4 : member->size;
}

static size_t members_wire_min(const uint32_t *members)
{
  tb__idl_member_t member;
  size_t size = 0;
  while (tb__idl_next(&members, &member)) {
    if (member.shape == TB__IDL_SEQUENCE)
      size += 4;
    else
      size += element_wire_min(&member) * (member.shape == TB__IDL_ARRAY ? member.count : 1);
  }
  return size;
}

static void members_decode(tb__cdr_decoder_t *decoder, const uint32_t *members, uint8_t *to);

static void string_decode(tb__cdr_decoder_t *decoder, const tb__idl_member_t *member, uint8_t *to)
{
  size_t length = 0;
  const char *text = tb__cdr_read_string(&decoder->reader, &length);
  if (!text) return;
  uint8_t *copy = to;
  if (member->kind == TB__IDL_STRING)
    copy = tb__cdr_decoder_take(decoder, length + 1, 1);
  else if (length >= member->size)
    tb__cdr_decoder_fail(decoder, TB_ERR_LIMIT);
  if (!copy || !to || decoder->reader.status) return;
  memcpy(copy, text, length); /* and a zero of the block */
  if (member->kind == TB__IDL_STRING) memcpy(to, &copy, sizeof copy);
}

static void element_decode(tb__cdr_decoder_t *decoder, const tb__idl_member_t *member, uint8_t *to)
{
  if (member->kind == TB__IDL_STRUCT) {
    members_decode(decoder, member->members, to);
  } else if (member->kind == TB__IDL_BOOL) {
    uint64_t bits = tb__cdr_read_number(&decoder->reader, 1);
    if (to) *to = bits != 0;
  } else {
    string_decode(decoder, member, to);
  }
}

static void elements_decode(tb__cdr_decoder_t *decoder, const tb__idl_member_t *member,
                            size_t count, uint8_t *to)
{
  if (member->kind == TB__IDL_NUMBER) {
    tb__cdr_read_numbers(&decoder->reader, member->size, count, to);
    return;
  }
  for (size_t i = 0; i < count && !decoder->reader.status; i++)
    element_decode(decoder, member, to ? to + i * member->size : NULL);
}

static void sequence_decode(tb__cdr_decoder_t *decoder, const tb__idl_member_t *member, uint8_t *to)
{
  size_t element_min = element_wire_min(member);
  size_t count = tb__cdr_read_count(&decoder->reader, element_min ? element_min : 1);
  if (member->count && count > member->count) tb__cdr_decoder_fail(decoder, TB_ERR_LIMIT);
  if (count == 0 || decoder->reader.status) return;
  uint8_t *items = tb__cdr_decoder_take(decoder, count, member->size);
  if (to) {
    tb__idl_sequence_t sequence = {(uint32_t)count, (uint32_t)count, items, false};
    memcpy(to, &sequence, sizeof sequence);
  }
  elements_decode(decoder, member, count, items);
}

static void members_decode(tb__cdr_decoder_t *decoder, const uint32_t *members, uint8_t *to)
{
  tb__idl_member_t member;
  while (!decoder->reader.status && tb__idl_next(&members, &member)) {
    uint8_t *at = to ? to + member.offset : NULL;
    if (member.shape == TB__IDL_SEQUENCE)
      sequence_decode(decoder, &member, at);
    else
      elements_decode(decoder, &member, member.shape == TB__IDL_ARRAY ? member.count : 1, at);
  }
}

static void sample_decode(tb__cdr_decoder_t *decoder, const void *members, uint8_t *to)
{
  members_decode(decoder, members, to);
}

static const char *decode_reason(tb_status_t status)
{
  switch (status) {
  case TB_ERR_TRUNCATED:
    return "the message ends too early, or has a length that is too large";
  case TB_ERR_CORRUPT:
    return "not plain CDR, a string without end, or bytes after the end of the type";
  case TB_ERR_INVALID:
    return "a string with a NUL in it";
  case TB_ERR_LIMIT:
    return "a string or sequence is longer than its bound";
  default:
    return tb_status_message(status);
  }
}

tb_status_t tb_ros2_idl_decode(const struct dds_topic_descriptor *descriptor, const void *cdr,
                               size_t size, void **out_sample, tb_error_t *error)
{
  if (!descriptor || !cdr || !out_sample) return tb__null_argument(error, __func__);
  tb__idl_type_t type;
  size_t at;
  tb_status_t status = tb__idl_type_init(&type, descriptor, error);
  if (status) return status;
  status = tb__cdr_decode_twice(sample_decode, type.members, type.size, cdr, size, out_sample, &at);
  if (!status) return TB_OK;
  tb_error_set(error, status, "%zu bytes at offset %zu are not a valid %s: %s", size, at, type.name,
               decode_reason(status));
  if (error) error->offset = (int64_t)at;
  return status;
}

void tb_ros2_idl_free(void *memory)
{
  free(memory);
}
