#include "ros1/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32 /* what is read is limited by the parser */

/* --- reading --- */

static void memory_free(const void *pointer)
{
  union {
    const void *in;
    void *out;
  } memory = {.in = pointer};
  free(memory.out);
}

static void value_fini(const tb_ros1_value_t *value)
{
  for (size_t i = 0; i < value->count; i++)
    value_fini(&value->items[i]);
  memory_free(value->items);
  memory_free(value->text);
  memory_free(value->name);
}

void tb_ros1_value_release(const tb_ros1_value_t *value)
{
  if (!value) return;
  value_fini(value);
  memory_free(value);
}

static tb_ros1_parameter_type_t type_of(const tb__xmlrpc_value_t *value)
{
  switch (value->type) {
  case TB__XMLRPC_BOOLEAN:
    return TB_ROS1_PARAMETER_BOOL;
  case TB__XMLRPC_INT:
    return value->integer < INT32_MIN || value->integer > INT32_MAX ? TB_ROS1_PARAMETER_OTHER
                                                                    : TB_ROS1_PARAMETER_INT;
  case TB__XMLRPC_DOUBLE:
    return TB_ROS1_PARAMETER_DOUBLE;
  case TB__XMLRPC_STRING:
    return TB_ROS1_PARAMETER_STRING;
  case TB__XMLRPC_ARRAY:
    return TB_ROS1_PARAMETER_LIST;
  case TB__XMLRPC_STRUCT:
    return TB_ROS1_PARAMETER_DICTIONARY;
  default:
    return TB_ROS1_PARAMETER_OTHER;
  }
}

/* False: no memory; what there is can be released. */
static bool copy(const tb__xmlrpc_value_t *value, tb_ros1_value_t *out)
{
  out->type = type_of(value);
  if (out->type == TB_ROS1_PARAMETER_BOOL) out->integer = value->integer != 0;
  if (out->type == TB_ROS1_PARAMETER_INT) out->integer = (int32_t)value->integer;
  if (out->type == TB_ROS1_PARAMETER_DOUBLE) out->number = value->number;
  bool has_text = out->type == TB_ROS1_PARAMETER_STRING || out->type == TB_ROS1_PARAMETER_OTHER;
  if (has_text && !(out->text = strdup(value->text ? value->text : ""))) return false;
  if (value->name && !(out->name = strdup(value->name))) return false;
  if (out->type != TB_ROS1_PARAMETER_LIST && out->type != TB_ROS1_PARAMETER_DICTIONARY) return true;
  tb_ros1_value_t *items = calloc((size_t)value->count + 1, sizeof *items);
  if (!items) return false;
  out->items = items;
  for (const tb__xmlrpc_value_t *one = value->first; one; one = one->next)
    if (!copy(one, &items[out->count++])) return false;
  return true;
}

const tb_ros1_value_t *tb__ros1_value_copy(const tb__xmlrpc_value_t *value)
{
  tb_ros1_value_t *out = calloc(1, sizeof *out);
  if (!out || copy(value, out)) return out;
  value_fini(out);
  free(out);
  return NULL;
}

/* --- writing --- */

static const char *problem_at(const tb_ros1_value_t *value, int depth)
{
  bool is_dictionary = value->type == TB_ROS1_PARAMETER_DICTIONARY;
  if (depth > DEPTH_MAX) return "it has more than 32 lists and dictionaries inside each other";
  if (value->type <= TB_ROS1_PARAMETER_OTHER || value->type > TB_ROS1_PARAMETER_DICTIONARY)
    return "it has a value of a type that cannot be set";
  if (value->type == TB_ROS1_PARAMETER_STRING && !value->text) return "a text is NULL";
  if (value->type == TB_ROS1_PARAMETER_DOUBLE && !isfinite(value->number))
    return "XML-RPC has no infinity and no NaN";
  if (!is_dictionary && value->type != TB_ROS1_PARAMETER_LIST) return NULL;
  if (value->count && !value->items) return "its items are NULL";
  for (size_t i = 0; i < value->count; i++) {
    if (is_dictionary && !value->items[i].name) return "a key is NULL";
    const char *problem = problem_at(&value->items[i], depth + 1);
    if (problem) return problem;
  }
  return NULL;
}

const char *tb__ros1_value_problem(const tb_ros1_value_t *value)
{
  return problem_at(value, 1);
}

void tb__ros1_value_put(tb__xmlrpc_writer_t *call, const tb_ros1_value_t *value)
{
  switch (value->type) {
  case TB_ROS1_PARAMETER_BOOL:
    tb__xmlrpc_put_boolean(call, value->integer != 0);
    return;
  case TB_ROS1_PARAMETER_INT:
    tb__xmlrpc_put_int(call, value->integer);
    return;
  case TB_ROS1_PARAMETER_DOUBLE:
    tb__xmlrpc_put_double(call, value->number);
    return;
  case TB_ROS1_PARAMETER_LIST:
    tb__xmlrpc_begin_array(call);
    for (size_t i = 0; i < value->count; i++)
      tb__ros1_value_put(call, &value->items[i]);
    tb__xmlrpc_end_array(call);
    return;
  case TB_ROS1_PARAMETER_DICTIONARY:
    tb__xmlrpc_begin_struct(call);
    for (size_t i = 0; i < value->count; i++) {
      tb__xmlrpc_begin_member(call, value->items[i].name);
      tb__ros1_value_put(call, &value->items[i]);
      tb__xmlrpc_end_member(call);
    }
    tb__xmlrpc_end_struct(call);
    return;
  default:
    tb__xmlrpc_put_string(call, value->text);
  }
}
