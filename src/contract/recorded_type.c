#include "contract/recorded_type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void drop_schema(tb__recorded_type_t *type)
{
  tb__message_head_fini(&type->head);
  tb__edge_paths_fini(&type->edges);
  tb__schema_destroy(type->schema);
  memset(&type->head, 0, sizeof type->head);
  memset(&type->edges, 0, sizeof type->edges);
  type->schema = NULL;
  type->origin = TB__DEFINITION_UNKNOWN;
}

void tb__recorded_type_fini(tb__recorded_type_t *type)
{
  drop_schema(type);
  free(type->note);
  memset(type, 0, sizeof *type);
}

/* The first one stays. */
static void set_note(tb__recorded_type_t *type, const char *before, const char *text)
{
  if (type->note || !*text) return;
  size_t size = strlen(before) + strlen(text) + 1;
  type->note = malloc(size);
  if (type->note) snprintf(type->note, size, "%s%s", before, text);
}

/* TB_ERR_CORRUPT: the definition does not fit. Otherwise it is the type's now. */
static tb_status_t take_if_it_fits(tb__recorded_type_t *type, const tb__definition_t *definition,
                                   const void *cdr, size_t size)
{
  tb__message_t message;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb__message_open(&message, definition->schema, cdr, size);
  if (!status) status = tb__message_walk(&message, NULL, NULL, &error);
  if (status) {
    if (definition->origin == TB__DEFINITION_RECORDING)
      set_note(type, "the recorded definition does not fit the messages: ",
               error.text[0] ? error.text : tb_status_name(status));
    tb__schema_destroy(definition->schema);
    return TB_ERR_CORRUPT;
  }
  type->schema = definition->schema;
  type->origin = definition->origin;
  status = tb__message_head_init(&type->head, type->schema, NULL);
  if (!status) status = tb__edge_paths_init(&type->edges, type->schema, NULL);
  if (status) drop_schema(type);
  return status;
}

static tb_status_t try_request(tb__recorded_type_t *type, const tb__definition_request_t *request,
                               const void *cdr, size_t size, tb__definition_origin_t *out_origin)
{
  tb__definition_t definition;
  tb_error_t error = TB_ERROR_INIT;
  *out_origin = TB__DEFINITION_UNKNOWN;
  tb_status_t status = tb__definition_resolve(request, &definition, &error);
  if (status == TB_ERR_NO_MEMORY) return status;
  if (status) {
    set_note(type, "", error.text);
    return TB_ERR_NOT_FOUND;
  }
  set_note(type, "", definition.note);
  *out_origin = definition.origin;
  return take_if_it_fits(type, &definition, cdr, size);
}

tb_status_t tb__recorded_type_choose(tb__recorded_type_t *type,
                                     const tb__definition_request_t *request, const void *cdr,
                                     size_t size)
{
  tb__definition_origin_t origin;
  drop_schema(type);
  tb_status_t status = try_request(type, request, cdr, size, &origin);
  if (status == TB_ERR_CORRUPT && origin == TB__DEFINITION_RECORDING) {
    tb__definition_request_t other = *request;
    other.recorded = NULL;
    status = try_request(type, &other, cdr, size, &origin);
  }
  if (status == TB_ERR_NO_MEMORY) return status;
  if (status && (++type->tries == TB__RECORDED_TYPE_TRIES || status == TB_ERR_NOT_FOUND))
    type->is_given_up = true;
  return TB_OK;
}
