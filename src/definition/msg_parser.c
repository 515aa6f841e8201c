/* The texts of .msg files. Values of constants are not looked at: no message has them. */
#include <stdio.h>
#include <string.h>

#include "definition/parsers.h"

typedef struct msg_parser {
  tb__schema_builder_t *builder;
  const char *text;
  size_t size;
  size_t line, line_end; /* the line that is read; without its '\n' */
  size_t next;
  size_t at;
  char package[TB__SCHEMA_NAME_MAX + 1];
  char interface[TB__SCHEMA_NAME_MAX + 1]; /* a service or an action whose part is read; "": none */
  const char *const *parts;                /* of it, that are still to come */
  bool is_left_out;                        /* a section whose heading has no name */
} msg_parser_t;

static const char *const service_parts[] = {"_Request", "_Response", NULL};
static const char *const action_parts[] = {"_Goal", "_Result", "_Feedback", NULL};

static const struct primitive {
  const char *name;
  tb__field_kind_t kind;
} primitives[] = {
    {"bool", TB__FIELD_BOOL},       {"byte", TB__FIELD_UINT8},    {"char", TB__FIELD_UINT8},
    {"int8", TB__FIELD_INT8},       {"uint8", TB__FIELD_UINT8},   {"int16", TB__FIELD_INT16},
    {"uint16", TB__FIELD_UINT16},   {"int32", TB__FIELD_INT32},   {"uint32", TB__FIELD_UINT32},
    {"int64", TB__FIELD_INT64},     {"uint64", TB__FIELD_UINT64}, {"float32", TB__FIELD_FLOAT32},
    {"float64", TB__FIELD_FLOAT64}, {"string", TB__FIELD_STRING}, {"wstring", TB__FIELD_WSTRING},
};

static tb_status_t fail(const msg_parser_t *parser, size_t at, tb_status_t status, const char *what)
{
  return tb__definition_error(parser->builder->text, at, parser->builder->error, status, "%s",
                              what);
}

/* --- lines --- */

static bool line_next(msg_parser_t *parser)
{
  if (parser->next >= parser->size) return false;
  parser->line = parser->next;
  const char *end = memchr(parser->text + parser->line, '\n', parser->size - parser->line);
  parser->line_end = end ? (size_t)(end - parser->text) : parser->size;
  parser->at = parser->line;
  parser->next = parser->line_end + 1;
  return true;
}

static char peek(const msg_parser_t *parser)
{
  return parser->at < parser->line_end ? parser->text[parser->at] : '\n';
}

static void skip_spaces(msg_parser_t *parser)
{
  while (peek(parser) == ' ' || peek(parser) == '\t' || peek(parser) == '\r')
    parser->at++;
}

static size_t name_length(const msg_parser_t *parser)
{
  size_t end = parser->at;
  while (end < parser->line_end && tb__is_name_char(parser->text[end]))
    end++;
  return end - parser->at;
}

static bool is_text(const char *text, size_t length, const char *other)
{
  return strlen(other) == length && memcmp(text, other, length) == 0;
}

/* --- names of types --- */

/* "Name", "package/Name" or "package/msg/Name", as it is written, to "package/msg/Name". */
static tb_status_t take_name(msg_parser_t *parser, uint32_t *out)
{
  const char *parts[3];
  size_t lengths[3], count = 0, begin = parser->at;
  char name[TB__SCHEMA_NAME_MAX + 1];
  do {
    if (count > 0) parser->at++;
    if (count == 3) return fail(parser, begin, TB_ERR_CORRUPT, "a type's name of too many parts");
    parts[count] = parser->text + parser->at;
    lengths[count] = name_length(parser);
    parser->at += lengths[count];
    if (lengths[count++] == 0) return fail(parser, parser->at, TB_ERR_CORRUPT, "no name of a type");
  } while (peek(parser) == '/');
  const char *package = count > 1 ? parts[0] : parser->package;
  const char *kind = count > 2 ? parts[1] : "msg";
  size_t package_length = count > 1 ? lengths[0] : strlen(parser->package);
  int size =
      snprintf(name, sizeof name, "%.*s/%.*s/%.*s", (int)package_length, package,
               (int)(count > 2 ? lengths[1] : 3), kind, (int)lengths[count - 1], parts[count - 1]);
  if (package_length + (count > 2 ? lengths[1] : 3) + lengths[count - 1] + 2 >= sizeof name ||
      size <= 0)
    return fail(parser, begin, TB_ERR_LIMIT, "a type's name that is too long");
  return tb__schema_builder_name(parser->builder, 0, name, (size_t)size, begin, out);
}

static tb_status_t take_number(msg_parser_t *parser, uint32_t *out)
{
  uint64_t number = 0;
  size_t begin = parser->at;
  for (; tb__is_digit(peek(parser)) && number <= UINT32_MAX; parser->at++)
    number = number * 10 + (uint64_t)(peek(parser) - '0');
  if (parser->at == begin) return fail(parser, begin, TB_ERR_CORRUPT, "a number was expected");
  if (number == 0 || number > UINT32_MAX)
    return fail(parser, begin, TB_ERR_CORRUPT, "a number from 1 to 4294967295 was expected");
  *out = (uint32_t)number;
  return TB_OK;
}

static bool accept(msg_parser_t *parser, const char *text)
{
  size_t length = strlen(text);
  if (parser->line_end - parser->at < length ||
      memcmp(parser->text + parser->at, text, length) != 0)
    return false;
  parser->at += length;
  return true;
}

/* --- fields --- */

#define TIME     "builtin_interfaces/msg/Time"
#define DURATION "builtin_interfaces/msg/Duration"

/* ROS 1 has times built in: to readers they are those of ROS 2. */
static tb_status_t take_ros1_time(msg_parser_t *parser, const char *as, size_t length,
                                  tb__written_type_t *type)
{
  size_t begin = parser->at;
  type->is.kind = TB__FIELD_STRUCT;
  parser->at += length;
  return tb__schema_builder_name(parser->builder, 0, as, strlen(as), begin, &type->name);
}

static tb_status_t take_element(msg_parser_t *parser, tb__written_type_t *type)
{
  const char *word = parser->text + parser->at;
  size_t length = name_length(parser);
  bool is_time = is_text(word, length, "time"), is_duration = is_text(word, length, "duration");
  if ((is_time || is_duration) && parser->builder->is_ros1)
    return take_ros1_time(parser, is_time ? TIME : DURATION, length, type);
  if (is_time || is_duration)
    return fail(parser, parser->at, TB_ERR_UNSUPPORTED,
                "time and duration are types of ROS 1; ROS 2 has builtin_interfaces/Time and "
                "builtin_interfaces/Duration");
  for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++) {
    if (!is_text(word, length, primitives[i].name)) continue;
    if (parser->builder->is_ros1 && primitives[i].kind == TB__FIELD_WSTRING) break;
    type->is.kind = primitives[i].kind;
    if (parser->builder->is_ros1 && is_text(word, length, "byte")) type->is.kind = TB__FIELD_INT8;
    parser->at += length;
    bool is_text_kind = type->is.kind == TB__FIELD_STRING || type->is.kind == TB__FIELD_WSTRING;
    return is_text_kind && accept(parser, "<=") ? take_number(parser, &type->is.text_max) : TB_OK;
  }
  type->is.kind = TB__FIELD_STRUCT;
  return take_name(parser, &type->name);
}

static tb_status_t take_type(msg_parser_t *parser, tb__written_type_t *type)
{
  *type = (tb__written_type_t){.at = parser->at, .is.count = 1};
  tb_status_t status = take_element(parser, type);
  if (status || !accept(parser, "[")) return status;
  if (accept(parser, "]")) {
    type->is.shape = TB__FIELD_SEQUENCE;
    type->is.count = 0;
    return TB_OK;
  }
  type->is.shape = accept(parser, "<=") ? TB__FIELD_SEQUENCE : TB__FIELD_ARRAY;
  status = take_number(parser, &type->is.count);
  if (!status && !accept(parser, "]"))
    status = fail(parser, parser->at, TB_ERR_CORRUPT, "']' was expected");
  return status;
}

/* The rest of a line; one that is too long for a name is left out. ROS 1 has none. */
static tb_status_t take_default(msg_parser_t *parser, tb__written_type_t *type)
{
  size_t begin = parser->at, end = parser->line_end;
  if (parser->builder->is_ros1 || peek(parser) == '#') return TB_OK;
  while (end > begin && strchr(" \t\r\n", parser->text[end - 1]))
    end--;
  if (end == begin || end - begin > TB__SCHEMA_NAME_MAX) return TB_OK;
  if (memchr(parser->text + begin, '\0', end - begin)) return TB_OK;
  return tb__schema_builder_name(parser->builder, 0, parser->text + begin, end - begin, begin,
                                 &type->initial);
}

/* A type and a name; what follows is a constant's value, a default or a comment. */
static tb_status_t take_field(msg_parser_t *parser)
{
  tb__written_type_t type;
  tb_status_t status = take_type(parser, &type);
  if (status) return status;
  char after = peek(parser);
  if (after != ' ' && after != '\t')
    return fail(parser, parser->at, TB_ERR_CORRUPT, "a space and a field's name were expected");
  skip_spaces(parser);
  size_t name = parser->at, length = name_length(parser);
  if (length == 0 || tb__is_digit(parser->text[name]))
    return fail(parser, name, TB_ERR_CORRUPT, "a field's name was expected");
  parser->at += length;
  after = peek(parser);
  if (after != '=' && after != '#' && after != '\n' && after != ' ' && after != '\t' &&
      after != '\r')
    return fail(parser, parser->at, TB_ERR_CORRUPT, "a space was expected after a field's name");
  skip_spaces(parser);
  if (peek(parser) != '=') {
    status = take_default(parser, &type);
    if (status) return status;
    return tb__schema_builder_field(parser->builder, parser->text + name, length, &type);
  }
  if (type.is.kind == TB__FIELD_STRUCT || type.is.shape != TB__FIELD_SINGLE)
    return fail(parser, name, TB_ERR_CORRUPT, "only numbers and strings can be constants");
  return TB_OK;
}

/* --- names --- */

#define EVENT      "_Event"
#define SEND_GOAL  "_SendGoal"
#define GET_RESULT "_GetResult"

/* How much of the name of a type is that of the action which it is made of; 0: it is of none. */
static size_t action_length(const char *type)
{
  static const char *const ends[] = {SEND_GOAL EVENT, GET_RESULT EVENT, "_FeedbackMessage"};
  size_t length = strlen(type);
  for (size_t i = 0; strstr(type, "/action/") && i < sizeof ends / sizeof *ends; i++) {
    size_t end = strlen(ends[i]);
    if (length > end && strcmp(type + length - end, ends[i]) == 0) return length - end;
  }
  return 0;
}

static bool is_event_of_service(const char *type)
{
  size_t length = strlen(type), end = strlen(EVENT);
  return length > end && strstr(type, "/srv/") && strcmp(type + length - end, EVENT) == 0;
}

/* --- sections --- */

static tb_status_t add_name(msg_parser_t *parser, const char *name, size_t begin, uint32_t *out)
{
  return tb__schema_builder_name(parser->builder, 0, name, strlen(name), begin, out);
}

/* The next part of a service or an action: its name and "_Request", "_Goal" and so on. */
static tb_status_t begin_part(msg_parser_t *parser, size_t begin)
{
  char name[TB__SCHEMA_NAME_MAX + 1];
  uint32_t index = 0;
  if (!*parser->parts)
    return fail(parser, begin, TB_ERR_CORRUPT, "more parts than a service or an action has");
  int length = snprintf(name, sizeof name, "%s%s", parser->interface, *parser->parts);
  if (length < 0 || (size_t)length >= sizeof name)
    return fail(parser, begin, TB_ERR_LIMIT, "a type's name that is too long");
  parser->parts++;
  tb_status_t status = add_name(parser, name, begin, &index);
  return status ? status : tb__schema_builder_type(parser->builder, index, begin);
}

/* Of the service or action that the builder's type is made of, whose name the text lacks. */
static tb_status_t begin_own(msg_parser_t *parser, const char *const *parts)
{
  const char *root = parser->builder->text->type;
  size_t length = action_length(root);
  if (is_event_of_service(root)) length = strlen(root) - strlen(EVENT);
  if (length == 0)
    return fail(parser, parser->line, TB_ERR_UNSUPPORTED,
                "a service or an action, and not a message");
  snprintf(parser->interface, sizeof parser->interface, "%.*s", (int)length, root);
  parser->parts = parts;
  return begin_part(parser, parser->line);
}

static bool has_parts(const msg_parser_t *parser)
{
  msg_parser_t ahead = *parser;
  while (line_next(&ahead)) {
    if (tb__is_rule(ahead.text + ahead.line, ahead.line_end - ahead.line)) return false;
    if (accept(&ahead, "---")) return true;
  }
  return false;
}

/* What has no heading. */
static tb_status_t begin_root(msg_parser_t *parser)
{
  const char *root = parser->builder->text->type;
  uint32_t name = 0;
  bool is_action = action_length(root) > 0;
  if ((is_action || is_event_of_service(root)) && has_parts(parser))
    return begin_own(parser, is_action ? action_parts : service_parts);
  tb_status_t status = add_name(parser, root, 0, &name);
  return status ? status : tb__schema_builder_type(parser->builder, name, 0);
}

/* After "SRV:" or "ACTION:": "package/srv/Name". Its parts follow, with lines of "---" between
 * them. */
static tb_status_t take_interface(msg_parser_t *parser, const char *const *parts)
{
  uint32_t name = 0;
  skip_spaces(parser);
  size_t begin = parser->at;
  if (peek(parser) == '\n') return begin_own(parser, parts);
  tb_status_t status = take_name(parser, &name);
  if (status) return status;
  snprintf(parser->interface, sizeof parser->interface, "%s", parser->builder->names + name);
  snprintf(parser->package, sizeof parser->package, "%.*s", (int)strcspn(parser->interface, "/"),
           parser->interface);
  parser->parts = parts;
  return begin_part(parser, begin);
}

/* After a line of '=': "MSG: package/Name". It may be empty. */
static tb_status_t take_heading(msg_parser_t *parser)
{
  uint32_t name = 0;
  bool is_first = parser->builder->type_count == 0;
  if (!line_next(parser)) return TB_OK;
  skip_spaces(parser);
  if (peek(parser) == '\n') return TB_OK;
  if (tb__is_rule(parser->text + parser->line, parser->line_end - parser->line)) {
    parser->next = parser->line;
    return TB_OK;
  }
  parser->interface[0] = '\0';
  parser->is_left_out = false;
  if (accept(parser, "SRV:")) return take_interface(parser, service_parts);
  if (accept(parser, "ACTION:")) return take_interface(parser, action_parts);
  if (!accept(parser, "MSG:"))
    return fail(parser, parser->at, TB_ERR_CORRUPT, "\"MSG: \" and a type's name were expected");
  skip_spaces(parser);
  parser->is_left_out = peek(parser) == '\n' && !is_first;
  if (parser->is_left_out) return TB_OK;
  if (peek(parser) == '\n') return begin_root(parser);
  parser->package[0] = '\0';
  size_t begin = parser->at;
  tb_status_t status = take_name(parser, &name);
  if (status) return status;
  skip_spaces(parser);
  if (peek(parser) != '\n')
    return fail(parser, parser->at, TB_ERR_CORRUPT, "nothing was expected after a type's name");
  const char *full = parser->builder->names + name;
  snprintf(parser->package, sizeof parser->package, "%.*s", (int)strcspn(full, "/"), full);
  return tb__schema_builder_type(parser->builder, name, begin);
}

static tb_status_t take_line(msg_parser_t *parser)
{
  skip_spaces(parser);
  if (peek(parser) == '\n' || peek(parser) == '#') return TB_OK;
  if (tb__is_rule(parser->text + parser->line, parser->line_end - parser->line))
    return take_heading(parser);
  if (parser->is_left_out) return TB_OK;
  if (parser->interface[0] && accept(parser, "---")) return begin_part(parser, parser->line);
  if (accept(parser, "---"))
    return fail(parser, parser->line, TB_ERR_UNSUPPORTED,
                "a service or an action, and not a message");
  return take_field(parser);
}

/* What take_ros1_time names. */
static tb_status_t add_ros1_time(tb__schema_builder_t *builder, const char *type,
                                 tb__field_kind_t number)
{
  uint32_t name = 0;
  const tb__written_type_t part = {.is = {.kind = number, .count = 1}};
  tb_status_t status = tb__schema_builder_name(builder, 0, type, strlen(type), 0, &name);
  if (!status) status = tb__schema_builder_type(builder, name, 0);
  if (!status) status = tb__schema_builder_field(builder, "sec", 3, &part);
  if (!status) status = tb__schema_builder_field(builder, "nanosec", 7, &part);
  return status;
}

/* --- events of services --- */

#define EVENT_INFO "service_msgs/msg/ServiceEventInfo"

typedef struct event_field {
  const char *name, *type; /* NULL: a number */
  tb__field_type_t is;
} event_field_t;

static tb_status_t add_event_type(tb__schema_builder_t *builder, const char *type,
                                  const event_field_t *fields, size_t count)
{
  uint32_t name = 0;
  tb_status_t status = tb__schema_builder_name(builder, 0, type, strlen(type), 0, &name);
  if (!status) status = tb__schema_builder_type(builder, name, 0);
  for (size_t i = 0; !status && i < count; i++) {
    tb__written_type_t as = {.is = fields[i].is};
    const char *of = fields[i].type;
    if (of) status = tb__schema_builder_name(builder, 0, of, strlen(of), 0, &as.name);
    if (!status)
      status = tb__schema_builder_field(builder, fields[i].name, strlen(fields[i].name), &as);
  }
  return status;
}

/* What the text of a service leaves out: its event, as ROS 2 makes it, and what that has in it.
 * `root` is the event's name. */
static tb_status_t add_event(tb__schema_builder_t *builder, const char *root)
{
  char request[TB__SCHEMA_NAME_MAX + 1], response[TB__SCHEMA_NAME_MAX + 1];
  int length = (int)(strlen(root) - strlen(EVENT));
  snprintf(request, sizeof request, "%.*s_Request", length, root);
  snprintf(response, sizeof response, "%.*s_Response", length, root);
  const tb__field_type_t structure = {.kind = TB__FIELD_STRUCT, .count = 1},
                         part = {TB__FIELD_STRUCT, TB__FIELD_SEQUENCE, 1, 0, 0};
  const event_field_t event[] = {
      {"info", EVENT_INFO, structure}, {"request", request, part}, {"response", response, part}};
  const event_field_t info[] = {{"event_type", NULL, {.kind = TB__FIELD_UINT8, .count = 1}},
                                {"stamp", TIME, structure},
                                {"client_gid", NULL, {TB__FIELD_UINT8, TB__FIELD_ARRAY, 16, 0, 0}},
                                {"sequence_number", NULL, {.kind = TB__FIELD_INT64, .count = 1}}};
  const event_field_t time[] = {{"sec", NULL, {.kind = TB__FIELD_INT32, .count = 1}},
                                {"nanosec", NULL, {.kind = TB__FIELD_UINT32, .count = 1}}};
  tb_status_t status = add_event_type(builder, root, event, 3);
  if (!status) status = add_event_type(builder, EVENT_INFO, info, 4);
  return status ? status : add_event_type(builder, TIME, time, 2);
}

/* --- messages of actions --- */

#define UUID "unique_identifier_msgs/msg/UUID"

/* The same for a message that ROS 2 makes of an action. `root` is its name; it begins with that of
 * the action, which is `length` long. */
static tb_status_t add_of_action(tb__schema_builder_t *builder, const char *root, size_t length)
{
  char request[TB__SCHEMA_NAME_MAX + 1], response[TB__SCHEMA_NAME_MAX + 1];
  char part[TB__SCHEMA_NAME_MAX + 1];
  const tb__field_type_t structure = {.kind = TB__FIELD_STRUCT, .count = 1};
  const event_field_t uuid[] = {{"uuid", NULL, {TB__FIELD_UINT8, TB__FIELD_ARRAY, 16, 0, 0}}};
  const event_field_t id = {"goal_id", UUID, structure};
  bool is_goal = strcmp(root + length, SEND_GOAL EVENT) == 0;
  bool is_result = strcmp(root + length, GET_RESULT EVENT) == 0;
  const char *kind = is_goal ? SEND_GOAL : GET_RESULT;
  snprintf(request, sizeof request, "%.*s%s_Request", (int)length, root, kind);
  snprintf(response, sizeof response, "%.*s%s_Response", (int)length, root, kind);
  snprintf(part, sizeof part, "%.*s%s", (int)length, root,
           is_goal     ? "_Goal"
           : is_result ? "_Result"
                       : "_Feedback");
  const event_field_t goal[] = {id, {"goal", part, structure}};
  const event_field_t accepted[] = {{"accepted", NULL, {.kind = TB__FIELD_BOOL, .count = 1}},
                                    {"stamp", TIME, structure}};
  const event_field_t result[] = {{"status", NULL, {.kind = TB__FIELD_INT8, .count = 1}},
                                  {"result", part, structure}};
  const event_field_t feedback[] = {id, {"feedback", part, structure}};
  tb_status_t status =
      is_goal || is_result ? add_event(builder, root) : add_event_type(builder, root, feedback, 2);
  if (!status && is_goal) status = add_event_type(builder, request, goal, 2);
  if (!status && is_goal) status = add_event_type(builder, response, accepted, 2);
  if (!status && is_result) status = add_event_type(builder, request, &id, 1);
  if (!status && is_result) status = add_event_type(builder, response, result, 2);
  return status ? status : add_event_type(builder, UUID, uuid, 1);
}

tb_status_t tb__msg_add_made(tb__schema_builder_t *builder)
{
  const char *root = builder->text->type;
  size_t action = action_length(root);
  if (is_event_of_service(root)) return add_event(builder, root);
  return action > 0 ? add_of_action(builder, root, action) : TB_OK;
}

tb_status_t tb__msg_parse(tb__schema_builder_t *builder, size_t begin, size_t end)
{
  const char *root = builder->text->type;
  msg_parser_t parser = {
      .builder = builder, .text = builder->text->text, .size = end, .next = begin};
  snprintf(parser.package, sizeof parser.package, "%.*s", (int)strcspn(root, "/"), root);
  const char *line_end = memchr(parser.text + begin, '\n', end - begin);
  size_t first = line_end ? (size_t)(line_end - parser.text) - begin : end - begin;
  bool has_heading = end > begin && tb__is_rule(parser.text + begin, first);
  tb_status_t status = begin == 0 && !has_heading ? begin_root(&parser) : TB_OK;
  while (!status && line_next(&parser))
    status = take_line(&parser);
  if (status || !builder->is_ros1) return status;
  status = add_ros1_time(builder, TIME, TB__FIELD_UINT32);
  return status ? status : add_ros1_time(builder, DURATION, TB__FIELD_INT32);
}
