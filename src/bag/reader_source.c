/* The files of a bag, unpacked where they are compressed. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "bag/reader.h"
#include "bag/temporary.h"

static tb_status_t unpack_named(const char *packed, tb__temporary_t *out, tb_error_t *error)
{
  tb_status_t status = tb__temporary_make(packed, ".zstd", out, error);
  if (status) return status;
  int fd = open(out->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s", out->path);
  status = tb__zstd_decompress_file(packed, fd, out->folder, error);
  close(fd);
  return status;
}

/* It may take long: whoever ends the process meanwhile is not left with the file. */
static tb_status_t unpack(const char *packed, tb__temporary_t *out, tb_error_t *error)
{
  int fd = -1;
  tb_status_t status = tb__temporary_open_nameless(packed, &fd, error);
  if (status) return status;
  if (fd < 0) return unpack_named(packed, out, error);
  status = tb__zstd_decompress_file(packed, fd, tb__temporary_base(), error);
  if (!status) status = tb__temporary_make(packed, ".zstd", out, error);
  if (!status) status = tb__temporary_name(out, fd, error);
  close(fd);
  return status;
}

static tb_status_t open_packed(tb__bag_source_t *source, tb_error_t *error)
{
  const tb__bag_storage_t *storage = source->part->storage;
  tb__temporary_t unpacked = {0};
  tb_status_t status = unpack(source->path, &unpacked, error);
  if (!status) status = storage->open(storage, unpacked.path, &source->file, error);
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
  if (tb__bag_file_is_packed(source->path)) return open_packed(source, error);
  return storage->open(storage, source->path, &source->file, error);
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
