#include "definition/type_description.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "definition/message.h"
#include "definition/message_definition.h"
#include "definition/parse.h"

#define RESPONSE_TYPE TB__TYPE_DESCRIPTION_SERVICE "_Response"
#define RULE          "================================================================================\n"
#define SHAPE_STEP    48 /* between the numbers of a kind, of its arrays, and so on */

/* The interface is large, and it is read once for each type: by its own definition. */
static const char response_definition[] =
    "bool successful\nstring failure_reason\nTypeDescription type_description\n"
    "TypeSource[] type_sources\nKeyValue[] extra_information\n" RULE
    "MSG: type_description_interfaces/TypeDescription\n"
    "IndividualTypeDescription type_description\n"
    "IndividualTypeDescription[] referenced_type_descriptions\n" RULE
    "MSG: type_description_interfaces/IndividualTypeDescription\n"
    "string<=255 type_name\nField[] fields\n" RULE
    "MSG: type_description_interfaces/Field\nstring name\nFieldType type\nstring "
    "default_value\n" RULE
    "MSG: type_description_interfaces/FieldType\nuint8 type_id\nuint64 capacity\n"
    "uint64 string_capacity\nstring<=255 nested_type_name\n" RULE
    "MSG: type_description_interfaces/TypeSource\nstring type_name\nstring encoding\n"
    "string raw_file_contents\n" RULE
    "MSG: type_description_interfaces/KeyValue\nstring key\nstring value\n";

/* --- the response --- */

typedef struct text {
  const char *at;
  size_t length;
} text_t;

typedef struct reading {
  const tb__message_t *message;
  const char *type; /* that was asked for: the first one */
  FILE *out;
  size_t type_count;
  bool is_over; /* the descriptions are complete; texts of files follow */
  tb_status_t status;
  bool is_successful;
  text_t failure, name, nested;
  uint64_t type_id, capacity, string_capacity;
} reading_t;

static bool is_name(text_t text)
{
  static const char valid[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/";
  for (size_t i = 0; i < text.length; i++)
    if (!text.at[i] || !strchr(valid, text.at[i])) return false;
  return text.length > 0;
}

static void write_type(reading_t *reading, text_t name)
{
  bool is_first = reading->type_count == 0;
  bool is_asked =
      strlen(reading->type) == name.length && memcmp(reading->type, name.at, name.length) == 0;
  if (!is_name(name) || (is_first && !is_asked)) reading->status = TB_ERR_CORRUPT;
  if (reading->type_count++ > 0)
    fprintf(reading->out, RULE "MSG: %.*s\n", (int)name.length, name.at);
}

/* By the numbers of type_description_interfaces/FieldType. */
static void write_field(reading_t *reading)
{
  static const char *const kinds[] = {NULL,      NULL,     "int8",  "uint8",  "int16",   "uint16",
                                      "int32",   "uint32", "int64", "uint64", "float32", "float64",
                                      NULL,      "char",   NULL,    "bool",   "byte",    "string",
                                      "wstring", NULL,     NULL,    "string", "wstring"};
  enum { NESTED = 1, BOUNDED_STRING = 21 };
  uint64_t index = reading->type_id - 1;
  size_t kind = (size_t)(index % SHAPE_STEP) + 1, shape = (size_t)(index / SHAPE_STEP);
  bool is_nested = kind == NESTED;
  bool is_kind = is_nested ? is_name(reading->nested)
                           : kind < sizeof kinds / sizeof *kinds && kinds[kind] != NULL;
  if (reading->type_id == 0 || shape > 3 || !is_kind || !is_name(reading->name)) {
    reading->status = TB_ERR_UNSUPPORTED;
    return;
  }
  unsigned long long capacity = reading->capacity;
  if (is_nested)
    fprintf(reading->out, "%.*s", (int)reading->nested.length, reading->nested.at);
  else
    fputs(kinds[kind], reading->out);
  if (kind >= BOUNDED_STRING)
    fprintf(reading->out, "<=%llu", (unsigned long long)reading->string_capacity);
  if (shape == 1) fprintf(reading->out, "[%llu]", capacity);
  if (shape == 2) fprintf(reading->out, "[<=%llu]", capacity);
  if (shape == 3) fputs("[]", reading->out);
  fprintf(reading->out, " %.*s\n", (int)reading->name.length, reading->name.at);
}

static void take_text(reading_t *reading, const char *field, text_t text)
{
  if (strcmp(field, "failure_reason") == 0) reading->failure = text;
  if (strcmp(field, "type_name") == 0) write_type(reading, text);
  if (strcmp(field, "name") == 0) reading->name = text;
  if (strcmp(field, "nested_type_name") == 0) reading->nested = text;
  if (strcmp(field, "default_value") == 0) write_field(reading); /* the last of a field's parts */
}

static void take_number(reading_t *reading, const char *field, uint64_t number)
{
  if (strcmp(field, "successful") == 0) reading->is_successful = number != 0;
  if (strcmp(field, "type_id") == 0) reading->type_id = number;
  if (strcmp(field, "capacity") == 0) reading->capacity = number;
  if (strcmp(field, "string_capacity") == 0) reading->string_capacity = number;
}

static void visit(void *user, const tb__visited_t *visited)
{
  reading_t *reading = user;
  const char *field = visited->field->name;
  size_t at = visited->at;
  uint64_t number = 0;
  if (strcmp(field, "type_sources") == 0) reading->is_over = true;
  if (reading->is_over || reading->status) return;
  if (visited->kind == TB__VISITED_TEXT)
    take_text(reading, field, (text_t){(const char *)reading->message->body + at, visited->count});
  else if (visited->kind == TB__VISITED_NUMBERS &&
           tb__message_bits(reading->message, tb__field_width(visited->field->is.kind), &at,
                            &number) == TB_OK)
    take_number(reading, field, number);
}

static tb_status_t read_response(const char *type, const tb__message_t *message, FILE *out,
                                 tb_error_t *error)
{
  reading_t reading = {.message = message, .type = type, .out = out};
  tb_status_t status = tb__message_walk(message, visit, &reading, error);
  if (status) return status;
  if (!reading.is_successful)
    return tb_error_set(error, TB_ERR_NOT_FOUND, "the node has no description of the type: %.*s",
                        (int)(reading.failure.length < 200 ? reading.failure.length : 200),
                        reading.failure.at);
  if (reading.status == TB_ERR_CORRUPT)
    return tb_error_set(error, reading.status, "the node describes another type than %.150s", type);
  if (reading.status)
    return tb_error_set(error, reading.status,
                        "the node's description of the type has a field that ROS 2 does not make");
  return TB_OK;
}

tb_status_t tb__type_description_text(const char *type, const void *cdr, size_t size, char **out,
                                      tb_error_t *error)
{
  tb__schema_t *schema = NULL;
  tb__message_t message;
  char *text = NULL;
  size_t text_size = 0;
  tb_status_t status =
      tb__schema_parse(RESPONSE_TYPE, TB__MESSAGE_DEFINITION_ENCODING, response_definition,
                       sizeof response_definition - 1, &schema, error);
  if (status) return status;
  status = tb__message_open(&message, schema, cdr, size);
  if (status) tb_error_set(error, status, "a type's description: not plain CDR");
  FILE *file = status ? NULL : open_memstream(&text, &text_size);
  if (!status && !file) status = tb__no_memory_for(error, "type description");
  if (!status) status = read_response(type, &message, file, error);
  if (file && fclose(file) != 0 && !status) status = tb__no_memory_for(error, "type description");
  tb__schema_destroy(schema);
  text = tb__libc_adopt(text, text_size);
  if (!status && !text) status = tb__no_memory_for(error, "type description");
  if (status)
    free(text);
  else
    *out = text;
  return status;
}

/* --- the request --- */

static void put_number(FILE *out, uint32_t number)
{
  for (int i = 0; i < 4; i++)
    fputc((int)(number >> (8 * i) & 255), out);
}

/* After a multiple of four bytes. */
static void put_text(FILE *out, const char *text)
{
  size_t size = strlen(text) + 1;
  put_number(out, (uint32_t)size);
  fwrite(text, 1, size, out);
  for (; size % 4 != 0; size++)
    fputc(0, out);
}

tb_status_t tb__type_description_request(const char *type, const char *type_hash, void **out,
                                         size_t *out_size)
{
  char *request = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&request, &size);
  if (!file) return TB_ERR_NO_MEMORY;
  put_number(file, 0x100); /* plain CDR, little endian */
  put_text(file, type);
  put_text(file, type_hash);
  put_number(file, 0); /* without the texts of files; and padding */
  bool failed = fclose(file) != 0;
  request = tb__libc_adopt(request, size);
  if (failed || !request) {
    free(request);
    return TB_ERR_NO_MEMORY;
  }
  *out = request;
  *out_size = size;
  return TB_OK;
}
