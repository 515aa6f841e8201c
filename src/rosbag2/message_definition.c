#include "rosbag2/message_definition.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/input_file.h"

#define TYPES_MAX 256
#define TEXT_MAX  ((size_t)1 << 20)
#define RULE      "================================================================================"

typedef struct definition {
  char names[TYPES_MAX][TB__MESSAGE_NAME_SIZE]; /* "package/Name", in the order of their texts */
  size_t count;
  char *text;
  size_t size;
} definition_t;

typedef struct built_in {
  const char *name, *text;
} built_in_t;

static const built_in_t built_ins[] = {
    {"builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n"},
    {"builtin_interfaces/Duration", "int32 sec\nuint32 nanosec\n"},
    {"rosgraph_msgs/Clock", "builtin_interfaces/Time clock\n"},
    {"std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"},
    {"std_msgs/String", "string data\n"},
    {"tf2_msgs/TFMessage", "geometry_msgs/TransformStamped[] transforms\n"},
    {"geometry_msgs/TransformStamped",
     "std_msgs/Header header\nstring child_frame_id\nTransform transform\n"},
    {"geometry_msgs/Transform", "Vector3 translation\nQuaternion rotation\n"},
    {"geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"},
    {"geometry_msgs/Quaternion", "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n"},
};

/* --- fields --- */

static bool is_name(const char *text, size_t length)
{
  for (size_t i = 0; i < length; i++)
    if (!isalnum((unsigned char)text[i]) && text[i] != '_') return false;
  return length > 0;
}

static bool is_primitive(const char *text, size_t length)
{
  static const char *const names[] = {"bool",   "byte",   "char",    "float32", "float64", "int8",
                                      "uint8",  "int16",  "uint16",  "int32",   "uint32",  "int64",
                                      "uint64", "string", "wstring", "time",    "duration"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0) return true;
  return false;
}

/* "Name", "package/Name" or "package/msg/Name", without bounds and brackets. */
static bool take_type(const char *text, size_t length, const char *package,
                      char out[TB__MESSAGE_NAME_SIZE])
{
  const char *slash = memchr(text, '/', length);
  const char *name = slash ? slash + 1 : text;
  size_t package_length = slash ? (size_t)(slash - text) : strlen(package);
  size_t name_length = length - (size_t)(name - text);
  if (slash && name_length > 4 && memcmp(name, "msg/", 4) == 0) {
    name += 4;
    name_length -= 4;
  }
  if (slash) package = text;
  if (!is_name(package, package_length) || !is_name(name, name_length)) return false;
  int written = snprintf(out, TB__MESSAGE_NAME_SIZE, "%.*s/%.*s", (int)package_length, package,
                         (int)name_length, name);
  return written > 0 && written < TB__MESSAGE_NAME_SIZE;
}

bool tb__message_field_next(const char *text, size_t *at, const char *package,
                            char out[TB__MESSAGE_NAME_SIZE])
{
  while (text[*at]) {
    const char *line = text + *at;
    size_t line_length = strcspn(line, "\n");
    *at += line_length + (line[line_length] == '\n');
    size_t begin = strspn(line, " \t\r");
    size_t length = strcspn(line + begin, " \t\r\n#<[=");
    if (begin >= line_length || length > TB__MESSAGE_NAME_SIZE ||
        is_primitive(line + begin, length))
      continue;
    if (take_type(line + begin, length, package, out)) return true;
  }
  return false;
}

/* --- texts --- */

static tb_status_t append(definition_t *definition, const char *text, size_t size)
{
  if (size > TEXT_MAX - definition->size) return TB_ERR_LIMIT;
  char *grown = realloc(definition->text, definition->size + size + 1);
  if (!grown) return TB_ERR_NO_MEMORY;
  memcpy(grown + definition->size, text, size);
  definition->text = grown;
  definition->size += size;
  grown[definition->size] = '\0';
  return TB_OK;
}

/* TB_ERR_NOT_FOUND: it cannot be read, whatever the reason. */
static tb_status_t read_file(const char *path, char **out)
{
  size_t size = 0;
  tb_status_t status = tb__input_file_read(path, TEXT_MAX, out, &size, NULL);
  bool is_ours = !status || status == TB_ERR_NO_MEMORY || status == TB_ERR_LIMIT;
  return is_ours ? status : TB_ERR_NOT_FOUND;
}

/* `name` is "package/Name" of checked characters, so the path stays below the prefix. */
static tb_status_t find_file(const char *prefixes, const char *name, char **out)
{
  const char *slash = strchr(name, '/');
  while (prefixes && *prefixes) {
    char path[PATH_MAX];
    size_t length = strcspn(prefixes, ":");
    int written = snprintf(path, sizeof path, "%.*s/share/%.*s/msg/%s.msg", (int)length, prefixes,
                           (int)(slash - name), name, slash + 1);
    tb_status_t status = length > 0 && written > 0 && (size_t)written < sizeof path
                             ? read_file(path, out)
                             : TB_ERR_NOT_FOUND;
    if (status != TB_ERR_NOT_FOUND) return status;
    prefixes += length + (prefixes[length] == ':');
  }
  return TB_ERR_NOT_FOUND;
}

static tb_status_t find_text(const char *prefixes, const char *name, char **out)
{
  tb_status_t status = find_file(prefixes, name, out);
  if (status != TB_ERR_NOT_FOUND) return status;
  for (size_t i = 0; i < sizeof built_ins / sizeof *built_ins; i++) {
    if (strcmp(built_ins[i].name, name) != 0) continue;
    *out = strdup(built_ins[i].text);
    return *out ? TB_OK : TB_ERR_NO_MEMORY;
  }
  return TB_ERR_NOT_FOUND;
}

static tb_status_t note_name(definition_t *definition, const char *name)
{
  for (size_t i = 0; i < definition->count; i++)
    if (strcmp(definition->names[i], name) == 0) return TB_OK;
  if (definition->count == TYPES_MAX) return TB_ERR_LIMIT;
  snprintf(definition->names[definition->count++], TB__MESSAGE_NAME_SIZE, "%s", name);
  return TB_OK;
}

static tb_status_t note_fields(definition_t *definition, const char *name, const char *text)
{
  char package[TB__MESSAGE_NAME_SIZE], field[TB__MESSAGE_NAME_SIZE];
  size_t at = 0;
  tb_status_t status = TB_OK;
  snprintf(package, sizeof package, "%.*s", (int)strcspn(name, "/"), name);
  while (!status && tb__message_field_next(text, &at, package, field))
    status = note_name(definition, field);
  return status;
}

/* The first one is the definition's own and has no heading. */
static tb_status_t append_type(definition_t *definition, size_t index, const char *prefixes)
{
  char heading[sizeof RULE + TB__MESSAGE_NAME_SIZE + 16];
  const char *name = definition->names[index];
  char *text = NULL;
  tb_status_t status = find_text(prefixes, name, &text);
  if (!status && index > 0) {
    bool ends_line = definition->size == 0 || definition->text[definition->size - 1] == '\n';
    int length =
        snprintf(heading, sizeof heading, "%s" RULE "\nMSG: %s\n", ends_line ? "" : "\n", name);
    status = append(definition, heading, (size_t)length);
  }
  if (!status) status = append(definition, text, strlen(text));
  if (!status) status = note_fields(definition, name, text);
  free(text);
  return status;
}

tb_status_t tb__message_definition(const char *type, const char *prefixes, char **out)
{
  definition_t *definition = calloc(1, sizeof *definition);
  if (!definition) return TB_ERR_NO_MEMORY;
  bool is_message =
      strstr(type, "/msg/") && take_type(type, strlen(type), "", definition->names[0]);
  tb_status_t status = is_message ? TB_OK : TB_ERR_INVALID;
  definition->count = 1;
  for (size_t i = 0; i < definition->count && !status; i++)
    status = append_type(definition, i, prefixes);
  if (!status)
    *out = definition->text;
  else
    free(definition->text);
  free(definition);
  return status;
}
