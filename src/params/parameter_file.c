#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "params/node_pattern.h"
#include "params/parameter_reader.h"
#include "params/parameter_sections.h"
#include "platform/input_file.h"

#define PARAMETERS_KEY "ros__parameters"
#define DEPTH_MAX      32
#define NAME_MAX_SIZE  1024
#define NAMES_MAX_SIZE ((size_t)16 << 20) /* of all names: long prefixes are repeated in each */

/* The name at the position of the reader: of the node, or of the parameter. */
typedef struct path {
  char text[NAME_MAX_SIZE];
  size_t length;
} path_t;

typedef struct file {
  tb__parameter_reader_t reader;
  tb__parameter_sections_t *sections;
  path_t node, parameter;
  size_t depth;
  size_t names_size;
} file_t;

static tb_status_t path_push(file_t *file, path_t *path, char separator, const char *name)
{
  size_t length = strlen(name);
  size_t room = NAME_MAX_SIZE - path->length;
  if (length + 2 > room)
    return tb__parameter_reader_fail(&file->reader, TB_ERR_LIMIT,
                                     "a name of more than %d characters", NAME_MAX_SIZE - 2);
  bool has_slash = separator == '/' && path->length > 0 && path->text[path->length - 1] == '/';
  if (path->length > 0 && !has_slash) path->text[path->length++] = separator;
  memcpy(path->text + path->length, name, length + 1);
  path->length += length;
  return TB_OK;
}

static void path_pop(path_t *path, size_t length)
{
  path->length = length;
  path->text[length] = '\0';
}

static tb_status_t enter(file_t *file)
{
  if (file->depth == DEPTH_MAX)
    return tb__parameter_reader_fail(&file->reader, TB_ERR_LIMIT, "more than %d levels", DEPTH_MAX);
  file->depth++;
  return TB_OK;
}

/* The next event is a key, whose text is copied to `key`, or the end of the mapping. */
static tb_status_t next_key(file_t *file, char key[NAME_MAX_SIZE], bool *at_end)
{
  tb__parameter_reader_t *reader = &file->reader;
  tb_status_t status = tb__parameter_reader_next(reader);
  if (status) return status;
  *at_end = reader->event.type == YAML_MAPPING_END_EVENT;
  if (*at_end) return TB_OK;
  if (reader->event.type != YAML_SCALAR_EVENT)
    return tb__parameter_reader_fail(reader, TB_ERR_INVALID,
                                     "a list or mapping in place of a name");
  const char *text = tb__parameter_reader_text(reader);
  if (!text) return TB_ERR_INVALID;
  size_t length = strlen(text);
  if (length == 0) return tb__parameter_reader_fail(reader, TB_ERR_INVALID, "an empty name");
  if (length >= NAME_MAX_SIZE)
    return tb__parameter_reader_fail(reader, TB_ERR_LIMIT, "a name of more than %d characters",
                                     NAME_MAX_SIZE - 2);
  memcpy(key, text, length + 1);
  return TB_OK;
}

static tb_status_t add_parameter(file_t *file)
{
  tb__parameter_reader_t *reader = &file->reader;
  file->names_size += file->parameter.length + 1;
  if (file->names_size > NAMES_MAX_SIZE)
    return tb__parameter_reader_fail(reader, TB_ERR_LIMIT,
                                     "names of parameters of more than %zu bytes", NAMES_MAX_SIZE);
  tb_ros2_parameter_value_t value;
  tb_status_t status = tb__parameter_reader_value(reader, &value);
  if (status) return status;
  status = tb__parameter_sections_add_value(file->sections, file->parameter.text, &value);
  if (!status) return TB_OK;
  tb_ros2_parameter_value_release(&value);
  return tb_error_set(reader->error, status, "out of memory");
}

/* The current event is the start of a mapping of parameters. */
static tb_status_t read_parameters(file_t *file)
{
  char key[NAME_MAX_SIZE];
  bool at_end = false;
  tb_status_t status = enter(file);
  while (!status) {
    size_t before = file->parameter.length;
    status = next_key(file, key, &at_end);
    if (status || at_end) break;
    status = path_push(file, &file->parameter, '.', key);
    if (!status) status = tb__parameter_reader_next(&file->reader);
    if (!status)
      status = file->reader.event.type == YAML_MAPPING_START_EVENT ? read_parameters(file)
                                                                   : add_parameter(file);
    path_pop(&file->parameter, before);
  }
  file->depth--;
  return status;
}

/* After the key "ros__parameters". */
static tb_status_t read_section(file_t *file)
{
  tb__parameter_reader_t *reader = &file->reader;
  if (file->node.length == 0)
    return tb__parameter_reader_fail(reader, TB_ERR_INVALID,
                                     PARAMETERS_KEY
                                     " without the name of a node above it, such as '/**'");
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__node_pattern_check(file->node.text, &detail);
  if (status) return tb__parameter_reader_fail(reader, status, "%s", detail.text);
  status = tb__parameter_reader_next(reader);
  if (status) return status;
  if (reader->event.type != YAML_MAPPING_START_EVENT)
    return tb__parameter_reader_fail(reader, TB_ERR_INVALID,
                                     PARAMETERS_KEY
                                     " of '%s' must be a mapping of names to values; {} for none",
                                     file->node.text);
  status = tb__parameter_sections_add(file->sections, file->node.text);
  if (status) return tb_error_set(reader->error, status, "out of memory");
  return read_parameters(file);
}

static tb_status_t read_nodes(file_t *file);

static tb_status_t read_node(file_t *file, const char *key)
{
  tb__parameter_reader_t *reader = &file->reader;
  size_t before = file->node.length;
  tb_status_t status = path_push(file, &file->node, '/', key);
  if (!status) status = tb__parameter_reader_next(reader);
  if (!status && reader->event.type != YAML_MAPPING_START_EVENT)
    status = tb__parameter_reader_fail(
        reader, TB_ERR_INVALID,
        "'%s' is the name of a node or namespace, which has " PARAMETERS_KEY
        " or nodes below it and no value",
        file->node.text);
  if (!status) status = read_nodes(file);
  path_pop(&file->node, before);
  return status;
}

/* The current event is the start of a mapping of nodes and namespaces. */
static tb_status_t read_nodes(file_t *file)
{
  char key[NAME_MAX_SIZE];
  bool at_end = false;
  tb_status_t status = enter(file);
  while (!status) {
    status = next_key(file, key, &at_end);
    if (status || at_end) break;
    status = strcmp(key, PARAMETERS_KEY) == 0 ? read_section(file) : read_node(file, key);
  }
  file->depth--;
  return status;
}

/* The current event begins the content of a document. */
static tb_status_t read_root(file_t *file)
{
  const yaml_event_t *event = &file->reader.event;
  if (event->type == YAML_MAPPING_START_EVENT) return read_nodes(file);
  if (event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0) return TB_OK;
  return tb__parameter_reader_fail(&file->reader, TB_ERR_INVALID,
                                   "a parameter file must be a mapping from node names");
}

static tb_status_t read_stream(file_t *file)
{
  tb_status_t status = TB_OK;
  while (!status) {
    status = tb__parameter_reader_next(&file->reader);
    if (status || file->reader.event.type == YAML_STREAM_END_EVENT) break;
    if (file->reader.event.type != YAML_DOCUMENT_START_EVENT) continue;
    status = tb__parameter_reader_next(&file->reader);
    if (!status) status = read_root(file);
  }
  return status;
}

tb_status_t tb__parameter_sections_parse(tb__parameter_sections_t *sections, const void *bytes,
                                         size_t size, tb_error_t *error)
{
  file_t *file = calloc(1, sizeof *file);
  if (!file) return tb__no_memory(error);
  file->sections = sections;
  tb_status_t status = tb__parameter_reader_init(&file->reader, bytes, size, true, error);
  if (!status) {
    status = read_stream(file);
    tb__parameter_reader_fini(&file->reader);
  }
  free(file);
  return status;
}

tb_status_t tb__parameter_sections_read(tb__parameter_sections_t *sections, const char *path,
                                        tb_error_t *error)
{
  char *bytes = NULL;
  size_t size = 0;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = tb__input_file_read(path, TB__PARAMETER_YAML_SIZE_MAX, &bytes, &size, error);
  if (status) return status;
  status = tb__parameter_sections_parse(sections, bytes, size, &detail);
  free(bytes);
  return status ? tb_error_set(error, status, "%s: %s", path, detail.text) : TB_OK;
}
