#include "rosbag1/file_writer.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "rosbag1/record.h"
#include "storage/write_at.h"

#define DEFAULT_CHUNK 786432 /* as rosbag has it */
#define MAX_CHUNK     (UINT64_C(512) << 20)
#define HEADER_SIZE   4096 /* of the file header's record, so that it can be replaced in place */
#define BZ2_LEVEL     9

static tb_status_t write_all(tb__rosbag1_writer_t *writer, uint64_t offset, const uint8_t *bytes,
                             size_t size, tb_error_t *error)
{
  int code = tb__write_at(writer->fd, offset, bytes, size);
  return code ? tb_error_set_errno(error, TB_ERR_SYSTEM, code, "%s", writer->path) : TB_OK;
}

/* ---- the beginning of the file ---- */

/* With zeros a reader takes the file for one that was not closed. */
static tb_status_t write_file_header(tb__rosbag1_writer_t *writer, uint64_t index_offset,
                                     uint32_t connections, tb_error_t *error)
{
  static const char version[] = TB__ROSBAG1_MAGIC "2.0\n";
  tb__rosbag1_bytes_t bytes = {0};
  uint8_t padding[HEADER_SIZE];
  size_t begin;
  memset(padding, ' ', sizeof padding);
  tb__rosbag1_put(&bytes, version, sizeof version - 1);
  tb__rosbag1_begin_header(&bytes, &begin);
  tb__rosbag1_field_put_u32(&bytes, "chunk_count",
                            index_offset ? (uint32_t)writer->chunk_count : 0);
  tb__rosbag1_field_put_u32(&bytes, "conn_count", connections);
  tb__rosbag1_field_put_u64(&bytes, "index_pos", index_offset);
  tb__rosbag1_field_put_u8(&bytes, "op", TB__ROSBAG1_FILE_HEADER);
  size_t left = HEADER_SIZE - (bytes.size - begin - 4);
  tb__rosbag1_end_header(&bytes, begin, (uint32_t)left);
  tb__rosbag1_put(&bytes, padding, left);
  tb_status_t status = bytes.failed ? tb__no_memory(error)
                                    : write_all(writer, 0, bytes.buffer.bytes, bytes.size, error);
  if (!status && index_offset == 0) writer->offset = bytes.size;
  tb__rosbag1_bytes_fini(&bytes);
  return status;
}

static void destroy(tb__rosbag1_writer_t *writer)
{
  if (writer->fd >= 0) close(writer->fd);
  for (size_t i = 0; i < writer->connection_count; i++) {
    tb__rosbag1_bytes_fini(&writer->connections[i].record);
    free(writer->connections[i].entries);
  }
  free(writer->connections);
  tb__rosbag1_bytes_fini(&writer->chunk);
  tb__rosbag1_bytes_fini(&writer->stored);
  tb__rosbag1_bytes_fini(&writer->infos);
  free(writer->path);
  free(writer);
}

static tb_status_t check_options(const tb__bag_output_options_t *options, tb_error_t *error)
{
  if (options->compression == TB__BAG_OUTPUT_ZSTD)
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "bags of ROS 1 have no zstd: chunks are compressed by bz2 or lz4");
  if (options->chunk_size > MAX_CHUNK)
    return tb_error_set(error, TB_ERR_INVALID, "chunk_size is %zu: at most %llu",
                        options->chunk_size, (unsigned long long)MAX_CHUNK);
  return TB_OK;
}

tb_status_t tb__rosbag1_writer_create(const char *path, const tb__bag_output_options_t *options,
                                      tb__rosbag1_writer_t **out, tb_error_t *error)
{
  static const tb__rosbag1_compression_t compressions[] = {
      [TB__BAG_OUTPUT_NONE] = TB__ROSBAG1_NONE,
      [TB__BAG_OUTPUT_LZ4] = TB__ROSBAG1_LZ4,
      [TB__BAG_OUTPUT_BZ2] = TB__ROSBAG1_BZ2,
  };
  tb_status_t status = check_options(options, error);
  if (status) return status;
  tb__rosbag1_writer_t *writer = calloc(1, sizeof *writer);
  if (!writer) return tb__no_memory(error);
  writer->compression = compressions[options->compression];
  writer->level = options->level;
  writer->chunk_size = options->chunk_size ? options->chunk_size : DEFAULT_CHUNK;
  writer->doubts = options->doubts;
  writer->path = strdup(path);
  writer->fd = writer->path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
  if (!writer->path)
    status = tb__no_memory(error);
  else if (writer->fd < 0 && errno == EEXIST)
    status = tb_error_set(error, TB_ERR_INVALID,
                          "%s already exists; choose another name (nothing was changed)", path);
  else if (writer->fd < 0)
    status = tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", path);
  if (!status) {
    status = write_file_header(writer, 0, 0, error);
    if (status) unlink(path);
  }
  if (status)
    destroy(writer);
  else
    *out = writer;
  return status;
}

/* ---- connections ---- */

static bool is_md5sum(const char *text)
{
  return strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}

static void describe(const tb__bag_output_topic_t *topic, tb__rosbag1_bytes_t *out)
{
  bool is_latched = tb__bag_offers_latch(topic->offers);
  if (topic->publisher && *topic->publisher)
    tb__rosbag1_field_put_text(out, "callerid", topic->publisher);
  if (is_latched) tb__rosbag1_field_put_text(out, "latching", "1");
  tb__rosbag1_field_put_text(out, "md5sum", is_md5sum(topic->type_hash) ? topic->type_hash : "*");
  tb__rosbag1_field_put_text(out, "message_definition", topic->definition);
  tb__rosbag1_field_put_text(out, "topic", topic->name);
  tb__rosbag1_field_put_text(out, "type", topic->type);
}

tb_status_t tb__rosbag1_writer_connect(tb__rosbag1_writer_t *writer,
                                       const tb__bag_output_topic_t *topic, uint32_t *out_id,
                                       tb_error_t *error)
{
  size_t begin, count = writer->connection_count + 1;
  tb__rosbag1_bytes_t described = {0};
  if (strcmp(topic->serialization_format, "ros1") != 0)
    return tb_error_set(error, TB_ERR_UNSUPPORTED,
                        "%s: topic %.80s is serialized as \"%.20s\"; a bag of ROS 1 holds messages "
                        "of ROS 1 only",
                        writer->path, topic->name, topic->serialization_format);
  tb__rosbag1_written_t *connections =
      reallocarray(writer->connections, count, sizeof *connections);
  if (!connections) return tb__no_memory(error);
  writer->connections = connections;
  tb__rosbag1_written_t *added = &connections[count - 1];
  *added = (tb__rosbag1_written_t){0};
  describe(topic, &described);
  tb__rosbag1_begin_header(&added->record, &begin);
  tb__rosbag1_field_put_u32(&added->record, "conn", (uint32_t)count - 1);
  tb__rosbag1_field_put_u8(&added->record, "op", TB__ROSBAG1_CONNECTION);
  tb__rosbag1_field_put_text(&added->record, "topic", topic->name);
  tb__rosbag1_end_header(&added->record, begin, (uint32_t)described.size);
  tb__rosbag1_put(&added->record, described.buffer.bytes, described.size);
  bool failed = added->record.failed || described.failed;
  tb__rosbag1_bytes_fini(&described);
  if (failed) {
    tb__rosbag1_bytes_fini(&added->record);
    return tb__no_memory(error);
  }
  *out_id = (uint32_t)count - 1;
  writer->connection_count = count;
  return TB_OK;
}

/* ---- chunks ---- */

static tb_status_t compress_lz4(tb__rosbag1_writer_t *writer, tb_error_t *error)
{
  /* The only kind of frame that rosbag reads: independent blocks, a checksum of the content, and no
   * size of it. */
  const LZ4F_preferences_t preferences = {
      .frameInfo = {.blockSizeID = LZ4F_max256KB,
                    .blockMode = LZ4F_blockIndependent,
                    .contentChecksumFlag = LZ4F_contentChecksumEnabled},
      .compressionLevel = writer->level > 1 ? writer->level : 0};
  size_t room = LZ4F_compressFrameBound(writer->chunk.size, &preferences);
  tb_status_t status = tb__bag_buffer_reserve(&writer->stored.buffer, room, error);
  if (status) return status;
  writer->stored.size =
      LZ4F_compressFrame(writer->stored.buffer.bytes, room, writer->chunk.buffer.bytes,
                         writer->chunk.size, &preferences);
  if (!LZ4F_isError(writer->stored.size)) return TB_OK;
  return tb_error_set(error, TB_ERR_SYSTEM, "%s: lz4: %s", writer->path,
                      LZ4F_getErrorName(writer->stored.size));
}

static tb_status_t compress_bz2(tb__rosbag1_writer_t *writer, tb_error_t *error)
{
  size_t room = writer->chunk.size + writer->chunk.size / 100 + 600; /* as its manual has it */
  tb_status_t status = tb__bag_buffer_reserve(&writer->stored.buffer, room, error);
  if (status) return status;
  unsigned size = (unsigned)room;
  int level = writer->level > 0 && writer->level < BZ2_LEVEL ? writer->level : BZ2_LEVEL;
  int result = BZ2_bzBuffToBuffCompress((char *)writer->stored.buffer.bytes, &size,
                                        (char *)writer->chunk.buffer.bytes,
                                        (unsigned)writer->chunk.size, level, 0, 0);
  writer->stored.size = size;
  if (result == BZ_MEM_ERROR) return tb__no_memory(error);
  return result == BZ_OK
             ? TB_OK
             : tb_error_set(error, TB_ERR_SYSTEM, "%s: bz2: error %d", writer->path, result);
}

static int compare_entries(const void *a, const void *b)
{
  const tb__rosbag1_entry_t *x = a, *y = b;
  if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

static void put_index(tb__rosbag1_bytes_t *out, uint32_t id, tb__rosbag1_written_t *connection)
{
  size_t begin;
  qsort(connection->entries, connection->count, sizeof *connection->entries, compare_entries);
  tb__rosbag1_begin_header(out, &begin);
  tb__rosbag1_field_put_u32(out, "conn", id);
  tb__rosbag1_field_put_u32(out, "count", (uint32_t)connection->count);
  tb__rosbag1_field_put_u8(out, "op", TB__ROSBAG1_INDEX);
  tb__rosbag1_field_put_u32(out, "ver", 1);
  tb__rosbag1_end_header(out, begin, (uint32_t)(12 * connection->count));
  for (size_t i = 0; i < connection->count; i++) {
    tb__rosbag1_put_time(out, connection->entries[i].time_ns);
    tb__rosbag1_put_u32(out, connection->entries[i].offset);
  }
}

static uint32_t used_in_chunk(const tb__rosbag1_writer_t *writer)
{
  uint32_t count = 0;
  for (size_t i = 0; i < writer->connection_count; i++)
    count += writer->connections[i].count > 0;
  return count;
}

static void put_chunk_info(tb__rosbag1_writer_t *writer)
{
  size_t begin;
  uint32_t count = used_in_chunk(writer);
  tb__rosbag1_bytes_t *out = &writer->infos;
  tb__rosbag1_begin_header(out, &begin);
  tb__rosbag1_field_put_u64(out, "chunk_pos", writer->offset);
  tb__rosbag1_field_put_u32(out, "count", count);
  tb__rosbag1_field_put_time(out, "end_time", writer->end_ns);
  tb__rosbag1_field_put_u8(out, "op", TB__ROSBAG1_CHUNK_INFO);
  tb__rosbag1_field_put_time(out, "start_time", writer->start_ns);
  tb__rosbag1_field_put_u32(out, "ver", 1);
  tb__rosbag1_end_header(out, begin, count * 8);
  for (size_t i = 0; i < writer->connection_count; i++) {
    if (writer->connections[i].count == 0) continue;
    tb__rosbag1_put_u32(out, (uint32_t)i);
    tb__rosbag1_put_u32(out, (uint32_t)writer->connections[i].count);
  }
}

static void put_indexes(tb__rosbag1_writer_t *writer, tb__rosbag1_bytes_t *out)
{
  for (size_t i = 0; i < writer->connection_count; i++)
    if (writer->connections[i].count > 0) put_index(out, (uint32_t)i, &writer->connections[i]);
}

static void put_chunk_head(const tb__rosbag1_writer_t *writer, size_t stored_size,
                           tb__rosbag1_bytes_t *out)
{
  static const char *const names[] = {
      [TB__ROSBAG1_NONE] = "none", [TB__ROSBAG1_BZ2] = "bz2", [TB__ROSBAG1_LZ4] = "lz4"};
  size_t begin;
  tb__rosbag1_begin_header(out, &begin);
  tb__rosbag1_field_put_text(out, "compression", names[writer->compression]);
  tb__rosbag1_field_put_u8(out, "op", TB__ROSBAG1_CHUNK);
  tb__rosbag1_field_put_u32(out, "size", (uint32_t)writer->chunk.size);
  tb__rosbag1_end_header(out, begin, (uint32_t)stored_size);
}

/* What a failed call left is cut off, so that the file is whole up to the last chunk. */
static tb_status_t write_chunk(tb__rosbag1_writer_t *writer, const tb__rosbag1_bytes_t *stored,
                               tb_error_t *error)
{
  tb__rosbag1_bytes_t head = {0}, indexes = {0};
  uint64_t at = writer->offset;
  put_chunk_head(writer, stored->size, &head);
  put_indexes(writer, &indexes);
  put_chunk_info(writer);
  bool failed = head.failed || indexes.failed || writer->infos.failed;
  tb_status_t status = failed ? tb__no_memory(error) : TB_OK;
  const tb__rosbag1_bytes_t *const parts[] = {&head, stored, &indexes};
  for (size_t i = 0; i < 3 && !status; i++) {
    status = write_all(writer, at, parts[i]->buffer.bytes, parts[i]->size, error);
    at += parts[i]->size;
  }
  if (!status)
    writer->offset = at;
  else if (ftruncate(writer->fd, (off_t)writer->offset) != 0 && writer->doubts)
    writer->doubts->may_be_cut = true;
  tb__rosbag1_bytes_fini(&head);
  tb__rosbag1_bytes_fini(&indexes);
  return status;
}

static tb_status_t end_chunk(tb__rosbag1_writer_t *writer, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  const tb__rosbag1_bytes_t *stored = &writer->stored;
  if (writer->chunk.size == 0) return TB_OK;
  if (writer->compression == TB__ROSBAG1_LZ4)
    status = compress_lz4(writer, error);
  else if (writer->compression == TB__ROSBAG1_BZ2)
    status = compress_bz2(writer, error);
  else
    stored = &writer->chunk;
  if (!status) status = write_chunk(writer, stored, error);
  if (status) return status;
  for (size_t i = 0; i < writer->connection_count; i++)
    writer->connections[i].count = 0;
  writer->chunk.size = 0;
  writer->chunk_count++;
  writer->whole_count = writer->message_count;
  return TB_OK;
}

/* ---- messages ---- */

static tb_status_t add_entry(tb__rosbag1_written_t *connection, uint64_t time_ns, size_t offset,
                             tb_error_t *error)
{
  if (connection->count == connection->capacity) {
    size_t capacity = connection->capacity ? 2 * connection->capacity : 64;
    tb__rosbag1_entry_t *entries = reallocarray(connection->entries, capacity, sizeof *entries);
    if (!entries) return tb__no_memory(error);
    connection->entries = entries;
    connection->capacity = capacity;
  }
  connection->entries[connection->count++] = (tb__rosbag1_entry_t){time_ns, (uint32_t)offset};
  return TB_OK;
}

static void put_message(tb__rosbag1_writer_t *writer, uint32_t connection, uint64_t time_ns,
                        const void *data, size_t size)
{
  size_t begin;
  tb__rosbag1_bytes_t *out = &writer->chunk;
  tb__rosbag1_begin_header(out, &begin);
  tb__rosbag1_field_put_u32(out, "conn", connection);
  tb__rosbag1_field_put_u8(out, "op", TB__ROSBAG1_MESSAGE);
  tb__rosbag1_field_put_time(out, "time", time_ns);
  tb__rosbag1_end_header(out, begin, (uint32_t)size);
  tb__rosbag1_put(out, data, size);
}

/* A chunk that is not empty is ended before a message that would make it too large for a u32. */
tb_status_t tb__rosbag1_writer_message(tb__rosbag1_writer_t *writer, uint32_t connection,
                                       uint64_t time_ns, const void *data, size_t size,
                                       tb_error_t *error)
{
  tb__rosbag1_written_t *to = &writer->connections[connection];
  tb_status_t status = TB_OK;
  if (writer->chunk.size + size > MAX_CHUNK) status = end_chunk(writer, error);
  if (status) return status;
  bool is_first = writer->chunk.size == 0;
  size_t before = writer->chunk.size;
  if (!to->is_used) tb__rosbag1_put(&writer->chunk, to->record.buffer.bytes, to->record.size);
  size_t offset = writer->chunk.size;
  put_message(writer, connection, time_ns, data, size);
  status = writer->chunk.failed ? tb__no_memory(error) : add_entry(to, time_ns, offset, error);
  if (status) {
    writer->chunk.size = before;
    writer->chunk.failed = false;
    return status;
  }
  to->is_used = true;
  if (is_first || time_ns < writer->start_ns) writer->start_ns = time_ns;
  if (is_first || time_ns > writer->end_ns) writer->end_ns = time_ns;
  writer->message_count++;
  return writer->chunk.size > writer->chunk_size ? end_chunk(writer, error) : TB_OK;
}

tb_status_t tb__rosbag1_writer_flush(tb__rosbag1_writer_t *writer, bool sync, tb_error_t *error)
{
  tb_status_t status = end_chunk(writer, error);
  if (status || !sync) return status;
  if (fdatasync(writer->fd) == 0) return TB_OK;
  if (writer->doubts) writer->doubts->is_unsynced = true;
  return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", writer->path);
}

uint64_t tb__rosbag1_writer_size(const tb__rosbag1_writer_t *writer)
{
  return writer->offset + writer->chunk.size;
}

tb_status_t tb__rosbag1_writer_check(tb__rosbag1_writer_t *writer, tb_error_t *error)
{
  struct stat info;
  if (fstat(writer->fd, &info) != 0)
    return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", writer->path);
  if ((uint64_t)info.st_size >= writer->offset) return TB_OK;
  if (writer->doubts) writer->doubts->may_be_cut = true;
  return tb_error_set(error, TB_ERR_TRUNCATED,
                      "%s was truncated while it was being written: %lld of %llu bytes are left",
                      writer->path, (long long)info.st_size, (unsigned long long)writer->offset);
}

/* ---- the end ---- */

static tb_status_t write_index(tb__rosbag1_writer_t *writer, tb_error_t *error)
{
  tb__rosbag1_bytes_t index = {0};
  uint32_t used = 0;
  for (size_t i = 0; i < writer->connection_count; i++) {
    const tb__rosbag1_written_t *connection = &writer->connections[i];
    if (!connection->is_used) continue;
    tb__rosbag1_put(&index, connection->record.buffer.bytes, connection->record.size);
    used++;
  }
  tb__rosbag1_put(&index, writer->infos.buffer.bytes, writer->infos.size);
  tb_status_t status =
      index.failed ? tb__no_memory(error)
                   : write_all(writer, writer->offset, index.buffer.bytes, index.size, error);
  tb__rosbag1_bytes_fini(&index);
  return status ? status : write_file_header(writer, writer->offset, used, error);
}

tb_status_t tb__rosbag1_writer_close(tb__rosbag1_writer_t *writer, tb_error_t *error)
{
  tb_status_t status = end_chunk(writer, error);
  if (!status) status = write_index(writer, error);
  int fd = writer->fd;
  writer->fd = -1;
  if (close(fd) != 0 && !status) {
    if (writer->doubts) writer->doubts->is_unsynced = true;
    status = tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", writer->path);
  }
  destroy(writer);
  return status;
}
