/* Any bytes as an XML-RPC message. What is accepted is a tree within the limits; a call is answered
 * as a node does, with a message that is accepted in turn. */
#include <stdlib.h>
#include <string.h>

#include "ros1/graph_state.h"
#include "ros1/node.h"
#include "ros1/sim_time.h"
#include "ros1/value.h"

#include "fuzz.h"

static size_t count_values(const tb__xmlrpc_value_t *value, int depth)
{
  size_t count = 1, members = 0;
  if (depth > TB__XMLRPC_DEPTH_MAX || !value->text || strlen(value->text) > TB__XMLRPC_SIZE_MAX)
    abort();
  for (const tb__xmlrpc_value_t *one = value->first; one; one = one->next, members++) {
    if (value->type == TB__XMLRPC_STRUCT && tb__xmlrpc_member(value, one->name) == NULL) abort();
    count += count_values(one, depth + 1);
  }
  if (members != value->count) abort();
  return count;
}

/* A name that is taken makes no call to the master. */
static void check_answer(const tb__xmlrpc_message_t *call)
{
  tb__ros1_node_t node = {.name = "/fuzz", .uri = "http://127.0.0.1:1/", .is_displaced = true};
  tb__xmlrpc_writer_t out = {0};
  tb__xmlrpc_message_t answer;
  tb__ros1_node_answer(&node, call, &out);
  if (out.failed || tb__xmlrpc_parse(out.text, out.size, &answer, NULL)) abort();
  if (answer.kind == TB__XMLRPC_CALL) abort();
  tb__xmlrpc_message_fini(&answer);
  tb__xmlrpc_writer_fini(&out);
}

/* Each index is one of a topic, and counts are those of the lists. */
static void check_graph(const tb__xmlrpc_value_t *value)
{
  tb__graph_state_t state;
  if (!tb__graph_state_read(value, &state)) {
    size_t publications = 0, counted = 0;
    for (size_t i = 0; i < state.public.node_count; i++) {
      const tb_ros1_graph_node_t *node = &state.nodes[i];
      if (!node->name[0] || (i && strcmp(node[-1].name, node->name) >= 0)) abort();
      for (uint32_t j = 0; j < node->publication_count; j++)
        if (node->publications[j] >= state.public.topic_count) abort();
      for (uint32_t j = 0; j < node->subscription_count; j++)
        if (node->subscriptions[j] >= state.public.topic_count) abort();
      publications += node->publication_count;
    }
    for (size_t i = 0; i < state.public.topic_count; i++)
      counted += state.topics[i].publisher_count;
    if (counted != publications) abort();
    if (tb__graph_state_types(value, &state)) abort();
    while (state.public.node_count)
      tb__graph_state_remove(&state, state.public.node_count / 2);
    for (size_t i = 0; i < state.public.topic_count; i++)
      if (state.topics[i].publisher_count || state.topics[i].subscriber_count) abort();
  }
  tb__graph_state_fini(&state);
}

/* What can be written is read as the same. */
static void check_value(const tb__xmlrpc_value_t *value)
{
  tb__xmlrpc_writer_t out = {0};
  tb__xmlrpc_message_t answer;
  const tb_ros1_value_t *copy = tb__ros1_value_copy(value);
  if (!copy) abort();
  if (!tb__ros1_value_problem(copy)) {
    tb__xmlrpc_begin_response(&out);
    tb__ros1_value_put(&out, copy);
    if (!tb__xmlrpc_end(&out)) abort();
    /* What was <i8> or without a type may be longer now. */
    if (out.size < TB__XMLRPC_SIZE_MAX && !tb__xmlrpc_parse(out.text, out.size, &answer, NULL)) {
      const tb__xmlrpc_value_t *again = tb__xmlrpc_at(&answer.params, 0);
      if (!again || again->type != value->type || again->count != value->count) abort();
      tb__xmlrpc_message_fini(&answer);
    } else if (out.size < TB__XMLRPC_SIZE_MAX) {
      abort();
    }
    tb__xmlrpc_writer_fini(&out);
  }
  tb_ros1_value_release(copy);
}

static void check_response(const tb__xmlrpc_message_t *message)
{
  const tb__xmlrpc_value_t *value;
  const char *text;
  int64_t code;
  tb__graph_state_t state = {.nodes = NULL};
  (void)tb__sim_time_of(message);
  if (tb__graph_state_sim_time(message, &state)) abort();
  tb__graph_state_fini(&state);
  if (!tb__xmlrpc_answer(message, &code, &text, &value)) return;
  check_graph(value);
  check_value(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  tb__xmlrpc_message_t message;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb__xmlrpc_parse((const char *)data, size, &message, &error);
  if (status) {
    if (!error.text[0]) abort();
    return 0;
  }
  if (count_values(&message.params, 0) > TB__XMLRPC_VALUES_MAX + 1) abort();
  if (message.kind == TB__XMLRPC_CALL)
    check_answer(&message);
  else
    check_response(&message);
  tb__xmlrpc_message_fini(&message);
  return 0;
}
