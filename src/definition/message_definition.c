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

typedef struct text {
  char *at;
  size_t size;
} text_t;

typedef struct definition {
  char names[TYPES_MAX][TB__MESSAGE_NAME_SIZE]; /* "package/Name", in the order of their texts */
  size_t count;
  text_t msg, idl; /* each with the name of its type before it */
  const tb__definition_places_t *places;
  tb__definition_origin_t asked, origin; /* where the first is looked for, and where it was */
} definition_t;

/* One file. */
typedef struct source {
  char *text;
  bool is_idl;
  tb__definition_origin_t origin;
} source_t;

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

#define EVENT "_Event"

/* "Name", "package/Name" or "package/msg/Name", without bounds and brackets. The event of a service
 * is named as a message is: some are built in. */
static bool take_type(const char *text, size_t length, const char *package,
                      char out[TB__MESSAGE_NAME_SIZE])
{
  const char *slash = memchr(text, '/', length);
  const char *name = slash ? slash + 1 : text;
  size_t package_length = slash ? (size_t)(slash - text) : strlen(package);
  size_t name_length = length - (size_t)(name - text);
  bool is_event = slash && name_length > sizeof EVENT + 3 && memcmp(name, "srv/", 4) == 0 &&
                  memcmp(name + name_length - strlen(EVENT), EVENT, strlen(EVENT)) == 0;
  if (is_event || (slash && name_length > 4 && memcmp(name, "msg/", 4) == 0)) {
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

static tb_status_t append(text_t *text, const char *more, size_t size)
{
  if (size > TEXT_MAX - text->size) return TB_ERR_LIMIT;
  char *grown = realloc(text->at, text->size + size + 1);
  if (!grown) return TB_ERR_NO_MEMORY;
  memcpy(grown + text->size, more, size);
  text->at = grown;
  text->size += size;
  grown[text->size] = '\0';
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
static tb_status_t read_below(const char *folder, size_t length, const char *share,
                              const char *name, source_t *out)
{
  char path[PATH_MAX];
  const char *slash = strchr(name, '/');
  tb_status_t status = TB_ERR_NOT_FOUND;
  for (int i = 0; i < 2 && status == TB_ERR_NOT_FOUND; i++) {
    out->is_idl = i == 1;
    int written = snprintf(path, sizeof path, "%.*s/%s%.*s/msg/%s.%s", (int)length, folder, share,
                           (int)(slash - name), name, slash + 1, out->is_idl ? "idl" : "msg");
    if (length > 0 && written > 0 && (size_t)written < sizeof path)
      status = read_file(path, &out->text);
  }
  return status;
}

static tb_status_t find_installed(const definition_t *definition, const char *name, source_t *out)
{
  const char *prefixes = definition->places->prefixes;
  tb_status_t status = TB_ERR_NOT_FOUND;
  while (prefixes && *prefixes && status == TB_ERR_NOT_FOUND) {
    size_t length = strcspn(prefixes, ":");
    status = read_below(prefixes, length, "share/", name, out);
    prefixes += length + (prefixes[length] == ':');
  }
  return status;
}

static tb_status_t find_in_folders(const definition_t *definition, const char *name, source_t *out)
{
  tb_status_t status = TB_ERR_NOT_FOUND;
  for (size_t i = 0; i < definition->places->folder_count && status == TB_ERR_NOT_FOUND; i++) {
    const char *folder = definition->places->folders[i];
    status = read_below(folder, strlen(folder), "", name, out);
    if (status == TB_ERR_NOT_FOUND)
      status = read_below(folder, strlen(folder), "share/", name, out);
  }
  return status;
}

static tb_status_t find_built_in(const char *name, source_t *out)
{
  const char *text = tb__built_in_definition(name);
  if (!text) return TB_ERR_NOT_FOUND;
  out->is_idl = false;
  out->text = strdup(text);
  return out->text ? TB_OK : TB_ERR_NO_MEMORY;
}

static tb_status_t find_at(const definition_t *definition, tb__definition_origin_t origin,
                           const char *name, source_t *out)
{
  out->origin = origin;
  switch (origin) {
  case TB__DEFINITION_INSTALLED:
    return find_installed(definition, name, out);
  case TB__DEFINITION_FOLDER:
    return find_in_folders(definition, name, out);
  default:
    return find_built_in(name, out);
  }
}

/* The place that was asked for comes first. The types in one that is built in are built in too. */
static tb_status_t find_text(const definition_t *definition, const char *name, bool is_first,
                             source_t *out)
{
  static const tb__definition_origin_t order[] = {TB__DEFINITION_INSTALLED, TB__DEFINITION_FOLDER,
                                                  TB__DEFINITION_BUILT_IN};
  tb__definition_origin_t asked = definition->asked;
  tb_status_t status = TB_ERR_NOT_FOUND;
  bool is_asked = asked != TB__DEFINITION_UNKNOWN;
  if (is_asked) status = find_at(definition, asked, name, out);
  if (is_asked && (is_first || asked == TB__DEFINITION_BUILT_IN)) return status;
  for (size_t i = 0; i < sizeof order / sizeof *order && status == TB_ERR_NOT_FOUND; i++)
    if (order[i] != asked) status = find_at(definition, order[i], name, out);
  return status;
}

static tb_status_t note_name(definition_t *definition, const char *name)
{
  for (size_t i = 0; i < definition->count; i++)
    if (strcmp(definition->names[i], name) == 0) return TB_OK;
  if (definition->count == TYPES_MAX) return TB_ERR_LIMIT;
  snprintf(definition->names[definition->count++], TB__MESSAGE_NAME_SIZE, "%s", name);
  return TB_OK;
}

static tb_status_t note_fields(definition_t *definition, const char *name, const source_t *source)
{
  char package[TB__MESSAGE_NAME_SIZE], field[TB__MESSAGE_NAME_SIZE];
  size_t at = 0;
  tb_status_t status = TB_OK;
  snprintf(package, sizeof package, "%.*s", (int)strcspn(name, "/"), name);
  while (!status && (source->is_idl ? tb__message_include_next(source->text, &at, field)
                                    : tb__message_field_next(source->text, &at, package, field)))
    status = note_name(definition, field);
  return status;
}

static tb_status_t append_type(definition_t *definition, size_t index)
{
  char heading[sizeof RULE + TB__MESSAGE_NAME_SIZE + 16], name[TB__MESSAGE_NAME_SIZE];
  source_t source = {.text = NULL};
  memcpy(name, definition->names[index], sizeof name);
  tb_status_t status = find_text(definition, name, index == 0, &source);
  if (status) return status;
  if (index == 0) definition->origin = source.origin;
  text_t *text = source.is_idl ? &definition->idl : &definition->msg;
  bool ends_line = text->size == 0 || text->at[text->size - 1] == '\n';
  const char *slash = strchr(name, '/');
  int length = source.is_idl ? snprintf(heading, sizeof heading, "%s" RULE "\nIDL: %.*s/msg%s\n",
                                        ends_line ? "" : "\n", (int)(slash - name), name, slash)
                             : snprintf(heading, sizeof heading, "%s" RULE "\nMSG: %s\n",
                                        ends_line ? "" : "\n", name);
  status = append(text, heading, (size_t)length);
  if (!status) status = append(text, source.text, strlen(source.text));
  if (!status) status = note_fields(definition, name, &source);
  free(source.text);
  return status;
}

/* The first of .msg files has no heading. */
static tb_status_t join(definition_t *definition, tb__found_definition_t *out)
{
  text_t *msg = &definition->msg, *idl = &definition->idl, *all = idl->size > 0 ? idl : msg;
  tb_status_t status = TB_OK;
  if (idl->size == 0) {
    size_t heading = (size_t)(strchr(strchr(msg->at, '\n') + 1, '\n') + 1 - msg->at);
    memmove(msg->at, msg->at + heading, msg->size - heading + 1);
  } else if (msg->size > 0) {
    if (idl->at[idl->size - 1] != '\n') status = append(idl, "\n", 1);
    if (!status) status = append(idl, msg->at, msg->size);
  }
  if (status) return status;
  *out = (tb__found_definition_t){.text = all->at,
                                  .origin = definition->origin,
                                  .encoding = idl->size == 0   ? TB__MESSAGE_DEFINITION_ENCODING
                                              : msg->size == 0 ? TB__MESSAGE_IDL_ENCODING
                                                               : TB__MESSAGE_MIXED_ENCODING};
  all->at = NULL;
  return TB_OK;
}

tb_status_t tb__message_definition_find(const char *type, tb__definition_origin_t origin,
                                        const tb__definition_places_t *places,
                                        tb__found_definition_t *out)
{
  definition_t *definition = calloc(1, sizeof *definition);
  if (!definition) return TB_ERR_NO_MEMORY;
  bool is_message = (strstr(type, "/msg/") || strstr(type, "/srv/")) &&
                    take_type(type, strlen(type), "", definition->names[0]);
  tb_status_t status = is_message ? TB_OK : TB_ERR_INVALID;
  definition->asked = origin;
  definition->places = places;
  definition->count = 1;
  for (size_t i = 0; i < definition->count && !status; i++)
    status = append_type(definition, i);
  if (!status) status = join(definition, out);
  free(definition->idl.at);
  free(definition->msg.at);
  free(definition);
  return status;
}

/* The body of "struct NAME {"; NULL: it is not there. */
static const char *find_struct(const char *text, const char *name)
{
  size_t length = strlen(name);
  for (const char *at = text; (at = strstr(at, "struct ")); at++) {
    const char *word = at + strlen("struct ");
    word += strspn(word, " \t");
    if (strncmp(word, name, length) != 0) continue;
    const char *body = word + length + strspn(word + length, " \t\r\n");
    if (*body == '{') return body + 1;
  }
  return NULL;
}

bool tb__idl_is_keyed(const char *definition, const char *type)
{
  static const char key[] = "@key";
  const char *slash = strrchr(type, '/');
  const char *at = find_struct(definition, slash ? slash + 1 : type);
  for (bool comment = false; at && *at && (comment || *at != '}'); at++) {
    if (strncmp(at, "//", 2) == 0) comment = true;
    if (*at == '\n') comment = false;
    if (!comment && strncmp(at, key, sizeof key - 1) == 0 &&
        !isalnum((unsigned char)at[sizeof key - 1]))
      return true;
  }
  return false;
}
