/* Encoding and decoding in two passes over a value or message: the first checks and counts, the
 * second writes, into one block that has room for all of it. Functions of the caller know the type.
 * Pure. */
#ifndef TB_ROS2_CDR_PASSES_H
#define TB_ROS2_CDR_PASSES_H

#include "wire/cdr.h"

/* The first failure stays in reader.status. */
typedef struct tb__cdr_decoder {
  tb__cdr_reader_t reader;
  uint8_t *block; /* of zeros; NULL while counting */
  size_t used;
} tb__cdr_decoder_t;

void tb__cdr_decoder_fail(tb__cdr_decoder_t *decoder, tb_status_t status);

/* The next bytes of the block, aligned; NULL while counting. */
uint8_t *tb__cdr_decoder_take(tb__cdr_decoder_t *decoder, size_t count, size_t size);

/* The writer's first failure stays in its status. */
void tb__cdr_writer_fail(tb__cdr_writer_t *writer, tb_status_t status);

typedef void (*tb__cdr_encode_t)(tb__cdr_writer_t *writer, const void *type, const void *value);
typedef void (*tb__cdr_decode_t)(tb__cdr_decoder_t *decoder, const void *type, uint8_t *to);

/* The message in new memory: free *out. TB_ERR_LIMIT: longer than DDS can carry. TB_ERR_NO_MEMORY,
 * and the errors of `encode`. */
TB_WARN_UNUSED tb_status_t tb__cdr_encode_twice(tb__cdr_encode_t encode, const void *type,
                                                const void *value, bool big_endian, uint8_t **out,
                                                size_t *out_size);

/* A value of `value_size` bytes with all that it points to, in one piece: free(*out) frees all of
 * it. `decode` gets NULL for `to` while it counts. Up to 3 bytes may be left. *out_at is the offset
 * that it reached in the message, also on failure. TB_ERR_TRUNCATED and TB_ERR_CORRUPT of a reader,
 * TB_ERR_CORRUPT: bytes are left, TB_ERR_NO_MEMORY, and the errors of `decode`. */
TB_WARN_UNUSED tb_status_t tb__cdr_decode_twice(tb__cdr_decode_t decode, const void *type,
                                                size_t value_size, const void *cdr, size_t size,
                                                void *out, size_t *out_at);

#endif
