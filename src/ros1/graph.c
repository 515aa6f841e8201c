/* A look at the graph: the master is asked for its nodes, and then each node whether it is there.
 */
#include <timebase/ros1_graph.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/null_argument.h"
#include "platform/time.h"
#include "ros1/graph_state.h"
#include "ros1/master_call.h"

#define NODES_AT_ONCE 128
#define LOOKUPS_AT_ONCE                                                                            \
  4 /* the master keeps 5 connections waiting, and drops more for a second                         \
     */
#define LIMIT_DEFAULT_NS INT64_C(1000000000)
#define CLOCK            "/clock"

typedef struct look look_t;

/* What a node is asked, in this order. */
typedef enum question {
  LOOK_UP, /* the master, for the uri */
  ASK_PID,
  ASK_SUBSCRIPTIONS,
  ASK_CONNECTIONS,
  QUESTIONS
} question_t;

/* A node that is being asked. */
typedef struct probe {
  look_t *look; /* NULL: free */
  size_t index; /* of the node */
  question_t question;
  tb__ros1_uri_t uri;
  tb__xmlrpc_exchange_t exchange;
  tb__ros1_timer_t timer; /* the limit of the node */
} probe_t;

struct look {
  tb__master_call_t call;
  int64_t limit_ns; /* for each node */
  int step;         /* of the calls of the master */
  tb__xmlrpc_exchange_t exchange;
  tb__graph_state_t *state;
  bool *is_gone;           /* of each node: it has unregistered meanwhile */
  size_t next;             /* node to be asked */
  size_t running, lookups; /* those that are being looked up, of those that are being asked */
  probe_t probes[NODES_AT_ONCE];
};

static void look_end(look_t *look, tb_status_t status)
{
  if (atomic_load(&look->call.done)) return;
  if (status == TB_ERR_NO_MEMORY) tb__no_memory_for(&look->call.error, "graph of ROS 1");
  tb__master_call_end(&look->call, status);
}

/* --- one node --- */

static void probes_start(look_t *look);

static void probe_end(probe_t *probe)
{
  look_t *look = probe->look;
  tb__ros1_loop_clear_timer(&look->call.context->loop, &probe->timer);
  tb__xmlrpc_exchange_cancel(&probe->exchange);
  probe->look = NULL;
  look->running--;
  probes_start(look);
}

static tb_ros1_graph_node_t *node_of(const probe_t *probe)
{
  return &probe->look->state->nodes[probe->index];
}

static void probe_found(probe_t *probe, tb_ros1_node_state_t state, const char *problem)
{
  tb_ros1_graph_node_t *node = node_of(probe);
  node->state = state;
  tb_status_t status = tb__graph_text_set(&node->problem, problem);
  if (status)
    look_end(probe->look, status);
  else
    probe_end(probe);
}

static void probe_expired(tb__ros1_timer_t *timer)
{
  probe_t *probe = TB__ROS1_OWNER(timer, probe_t, timer);
  /* What has answered once is there, however long the rest takes. */
  if (probe->question > ASK_PID)
    probe_end(probe);
  else
    probe_found(probe, TB_ROS1_NODE_SILENT, "no answer within the limit");
}

static void probe_ask(probe_t *probe);

static void probe_goes_on(probe_t *probe)
{
  if (++probe->question == QUESTIONS)
    probe_end(probe);
  else
    probe_ask(probe);
}

/* [code, text, uri] of the master. */
static void take_uri(probe_t *probe, int64_t code, const char *uri)
{
  tb_ros1_graph_node_t *node = node_of(probe);
  if (code != 1) {
    probe->look->is_gone[probe->index] = true;
    probe_end(probe);
    return;
  }
  tb_status_t status = tb__graph_text_set(&node->uri, uri);
  bool is_uri = !status && tb__ros1_uri_parse(node->uri, &probe->uri);
  if (is_uri) status = tb__graph_text_set(&node->host, probe->uri.host);
  if (status)
    look_end(probe->look, status);
  else if (is_uri)
    probe_goes_on(probe);
  else
    probe_found(probe, TB_ROS1_NODE_DEAD, "it is registered with a URI that is none");
}

/* [[topic, type], ...] */
static tb_status_t take_subscriptions(tb_ros1_graph_node_t *node, const tb__xmlrpc_value_t *value)
{
  for (const tb__xmlrpc_value_t *one = value->first; one; one = one->next) {
    const char *topic = tb__xmlrpc_string(tb__xmlrpc_at(one, 0));
    const char *type = tb__xmlrpc_string(tb__xmlrpc_at(one, 1));
    if (topic && type && !strcmp(topic, CLOCK)) return tb__graph_text_set(&node->clock_type, type);
  }
  return TB_OK;
}

/* [[id, peer, "i" or "o" or "b", transport, topic, is_connected, ...], ...] */
static void take_connections(tb_ros1_graph_node_t *node, const tb__xmlrpc_value_t *value)
{
  node->clock_connections = 0;
  for (const tb__xmlrpc_value_t *one = value->first; one; one = one->next) {
    const char *direction = tb__xmlrpc_string(tb__xmlrpc_at(one, 2));
    const char *topic = tb__xmlrpc_string(tb__xmlrpc_at(one, 4));
    const tb__xmlrpc_value_t *connected = tb__xmlrpc_at(one, 5);
    if (!direction || *direction == 'o' || !topic || strcmp(topic, CLOCK) != 0) continue;
    if (!connected || connected->type != TB__XMLRPC_BOOLEAN || connected->integer)
      node->clock_connections++;
  }
}

/* After the first answer nothing that fails makes the node less alive. */
static void probe_take(probe_t *probe, int64_t code, const tb__xmlrpc_value_t *value)
{
  tb_ros1_graph_node_t *node = node_of(probe);
  tb_status_t status = TB_OK;
  if (probe->question == LOOK_UP) {
    look_t *look = probe->look;
    look->lookups--;
    take_uri(probe, code, tb__xmlrpc_string(value));
    probes_start(look);
    return;
  }
  if (code == 1 && probe->question == ASK_PID && value->type == TB__XMLRPC_INT &&
      value->integer > 0 && value->integer <= INT32_MAX)
    node->pid = (int32_t)value->integer;
  else if (code == 1 && probe->question == ASK_SUBSCRIPTIONS)
    status = take_subscriptions(node, value);
  else if (code == 1 && probe->question == ASK_CONNECTIONS)
    take_connections(node, value);
  if (status)
    look_end(probe->look, status);
  else
    probe_goes_on(probe);
}

static void probe_failed(probe_t *probe, const tb_error_t *error)
{
  bool is_refused = error && error->os_errno == ECONNREFUSED;
  bool is_late = error && (error->status == TB_ERR_TIMEOUT || error->os_errno ||
                           error->status == TB_ERR_NOT_FOUND);
  if (probe->question > ASK_PID)
    probe_end(probe);
  else if (is_refused)
    probe_found(probe, TB_ROS1_NODE_DEAD, error->text);
  else if (is_late)
    probe_found(probe, TB_ROS1_NODE_SILENT, error->text);
  else
    probe_found(probe, TB_ROS1_NODE_FOREIGN,
                error ? error->text : "what answers is no node of ROS 1");
}

static void probe_answered(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                           const tb_error_t *error)
{
  probe_t *probe = TB__ROS1_OWNER(exchange, probe_t, exchange);
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  if (atomic_load(&probe->look->call.done)) return;
  if (answer && tb__xmlrpc_answer(answer, &code, &text, &value))
    probe_take(probe, code, value);
  else if (probe->question == LOOK_UP)
    look_end(probe->look,
             tb__master_call_unanswered(&probe->look->call,
                                        error ? error->text : "what answers is no ROS 1 master"));
  else
    probe_failed(probe, answer ? NULL : error);
}

static void probe_ask(probe_t *probe)
{
  static const char *const methods[QUESTIONS] = {"lookupNode", "getPid", "getSubscriptions",
                                                 "getBusInfo"};
  tb__ros1_node_t *own = &probe->look->call.context->node;
  tb__xmlrpc_writer_t call;
  bool is_of_master = probe->question == LOOK_UP;
  tb__xmlrpc_begin_call(&call, methods[probe->question]);
  tb__xmlrpc_put_string(&call, own->name);
  if (is_of_master) tb__xmlrpc_put_string(&call, node_of(probe)->name);
  tb__xmlrpc_end(&call);
  if (probe->question == ASK_PID)
    tb__ros1_loop_set_timer_in(own->loop, &probe->timer, probe->look->limit_ns);
  tb__xmlrpc_exchange_start(&probe->exchange, own->loop, is_of_master ? &own->master : &probe->uri,
                            &call, probe_answered);
}

/* --- all nodes --- */

static probe_t *free_probe(look_t *look)
{
  for (size_t i = 0; i < NODES_AT_ONCE; i++)
    if (!look->probes[i].look) return &look->probes[i];
  return NULL;
}

static void probes_start(look_t *look)
{
  probe_t *probe;
  size_t count = look->state->public.node_count;
  while (look->next < count && look->lookups < LOOKUPS_AT_ONCE && (probe = free_probe(look))) {
    *probe = (probe_t){.look = look, .index = look->next++, .timer = {.expired = probe_expired}};
    look->running++;
    look->lookups++;
    probe_ask(probe);
  }
  if (look->running || look->next < count || atomic_load(&look->call.done)) return;
  for (size_t i = count; i-- > 0;)
    if (look->is_gone[i]) tb__graph_state_remove(look->state, i);
  look_end(look, TB_OK);
}

/* --- the master --- */

enum { ASK_STATE, ASK_TYPES, ASK_SIM_TIME, STEPS };

static void ask_master(look_t *look);

static tb_status_t take_state(look_t *look, const tb__xmlrpc_value_t *value)
{
  const tb__ros1_node_t *own = &look->call.context->node;
  char uri[TB__ROS1_URI_SIZE];
  tb_status_t status = tb__graph_state_read(value, look->state);
  if (status) return status;
  size_t count = look->state->public.node_count;
  look->is_gone = calloc(count + 1, sizeof *look->is_gone);
  if (!look->is_gone) return TB_ERR_NO_MEMORY;
  for (size_t i = 0; i < count; i++)
    look->state->nodes[i].is_own = !strcmp(look->state->nodes[i].name, own->name);
  snprintf(uri, sizeof uri, "http://%s:%u/", own->master.host, (unsigned)own->master.port);
  return tb__graph_text_set(&look->state->public.master_uri, uri);
}

static tb_status_t take_answer(look_t *look, const tb__xmlrpc_message_t *answer)
{
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  tb_status_t status = TB_OK;
  if (!tb__xmlrpc_answer(answer, &code, &text, &value)) return TB_ERR_CORRUPT;
  if (look->step == ASK_SIM_TIME)
    status = tb__graph_state_sim_time(answer, look->state);
  else if (code != 1)
    status = TB_ERR_CORRUPT;
  else if (look->step == ASK_STATE)
    status = take_state(look, value);
  else
    status = tb__graph_state_types(value, look->state);
  return status;
}

static void master_answered(tb__xmlrpc_exchange_t *exchange, const tb__xmlrpc_message_t *answer,
                            const tb_error_t *error)
{
  look_t *look = TB__ROS1_OWNER(exchange, look_t, exchange);
  tb_status_t status = answer ? take_answer(look, answer) : TB_ERR_TRANSPORT;
  if (status == TB_ERR_TRANSPORT)
    tb__master_call_unanswered(&look->call, error->text);
  else if (status == TB_ERR_CORRUPT)
    status = tb__master_call_unanswered(&look->call, "what answers is no ROS 1 master");
  if (status)
    look_end(look, status);
  else if (++look->step < STEPS)
    ask_master(look);
  else
    probes_start(look);
}

static void ask_master(look_t *look)
{
  static const char *const methods[STEPS] = {"getSystemState", "getTopicTypes", "getParam"};
  tb__ros1_node_t *own = &look->call.context->node;
  tb__xmlrpc_writer_t call;
  tb__xmlrpc_begin_call(&call, methods[look->step]);
  tb__xmlrpc_put_string(&call, own->name);
  if (look->step == ASK_SIM_TIME) tb__xmlrpc_put_string(&call, TB__SIM_TIME_PARAMETER);
  tb__xmlrpc_end(&call);
  tb__xmlrpc_exchange_start(&look->exchange, own->loop, &own->master, &call, master_answered);
}

static void look_begin(void *user)
{
  ask_master(user);
}

static void look_give_up(void *user)
{
  look_t *look = user;
  tb__xmlrpc_exchange_cancel(&look->exchange);
  for (size_t i = 0; i < NODES_AT_ONCE; i++) {
    if (!look->probes[i].look) continue;
    tb__ros1_loop_clear_timer(&look->call.context->loop, &look->probes[i].timer);
    tb__xmlrpc_exchange_cancel(&look->probes[i].exchange);
  }
}

tb_status_t tb_ros1_graph_take(tb_ros1_context_t *context, tb_duration_t limit,
                               tb_ros1_graph_snapshot_t **out, tb_error_t *error)
{
  if (!context || !out) return tb__null_argument(error, __func__);
  if (limit.ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "graph of ROS 1: the limit is negative");
  look_t *look = calloc(1, sizeof *look);
  tb__graph_state_t *state = calloc(1, sizeof *state);
  tb_status_t status = TB_ERR_NO_MEMORY;
  if (look && state) {
    look->call = (tb__master_call_t){.context = context, .what = "graph"};
    look->limit_ns = limit.ns ? limit.ns : LIMIT_DEFAULT_NS;
    look->state = state;
    /* Each exchange and each probe ends by its own limit. */
    status = tb__master_call_run(&look->call, INT64_MAX, look_begin, look_give_up, look, error);
  } else {
    tb__no_memory_for(error, "graph");
  }
  if (look) free(look->is_gone);
  free(look);
  if (!status)
    *out = &state->public;
  else if (state)
    tb_ros1_graph_snapshot_release(&state->public);
  return status;
}

void tb_ros1_graph_snapshot_release(tb_ros1_graph_snapshot_t *snapshot)
{
  if (!snapshot) return;
  tb__graph_state_t *state = TB__ROS1_OWNER(snapshot, tb__graph_state_t, public);
  tb__graph_state_fini(state);
  free(state);
}

const char *tb_ros1_node_state_name(tb_ros1_node_state_t state)
{
  static const char *const names[] = {"alive", "dead", "silent", "foreign"};
  return (unsigned)state < sizeof names / sizeof *names ? names[state] : "unknown";
}
