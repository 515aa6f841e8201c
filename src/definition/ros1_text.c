#include "definition/ros1_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "definition/built_in.h"
#include "definition/msg_line.h"

#define RULE       "================================================================================\n"
#define NUMBERS    "int32 sec\nuint32 nanosec\n"
#define ROS1_STAMP "uint32 seq\ntime stamp\nstring frame_id\n"
#define ROS2_STAMP "builtin_interfaces/Time stamp\nstring frame_id\n"

/* --- names --- */

/* Types that have another name in ROS 2. Of two with the same one, the first is its name in ROS 1.
 */
static const struct renamed {
  const char *ros1, *ros2;
} renamed[] = {
    {"rosgraph_msgs/Clock", "rosgraph_msgs/msg/Clock"},
    {"roslib/Clock", "rosgraph_msgs/msg/Clock"},
    {"rosgraph_msgs/Log", "rcl_interfaces/msg/Log"},
    {"roslib/Log", "rcl_interfaces/msg/Log"},
    {"std_msgs/Header", "std_msgs/msg/Header"},
    {"roslib/Header", "std_msgs/msg/Header"},
    {"std_msgs/Time", "builtin_interfaces/msg/Time"},
    {"std_msgs/Duration", "builtin_interfaces/msg/Duration"},
    {"tf2_msgs/TFMessage", "tf2_msgs/msg/TFMessage"},
    {"tf/tfMessage", "tf2_msgs/msg/TFMessage"},
};
enum { RENAMED = sizeof renamed / sizeof *renamed };

bool tb__ros2_name_of(const char *ros1, char out[TB__DEFINITION_NAME_SIZE])
{
  for (size_t i = 0; i < RENAMED; i++)
    if (strcmp(renamed[i].ros1, ros1) == 0)
      return snprintf(out, TB__DEFINITION_NAME_SIZE, "%s", renamed[i].ros2) > 0;
  const char *slash = strchr(ros1, '/');
  return slash && slash > ros1 && slash[1] && !strchr(slash + 1, '/') &&
         tb__definition_full_name(ros1, out);
}

bool tb__ros1_name_of(const char *ros2, char out[TB__DEFINITION_NAME_SIZE])
{
  char full[TB__DEFINITION_NAME_SIZE];
  if (!tb__definition_full_name(ros2, full)) return false;
  for (size_t i = 0; i < RENAMED; i++)
    if (strcmp(renamed[i].ros2, full) == 0)
      return snprintf(out, TB__DEFINITION_NAME_SIZE, "%s", renamed[i].ros1) > 0;
  const char *slash = strchr(full, '/');
  if (strncmp(slash, "/msg/", 5) != 0 || slash == full || !slash[5] || strchr(slash + 5, '/'))
    return false;
  return snprintf(out, TB__DEFINITION_NAME_SIZE, "%.*s%s", (int)(slash - full), full, slash + 4) >
         0;
}

/* --- ROS 1's own definitions --- */

/* Those that do not follow from ROS 2's. That of Log has the type in it, which ROS 2's has not. */
static const struct ros1_built_in {
  const char *name, *text;
} built_ins[] = {
    {"std_msgs/Time", "time data\n"},
    {"std_msgs/Duration", "duration data\n"},
    {"rosgraph_msgs/Log",
     "byte DEBUG=1\nbyte INFO=2\nbyte WARN=4\nbyte ERROR=8\nbyte FATAL=16\nHeader header\n"
     "byte level\nstring name\nstring msg\nstring file\nstring function\nuint32 line\n"
     "string[] topics\n" RULE "MSG: std_msgs/Header\n" ROS1_STAMP},
    {"sensor_msgs/CameraInfo",
     "Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] D\n"
     "float64[9] K\nfloat64[9] R\nfloat64[12] P\nuint32 binning_x\nuint32 binning_y\n"
     "RegionOfInterest roi\n"},
    {"tf2_msgs/TF2Error",
     "uint8 NO_ERROR = 0\nuint8 LOOKUP_ERROR = 1\nuint8 CONNECTIVITY_ERROR = 2\n"
     "uint8 EXTRAPOLATION_ERROR = 3\nuint8 INVALID_ARGUMENT_ERROR = 4\nuint8 TIMEOUT_ERROR = 5\n"
     "uint8 TRANSFORM_ERROR = 6\nuint8 error\nstring error_string\n"},
};

static const char *find_own(tb__span_t name)
{
  for (size_t i = 0; i < sizeof built_ins / sizeof *built_ins; i++)
    if (tb__span_is(name, built_ins[i].name)) return built_ins[i].text;
  return NULL;
}

bool tb__ros1_has_own(const char *type)
{
  return find_own((tb__span_t){type, strlen(type)}) != NULL;
}

static const char *find_known(tb__span_t name)
{
  char type[TB__DEFINITION_NAME_SIZE];
  const char *own = find_own(name);
  if (own) return own;
  snprintf(type, sizeof type, "%.*s", (int)name.size, name.at);
  return name.size < sizeof type ? tb__built_in_definition(type) : NULL;
}

/* --- from one text to the other --- */

typedef struct change {
  FILE *out;
  bool to_ros1, has_known;
  bool has_time, has_duration; /* types that ROS 2 needs the definitions of */
  bool is_left_out;            /* the section that is read */
} change_t;

static void put(const change_t *change, tb__span_t span)
{
  fwrite(span.at, 1, span.size, change->out);
}

static bool is_header(tb__span_t type)
{
  return tb__span_is(type, "Header") || tb__span_is(type, "std_msgs/Header") ||
         tb__span_is(type, "std_msgs/msg/Header") || tb__span_is(type, "roslib/Header");
}

/* Of a value in quotes, with what is escaped in it as it is meant. */
static void put_unquoted(const change_t *change, tb__span_t value)
{
  char quote = value.at[0];
  for (size_t i = 1; i < value.size && value.at[i] != quote; i++) {
    if (value.at[i] == '\\' && i + 1 < value.size) i++;
    fputc(value.at[i], change->out);
  }
}

static bool is_quoted(tb__span_t value)
{
  return value.size >= 2 && (value.at[0] == '"' || value.at[0] == '\'');
}

/* A string of ROS 1 goes to the end of its line. */
static void put_quoted(const change_t *change, tb__span_t value)
{
  bool is_plain = value.size > 0;
  for (size_t i = 0; i < value.size; i++)
    if (strchr("#\"'\\", value.at[i])) is_plain = false;
  if (is_plain) {
    put(change, value);
    return;
  }
  fputc('"', change->out);
  for (size_t i = 0; i < value.size; i++) {
    if (value.at[i] == '"' || value.at[i] == '\\') fputc('\\', change->out);
    fputc(value.at[i], change->out);
  }
  fputc('"', change->out);
}

static void put_constant(const change_t *change, const tb__msg_line_t *line)
{
  bool is_text = tb__span_is(tb__span_before(line->type, "<"), "string");
  put(change, line->type);
  fputc(' ', change->out);
  put(change, line->name);
  fputc('=', change->out);
  if (!is_text)
    put(change, line->rest);
  else if (!change->to_ros1)
    put_quoted(change, line->rest);
  else if (is_quoted(line->rest))
    put_unquoted(change, line->rest);
  else
    put(change, tb__span_trimmed(tb__span_before(line->rest, "#")));
}

/* The type's name in the other generation. */
static void put_ros2_type(change_t *change, tb__span_t type)
{
  if (is_header(type)) {
    fputs("std_msgs/Header", change->out);
  } else if (tb__span_is(type, "time")) {
    change->has_time = true;
    fputs("builtin_interfaces/Time", change->out);
  } else if (tb__span_is(type, "duration")) {
    change->has_duration = true;
    fputs("builtin_interfaces/Duration", change->out);
  } else {
    put(change, type);
  }
}

static void put_ros1_type(const change_t *change, tb__span_t type)
{
  tb__span_t package = tb__span_before(type, "/");
  tb__span_t name = {type.at + package.size, type.size - package.size};
  if (name.size > 5 && memcmp(name.at, "/msg/", 5) == 0) {
    name.at += 4;
    name.size -= 4;
  }
  if (tb__span_is(package, "builtin_interfaces") && tb__span_is(name, "/Time"))
    fputs("time", change->out);
  else if (tb__span_is(package, "builtin_interfaces") && tb__span_is(name, "/Duration"))
    fputs("duration", change->out);
  else {
    put(change, package);
    put(change, name);
  }
}

static void put_field(change_t *change, const tb__msg_line_t *line)
{
  tb__span_t type = tb__span_before(line->type, "[<");
  tb__span_t shape = {memchr(line->type.at, '[', line->type.size), 0};
  if (shape.at) shape.size = (size_t)(line->type.at + line->type.size - shape.at);
  bool has_comment = line->rest.size > 0 && line->rest.at[0] == '#';
  if (change->to_ros1)
    put_ros1_type(change, type);
  else
    put_ros2_type(change, type);
  if (change->to_ros1 && shape.size > 1 && shape.at[1] == '<')
    fputs("[]", change->out);
  else if (shape.at)
    put(change, shape);
  fputc(' ', change->out);
  put(change, line->name);
  if (has_comment) fputs(" ", change->out);
  if (has_comment) put(change, line->rest);
}

static void change_line(change_t *change, const tb__msg_line_t *line)
{
  if (line->kind == TB__MSG_LINE_HEADING)
    fprintf(change->out, RULE "MSG: %.*s", (int)line->name.size, line->name.at);
  else if (line->kind == TB__MSG_LINE_CONSTANT)
    put_constant(change, line);
  else if (line->kind == TB__MSG_LINE_FIELD)
    put_field(change, line);
  else
    put(change, line->text);
  fputc('\n', change->out);
}

/* What is put in place of a type's own lines. */
static void begin_type(change_t *change, tb__span_t name)
{
  tb__msg_line_t line;
  size_t at = 0;
  bool is_stamp = is_header(name);
  const char *known = change->to_ros1 && change->has_known ? find_known(name) : NULL;
  if (is_stamp) known = change->to_ros1 ? ROS1_STAMP : ROS2_STAMP;
  change->is_left_out = known;
  if (is_stamp) change->has_time = true;
  if (is_stamp) fputs(known, change->out);
  while (known && !is_stamp && tb__msg_line_next(known, &at, &line))
    change_line(change, &line);
}

/* Headers and times are in both generations, and different. */
static void begin_section(change_t *change, tb__span_t name)
{
  bool is_builtin = name.size > 19 && memcmp(name.at, "builtin_interfaces/", 19) == 0;
  change->is_left_out = change->to_ros1 && is_builtin;
  if (change->is_left_out) return;
  if (is_header(name))
    fputs(RULE "MSG: std_msgs/Header\n", change->out);
  else
    change_line(change, &(tb__msg_line_t){.kind = TB__MSG_LINE_HEADING, .name = name});
  begin_type(change, name);
}

static tb_status_t end_text(FILE *out, char **text, char **result, tb_error_t *error)
{
  if (fclose(out) == 0) {
    *result = *text;
    return TB_OK;
  }
  free(*text);
  return tb__no_memory_for(error, "message definition");
}

static tb_status_t change_text(change_t *change, const char *type, const char *text, char **result,
                               tb_error_t *error)
{
  char *changed = NULL;
  size_t size = 0, at = 0;
  tb__msg_line_t line;
  change->out = open_memstream(&changed, &size);
  if (!change->out) return tb__no_memory_for(error, "message definition");
  begin_type(change, (tb__span_t){type, strlen(type)});
  while (tb__msg_line_next(text, &at, &line)) {
    if (line.kind == TB__MSG_LINE_HEADING)
      begin_section(change, line.name);
    else if (!change->is_left_out)
      change_line(change, &line);
  }
  if (change->has_time && !change->to_ros1)
    fputs(RULE "MSG: builtin_interfaces/Time\n" NUMBERS, change->out);
  if (change->has_duration && !change->to_ros1)
    fputs(RULE "MSG: builtin_interfaces/Duration\n" NUMBERS, change->out);
  return end_text(change->out, &changed, result, error);
}

tb_status_t tb__ros1_text_to_ros2(const char *type, const char *text, char **out, tb_error_t *error)
{
  return change_text(&(change_t){.to_ros1 = false}, type, text, out, error);
}

tb_status_t tb__ros2_text_to_ros1(const char *type, const char *text, bool has_known, char **out,
                                  tb_error_t *error)
{
  return change_text(&(change_t){.to_ros1 = true, .has_known = has_known}, type, text, out, error);
}

/* --- from schemas --- */

static const char *short_name(const char *full, char out[TB__DEFINITION_NAME_SIZE])
{
  const char *message = strstr(full, "/msg/");
  if (message)
    snprintf(out, TB__DEFINITION_NAME_SIZE, "%.*s%s", (int)(message - full), full, message + 4);
  else
    snprintf(out, TB__DEFINITION_NAME_SIZE, "%s", full);
  return out;
}

static void put_schema_field(FILE *out, const tb__schema_t *schema, const tb__schema_field_t *field)
{
  char name[TB__DEFINITION_NAME_SIZE];
  const char *type = field->is.kind == TB__FIELD_STRUCT
                         ? short_name(schema->types[field->is.type].name, name)
                         : tb__field_kind_name(field->is.kind);
  fputs(type, out);
  if (field->is.text_max > 0) fprintf(out, "<=%u", (unsigned)field->is.text_max);
  if (field->is.shape == TB__FIELD_ARRAY)
    fprintf(out, "[%u]", (unsigned)field->is.count);
  else if (field->is.shape == TB__FIELD_SEQUENCE && field->is.count > 0)
    fprintf(out, "[<=%u]", (unsigned)field->is.count);
  else if (field->is.shape == TB__FIELD_SEQUENCE)
    fputs("[]", out);
  fprintf(out, " %s\n", field->name);
}

static void put_schema_type(FILE *out, const tb__schema_t *schema, const tb__schema_type_t *type)
{
  char name[TB__DEFINITION_NAME_SIZE];
  if (type != &schema->types[schema->root])
    fprintf(out, RULE "MSG: %s\n", short_name(type->name, name));
  for (uint32_t i = 0; i < type->field_count; i++) {
    const tb__schema_field_t *field = &schema->fields[type->first_field + i];
    if (strcmp(field->name, TB__NO_FIELDS) != 0) put_schema_field(out, schema, field);
  }
}

tb_status_t tb__schema_to_text(const tb__schema_t *schema, char **result, tb_error_t *error)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return tb__no_memory_for(error, "message definition");
  put_schema_type(out, schema, &schema->types[schema->root]);
  for (uint32_t i = 0; i < schema->type_count; i++)
    if (schema->types[i].is_used && i != schema->root)
      put_schema_type(out, schema, &schema->types[i]);
  return end_text(out, &text, result, error);
}
