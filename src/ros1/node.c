#include "ros1/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "base/saturate.h"
#include "held/parking.h"
#include "platform/time.h"

#define POLL_NS INT64_C(1000000000)
/* Registrations are renewed so often at least, in case a message of the master was lost. */
#define RENEW_NS INT64_C(5000000000)
/* A master that is busy drops a connection, which is tried again after a second. */
#define FAREWELL_NS        INT64_C(2500000000)
#define FAREWELL_FAILED_NS INT64_C(1000000000) /* where it does not answer anyway */

struct tb__ros1_farewell {
  struct tb__ros1_farewell *next;
  tb__ros1_node_t *node;
  tb__ros1_registering_t *after; /* NULL: nothing is waited for */
  tb__ros1_turn_t turn;
  tb__xmlrpc_writer_t call; /* until it is its turn */
  tb__xmlrpc_exchange_t exchange;
  const char *renews; /* NULL: nothing */
  char topic[TB__ROS1_NAME_SIZE];
};

/* --- does the master know the node --- */

void tb__ros1_node_master_failed(tb__ros1_node_t *node, const char *why)
{
  node->master_is_known = false;
  if (node->master_is_failed) return;
  node->master_is_failed = true;
  tb__log(TB_LOG_WARN,
          "the ROS 1 master at http://%s:%u does not answer (%s); it is tried again each second; "
          "start roscore, or correct ROS_MASTER_URI",
          node->master.host, (unsigned)node->master.port, why);
}

/* A node of another uri is not to register again, or the master takes it for the newer one and ends
 * the other. */
static void displaced(tb__ros1_node_t *node, const char *uri)
{
  node->is_displaced = true;
  tb__log(TB_LOG_ERROR,
          "another node at %s has taken the name %s: this one is no longer registered; give each "
          "node a name of its own",
          uri, node->name);
}

static void master_answers(tb__ros1_node_t *node, bool knows_node)
{
  bool is_same = node->master_is_known && knows_node;
  int64_t old_ns = tb__real_steady_now_ns() - RENEW_NS;
  node->master_is_known = true;
  if (node->master_is_failed)
    tb__log(TB_LOG_INFO, "the ROS 1 master at http://%s:%u answers again", node->master.host,
            (unsigned)node->master.port);
  node->master_is_failed = false;
  for (tb__ros1_registration_t *one = node->registrations; one; one = one->next)
    if (!is_same || one->called_ns < old_ns) tb__ros1_registration_renew(one);
}

static void polled(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                   const tb_error_t *error)
{
  tb__ros1_node_t *node = TB__ROS1_OWNER(exchange, tb__ros1_node_t, poll);
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  tb__ros1_loop_set_timer_in(node->loop, &node->timer, POLL_NS);
  if (!answer) {
    tb__ros1_node_master_failed(node, error->text);
    return;
  }
  if (!tb__xmlrpc_answer(answer, &code, &text, &value)) {
    tb__ros1_node_master_failed(node, "it is no ROS 1 master");
    return;
  }
  const char *uri = code == 1 ? tb__xmlrpc_string(value) : NULL; /* a restarted one knows none */
  bool is_own = uri && !strcmp(uri, node->uri);
  if (uri && !is_own && node->was_registered)
    displaced(node, uri);
  else
    master_answers(node, is_own);
}

/* lookupNode registers nothing, and answers whether the node is registered, and under which uri. */
static void poll_master(tb__ros1_timer_t *timer)
{
  tb__ros1_node_t *node = TB__ROS1_OWNER(timer, tb__ros1_node_t, timer);
  tb__xmlrpc_writer_t call;
  if (node->is_displaced || node->poll.is_active) return;
  tb__xmlrpc_begin_call(&call, "lookupNode");
  tb__xmlrpc_put_string(&call, node->name);
  tb__xmlrpc_put_string(&call, node->name);
  tb__xmlrpc_end(&call);
  tb__xmlrpc_exchange_start(&node->poll, node->loop, &node->master, &call, polled);
}

void tb__ros1_node_poll(tb__ros1_node_t *node)
{
  if (!node->is_displaced && !node->poll.is_active)
    tb__ros1_loop_set_timer_in(node->loop, &node->timer, 0);
}

void tb__ros1_node_begin(tb__ros1_node_t *node, tb__ros1_loop_t *loop)
{
  node->loop = loop;
  node->timer.expired = poll_master;
  tb__tcpros_server_init(&node->tcpros, node);
  tb__ros1_loop_set_timer_in(loop, &node->timer, POLL_NS);
}

/* --- what is said at the end --- */

/* Not in the list any more. */
static void farewell_free(tb__ros1_farewell_t *farewell)
{
  tb__ros1_node_t *node = farewell->node;
  tb__ros1_turn_give(&node->loop->turns, &farewell->turn);
  tb__xmlrpc_writer_fini(&farewell->call);
  free(farewell);
  atomic_fetch_sub(&node->farewell_count, 1);
  tb__futex_wake_all(&node->farewell_count);
}

static void farewell_end(tb__ros1_farewell_t *farewell)
{
  TB__CHAIN_REMOVE(farewell->node->farewells, farewell);
  farewell_free(farewell);
}

bool tb__ros1_node_renew(tb__ros1_node_t *node, const char *call, const char *topic)
{
  bool has_any = false;
  for (tb__ros1_registration_t *one = node->registrations; one; one = one->next) {
    if (strcmp(one->call, call) != 0 || strcmp(one->topic, topic) != 0) continue;
    tb__ros1_registration_renew(one);
    has_any = true;
  }
  return has_any;
}

static void farewell_done(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                          const tb_error_t *error)
{
  tb__ros1_farewell_t *farewell = TB__ROS1_OWNER(exchange, tb__ros1_farewell_t, exchange);
  (void)answer, (void)error;
  /* What was registered again meanwhile may have been unregistered. */
  if (farewell->renews) tb__ros1_node_renew(farewell->node, farewell->renews, farewell->topic);
  farewell_end(farewell);
}

static void say_now(tb__ros1_turn_t *turn)
{
  tb__ros1_farewell_t *farewell = TB__ROS1_OWNER(turn, tb__ros1_farewell_t, turn);
  tb__ros1_node_t *node = farewell->node;
  tb__xmlrpc_exchange_start(&farewell->exchange, node->loop, &node->master, &farewell->call,
                            farewell_done);
}

static void take_turn(tb__ros1_farewell_t *farewell)
{
  tb__ros1_node_t *node = farewell->node;
  tb__ros1_turn_take(&node->loop->turns, &farewell->turn, &node->master, say_now);
}

/* What it waited for has ended, or never will. */
static void cancel_after(tb__ros1_farewell_t *farewell)
{
  tb__ros1_registering_drop(farewell->after, farewell->node);
  farewell->after = NULL;
}

static void after_done(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                       const tb_error_t *error)
{
  tb__ros1_farewell_t *farewell =
      TB__ROS1_OWNER(exchange, tb__ros1_registering_t, exchange)->farewell;
  (void)answer, (void)error;
  cancel_after(farewell);
  take_turn(farewell);
}

void tb__ros1_node_say(tb__ros1_node_t *node, tb__xmlrpc_writer_t *call, const char *renews,
                       const char *topic, tb__ros1_registering_t *after)
{
  tb__ros1_farewell_t *farewell = calloc(1, sizeof *farewell);
  if (!farewell) {
    tb__ros1_registering_drop(after, node);
    tb__xmlrpc_writer_fini(call);
    return;
  }
  farewell->node = node;
  farewell->after = after;
  if (after) {
    after->farewell = farewell;
    after->exchange.done = after_done;
  }
  farewell->call = *call;
  farewell->renews = renews;
  if (renews) snprintf(farewell->topic, sizeof farewell->topic, "%s", topic);
  TB__CHAIN_APPEND(node->farewells, farewell);
  atomic_fetch_add(&node->farewell_count, 1);
  if (!after) take_turn(farewell);
}

typedef struct ending {
  tb__ros1_node_t *node;
  int64_t limit_ns;
} ending_t;

static void end_calls(void *user)
{
  ending_t *ending = user;
  tb__ros1_node_t *node = ending->node;
  ending->limit_ns = node->master_is_failed ? FAREWELL_FAILED_NS : FAREWELL_NS;
  tb__ros1_loop_clear_timer(node->loop, &node->timer);
  tb__xmlrpc_exchange_cancel(&node->poll);
  tb__tcpros_server_close(&node->tcpros);
}

static void end_farewells(void *user)
{
  tb__ros1_node_t *node = user;
  for (tb__ros1_farewell_t *first; (first = node->farewells);) {
    node->farewells = first->next;
    cancel_after(first);
    tb__xmlrpc_exchange_cancel(&first->exchange);
    farewell_free(first);
  }
}

void tb__ros1_node_end(tb__ros1_node_t *node, int64_t limit_ns)
{
  ending_t ending = {.node = node};
  tb__ros1_loop_call(node->loop, end_calls, &ending);
  if (ending.limit_ns > limit_ns) ending.limit_ns = limit_ns;
  tb__deadline_t deadline = {TB__DEADLINE_STEADY,
                             tb__add_saturated(tb__real_steady_now_ns(), ending.limit_ns)};
  for (uint32_t left; (left = atomic_load(&node->farewell_count)) > 0;)
    if (!tb__futex_wait_kernel(&node->farewell_count, left, deadline)) break;
  tb__ros1_loop_call(node->loop, end_farewells, node);
}
