#include "contract/trip.h"

#include <stdlib.h>
#include <string.h>

void tb__trip_feed(tb__trip_t *trip, bool is_tripped, int64_t steady_ns)
{
  if (trip->messages++ > 0 && trip->is_tripped == is_tripped) return;
  trip->is_tripped = is_tripped;
  trip->since_ns = steady_ns;
}

/* "true" is 1, "false" 0. */
static bool parse_value(const char *text, double *out)
{
  char *end = NULL;
  bool is_true = strcmp(text, "true") == 0;
  if (is_true || strcmp(text, "false") == 0) {
    *out = is_true;
    return true;
  }
  if (!*text || text[strspn(text, "+-.0123456789")]) return false;
  *out = strtod(text, &end);
  return *end == '\0';
}

bool tb__trip_is_value(const tb__field_path_t *field, const tb__message_t *message,
                       const char *value)
{
  const tb__field_type_t *type = tb__field_path_type(field);
  size_t at = 0, length = 0;
  double found = 0, wanted = 0;
  const char *text = NULL;
  if (tb__field_path_find(field, message, 0, &at)) return false;
  if (type->kind == TB__FIELD_STRING)
    return tb__message_string(message, &at, &text, &length) == TB_OK && length == strlen(value) &&
           memcmp(text, value, length) == 0;
  if (!parse_value(value, &wanted)) return false;
  return tb__message_number(message, type->kind, &at, &found) == TB_OK && found == wanted;
}

tb_status_t tb__trip_check(const tb__field_path_t *field, const char *value, tb_error_t *error)
{
  const tb__field_type_t *type = tb__field_path_type(field);
  double wanted = 0;
  if (type->kind == TB__FIELD_WSTRING || type->kind == TB__FIELD_STRUCT ||
      type->shape != TB__FIELD_SINGLE)
    return tb_error_set(error, TB_ERR_INVALID,
                        "the field is no single boolean, number or text; name one of its parts");
  if (type->kind != TB__FIELD_STRING && !parse_value(value, &wanted))
    return tb_error_set(error, TB_ERR_INVALID,
                        "'%s' is no value of the field; write true, false or a number", value);
  return TB_OK;
}
