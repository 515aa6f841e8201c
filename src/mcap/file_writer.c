#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/no_memory.h"
#include "mcap/file_writer_inside.h"
#include "mcap/summary_writer.h"
#include "storage/write_at.h"

#define DEFAULT_CHUNK 786432
#define MAX_CHUNK     (UINT64_C(512) << 20)
#define MAX_MESSAGE   (TB__MCAP_MAX_RECORD - (UINT64_C(16) << 20)) /* so that it can be read */
#define SUM_AFTER     32768                                        /* while it is in the cache */
#define DEFINE_AFTER  (UINT64_C(16) << 20)
#define COPY_PIECE    262144

static tb_status_t system_error(const tb__mcap_writer_t *writer, tb_error_t *error)
{
  int code = errno;
  tb_error_set_errno(error, TB_ERR_SYSTEM, code, "%s: offset %llu", writer->path,
                     (unsigned long long)writer->position);
  if (error) error->offset = (int64_t)writer->position;
  return TB_ERR_SYSTEM;
}

static tb_status_t write_at(const tb__mcap_writer_t *writer, uint64_t at, const uint8_t *bytes,
                            size_t size, tb_error_t *error)
{
  errno = tb__write_at(writer->fd, at, bytes, size);
  return errno ? system_error(writer, error) : TB_OK;
}

/* What was written of something that could not be written whole. */
static void take_back(const tb__mcap_writer_t *writer)
{
  if (ftruncate(writer->fd, (off_t)writer->position) != 0)
    return; /* readers find the end of what is whole by themselves */
}

static void keep_tail(tb__mcap_writer_t *writer, const uint8_t *bytes, size_t size)
{
  writer->tail_size = size < sizeof writer->tail ? size : sizeof writer->tail;
  memcpy(writer->tail, bytes + size - writer->tail_size, writer->tail_size);
}

/* A cut takes the last bytes away; where the file has grown again there are zeros. */
static tb_status_t check_tail(const tb__mcap_writer_t *writer, tb_error_t *error)
{
  uint8_t found[TB__MCAP_TAIL];
  off_t at = (off_t)(writer->position - writer->tail_size);
  ssize_t count;
  do
    count = pread(writer->fd, found, writer->tail_size, at);
  while (count < 0 && errno == EINTR);
  if (count < 0) return system_error(writer, error);
  if ((size_t)count == writer->tail_size && memcmp(found, writer->tail, (size_t)count) == 0)
    return TB_OK;
  return tb_error_set(error, TB_ERR_TRUNCATED,
                      "%s was truncated while it was being written, and has grown again",
                      writer->path);
}

tb_status_t tb__mcap_writer_check(const tb__mcap_writer_t *writer, tb_error_t *error)
{
  struct stat info;
  if (fstat(writer->fd, &info) != 0) return system_error(writer, error);
  if ((uint64_t)info.st_size >= writer->position) return check_tail(writer, error);
  tb_error_set(error, TB_ERR_TRUNCATED,
               "%s was truncated while it was being written: %lld bytes of %llu", writer->path,
               (long long)info.st_size, (unsigned long long)writer->position);
  if (error) error->offset = info.st_size;
  return TB_ERR_TRUNCATED;
}

/* `crc`: of the file after it. After a cut nothing is written: the hole would look like data. */
static tb_status_t append(tb__mcap_writer_t *writer, const uint8_t *bytes, size_t size,
                          uint32_t crc, tb_error_t *error)
{
  tb_status_t status = tb__mcap_writer_check(writer, error);
  if (status) return status;
  status = write_at(writer, writer->position, bytes, size, error);
  if (status) {
    take_back(writer);
    return status;
  }
  writer->position += size;
  writer->crc = crc;
  keep_tail(writer, bytes, size);
  return TB_OK;
}

static tb_status_t write_header(tb__mcap_writer_t *writer, const char *profile, tb_error_t *error)
{
  static const char library[] = "timebase " TB_VERSION;
  uint8_t bytes[128], *out = bytes;
  tb__mcap_put_magic(&out);
  tb__mcap_put_head(&out, TB__MCAP_HEADER, 4 + strlen(profile) + 4 + strlen(library));
  tb__mcap_put_text(&out, tb__mcap_text(profile));
  tb__mcap_put_text(&out, tb__mcap_text(library));
  size_t size = (size_t)(out - bytes);
  return append(writer, bytes, size, libdeflate_crc32(0, bytes, size), error);
}

static void begin_chunk(tb__mcap_writer_t *writer)
{
  for (size_t i = 0; i < writer->chunk_channel_count; i++)
    writer->tracks[writer->chunk_channels[i]]->entry_count = 0;
  writer->chunk_channel_count = 0;
  writer->chunk.size = writer->summed = TB__MCAP_ROOM;
  writer->chunk_crc = 0;
  writer->chunk_messages = writer->chunk_start_ns = writer->chunk_end_ns = 0;
}

static void destroy(tb__mcap_writer_t *writer)
{
  if (writer->fd >= 0) close(writer->fd);
  for (size_t i = 0; writer->tracks && i < TB__MCAP_IDS; i++) {
    if (writer->tracks[i]) free(writer->tracks[i]->entries);
    free(writer->tracks[i]);
  }
  free(writer->tracks);
  tb__mcap_definitions_fini(&writer->definitions);
  ZSTD_freeCCtx(writer->zstd);
  free(writer->chunk.at);
  free(writer->packed.at);
  free(writer->chunk_channels);
  free(writer->chunk_index.at);
  free(writer->attachment_index.at);
  free(writer->metadata_index.at);
  free(writer->path);
  free(writer);
}

static tb_status_t allocate(tb__mcap_writer_t *writer, const char *path, tb_error_t *error)
{
  writer->path = strdup(path);
  writer->tracks = calloc(TB__MCAP_IDS, sizeof *writer->tracks);
  writer->chunk_channels = malloc(TB__MCAP_IDS * sizeof *writer->chunk_channels);
  bool whole = writer->path && writer->tracks && writer->chunk_channels &&
               tb__mcap_bytes_add(&writer->chunk, TB__MCAP_ROOM + writer->chunk_size);
  begin_chunk(writer);
  return whole ? TB_OK : tb__no_memory(error);
}

static tb_status_t open_new(tb__mcap_writer_t *writer, const char *profile, tb_error_t *error)
{
  writer->fd = open(writer->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (writer->fd < 0) {
    int code = errno;
    tb_status_t status = code == EEXIST ? TB_ERR_BUSY : TB_ERR_SYSTEM;
    return tb_error_set_errno(error, status, code, "%s", writer->path);
  }
  tb_status_t status = write_header(writer, profile ? profile : "ros2", error);
  if (status) unlink(writer->path);
  return status;
}

tb_status_t tb__mcap_writer_create(const char *path, const tb__bag_output_options_t *options,
                                   tb__mcap_writer_t **out, tb_error_t *error)
{
  tb__mcap_writer_t *writer = calloc(1, sizeof *writer);
  if (!writer) return tb__no_memory(error);
  writer->fd = -1;
  writer->compression = options->compression;
  writer->level = options->level;
  writer->doubts = options->doubts;
  writer->chunk_size = options->chunk_size ? options->chunk_size : DEFAULT_CHUNK;
  if (writer->chunk_size > MAX_CHUNK) writer->chunk_size = (size_t)MAX_CHUNK;
  tb_status_t status = allocate(writer, path, error);
  if (!status) status = open_new(writer, options->profile, error);
  if (status) {
    destroy(writer);
    return status;
  }
  *out = writer;
  return TB_OK;
}

tb_status_t tb__mcap_writer_define(tb__mcap_writer_t *writer, uint8_t opcode, const void *content,
                                   size_t size, tb_error_t *error)
{
  tb_error_t detail;
  tb_status_t status =
      tb__mcap_definitions_add(&writer->definitions, opcode, content, size, &detail);
  return status ? tb_error_set(error, status, "%s: %s", writer->path, detail.text) : TB_OK;
}

static tb_status_t end_chunk(tb__mcap_writer_t *writer, tb_error_t *error)
{
  tb__mcap_packed_t packed;
  if (writer->chunk_messages == 0) {
    begin_chunk(writer);
    return TB_OK;
  }
  tb_status_t status = tb__mcap_pack_chunk(writer, &packed, error);
  if (status) return status;
  status = append(writer, packed.bytes, packed.size, packed.crc, error);
  if (status) {
    tb__mcap_unpack_chunk(writer, &packed);
    return status;
  }
  writer->chunk_count++;
  writer->whole_count = writer->message_count;
  begin_chunk(writer);
  return TB_OK;
}

/* ---- messages ---- */

static tb_status_t get_track(tb__mcap_writer_t *writer, uint16_t channel, tb__mcap_track_t **out,
                             tb_error_t *error)
{
  if (!tb__mcap_definition(&writer->definitions.channels, channel).content)
    return tb_error_set(error, TB_ERR_INVALID, "%s: no channel %u", writer->path, channel);
  if (!writer->tracks[channel])
    writer->tracks[channel] = calloc(1, sizeof *writer->tracks[channel]);
  *out = writer->tracks[channel];
  return *out ? TB_OK : tb__no_memory(error);
}

static bool add_record(tb__mcap_bytes_t *bytes, uint8_t opcode,
                       const tb__mcap_definition_t *definition)
{
  if (!definition->content) return true; /* a channel without a schema */
  uint8_t *out = tb__mcap_bytes_add(bytes, TB__MCAP_HEAD_SIZE + definition->size);
  if (!out) return false;
  tb__mcap_put_head(&out, opcode, definition->size);
  memcpy(out, definition->content, definition->size);
  return true;
}

static bool needs_definition(const tb__mcap_writer_t *writer, const tb__mcap_track_t *track)
{
  return track->defined_at == 0 || writer->position - track->defined_at >= DEFINE_AFTER;
}

static bool add_definitions(tb__mcap_writer_t *writer, uint16_t channel)
{
  tb__mcap_channel_t parsed;
  tb__mcap_definitions_channel(&writer->definitions, channel, &parsed);
  const tb__mcap_definition_t own = tb__mcap_definition(&writer->definitions.channels, channel);
  const tb__mcap_definition_t schema =
      tb__mcap_definition(&writer->definitions.schemas, parsed.schema_id);
  return add_record(&writer->chunk, TB__MCAP_SCHEMA, &schema) &&
         add_record(&writer->chunk, TB__MCAP_CHANNEL, &own);
}

static tb__mcap_entry_t *add_entry(tb__mcap_track_t *track)
{
  if (track->entry_count == track->entry_capacity) {
    size_t capacity = track->entry_capacity ? 2 * track->entry_capacity : 64;
    tb__mcap_entry_t *entries = reallocarray(track->entries, capacity, sizeof *entries);
    if (!entries) return NULL;
    track->entries = entries;
    track->entry_capacity = capacity;
  }
  return &track->entries[track->entry_count];
}

static void include_time(bool first, uint64_t *start_ns, uint64_t *end_ns, uint64_t time_ns)
{
  if (first || time_ns < *start_ns) *start_ns = time_ns;
  if (first || time_ns > *end_ns) *end_ns = time_ns;
}

static void put_message(uint8_t *out, const tb__mcap_message_t *message)
{
  tb__mcap_put_head(&out, TB__MCAP_MESSAGE, TB__MCAP_MESSAGE_SIZE + message->size);
  tb__mcap_put_u16(&out, message->channel_id);
  tb__mcap_put_u32(&out, message->sequence);
  tb__mcap_put_u64(&out, message->log_time_ns);
  tb__mcap_put_u64(&out, message->publish_time_ns);
  if (message->size) memcpy(out, message->data, message->size);
}

static void count_message(tb__mcap_writer_t *writer, tb__mcap_track_t *track,
                          const tb__mcap_message_t *message)
{
  if (track->entry_count++ == 0)
    writer->chunk_channels[writer->chunk_channel_count++] = message->channel_id;
  include_time(writer->chunk_messages == 0, &writer->chunk_start_ns, &writer->chunk_end_ns,
               message->log_time_ns);
  include_time(writer->message_count == 0, &writer->start_ns, &writer->end_ns,
               message->log_time_ns);
  track->count++;
  writer->chunk_messages++;
  writer->message_count++;
}

static tb_status_t add_message(tb__mcap_writer_t *writer, tb__mcap_track_t *track,
                               const tb__mcap_message_t *message, tb_error_t *error)
{
  size_t before = writer->chunk.size;
  bool defines = needs_definition(writer, track);
  bool whole = !defines || add_definitions(writer, message->channel_id);
  uint64_t offset = writer->chunk.size - TB__MCAP_ROOM;
  uint8_t *out = whole
                     ? tb__mcap_bytes_add(&writer->chunk, TB__MCAP_HEAD_SIZE +
                                                              TB__MCAP_MESSAGE_SIZE + message->size)
                     : NULL;
  tb__mcap_entry_t *entry = out ? add_entry(track) : NULL;
  if (!entry) {
    writer->chunk.size = before;
    return tb__no_memory(error);
  }
  put_message(out, message);
  *entry = (tb__mcap_entry_t){message->log_time_ns, offset};
  if (defines) track->defined_at = writer->position;
  count_message(writer, track, message);
  if (writer->chunk.size - writer->summed >= SUM_AFTER) tb__mcap_sum_chunk(writer);
  return TB_OK;
}

tb_status_t tb__mcap_writer_message(tb__mcap_writer_t *writer, const tb__mcap_message_t *message,
                                    tb_error_t *error)
{
  tb__mcap_track_t *track = NULL;
  if (message->size > MAX_MESSAGE)
    return tb_error_set(error, TB_ERR_LIMIT,
                        "%s: a message of %zu bytes is too large; the limit is %llu", writer->path,
                        message->size, (unsigned long long)MAX_MESSAGE);
  tb_status_t status = get_track(writer, message->channel_id, &track, error);
  size_t used = writer->chunk.size - TB__MCAP_ROOM;
  size_t size = TB__MCAP_HEAD_SIZE + TB__MCAP_MESSAGE_SIZE + message->size;
  if (!status && used > 0 && used + size > writer->chunk_size) status = end_chunk(writer, error);
  return status ? status : add_message(writer, track, message, error);
}

/* ---- other records of the data section ---- */

tb_status_t tb__mcap_writer_metadata(tb__mcap_writer_t *writer, const void *content, size_t size,
                                     tb_error_t *error)
{
  tb__mcap_cursor_t cursor = tb__mcap_cursor(content, size);
  tb__mcap_text_t name = tb__mcap_take_text(&cursor);
  size_t length = TB__MCAP_HEAD_SIZE + size;
  tb_status_t status = end_chunk(writer, error);
  uint8_t *record = status ? NULL : malloc(length), *out = record;
  size_t entry = TB__MCAP_HEAD_SIZE + 20 + name.size;
  uint8_t *index = record ? tb__mcap_bytes_add(&writer->metadata_index, entry) : NULL;
  if (!status && !index) status = tb__no_memory(error);
  if (!status) {
    tb__mcap_put_head(&out, TB__MCAP_METADATA, size);
    memcpy(out, content, size);
    tb__mcap_put_head(&index, TB__MCAP_METADATA_INDEX, entry - TB__MCAP_HEAD_SIZE);
    tb__mcap_put_u64(&index, writer->position);
    tb__mcap_put_u64(&index, length);
    tb__mcap_put_text(&index, name);
    status = append(writer, record, length, libdeflate_crc32(writer->crc, record, length), error);
    if (status) writer->metadata_index.size -= entry;
  }
  if (!status) writer->metadata_count++;
  free(record);
  return status;
}

/* A record of which `from` has the content. */
static tb_status_t copy(tb__mcap_writer_t *writer, uint8_t opcode, const tb__bag_input_t *from,
                        uint64_t offset, uint64_t size, tb_error_t *error)
{
  uint8_t head[TB__MCAP_HEAD_SIZE], *out = head, *bytes = malloc(COPY_PIECE);
  uint64_t start = writer->position + sizeof head;
  tb__mcap_put_head(&out, opcode, size);
  uint32_t crc = libdeflate_crc32(writer->crc, head, sizeof head);
  tb_status_t status =
      bytes ? write_at(writer, writer->position, head, sizeof head, error) : tb__no_memory(error);
  size_t piece = 0;
  for (uint64_t done = 0; done < size && !status;) {
    piece = size - done < COPY_PIECE ? (size_t)(size - done) : COPY_PIECE;
    status = tb__bag_input_read(from, offset + done, bytes, piece, error);
    if (!status) status = write_at(writer, start + done, bytes, piece, error);
    if (!status) crc = libdeflate_crc32(crc, bytes, piece);
    done += piece;
  }
  if (!status) keep_tail(writer, piece ? bytes : head, piece ? piece : sizeof head);
  free(bytes);
  if (status) {
    take_back(writer);
    return status;
  }
  writer->position = start + size;
  writer->crc = crc;
  return TB_OK;
}

tb_status_t tb__mcap_writer_attachment(tb__mcap_writer_t *writer, const tb__bag_input_t *from,
                                       uint64_t offset, const tb__mcap_attachment_t *attachment,
                                       tb_error_t *error)
{
  uint64_t length = attachment->head_size + attachment->size + 4;
  size_t entry = TB__MCAP_HEAD_SIZE + 48 + attachment->name.size + attachment->media_type.size;
  tb_status_t status = end_chunk(writer, error);
  uint64_t position = writer->position;
  uint8_t *out = status ? NULL : tb__mcap_bytes_add(&writer->attachment_index, entry);
  if (!status && !out) status = tb__no_memory(error);
  if (status) return status;
  tb__mcap_put_head(&out, TB__MCAP_ATTACHMENT_INDEX, entry - TB__MCAP_HEAD_SIZE);
  tb__mcap_put_u64(&out, position);
  tb__mcap_put_u64(&out, TB__MCAP_HEAD_SIZE + length);
  tb__mcap_put_u64(&out, attachment->log_time_ns);
  tb__mcap_put_u64(&out, attachment->create_time_ns);
  tb__mcap_put_u64(&out, attachment->size);
  tb__mcap_put_text(&out, attachment->name);
  tb__mcap_put_text(&out, attachment->media_type);
  status = copy(writer, TB__MCAP_ATTACHMENT, from, offset + TB__MCAP_HEAD_SIZE, length, error);
  if (status)
    writer->attachment_index.size -= entry;
  else
    writer->attachment_count++;
  return status;
}

/* ---- the end ---- */

tb_status_t tb__mcap_writer_flush(tb__mcap_writer_t *writer, bool sync, tb_error_t *error)
{
  tb_status_t status = end_chunk(writer, error);
  if (!status && sync && fdatasync(writer->fd) != 0) {
    status = system_error(writer, error);
    if (writer->doubts) writer->doubts->is_unsynced = true;
  }
  return status;
}

uint64_t tb__mcap_writer_size(const tb__mcap_writer_t *writer)
{
  return writer->position + (writer->chunk.size - TB__MCAP_ROOM);
}

tb_status_t tb__mcap_writer_close(tb__mcap_writer_t *writer, tb_error_t *error)
{
  tb__mcap_bytes_t end = {0};
  tb_status_t status = end_chunk(writer, error);
  if (!status && !tb__mcap_put_summary(writer, &end)) status = tb__no_memory(error);
  if (!status) status = append(writer, end.at, end.size, 0, error);
  free(end.at);
  int fd = writer->fd;
  writer->fd = -1;
  if (close(fd) != 0) {
    if (!status) status = system_error(writer, error);
    if (writer->doubts) writer->doubts->is_unsynced = true;
  }
  destroy(writer);
  return status;
}
