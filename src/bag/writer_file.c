#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bag/writer.h"
#include "base/no_memory.h"

tb__written_file_t *tb__writer_file(tb_bag_writer_t *writer)
{
  return &writer->files[writer->file_count - 1];
}

char *tb__writer_path(const tb_bag_writer_t *writer, const char *name)
{
  char *path = NULL;
  return asprintf(&path, "%s/%s", writer->path, name) < 0 ? NULL : path;
}

static tb_status_t register_topics(tb_bag_writer_t *writer, tb_error_t *error)
{
  tb_status_t status = TB_OK;
  for (size_t i = 0; i < writer->topic_count && !status; i++) {
    tb__written_topic_t *topic = &writer->topics[i];
    tb__bag_output_topic_t description = {
        topic->name,      topic->type,       topic->serialization_format, topic->offers,
        topic->type_hash, topic->definition, topic->definition_encoding,  topic->publisher};
    status = writer->format->add_topic(writer->output, &description, &topic->id, error);
  }
  return status;
}

static tb_status_t create_output(tb_bag_writer_t *writer, const char *path, tb_error_t *error)
{
  static const tb__bag_output_compression_t compressions[] = {
      [TB_BAG_CHUNKS_PLAIN] = TB__BAG_OUTPUT_NONE,
      [TB_BAG_CHUNKS_ZSTD] = TB__BAG_OUTPUT_ZSTD,
      [TB_BAG_CHUNKS_LZ4] = TB__BAG_OUTPUT_LZ4,
      [TB_BAG_CHUNKS_BZ2] = TB__BAG_OUTPUT_BZ2,
  };
  tb__bag_output_options_t options = {.chunk_size = writer->options.chunk_size,
                                      .compression =
                                          compressions[writer->options.chunk_compression],
                                      .level = writer->options.compression_level,
                                      .ros_distro = writer->ros_distro,
                                      .profile = writer->profile,
                                      .doubts = &writer->doubts};
  return writer->format->create(writer->format, path, &options, &writer->output, error);
}

static tb_status_t remember_place(tb_bag_writer_t *writer, const char *path, tb_error_t *error)
{
  struct stat info;
  if (stat(path, &info) != 0) return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", path);
  writer->device = info.st_dev;
  writer->inode = info.st_ino;
  return TB_OK;
}

tb_status_t tb__writer_check_place(const tb_bag_writer_t *writer, tb_error_t *error)
{
  struct stat info;
  char *path = tb__writer_path(writer, writer->files[writer->file_count - 1].name);
  tb_status_t status = TB_OK;
  if (!path)
    status = tb__no_memory(error);
  else if (stat(path, &info) != 0)
    status = tb_error_set_errno(error, errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, errno,
                                "%s was removed while it was being written", path);
  else if (info.st_dev != writer->device || info.st_ino != writer->inode)
    status =
        tb_error_set(error, TB_ERR_NOT_FOUND, "%s was replaced while it was being written", path);
  free(path);
  return status;
}

/* NULL: no memory. A bag of ROS 1 that is one file has the name it was given. */
static char *next_name(const tb_bag_writer_t *writer)
{
  char *name = NULL;
  const char *extension = writer->format->extension;
  bool is_only = writer->format->is_file && writer->files_begun == 0 &&
                 writer->options.max_size == 0 && writer->options.max_duration.ns == 0;
  int length = is_only ? asprintf(&name, "%s%s", writer->name, extension)
                       : asprintf(&name, "%s_%zu%s", writer->name, writer->files_begun, extension);
  return length < 0 ? NULL : name;
}

tb_status_t tb__writer_begin_file(tb_bag_writer_t *writer, tb_error_t *error)
{
  tb__written_file_t *files = reallocarray(writer->files, writer->file_count + 1, sizeof *files);
  if (!files) return tb__no_memory(error);
  writer->files = files;
  char *name = next_name(writer);
  if (!name) return tb__no_memory(error);
  char *path = tb__writer_path(writer, name);
  tb_status_t status = path ? TB_OK : tb__no_memory(error);
  if (!status && tb__writer_is_ring(writer) && writer->file_count > 0)
    status = tb__writer_remember_file(writer, error);
  if (!status) tb__writer_reset_counts(writer);
  if (!status) status = create_output(writer, path, error);
  if (!status) status = remember_place(writer, path, error);
  if (!status) status = register_topics(writer, error);
  if (status) {
    if (path && writer->output) {
      writer->format->close(writer->output, NULL, NULL);
      unlinkat(writer->folder, name, 0);
    }
    writer->output = NULL;
    free(name);
  } else {
    files[writer->file_count++] = (tb__written_file_t){.name = name};
    writer->files_begun++;
  }
  free(path);
  return status;
}

/* Under a name that readers ignore until it is whole. */
static tb_status_t compress(const char *from, const char *to, int level, tb_error_t *error)
{
  char *draft = NULL;
  if (asprintf(&draft, "%s.new", to) < 0) return tb__no_memory(error);
  tb_status_t status = tb__zstd_compress_file(from, draft, level, error);
  if (!status && rename(draft, to) != 0) {
    status = tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", to);
    unlink(draft);
  }
  free(draft);
  return status;
}

/* On failure the file stays as it is, and is listed so. */
static tb_status_t compress_file(tb_bag_writer_t *writer, tb_error_t *error)
{
  tb__written_file_t *file = tb__writer_file(writer);
  char *name = NULL;
  if (asprintf(&name, "%s.zstd", file->name) < 0) return tb__no_memory(error);
  char *from = tb__writer_path(writer, file->name);
  char *to = tb__writer_path(writer, name);
  tb_status_t status = from && to ? compress(from, to, writer->options.compression_level, error)
                                  : tb__no_memory(error);
  if (status) {
    free(name);
  } else {
    unlinkat(writer->folder, file->name, 0);
    free(file->name);
    file->name = name;
  }
  free(from);
  free(to);
  return status;
}

static tb_status_t verify(tb_bag_writer_t *writer, tb_error_t *error)
{
  char *path = tb__writer_path(writer, tb__writer_file(writer)->name);
  tb_status_t status = path ? tb__writer_check_place(writer, error) : tb__no_memory(error);
  if (!status) status = tb__writer_verify(writer, path, error);
  free(path);
  return status;
}

/* With the notes of how the recording was made, which are readable without YAML too. */
static tb_status_t close_output(tb_bag_writer_t *writer, const char *text, tb_error_t *error)
{
  tb__bag_output_metadata_t metadata = {.text = text};
  size_t length = strlen(TB__PROVENANCE_PREFIX);
  const char **keys = calloc(2 * writer->custom_count + 1, sizeof *keys);
  metadata.keys = keys;
  metadata.values = keys ? keys + writer->custom_count : NULL;
  for (size_t i = 0; keys && i < writer->custom_count; i++) {
    const tb__bag_custom_t *note = &writer->custom[i];
    if (strncmp(note->key, TB__PROVENANCE_PREFIX, length) != 0) continue;
    keys[metadata.count] = note->key;
    keys[writer->custom_count + metadata.count++] = note->value;
  }
  tb_status_t status =
      writer->format->close(writer->output, text && keys ? &metadata : NULL, error);
  writer->output = NULL;
  free(keys);
  return keys || !text || status ? status : tb__no_memory(error);
}

tb_status_t tb__writer_end_file(tb_bag_writer_t *writer, tb_error_t *error)
{
  char *metadata = NULL;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__writer_check_place(writer, &detail);
  if (!status) status = writer->format->check(writer->output, &detail);
  if (!status) status = tb__writer_describe(writer, TB__BAG_METADATA_EMBEDDED, &metadata, &detail);
  tb_status_t closed = close_output(writer, metadata, status ? NULL : &detail);
  free(metadata);
  if (!status) status = closed;
  if (!status) status = verify(writer, &detail);
  if (status) {
    tb__writer_abandon_file(writer, &detail);
    if (error) *error = detail;
    return status;
  }
  return writer->options.compression_mode == TB_BAG_COMPRESS_FILES ? compress_file(writer, error)
                                                                   : TB_OK;
}

static bool is_cut(tb_bag_writer_t *writer, const tb_error_t *failure)
{
  if (writer->doubts.may_be_cut || tb__writer_check_place(writer, NULL)) return true;
  if (writer->output && writer->format->check(writer->output, NULL) == TB_ERR_TRUNCATED)
    return true;
  return failure->status == TB_ERR_TRUNCATED || failure->status == TB_ERR_CORRUPT;
}

void tb__writer_abandon_file(tb_bag_writer_t *writer, const tb_error_t *failure)
{
  writer->failure = *failure;
  bool may_be_cut = is_cut(writer, failure);
  if (writer->output) writer->format->close(writer->output, NULL, NULL);
  writer->output = NULL;
  char *path = tb__writer_path(writer, tb__writer_file(writer)->name);
  tb__writer_recount(writer, path, may_be_cut);
  free(path);
}
