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

/* A text that was found. The first failure is noted. */
static tb_status_t parse(const tb__definition_request_t *request, const char *text,
                         const char *encoding, tb__definition_origin_t origin,
                         tb__definition_t *out)
{
  tb_error_t failure = TB_ERROR_INIT;
  tb_status_t status =
      tb__schema_parse(request->type, encoding, text, strlen(text), &out->schema, &failure);
  if (!status) {
    out->origin = origin;
    return TB_OK;
  }
  if (status == TB_ERR_NO_MEMORY) return status;
  if (!out->note[0])
    snprintf(out->note, sizeof out->note, "%s: %.450s", tb__definition_origin_text(origin),
             failure.text);
  return TB_ERR_NOT_FOUND;
}

static tb_status_t ask(const tb__definition_request_t *request, tb__definition_t *out)
{
  char *text = NULL, *encoding = NULL;
  if (!request->ask) return TB_ERR_NOT_FOUND;
  tb_status_t status = request->ask(request->user, request->type, &text, &encoding);
  if (status) return status == TB_ERR_NO_MEMORY ? status : TB_ERR_NOT_FOUND;
  status = parse(request, text, encoding, TB__DEFINITION_NODE, out);
  free(text);
  free(encoding);
  return status;
}

static tb_status_t find(const tb__definition_request_t *request, bool is_idl, tb__definition_t *out)
{
  char *text = NULL, type[TB__DEFINITION_NAME_SIZE];
  tb__definition_origin_t origin = TB__DEFINITION_UNKNOWN;
  if (!tb__definition_full_name(request->type, type)) return TB_ERR_NOT_FOUND;
  tb_status_t status = tb__message_definition_find(type, is_idl, &request->places, &text, &origin);
  if (status) return status == TB_ERR_NO_MEMORY ? status : TB_ERR_NOT_FOUND;
  status = parse(request, text, is_idl ? TB__MESSAGE_IDL_ENCODING : TB__MESSAGE_DEFINITION_ENCODING,
                 origin, out);
  free(text);
  return status;
}

tb_status_t tb__definition_resolve(const tb__definition_request_t *request, tb__definition_t *out,
                                   tb_error_t *error)
{
  tb__definition_t found = {.schema = NULL};
  tb_status_t status = TB_ERR_NOT_FOUND;
  if (request->recorded && request->recorded[0])
    status = parse(request, request->recorded,
                   request->recorded_encoding ? request->recorded_encoding : "",
                   TB__DEFINITION_RECORDING, &found);
  if (status == TB_ERR_NOT_FOUND) status = ask(request, &found);
  if (status == TB_ERR_NOT_FOUND) status = find(request, false, &found);
  if (status == TB_ERR_NOT_FOUND) status = find(request, true, &found);
  if (status == TB_ERR_NO_MEMORY) return tb__no_memory_for(error, "message definition");
  if (status)
    return tb_error_set(error, status, "definition of %.150s unknown%s%.300s", request->type,
                        found.note[0] ? ": " : "", found.note);
  *out = found;
  return TB_OK;
}
