#include "definition/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

const char *tb__definition_origin_text(tb__definition_origin_t origin)
{
  static const char *const texts[] = {[TB__DEFINITION_UNKNOWN] = "definition unknown",
                                      [TB__DEFINITION_RECORDING] = "the recording",
                                      [TB__DEFINITION_NODE] = "a node",
                                      [TB__DEFINITION_INSTALLED] = "AMENT_PREFIX_PATH",
                                      [TB__DEFINITION_FOLDER] = "--definitions",
                                      [TB__DEFINITION_BUILT_IN] = "built in"};
  size_t index = (size_t)origin;
  return texts[index < sizeof texts / sizeof *texts ? index : TB__DEFINITION_UNKNOWN];
}

static tb_status_t parse(const char *type, const char *text, const char *encoding,
                         tb__definition_origin_t origin, tb__definition_t *out)
{
  tb_error_t failure = TB_ERROR_INIT;
  tb_status_t status =
      tb__schema_parse(type, encoding ? encoding : "", text, strlen(text), &out->schema, &failure);
  if (!status) {
    out->origin = origin;
    return TB_OK;
  }
  if (status == TB_ERR_NO_MEMORY) return status;
  snprintf(out->note, sizeof out->note, "%s: %.450s", tb__definition_origin_text(origin),
           failure.text);
  return TB_ERR_NOT_FOUND;
}

/* None is there if it is empty: of a file that is a type without fields. */
static tb_status_t parse_given(const char *type, const char *text, const char *encoding,
                               tb__definition_origin_t origin, tb__definition_t *out)
{
  return text && text[0] ? parse(type, text, encoding, origin, out) : TB_ERR_NOT_FOUND;
}

static tb_status_t find(const tb__definition_request_t *request, tb__definition_origin_t origin,
                        tb__definition_t *out)
{
  char type[TB__DEFINITION_NAME_SIZE];
  tb__found_definition_t found;
  if (!tb__definition_full_name(request->type, type)) return TB_ERR_NOT_FOUND;
  tb_status_t status = tb__message_definition_find(type, origin, &request->places, &found);
  if (status) return status == TB_ERR_NO_MEMORY ? status : TB_ERR_NOT_FOUND;
  status = parse(request->type, found.text, found.encoding, origin, out);
  free(found.text);
  return status;
}

tb_status_t tb__definition_resolve_at(const tb__definition_request_t *request,
                                      tb__definition_origin_t origin, tb__definition_t *out)
{
  *out = (tb__definition_t){.schema = NULL};
  switch (origin) {
  case TB__DEFINITION_RECORDING:
    return parse_given(request->type, request->recorded, request->recorded_encoding, origin, out);
  case TB__DEFINITION_NODE:
    return parse_given(request->type, request->described, TB__MESSAGE_DEFINITION_ENCODING, origin,
                       out);
  case TB__DEFINITION_UNKNOWN:
    return TB_ERR_NOT_FOUND;
  default:
    return find(request, origin, out);
  }
}

tb_status_t tb__definition_resolve(const tb__definition_request_t *request, tb__definition_t *out,
                                   tb_error_t *error)
{
  tb__definition_t found;
  char note[sizeof found.note] = ""; /* the first failure */
  tb_status_t status = TB_ERR_NOT_FOUND;
  for (int origin = TB__DEFINITION_RECORDING;
       origin <= TB__DEFINITION_BUILT_IN && status == TB_ERR_NOT_FOUND; origin++) {
    status = tb__definition_resolve_at(request, (tb__definition_origin_t)origin, &found);
    if (!note[0]) memcpy(note, found.note, sizeof note);
  }
  if (status == TB_ERR_NO_MEMORY) return tb__no_memory_for(error, "message definition");
  if (status)
    return tb_error_set(error, status, "definition of %.150s unknown%s%.300s", request->type,
                        note[0] ? ": " : "", note);
  memcpy(found.note, note, sizeof note);
  *out = found;
  return TB_OK;
}
