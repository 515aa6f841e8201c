/* The texts of .idl files: modules, structs, typedefs, enumerations, and constants that are whole
 * numbers, which may be bounds. Annotations are skipped; what they say about fields that may be
 * absent is refused, because such fields are something else on the wire. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "definition/idl_tokens.h"
#include "definition/parsers.h"

#define NESTING_MAX   32
#define CONSTANTS_MAX 1024

typedef struct constant {
  uint32_t name; /* with its scope */
  uint64_t value;
} constant_t;

typedef struct idl_parser {
  tb__schema_builder_t *builder;
  tb__idl_tokens_t tokens;
  uint32_t scope; /* modules, with '/' between them; in the builder's names */
  constant_t *constants;
  size_t constant_count, constant_room;
} idl_parser_t;

static tb_status_t fail(const idl_parser_t *parser, tb_status_t status, const char *what)
{
  return tb__definition_error(parser->builder->text, parser->tokens.at, parser->builder->error,
                              status, "%s", what);
}

/* --- words --- */

static bool is(const idl_parser_t *parser, const char *word)
{
  return tb__idl_tokens_is(&parser->tokens, word);
}

static bool accept(idl_parser_t *parser, const char *word)
{
  if (!is(parser, word)) return false;
  tb__idl_tokens_next(&parser->tokens);
  return true;
}

static tb_status_t expect(idl_parser_t *parser, const char *word)
{
  if (accept(parser, word)) return TB_OK;
  return tb__definition_error(parser->builder->text, parser->tokens.at, parser->builder->error,
                              TB_ERR_CORRUPT, "'%s' was expected", word);
}

static tb_status_t expect_name(idl_parser_t *parser, const char **out, size_t *out_length)
{
  if (parser->tokens.kind != TB__IDL_NAME)
    return fail(parser, TB_ERR_CORRUPT, "a name was expected");
  *out = parser->tokens.text + parser->tokens.at;
  *out_length = parser->tokens.length;
  tb__idl_tokens_next(&parser->tokens);
  return TB_OK;
}

/* A name that is declared here, with its scope. */
static tb_status_t declare(idl_parser_t *parser, uint32_t scope, uint32_t *out)
{
  const char *name = NULL;
  size_t length = 0, at = parser->tokens.at;
  tb_status_t status = expect_name(parser, &name, &length);
  return status ? status : tb__schema_builder_name(parser->builder, scope, name, length, at, out);
}

/* "a::b::C" to "a/b/C". One that begins with "::" is of no scope. */
static tb_status_t take_reference(idl_parser_t *parser, uint32_t *out, uint32_t *out_scope)
{
  size_t at = parser->tokens.at;
  tb_status_t status = TB_OK;
  *out_scope = accept(parser, "::") ? 0 : parser->scope;
  *out = 0;
  do {
    const char *name = NULL;
    size_t length = 0;
    status = expect_name(parser, &name, &length);
    if (!status) status = tb__schema_builder_name(parser->builder, *out, name, length, at, out);
  } while (!status && accept(parser, "::"));
  return status;
}

/* "@name", "@name(...)". */
static tb_status_t skip_annotations(idl_parser_t *parser)
{
  while (accept(parser, "@")) {
    uint32_t name = 0, scope = 0;
    if (is(parser, "optional"))
      return fail(parser, TB_ERR_UNSUPPORTED, "optional fields, which ROS 2 has not");
    tb_status_t status = take_reference(parser, &name, &scope);
    if (status) return status;
    if (!accept(parser, "(")) continue;
    for (unsigned depth = 1; depth > 0;) {
      if (parser->tokens.kind == TB__IDL_END || parser->tokens.kind == TB__IDL_WRONG)
        return fail(parser, TB_ERR_CORRUPT, "an annotation has no end");
      if (is(parser, "(")) depth++;
      if (is(parser, ")")) depth--;
      tb__idl_tokens_next(&parser->tokens);
    }
  }
  return TB_OK;
}

/* --- numbers --- */

static bool number_of(const idl_parser_t *parser, uint64_t *out)
{
  char text[24] = "", *end = NULL;
  if (parser->tokens.kind != TB__IDL_NUMBER || parser->tokens.length >= sizeof text) return false;
  memcpy(text, parser->tokens.text + parser->tokens.at, parser->tokens.length);
  *out = strtoull(text, &end, 0);
  return *end == '\0';
}

/* As references to types: in the scope, and in those around it. */
static bool find_constant(const idl_parser_t *parser, uint32_t name, uint32_t scope, uint64_t *out)
{
  const char *text = parser->builder->names + name, *around = parser->builder->names + scope;
  size_t length = strlen(around);
  for (;;) {
    for (size_t i = 0; i < parser->constant_count; i++) {
      const char *other = parser->builder->names + parser->constants[i].name;
      bool is_inside = length == 0 || (strncmp(other, around, length) == 0 && other[length] == '/');
      if (!is_inside || strcmp(other + length + (length > 0), text) != 0) continue;
      *out = parser->constants[i].value;
      return true;
    }
    if (length == 0) return false;
    while (length > 0 && around[length - 1] != '/')
      length--;
    if (length > 0) length--;
  }
}

/* A bound, or the number of an array's elements. */
static tb_status_t take_number(idl_parser_t *parser, uint32_t *out)
{
  uint64_t number = 0;
  size_t at = parser->tokens.at;
  if (number_of(parser, &number)) {
    tb__idl_tokens_next(&parser->tokens);
  } else {
    uint32_t name = 0, scope = 0;
    if (parser->tokens.kind != TB__IDL_NAME && !is(parser, "::"))
      return fail(parser, TB_ERR_CORRUPT, "a number was expected");
    tb_status_t status = take_reference(parser, &name, &scope);
    if (status) return status;
    if (!find_constant(parser, name, scope, &number))
      return tb__definition_error(parser->builder->text, at, parser->builder->error, TB_ERR_CORRUPT,
                                  "no constant %s that is a whole number",
                                  parser->builder->names + name);
  }
  if (number == 0 || number > UINT32_MAX)
    return tb__definition_error(parser->builder->text, at, parser->builder->error, TB_ERR_CORRUPT,
                                "a number from 1 to 4294967295 was expected");
  *out = (uint32_t)number;
  return TB_OK;
}

/* --- types --- */

static bool accept_long(idl_parser_t *parser, tb__field_kind_t one, tb__field_kind_t two,
                        tb__field_kind_t *out)
{
  if (!accept(parser, "long")) return false;
  *out = accept(parser, "long") ? two : one;
  return true;
}

static bool accept_number_kind(idl_parser_t *parser, tb__field_kind_t *out)
{
  static const struct {
    const char *word;
    tb__field_kind_t kind;
  } words[] = {
      {"boolean", TB__FIELD_BOOL},  {"octet", TB__FIELD_UINT8},   {"char", TB__FIELD_UINT8},
      {"short", TB__FIELD_INT16},   {"float", TB__FIELD_FLOAT32}, {"double", TB__FIELD_FLOAT64},
      {"int8", TB__FIELD_INT8},     {"uint8", TB__FIELD_UINT8},   {"int16", TB__FIELD_INT16},
      {"uint16", TB__FIELD_UINT16}, {"int32", TB__FIELD_INT32},   {"uint32", TB__FIELD_UINT32},
      {"int64", TB__FIELD_INT64},   {"uint64", TB__FIELD_UINT64}};
  if (accept_long(parser, TB__FIELD_INT32, TB__FIELD_INT64, out)) return true;
  if (accept(parser, "unsigned")) {
    *out = TB__FIELD_UINT16;
    return accept(parser, "short") || accept_long(parser, TB__FIELD_UINT32, TB__FIELD_UINT64, out);
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (!accept(parser, words[i].word)) continue;
    *out = words[i].kind;
    return true;
  }
  return false;
}

static tb_status_t take_text(idl_parser_t *parser, tb__written_type_t *type)
{
  if (!accept(parser, "<")) return TB_OK;
  tb_status_t status = take_number(parser, &type->is.text_max);
  return status ? status : expect(parser, ">");
}

static tb_status_t take_type(idl_parser_t *parser, unsigned depth, tb__written_type_t *type)
{
  static const char *const foreign[] = {"wchar",  "any",    "map",      "union",
                                        "fixed",  "bitset", "bitmask",  "Object",
                                        "struct", "enum",   "interface"};
  *type = (tb__written_type_t){.at = parser->tokens.at, .is.count = 1};
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    if (is(parser, foreign[i]))
      return fail(parser, TB_ERR_UNSUPPORTED, "a type of IDL that ROS 2 has not in fields");
  if (accept(parser, "sequence")) {
    if (depth > 0)
      return fail(parser, TB_ERR_UNSUPPORTED,
                  "sequences of sequences or of arrays, which ROS 2 has not");
    tb_status_t status = expect(parser, "<");
    if (!status) status = take_type(parser, depth + 1, type);
    type->is.shape = TB__FIELD_SEQUENCE;
    type->is.count = 0;
    if (!status && accept(parser, ",")) status = take_number(parser, &type->is.count);
    return status ? status : expect(parser, ">");
  }
  if (accept(parser, "string")) {
    type->is.kind = TB__FIELD_STRING;
    return take_text(parser, type);
  }
  if (accept(parser, "wstring")) {
    type->is.kind = TB__FIELD_WSTRING;
    return take_text(parser, type);
  }
  if (accept_number_kind(parser, &type->is.kind)) {
    if (!is(parser, "double")) return TB_OK;
    return fail(parser, TB_ERR_UNSUPPORTED, "long double, which ROS 2 has not in messages");
  }
  type->is.kind = TB__FIELD_STRUCT;
  return take_reference(parser, &type->name, &type->scope);
}

/* "[3]" and "[3][2]" after a name. */
#define MAX_DIMENSIONS 16

static tb_status_t take_dimensions(idl_parser_t *parser, tb__written_type_t *type)
{
  for (unsigned dimensions = 0; is(parser, "["); dimensions++) {
    uint32_t count = 0;
    size_t at = parser->tokens.at;
    if (dimensions == MAX_DIMENSIONS)
      return fail(parser, TB_ERR_LIMIT, "an array of more than 16 dimensions");
    if (type->is.shape == TB__FIELD_SEQUENCE)
      return fail(parser, TB_ERR_UNSUPPORTED, "arrays of sequences, which ROS 2 has not");
    tb__idl_tokens_next(&parser->tokens);
    tb_status_t status = take_number(parser, &count);
    if (!status) status = expect(parser, "]");
    if (status) return status;
    if (__builtin_mul_overflow(type->is.count, count, &type->is.count))
      return tb__definition_error(parser->builder->text, at, parser->builder->error, TB_ERR_LIMIT,
                                  "an array of too many elements");
    type->is.shape = TB__FIELD_ARRAY;
  }
  return TB_OK;
}

/* --- declarations --- */

static tb_status_t take_member(idl_parser_t *parser)
{
  tb__written_type_t type = {.at = parser->tokens.at};
  tb_status_t status = skip_annotations(parser);
  if (!status) status = take_type(parser, 0, &type);
  do {
    const char *name = NULL;
    size_t length = 0;
    tb__written_type_t one = type;
    if (!status) status = skip_annotations(parser);
    if (!status) status = expect_name(parser, &name, &length);
    if (!status) status = take_dimensions(parser, &one);
    if (!status) status = tb__schema_builder_field(parser->builder, name, length, &one);
  } while (!status && accept(parser, ","));
  return status ? status : expect(parser, ";");
}

static tb_status_t take_struct(idl_parser_t *parser)
{
  uint32_t name = 0;
  size_t at = parser->tokens.at;
  tb_status_t status = declare(parser, parser->scope, &name);
  if (status || is(parser, ";")) return status; /* it is defined elsewhere */
  if (is(parser, ":"))
    return fail(parser, TB_ERR_UNSUPPORTED, "a struct that extends another, which ROS 2 has not");
  status = expect(parser, "{");
  if (!status) status = tb__schema_builder_type(parser->builder, name, at);
  while (!status && !accept(parser, "}"))
    status = take_member(parser);
  return status;
}

static tb_status_t take_typedef(idl_parser_t *parser)
{
  tb__written_type_t type;
  tb_status_t status = take_type(parser, 0, &type);
  do {
    uint32_t name = 0;
    tb__written_type_t one = type;
    if (!status) status = declare(parser, parser->scope, &name);
    if (!status) status = take_dimensions(parser, &one);
    if (!status) status = tb__schema_builder_alias(parser->builder, name, &one);
  } while (!status && accept(parser, ","));
  return status;
}

static tb_status_t take_enum(idl_parser_t *parser)
{
  tb__written_type_t type = {.is = {.kind = TB__FIELD_UINT32, .count = 1}, .at = parser->tokens.at};
  uint32_t name = 0, value = 0;
  tb_status_t status = declare(parser, parser->scope, &name);
  if (!status) status = tb__schema_builder_alias(parser->builder, name, &type);
  if (!status) status = expect(parser, "{");
  do {
    if (!status) status = skip_annotations(parser);
    if (!status) status = declare(parser, parser->scope, &value);
  } while (!status && accept(parser, ","));
  return status ? status : expect(parser, "}");
}

static tb_status_t note_constant(idl_parser_t *parser, uint32_t name, uint64_t value)
{
  if (parser->constant_count == CONSTANTS_MAX)
    return fail(parser, TB_ERR_LIMIT, "too many constants");
  if (parser->constant_count == parser->constant_room) {
    size_t room = parser->constant_room * 2 + 16;
    constant_t *grown = reallocarray(parser->constants, room, sizeof *grown);
    if (!grown) return tb__no_memory_for(parser->builder->error, "message definition");
    parser->constants = grown;
    parser->constant_room = room;
  }
  parser->constants[parser->constant_count++] = (constant_t){name, value};
  return TB_OK;
}

/* "const TYPE NAME = ..."; only one whole number is understood. */
static tb_status_t take_const(idl_parser_t *parser)
{
  tb__written_type_t type;
  uint32_t name = 0;
  uint64_t value = 0;
  tb_status_t status = take_type(parser, 0, &type);
  if (!status) status = declare(parser, parser->scope, &name);
  if (!status) status = expect(parser, "=");
  if (status) return status;
  bool is_number = number_of(parser, &value);
  if (is_number) tb__idl_tokens_next(&parser->tokens);
  if (is_number && is(parser, ";")) return note_constant(parser, name, value);
  while (parser->tokens.kind != TB__IDL_END && parser->tokens.kind != TB__IDL_WRONG &&
         !is(parser, ";"))
    tb__idl_tokens_next(&parser->tokens);
  return TB_OK;
}

static tb_status_t take_declaration(idl_parser_t *parser, unsigned depth);

static tb_status_t take_module(idl_parser_t *parser, unsigned depth)
{
  uint32_t outer = parser->scope, inner = 0;
  if (depth >= NESTING_MAX) return fail(parser, TB_ERR_LIMIT, "modules too deep within modules");
  tb_status_t status = declare(parser, outer, &inner);
  if (!status) status = expect(parser, "{");
  parser->scope = inner;
  while (!status && !accept(parser, "}"))
    status = take_declaration(parser, depth + 1);
  parser->scope = outer;
  return status;
}

static tb_status_t take_declaration(idl_parser_t *parser, unsigned depth)
{
  tb_status_t status = skip_annotations(parser);
  if (status) return status;
  if (accept(parser, "module"))
    status = take_module(parser, depth);
  else if (accept(parser, "struct"))
    status = take_struct(parser);
  else if (accept(parser, "typedef"))
    status = take_typedef(parser);
  else if (accept(parser, "enum"))
    status = take_enum(parser);
  else if (accept(parser, "const"))
    status = take_const(parser);
  else
    status = fail(parser, TB_ERR_CORRUPT,
                  "module, struct, typedef, enum or const was expected; ROS 2 has no others");
  return status ? status : expect(parser, ";");
}

tb_status_t tb__idl_parse(tb__schema_builder_t *builder, size_t begin, size_t end)
{
  idl_parser_t parser = {.builder = builder};
  tb_status_t status = TB_OK;
  tb__idl_tokens_init(&parser.tokens, builder->text->text, begin, end);
  while (!status && parser.tokens.kind != TB__IDL_END)
    status = take_declaration(&parser, 0);
  free(parser.constants);
  return status;
}
