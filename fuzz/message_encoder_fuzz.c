/* A byte that chooses the generation, a definition up to a NUL, and YAML: what is made of it is a
 * message of that definition, and the same each time. */
#include <stdlib.h>
#include <string.h>

#include "definition/message.h"
#include "definition/message_encoder.h"
#include "definition/parse.h"
#include "fuzz.h"

static void check(tb__message_encoder_t *encoder, const tb__schema_t *schema)
{
  const uint8_t *out = NULL;
  size_t size = 0, again = 0;
  tb__message_t message;
  if (tb__message_encoder_run(encoder, INT64_C(1700000000000000000), &out, &size, NULL)) abort();
  uint8_t *copy = malloc(size + 1);
  if (!copy) return;
  memcpy(copy, out, size);
  if (tb__message_encoder_run(encoder, INT64_C(1700000000000000000), &out, &again, NULL)) abort();
  if (again != size || memcmp(copy, out, size) != 0) abort();
  if (tb__message_open(&message, schema, copy, size) ||
      tb__message_walk(&message, NULL, NULL, NULL))
    abort();
  free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 1) return 0;
  const char *text = (const char *)data + 1;
  size_t length = strnlen(text, size - 1), at = 1 + length + (length + 1 < size);
  tb__schema_t *schema = NULL;
  tb__message_encoder_t *encoder = NULL;
  const char *encoding = data[0] & 1 ? "ros1msg" : "ros2msg";
  if (tb__schema_parse("p/msg/T", encoding, text, length, &schema, NULL)) return 0;
  if (!tb__message_encoder_create(schema, (const char *)data + at, size - at, &encoder, NULL))
    check(encoder, schema);
  tb__message_encoder_destroy(encoder);
  tb__schema_destroy(schema);
  return 0;
}
