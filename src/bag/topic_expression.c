#include <timebase/topic_expression.h>

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "bag/expression_syntax.h"
#include "base/no_memory.h"

#define LENGTH_LIMIT     8192
#define STEP_LIMIT       1000000
#define MEMORY_LIMIT_KIB (16 * 1024)

/* As ECMAScript has it; what is left of Perl's syntax is refused before (expression_syntax.h). */
#define OPTIONS                                                                                    \
  (PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF |   \
   PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UCP | PCRE2_NEVER_UTF)

struct tb_topic_expression {
  char *text;
  pcre2_code *code;
  pcre2_match_context *limits;
};

static void *allocate(size_t size, void *user)
{
  (void)user;
  return malloc(size);
}

static void release(void *block, void *user)
{
  (void)user;
  free(block);
}

static tb_status_t out_of_memory(tb_error_t *error)
{
  return tb__no_memory_for(error, "expression");
}

static tb_status_t refuse(tb_error_t *error, tb_status_t status, const char *text, size_t offset,
                          const char *why)
{
  tb_error_set(error, status, "expression '%.200s', character %zu: %s", text, offset + 1, why);
  if (error) error->offset = (int64_t)offset;
  return status;
}

static tb_status_t refuse_code(tb_error_t *error, const char *text, int code, size_t offset)
{
  PCRE2_UCHAR why[160];
  switch (code) {
  case PCRE2_ERROR_HEAP_FAILED:
    return out_of_memory(error);
  case PCRE2_ERROR_PATTERN_TOO_LARGE:
  case PCRE2_ERROR_PATTERN_TOO_COMPLICATED:
  case PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP:
  case PCRE2_ERROR_PARENTHESES_STACK_CHECK:
  case PCRE2_ERROR_QUANTIFIER_TOO_BIG:
    return refuse(error, TB_ERR_LIMIT, text, offset, "it is too large");
  default:
    pcre2_get_error_message(code, why, sizeof why);
    return refuse(error, TB_ERR_INVALID, text, offset, (const char *)why);
  }
}

static tb_status_t check_syntax(const char *text, char *copy, tb_error_t *error)
{
  tb_error_t why = TB_ERROR_INIT;
  tb_status_t status = tb__expression_syntax(copy, &why);
  if (status == TB_ERR_NO_MEMORY) return out_of_memory(error);
  return status ? refuse(error, status, text, (size_t)why.offset, why.text) : TB_OK;
}

static tb_status_t compile(tb_topic_expression_t *expression, pcre2_general_context *memory,
                           const char *pattern, tb_error_t *error)
{
  int code;
  PCRE2_SIZE offset;
  expression->limits = pcre2_match_context_create(memory);
  pcre2_compile_context *context = pcre2_compile_context_create(memory);
  if (context && expression->limits) {
    pcre2_set_match_limit(expression->limits, STEP_LIMIT);
    pcre2_set_heap_limit(expression->limits, MEMORY_LIMIT_KIB);
    pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF); /* '.' matches neither */
    expression->code =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, OPTIONS, &code, &offset, context);
  }
  bool has_memory = context && expression->limits;
  pcre2_compile_context_free(context);
  if (!has_memory) return out_of_memory(error);
  return expression->code ? TB_OK : refuse_code(error, expression->text, code, offset);
}

static tb_status_t build(tb_topic_expression_t *expression, tb_error_t *error)
{
  char *pattern = strdup(expression->text);
  pcre2_general_context *memory = pcre2_general_context_create(allocate, release, NULL);
  tb_status_t status =
      pattern && memory ? check_syntax(expression->text, pattern, error) : out_of_memory(error);
  if (!status) status = compile(expression, memory, pattern, error);
  pcre2_general_context_free(memory);
  free(pattern);
  return status;
}

tb_status_t tb_topic_expression_create(const char *text, tb_topic_expression_t **out,
                                       tb_error_t *error)
{
  if (!text || !out) return tb_error_set(error, TB_ERR_INVALID, "expression: text or out is NULL");
  if (strlen(text) > LENGTH_LIMIT)
    return tb_error_set(error, TB_ERR_LIMIT, "expression '%.60s...': longer than %d bytes", text,
                        LENGTH_LIMIT);
  tb_topic_expression_t *expression = calloc(1, sizeof *expression);
  if (expression) expression->text = strdup(text);
  tb_status_t status =
      expression && expression->text ? build(expression, error) : out_of_memory(error);
  if (!status)
    *out = expression;
  else
    tb_topic_expression_destroy(expression);
  return status;
}

void tb_topic_expression_destroy(tb_topic_expression_t *expression)
{
  if (!expression) return;
  pcre2_code_free(expression->code);
  pcre2_match_context_free(expression->limits);
  free(expression->text);
  free(expression);
}

const char *tb_topic_expression_text(const tb_topic_expression_t *expression)
{
  if (!expression) return NULL;
  return expression->text;
}

static tb_status_t search_failed(const tb_topic_expression_t *expression, const char *topic,
                                 int code, tb_error_t *error)
{
  if (code == PCRE2_ERROR_NOMEMORY) return out_of_memory(error);
  return tb_error_set(error, TB_ERR_LIMIT,
                      "expression '%.200s': gave up at topic '%.200s': too many ways "
                      "to match; nested repeats such as (a+)+ make them",
                      expression->text, topic);
}

tb_status_t tb_topic_expression_search(const tb_topic_expression_t *expression, const char *topic,
                                       bool *out_found, tb_error_t *error)
{
  if (!expression || !topic || !out_found)
    return tb_error_set(error, TB_ERR_INVALID, "expression, topic or out is NULL");
  pcre2_match_data *data = pcre2_match_data_create_from_pattern(expression->code, NULL);
  if (!data) return out_of_memory(error);
  int code = pcre2_match(expression->code, (PCRE2_SPTR)topic, PCRE2_ZERO_TERMINATED, 0, 0, data,
                         expression->limits);
  pcre2_match_data_free(data);
  if (code < 0 && code != PCRE2_ERROR_NOMATCH) return search_failed(expression, topic, code, error);
  *out_found = code >= 0;
  return TB_OK;
}
