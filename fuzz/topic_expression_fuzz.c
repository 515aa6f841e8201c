/* Bytes as an expression, a NUL and a topic: it is refused or searched for, and ends. */
#include <stdlib.h>
#include <string.h>
#include <timebase/text.h>
#include <timebase/topic_expression.h>

#include "fuzz.h"

static void check_text(const char *text)
{
  size_t length = tb_text_escape(text, NULL, 0);
  char *once = malloc(length + 1), *twice = malloc(length + 1);
  if (!once || !twice) abort();
  if (tb_text_escape(text, once, length + 1) != length || strlen(once) != length) abort();
  if (tb_text_escape(once, twice, length + 1) != length || strcmp(once, twice) != 0) abort();
  for (const char *byte = once; *byte; byte++)
    if ((unsigned char)*byte < ' ' || *byte == 0x7F) abort();
  free(once);
  free(twice);
}

static void check_expression(const char *text, const char *topic)
{
  tb_topic_expression_t *expression = NULL;
  tb_error_t error = TB_ERROR_INIT;
  bool found;
  if (tb_topic_expression_create(text, &expression, &error) != TB_OK) {
    if (error.offset > (int64_t)strlen(text)) abort();
    return;
  }
  tb_topic_expression_search(expression, topic, &found, &error);
  tb_topic_expression_destroy(expression);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = calloc(size + 2, 1);
  if (!text) return 0;
  memcpy(text, data, size);
  const char *topic = text + strlen(text) + 1;
  check_text(text);
  check_text(topic);
  check_expression(text, topic);
  free(text);
  return 0;
}
