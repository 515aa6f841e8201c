#include "bag/zstd_codec.h"
#include "base/no_memory.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define DEFAULT_LEVEL 1
#define FIRST_ROOM    ((size_t)64 << 10)

bool tb__zstd_is_frame(const void *data, size_t size)
{
  static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};
  return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

static tb_status_t make_room(tb__zstd_t *zstd, size_t size, tb_error_t *error)
{
  if (size <= zstd->capacity) return TB_OK;
  uint8_t *grown = realloc(zstd->bytes, size);
  if (!grown) return tb__no_memory(error);
  zstd->bytes = grown;
  zstd->capacity = size;
  return TB_OK;
}

tb_status_t tb__zstd_compress(tb__zstd_t *zstd, const void *data, size_t size, int level,
                              const uint8_t **out, size_t *out_size, tb_error_t *error)
{
  if (!zstd->compress && !(zstd->compress = ZSTD_createCCtx())) return tb__no_memory(error);
  tb_status_t status = make_room(zstd, ZSTD_compressBound(size), error);
  if (status) return status;
  size_t result = ZSTD_compressCCtx(zstd->compress, zstd->bytes, zstd->capacity, data, size,
                                    level ? level : DEFAULT_LEVEL);
  if (ZSTD_isError(result))
    return tb_error_set(error, TB_ERR_SYSTEM, "zstd: %s", ZSTD_getErrorName(result));
  *out = zstd->bytes;
  *out_size = result;
  return TB_OK;
}

/* Grows with the bytes that really come: the size in the frame is not trusted. */
static tb_status_t run(tb__zstd_t *zstd, ZSTD_inBuffer *in, ZSTD_outBuffer *out, tb_error_t *error)
{
  for (;;) {
    size_t result = ZSTD_decompressStream(zstd->decompress, out, in);
    if (ZSTD_isError(result))
      return tb_error_set(error, TB_ERR_CORRUPT, "zstd: %s", ZSTD_getErrorName(result));
    if (result == 0 && in->pos == in->size) return TB_OK;
    if (out->pos < out->size && in->pos == in->size)
      return tb_error_set(error, TB_ERR_TRUNCATED, "zstd: the frame ends too early");
    if (out->pos < out->size) continue;
    if (zstd->capacity >= TB__ZSTD_MAX_PAYLOAD)
      return tb_error_set(error, TB_ERR_LIMIT, "zstd: more than 1 GiB");
    tb_status_t status = make_room(zstd, 2 * zstd->capacity, error);
    if (status) return status;
    out->dst = zstd->bytes;
    out->size = zstd->capacity;
  }
}

tb_status_t tb__zstd_decompress(tb__zstd_t *zstd, const void *data, size_t size,
                                const uint8_t **out, size_t *out_size, tb_error_t *error)
{
  if (!zstd->decompress && !(zstd->decompress = ZSTD_createDCtx())) return tb__no_memory(error);
  tb_status_t status = make_room(zstd, FIRST_ROOM, error);
  if (status) return status;
  ZSTD_DCtx_reset(zstd->decompress, ZSTD_reset_session_only);
  ZSTD_inBuffer in = {data, size, 0};
  ZSTD_outBuffer room = {zstd->bytes, zstd->capacity, 0};
  status = run(zstd, &in, &room, error);
  if (status) return status;
  *out = zstd->bytes;
  *out_size = room.pos;
  return TB_OK;
}

void tb__zstd_fini(tb__zstd_t *zstd)
{
  ZSTD_freeCCtx(zstd->compress);
  ZSTD_freeDCtx(zstd->decompress);
  free(zstd->bytes);
  *zstd = (tb__zstd_t){0};
}
