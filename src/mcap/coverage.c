#include "mcap/coverage.h"

#define PIECE 4096 /* so that small records between chunks cost few reads */

typedef struct walk {
  const tb__bag_input_t *input;
  uint64_t offset; /* of the next record */
  uint64_t end;    /* where the summary begins */
  uint8_t bytes[PIECE];
  uint64_t bytes_offset;
  size_t bytes_size;
} walk_t;

static tb_status_t contradicts(const walk_t *walk, const char *what, tb_error_t *error)
{
  return tb__bag_input_error(walk->input, TB_ERR_INVALID, walk->offset, error,
                             "%s; the summary is not used", what);
}

/* Opcode and end of the record at the place. */
static tb_status_t look(walk_t *walk, uint8_t *opcode, uint64_t *end, tb_error_t *error)
{
  uint64_t left = walk->offset < walk->end ? walk->end - walk->offset : 0;
  if (left < TB__MCAP_HEAD_SIZE)
    return contradicts(walk, "the data has no end before the summary", error);
  uint64_t place = walk->offset - walk->bytes_offset;
  if (walk->offset < walk->bytes_offset || place + TB__MCAP_HEAD_SIZE > walk->bytes_size) {
    size_t size = left < PIECE ? (size_t)left : PIECE;
    walk->bytes_size = 0;
    tb_status_t status = tb__bag_input_read(walk->input, walk->offset, walk->bytes, size, error);
    if (status) return status;
    walk->bytes_offset = walk->offset;
    walk->bytes_size = size;
    place = 0;
  }
  tb__mcap_cursor_t cursor = tb__mcap_cursor(walk->bytes + place + 1, 8);
  uint64_t length = tb__mcap_take_u64(&cursor);
  *opcode = walk->bytes[place];
  if (*opcode == 0 || length > left - TB__MCAP_HEAD_SIZE)
    return contradicts(walk, "no record of the data can be read here", error);
  *end = walk->offset + TB__MCAP_HEAD_SIZE + length;
  return TB_OK;
}

static tb_status_t judge(const walk_t *walk, uint8_t opcode, tb_error_t *error)
{
  switch (opcode) {
  case TB__MCAP_MESSAGE:
    return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: messages outside of chunks",
                        walk->input->path);
  case TB__MCAP_CHUNK:
    return contradicts(walk, "the summary leaves out a chunk", error);
  case TB__MCAP_DATA_END:
  case TB__MCAP_FOOTER:
    return contradicts(walk, "the data ends before its last chunk", error);
  default:
    return TB_OK;
  }
}

/* Over records without messages, exactly to `to`. */
static tb_status_t pass(walk_t *walk, uint64_t to, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  while (!status && walk->offset < to) {
    uint8_t opcode = 0;
    uint64_t end = 0;
    status = look(walk, &opcode, &end, error);
    if (!status) status = judge(walk, opcode, error);
    if (!status) walk->offset = end;
  }
  if (!status && walk->offset > to)
    return contradicts(walk, "a chunk that the summary lists begins inside a record", error);
  return status;
}

static tb_status_t pass_to_end(walk_t *walk, tb_error_t *error)
{
  for (;;) {
    uint8_t opcode = 0;
    uint64_t end = 0;
    tb_status_t status = look(walk, &opcode, &end, error);
    if (!status && opcode == TB__MCAP_DATA_END) {
      walk->offset = end;
      return end == walk->end
                 ? TB_OK
                 : contradicts(walk, "there are unexpected bytes between data and summary", error);
    }
    if (!status) status = judge(walk, opcode, error);
    if (status) return status;
    walk->offset = end;
  }
}

/* The times in its head must be those of the summary. What is not the head of a chunk is reported
 * when it is read. */
static tb_status_t check_head(walk_t *walk, const tb__bag_block_t *block, tb_error_t *error)
{
  uint8_t head[TB__MCAP_HEAD_SIZE + 16];
  tb_status_t status = tb__bag_input_read(walk->input, block->offset, head, sizeof head, error);
  if (status || head[0] != TB__MCAP_CHUNK) return status;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(head + TB__MCAP_HEAD_SIZE, 16);
  uint64_t start_ns = tb__mcap_take_u64(&cursor), end_ns = tb__mcap_take_u64(&cursor);
  if (start_ns == block->start_ns && end_ns == block->end_ns) return TB_OK;
  walk->offset = block->offset;
  return contradicts(walk, "the chunk has other times than the summary lists", error);
}

static tb_status_t check_heads(walk_t *walk, const tb__mcap_index_t *index, tb_error_t *error)
{
  size_t count = index->block_count;
  tb_status_t status = count > 0 ? check_head(walk, &index->blocks[0], error) : TB_OK;
  return !status && count > 1 ? check_head(walk, &index->blocks[count - 1], error) : status;
}

tb_status_t tb__mcap_check_coverage(const tb__bag_input_t *input, const tb__mcap_index_t *index,
                                    uint64_t summary_start, tb_error_t *error)
{
  walk_t walk = {.input = input, .offset = TB__MCAP_MAGIC_SIZE, .end = summary_start};
  tb_status_t status = check_heads(&walk, index, error);
  for (size_t i = 0; i < index->block_count && !status; i++) {
    const tb__bag_block_t *block = &index->blocks[i];
    status = pass(&walk, block->offset, error);
    if (!status) walk.offset = block->offset + block->length + block->index_length;
  }
  return status ? status : pass_to_end(&walk, error);
}
