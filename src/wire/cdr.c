#include "wire/cdr.h"

#include <string.h>

static void read_fail(tb__cdr_reader_t *reader, tb_status_t status)
{
  if (!reader->status) reader->status = status;
}

void tb__cdr_reader_init(tb__cdr_reader_t *reader, const void *cdr, size_t size)
{
  const uint8_t *bytes = cdr;
  *reader = (tb__cdr_reader_t){.status = TB_OK};
  if (size < TB__CDR_ENCAPSULATION_SIZE) {
    reader->status = TB_ERR_TRUNCATED;
  } else if (bytes[0] != 0 || bytes[1] > 1) {
    reader->status = TB_ERR_CORRUPT;
  } else {
    reader->body = bytes + TB__CDR_ENCAPSULATION_SIZE;
    reader->size = size - TB__CDR_ENCAPSULATION_SIZE;
    reader->big_endian = bytes[1] == 0;
  }
}

size_t tb__cdr_reader_left(const tb__cdr_reader_t *reader)
{
  return reader->size - reader->at;
}

const uint8_t *tb__cdr_read_octets(tb__cdr_reader_t *reader, size_t size)
{
  if (!reader->status && size > tb__cdr_reader_left(reader)) read_fail(reader, TB_ERR_TRUNCATED);
  if (reader->status) return NULL;
  const uint8_t *octets = reader->body + reader->at;
  reader->at += size;
  return octets;
}

/* Widths are powers of two. */
static size_t padding_before(size_t at, size_t width)
{
  return (0 - at) & (width - 1);
}

uint64_t tb__cdr_read_number(tb__cdr_reader_t *reader, size_t width)
{
  uint64_t bits = 0;
  tb__cdr_read_octets(reader, padding_before(reader->at, width));
  const uint8_t *octets = tb__cdr_read_octets(reader, width);
  if (!octets) return 0;
  for (size_t i = 0; i < width; i++)
    bits |= (uint64_t)octets[i] << (8 * (reader->big_endian ? width - 1 - i : i));
  return bits;
}

/* Copies numbers, and converts their byte order if needed. */
static void numbers_copy(uint8_t *to, const uint8_t *from, size_t width, size_t count,
                         bool is_other)
{
  if (!is_other) {
    memcpy(to, from, width * count);
    return;
  }
  for (size_t i = 0; i < count; i++, to += width, from += width) {
    for (size_t k = 0; k < width; k++)
      to[k] = from[width - 1 - k];
  }
}

static bool is_other_order(bool big_endian)
{
  return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

bool tb__cdr_read_numbers(tb__cdr_reader_t *reader, size_t width, size_t count, void *out)
{
  if (count == 0) return !reader->status;
  tb__cdr_read_octets(reader, padding_before(reader->at, width));
  if (count > tb__cdr_reader_left(reader) / width) read_fail(reader, TB_ERR_TRUNCATED);
  const uint8_t *octets = tb__cdr_read_octets(reader, width * count);
  if (octets && out) numbers_copy(out, octets, width, count, is_other_order(reader->big_endian));
  return octets != NULL;
}

const char *tb__cdr_read_string(tb__cdr_reader_t *reader, size_t *out_length)
{
  size_t size = (size_t)tb__cdr_read_number(reader, 4);
  const char *text = (const char *)tb__cdr_read_octets(reader, size);
  if (!text) return NULL;
  if (size == 0) {
    *out_length = 0;
    return "";
  }
  const char *end = memchr(text, '\0', size);
  if (end != text + size - 1) {
    read_fail(reader, end ? TB_ERR_INVALID : TB_ERR_CORRUPT);
    return NULL;
  }
  *out_length = size - 1;
  return text;
}

size_t tb__cdr_read_count(tb__cdr_reader_t *reader, size_t element_min)
{
  size_t count = (size_t)tb__cdr_read_number(reader, 4);
  if (count <= tb__cdr_reader_left(reader) / element_min) return count;
  read_fail(reader, TB_ERR_TRUNCATED);
  return 0;
}

/* The room for the next bytes; NULL: do not write them. */
static uint8_t *write_take(tb__cdr_writer_t *writer, size_t size)
{
  size_t used = TB__CDR_ENCAPSULATION_SIZE + writer->at;
  size_t room = writer->out ? writer->room : TB__CDR_MESSAGE_MAX;
  if (!writer->status && (used > room || size > room - used)) writer->status = TB_ERR_LIMIT;
  if (writer->status) return NULL;
  writer->at += size;
  return writer->out ? writer->out + used : NULL;
}

static void write_zeros(tb__cdr_writer_t *writer, size_t size)
{
  uint8_t *out = write_take(writer, size);
  if (out) memset(out, 0, size);
}

void tb__cdr_writer_init(tb__cdr_writer_t *writer, bool big_endian, uint8_t *out, size_t room)
{
  if (room > TB__CDR_MESSAGE_MAX) room = TB__CDR_MESSAGE_MAX;
  *writer = (tb__cdr_writer_t){.out = out, .room = room, .big_endian = big_endian, .status = TB_OK};
  if (out && room < TB__CDR_ENCAPSULATION_SIZE) {
    writer->status = TB_ERR_LIMIT;
  } else if (out) {
    memset(out, 0, TB__CDR_ENCAPSULATION_SIZE);
    out[1] = big_endian ? 0 : 1;
  }
}

void tb__cdr_write_octets(tb__cdr_writer_t *writer, const void *octets, size_t size)
{
  uint8_t *out = write_take(writer, size);
  if (out && size > 0) memcpy(out, octets, size);
}

void tb__cdr_write_number(tb__cdr_writer_t *writer, size_t width, uint64_t bits)
{
  write_zeros(writer, padding_before(writer->at, width));
  uint8_t *out = write_take(writer, width);
  if (!out) return;
  for (size_t i = 0; i < width; i++)
    out[i] = (uint8_t)(bits >> (8 * (writer->big_endian ? width - 1 - i : i)));
}

void tb__cdr_write_numbers(tb__cdr_writer_t *writer, size_t width, size_t count, const void *from)
{
  if (count == 0) return;
  write_zeros(writer, padding_before(writer->at, width));
  uint8_t *out = write_take(writer, width * count);
  if (out) numbers_copy(out, from, width, count, is_other_order(writer->big_endian));
}

void tb__cdr_write_count(tb__cdr_writer_t *writer, size_t count)
{
  if (!writer->status && count > UINT32_MAX) writer->status = TB_ERR_LIMIT;
  tb__cdr_write_number(writer, 4, count);
}

void tb__cdr_write_string(tb__cdr_writer_t *writer, const char *text)
{
  size_t size = text ? strlen(text) + 1 : 1;
  tb__cdr_write_count(writer, size);
  tb__cdr_write_octets(writer, text ? text : "", size);
}

tb_status_t tb__cdr_writer_finish(tb__cdr_writer_t *writer, size_t *out_size)
{
  write_zeros(writer, padding_before(writer->at, 4));
  if (writer->status) return writer->status;
  *out_size = TB__CDR_ENCAPSULATION_SIZE + writer->at;
  return TB_OK;
}
