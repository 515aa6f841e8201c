#include "mcap/resync.h"

#include <stdlib.h>
#include <string.h>

#include "mcap/chunk.h"

#define PIECE 65536

/* Opcode and length of the record at `offset`; false: none that fits into the file. */
static bool read_head(const tb__bag_input_t *input, uint64_t offset, uint8_t *opcode,
                      uint64_t *length)
{
  uint8_t bytes[TB__MCAP_HEAD_SIZE];
  if (offset > input->size || input->size - offset < sizeof bytes) return false;
  if (tb__bag_input_read(input, offset, bytes, sizeof bytes, NULL)) return false;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(bytes + 1, 8);
  *opcode = bytes[0];
  *length = tb__mcap_take_u64(&cursor);
  return *opcode >= TB__MCAP_HEADER && *opcode <= TB__MCAP_DATA_END &&
         *length <= input->size - offset - sizeof bytes;
}

bool tb__mcap_is_record(const tb__bag_input_t *input, uint64_t offset)
{
  uint8_t opcode;
  uint64_t length;
  return offset == input->size || read_head(input, offset, &opcode, &length);
}

static bool is_chunk(const tb__bag_input_t *input, uint64_t offset)
{
  tb__mcap_chunk_t chunk;
  uint64_t length;
  return !tb__mcap_chunk_head(input, offset, &chunk, &length, NULL) &&
         chunk.compression != TB__MCAP_OTHER && chunk.start_ns <= chunk.end_ns &&
         chunk.head_size + chunk.stored_size == length;
}

static bool is_message(const tb__bag_input_t *input, const tb__mcap_definitions_t *definitions,
                       uint64_t offset)
{
  uint8_t bytes[2];
  if (tb__bag_input_read(input, offset + TB__MCAP_HEAD_SIZE, bytes, sizeof bytes, NULL))
    return false;
  return tb__mcap_definition(&definitions->channels, bytes[0] | (size_t)bytes[1] << 8).content;
}

static bool begins_here(const tb__bag_input_t *input, const tb__mcap_definitions_t *definitions,
                        bool has_chunks, uint64_t offset)
{
  uint8_t opcode;
  uint64_t length;
  if (!read_head(input, offset, &opcode, &length)) return false;
  if (opcode == TB__MCAP_CHUNK) return is_chunk(input, offset);
  uint64_t next_length, next = offset + TB__MCAP_HEAD_SIZE + length;
  uint8_t next_opcode;
  if (opcode == TB__MCAP_DATA_END) /* a summary or a footer follows */
    return length == 4 && read_head(input, next, &next_opcode, &next_length);
  if (!tb__mcap_is_record(input, next)) return false;
  return !has_chunks && length >= TB__MCAP_MESSAGE_SIZE && is_message(input, definitions, offset);
}

/* Cheap, before the file is asked. A length of 2^40 is beyond every record. */
static bool may_begin(const uint8_t *bytes)
{
  return (bytes[0] == TB__MCAP_CHUNK || bytes[0] == TB__MCAP_DATA_END ||
          bytes[0] == TB__MCAP_MESSAGE) &&
         bytes[6] == 0 && bytes[7] == 0 && bytes[8] == 0;
}

uint64_t tb__mcap_resync(const tb__bag_input_t *input, const tb__mcap_definitions_t *definitions,
                         bool has_chunks, uint64_t offset)
{
  uint8_t *bytes = malloc(PIECE);
  uint64_t found = input->size;
  while (bytes && found == input->size && offset < input->size) {
    size_t size = input->size - offset < PIECE ? (size_t)(input->size - offset) : PIECE;
    if (size < TB__MCAP_HEAD_SIZE || tb__bag_input_read(input, offset, bytes, size, NULL)) break;
    size_t last = size - TB__MCAP_HEAD_SIZE;
    for (size_t i = 0; i <= last && found == input->size; i++)
      if (may_begin(bytes + i) && begins_here(input, definitions, has_chunks, offset + i))
        found = offset + i;
    offset += last + 1;
  }
  free(bytes);
  return found;
}
