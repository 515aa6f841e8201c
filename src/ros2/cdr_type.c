#include "ros2/cdr_type.h"

#include <stdlib.h>
#include <string.h>

#include "ros2/cdr.h"

/* All sequences look like this one. */
typedef TB__CDR_SEQUENCE(void) sequence_t;

#define PADDING_MAX 3

/* Bytes that it has at least on the wire, never 0. */
static size_t type_wire_min(const tb__cdr_type_t *type)
{
  size_t size = 0;
  for (size_t i = 0; i < type->field_count; i++) {
    const tb__cdr_field_t *field = &type->fields[i];
    if (field->is_sequence || field->kind == TB__CDR_STRING)
      size += 4;
    else if (field->kind == TB__CDR_STRUCT)
      size += type_wire_min(field->type);
    else
      size += field->kind == TB__CDR_OCTETS ? field->bound : field->size;
  }
  return size;
}

static size_t element_wire_min(const tb__cdr_field_t *field)
{
  if (field->kind == TB__CDR_STRING) return 4;
  return field->kind == TB__CDR_STRUCT ? type_wire_min(field->type) : field->size;
}

static uint64_t number_load(const void *from, size_t width)
{
  uint8_t u8;
  uint16_t u16;
  uint32_t u32;
  uint64_t u64;
  switch (width) {
  case 1:
    return memcpy(&u8, from, width), u8;
  case 2:
    return memcpy(&u16, from, width), u16;
  case 4:
    return memcpy(&u32, from, width), u32;
  default:
    return memcpy(&u64, from, sizeof u64), u64;
  }
}

static void number_store(void *to, size_t width, uint64_t bits)
{
  uint8_t u8 = (uint8_t)bits;
  uint16_t u16 = (uint16_t)bits;
  uint32_t u32 = (uint32_t)bits;
  switch (width) {
  case 1:
    memcpy(to, &u8, width);
    break;
  case 2:
    memcpy(to, &u16, width);
    break;
  case 4:
    memcpy(to, &u32, width);
    break;
  default:
    memcpy(to, &bits, sizeof bits);
  }
}

static void struct_encode(tb__cdr_writer_t *writer, const tb__cdr_type_t *type,
                          const uint8_t *from);

static void string_encode(tb__cdr_writer_t *writer, const tb__cdr_field_t *field,
                          const uint8_t *from)
{
  const char *text;
  memcpy(&text, from, sizeof text);
  if (!field->is_sequence && field->bound && text && strlen(text) > field->bound)
    writer->status = writer->status == TB_OK ? TB_ERR_LIMIT : writer->status;
  tb__cdr_write_string(writer, text);
}

static void element_encode(tb__cdr_writer_t *writer, const tb__cdr_field_t *field,
                           const uint8_t *from)
{
  switch (field->kind) {
  case TB__CDR_STRUCT:
    struct_encode(writer, field->type, from);
    break;
  case TB__CDR_STRING:
    string_encode(writer, field, from);
    break;
  case TB__CDR_OCTETS:
    tb__cdr_write_octets(writer, from, field->bound);
    break;
  default:
    tb__cdr_write_number(writer, field->size, number_load(from, field->size));
  }
}

static void sequence_encode(tb__cdr_writer_t *writer, const tb__cdr_field_t *field,
                            const uint8_t *from)
{
  sequence_t sequence;
  memcpy(&sequence, from, sizeof sequence);
  if (field->bound && sequence.count > field->bound && writer->status == TB_OK)
    writer->status = TB_ERR_LIMIT;
  tb__cdr_write_count(writer, sequence.count);
  for (size_t i = 0; i < sequence.count && writer->status == TB_OK; i++)
    element_encode(writer, field, (const uint8_t *)sequence.items + i * field->size);
}

static void struct_encode(tb__cdr_writer_t *writer, const tb__cdr_type_t *type, const uint8_t *from)
{
  for (size_t i = 0; i < type->field_count; i++) {
    const tb__cdr_field_t *field = &type->fields[i];
    if (field->is_sequence)
      sequence_encode(writer, field, from + field->offset);
    else
      element_encode(writer, field, from + field->offset);
  }
}

static tb_status_t encode_into(const tb__cdr_type_t *type, const void *value, bool big_endian,
                               uint8_t *out, size_t *size)
{
  tb__cdr_writer_t writer;
  tb__cdr_writer_init(&writer, big_endian, out, *size);
  struct_encode(&writer, type, value);
  return tb__cdr_writer_finish(&writer, size);
}

tb_status_t tb__cdr_encode(const tb__cdr_type_t *type, const void *value, bool big_endian,
                           uint8_t **out, size_t *out_size)
{
  size_t size = 0;
  tb_status_t status = encode_into(type, value, big_endian, NULL, &size);
  if (status != TB_OK) return status;
  uint8_t *bytes = malloc(size);
  if (!bytes) return TB_ERR_NO_MEMORY;
  status = encode_into(type, value, big_endian, bytes, &size);
  if (status != TB_OK) {
    free(bytes);
    return status;
  }
  *out = bytes;
  *out_size = size;
  return TB_OK;
}

/* Goes over the message twice: without a block it checks and counts, with one it fills it in. */
typedef struct decoder {
  tb__cdr_reader_t reader;
  uint8_t *block; /* of zeros */
  size_t used;
} decoder_t;

static void decode_fail(decoder_t *decoder, tb_status_t status)
{
  if (decoder->reader.status == TB_OK) decoder->reader.status = status;
}

/* The next bytes of the block, aligned; NULL while counting. */
static uint8_t *block_take(decoder_t *decoder, size_t count, size_t size)
{
  size_t bytes, end, start = (decoder->used + 7) & ~(size_t)7;
  if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(start, bytes, &end) ||
      end > PTRDIFF_MAX) {
    decode_fail(decoder, TB_ERR_NO_MEMORY);
    return NULL;
  }
  decoder->used = end;
  return decoder->block ? decoder->block + start : NULL;
}

static void struct_decode(decoder_t *decoder, const tb__cdr_type_t *type, uint8_t *to);

static void string_decode(decoder_t *decoder, const tb__cdr_field_t *field, uint8_t *to)
{
  size_t length = 0;
  const char *text = tb__cdr_read_string(&decoder->reader, &length);
  if (!text) return;
  if (!field->is_sequence && field->bound && length > field->bound)
    decode_fail(decoder, TB_ERR_LIMIT);
  char *copy = (char *)block_take(decoder, length + 1, 1);
  if (!copy || !to) return;
  memcpy(copy, text, length); /* and a zero of the block */
  memcpy(to, &copy, sizeof copy);
}

static void octets_decode(decoder_t *decoder, const tb__cdr_field_t *field, uint8_t *to)
{
  const uint8_t *octets = tb__cdr_read_octets(&decoder->reader, field->bound);
  if (octets && to) memcpy(to, octets, field->bound);
}

static void number_decode(decoder_t *decoder, const tb__cdr_field_t *field, uint8_t *to)
{
  uint64_t bits = tb__cdr_read_number(&decoder->reader, field->size);
  if (field->kind == TB__CDR_BOOL) bits = bits != 0;
  if (to) number_store(to, field->size, bits);
}

static void element_decode(decoder_t *decoder, const tb__cdr_field_t *field, uint8_t *to)
{
  switch (field->kind) {
  case TB__CDR_STRUCT:
    struct_decode(decoder, field->type, to);
    break;
  case TB__CDR_STRING:
    string_decode(decoder, field, to);
    break;
  case TB__CDR_OCTETS:
    octets_decode(decoder, field, to);
    break;
  default:
    number_decode(decoder, field, to);
  }
}

static void sequence_decode(decoder_t *decoder, const tb__cdr_field_t *field, uint8_t *to)
{
  size_t count = tb__cdr_read_count(&decoder->reader, element_wire_min(field));
  if (field->bound && count > field->bound) decode_fail(decoder, TB_ERR_LIMIT);
  if (count == 0 || decoder->reader.status != TB_OK) return;
  uint8_t *items = block_take(decoder, count, field->size);
  if (to) {
    sequence_t sequence = {items, count};
    memcpy(to, &sequence, sizeof sequence);
  }
  for (size_t i = 0; i < count && decoder->reader.status == TB_OK; i++)
    element_decode(decoder, field, items ? items + i * field->size : NULL);
}

static void struct_decode(decoder_t *decoder, const tb__cdr_type_t *type, uint8_t *to)
{
  for (size_t i = 0; i < type->field_count && decoder->reader.status == TB_OK; i++) {
    const tb__cdr_field_t *field = &type->fields[i];
    uint8_t *at = to ? to + field->offset : NULL;
    if (field->is_sequence)
      sequence_decode(decoder, field, at);
    else
      element_decode(decoder, field, at);
  }
}

static tb_status_t decode_pass(const tb__cdr_type_t *type, const void *cdr, size_t size,
                               uint8_t *block, size_t *out_used)
{
  decoder_t decoder = {.block = block};
  tb__cdr_reader_init(&decoder.reader, cdr, size);
  uint8_t *value = block_take(&decoder, 1, type->size);
  struct_decode(&decoder, type, value);
  if (decoder.reader.status == TB_OK && tb__cdr_reader_left(&decoder.reader) > PADDING_MAX)
    decode_fail(&decoder, TB_ERR_CORRUPT);
  *out_used = decoder.used;
  return decoder.reader.status;
}

tb_status_t tb__cdr_decode(const tb__cdr_type_t *type, const void *cdr, size_t size, void *out)
{
  size_t used;
  tb_status_t status = decode_pass(type, cdr, size, NULL, &used);
  if (status != TB_OK) return status;
  uint8_t *block = calloc(1, used);
  if (!block) return TB_ERR_NO_MEMORY;
  status = decode_pass(type, cdr, size, block, &used);
  if (status != TB_OK) {
    free(block);
    return status;
  }
  memcpy(out, &block, sizeof block);
  return TB_OK;
}
