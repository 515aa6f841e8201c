/* Two schemas, matched field by field, to the steps of a plan. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "definition/reencode.h"
#include "definition/schema_builder.h"

#define FIELDS_MAX 65536 /* with those of types within types */
#define STEPS_MAX  16384
#define PATH_SIZE  256

typedef struct matcher {
  tb__reencode_plan_t *plan;
  const tb__schema_t *ros1, *ros2;
  tb_error_t *error;
  char path[PATH_SIZE]; /* of the field that is matched; what does not fit is left out */
  size_t fields;        /* that were matched */
  size_t barrier;       /* steps before this one are not continued */
} matcher_t;

typedef struct pair {
  const tb__schema_field_t *ros1, *ros2;
} pair_t;

static tb_status_t match_types(matcher_t *matcher, uint32_t ros1, uint32_t ros2, unsigned depth);

/* --- texts --- */

typedef struct type_text {
  char text[TB__SCHEMA_NAME_MAX + 48];
} type_text_t;

/* "float64[9]", "geometry_msgs/Pose[]", "string" */
static type_text_t text_of(const tb__schema_t *schema, const tb__field_type_t *is)
{
  type_text_t out;
  char shape[32] = "";
  if (is->shape == TB__FIELD_ARRAY) snprintf(shape, sizeof shape, "[%u]", (unsigned)is->count);
  if (is->shape == TB__FIELD_SEQUENCE) snprintf(shape, sizeof shape, "[]");
  const char *name =
      is->kind == TB__FIELD_STRUCT ? schema->types[is->type].name : tb__field_kind_name(is->kind);
  const char *message = strstr(name, "/msg/");
  if (message)
    snprintf(out.text, sizeof out.text, "%.*s/%s%s", (int)(message - name), name, message + 5,
             shape);
  else
    snprintf(out.text, sizeof out.text, "%s%s", name, shape);
  return out;
}

static const char *root_name(const tb__schema_t *schema)
{
  return schema->types[schema->root].name;
}

static tb_status_t refuse(const matcher_t *matcher, const char *ros1, const char *ros2)
{
  return tb_error_set(matcher->error, TB_ERR_UNSUPPORTED,
                      "%.120s does not match %.120s of ROS 2: field %.120s is %.100s in ROS 1, and "
                      "%.100s in ROS 2",
                      text_of(matcher->ros1, &(tb__field_type_t){.kind = TB__FIELD_STRUCT,
                                                                 .type = matcher->ros1->root})
                          .text,
                      root_name(matcher->ros2), matcher->path, ros1, ros2);
}

static tb_status_t refuse_kinds(const matcher_t *matcher, pair_t pair)
{
  return refuse(matcher, text_of(matcher->ros1, &pair.ros1->is).text,
                text_of(matcher->ros2, &pair.ros2->is).text);
}

static tb_status_t refuse_names(const matcher_t *matcher, pair_t pair)
{
  char ros1[80] = "missing", ros2[80] = "missing";
  if (pair.ros1) snprintf(ros1, sizeof ros1, "named '%.60s'", pair.ros1->name);
  if (pair.ros2) snprintf(ros2, sizeof ros2, "named '%.60s'", pair.ros2->name);
  return refuse(matcher, ros1, ros2);
}

/* --- steps --- */

static bool make_room(void **items, size_t *room, size_t needed, size_t size)
{
  if (needed <= *room) return true;
  size_t larger = *room * 2 > needed ? *room * 2 : needed + 16;
  void *grown = reallocarray(*items, larger, size);
  if (!grown) return false;
  *items = grown;
  *room = larger;
  return true;
}

static tb_status_t too_many(const matcher_t *matcher)
{
  return tb_error_set(matcher->error, TB_ERR_LIMIT,
                      "%.120s: more fields than can be re-encoded: at most %d in all",
                      root_name(matcher->ros1), FIELDS_MAX);
}

static tb_status_t add_step(matcher_t *matcher, tb__reencode_step_t step)
{
  tb__reencode_plan_t *plan = matcher->plan;
  size_t length = strlen(matcher->path) + 1;
  if (plan->step_count == STEPS_MAX) return too_many(matcher);
  if (!make_room((void **)&plan->steps, &plan->step_room, plan->step_count + 1,
                 sizeof *plan->steps) ||
      !make_room((void **)&plan->paths, &plan->paths_room, plan->paths_size + length, 1))
    return tb__no_memory_for(matcher->error, "re-encoder");
  memcpy(plan->paths + plan->paths_size, matcher->path, length);
  step.path = (uint32_t)plan->paths_size;
  plan->paths_size += length;
  plan->steps[plan->step_count++] = step;
  return TB_OK;
}

static tb_status_t add_piece(matcher_t *matcher, uint32_t width, uint32_t count)
{
  tb__reencode_plan_t *plan = matcher->plan;
  if (!make_room((void **)&plan->pieces, &plan->piece_room, plan->piece_count + 1,
                 sizeof *plan->pieces))
    return tb__no_memory_for(matcher->error, "re-encoder");
  plan->pieces[plan->piece_count++] = (tb__reencode_piece_t){width, count};
  return TB_OK;
}

/* Numbers of `width` bytes: they continue the step before where no padding can be between. */
static tb_status_t add_numbers(matcher_t *matcher, uint32_t width, uint32_t count)
{
  tb__reencode_plan_t *plan = matcher->plan;
  tb__reencode_step_t *last =
      plan->step_count > matcher->barrier ? &plan->steps[plan->step_count - 1] : NULL;
  bool continues =
      last && last->kind == TB__REENCODE_COPY && width <= last->align && last->size % width == 0;
  uint64_t size = (uint64_t)width * count;
  if (last && continues) size += last->size;
  tb_status_t status = TB_OK;
  if (size > TB__EXTENT_MAX) return too_many(matcher);
  if (!continues)
    status = add_step(matcher, (tb__reencode_step_t){.kind = TB__REENCODE_COPY,
                                                     .align = width,
                                                     .first_piece = (uint32_t)plan->piece_count});
  if (status || !plan->steps) return status;
  last = &plan->steps[plan->step_count - 1];
  last->size = (uint32_t)size;
  tb__reencode_piece_t *piece = last->piece_count > 0 ? &plan->pieces[plan->piece_count - 1] : NULL;
  if (piece && piece->width == width) {
    piece->count += count;
    return TB_OK;
  }
  last->piece_count++;
  return add_piece(matcher, width, count);
}

static bool is_bare(const tb__field_type_t *is)
{
  return is->shape == TB__FIELD_SINGLE;
}

/* What was begun with the step at `begin`, whose body is complete: one run of bytes for each
 * element needs no loop, and an array of equal numbers not even a step. */
static tb_status_t end_loop(matcher_t *matcher, size_t begin, size_t barrier)
{
  tb__reencode_plan_t *plan = matcher->plan;
  tb__reencode_step_t *loop = &plan->steps[begin];
  const tb__reencode_step_t body = plan->steps[plan->step_count - 1];
  loop->body = (uint32_t)(plan->step_count - begin - 1);
  matcher->barrier = plan->step_count;
  if (loop->body != 1 || body.kind != TB__REENCODE_COPY || body.size % body.align != 0)
    return TB_OK;
  uint32_t count = loop->count;
  if (!loop->is_sequence && body.piece_count == 1) {
    const tb__reencode_piece_t piece = plan->pieces[body.first_piece];
    if ((uint64_t)piece.count * count * piece.width > TB__EXTENT_MAX) return too_many(matcher);
    plan->piece_count--;
    plan->step_count = begin;
    matcher->barrier = barrier;
    return add_numbers(matcher, piece.width, piece.count * count);
  }
  loop->kind = TB__REENCODE_MANY;
  loop->align = body.align;
  loop->size = body.size;
  loop->first_piece = body.first_piece;
  loop->piece_count = body.piece_count;
  loop->body = 0;
  plan->step_count = matcher->barrier = begin + 1;
  return TB_OK;
}

/* --- fields --- */

/* ROS 1 has no signed and no unsigned byte that it calls one; ROS 2's is unsigned. */
static bool are_same_numbers(tb__field_kind_t ros1, tb__field_kind_t ros2)
{
  return ros1 == ros2 || (ros1 == TB__FIELD_INT8 && ros2 == TB__FIELD_UINT8);
}

static const tb__schema_field_t *field_at(const tb__schema_t *schema, const tb__schema_type_t *type,
                                          uint32_t index)
{
  return index < type->field_count ? &schema->fields[type->first_field + index] : NULL;
}

static bool has_two_numbers(const tb__schema_t *schema, const tb__schema_type_t *type,
                            tb__field_kind_t first, tb__field_kind_t second)
{
  const tb__schema_field_t *fields = &schema->fields[type->first_field];
  return type->field_count == 2 && is_bare(&fields[0].is) && is_bare(&fields[1].is) &&
         fields[0].is.kind == first && fields[1].is.kind == second;
}

/* A time of ROS 1 and builtin_interfaces/Time, or the durations. False: neither. */
static bool time_step(const matcher_t *matcher, uint32_t ros1, uint32_t ros2,
                      tb__reencode_kind_t *out)
{
  const tb__schema_type_t *one = &matcher->ros1->types[ros1], *two = &matcher->ros2->types[ros2];
  bool is_time = strcmp(two->name, "builtin_interfaces/msg/Time") == 0;
  if (strcmp(one->name, two->name) != 0 ||
      (!is_time && strcmp(two->name, "builtin_interfaces/msg/Duration") != 0))
    return false;
  tb__field_kind_t kind = is_time ? TB__FIELD_UINT32 : TB__FIELD_INT32;
  *out = is_time ? TB__REENCODE_TIME : TB__REENCODE_DURATION;
  return has_two_numbers(matcher->ros1, one, kind, kind) &&
         has_two_numbers(matcher->ros2, two, TB__FIELD_INT32, TB__FIELD_UINT32);
}

static bool are_same_names(const char *a, const char *b)
{
  for (;; a++, b++) {
    a += strspn(a, "_");
    b += strspn(b, "_");
    if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return false;
    if (!*a) return true;
  }
}

static tb_status_t match_element(matcher_t *matcher, pair_t pair, unsigned depth)
{
  tb__field_kind_t kind = pair.ros1->is.kind;
  if (kind == TB__FIELD_STRING)
    return add_step(matcher, (tb__reencode_step_t){.kind = TB__REENCODE_STRING,
                                                   .count = pair.ros2->is.text_max});
  if (kind == TB__FIELD_STRUCT)
    return match_types(matcher, pair.ros1->is.type, pair.ros2->is.type, depth + 1);
  return add_numbers(matcher, tb__field_width(kind), 1);
}

static tb_status_t match_many(matcher_t *matcher, pair_t pair, unsigned depth)
{
  size_t begin = matcher->plan->step_count, barrier = matcher->barrier;
  tb_status_t status = add_step(
      matcher, (tb__reencode_step_t){.kind = TB__REENCODE_LOOP,
                                     .is_sequence = pair.ros2->is.shape == TB__FIELD_SEQUENCE,
                                     .count = pair.ros2->is.count});
  matcher->barrier = begin + 1;
  if (!status) status = match_element(matcher, pair, depth);
  return status ? status : end_loop(matcher, begin, barrier);
}

static tb_status_t match_field(matcher_t *matcher, pair_t pair, unsigned depth)
{
  const tb__field_type_t *ros1 = &pair.ros1->is, *ros2 = &pair.ros2->is;
  bool has_count = ros1->shape == TB__FIELD_ARRAY;
  if (matcher->fields++ == FIELDS_MAX || depth > TB__SCHEMA_DEPTH_MAX) return too_many(matcher);
  if (!are_same_numbers(ros1->kind, ros2->kind) || ros1->shape != ros2->shape ||
      (has_count && ros1->count != ros2->count))
    return refuse_kinds(matcher, pair);
  if (ros1->kind == TB__FIELD_BOOL)
    return add_step(matcher, (tb__reencode_step_t){.kind = TB__REENCODE_BOOLS,
                                                   .align = 1,
                                                   .is_sequence = ros2->shape == TB__FIELD_SEQUENCE,
                                                   .count = is_bare(ros2) ? 1 : ros2->count});
  if (has_count && tb__field_width(ros1->kind) > 0)
    return add_numbers(matcher, tb__field_width(ros1->kind), ros1->count);
  return is_bare(ros1) ? match_element(matcher, pair, depth) : match_many(matcher, pair, depth);
}

/* The header of ROS 1 begins with a number that ROS 2's has not. */
static bool has_extra_sequence(const matcher_t *matcher, const tb__schema_type_t *ros1,
                               const tb__schema_type_t *ros2)
{
  const tb__schema_field_t *one = field_at(matcher->ros1, ros1, 0);
  const tb__schema_field_t *two = field_at(matcher->ros2, ros2, 0);
  const char *name = strrchr(ros1->name, '/');
  return name && strcmp(name, "/Header") == 0 && one && strcmp(one->name, "seq") == 0 &&
         one->is.kind == TB__FIELD_UINT32 && is_bare(&one->is) &&
         !(two && strcmp(two->name, "seq") == 0);
}

/* Adds ".name" to the path. */
static void enter(matcher_t *matcher, const tb__schema_field_t *field)
{
  size_t length = strlen(matcher->path);
  snprintf(matcher->path + length, sizeof matcher->path - length, "%s%s%s", length > 0 ? "." : "",
           field->name, is_bare(&field->is) ? "" : "[]");
}

/* A header is read at once where it is as everywhere; otherwise its steps are a loop of one. */
static void end_header(const matcher_t *matcher, size_t begin)
{
  static const tb__reencode_kind_t usual[] = {TB__REENCODE_COUNT, TB__REENCODE_TIME,
                                              TB__REENCODE_STRING};
  tb__reencode_step_t *steps = &matcher->plan->steps[begin];
  steps->body = (uint32_t)(matcher->plan->step_count - begin - 1);
  bool is_usual = steps->body == 3 && steps[3].count == 0;
  for (uint32_t i = 0; i < 3 && is_usual; i++)
    is_usual = steps[i + 1].kind == usual[i];
  if (!is_usual) steps->kind = TB__REENCODE_LOOP;
}

static bool is_placeholder(const tb__schema_field_t *field)
{
  return field && strcmp(field->name, TB__NO_FIELDS) == 0;
}

static tb_status_t match_fields(matcher_t *matcher, const tb__schema_type_t *ros1,
                                const tb__schema_type_t *ros2, uint32_t skipped, unsigned depth)
{
  size_t length = strlen(matcher->path);
  tb_status_t status = TB_OK;
  for (uint32_t i = 0; !status; i++) {
    pair_t pair = {field_at(matcher->ros1, ros1, i + skipped), field_at(matcher->ros2, ros2, i)};
    if (!pair.ros1 && !pair.ros2) break;
    enter(matcher, pair.ros1 ? pair.ros1 : pair.ros2);
    if (!pair.ros1 || !pair.ros2 || !are_same_names(pair.ros1->name, pair.ros2->name))
      status = refuse_names(matcher, pair);
    else
      status = match_field(matcher, pair, depth);
    matcher->path[length] = '\0';
  }
  return status;
}

static tb_status_t match_header(matcher_t *matcher, const tb__schema_type_t *ros1,
                                const tb__schema_type_t *ros2, unsigned depth)
{
  size_t begin = matcher->plan->step_count;
  bool is_first = begin == 0 && depth <= 1; /* of the message, and not of a type in it */
  tb_status_t status = add_step(
      matcher,
      (tb__reencode_step_t){.kind = TB__REENCODE_HEADER, .is_first = is_first, .count = 1});
  if (!status)
    status =
        add_step(matcher, (tb__reencode_step_t){.kind = TB__REENCODE_COUNT, .is_first = is_first});
  if (!status) status = match_fields(matcher, ros1, ros2, 1, depth);
  if (!status) end_header(matcher, begin);
  return status;
}

static tb_status_t match_types(matcher_t *matcher, uint32_t ros1, uint32_t ros2, unsigned depth)
{
  const tb__schema_type_t *one = &matcher->ros1->types[ros1], *two = &matcher->ros2->types[ros2];
  tb__reencode_kind_t kind;
  if (matcher->fields++ == FIELDS_MAX) return too_many(matcher);
  if (time_step(matcher, ros1, ros2, &kind))
    return add_step(matcher, (tb__reencode_step_t){.kind = kind, .align = 4, .size = 8});
  if (one->field_count == 0 && is_placeholder(field_at(matcher->ros2, two, 0)))
    return add_step(matcher, (tb__reencode_step_t){.kind = TB__REENCODE_BYTE, .align = 1});
  return has_extra_sequence(matcher, one, two) ? match_header(matcher, one, two, depth)
                                               : match_fields(matcher, one, two, 0, depth);
}

/* std_msgs/Time of ROS 1 is builtin_interfaces/Time in ROS 2: its only field. */
static uint32_t root_of_ros1(const tb__schema_t *ros1, const tb__schema_t *ros2)
{
  const tb__schema_type_t *root = &ros1->types[ros1->root];
  const tb__schema_field_t *field = field_at(ros1, root, 0);
  bool is_one = root->field_count == 1 && is_bare(&field->is) && field->is.kind == TB__FIELD_STRUCT;
  bool is_builtin = strncmp(root_name(ros2), "builtin_interfaces/", 19) == 0;
  return is_one && is_builtin ? field->is.type : ros1->root;
}

/* --- logs --- */

/* What both generations have, in this order; ROS 1 has a header before it and topics after. */
static const char *const log_texts[] = {"name", "msg", "file", "function"};

static bool is_field(const tb__schema_t *schema, uint32_t number, const char *name,
                     tb__field_kind_t kind)
{
  const tb__schema_field_t *field = field_at(schema, &schema->types[schema->root], number);
  tb__field_shape_t shape = number == 7 ? TB__FIELD_SEQUENCE : TB__FIELD_SINGLE; /* topics */
  return field && field->is.kind == kind && field->is.shape == shape &&
         strcmp(field->name, name) == 0;
}

static bool is_log(const tb__schema_t *schema, const char *name, const char *stamp,
                   tb__field_kind_t level)
{
  bool is = strcmp(root_name(schema), name) == 0 && is_field(schema, 0, stamp, TB__FIELD_STRUCT) &&
            is_field(schema, 1, "level", level) && is_field(schema, 6, "line", TB__FIELD_UINT32);
  for (uint32_t i = 0; i < 4 && is; i++)
    is = is_field(schema, 2 + i, log_texts[i], TB__FIELD_STRING);
  return is;
}

static tb_status_t add_at(matcher_t *matcher, const char *path, tb__reencode_step_t step)
{
  snprintf(matcher->path, sizeof matcher->path, "%s", path);
  return add_step(matcher, step);
}

/* rosgraph_msgs/Log and rcl_interfaces/msg/Log differ in more than names. */
static tb_status_t match_logs(matcher_t *matcher)
{
  const tb__schema_field_t line = {.name = "line", .is = {.kind = TB__FIELD_UINT32, .count = 1}};
  tb_status_t status = add_at(matcher, "header.seq",
                              (tb__reencode_step_t){.kind = TB__REENCODE_COUNT, .is_first = true});
  if (!status)
    status = add_at(matcher, "stamp",
                    (tb__reencode_step_t){.kind = TB__REENCODE_TIME, .align = 4, .size = 8});
  if (!status)
    status = add_at(matcher, "header.frame_id", (tb__reencode_step_t){.kind = TB__REENCODE_TEXTS});
  if (!status) status = add_at(matcher, "level", (tb__reencode_step_t){.kind = TB__REENCODE_LEVEL});
  for (size_t i = 0; i < 4 && !status; i++)
    status = add_at(matcher, log_texts[i], (tb__reencode_step_t){.kind = TB__REENCODE_STRING});
  snprintf(matcher->path, sizeof matcher->path, "line");
  if (!status) status = match_field(matcher, (pair_t){&line, &line}, 0);
  return status ? status
                : add_at(matcher, "topics",
                         (tb__reencode_step_t){.kind = TB__REENCODE_TEXTS, .is_sequence = true});
}

tb_status_t tb__reencode_plan_init(tb__reencode_plan_t *plan, const tb__schema_t *ros1,
                                   const tb__schema_t *ros2, bool to_ros1, tb_error_t *error)
{
  matcher_t matcher = {.plan = plan, .ros1 = ros1, .ros2 = ros2, .error = error};
  *plan = (tb__reencode_plan_t){.to_ros1 = to_ros1};
  if (is_log(ros1, "rosgraph_msgs/msg/Log", "header", TB__FIELD_INT8) &&
      is_field(ros1, 7, "topics", TB__FIELD_STRING) &&
      is_log(ros2, "rcl_interfaces/msg/Log", "stamp", TB__FIELD_UINT8))
    return match_logs(&matcher);
  return match_types(&matcher, root_of_ros1(ros1, ros2), ros2->root, 0);
}

void tb__reencode_plan_fini(tb__reencode_plan_t *plan)
{
  free(plan->steps);
  free(plan->pieces);
  free(plan->paths);
  *plan = (tb__reencode_plan_t){0};
}
