/* The files of a bag, unpacked where they are compressed. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "bag/reader.h"
#include "base/log.h"
#include "storage/temporary.h"

static tb_status_t decompress(tb_bag_reader_t *reader, tb__bag_source_t *source, int fd,
                              const char *folder, tb_error_t *error)
{
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__zstd_decompress_file(source->path, fd, folder,
                                                reader->options.limits.unpacked_size, &detail);
  bool is_damage = status == TB_ERR_TRUNCATED || status == TB_ERR_CORRUPT;
  if (is_damage && reader->options.damage == TB_BAG_DAMAGE_SALVAGE) {
    if (!source->is_cut) tb__log(TB_LOG_WARN, "%s", detail.text);
    source->is_cut = true;
    return tb__bag_reader_note_damage(reader, detail.text, error);
  }
  if (status && error) *error = detail;
  return status;
}

static tb_status_t unpack_named(tb_bag_reader_t *reader, tb__bag_source_t *source,
                                tb__temporary_t *out, tb_error_t *error)
{
  tb_status_t status = tb__temporary_make(source->path, ".zstd", out, error);
  if (status) return status;
  int fd = open(out->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", out->path);
  status = decompress(reader, source, fd, out->folder, error);
  close(fd);
  return status;
}

/* It may take long: a process that is killed meanwhile leaves no file. */
static tb_status_t unpack(tb_bag_reader_t *reader, tb__bag_source_t *source, tb__temporary_t *out,
                          tb_error_t *error)
{
  int fd = -1;
  tb_status_t status = tb__temporary_open_nameless(source->path, &fd, error);
  if (status) return status;
  if (fd < 0) return unpack_named(reader, source, out, error);
  status = decompress(reader, source, fd, tb__temporary_base(), error);
  if (!status) status = tb__temporary_make(source->path, ".zstd", out, error);
  if (!status) status = tb__temporary_name(out, fd, error);
  close(fd);
  return status;
}

static tb_status_t open_packed(tb_bag_reader_t *reader, tb__bag_source_t *source, tb_error_t *error)
{
  const tb__bag_storage_t *storage = source->part->storage;
  tb__temporary_t unpacked = {0};
  tb_status_t status = unpack(reader, source, &unpacked, error);
  if (!status)
    status = storage->open(storage, unpacked.path, source->path, &reader->options.limits,
                           &source->file, error);
  tb__temporary_forget(&unpacked);
  return status;
}

tb_status_t tb__bag_source_open(tb_bag_reader_t *reader, size_t index, tb_error_t *error)
{
  tb__bag_source_t *source = &reader->sources[index];
  const tb__bag_storage_t *storage = source->part->storage;
  if (reader->idle && reader->idle_source == index) {
    source->file = reader->idle;
    reader->idle = NULL;
    return TB_OK;
  }
  tb__bag_reader_close_idle(reader); /* before there is need for room */
  tb_status_t status = tb__bag_check_regular(source->path, error);
  if (status) return status;
  if (tb__bag_file_is_packed(source->path)) return open_packed(reader, source, error);
  return storage->open(storage, source->path, source->path, &reader->options.limits, &source->file,
                       error);
}

void tb__bag_reader_close_idle(tb_bag_reader_t *reader)
{
  if (reader->idle) reader->sources[reader->idle_source].part->storage->close(reader->idle);
  reader->idle = NULL;
}

void tb__bag_source_close(tb_bag_reader_t *reader, size_t index)
{
  tb__bag_source_t *source = &reader->sources[index];
  source->has_head = false;
  if (!source->file) return;
  tb__bag_reader_close_idle(reader);
  reader->idle = source->file;
  reader->idle_source = index;
  source->file = NULL;
}
