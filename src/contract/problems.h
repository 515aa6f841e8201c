/* What is wrong with a text that a person wrote, with line and column. */
#ifndef TB_CONTRACT_PROBLEMS_H
#define TB_CONTRACT_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <timebase/error.h>

#include "base/private_api.h"

#define TB__PROBLEMS_MAX 50 /* kept; the others are counted */

typedef struct tb__problem {
  size_t line, column; /* from 1; 0: of the whole text */
  bool is_error;       /* else a warning */
  char text[TB_ERROR_TEXT_SIZE];
} tb__problem_t;

/* Starts as zeroes. In the order in which they were found, until sorted. */
typedef struct tb__problems {
  size_t count; /* of those in `items` */
  size_t error_count, warning_count;
  tb__problem_t items[TB__PROBLEMS_MAX];
} tb__problems_t;

/* Text of others is escaped (tb_text_escape). */
void tb__problems_add(tb__problems_t *problems, bool is_error, size_t line, size_t column,
                      const char *format, ...) TB_PRINTF(5, 6);

/* By line and column. */
void tb__problems_sort(tb__problems_t *problems);

/* The first error as "NAME:3:5: TEXT", with how many more there are. Returns TB_ERR_CORRUPT, or
 * TB_OK if there is none; `error` may be NULL. */
TB_PRIVATE_API tb_status_t tb__problems_status(const tb__problems_t *problems, const char *name,
                                               tb_error_t *error);

#endif
