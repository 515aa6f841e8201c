#include "ros1/sim_time.h"

#include "base/log.h"

#define PARAMETER TB__SIM_TIME_PARAMETER
#define RETRY_NS  INT64_C(1000000000)
#define LOOK_NS   INT64_C(2000000000)

/* True for Python, where any text but the empty one is. */
static bool is_true_elsewhere(const tb__xmlrpc_value_t *value)
{
  switch (value->type) {
  case TB__XMLRPC_INT:
    return value->integer != 0;
  case TB__XMLRPC_DOUBLE:
    return value->number != 0;
  case TB__XMLRPC_STRING:
    return value->text[0] != '\0';
  case TB__XMLRPC_ARRAY:
  case TB__XMLRPC_STRUCT:
    return value->count > 0;
  default:
    return false;
  }
}

tb__sim_time_t tb__sim_time_of(const tb__xmlrpc_message_t *answer)
{
  /* X6: the boolean true; a value that is not set comes with the code -1 */
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  if (!tb__xmlrpc_answer(answer, &code, &text, &value)) return TB__SIM_TIME_UNKNOWN;
  if (code != 1) return TB__SIM_TIME_OFF;
  if (value->type == TB__XMLRPC_BOOLEAN) return value->integer ? TB__SIM_TIME_ON : TB__SIM_TIME_OFF;
  return is_true_elsewhere(value) ? TB__SIM_TIME_ODD : TB__SIM_TIME_OFF;
}

static void look_for_late_change(tb__sim_time_reader_t *reader, tb__sim_time_t value)
{
  if (reader->reported_late || reader->value == TB__SIM_TIME_ON || value != TB__SIM_TIME_ON) return;
  reader->reported_late = true;
  tb__log(TB_LOG_WARN,
          PARAMETER " was set after %s had started, which stays on system time, as all nodes of "
                    "ROS 1 do that read it before; restart the program, or set it earlier",
          reader->node->name);
}

static void take(tb__sim_time_reader_t *reader, tb__sim_time_t value)
{
  if (reader->value != TB__SIM_TIME_UNKNOWN) {
    look_for_late_change(reader, value);
    return;
  }
  reader->value = value;
  if (value == TB__SIM_TIME_ODD)
    tb__log(TB_LOG_WARN,
            PARAMETER
            " is true, but not a boolean: rospy follows /clock, roscpp does not, nor does "
            "%s; set it with: rosparam set " PARAMETER " true",
            reader->node->name);
  reader->read(reader->user, value);
}

static void answered(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                     const tb_error_t *error)
{
  tb__sim_time_reader_t *reader = TB__ROS1_OWNER(exchange, tb__sim_time_reader_t, exchange);
  tb__sim_time_t value = answer ? tb__sim_time_of(answer) : TB__SIM_TIME_UNKNOWN;
  bool is_known = reader->value != TB__SIM_TIME_UNKNOWN || value != TB__SIM_TIME_UNKNOWN;
  tb__ros1_loop_set_timer_in(reader->node->loop, &reader->timer, is_known ? LOOK_NS : RETRY_NS);
  if (value != TB__SIM_TIME_UNKNOWN) {
    take(reader, value);
    return;
  }
  if (reader->value != TB__SIM_TIME_UNKNOWN) return;
  tb__ros1_node_master_failed(reader->node, error ? error->text : "it is no ROS 1 master");
  reader->read(reader->user, TB__SIM_TIME_UNKNOWN);
}

static void ask(tb__ros1_timer_t *timer)
{
  tb__sim_time_reader_t *reader = TB__ROS1_OWNER(timer, tb__sim_time_reader_t, timer);
  tb__xmlrpc_writer_t call;
  tb__xmlrpc_begin_call(&call, "getParam");
  tb__xmlrpc_put_string(&call, reader->node->name);
  tb__xmlrpc_put_string(&call, PARAMETER);
  tb__xmlrpc_end(&call);
  tb__xmlrpc_exchange_start(&reader->exchange, reader->node->loop, &reader->node->master, &call,
                            answered);
}

void tb__sim_time_reader_begin(tb__sim_time_reader_t *reader, tb__ros1_node_t *node,
                               void (*read)(void *user, tb__sim_time_t value), void *user)
{
  *reader =
      (tb__sim_time_reader_t){.node = node, .timer = {.expired = ask}, .read = read, .user = user};
  ask(&reader->timer);
}

void tb__sim_time_reader_end(tb__sim_time_reader_t *reader)
{
  if (!reader->node) return;
  tb__ros1_loop_clear_timer(reader->node->loop, &reader->timer);
  tb__xmlrpc_exchange_cancel(&reader->exchange);
}
