/* Reads what `expression_cross.mjs random` prints: an expression that is taken must give Node.js's
 * answer. Fails also if hardly any is taken. */
#include <stdio.h>
#include <string.h>
#include <timebase/topic_expression.h>

static void from_hex(const char *hex, char *out)
{
  unsigned byte;
  for (; *hex != '-' && sscanf(hex, "%2x", &byte) == 1; hex += 2)
    *out++ = (char)byte;
  *out = '\0';
}

/* 1: right, 0: refused, -1: wrong. */
static int check(const char *expression, const char *topic, const char *answer)
{
  tb_topic_expression_t *compiled;
  tb_error_t error = TB_ERROR_INIT;
  bool found = false;
  if (tb_topic_expression_create(expression, &compiled, &error) != TB_OK) return 0;
  tb_status_t status = tb_topic_expression_search(compiled, topic, &found, &error);
  tb_topic_expression_destroy(compiled);
  if (status == TB_OK && strcmp(answer, found ? "yes" : "no") == 0) return 1;
  printf("'%s' in '%s': %s, but %s of Node.js\n", expression, topic,
         status != TB_OK ? error.text
         : found         ? "found"
                         : "not found",
         answer);
  return -1;
}

int main(void)
{
  char expression_hex[512], topic_hex[128], answer[16], expression[256], topic[64];
  size_t rows = 0, taken = 0, wrong = 0;
  long seed;
  if (scanf("seed %ld", &seed) != 1) return 1;
  while (scanf("%511s %127s %15s", expression_hex, topic_hex, answer) == 3) {
    from_hex(expression_hex, expression);
    from_hex(topic_hex, topic);
    int result = check(expression, topic, answer);
    rows++;
    taken += result > 0;
    wrong += result < 0;
  }
  printf("TB_TEST_SEED=%ld: %zu of %zu expressions taken, %zu wrong\n", seed, taken, rows, wrong);
  return wrong > 0 || taken < rows / 10 || rows == 0;
}
