/* The YAML of `ros2 bag convert -o`: a list of recordings to write, read as words of the command
 * line of `timebase bag convert`. */
#ifndef TB_CONTRACT_OUTPUT_OPTIONS_H
#define TB_CONTRACT_OUTPUT_OPTIONS_H

#include <stddef.h>
#include <timebase/error.h>

#include "base/private_api.h"

typedef struct tb__output_words {
  char **items; /* with a NULL after them */
  size_t count;
} tb__output_words_t;

typedef struct tb__output_options {
  tb__output_words_t *outputs; /* one for each recording */
  size_t count;
} tb__output_options_t;

/* Keys that have no effect here are passed over. TB_ERR_CORRUPT with the place for what is wrong;
 * TB_ERR_NOT_FOUND, TB_ERR_SYSTEM, TB_ERR_LIMIT, TB_ERR_NO_MEMORY. *out is zeroed by the caller. */
TB_PRIVATE_API tb_status_t tb__output_options_load(const char *path, tb__output_options_t *out,
                                                   tb_error_t *error);
/* The same of a text that was read from `path`. */
tb_status_t tb__output_options_parse(const char *path, const char *text, size_t size,
                                     tb__output_options_t *out, tb_error_t *error);
TB_PRIVATE_API void tb__output_options_fini(tb__output_options_t *options);

#endif
