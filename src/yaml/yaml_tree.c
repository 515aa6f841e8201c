#include "yaml/yaml_tree.h"
#include "base/no_memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

typedef struct builder {
  tb__yaml_t *yaml;
  tb__yaml_node_t *stack[TB__YAML_MAX_DEPTH];
  size_t depth;
  const tb__yaml_node_t *key; /* read, value still to come */
  const tb__yaml_limits_t *limits;
  tb_error_t *error;
} builder_t;

static tb_status_t fail_at(const builder_t *builder, tb_status_t status, yaml_mark_t mark,
                           const char *format, ...) TB_PRINTF(4, 5);

static tb_status_t fail_at(const builder_t *builder, tb_status_t status, yaml_mark_t mark,
                           const char *format, ...)
{
  char text[TB_ERROR_TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!builder->limits->has_columns)
    return tb_error_set(builder->error, status, "line %zu: %s", mark.line + 1, text);
  return tb_error_set(builder->error, status, "line %zu, column %zu: %s", mark.line + 1,
                      mark.column + 1, text);
}

static tb_status_t new_node(builder_t *builder, const yaml_event_t *event, tb__yaml_kind_t kind,
                            tb__yaml_node_t **out)
{
  tb__yaml_t *yaml = builder->yaml;
  if (yaml->node_count >= builder->limits->nodes)
    return fail_at(builder, TB_ERR_LIMIT, event->start_mark, "more than %zu values",
                   builder->limits->nodes);
  bool is_scalar = kind == TB__YAML_SCALAR;
  size_t length = is_scalar ? event->data.scalar.length : 0;
  const char *value = is_scalar ? (const char *)event->data.scalar.value : "";
  char *clean = NULL;
  if (memchr(value, '\0', length)) { /* "\0" is allowed in YAML */
    if (!builder->limits->clean)
      return fail_at(builder, TB_ERR_CORRUPT, event->start_mark, "a NUL in a text");
    value = clean = builder->limits->clean(value, length, NULL);
    length = clean ? strlen(clean) : 0;
    if (!clean) return tb__no_memory(builder->error);
  }
  tb__yaml_node_t *node = calloc(1, sizeof *node + length + 1);
  if (!node) {
    free(clean);
    return tb__no_memory(builder->error);
  }
  node->kind = kind;
  node->line = event->start_mark.line + 1;
  node->column = event->start_mark.column + 1;
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
  if (builder->key) {
    node->key = builder->key->text;
    node->key_line = builder->key->line;
    node->key_column = builder->key->column;
  }
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
    builder->key = node;
  else
    attach(builder, node);
  return TB_OK;
}

static tb_status_t add_collection(builder_t *builder, const yaml_event_t *event,
                                  tb__yaml_kind_t kind)
{
  if (wants_key(builder))
    return fail_at(builder, TB_ERR_CORRUPT, event->start_mark, "a key is not a string");
  if (builder->depth == TB__YAML_MAX_DEPTH)
    return fail_at(builder, TB_ERR_LIMIT, event->start_mark, "more than %d levels",
                   TB__YAML_MAX_DEPTH);
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
      return fail_at(builder, TB_ERR_CORRUPT, event->start_mark, "a second document");
    return TB_OK;
  case YAML_ALIAS_EVENT:
    return fail_at(builder, TB_ERR_CORRUPT, event->start_mark, "aliases are not allowed");
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

/* What is no text in an encoding of YAML has an offset and no mark. */
static yaml_mark_t problem_mark(const yaml_parser_t *parser, const unsigned char *bytes,
                                size_t size)
{
  yaml_mark_t mark = {0};
  if (parser->error != YAML_READER_ERROR) return parser->problem_mark;
  for (size_t i = 0; i < size && i < parser->problem_offset; i++) {
    mark.column++;
    if (bytes[i] != '\n') continue;
    mark.column = 0;
    mark.line++;
  }
  return mark;
}

static tb_status_t run_parser(yaml_parser_t *parser, builder_t *builder, const void *bytes,
                              size_t size)
{
  for (;;) {
    yaml_event_t event;
    if (!yaml_parser_parse(parser, &event)) {
      if (parser->error == YAML_MEMORY_ERROR) return tb__no_memory(builder->error);
      return fail_at(builder, TB_ERR_CORRUPT, problem_mark(parser, bytes, size), "%s",
                     parser->problem ? parser->problem : "not YAML");
    }
    yaml_event_type_t type = event.type;
    tb_status_t status = add_event(builder, &event);
    yaml_event_delete(&event);
    if (status || type == YAML_STREAM_END_EVENT) return status;
  }
}

tb_status_t tb__yaml_parse(const void *bytes, size_t size, const tb__yaml_limits_t *limits,
                           tb__yaml_t *out, tb_error_t *error)
{
  if (size > limits->size)
    return tb_error_set(error, TB_ERR_LIMIT, "%zu bytes of YAML: more than %zu", size,
                        limits->size);
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser)) return tb__no_memory(error);
  yaml_parser_set_input_string(&parser, bytes, size);
  tb__yaml_t yaml = {0};
  builder_t builder = {.yaml = &yaml, .limits = limits, .error = error};
  tb_status_t status = run_parser(&parser, &builder, bytes, size);
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
