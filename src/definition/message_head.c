#include "definition/message_head.h"

#include <stdio.h>
#include <string.h>

#define HEADER    "std_msgs/msg/Header"
#define TRANSFORM "geometry_msgs/msg/TransformStamped"

static bool is_of(const tb__schema_t *schema, const tb__schema_field_t *field, const char *type)
{
  return field->is.kind == TB__FIELD_STRUCT &&
         strcmp(schema->types[field->is.type].name, type) == 0;
}

static const tb__schema_field_t *find_header(const tb__schema_t *schema)
{
  const tb__schema_type_t *root = &schema->types[schema->root];
  const tb__schema_field_t *first = NULL;
  for (uint32_t i = 0; i < root->field_count; i++) {
    const tb__schema_field_t *field = &schema->fields[root->first_field + i];
    if (field->is.shape != TB__FIELD_SINGLE || !is_of(schema, field, HEADER)) continue;
    if (strcmp(field->name, "header") == 0) return field;
    if (!first) first = field;
  }
  return first;
}

/* A header of another make has no such fields, and is none. */
static tb_status_t make(const tb__schema_t *schema, uint32_t type, const char *path,
                        tb__field_path_t **out, tb_error_t *error)
{
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__field_path_create_in(schema, type, path, out, &detail);
  if (status == TB_ERR_NO_MEMORY) return tb_error_set(error, status, "%s", detail.text);
  return TB_OK;
}

/* Only the fields of ROS's own: a time, and texts. */
static void drop_unless(tb__field_path_t **path, bool is_right)
{
  if (is_right || !*path) return;
  tb__field_path_destroy(*path);
  *path = NULL;
}

static bool is_string(const tb__field_path_t *path)
{
  const tb__field_type_t *type = path ? tb__field_path_type(path) : NULL;
  return type && type->kind == TB__FIELD_STRING && type->shape == TB__FIELD_SINGLE;
}

tb_status_t tb__message_head_init(tb__message_head_t *head, const tb__schema_t *schema,
                                  tb_error_t *error)
{
  char stamp[TB__PATH_NAME_SIZE] = "stamp", frame[TB__PATH_NAME_SIZE] = "frame_id";
  *head = (tb__message_head_t){NULL, NULL};
  if (strcmp(schema->types[schema->root].name, HEADER) != 0) {
    const tb__schema_field_t *field = find_header(schema);
    if (!field) return TB_OK;
    snprintf(stamp, sizeof stamp, "%s.stamp", field->name);
    snprintf(frame, sizeof frame, "%s.frame_id", field->name);
  }
  tb_status_t status = make(schema, schema->root, stamp, &head->stamp, error);
  if (!status) status = make(schema, schema->root, frame, &head->frame_id, error);
  drop_unless(&head->stamp, head->stamp && tb__field_path_is_time(head->stamp));
  drop_unless(&head->frame_id, is_string(head->frame_id));
  if (status) tb__message_head_fini(head);
  return status;
}

void tb__message_head_fini(tb__message_head_t *head)
{
  tb__field_path_destroy(head->stamp);
  tb__field_path_destroy(head->frame_id);
  *head = (tb__message_head_t){NULL, NULL};
}

tb_status_t tb__message_head_stamp(const tb__message_head_t *head, const tb__message_t *message,
                                   int64_t *out_ns)
{
  size_t at = 0;
  if (!head->stamp) return TB_ERR_NOT_FOUND;
  tb_status_t status = tb__field_path_find(head->stamp, message, 0, &at);
  return status ? status : tb__message_any_time(message, &at, out_ns);
}

static tb_status_t text_of(const tb__field_path_t *path, const tb__message_t *message, size_t base,
                           const char **out, size_t *out_length)
{
  size_t at = 0;
  if (!path) return TB_ERR_NOT_FOUND;
  tb_status_t status = tb__field_path_find(path, message, base, &at);
  return status ? status : tb__message_string(message, &at, out, out_length);
}

tb_status_t tb__message_head_frame(const tb__message_head_t *head, const tb__message_t *message,
                                   const char **out, size_t *out_length)
{
  return text_of(head->frame_id, message, 0, out, out_length);
}

/* --- edges --- */

static const tb__schema_field_t *find_transforms(const tb__schema_t *schema)
{
  const tb__schema_type_t *root = &schema->types[schema->root];
  for (uint32_t i = 0; i < root->field_count; i++) {
    const tb__schema_field_t *field = &schema->fields[root->first_field + i];
    if (field->is.shape != TB__FIELD_SINGLE && is_of(schema, field, TRANSFORM)) return field;
  }
  return NULL;
}

tb_status_t tb__edge_paths_init(tb__edge_paths_t *paths, const tb__schema_t *schema,
                                tb_error_t *error)
{
  char all[TB__PATH_NAME_SIZE];
  *paths = (tb__edge_paths_t){NULL, NULL, NULL, NULL};
  const tb__schema_field_t *field = find_transforms(schema);
  if (!field) return TB_OK;
  snprintf(all, sizeof all, "%s[]", field->name);
  tb_status_t status = make(schema, schema->root, all, &paths->all, error);
  if (!status) status = make(schema, field->is.type, "header.stamp", &paths->stamp, error);
  if (!status) status = make(schema, field->is.type, "header.frame_id", &paths->parent, error);
  if (!status) status = make(schema, field->is.type, "child_frame_id", &paths->child, error);
  bool is_right = paths->stamp && tb__field_path_is_time(paths->stamp) &&
                  is_string(paths->parent) && is_string(paths->child);
  if (status || !is_right) tb__edge_paths_fini(paths);
  return status;
}

void tb__edge_paths_fini(tb__edge_paths_t *paths)
{
  tb__field_path_destroy(paths->all);
  tb__field_path_destroy(paths->stamp);
  tb__field_path_destroy(paths->parent);
  tb__field_path_destroy(paths->child);
  *paths = (tb__edge_paths_t){NULL, NULL, NULL, NULL};
}

typedef struct edges {
  const tb__edge_paths_t *paths;
  tb__edge_fn found;
  void *user;
  tb_status_t status;
} edges_t;

static bool read_edge(void *user, const tb__message_t *message, size_t base)
{
  edges_t *edges = user;
  const tb__edge_paths_t *paths = edges->paths;
  tb__edge_t edge = {.stamp_ns = 0};
  size_t at = 0;
  edges->status = tb__field_path_find(paths->stamp, message, base, &at);
  if (!edges->status) edges->status = tb__message_any_time(message, &at, &edge.stamp_ns);
  if (!edges->status)
    edges->status = text_of(paths->parent, message, base, &edge.parent, &edge.parent_length);
  if (!edges->status)
    edges->status = text_of(paths->child, message, base, &edge.child, &edge.child_length);
  return !edges->status && edges->found(edges->user, &edge);
}

tb_status_t tb__edge_paths_each(const tb__edge_paths_t *paths, const tb__message_t *message,
                                tb__edge_fn found, void *user)
{
  edges_t edges = {.paths = paths, .found = found, .user = user};
  if (!paths->all) return TB_ERR_NOT_FOUND;
  tb_status_t status = tb__field_path_each(paths->all, message, 0, read_edge, &edges);
  return status ? status : edges.status;
}
