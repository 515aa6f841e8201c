/* What rosbag2_compression_zstd does to messages and to whole files. */
#ifndef TB_BAG_ZSTD_CODEC_H
#define TB_BAG_ZSTD_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>

#define TB__ZSTD_MAX_PAYLOAD ((size_t)1 << 30)

/* Working memory for repeated use; all zeros at first. Not thread-safe. */
typedef struct tb__zstd {
  struct ZSTD_CCtx_s *compress;
  struct ZSTD_DCtx_s *decompress;
  uint8_t *bytes;
  size_t capacity;
} tb__zstd_t;

bool tb__zstd_is_frame(const void *data, size_t size);

/* *out is valid until the next call. Level 0: rosbag2's, which is 1. */
tb_status_t tb__zstd_compress(tb__zstd_t *zstd, const void *data, size_t size, int level,
                              const uint8_t **out, size_t *out_size,
                              tb_error_t *error) TB_WARN_UNUSED;
/* The same way back. TB_ERR_CORRUPT, TB_ERR_TRUNCATED; TB_ERR_LIMIT above 1 GiB. Texts have no
 * file. */
tb_status_t tb__zstd_decompress(tb__zstd_t *zstd, const void *data, size_t size,
                                const uint8_t **out, size_t *out_size,
                                tb_error_t *error) TB_WARN_UNUSED;
void tb__zstd_fini(tb__zstd_t *zstd);

/* Makes `to`, which must not exist, and syncs it; nothing is left of it on failure. */
tb_status_t tb__zstd_compress_file(const char *from, const char *to, int level,
                                   tb_error_t *error) TB_WARN_UNUSED;
/* Appends to the descriptor `to`, which is a file in `folder`. TB_ERR_LIMIT: it takes more
 * than `max` bytes; if the size is in the file, nothing is written then, nor if there is no room
 * for it (TB_ERR_SYSTEM, ENOSPC). */
tb_status_t tb__zstd_decompress_file(const char *from, int to, const char *folder, uint64_t max,
                                     tb_error_t *error) TB_WARN_UNUSED;

#endif
