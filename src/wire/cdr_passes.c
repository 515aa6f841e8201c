#include "wire/cdr_passes.h"

#include <stdlib.h>
#include <string.h>

#define PADDING_MAX 3

void tb__cdr_writer_fail(tb__cdr_writer_t *writer, tb_status_t status)
{
  if (!writer->status) writer->status = status;
}

static tb_status_t encode_into(tb__cdr_encode_t encode, const void *type, const void *value,
                               bool big_endian, uint8_t *out, size_t *size)
{
  tb__cdr_writer_t writer;
  tb__cdr_writer_init(&writer, big_endian, out, *size);
  encode(&writer, type, value);
  return tb__cdr_writer_finish(&writer, size);
}

tb_status_t tb__cdr_encode_twice(tb__cdr_encode_t encode, const void *type, const void *value,
                                 bool big_endian, uint8_t **out, size_t *out_size)
{
  size_t size = 0;
  tb_status_t status = encode_into(encode, type, value, big_endian, NULL, &size);
  if (status) return status;
  uint8_t *bytes = malloc(size);
  if (!bytes) return TB_ERR_NO_MEMORY;
  status = encode_into(encode, type, value, big_endian, bytes, &size);
  if (status) {
    free(bytes);
    return status;
  }
  *out = bytes;
  *out_size = size;
  return TB_OK;
}

void tb__cdr_decoder_fail(tb__cdr_decoder_t *decoder, tb_status_t status)
{
  if (!decoder->reader.status) decoder->reader.status = status;
}

uint8_t *tb__cdr_decoder_take(tb__cdr_decoder_t *decoder, size_t count, size_t size)
{
  size_t bytes, end, start = (decoder->used + 7) & ~(size_t)7;
  if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(start, bytes, &end) ||
      end > PTRDIFF_MAX) {
    tb__cdr_decoder_fail(decoder, TB_ERR_NO_MEMORY);
    return NULL;
  }
  decoder->used = end;
  return decoder->block ? decoder->block + start : NULL;
}

static tb_status_t decode_pass(tb__cdr_decoder_t *decoder, tb__cdr_decode_t decode,
                               const void *type, size_t value_size, const void *cdr, size_t size)
{
  tb__cdr_reader_init(&decoder->reader, cdr, size);
  uint8_t *value = tb__cdr_decoder_take(decoder, 1, value_size);
  if (!decoder->reader.status) decode(decoder, type, value);
  if (!decoder->reader.status && tb__cdr_reader_left(&decoder->reader) > PADDING_MAX)
    tb__cdr_decoder_fail(decoder, TB_ERR_CORRUPT);
  return decoder->reader.status;
}

tb_status_t tb__cdr_decode_twice(tb__cdr_decode_t decode, const void *type, size_t value_size,
                                 const void *cdr, size_t size, void *out, size_t *out_at)
{
  tb__cdr_decoder_t counter = {.used = 0}, decoder = {.used = 0};
  tb_status_t status = decode_pass(&counter, decode, type, value_size, cdr, size);
  *out_at = counter.reader.body ? TB__CDR_ENCAPSULATION_SIZE + counter.reader.at : 0;
  if (status) return status;
  decoder.block = calloc(1, counter.used);
  if (!decoder.block) return TB_ERR_NO_MEMORY;
  status = decode_pass(&decoder, decode, type, value_size, cdr, size);
  if (status) {
    free(decoder.block);
    return status;
  }
  memcpy(out, &decoder.block, sizeof decoder.block);
  return TB_OK;
}
