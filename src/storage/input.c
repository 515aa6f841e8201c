#include "storage/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "storage/limits.h"

#define WINDOW_SIZE 262144

tb_status_t tb__bag_input_error(const tb__bag_input_t *input, tb_status_t status, uint64_t offset,
                                tb_error_t *error, const char *format, ...)
{
  char text[TB_ERROR_TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tb_error_set(error, status, "%s: offset %llu: %s", input->path, (unsigned long long)offset, text);
  if (error) error->offset = (int64_t)offset;
  return status;
}

tb_status_t tb__bag_input_open(const char *path, const char *name, tb__bag_input_t *out,
                               tb_error_t *error)
{
  struct stat info;
  *out = (tb__bag_input_t){.fd = -1, .path = strdup(name), .limits = tb__bag_limits(NULL)};
  if (!out->path) return tb__no_memory(error);
  out->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (out->fd < 0 || fstat(out->fd, &info) != 0)
    return tb_error_set_errno(error, errno == ENOENT ? TB_ERR_NOT_FOUND : TB_ERR_SYSTEM, errno,
                              "%s", name);
  if (!S_ISREG(info.st_mode))
    return tb_error_set(error, TB_ERR_INVALID, "%s: not a regular file", name);
  out->size = (uint64_t)info.st_size;
  return TB_OK;
}

void tb__bag_input_close(tb__bag_input_t *input)
{
  if (input->fd >= 0) close(input->fd);
  free(input->window);
  free(input->path);
  *input = (tb__bag_input_t){.fd = -1};
}

tb_status_t tb__bag_input_read(const tb__bag_input_t *input, uint64_t offset, void *out,
                               size_t size, tb_error_t *error)
{
  uint8_t *to = out;
  while (size > 0) {
    ssize_t count = pread(input->fd, to, size, (off_t)offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      tb_error_set_errno(error, TB_ERR_SYSTEM, errno, "%s: offset %llu", input->path,
                         (unsigned long long)offset);
      if (error) error->offset = (int64_t)offset;
      return TB_ERR_SYSTEM;
    }
    if (count == 0)
      return tb__bag_input_error(input, TB_ERR_TRUNCATED, offset, error,
                                 "the file ends here, %zu bytes too early", size);
    to += count;
    offset += (uint64_t)count;
    size -= (size_t)count;
  }
  return TB_OK;
}

static tb_status_t grow_window(tb__bag_input_t *input, size_t size, tb_error_t *error)
{
  if (size <= input->window_capacity) return TB_OK;
  uint8_t *window = realloc(input->window, size);
  if (!window) return tb__no_memory(error);
  input->window = window;
  input->window_capacity = size;
  return TB_OK;
}

tb_status_t tb__bag_input_look(tb__bag_input_t *input, uint64_t offset, size_t size,
                               const uint8_t **out, tb_error_t *error)
{
  uint64_t place = offset - input->window_offset;
  if (offset < input->window_offset || place > input->window_size ||
      size > input->window_size - place) {
    if (offset > input->size || size > input->size - offset)
      return tb__bag_input_error(input, TB_ERR_TRUNCATED, input->size, error, "the file ends here");
    size_t wanted = size > WINDOW_SIZE ? size : WINDOW_SIZE;
    if (wanted > input->size - offset) wanted = (size_t)(input->size - offset);
    input->window_size = 0;
    tb_status_t status = grow_window(input, wanted, error);
    if (!status) status = tb__bag_input_read(input, offset, input->window, wanted, error);
    if (status) return status;
    input->window_offset = offset;
    input->window_size = wanted;
    place = 0;
  }
  *out = input->window ? input->window + place : (const uint8_t *)"";
  return TB_OK;
}
