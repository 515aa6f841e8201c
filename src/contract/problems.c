#include "contract/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/text.h>

void tb__problems_add(tb__problems_t *problems, bool is_error, size_t line, size_t column,
                      const char *format, ...)
{
  if (is_error)
    problems->error_count++;
  else
    problems->warning_count++;
  if (problems->count == TB__PROBLEMS_MAX) return;
  tb__problem_t *problem = &problems->items[problems->count++];
  char text[TB_ERROR_TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  problem->line = line;
  problem->column = column;
  problem->is_error = is_error;
  tb_text_escape(text, problem->text, sizeof problem->text);
}

static int compare(const void *left, const void *right)
{
  const tb__problem_t *a = left, *b = right;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return (int)b->is_error - (int)a->is_error;
}

void tb__problems_sort(tb__problems_t *problems)
{
  qsort(problems->items, problems->count, sizeof *problems->items, compare);
}

static const tb__problem_t *first_error(const tb__problems_t *problems)
{
  for (size_t i = 0; i < problems->count; i++)
    if (problems->items[i].is_error) return &problems->items[i];
  return NULL;
}

tb_status_t tb__problems_status(const tb__problems_t *problems, const char *name, tb_error_t *error)
{
  const tb__problem_t *problem = first_error(problems);
  char more[64] = "";
  if (!problems->error_count) return TB_OK;
  if (problems->error_count > 1)
    snprintf(more, sizeof more, " (and %zu more)", problems->error_count - 1);
  if (!problem) /* warnings alone fill the list */
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: %zu errors", name, problems->error_count);
  if (!problem->line)
    return tb_error_set(error, TB_ERR_CORRUPT, "%s: %s%s", name, problem->text, more);
  return tb_error_set(error, TB_ERR_CORRUPT, "%s:%zu:%zu: %s%s", name, problem->line,
                      problem->column, problem->text, more);
}
