#include <timebase/ros1_parameter.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/null_argument.h"
#include "ros1/master_call.h"
#include "ros1/topic_name.h"
#include "ros1/value.h"

#define LIMIT_DEFAULT_NS INT64_C(5000000000)

/* One call of the master, from another thread. */
typedef struct question {
  tb__master_call_t call;
  const char *method, *name;
  const tb_ros1_parameter_t *value; /* to be set; NULL: none */
  tb_ros1_parameter_t *out;         /* NULL: the answer has no such value */
  const tb_ros1_value_t *tree;      /* to be set; NULL: none */
  const tb_ros1_value_t **out_tree; /* NULL: the answer has no such value */
  tb__xmlrpc_exchange_t exchange;
} question_t;

static tb_status_t read_value(const tb__xmlrpc_value_t *value, tb_ros1_parameter_t *out)
{
  *out = (tb_ros1_parameter_t){.type = TB_ROS1_PARAMETER_OTHER};
  switch (value->type) {
  case TB__XMLRPC_BOOLEAN:
    out->type = TB_ROS1_PARAMETER_BOOL;
    out->integer = value->integer != 0;
    break;
  case TB__XMLRPC_INT:
    if (value->integer < INT32_MIN || value->integer > INT32_MAX) break;
    out->type = TB_ROS1_PARAMETER_INT;
    out->integer = (int32_t)value->integer;
    break;
  case TB__XMLRPC_DOUBLE:
    out->type = TB_ROS1_PARAMETER_DOUBLE;
    out->number = value->number;
    break;
  case TB__XMLRPC_STRING:
    out->type = TB_ROS1_PARAMETER_STRING;
    out->text = strdup(value->text);
    return out->text ? TB_OK : TB_ERR_NO_MEMORY;
  default:
    break;
  }
  return TB_OK;
}

static tb_status_t take_answer(question_t *question, const tb__xmlrpc_message_t *answer,
                               const tb_error_t *error)
{
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  tb_error_t *out = &question->call.error;
  if (!answer) return tb__master_call_unanswered(&question->call, error->text);
  if (!tb__xmlrpc_answer(answer, &code, &text, &value))
    return tb__master_call_unanswered(&question->call, "what answers is no ROS 1 master");
  if (code != 1) return tb_error_set(out, TB_ERR_NOT_FOUND, "%s: %s", question->call.what, text);
  if (question->out && read_value(value, question->out)) return tb__no_memory_for(out, "parameter");
  if (question->out_tree && !(*question->out_tree = tb__ros1_value_copy(value)))
    return tb__no_memory_for(out, "parameter");
  return TB_OK;
}

static void answered(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                     const tb_error_t *error)
{
  question_t *question = TB__ROS1_OWNER(exchange, question_t, exchange);
  tb__master_call_end(&question->call, take_answer(question, answer, error));
}

static void put_value(tb__xmlrpc_writer_t *call, const tb_ros1_parameter_t *value)
{
  if (value->type == TB_ROS1_PARAMETER_BOOL)
    tb__xmlrpc_put_boolean(call, value->integer != 0);
  else if (value->type == TB_ROS1_PARAMETER_INT)
    tb__xmlrpc_put_int(call, value->integer);
  else if (value->type == TB_ROS1_PARAMETER_DOUBLE)
    tb__xmlrpc_put_double(call, value->number);
  else
    tb__xmlrpc_put_string(call, value->text);
}

static void ask(void *user)
{
  question_t *question = user;
  tb__ros1_node_t *node = &question->call.context->node;
  tb__xmlrpc_writer_t call;
  tb__xmlrpc_begin_call(&call, question->method);
  tb__xmlrpc_put_string(&call, node->name);
  if (question->name) tb__xmlrpc_put_string(&call, question->name);
  if (question->tree) tb__ros1_value_put(&call, question->tree);
  if (question->value) put_value(&call, question->value);
  tb__xmlrpc_end(&call);
  tb__xmlrpc_exchange_start(&question->exchange, node->loop, &node->master, &call, answered);
}

static void give_up(void *user)
{
  question_t *question = user;
  if (!atomic_load(&question->call.done)) tb__xmlrpc_exchange_cancel(&question->exchange);
}

static tb_status_t run(tb_ros1_context_t *context, question_t *question, tb_duration_t limit,
                       tb_error_t *error)
{
  int64_t limit_ns = limit.ns ? limit.ns : LIMIT_DEFAULT_NS;
  bool is_all = !question->name || (question->out_tree && !strcmp(question->name, "/"));
  if ((!is_all && !tb__ros1_topic_is_valid(question->name)) || limit_ns < 0)
    return tb_error_set(
        error, TB_ERR_INVALID,
        "parameter of ROS 1: \"%.99s\" must be an absolute name like /use_sim_time, "
        "and the limit not negative",
        question->name ? question->name : "");
  question->call.context = context;
  question->call.what = question->name ? question->name : "parameters";
  return tb__master_call_run(&question->call, limit_ns, ask, give_up, question, error);
}

tb_status_t tb_ros1_parameter_get(tb_ros1_context_t *context, const char *name, tb_duration_t limit,
                                  tb_ros1_parameter_t *out, tb_error_t *error)
{
  if (!context || !name || !out) return tb__null_argument(error, __func__);
  tb_ros1_parameter_t read = {.type = TB_ROS1_PARAMETER_OTHER};
  question_t question = {.method = "getParam", .name = name, .out = &read};
  tb_status_t status = run(context, &question, limit, error);
  if (!status) *out = read;
  return status;
}

void tb_ros1_parameter_release(tb_ros1_parameter_t *parameter)
{
  if (!parameter || parameter->type != TB_ROS1_PARAMETER_STRING) return;
  union {
    const char *in;
    char *out;
  } text = {.in = parameter->text}; /* memory of tb_ros1_parameter_get */
  free(text.out);
  *parameter = (tb_ros1_parameter_t){.type = TB_ROS1_PARAMETER_OTHER};
}

tb_status_t tb_ros1_parameter_set(tb_ros1_context_t *context, const char *name,
                                  const tb_ros1_parameter_t *value, tb_duration_t limit,
                                  tb_error_t *error)
{
  if (!context || !name || !value) return tb__null_argument(error, __func__);
  bool is_known = value->type >= TB_ROS1_PARAMETER_BOOL && value->type <= TB_ROS1_PARAMETER_STRING;
  if (!is_known || (value->type == TB_ROS1_PARAMETER_STRING && !value->text) ||
      (value->type == TB_ROS1_PARAMETER_DOUBLE && !isfinite(value->number)))
    return tb_error_set(error, TB_ERR_INVALID,
                        "%s: the value must be a boolean, an integer, a finite number or a text",
                        name);
  question_t question = {.method = "setParam", .name = name, .value = value};
  return run(context, &question, limit, error);
}

tb_status_t tb_ros1_parameter_delete(tb_ros1_context_t *context, const char *name,
                                     tb_duration_t limit, tb_error_t *error)
{
  if (!context || !name) return tb__null_argument(error, __func__);
  question_t question = {.method = "deleteParam", .name = name};
  return run(context, &question, limit, error);
}

tb_status_t tb_ros1_parameter_read(tb_ros1_context_t *context, const char *name,
                                   tb_duration_t limit, const tb_ros1_value_t **out,
                                   tb_error_t *error)
{
  if (!context || !name || !out) return tb__null_argument(error, __func__);
  const tb_ros1_value_t *read = NULL;
  question_t question = {.method = "getParam", .name = name, .out_tree = &read};
  tb_status_t status = run(context, &question, limit, error);
  if (!status) *out = read;
  return status;
}

tb_status_t tb_ros1_parameter_write(tb_ros1_context_t *context, const char *name,
                                    const tb_ros1_value_t *value, tb_duration_t limit,
                                    tb_error_t *error)
{
  if (!context || !name || !value) return tb__null_argument(error, __func__);
  const char *problem = tb__ros1_value_problem(value);
  if (problem) return tb_error_set(error, TB_ERR_INVALID, "%s: %s", name, problem);
  question_t question = {.method = "setParam", .name = name, .tree = value};
  return run(context, &question, limit, error);
}

tb_status_t tb_ros1_parameter_names(tb_ros1_context_t *context, tb_duration_t limit,
                                    const tb_ros1_value_t **out, tb_error_t *error)
{
  if (!context || !out) return tb__null_argument(error, __func__);
  const tb_ros1_value_t *read = NULL;
  question_t question = {.method = "getParamNames", .out_tree = &read};
  tb_status_t status = run(context, &question, limit, error);
  if (!status) *out = read;
  return status;
}
