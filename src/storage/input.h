/* A file that is read by offset. Never mapped: one that becomes shorter is an error, no signal. */
#ifndef TB_STORAGE_INPUT_H
#define TB_STORAGE_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/bag_reader.h>
#include <timebase/error.h>

typedef struct tb__bag_input {
  int fd;                 /* -1: closed */
  char *path;             /* for errors */
  uint64_t size;          /* when it was opened */
  tb_bag_limits_t limits; /* the defaults, until others are set */
  /* Bytes that were read ahead. */
  uint8_t *window;
  size_t window_capacity;
  uint64_t window_offset;
  size_t window_size;
} tb__bag_input_t;

/* `name` appears in errors. *out may be closed after a failure too. */
tb_status_t tb__bag_input_open(const char *path, const char *name, tb__bag_input_t *out,
                               tb_error_t *error) TB_WARN_UNUSED;
void tb__bag_input_close(tb__bag_input_t *input);

/* All of it, or TB_ERR_TRUNCATED. */
tb_status_t tb__bag_input_read(const tb__bag_input_t *input, uint64_t offset, void *out,
                               size_t size, tb_error_t *error) TB_WARN_UNUSED;
/* Through the window, for small pieces in a row; valid until the next call. `size` is at most what
 * the file has after `offset`, or else TB_ERR_TRUNCATED. */
tb_status_t tb__bag_input_look(tb__bag_input_t *input, uint64_t offset, size_t size,
                               const uint8_t **out, tb_error_t *error) TB_WARN_UNUSED;
/* The text begins with name and offset. */
tb_status_t tb__bag_input_error(const tb__bag_input_t *input, tb_status_t status, uint64_t offset,
                                tb_error_t *error, const char *format, ...) TB_PRINTF(5, 6);

#endif
