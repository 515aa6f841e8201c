#include "ros1/registration.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "platform/time.h"
#include "ros1/node.h"

/* The master is asked at most so often, whoever says that something has changed. */
#define RENEW_NS INT64_C(100000000)
#define RETRY_NS INT64_C(1000000000) /* after memory ran out */

void tb__ros1_registering_drop(tb__ros1_registering_t *registering, tb__ros1_node_t *node)
{
  if (!registering) return;
  tb__xmlrpc_exchange_cancel(&registering->exchange);
  tb__ros1_turn_give(&node->loop->turns, &registering->turn);
  free(registering);
}

static void answered(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                     const tb_error_t *error)
{
  tb__ros1_registering_t *registering = TB__ROS1_OWNER(exchange, tb__ros1_registering_t, exchange);
  tb__ros1_registration_t *self = registering->registration;
  tb__ros1_node_t *node = self->node;
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  self->registering = NULL;
  if (self->is_stale) tb__ros1_loop_set_timer_in(self->node->loop, &self->timer, RENEW_NS);
  self->is_stale = false;
  if (!answer) {
    tb__ros1_node_master_failed(self->node, error->text);
  } else if (!tb__xmlrpc_answer(answer, &code, &text, &value) || code != 1 ||
             value->type != TB__XMLRPC_ARRAY) {
    tb__ros1_node_master_failed(self->node, "it refuses a registration");
  } else {
    self->node->was_registered = true;
    self->registered(self, value);
  }
  tb__ros1_registering_drop(registering, node);
}

/* The call of a method about the topic; the caller adds what else it takes. */
static void begin_call(const tb__ros1_registration_t *self, const char *method,
                       tb__xmlrpc_writer_t *out)
{
  tb__xmlrpc_begin_call(out, method);
  tb__xmlrpc_put_string(out, self->node->name);
  tb__xmlrpc_put_string(out, self->topic);
}

static void end_call(const tb__ros1_registration_t *self, tb__xmlrpc_writer_t *out)
{
  tb__xmlrpc_put_string(out, self->node->uri);
  tb__xmlrpc_end(out);
}

static void call_now(tb__ros1_turn_t *turn)
{
  tb__ros1_registering_t *registering = TB__ROS1_OWNER(turn, tb__ros1_registering_t, turn);
  tb__ros1_registration_t *self = registering->registration;
  tb__ros1_node_t *node = self->node;
  tb__xmlrpc_writer_t request;
  if (node->is_displaced) { /* while it waited */
    self->registering = NULL;
    tb__ros1_registering_drop(registering, node);
    return;
  }
  self->called_ns = tb__real_steady_now_ns();
  begin_call(self, self->call, &request);
  tb__xmlrpc_put_string(&request, self->type);
  end_call(self, &request);
  tb__xmlrpc_exchange_start(&registering->exchange, node->loop, &node->master, &request, answered);
}

static void call(tb__ros1_timer_t *timer)
{
  tb__ros1_registration_t *self = TB__ROS1_OWNER(timer, tb__ros1_registration_t, timer);
  tb__ros1_node_t *node = self->node;
  if (node->is_displaced || self->registering) return;
  self->registering = calloc(1, sizeof *self->registering);
  if (!self->registering) {
    tb__ros1_loop_set_timer_in(node->loop, &self->timer, RETRY_NS);
    return;
  }
  self->registering->registration = self;
  tb__ros1_turn_take(&node->loop->turns, &self->registering->turn, &node->master, call_now);
}

void tb__ros1_registration_renew(tb__ros1_registration_t *self)
{
  if (self->registering) { /* it may be answered with what was true before */
    if (self->registering->turn.state == TB__TURN_TAKEN) self->is_stale = true;
    return;
  }
  int64_t now_ns = tb__real_steady_now_ns(), at_ns = self->called_ns + RENEW_NS;
  if (!self->called_ns || at_ns < now_ns) at_ns = now_ns;
  tb__ros1_loop_set_timer(self->node->loop, &self->timer, at_ns);
}

void tb__ros1_registration_begin(tb__ros1_registration_t *self, tb__ros1_node_t *node)
{
  self->node = node;
  self->timer.expired = call;
  TB__CHAIN_APPEND(node->registrations, self);
  tb__ros1_registration_renew(self);
}

static void cancel(tb__ros1_registration_t *self)
{
  tb__ros1_registering_drop(self->registering, self->node);
  self->registering = NULL;
}

void tb__ros1_registration_end(tb__ros1_registration_t *self)
{
  tb__ros1_node_t *node = self->node;
  tb__xmlrpc_writer_t farewell;
  TB__CHAIN_REMOVE(node->registrations, self);
  tb__ros1_loop_clear_timer(node->loop, &self->timer);
  if (self->registering && self->registering->turn.state == TB__TURN_WAITING) cancel(self);
  if (!self->called_ns || tb__ros1_node_renew(node, self->call, self->topic)) {
    cancel(self);
    return;
  }
  begin_call(self, self->farewell, &farewell);
  end_call(self, &farewell);
  tb__ros1_node_say(node, &farewell, self->call, self->topic, self->registering);
  self->registering = NULL;
  self->called_ns = 0;
}
