/* The records of a file beside messages, found one by one: a summary may lack some. */
#include <stdlib.h>
#include <string.h>
#include <timebase/mcap_file.h>

#include "base/no_memory.h"
#include "base/null_argument.h"
#include "mcap/crc.h"
#include "mcap/record.h"

#define CHUNK_HEAD_MAX (TB__MCAP_CHUNK_SIZE + 64) /* with the name of a compression */
#define HEAD_MAX       ((uint64_t)1 << 20)        /* of an attachment, in front of its data */
#define METADATA_MAX   ((uint64_t)16 << 20)
#define PIECE          ((size_t)1 << 18)

typedef struct walk {
  tb__bag_input_t *input;
  tb_mcap_part_fn found;
  void *user;
  tb_mcap_part_t chunk; /* whose message indexes may follow */
  bool has_chunk, is_over;
} walk_t;

static int64_t time_of(uint64_t ns)
{
  return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static void give(walk_t *walk, const tb_mcap_part_t *part)
{
  if (!walk->is_over) walk->is_over = !walk->found(part, walk->user);
}

static void give_chunk(walk_t *walk)
{
  if (walk->has_chunk) give(walk, &walk->chunk);
  walk->has_chunk = false;
}

static tb_status_t damaged(const walk_t *walk, uint64_t at, tb_error_t *error)
{
  return tb__bag_input_error(walk->input, TB_ERR_CORRUPT, at, error, "a damaged record");
}

/* The first bytes of a content, at most `max`. To be freed. */
static tb_status_t read_content(const walk_t *walk, const tb_mcap_part_t *part, uint64_t max,
                                uint8_t **out, size_t *out_size, tb_error_t *error)
{
  uint64_t length = part->length - TB__MCAP_HEAD_SIZE;
  *out_size = (size_t)(length < max ? length : max);
  *out = malloc(*out_size + 1);
  if (!*out) return tb__no_memory(error);
  tb_status_t status =
      tb__bag_input_read(walk->input, part->offset + TB__MCAP_HEAD_SIZE, *out, *out_size, error);
  if (!status) return TB_OK;
  free(*out);
  *out = NULL;
  return status;
}

static tb_status_t take_chunk(walk_t *walk, tb_mcap_part_t *part, tb_error_t *error)
{
  uint8_t *content = NULL;
  size_t size = 0;
  tb__mcap_chunk_t chunk;
  tb_status_t status = read_content(walk, part, CHUNK_HEAD_MAX, &content, &size, error);
  if (status) return status;
  bool is_sound = tb__mcap_parse_chunk(content, size, part->length - TB__MCAP_HEAD_SIZE, &chunk);
  free(content);
  if (!is_sound) return damaged(walk, part->offset, error);
  const char *name = tb__mcap_compression_name(chunk.compression);
  part->kind = TB_MCAP_PART_CHUNK;
  part->compression = name ? name : chunk.compression == TB__MCAP_NONE ? "none" : "other";
  part->size = chunk.size;
  part->stored_size = chunk.stored_size;
  part->start_ns = time_of(chunk.start_ns);
  part->end_ns = time_of(chunk.end_ns);
  walk->chunk = *part;
  walk->has_chunk = true;
  return TB_OK;
}

static tb_status_t take_attachment(walk_t *walk, tb_mcap_part_t *part, tb_error_t *error)
{
  uint8_t *content = NULL;
  size_t size = 0;
  tb__mcap_attachment_t attachment;
  tb_status_t status = read_content(walk, part, HEAD_MAX, &content, &size, error);
  if (status) return status;
  uint64_t length = part->length - TB__MCAP_HEAD_SIZE;
  if (!tb__mcap_parse_attachment(content, size, length, &attachment)) {
    free(content);
    return damaged(walk, part->offset, error);
  }
  char *name = strndup(attachment.name.at, attachment.name.size);
  char *media_type = strndup(attachment.media_type.at, attachment.media_type.size);
  part->kind = TB_MCAP_PART_ATTACHMENT;
  part->name = name;
  part->media_type = media_type;
  part->size = attachment.size;
  part->log_time_ns = time_of(attachment.log_time_ns);
  part->create_time_ns = time_of(attachment.create_time_ns);
  if (name && media_type) give(walk, part);
  status = name && media_type ? TB_OK : tb__no_memory(error);
  free(name);
  free(media_type);
  free(content);
  return status;
}

/* Keys and values in turn. */
static tb_status_t give_pairs(walk_t *walk, tb_mcap_part_t *part, tb__mcap_cursor_t map,
                              tb_error_t *error)
{
  tb__mcap_text_t key, value;
  uint32_t count = 0;
  for (tb__mcap_cursor_t all = map; tb__mcap_take_pair(&all, &key, &value);)
    count++;
  char **texts = calloc(2 * (size_t)count + 1, sizeof *texts);
  bool is_complete = texts;
  for (uint32_t i = 0; is_complete && i < count && tb__mcap_take_pair(&map, &key, &value); i++) {
    texts[i] = strndup(key.at, key.size);
    texts[count + i] = strndup(value.at, value.size);
    is_complete = texts[i] && texts[count + i];
  }
  part->keys = (const char *const *)texts;
  part->values = texts ? part->keys + count : NULL;
  part->pair_count = count;
  if (is_complete) give(walk, part);
  for (uint32_t i = 0; texts && i < 2 * count; i++)
    free(texts[i]);
  free(texts);
  return is_complete ? TB_OK : tb__no_memory(error);
}

static tb_status_t take_metadata(walk_t *walk, tb_mcap_part_t *part, tb_error_t *error)
{
  uint8_t *content = NULL;
  size_t size = 0;
  if (part->length > METADATA_MAX) return damaged(walk, part->offset, error);
  tb_status_t status = read_content(walk, part, METADATA_MAX, &content, &size, error);
  if (status) return status;
  if (tb__mcap_is_metadata(content, size)) {
    tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
    tb__mcap_text_t text = tb__mcap_take_text(&cursor);
    char *name = strndup(text.at, text.size);
    part->kind = TB_MCAP_PART_METADATA;
    part->name = name;
    part->size = size;
    status =
        name ? give_pairs(walk, part, tb__mcap_take_map(&cursor), error) : tb__no_memory(error);
    free(name);
  } else {
    status = damaged(walk, part->offset, error);
  }
  free(content);
  return status;
}

static tb_status_t take(walk_t *walk, uint8_t opcode, tb_mcap_part_t *part, tb_error_t *error)
{
  uint64_t length = part->length - TB__MCAP_HEAD_SIZE;
  if (opcode == TB__MCAP_MESSAGE_INDEX) {
    if (walk->has_chunk && length > 6) walk->chunk.message_count += (length - 6) / 16;
    return TB_OK;
  }
  give_chunk(walk);
  return opcode == TB__MCAP_CHUNK        ? take_chunk(walk, part, error)
         : opcode == TB__MCAP_ATTACHMENT ? take_attachment(walk, part, error)
         : opcode == TB__MCAP_METADATA   ? take_metadata(walk, part, error)
                                         : TB_OK;
}

static tb_status_t read_head(const tb__bag_input_t *input, uint64_t at, uint8_t *opcode,
                             tb_mcap_part_t *part, tb_error_t *error)
{
  uint8_t head[TB__MCAP_HEAD_SIZE];
  uint64_t left = input->size - at;
  if (left < sizeof head)
    return tb__bag_input_error(input, TB_ERR_TRUNCATED, at, error,
                               "the file ends without the end of its data");
  tb_status_t status = tb__bag_input_read(input, at, head, sizeof head, error);
  if (status) return status;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(head + 1, 8);
  uint64_t length = tb__mcap_take_u64(&cursor);
  *opcode = head[0];
  *part = (tb_mcap_part_t){.offset = at, .length = length + sizeof head};
  if (head[0] == 0)
    return tb__bag_input_error(input, TB_ERR_CORRUPT, at, error, "a damaged record");
  if (length > left - sizeof head)
    return tb__bag_input_error(input, TB_ERR_TRUNCATED, at, error,
                               "a record that goes beyond the end of the file");
  return TB_OK;
}

static tb_status_t open_input(const char *path, tb__bag_input_t *input, tb_error_t *error)
{
  uint8_t magic[TB__MCAP_MAGIC_SIZE] = {0};
  tb_status_t status = tb__bag_input_open(path, path, input, error);
  if (!status && input->size >= sizeof magic)
    status = tb__bag_input_read(input, 0, magic, sizeof magic, error);
  if (!status && memcmp(magic, TB__MCAP_MAGIC, sizeof magic) != 0)
    status = tb_error_set(error, TB_ERR_UNSUPPORTED, "%s: not a file of MCAP", path);
  return status;
}

/* A flipped bit makes an end of another record; what follows would be left out without a word. */
static bool is_end(const walk_t *walk, uint8_t opcode, const tb_mcap_part_t *part)
{
  uint64_t length = part->length - TB__MCAP_HEAD_SIZE;
  return opcode == TB__MCAP_DATA_END
             ? length == 4
             : length == TB__MCAP_FOOTER_SIZE &&
                   part->offset + part->length + TB__MCAP_MAGIC_SIZE == walk->input->size;
}

tb_status_t tb_mcap_file_list(const char *path, tb_mcap_part_fn found, void *user,
                              tb_error_t *error)
{
  if (!path || !found) return tb__null_argument(error, __func__);
  tb__bag_input_t input;
  walk_t walk = {.input = &input, .found = found, .user = user};
  tb_mcap_part_t part = {0};
  uint8_t opcode = 0;
  tb_status_t status = open_input(path, &input, error);
  uint64_t at = TB__MCAP_MAGIC_SIZE;
  while (!status && !walk.is_over) {
    status = read_head(&input, at, &opcode, &part, error);
    at += part.length;
    if (status) break;
    if (opcode == TB__MCAP_DATA_END || opcode == TB__MCAP_FOOTER) {
      if (!is_end(&walk, opcode, &part)) status = damaged(&walk, part.offset, error);
      break;
    }
    status = take(&walk, opcode, &part, error);
  }
  give_chunk(&walk);
  tb__bag_input_close(&input);
  return status;
}

/* --- attachments --- */

/* The sum is that of all that is before it in the record. */
static tb_status_t check_sum(const tb__bag_input_t *input, const tb_mcap_part_t *part,
                             tb_error_t *error)
{
  uint8_t stored[4];
  uint64_t end = part->offset + part->length - sizeof stored;
  uint32_t crc = 0;
  tb_status_t status = tb__bag_input_read(input, end, stored, sizeof stored, error);
  if (status) return status;
  tb__mcap_cursor_t cursor = tb__mcap_cursor(stored, sizeof stored);
  uint32_t expected = tb__mcap_take_u32(&cursor);
  if (expected == 0) return TB_OK;
  status = tb__mcap_input_crc(input, part->offset + TB__MCAP_HEAD_SIZE, end, &crc, error);
  if (!status && crc != expected)
    status = tb__bag_input_error(input, TB_ERR_CORRUPT, part->offset, error,
                                 "the checksum of the attachment is wrong");
  return status;
}

static tb_status_t write_data(const tb__bag_input_t *input, uint64_t from, uint64_t size,
                              tb_mcap_write_fn write, void *user, tb_error_t *error)
{
  uint8_t *piece = malloc(PIECE);
  if (!piece) return tb__no_memory(error);
  tb_status_t status = TB_OK;
  while (!status && size > 0) {
    size_t count = size < PIECE ? (size_t)size : PIECE;
    status = tb__bag_input_read(input, from, piece, count, error);
    if (!status) status = write(piece, count, user, error);
    from += count;
    size -= count;
  }
  free(piece);
  return status;
}

tb_status_t tb_mcap_file_read_attachment(const char *path, uint64_t offset, tb_mcap_write_fn write,
                                         void *user, tb_error_t *error)
{
  if (!path || !write) return tb__null_argument(error, __func__);
  tb__bag_input_t input;
  const walk_t walk = {.input = &input};
  tb__mcap_attachment_t attachment = {0};
  tb_mcap_part_t part = {0};
  uint8_t opcode = 0, *content = NULL;
  size_t size = 0;
  tb_status_t status = open_input(path, &input, error);
  if (!status && offset < input.size) status = read_head(&input, offset, &opcode, &part, error);
  if (!status && opcode != TB__MCAP_ATTACHMENT)
    status = tb__bag_input_error(&input, TB_ERR_CORRUPT, offset, error, "no attachment here");
  if (!status) status = read_content(&walk, &part, HEAD_MAX, &content, &size, error);
  uint64_t length = part.length - TB__MCAP_HEAD_SIZE;
  if (!status && !tb__mcap_parse_attachment(content, size, length, &attachment))
    status = damaged(&walk, offset, error);
  if (!status) status = check_sum(&input, &part, error);
  if (!status)
    status = write_data(&input, offset + TB__MCAP_HEAD_SIZE + attachment.head_size, attachment.size,
                        write, user, error);
  free(content);
  tb__bag_input_close(&input);
  return status;
}
