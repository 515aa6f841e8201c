#include "storage/buffer.h"

#include <stdlib.h>

#include "base/no_memory.h"

tb_status_t tb__bag_buffer_reserve(tb__bag_buffer_t *buffer, uint64_t size, tb_error_t *error)
{
  if (buffer->bytes && size <= buffer->capacity) return TB_OK;
  free(buffer->bytes);
  buffer->capacity = 0;
  buffer->bytes = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
  if (!buffer->bytes) return tb__no_memory(error);
  buffer->capacity = (size_t)size;
  return TB_OK;
}

tb_status_t tb__bag_buffer_grow(tb__bag_buffer_t *buffer, uint64_t size, tb_error_t *error)
{
  if (buffer->bytes && size <= buffer->capacity) return TB_OK;
  uint8_t *bytes = size < SIZE_MAX ? realloc(buffer->bytes, (size_t)size + 1) : NULL;
  if (!bytes) return tb__no_memory(error);
  buffer->bytes = bytes;
  buffer->capacity = (size_t)size;
  return TB_OK;
}

void tb__bag_buffer_fini(tb__bag_buffer_t *buffer)
{
  free(buffer->bytes);
  *buffer = (tb__bag_buffer_t){0};
}
