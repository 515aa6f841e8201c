#include "wire/service_header.h"

#include <string.h>

#include "wire/cdr.h"

#define BODY TB__CDR_ENCAPSULATION_SIZE

tb_status_t tb__service_header_read(const void *cdr, size_t size, tb__service_header_t *out)
{
  tb__cdr_reader_t reader;
  tb__cdr_reader_init(&reader, cdr, size);
  uint64_t client = tb__cdr_read_number(&reader, 8);
  uint64_t sequence = tb__cdr_read_number(&reader, 8);
  if (reader.status) return reader.status;
  out->client = client;
  memcpy(&out->sequence, &sequence, sizeof out->sequence);
  return TB_OK;
}

tb_status_t tb__service_header_insert(const tb__service_header_t *header, const void *cdr,
                                      size_t size, uint8_t *out)
{
  tb__cdr_reader_t reader;
  tb__cdr_reader_init(&reader, cdr, size);
  if (reader.status) return reader.status;
  uint8_t encapsulation[BODY];
  memcpy(encapsulation, cdr, BODY);
  memmove(out + BODY + TB__SERVICE_HEADER_SIZE, (const uint8_t *)cdr + BODY, size - BODY);
  tb__cdr_writer_t writer;
  tb__cdr_writer_init(&writer, reader.big_endian, out, BODY + TB__SERVICE_HEADER_SIZE);
  tb__cdr_write_number(&writer, 8, header->client);
  tb__cdr_write_number(&writer, 8, (uint64_t)header->sequence);
  memcpy(out, encapsulation, BODY);
  return TB_OK;
}

void tb__service_header_remove(const void *cdr, size_t size, uint8_t *out)
{
  memmove(out, cdr, BODY);
  memmove(out + BODY, (const uint8_t *)cdr + BODY + TB__SERVICE_HEADER_SIZE,
          size - BODY - TB__SERVICE_HEADER_SIZE);
}
