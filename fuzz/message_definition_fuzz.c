/* Bytes as a message definition, and as the name of a type. */
#include <stdlib.h>
#include <string.h>

#include "definition/message_definition.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char field[TB__MESSAGE_NAME_SIZE];
  char *text = strndup((const char *)data, size);
  tb__found_definition_t found;
  size_t at = 0;
  if (!text) return 0;
  while (tb__message_field_next(text, &at, "package", field))
    if (at > strlen(text) || !strchr(field, '/') || strchr(field, '.')) abort();
  if (tb__message_definition_find(text, TB__DEFINITION_UNKNOWN,
                                  &(tb__definition_places_t){.prefixes = NULL}, &found) == TB_OK)
    free(found.text);
  free(text);
  return 0;
}
