#include "wire/cdr_type.h"

#include <string.h>

#include "wire/cdr_passes.h"

/* All sequences have this layout. */
typedef TB__CDR_SEQUENCE(void) sequence_t;

/* The least number of bytes on the wire, never 0. */
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
    tb__cdr_writer_fail(writer, TB_ERR_LIMIT);
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
  if (field->bound && sequence.count > field->bound) tb__cdr_writer_fail(writer, TB_ERR_LIMIT);
  tb__cdr_write_count(writer, sequence.count);
  for (size_t i = 0; i < sequence.count && !writer->status; i++)
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

static void value_encode(tb__cdr_writer_t *writer, const void *type, const void *value)
{
  struct_encode(writer, type, value);
}

tb_status_t tb__cdr_encode(const tb__cdr_type_t *type, const void *value, bool big_endian,
                           uint8_t **out, size_t *out_size)
{
  return tb__cdr_encode_twice(value_encode, type, value, big_endian, out, out_size);
}

static void struct_decode(tb__cdr_decoder_t *decoder, const tb__cdr_type_t *type, uint8_t *to);

static void string_decode(tb__cdr_decoder_t *decoder, const tb__cdr_field_t *field, uint8_t *to)
{
  size_t length = 0;
  const char *text = tb__cdr_read_string(&decoder->reader, &length);
  if (!text) return;
  if (!field->is_sequence && field->bound && length > field->bound)
    tb__cdr_decoder_fail(decoder, TB_ERR_LIMIT);
  char *copy = (char *)tb__cdr_decoder_take(decoder, length + 1, 1);
  if (!copy || !to) return;
  memcpy(copy, text, length); /* and a zero of the block */
  memcpy(to, &copy, sizeof copy);
}

static void octets_decode(tb__cdr_decoder_t *decoder, const tb__cdr_field_t *field, uint8_t *to)
{
  const uint8_t *octets = tb__cdr_read_octets(&decoder->reader, field->bound);
  if (octets && to) memcpy(to, octets, field->bound);
}

static void number_decode(tb__cdr_decoder_t *decoder, const tb__cdr_field_t *field, uint8_t *to)
{
  uint64_t bits = tb__cdr_read_number(&decoder->reader, field->size);
  if (field->kind == TB__CDR_BOOL) bits = bits != 0;
  if (to) number_store(to, field->size, bits);
}

static void element_decode(tb__cdr_decoder_t *decoder, const tb__cdr_field_t *field, uint8_t *to)
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

static void sequence_decode(tb__cdr_decoder_t *decoder, const tb__cdr_field_t *field, uint8_t *to)
{
  size_t count = tb__cdr_read_count(&decoder->reader, element_wire_min(field));
  if (field->bound && count > field->bound) tb__cdr_decoder_fail(decoder, TB_ERR_LIMIT);
  if (count == 0 || decoder->reader.status) return;
  uint8_t *items = tb__cdr_decoder_take(decoder, count, field->size);
  if (to) {
    sequence_t sequence = {items, count};
    memcpy(to, &sequence, sizeof sequence);
  }
  for (size_t i = 0; i < count && !decoder->reader.status; i++)
    element_decode(decoder, field, items ? items + i * field->size : NULL);
}

static void struct_decode(tb__cdr_decoder_t *decoder, const tb__cdr_type_t *type, uint8_t *to)
{
  for (size_t i = 0; i < type->field_count && !decoder->reader.status; i++) {
    const tb__cdr_field_t *field = &type->fields[i];
    uint8_t *at = to ? to + field->offset : NULL;
    if (field->is_sequence)
      sequence_decode(decoder, field, at);
    else
      element_decode(decoder, field, at);
  }
}

static void value_decode(tb__cdr_decoder_t *decoder, const void *type, uint8_t *to)
{
  struct_decode(decoder, type, to);
}

tb_status_t tb__cdr_decode(const tb__cdr_type_t *type, const void *cdr, size_t size, void *out)
{
  size_t at;
  return tb__cdr_decode_twice(value_decode, type, type->size, cdr, size, out, &at);
}
