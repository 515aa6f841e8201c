#include "ros1/sim_time_setter.h"

#include <stdlib.h>

#include "base/log.h"
#include "ros1/sim_time.h"

#define LOOK_NS INT64_C(1000000000)

static void ask(tb__sim_time_setter_t *setter);

static void look_later(tb__sim_time_setter_t *setter)
{
  tb__ros1_loop_set_timer_in(setter->node->loop, &setter->timer, LOOK_NS);
}

static void has_set(tb__sim_time_setter_t *setter, const tb__xmlrpc_message_t *answer)
{
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  setter->is_set = answer && tb__xmlrpc_answer(answer, &code, &text, &value) && code == 1;
  if (!setter->is_set && answer && !setter->has_reported) {
    setter->has_reported = true;
    tb__log(TB_LOG_WARN, "the ROS 1 master does not take " TB__SIM_TIME_PARAMETER
                         "; nodes that are started now stay on system time: set it with rosparam");
  }
}

/* And not false, which somebody has set. */
static bool is_unset(const tb__xmlrpc_message_t *answer)
{
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  return tb__xmlrpc_answer(answer, &code, &text, &value) && code == -1;
}

static void answered(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                     const tb_error_t *error)
{
  tb__ros1_registering_t *asked = TB__ROS1_OWNER(exchange, tb__ros1_registering_t, exchange);
  tb__sim_time_setter_t *setter = asked->setter;
  void (*next)(tb__sim_time_setter_t * setter) = look_later;
  (void)error;
  setter->asking = NULL;
  if (setter->is_setting) {
    has_set(setter, answer);
  } else if (answer) {
    tb__sim_time_t value = tb__sim_time_of(answer);
    if (value == TB__SIM_TIME_OFF) {
      setter->was_unset = is_unset(answer);
      setter->was_false = !setter->was_unset;
    }
    setter->is_set = value == TB__SIM_TIME_ON;
    if (value != TB__SIM_TIME_ON && value != TB__SIM_TIME_UNKNOWN) {
      setter->is_setting = true;
      next = ask;
    }
  }
  tb__ros1_registering_drop(asked, setter->node);
  next(setter);
}

static void ask(tb__sim_time_setter_t *setter)
{
  tb__xmlrpc_writer_t call;
  setter->asking = calloc(1, sizeof *setter->asking);
  if (!setter->asking) {
    look_later(setter);
    return;
  }
  setter->asking->setter = setter;
  tb__xmlrpc_begin_call(&call, setter->is_setting ? "setParam" : "getParam");
  tb__xmlrpc_put_string(&call, setter->node->name);
  tb__xmlrpc_put_string(&call, TB__SIM_TIME_PARAMETER);
  if (setter->is_setting) tb__xmlrpc_put_boolean(&call, true);
  tb__xmlrpc_end(&call);
  tb__xmlrpc_exchange_start(&setter->asking->exchange, setter->node->loop, &setter->node->master,
                            &call, answered);
}

/* Again and again: a master that was restarted knows nothing of it. */
static void look(tb__ros1_timer_t *timer)
{
  tb__sim_time_setter_t *setter = TB__ROS1_OWNER(timer, tb__sim_time_setter_t, timer);
  if (setter->asking || setter->node->is_displaced) return;
  setter->is_setting = false;
  ask(setter);
}

void tb__sim_time_setter_begin(tb__sim_time_setter_t *setter, tb__ros1_node_t *node)
{
  *setter = (tb__sim_time_setter_t){.node = node, .timer = {.expired = look}};
  ask(setter);
}

void tb__sim_time_setter_end(tb__sim_time_setter_t *setter)
{
  tb__xmlrpc_writer_t call;
  if (!setter->node) return;
  tb__ros1_registering_t *setting = setter->is_setting ? setter->asking : NULL;
  tb__ros1_loop_clear_timer(setter->node->loop, &setter->timer);
  if (!setting) tb__ros1_registering_drop(setter->asking, setter->node);
  setter->asking = NULL;
  if (!(setter->is_set || setting) || !(setter->was_unset || setter->was_false)) {
    tb__ros1_registering_drop(setting, setter->node);
    return;
  }
  tb__xmlrpc_begin_call(&call, setter->was_unset ? "deleteParam" : "setParam");
  tb__xmlrpc_put_string(&call, setter->node->name);
  tb__xmlrpc_put_string(&call, TB__SIM_TIME_PARAMETER);
  if (setter->was_false) tb__xmlrpc_put_boolean(&call, false);
  tb__xmlrpc_end(&call);
  tb__ros1_node_say(setter->node, &call, NULL, NULL, setting); /* not before it is set */
}
