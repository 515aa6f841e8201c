/* Bytes in memory that are filled again and again. */
#ifndef TB_STORAGE_BUFFER_H
#define TB_STORAGE_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/error.h>

typedef struct tb__bag_buffer {
  uint8_t *bytes;
  size_t capacity;
} tb__bag_buffer_t;

/* Room for `size` bytes; what was in it is gone. */
tb_status_t tb__bag_buffer_reserve(tb__bag_buffer_t *buffer, uint64_t size,
                                   tb_error_t *error) TB_WARN_UNUSED;
/* The same, and the content stays. */
tb_status_t tb__bag_buffer_grow(tb__bag_buffer_t *buffer, uint64_t size,
                                tb_error_t *error) TB_WARN_UNUSED;
void tb__bag_buffer_fini(tb__bag_buffer_t *buffer);

#endif
