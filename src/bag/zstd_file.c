/* Whole files, piece by piece. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zstd.h>

#include "bag/zstd_codec.h"
#include "base/no_memory.h"

#define DEFAULT_LEVEL 1

typedef struct pipe_end {
  const char *path; /* for errors */
  int fd;
  off_t offset; /* of the next piece to be read */
  uint8_t *bytes;
  size_t capacity;
  uint64_t done, max; /* bytes written, and how many may be */
} pipe_end_t;

static tb_status_t file_error(const char *path, tb_error_t *error)
{
  return tb_error_set_errno(error, errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, errno, "%s",
                            path);
}

static tb_status_t zstd_error(const char *path, size_t result, tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_CORRUPT, "%s: zstd: %s", path, ZSTD_getErrorName(result));
}

static tb_status_t read_piece(pipe_end_t *from, size_t *out, tb_error_t *error)
{
  ssize_t size;
  while ((size = pread(from->fd, from->bytes, from->capacity, from->offset)) < 0 && errno == EINTR)
    ;
  if (size < 0) return file_error(from->path, error);
  from->offset += size;
  *out = (size_t)size;
  return TB_OK;
}

static tb_status_t write_piece(const pipe_end_t *to, size_t size, tb_error_t *error)
{
  for (size_t done = 0; done < size;) {
    ssize_t written = write(to->fd, to->bytes + done, size - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return file_error(to->path, error);
    done += (size_t)written;
  }
  return TB_OK;
}

static tb_status_t compress_pieces(ZSTD_CCtx *context, pipe_end_t *from, const pipe_end_t *to,
                                   tb_error_t *error)
{
  for (bool last = false; !last;) {
    size_t size = 0;
    tb_status_t status = read_piece(from, &size, error);
    if (status) return status;
    last = size == 0;
    ZSTD_inBuffer in = {from->bytes, size, 0};
    size_t left;
    do {
      ZSTD_outBuffer out = {to->bytes, to->capacity, 0};
      left = ZSTD_compressStream2(context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left)) return zstd_error(from->path, left, error);
      status = write_piece(to, out.pos, error);
      if (status) return status;
    } while (last ? left > 0 : in.pos < in.size);
  }
  return TB_OK;
}

static tb_status_t check_size(const pipe_end_t *from, const pipe_end_t *to, uint64_t size,
                              tb_error_t *error)
{
  if (size <= to->max) return TB_OK;
  return tb_error_set(error, TB_ERR_LIMIT,
                      "%s: unpacked it takes %llu bytes or more, over the limit of %llu "
                      "(--max-unpacked-size)",
                      from->path, (unsigned long long)size, (unsigned long long)to->max);
}

/* The size in the first frame: other tools may have written several. */
static tb_status_t check_room(const pipe_end_t *from, const pipe_end_t *to, size_t size,
                              tb_error_t *error)
{
  unsigned long long wanted = ZSTD_getFrameContentSize(from->bytes, size);
  struct statvfs disk;
  if (wanted == ZSTD_CONTENTSIZE_UNKNOWN || wanted == ZSTD_CONTENTSIZE_ERROR) return TB_OK;
  tb_status_t status = check_size(from, to, wanted, error);
  if (status || fstatvfs(to->fd, &disk) != 0) return status;
  unsigned long long room = (unsigned long long)disk.f_bavail * disk.f_frsize;
  if (wanted <= room) return TB_OK;
  return tb_error_set_errno(
      error, TB_ERR_SYSTEM, ENOSPC,
      "%s: %llu bytes are needed, but %llu are free; set TMPDIR to another folder", to->path,
      wanted, room);
}

static tb_status_t decompress_pieces(ZSTD_DCtx *context, pipe_end_t *from, pipe_end_t *to,
                                     tb_error_t *error)
{
  size_t left = 1;
  for (;;) {
    size_t size = 0;
    tb_status_t status = read_piece(from, &size, error);
    if (status) return status;
    if (size == 0 && left)
      return tb_error_set(error, TB_ERR_TRUNCATED, "%s: the compressed data ends too early",
                          from->path);
    if (size == 0) return TB_OK;
    ZSTD_inBuffer in = {from->bytes, size, 0};
    ZSTD_outBuffer out;
    if ((size_t)from->offset == size) status = check_room(from, to, size, error);
    if (status) return status;
    do {
      out = (ZSTD_outBuffer){to->bytes, to->capacity, 0};
      left = ZSTD_decompressStream(context, &out, &in);
      if (ZSTD_isError(left)) return zstd_error(from->path, left, error);
      to->done += out.pos;
      status = check_size(from, to, to->done, error);
      if (!status) status = write_piece(to, out.pos, error);
      if (status) return status;
    } while (in.pos < in.size || (left && out.pos == out.size));
  }
}

static tb_status_t allocate(pipe_end_t *from, size_t from_size, pipe_end_t *to, size_t to_size,
                            tb_error_t *error)
{
  from->bytes = malloc(from->capacity = from_size);
  to->bytes = malloc(to->capacity = to_size);
  if (from->bytes && to->bytes) return TB_OK;
  return tb__no_memory(error);
}

static tb_status_t compress_descriptors(pipe_end_t *from, pipe_end_t *to, int level,
                                        tb_error_t *error)
{
  struct stat info;
  ZSTD_CCtx *context = NULL;
  tb_status_t status = allocate(from, ZSTD_CStreamInSize(), to, ZSTD_CStreamOutSize(), error);
  if (!status && !(context = ZSTD_createCCtx())) status = tb__no_memory(error);
  if (!status && fstat(from->fd, &info) != 0) status = file_error(from->path, error);
  if (!status) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level ? level : DEFAULT_LEVEL);
    /* rosbag2 before galactic reads the size of the whole from the frame. */
    ZSTD_CCtx_setPledgedSrcSize(context, (unsigned long long)info.st_size);
    status = compress_pieces(context, from, to, error);
  }
  if (!status && fsync(to->fd) != 0) status = file_error(to->path, error);
  ZSTD_freeCCtx(context);
  free(from->bytes);
  free(to->bytes);
  return status;
}

tb_status_t tb__zstd_compress_file(const char *from, const char *to, int level, tb_error_t *error)
{
  pipe_end_t in = {.path = from, .fd = open(from, O_RDONLY | O_CLOEXEC)};
  if (in.fd < 0) return file_error(from, error);
  pipe_end_t out = {.path = to, .fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (out.fd < 0) {
    tb_status_t status = file_error(to, error);
    close(in.fd);
    return status;
  }
  tb_status_t status = compress_descriptors(&in, &out, level, error);
  close(in.fd);
  close(out.fd);
  if (status) unlink(to);
  return status;
}

tb_status_t tb__zstd_decompress_file(const char *from, int to, const char *folder, uint64_t max,
                                     tb_error_t *error)
{
  pipe_end_t in = {.path = from, .fd = open(from, O_RDONLY | O_CLOEXEC)};
  if (in.fd < 0) return file_error(from, error);
  char place[TB_ERROR_TEXT_SIZE];
  snprintf(place, sizeof place, "%s, to unpack %s", folder, from);
  pipe_end_t out = {.path = place, .fd = to, .max = max};
  ZSTD_DCtx *context = NULL;
  tb_status_t status = allocate(&in, ZSTD_DStreamInSize(), &out, ZSTD_DStreamOutSize(), error);
  if (!status && !(context = ZSTD_createDCtx())) status = tb__no_memory(error);
  if (!status) status = decompress_pieces(context, &in, &out, error);
  ZSTD_freeDCtx(context);
  free(in.bytes);
  free(out.bytes);
  close(in.fd);
  return status;
}
