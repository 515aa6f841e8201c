/* A file that is there in whole, or as it was before. */
#ifndef TB_CONTRACT_OUTPUT_FILE_H
#define TB_CONTRACT_OUTPUT_FILE_H

#include <stddef.h>
#include <timebase/error.h>

/* Writes `size` bytes to a file beside `path` and renames it to `path`. What was there is replaced;
 * on failure it stays as it was. What is not a regular file, such as /dev/stdout, is written to.
 *
 *   TB_ERR_NOT_FOUND  the folder is not there
 *   TB_ERR_SYSTEM, TB_ERR_NO_MEMORY */
tb_status_t tb__output_file_write(const char *path, const char *text, size_t size,
                                  tb_error_t *error) TB_WARN_UNUSED;

#endif
