/* A definition, and a message of it: a byte that chooses the encoding, the text up to a NUL, the
 * bytes of the message. What is read of it agrees, and stays inside. */
#include <stdlib.h>
#include <string.h>

#include "definition/message_definition.h"
#include "definition/message_head.h"
#include "definition/parse.h"
#include "fuzz.h"

static bool note_edge(void *user, const tb__edge_t *edge)
{
  if (strlen(edge->parent) > edge->parent_length || strlen(edge->child) > edge->child_length)
    abort();
  ++*(size_t *)user;
  return true;
}

static void read_head(const tb__schema_t *schema, const tb__message_t *message)
{
  tb__message_head_t head;
  int64_t stamp_ns = 0;
  const char *frame = NULL;
  size_t length = 0;
  if (tb__message_head_init(&head, schema, NULL) != TB_OK) return;
  if (tb__message_head_stamp(&head, message, &stamp_ns) == TB_OK && !head.stamp) abort();
  if (tb__message_head_frame(&head, message, &frame, &length) == TB_OK && !schema->is_ros1 &&
      frame[length])
    abort();
  tb__message_head_fini(&head);
}

static void read_edges(const tb__schema_t *schema, const tb__message_t *message)
{
  tb__edge_paths_t paths;
  size_t count = 0;
  if (tb__edge_paths_init(&paths, schema, NULL) != TB_OK) return;
  if (tb__edge_paths_each(&paths, message, note_edge, &count) == TB_OK && count > message->size)
    abort();
  tb__edge_paths_fini(&paths);
}

static void read_fields(const tb__schema_t *schema, const tb__message_t *message)
{
  const tb__schema_type_t *root = &schema->types[schema->root];
  for (uint32_t i = 0; i < root->field_count && i < 16; i++) {
    const tb__schema_field_t *field = &schema->fields[root->first_field + i];
    tb__field_path_t *path = NULL;
    size_t at = 0;
    if (tb__field_path_create(schema, field->name, &path, NULL) != TB_OK) continue;
    if (tb__field_path_find(path, message, 0, &at) == TB_OK && at > message->size) abort();
    tb__field_path_destroy(path);
  }
}

static void read_message(const tb__schema_t *schema, const uint8_t *bytes, size_t size)
{
  tb__message_t message;
  tb_error_t error = TB_ERROR_INIT;
  if (tb__message_open(&message, schema, bytes, size) != TB_OK) return;
  tb_status_t status = tb__message_walk(&message, NULL, NULL, &error);
  const tb__schema_type_t *root = &schema->types[schema->root];
  size_t at = 0;
  tb_status_t skipped =
      tb__message_skip(&message, &schema->skips[root->first_skip], root->skip_count, &at);
  if (at > message.size) abort();
  if (!status && (skipped || message.size - at > 3)) abort();
  if (status && !error.text[0]) abort();
  read_head(schema, &message);
  read_edges(schema, &message);
  read_fields(schema, &message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  tb__schema_t *schema = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (size == 0) return 0;
  const char *encoding = data[0] == 'i'   ? TB__MESSAGE_IDL_ENCODING
                         : data[0] == 'm' ? TB__MESSAGE_MIXED_ENCODING
                         : data[0] == '1' ? TB__MESSAGE_ROS1_ENCODING
                                          : TB__MESSAGE_DEFINITION_ENCODING;
  const char *text = (const char *)data + 1;
  size_t length = strnlen(text, size - 1);
  tb_status_t status = tb__schema_parse("p/msg/T", encoding, text, length, &schema, &error);
  if (status) {
    if (!strstr(error.text, "p/msg/T")) abort();
    return 0;
  }
  size_t used = 1 + length + (length + 1 < size);
  read_message(schema, data + used, size - used);
  tb__schema_destroy(schema);
  return 0;
}
