#include "definition/message_definition.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/built_in.h"
#include "platform/input_file.h"

#define TYPES_MAX 256
#define TEXT_MAX  ((size_t)1 << 20)
#define RULE      "================================================================================"

typedef struct definition {
  char names[TYPES_MAX][TB__MESSAGE_NAME_SIZE]; /* "package/Name", in the order of their texts */
  size_t count;
  char *text;
  size_t size;
  bool is_idl;
  const tb__definition_places_t *places;
  tb__definition_origin_t origin; /* of the first */
} definition_t;

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

/* "#include "package/msg/Name.idl"", in quotes of either kind. */
static bool take_include(const char *line, size_t length, char out[TB__MESSAGE_NAME_SIZE])
{
  size_t at = strspn(line, " \t");
  if (strncmp(line + at, "#include", 8) != 0) return false;
  at += 8 + strspn(line + at + 8, " \t");
  if (at >= length || (line[at] != '"' && line[at] != '<')) return false;
  const char *path = line + at + 1;
  size_t size = strcspn(path, "\">\n");
  bool is_message = size > 4 && memcmp(path + size - 4, ".idl", 4) == 0;
  return is_message && size < TB__MESSAGE_NAME_SIZE && take_type(path, size - 4, "", out) &&
         memmem(path, size, "/msg/", 5);
}

bool tb__message_include_next(const char *text, size_t *at, char out[TB__MESSAGE_NAME_SIZE])
{
  while (text[*at]) {
    const char *line = text + *at;
    size_t length = strcspn(line, "\n");
    *at += length + (line[length] == '\n');
    if (take_include(line, length, out)) return true;
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

/* `name` is "package/Name" of checked characters, so the path stays below the folder. */
static tb_status_t read_below(const definition_t *definition, const char *folder, size_t length,
                              const char *share, const char *name, char **out)
{
  char path[PATH_MAX];
  const char *slash = strchr(name, '/');
  int written = snprintf(path, sizeof path, "%.*s/%s%.*s/msg/%s.%s", (int)length, folder, share,
                         (int)(slash - name), name, slash + 1, definition->is_idl ? "idl" : "msg");
  return length > 0 && written > 0 && (size_t)written < sizeof path ? read_file(path, out)
                                                                    : TB_ERR_NOT_FOUND;
}

static tb_status_t find_installed(const definition_t *definition, const char *name, char **out)
{
  const char *prefixes = definition->places->prefixes;
  tb_status_t status = TB_ERR_NOT_FOUND;
  while (prefixes && *prefixes && status == TB_ERR_NOT_FOUND) {
    size_t length = strcspn(prefixes, ":");
    status = read_below(definition, prefixes, length, "share/", name, out);
    prefixes += length + (prefixes[length] == ':');
  }
  return status;
}

static tb_status_t find_in_folders(const definition_t *definition, const char *name, char **out)
{
  tb_status_t status = TB_ERR_NOT_FOUND;
  for (size_t i = 0; i < definition->places->folder_count && status == TB_ERR_NOT_FOUND; i++) {
    const char *folder = definition->places->folders[i];
    status = read_below(definition, folder, strlen(folder), "", name, out);
    if (status == TB_ERR_NOT_FOUND)
      status = read_below(definition, folder, strlen(folder), "share/", name, out);
  }
  return status;
}

static tb_status_t find_built_in(const definition_t *definition, const char *name, char **out)
{
  const char *text = definition->is_idl ? NULL : tb__built_in_definition(name);
  if (!text) return TB_ERR_NOT_FOUND;
  *out = strdup(text);
  return *out ? TB_OK : TB_ERR_NO_MEMORY;
}

static tb_status_t find_text(const definition_t *definition, const char *name, char **out,
                             tb__definition_origin_t *out_origin)
{
  *out_origin = TB__DEFINITION_INSTALLED;
  tb_status_t status = find_installed(definition, name, out);
  if (status != TB_ERR_NOT_FOUND) return status;
  *out_origin = TB__DEFINITION_FOLDER;
  status = find_in_folders(definition, name, out);
  if (status != TB_ERR_NOT_FOUND) return status;
  *out_origin = TB__DEFINITION_BUILT_IN;
  return find_built_in(definition, name, out);
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
  while (!status && (definition->is_idl ? tb__message_include_next(text, &at, field)
                                        : tb__message_field_next(text, &at, package, field)))
    status = note_name(definition, field);
  return status;
}

/* The first of .msg files has no heading. */
static tb_status_t append_type(definition_t *definition, size_t index)
{
  char heading[sizeof RULE + TB__MESSAGE_NAME_SIZE + 16], name[TB__MESSAGE_NAME_SIZE];
  char *text = NULL;
  tb__definition_origin_t origin;
  memcpy(name, definition->names[index], sizeof name);
  tb_status_t status = find_text(definition, name, &text, &origin);
  if (!status && index == 0) definition->origin = origin;
  if (!status && (index > 0 || definition->is_idl)) {
    bool ends_line = definition->size == 0 || definition->text[definition->size - 1] == '\n';
    const char *slash = strchr(name, '/');
    int length = definition->is_idl
                     ? snprintf(heading, sizeof heading, "%s" RULE "\nIDL: %.*s/msg%s\n",
                                ends_line ? "" : "\n", (int)(slash - name), name, slash)
                     : snprintf(heading, sizeof heading, "%s" RULE "\nMSG: %s\n",
                                ends_line ? "" : "\n", name);
    status = append(definition, heading, (size_t)length);
  }
  if (!status) status = append(definition, text, strlen(text));
  if (!status) status = note_fields(definition, name, text);
  free(text);
  return status;
}

tb_status_t tb__message_definition_find(const char *type, bool is_idl,
                                        const tb__definition_places_t *places, char **out,
                                        tb__definition_origin_t *out_origin)
{
  definition_t *definition = calloc(1, sizeof *definition);
  if (!definition) return TB_ERR_NO_MEMORY;
  bool is_message =
      strstr(type, "/msg/") && take_type(type, strlen(type), "", definition->names[0]);
  tb_status_t status = is_message ? TB_OK : TB_ERR_INVALID;
  definition->is_idl = is_idl;
  definition->places = places;
  definition->count = 1;
  for (size_t i = 0; i < definition->count && !status; i++)
    status = append_type(definition, i);
  if (!status) {
    *out = definition->text;
    *out_origin = definition->origin;
  } else {
    free(definition->text);
  }
  free(definition);
  return status;
}

tb_status_t tb__message_definition(const char *type, const char *prefixes, char **out)
{
  tb__definition_places_t places = {.prefixes = prefixes};
  tb__definition_origin_t origin;
  return tb__message_definition_find(type, false, &places, out, &origin);
}
