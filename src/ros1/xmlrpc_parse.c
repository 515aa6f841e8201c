#include "ros1/xmlrpc_parse.h"

#include <errno.h>
#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE ((size_t)4096)

typedef struct tb__xmlrpc_memory {
  struct tb__xmlrpc_memory *next;
  size_t used, size;
  _Alignas(16) char bytes[];
} memory_t;

typedef enum tag {
  TAG_NONE, /* the document */
  TAG_CALL,
  TAG_RESPONSE,
  TAG_METHOD_NAME,
  TAG_PARAMS,
  TAG_PARAM,
  TAG_FAULT,
  TAG_VALUE,
  TAG_SCALAR,
  TAG_ARRAY,
  TAG_DATA,
  TAG_STRUCT,
  TAG_MEMBER,
  TAG_NAME,
} tag_t;

#define IN(tag) (1u << (tag))

static const struct element {
  const char *name;
  tag_t tag;
  unsigned parents;
  tb__xmlrpc_type_t type;
} elements[] = {
    {"methodCall", TAG_CALL, IN(TAG_NONE), TB__XMLRPC_OTHER},
    {"methodResponse", TAG_RESPONSE, IN(TAG_NONE), TB__XMLRPC_OTHER},
    {"methodName", TAG_METHOD_NAME, IN(TAG_CALL), TB__XMLRPC_OTHER},
    {"params", TAG_PARAMS, IN(TAG_CALL) | IN(TAG_RESPONSE), TB__XMLRPC_OTHER},
    {"param", TAG_PARAM, IN(TAG_PARAMS), TB__XMLRPC_OTHER},
    {"fault", TAG_FAULT, IN(TAG_RESPONSE), TB__XMLRPC_OTHER},
    {"value", TAG_VALUE, IN(TAG_PARAM) | IN(TAG_FAULT) | IN(TAG_DATA) | IN(TAG_MEMBER),
     TB__XMLRPC_OTHER},
    {"string", TAG_SCALAR, IN(TAG_VALUE), TB__XMLRPC_STRING},
    {"int", TAG_SCALAR, IN(TAG_VALUE), TB__XMLRPC_INT},
    {"i4", TAG_SCALAR, IN(TAG_VALUE), TB__XMLRPC_INT},
    {"i8", TAG_SCALAR, IN(TAG_VALUE), TB__XMLRPC_INT},
    {"boolean", TAG_SCALAR, IN(TAG_VALUE), TB__XMLRPC_BOOLEAN},
    {"double", TAG_SCALAR, IN(TAG_VALUE), TB__XMLRPC_DOUBLE},
    {"base64", TAG_SCALAR, IN(TAG_VALUE), TB__XMLRPC_OTHER},
    {"dateTime.iso8601", TAG_SCALAR, IN(TAG_VALUE), TB__XMLRPC_OTHER},
    {"nil", TAG_SCALAR, IN(TAG_VALUE), TB__XMLRPC_OTHER},
    {"array", TAG_ARRAY, IN(TAG_VALUE), TB__XMLRPC_ARRAY},
    {"data", TAG_DATA, IN(TAG_ARRAY), TB__XMLRPC_OTHER},
    {"struct", TAG_STRUCT, IN(TAG_VALUE), TB__XMLRPC_STRUCT},
    {"member", TAG_MEMBER, IN(TAG_STRUCT), TB__XMLRPC_OTHER},
    {"name", TAG_NAME, IN(TAG_MEMBER), TB__XMLRPC_OTHER},
};

/* An element that is open. */
typedef struct frame {
  tag_t tag;
  tb__xmlrpc_type_t type;
  tb__xmlrpc_value_t *value; /* of a value; of an array or struct: the one that it is; of a member:
                                its value */
  tb__xmlrpc_value_t *last;  /* of an array or a struct */
  const char *name;          /* of a member */
  bool has_child; /* of a value: it has a type; of others: a child that may be there once */
} frame_t;

typedef struct parser {
  XML_Parser xml;
  tb__xmlrpc_message_t message;
  frame_t frames[TB__XMLRPC_DEPTH_MAX + 1]; /* the first is the document */
  int depth;
  uint32_t values;
  char *text; /* of the element that is open */
  size_t text_size, text_room;
  tb_status_t status;
  const char *why;
} parser_t;

static void refuse(parser_t *parser, tb_status_t status, const char *why)
{
  if (parser->status) return;
  parser->status = status;
  parser->why = why;
  XML_StopParser(parser->xml, XML_FALSE);
}

static void *take(parser_t *parser, size_t size)
{
  size = (size + 15) & ~(size_t)15;
  memory_t *memory = parser->message.memory;
  if (!memory || memory->size - memory->used < size) {
    size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
    memory = malloc(sizeof *memory + room);
    if (!memory) {
      refuse(parser, TB_ERR_NO_MEMORY, "out of memory");
      return NULL;
    }
    *memory = (memory_t){.next = parser->message.memory, .size = room};
    parser->message.memory = memory;
  }
  void *bytes = memory->bytes + memory->used;
  memory->used += size;
  return bytes;
}

static const char *take_text(parser_t *parser)
{
  char *text = take(parser, parser->text_size + 1);
  if (!text) return "";
  if (parser->text_size) memcpy(text, parser->text, parser->text_size);
  text[parser->text_size] = '\0';
  return text;
}

/* --- numbers, whatever the locale is --- */

static const char *skip_spaces(const char *text)
{
  while (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n')
    text++;
  return text;
}

static bool read_integer(const char *text, int64_t *out)
{
  char *end;
  text = skip_spaces(text);
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || errno || *skip_spaces(end)) return false;
  *out = value;
  return true;
}

static bool is_digit(char character)
{
  return character >= '0' && character <= '9';
}

/* Decimal digits with a point and an exponent; good to a few parts in 1e16. */
static bool read_double(const char *text, double *out)
{
  text = skip_spaces(text);
  double sign = *text == '-' ? -1 : 1, value = 0;
  if (*text == '-' || *text == '+') text++;
  int exponent = 0, digits = 0;
  for (; is_digit(*text); text++, digits++)
    value = value * 10 + (*text - '0');
  if (*text == '.')
    for (text++; is_digit(*text); text++, digits++, exponent--)
      value = value * 10 + (*text - '0');
  if (!digits) return false;
  if (*text == 'e' || *text == 'E') {
    int64_t power;
    if (!read_integer(text + 1, &power) || power > 9999 || power < -9999) return false;
    exponent += (int)power;
    text = "";
  }
  if (*skip_spaces(text)) return false;
  *out = sign * value * pow(10, exponent);
  return true;
}

/* --- elements --- */

static tb__xmlrpc_value_t *frame_owner(parser_t *parser)
{
  frame_t *frame = &parser->frames[parser->depth];
  if (frame->tag == TAG_PARAM || frame->tag == TAG_FAULT) return &parser->message.params;
  return frame[-1].value; /* of data: the array; of a member: the struct */
}

static void append(tb__xmlrpc_value_t *owner, tb__xmlrpc_value_t **last, tb__xmlrpc_value_t *value)
{
  if (*last)
    (*last)->next = value;
  else
    owner->first = value;
  *last = value;
  owner->count++;
}

static tb__xmlrpc_value_t *open_value(parser_t *parser)
{
  frame_t *frame = &parser->frames[parser->depth];
  if (frame->tag != TAG_DATA && frame->has_child) {
    refuse(parser, TB_ERR_CORRUPT, "more than one value where one is expected");
    return NULL;
  }
  if (parser->values++ >= TB__XMLRPC_VALUES_MAX) {
    refuse(parser, TB_ERR_LIMIT, "too many values");
    return NULL;
  }
  tb__xmlrpc_value_t *value = take(parser, sizeof *value);
  if (!value) return NULL;
  *value = (tb__xmlrpc_value_t){.type = TB__XMLRPC_STRING, .text = ""};
  frame->has_child = true;
  tb__xmlrpc_value_t *owner = frame_owner(parser);
  frame_t *list =
      frame->tag == TAG_PARAM || frame->tag == TAG_FAULT ? &parser->frames[0] : &frame[-1];
  append(owner, &list->last, value);
  if (frame->tag == TAG_MEMBER) frame->value = value;
  return value;
}

static const struct element *find_element(const char *name)
{
  for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
    if (!strcmp(elements[i].name, name)) return &elements[i];
  return NULL;
}

/* What may be in its parent once. */
static bool claim_place(parser_t *parser, frame_t *parent, const struct element *element)
{
  bool once = element->tag == TAG_SCALAR || element->tag == TAG_ARRAY ||
              element->tag == TAG_STRUCT || element->tag == TAG_DATA ||
              element->tag == TAG_PARAMS || element->tag == TAG_FAULT || parent->tag == TAG_NONE ||
              (element->tag == TAG_PARAM && parser->message.kind == TB__XMLRPC_RESPONSE);
  if (element->tag == TAG_METHOD_NAME && parser->message.method[0])
    refuse(parser, TB_ERR_CORRUPT, "two names of methods");
  if (once && parent->has_child)
    refuse(parser, TB_ERR_CORRUPT, "an element that may be there once is there twice");
  if (once) parent->has_child = true;
  return !parser->status;
}

static void element_begin(void *user, const XML_Char *name, const XML_Char **attributes)
{
  parser_t *parser = user;
  (void)attributes;
  if (parser->status) return;
  const struct element *element = find_element(name);
  frame_t *parent = &parser->frames[parser->depth];
  if (!element || !(element->parents & IN(parent->tag))) {
    refuse(parser, TB_ERR_CORRUPT, "an element that is not expected there");
    return;
  }
  if (parser->depth == TB__XMLRPC_DEPTH_MAX) {
    refuse(parser, TB_ERR_LIMIT, "elements too deep inside each other");
    return;
  }
  if (!claim_place(parser, parent, element)) return;
  if (element->tag == TAG_RESPONSE) parser->message.kind = TB__XMLRPC_RESPONSE;
  if (element->tag == TAG_FAULT) parser->message.kind = TB__XMLRPC_FAULT;
  tb__xmlrpc_value_t *value = parent->tag == TAG_VALUE ? parent->value : NULL;
  if (element->tag == TAG_VALUE && !(value = open_value(parser))) return;
  if (value && (element->tag == TAG_ARRAY || element->tag == TAG_STRUCT))
    value->type = element->type;
  parser->frames[++parser->depth] =
      (frame_t){.tag = element->tag, .type = element->type, .value = value};
  parser->text_size = 0;
}

static void end_scalar(parser_t *parser, frame_t *frame)
{
  tb__xmlrpc_value_t *value = frame->value;
  const char *text = take_text(parser);
  bool valid = true;
  value->type = frame->type;
  if (frame->type == TB__XMLRPC_STRING || frame->type == TB__XMLRPC_OTHER)
    value->text = text;
  else if (frame->type == TB__XMLRPC_DOUBLE)
    valid = read_double(text, &value->number);
  else
    valid = read_integer(text, &value->integer);
  if (frame->type == TB__XMLRPC_BOOLEAN && (value->integer < 0 || value->integer > 1))
    valid = false;
  if (!valid) refuse(parser, TB_ERR_CORRUPT, "a number that cannot be read");
}

static void end_member(parser_t *parser, frame_t *frame)
{
  if (!frame->value || !frame->name)
    refuse(parser, TB_ERR_CORRUPT, "a member without name or value");
  else
    frame->value->name = frame->name;
}

static void element_end(void *user, const XML_Char *name)
{
  parser_t *parser = user;
  (void)name;
  if (parser->status) return;
  frame_t *frame = &parser->frames[parser->depth--];
  switch (frame->tag) {
  case TAG_SCALAR:
    end_scalar(parser, frame);
    break;
  case TAG_VALUE:
    if (!frame->has_child) frame->value->text = take_text(parser);
    break;
  case TAG_NAME:
    parser->frames[parser->depth].name = take_text(parser);
    break;
  case TAG_METHOD_NAME:
    parser->message.method = take_text(parser);
    break;
  case TAG_MEMBER:
    end_member(parser, frame);
    break;
  default:
    break;
  }
  parser->text_size = 0;
}

static void text_part(void *user, const XML_Char *text, int length)
{
  parser_t *parser = user;
  tag_t tag = parser->frames[parser->depth].tag;
  size_t size = (size_t)length;
  if (parser->status) return;
  if (tag != TAG_SCALAR && tag != TAG_VALUE && tag != TAG_NAME && tag != TAG_METHOD_NAME) return;
  if (parser->text_room - parser->text_size < size) {
    size_t room = 2 * parser->text_room + size;
    char *larger = realloc(parser->text, room);
    if (!larger) {
      refuse(parser, TB_ERR_NO_MEMORY, "out of memory");
      return;
    }
    parser->text = larger;
    parser->text_room = room;
  }
  memcpy(parser->text + parser->text_size, text, size);
  parser->text_size += size;
}

static void doctype(void *user, const XML_Char *name, const XML_Char *system,
                    const XML_Char *public, int has_internal)
{
  (void)name, (void)system, (void)public, (void)has_internal;
  refuse(user, TB_ERR_CORRUPT, "a document type declaration, which XML-RPC does not have");
}

/* --- messages --- */

void tb__xmlrpc_message_fini(tb__xmlrpc_message_t *message)
{
  for (memory_t *memory = message->memory, *next; memory; memory = next) {
    next = memory->next;
    free(memory);
  }
  *message = (tb__xmlrpc_message_t){.method = ""};
}

static tb_status_t run(parser_t *parser, const char *text, size_t size, tb_error_t *error)
{
  XML_SetUserData(parser->xml, parser);
  XML_SetElementHandler(parser->xml, element_begin, element_end);
  XML_SetCharacterDataHandler(parser->xml, text_part);
  XML_SetStartDoctypeDeclHandler(parser->xml, doctype);
  if (XML_Parse(parser->xml, text, (int)size, 1) == XML_STATUS_ERROR && !parser->status) {
    enum XML_Error code = XML_GetErrorCode(parser->xml);
    parser->status = code == XML_ERROR_NO_MEMORY ? TB_ERR_NO_MEMORY : TB_ERR_CORRUPT;
    parser->why = XML_ErrorString(code);
  }
  tb__xmlrpc_message_t *message = &parser->message;
  if (!parser->status && ((message->kind == TB__XMLRPC_CALL && !message->method[0]) ||
                          (message->kind != TB__XMLRPC_CALL && message->params.count != 1))) {
    parser->status = TB_ERR_CORRUPT;
    parser->why = "neither a method nor an answer in it";
  }
  if (!parser->status) return TB_OK;
  return tb_error_set(error, parser->status, "XML-RPC, line %lu: %s",
                      (unsigned long)XML_GetCurrentLineNumber(parser->xml), parser->why);
}

tb_status_t tb__xmlrpc_parse(const char *text, size_t size, tb__xmlrpc_message_t *out,
                             tb_error_t *error)
{
  if (size > TB__XMLRPC_SIZE_MAX)
    return tb_error_set(error, TB_ERR_LIMIT, "XML-RPC: %zu bytes, at most %zu are read", size,
                        TB__XMLRPC_SIZE_MAX);
  parser_t *parser = calloc(1, sizeof *parser);
  if (parser) parser->xml = XML_ParserCreate(NULL);
  if (!parser || !parser->xml) {
    free(parser);
    return tb_error_set(error, TB_ERR_NO_MEMORY, "XML-RPC: out of memory");
  }
  parser->message.method = "";
  parser->message.params.type = TB__XMLRPC_ARRAY;
  parser->message.params.text = "";
  tb_status_t status = run(parser, text, size, error);
  if (!status)
    *out = parser->message;
  else
    tb__xmlrpc_message_fini(&parser->message);
  XML_ParserFree(parser->xml);
  free(parser->text);
  free(parser);
  return status;
}

/* --- values --- */

const tb__xmlrpc_value_t *tb__xmlrpc_at(const tb__xmlrpc_value_t *array, uint32_t index)
{
  if (!array || array->type != TB__XMLRPC_ARRAY || index >= array->count) return NULL;
  const tb__xmlrpc_value_t *value = array->first;
  while (index-- > 0)
    value = value->next;
  return value;
}

const tb__xmlrpc_value_t *tb__xmlrpc_member(const tb__xmlrpc_value_t *value, const char *name)
{
  if (!value || value->type != TB__XMLRPC_STRUCT) return NULL;
  const tb__xmlrpc_value_t *member = value->first;
  while (member && strcmp(member->name, name) != 0)
    member = member->next;
  return member;
}

const char *tb__xmlrpc_string(const tb__xmlrpc_value_t *value)
{
  return value && value->type == TB__XMLRPC_STRING ? value->text : NULL;
}

bool tb__xmlrpc_answer(const tb__xmlrpc_message_t *message, int64_t *out_code,
                       const char **out_text, const tb__xmlrpc_value_t **out_value)
{
  if (message->kind != TB__XMLRPC_RESPONSE) return false;
  const tb__xmlrpc_value_t *answer = tb__xmlrpc_at(&message->params, 0);
  const tb__xmlrpc_value_t *code = tb__xmlrpc_at(answer, 0);
  const char *text = tb__xmlrpc_string(tb__xmlrpc_at(answer, 1));
  const tb__xmlrpc_value_t *value = tb__xmlrpc_at(answer, 2);
  if (!code || code->type != TB__XMLRPC_INT || !text || !value) return false;
  *out_code = code->integer;
  *out_text = text;
  *out_value = value;
  return true;
}
