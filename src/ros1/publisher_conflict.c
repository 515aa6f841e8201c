#include "ros1/publisher_conflict.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "ros1/topic_name.h"

#define LOOK_NS INT64_C(2000000000)

/* [topic, [node, ...]] of the state's publishers; NULL: the topic has none. */
static const tb__xmlrpc_value_t *publishers_of(const tb__xmlrpc_value_t *state, const char *topic)
{
  const tb__xmlrpc_value_t *topics = tb__xmlrpc_at(state, 0);
  for (const tb__xmlrpc_value_t *one = topics ? topics->first : NULL; one; one = one->next) {
    const char *name = tb__xmlrpc_string(tb__xmlrpc_at(one, 0));
    if (name && !strcmp(name, topic)) return tb__xmlrpc_at(one, 1);
  }
  return NULL;
}

/* The first that is not this node; NULL: none. */
static const char *find_other(const tb__ros1_publisher_conflict_t *conflict,
                              const tb__xmlrpc_value_t *state)
{
  const tb__xmlrpc_value_t *nodes = publishers_of(state, conflict->topic);
  for (const tb__xmlrpc_value_t *one = nodes ? nodes->first : NULL; one; one = one->next) {
    const char *name = tb__xmlrpc_string(one);
    if (name && strcmp(name, conflict->node->name) != 0 && tb__ros1_topic_is_valid(name))
      return name;
  }
  return NULL;
}

static void warn_of(tb__ros1_publisher_conflict_t *conflict, const char *other)
{
  if (!strcmp(conflict->reported, other)) return;
  snprintf(conflict->reported, sizeof conflict->reported, "%s", other);
  if (*other)
    tb__log(
        TB_LOG_WARN,
        "%s of ROS 1 is also published by %s: time will jump between the two; stop one of "
        "them, or publish on another topic; if that node was killed, 'rosnode cleanup' removes it",
        conflict->topic, other);
}

static void answered(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                     const tb_error_t *error)
{
  tb__ros1_publisher_conflict_t *conflict =
      TB__ROS1_OWNER(exchange, tb__ros1_publisher_conflict_t, exchange);
  const tb__xmlrpc_value_t *state;
  const char *text;
  int64_t code;
  (void)error; /* the node reports a master that does not answer */
  tb__ros1_loop_set_timer_in(conflict->node->loop, &conflict->timer, LOOK_NS);
  if (!answer || !tb__xmlrpc_answer(answer, &code, &text, &state) || code != 1) return;
  const char *other = find_other(conflict, state);
  warn_of(conflict, other ? other : "");
}

static void look(tb__ros1_timer_t *timer)
{
  tb__ros1_publisher_conflict_t *conflict =
      TB__ROS1_OWNER(timer, tb__ros1_publisher_conflict_t, timer);
  tb__xmlrpc_writer_t call;
  if (conflict->node->is_displaced) return;
  tb__xmlrpc_begin_call(&call, "getSystemState");
  tb__xmlrpc_put_string(&call, conflict->node->name);
  tb__xmlrpc_end(&call);
  tb__xmlrpc_exchange_start(&conflict->exchange, conflict->node->loop, &conflict->node->master,
                            &call, answered);
}

void tb__ros1_publisher_conflict_begin(tb__ros1_publisher_conflict_t *conflict,
                                       tb__ros1_node_t *node, const char *topic)
{
  *conflict =
      (tb__ros1_publisher_conflict_t){.node = node, .topic = topic, .timer = {.expired = look}};
  look(&conflict->timer);
}

void tb__ros1_publisher_conflict_end(tb__ros1_publisher_conflict_t *conflict)
{
  if (!conflict->node) return;
  tb__ros1_loop_clear_timer(conflict->node->loop, &conflict->timer);
  tb__xmlrpc_exchange_cancel(&conflict->exchange);
}
