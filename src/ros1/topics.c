#include <timebase/ros1_topics.h>

#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "ros1/context.h"
#include "ros1/topic_name.h"

struct tb_ros1_topics {
  tb_ros1_context_t *context;
  int64_t period_ns;
  tb_ros1_topics_callback_t callback;
  void *user;
  tb__xmlrpc_exchange_t exchange;
  tb__ros1_timer_t timer; /* of the next call */
};

/* [[topic, type], ...]: pairs that are none are left out. */
static size_t take(const tb__xmlrpc_value_t *pairs, tb_ros1_topic_t *topics)
{
  size_t count = 0;
  for (const tb__xmlrpc_value_t *pair = pairs->first; pair; pair = pair->next) {
    const char *name = tb__xmlrpc_string(pair->first);
    const char *type = pair->first ? tb__xmlrpc_string(pair->first->next) : NULL;
    if (name && type && tb__ros1_topic_is_valid(name))
      topics[count++] = (tb_ros1_topic_t){name, type};
  }
  return count;
}

static void answered(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                     const tb_error_t *error)
{
  tb_ros1_topics_t *self = TB__ROS1_OWNER(exchange, tb_ros1_topics_t, exchange);
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  (void)error; /* the node polls the master, and reports it */
  tb__ros1_loop_set_timer_in(&self->context->loop, &self->timer, self->period_ns);
  if (!answer || !tb__xmlrpc_answer(answer, &code, &text, &value) || code != 1) return;
  tb_ros1_topic_t *topics = calloc(value->count + 1, sizeof *topics);
  if (topics)
    self->callback(topics, take(value, topics), self->user);
  else
    tb__log(TB_LOG_ERROR, "topics of ROS 1: out of memory");
  free(topics);
}

static void ask(tb__ros1_timer_t *timer)
{
  tb_ros1_topics_t *self = TB__ROS1_OWNER(timer, tb_ros1_topics_t, timer);
  tb__ros1_node_t *node = &self->context->node;
  tb__xmlrpc_writer_t call;
  tb__xmlrpc_begin_call(&call, "getPublishedTopics");
  tb__xmlrpc_put_string(&call, node->name);
  tb__xmlrpc_put_string(&call, "");
  tb__xmlrpc_end(&call);
  tb__xmlrpc_exchange_start(&self->exchange, node->loop, &node->master, &call, answered);
}

static void begin(void *user)
{
  ask(&((tb_ros1_topics_t *)user)->timer);
}

static void end(void *user)
{
  tb_ros1_topics_t *self = user;
  tb__ros1_loop_clear_timer(&self->context->loop, &self->timer);
  tb__xmlrpc_exchange_cancel(&self->exchange);
}

tb_status_t tb_ros1_topics_create(tb_ros1_context_t *context, tb_duration_t period,
                                  tb_ros1_topics_callback_t callback, void *user,
                                  tb_ros1_topics_t **out, tb_error_t *error)
{
  if (!context || !callback || !out) return tb__null_argument(error, __func__);
  if (period.ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "topics of ROS 1: the period is negative");
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "topics of ROS 1: this is a forked child");
  tb_ros1_topics_t *self = calloc(1, sizeof *self);
  if (!self) return tb__no_memory_for(error, "topics of ROS 1");
  self->context = context;
  self->period_ns = period.ns ? period.ns : TB_NS_PER_S;
  self->callback = callback;
  self->user = user;
  self->timer.expired = ask;
  tb__ros1_loop_call(&context->loop, begin, self);
  *out = self;
  return TB_OK;
}

void tb_ros1_topics_destroy(tb_ros1_topics_t *self)
{
  if (!self) return;
  tb__ros1_loop_call(&self->context->loop, end, self);
  free(self);
}
