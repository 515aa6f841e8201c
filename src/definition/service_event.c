#include "definition/service_event.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

#define ENCAPSULATION_SIZE 4
#define LENGTH_SIZE        4 /* before a sequence and a text */
#define WIDE_SIZE          4

struct tb__service_event {
  const tb__schema_t *schema;
  const tb__schema_field_t *type, *request, *response;
  const tb__message_t *message; /* that is read */
  bool is_in_request, has_request, is_out_of_memory;
  int found_type;
  uint8_t *data;
  size_t size, room;
};

static const tb__schema_field_t *find(const tb__schema_t *schema, uint32_t type, const char *name)
{
  return tb__schema_find_field(schema, type, name, strlen(name));
}

static bool is_part(const tb__schema_field_t *field)
{
  return field && field->is.kind == TB__FIELD_STRUCT && field->is.shape == TB__FIELD_SEQUENCE;
}

tb_status_t tb__service_event_create(const tb__schema_t *schema, tb__service_event_t **out,
                                     tb_error_t *error)
{
  const tb__schema_field_t *info = find(schema, schema->root, "info"), *type = NULL;
  const tb__schema_field_t *request = find(schema, schema->root, "request");
  const tb__schema_field_t *response = find(schema, schema->root, "response");
  if (info && info->is.kind == TB__FIELD_STRUCT && info->is.shape == TB__FIELD_SINGLE)
    type = find(schema, info->is.type, "event_type");
  bool is_event = type && type->is.kind == TB__FIELD_UINT8 && type->is.shape == TB__FIELD_SINGLE &&
                  is_part(request) && is_part(response);
  if (!is_event || schema->is_ros1)
    return tb_error_set(error, TB_ERR_UNSUPPORTED, "%.150s is not the event of a service",
                        schema->types[schema->root].name);
  tb__service_event_t *event = calloc(1, sizeof *event);
  if (!event) return tb__no_memory_for(error, "service event");
  *event = (tb__service_event_t){
      .schema = schema, .type = type, .request = request, .response = response};
  *out = event;
  return TB_OK;
}

void tb__service_event_destroy(tb__service_event_t *event)
{
  if (!event) return;
  free(event->data);
  free(event);
}

/* Zeros up to the next multiple of `width` after the encapsulation, and `size` bytes. */
static void put(tb__service_event_t *event, uint32_t width, const uint8_t *from, size_t size)
{
  size_t at = event->size - ENCAPSULATION_SIZE;
  size_t padding = (0 - at) & (size_t)(width - 1), end = event->size + padding + size;
  if (end > event->room) {
    uint8_t *grown = realloc(event->data, 2 * end);
    if (!grown) {
      event->is_out_of_memory = true;
      return;
    }
    event->data = grown;
    event->room = 2 * end;
  }
  memset(event->data + event->size, 0, padding);
  if (size > 0) memcpy(event->data + event->size + padding, from, size);
  event->size = end;
}

static void put_length(tb__service_event_t *event, uint32_t length)
{
  uint8_t bytes[LENGTH_SIZE];
  for (int i = 0; i < LENGTH_SIZE; i++)
    bytes[event->message->big_endian ? LENGTH_SIZE - 1 - i : i] = (uint8_t)(length >> (8 * i));
  put(event, LENGTH_SIZE, bytes, LENGTH_SIZE);
}

static void copy(tb__service_event_t *event, const tb__visited_t *visited)
{
  const uint8_t *from = event->message->body + visited->at;
  uint32_t width = tb__field_width(visited->field->is.kind), count = visited->count;
  if (visited->kind == TB__VISITED_LENGTH) {
    put_length(event, count);
  } else if (visited->kind == TB__VISITED_NUMBERS) {
    if (count > 0) put(event, width, from, (size_t)count * width);
  } else if (visited->field->is.kind == TB__FIELD_STRING) {
    put_length(event, count + 1);
    put(event, 1, from, count);
    put(event, 1, (const uint8_t *)"", 1);
  } else {
    put_length(event, count / (event->message->has_short_wide ? 1 : WIDE_SIZE));
    put(event, 1, from, count);
  }
}

static void visit(void *user, const tb__visited_t *visited)
{
  tb__service_event_t *event = user;
  if (visited->field == event->type && event->found_type < 0)
    event->found_type = event->message->body[visited->at];
  if (visited->field == event->response) event->is_in_request = false;
  if (event->is_in_request && !event->is_out_of_memory) copy(event, visited);
  if (visited->field != event->request) return;
  event->has_request = visited->count == 1;
  event->is_in_request = event->has_request;
}

tb_status_t tb__service_event_read(tb__service_event_t *event, const void *cdr, size_t size,
                                   int *out_type, const void **out, size_t *out_size,
                                   tb_error_t *error)
{
  tb__message_t message;
  tb_status_t status = tb__message_open(&message, event->schema, cdr, size);
  if (status) return tb_error_set(error, status, "%s", tb_status_message(status));
  event->message = &message;
  event->is_in_request = event->has_request = event->is_out_of_memory = false;
  event->found_type = -1;
  event->size = ENCAPSULATION_SIZE; /* places count from after it */
  put(event, 1, NULL, 0);
  if (!event->is_out_of_memory) memcpy(event->data, cdr, ENCAPSULATION_SIZE);
  status = tb__message_walk(&message, visit, event, error);
  event->message = NULL;
  if (!status && event->is_out_of_memory) return tb__no_memory_for(error, "service request");
  if (status) return status;
  *out_type = event->found_type;
  *out = event->has_request ? event->data : NULL;
  *out_size = event->has_request ? event->size : 0;
  return TB_OK;
}
