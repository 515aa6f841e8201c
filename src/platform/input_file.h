/* Files that users name: read as a whole, and only if they are regular files. A pipe or a device
 * might block, or never end. */
#ifndef TB_PLATFORM_INPUT_FILE_H
#define TB_PLATFORM_INPUT_FILE_H

#include <stddef.h>
#include <timebase/error.h>

#include "base/private_api.h"

/* *out_fd is open for reading. Never waits for the writer of a pipe. TB_ERR_NOT_FOUND,
 * TB_ERR_INVALID (not a regular file), TB_ERR_SYSTEM; texts begin with the path. */
TB_PRIVATE_API tb_status_t tb__input_file_open(const char *path, int *out_fd,
                                               tb_error_t *error) TB_WARN_UNUSED;

/* All of it, with a NUL after it; free(*out). TB_ERR_LIMIT: more than `max` bytes.
 * TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__input_file_read(const char *path, size_t max, char **out,
                                               size_t *out_size, tb_error_t *error) TB_WARN_UNUSED;

#endif
