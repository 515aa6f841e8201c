#include "bag/yaml_tree.h"
#include "base/no_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "storage/clean.h"

typedef struct builder {
  tb__yaml_t *yaml;
  tb__yaml_node_t *stack[TB__YAML_MAX_DEPTH];
  size_t depth;
  const char *key; /* read, value still to come */
  tb_error_t *error;
} builder_t;

static size_t line_of(const yaml_event_t *event)
{
  return event->start_mark.line + 1;
}

static tb_status_t new_node(builder_t *builder, const yaml_event_t *event, tb__yaml_kind_t kind,
                            tb__yaml_node_t **out)
{
  tb__yaml_t *yaml = builder->yaml;
  if (yaml->node_count >= TB__YAML_MAX_NODES)
    return tb_error_set(builder->error, TB_ERR_LIMIT, "line %zu: more than %d values",
                        line_of(event), TB__YAML_MAX_NODES);
  bool is_scalar = kind == TB__YAML_SCALAR;
  size_t length = is_scalar ? event->data.scalar.length : 0;
  const char *value = is_scalar ? (const char *)event->data.scalar.value : "";
  char *clean = NULL;
  if (memchr(value, '\0', length)) { /* "\0" is allowed in YAML */
    value = clean = tb__bag_clean(value, length, NULL);
    length = clean ? strlen(clean) : 0;
    if (!clean) return tb__no_memory(builder->error);
  }
  tb__yaml_node_t *node = calloc(1, sizeof *node + length + 1);
  if (!node) {
    free(clean);
    return tb__no_memory(builder->error);
  }
  node->kind = kind;
  node->line = line_of(event);
  node->plain = is_scalar && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  memcpy(node->text, value, length);
  free(clean);
  node->allocated_before = yaml->allocated;
  yaml->allocated = node;
  yaml->node_count++;
  *out = node;
  return TB_OK;
}

static void attach(builder_t *builder, tb__yaml_node_t *node)
{
  if (builder->depth == 0) {
    builder->yaml->root = node;
    return;
  }
  tb__yaml_node_t *parent = builder->stack[builder->depth - 1];
  node->key = builder->key;
  builder->key = NULL;
  if (parent->last)
    parent->last->next = node;
  else
    parent->first = node;
  parent->last = node;
}

static bool wants_key(const builder_t *builder)
{
  return builder->depth > 0 && !builder->key &&
         builder->stack[builder->depth - 1]->kind == TB__YAML_MAPPING;
}

static tb_status_t add_scalar(builder_t *builder, const yaml_event_t *event)
{
  tb__yaml_node_t *node = NULL;
  tb_status_t status = new_node(builder, event, TB__YAML_SCALAR, &node);
  if (status) return status;
  if (wants_key(builder))
    builder->key = node->text;
  else
    attach(builder, node);
  return TB_OK;
}

static tb_status_t add_collection(builder_t *builder, const yaml_event_t *event,
                                  tb__yaml_kind_t kind)
{
  if (wants_key(builder))
    return tb_error_set(builder->error, TB_ERR_CORRUPT, "line %zu: a key is not a string",
                        line_of(event));
  if (builder->depth == TB__YAML_MAX_DEPTH)
    return tb_error_set(builder->error, TB_ERR_LIMIT, "line %zu: more than %d levels",
                        line_of(event), TB__YAML_MAX_DEPTH);
  tb__yaml_node_t *node = NULL;
  tb_status_t status = new_node(builder, event, kind, &node);
  if (status) return status;
  attach(builder, node);
  builder->stack[builder->depth++] = node;
  return TB_OK;
}

static tb_status_t add_event(builder_t *builder, const yaml_event_t *event)
{
  switch (event->type) {
  case YAML_DOCUMENT_START_EVENT:
    if (builder->yaml->root)
      return tb_error_set(builder->error, TB_ERR_CORRUPT, "line %zu: a second document",
                          line_of(event));
    return TB_OK;
  case YAML_ALIAS_EVENT:
    return tb_error_set(builder->error, TB_ERR_CORRUPT, "line %zu: aliases are not allowed",
                        line_of(event));
  case YAML_SCALAR_EVENT:
    return add_scalar(builder, event);
  case YAML_SEQUENCE_START_EVENT:
    return add_collection(builder, event, TB__YAML_SEQUENCE);
  case YAML_MAPPING_START_EVENT:
    return add_collection(builder, event, TB__YAML_MAPPING);
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT:
    if (builder->depth > 0) builder->depth--;
    return TB_OK;
  default:
    return TB_OK;
  }
}

static tb_status_t parser_error(const yaml_parser_t *parser, tb_error_t *error)
{
  if (parser->error == YAML_MEMORY_ERROR) return tb__no_memory(error);
  return tb_error_set(error, TB_ERR_CORRUPT, "line %zu: %s", parser->problem_mark.line + 1,
                      parser->problem ? parser->problem : "not YAML");
}

static tb_status_t run_parser(yaml_parser_t *parser, builder_t *builder)
{
  for (;;) {
    yaml_event_t event;
    if (!yaml_parser_parse(parser, &event)) return parser_error(parser, builder->error);
    yaml_event_type_t type = event.type;
    tb_status_t status = add_event(builder, &event);
    yaml_event_delete(&event);
    if (status || type == YAML_STREAM_END_EVENT) return status;
  }
}

tb_status_t tb__yaml_parse(const void *bytes, size_t size, tb__yaml_t *out, tb_error_t *error)
{
  if (size > TB__YAML_MAX_SIZE)
    return tb_error_set(error, TB_ERR_LIMIT, "%zu bytes of YAML: more than %zu", size,
                        TB__YAML_MAX_SIZE);
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser)) return tb__no_memory(error);
  yaml_parser_set_input_string(&parser, bytes, size);
  tb__yaml_t yaml = {0};
  builder_t builder = {.yaml = &yaml, .error = error};
  tb_status_t status = run_parser(&parser, &builder);
  yaml_parser_delete(&parser);
  if (status)
    tb__yaml_fini(&yaml);
  else
    *out = yaml;
  return status;
}

void tb__yaml_fini(tb__yaml_t *yaml)
{
  tb__yaml_node_t *node = yaml->allocated;
  while (node) {
    tb__yaml_node_t *before = node->allocated_before;
    free(node);
    node = before;
  }
  *yaml = (tb__yaml_t){0};
}

const tb__yaml_node_t *tb__yaml_find(const tb__yaml_node_t *map, const char *key)
{
  if (!map || map->kind != TB__YAML_MAPPING) return NULL;
  for (const tb__yaml_node_t *node = map->first; node; node = node->next)
    if (strcmp(node->key, key) == 0) return node;
  return NULL;
}

const char *tb__yaml_text(const tb__yaml_node_t *node)
{
  return node && node->kind == TB__YAML_SCALAR ? node->text : NULL;
}

bool tb__yaml_is_null(const tb__yaml_node_t *node)
{
  const char *text = tb__yaml_text(node);
  return !node || (text && node->plain &&
                   (*text == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0));
}

bool tb__yaml_to_int64(const tb__yaml_node_t *node, int64_t *out)
{
  const char *text = tb__yaml_text(node);
  if (!text || strspn(text, "-0123456789") != strlen(text)) return false;
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end || errno) return false;
  *out = value;
  return true;
}

bool tb__yaml_to_uint64(const tb__yaml_node_t *node, uint64_t *out)
{
  const char *text = tb__yaml_text(node);
  if (!text || strspn(text, "0123456789") != strlen(text)) return false;
  char *end = NULL;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (end == text || *end || errno) return false;
  *out = value;
  return true;
}
