/* Plain CDR (XCDR1) in either byte order, as ROS 2 uses it: 4 bytes of encapsulation, the body,
 * zeros up to a multiple of 4. Numbers are aligned to their size, counted from the body. Pure. */
#ifndef TB_ROS2_CDR_H
#define TB_ROS2_CDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

#include "base/private_api.h"

#define TB__CDR_ENCAPSULATION_SIZE 4
#define TB__CDR_MESSAGE_MAX        0x7ffffff0u /* bytes that DDS carries */

/* Never reads past the end. The first failure stays in `status`; afterwards all reads return 0. */
typedef struct tb__cdr_reader {
  const uint8_t *body;
  size_t size;
  size_t at;
  bool big_endian;
  tb_status_t status;
} tb__cdr_reader_t;

/* TB_ERR_TRUNCATED: fewer bytes than an encapsulation. TB_ERR_CORRUPT: not plain CDR. */
void tb__cdr_reader_init(tb__cdr_reader_t *reader, const void *cdr, size_t size);

/* A number of 1, 2, 4 or 8 bytes, as its bits. TB_ERR_TRUNCATED. */
uint64_t tb__cdr_read_number(tb__cdr_reader_t *reader, size_t width);

/* Reads `count` numbers of `width` bytes to `out` in our byte order, or skips them (NULL). A count
 * of 0 does not align. False: the message is too short (TB_ERR_TRUNCATED). */
bool tb__cdr_read_numbers(tb__cdr_reader_t *reader, size_t width, size_t count, void *out);

/* `size` bytes, not aligned. NULL: the message is too short (TB_ERR_TRUNCATED). */
const uint8_t *tb__cdr_read_octets(tb__cdr_reader_t *reader, size_t size);

/* A string with its NUL, in place; *out_length is without it. A length of 0 reads as "".
 * TB_ERR_TRUNCATED; TB_ERR_CORRUPT: no NUL at its end; TB_ERR_INVALID: a NUL before its end, which
 * C strings cannot hold. NULL on failure. */
const char *tb__cdr_read_string(tb__cdr_reader_t *reader, size_t *out_length);

/* The number of elements to come, each of at least `element_min` bytes (not 0) on the wire.
 * TB_ERR_TRUNCATED: the remaining bytes cannot hold so many. */
size_t tb__cdr_read_count(tb__cdr_reader_t *reader, size_t element_min);

/* The number of bytes not read yet. */
size_t tb__cdr_reader_left(const tb__cdr_reader_t *reader);

/* Without `out` (NULL) it only counts. The first failure stays in `status`. */
typedef struct tb__cdr_writer {
  uint8_t *out;
  size_t room; /* with encapsulation */
  size_t at;   /* in the body */
  bool big_endian;
  tb_status_t status; /* TB_ERR_LIMIT: the room is used up, or DDS cannot carry it */
} tb__cdr_writer_t;

/* Writes the encapsulation. `room` counts only with `out`. */
TB_PRIVATE_API void tb__cdr_writer_init(tb__cdr_writer_t *writer, bool big_endian, uint8_t *out,
                                        size_t room);
void tb__cdr_write_number(tb__cdr_writer_t *writer, size_t width, uint64_t bits);
void tb__cdr_write_numbers(tb__cdr_writer_t *writer, size_t width, size_t count, const void *from);
void tb__cdr_write_octets(tb__cdr_writer_t *writer, const void *octets, size_t size);
/* NULL writes "". */
TB_PRIVATE_API void tb__cdr_write_string(tb__cdr_writer_t *writer, const char *text);
void tb__cdr_write_count(tb__cdr_writer_t *writer, size_t count);

/* Pads to a multiple of 4; *out_size is the size of the whole message. */
TB_PRIVATE_API TB_WARN_UNUSED tb_status_t tb__cdr_writer_finish(tb__cdr_writer_t *writer,
                                                                size_t *out_size);

#endif
