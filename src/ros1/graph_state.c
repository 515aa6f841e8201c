#include "ros1/graph_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK "/clock"

/* Lists of getSystemState. */
enum { PUBLISHERS, SUBSCRIBERS, SERVICES, LISTS };

/* That `name` is in a list under `topic`, which is a service in the last list. */
typedef struct entry {
  const char *topic, *node;
  int list;
} entry_t;

typedef struct entries {
  entry_t *items; /* valid as long as the message */
  size_t count;
} entries_t;

tb_status_t tb__graph_text_set(const char **place, const char *text)
{
  union {
    const char *in;
    char *out;
  } old = {.in = *place}; /* memory of this function */
  char *copy = strdup(text ? text : "");
  if (!copy) return TB_ERR_NO_MEMORY;
  free(old.out);
  *place = copy;
  return TB_OK;
}

static void text_free(const char *text)
{
  union {
    const char *in;
    char *out;
  } memory = {.in = text};
  free(memory.out);
}

static void indices_free(const uint32_t *indices)
{
  union {
    const uint32_t *in;
    uint32_t *out;
  } memory = {.in = indices};
  free(memory.out);
}

/* --- the entries of the answer --- */

/* [[topic, [node, ...]], ...] */
static size_t count_entries(const tb__xmlrpc_value_t *list)
{
  size_t count = 0;
  for (const tb__xmlrpc_value_t *one = list ? list->first : NULL; one; one = one->next) {
    const tb__xmlrpc_value_t *nodes = tb__xmlrpc_at(one, 1);
    count += nodes ? nodes->count : 0;
  }
  return count;
}

/* Names that are no texts, or empty, are left out: no node has such. */
static void add_entries(const tb__xmlrpc_value_t *list, int kind, entries_t *entries)
{
  for (const tb__xmlrpc_value_t *one = list ? list->first : NULL; one; one = one->next) {
    const char *topic = tb__xmlrpc_string(tb__xmlrpc_at(one, 0));
    const tb__xmlrpc_value_t *nodes = tb__xmlrpc_at(one, 1);
    for (const tb__xmlrpc_value_t *node = nodes ? nodes->first : NULL; node; node = node->next) {
      const char *name = tb__xmlrpc_string(node);
      if (topic && *topic && name && *name)
        entries->items[entries->count++] = (entry_t){topic, name, kind};
    }
  }
}

static int by_node(const void *a, const void *b)
{
  const entry_t *left = a, *right = b;
  int order = strcmp(left->node, right->node);
  if (!order) order = left->list - right->list;
  return order ? order : strcmp(left->topic, right->topic);
}

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int topic_by_name(const void *a, const void *b)
{
  const tb_ros1_graph_topic_t *left = a, *right = b;
  return strcmp(left->name, right->name);
}

static tb_ros1_graph_topic_t *find_topic(const tb__graph_state_t *state, const char *name)
{
  tb_ros1_graph_topic_t key = {.name = name};
  if (!state->public.topic_count) return NULL;
  return bsearch(&key, state->topics, state->public.topic_count, sizeof key, topic_by_name);
}

/* --- into the snapshot --- */

static tb_status_t add_topics(const entries_t *entries, tb__graph_state_t *out)
{
  const char **names = calloc(entries->count + 1, sizeof *names);
  out->topics = calloc(entries->count + 1, sizeof *out->topics);
  out->public.topics = out->topics;
  tb_status_t status = names && out->topics ? TB_OK : TB_ERR_NO_MEMORY;
  size_t count = 0;
  for (size_t i = 0; !status && i < entries->count; i++)
    if (entries->items[i].list != SERVICES) names[count++] = entries->items[i].topic;
  if (count) qsort(names, count, sizeof *names, by_text);
  for (size_t i = 0; !status && i < count; i++) {
    if (i && !strcmp(names[i], names[i - 1])) continue;
    tb_ros1_graph_topic_t *topic = &out->topics[out->public.topic_count++];
    status = tb__graph_text_set(&topic->name, names[i]);
    if (!status) status = tb__graph_text_set(&topic->type, NULL);
  }
  free(names);
  return status;
}

static tb_status_t add_node(const entry_t *entries, size_t count, tb__graph_state_t *out)
{
  tb_ros1_graph_node_t *node = &out->nodes[out->public.node_count++];
  uint32_t *publications = calloc(count + 1, sizeof *publications);
  uint32_t *subscriptions = calloc(count + 1, sizeof *subscriptions);
  node->clock_connections = -1;
  node->publications = publications;
  node->subscriptions = subscriptions;
  tb_status_t status = publications && subscriptions ? TB_OK : TB_ERR_NO_MEMORY;
  if (!status) status = tb__graph_text_set(&node->name, entries[0].node);
  if (!status) status = tb__graph_text_set(&node->uri, NULL);
  if (!status) status = tb__graph_text_set(&node->host, NULL);
  if (!status) status = tb__graph_text_set(&node->problem, NULL);
  if (!status) status = tb__graph_text_set(&node->clock_type, NULL);
  for (size_t i = 0; !status && i < count; i++) {
    bool is_repeated = i && !by_node(&entries[i], &entries[i - 1]);
    if (is_repeated) continue;
    if (entries[i].list == SERVICES) {
      node->service_count++;
      continue;
    }
    tb_ros1_graph_topic_t *topic = find_topic(out, entries[i].topic);
    uint32_t index = (uint32_t)(topic - out->topics);
    bool is_clock = !strcmp(topic->name, CLOCK);
    if (entries[i].list == PUBLISHERS) {
      publications[node->publication_count++] = index;
      topic->publisher_count++;
      node->publishes_clock |= is_clock;
    } else {
      subscriptions[node->subscription_count++] = index;
      topic->subscriber_count++;
      node->subscribes_clock |= is_clock;
    }
  }
  return status;
}

static tb_status_t add_nodes(const entries_t *entries, tb__graph_state_t *out)
{
  out->nodes = calloc(entries->count + 1, sizeof *out->nodes);
  out->public.nodes = out->nodes;
  tb_status_t status = out->nodes ? TB_OK : TB_ERR_NO_MEMORY;
  for (size_t i = 0, next; !status && i < entries->count; i = next) {
    for (next = i + 1; next < entries->count; next++)
      if (strcmp(entries->items[next].node, entries->items[i].node) != 0) break;
    status = add_node(&entries->items[i], next - i, out);
  }
  return status;
}

tb_status_t tb__graph_state_read(const tb__xmlrpc_value_t *value, tb__graph_state_t *out)
{
  entries_t entries = {0};
  size_t count = 0;
  *out = (tb__graph_state_t){0};
  if (value->type != TB__XMLRPC_ARRAY || value->count < LISTS) return TB_ERR_CORRUPT;
  for (uint32_t i = 0; i < LISTS; i++)
    count += count_entries(tb__xmlrpc_at(value, i));
  entries.items = calloc(count + 1, sizeof *entries.items);
  if (!entries.items) return TB_ERR_NO_MEMORY;
  for (int i = 0; i < LISTS; i++)
    add_entries(tb__xmlrpc_at(value, (uint32_t)i), i, &entries);
  if (entries.count) qsort(entries.items, entries.count, sizeof *entries.items, by_node);
  tb_status_t status = add_topics(&entries, out);
  if (!status) status = add_nodes(&entries, out);
  free(entries.items);
  return status;
}

static void node_fini(tb_ros1_graph_node_t *node)
{
  text_free(node->name);
  text_free(node->uri);
  text_free(node->host);
  text_free(node->problem);
  text_free(node->clock_type);
  indices_free(node->publications);
  indices_free(node->subscriptions);
}

void tb__graph_state_fini(tb__graph_state_t *state)
{
  for (size_t i = 0; i < state->public.node_count; i++)
    node_fini(&state->nodes[i]);
  for (size_t i = 0; i < state->public.topic_count; i++) {
    text_free(state->topics[i].name);
    text_free(state->topics[i].type);
  }
  text_free(state->public.sim_time_text);
  text_free(state->public.master_uri);
  free(state->nodes);
  free(state->topics);
}

void tb__graph_state_remove(tb__graph_state_t *state, size_t index)
{
  tb_ros1_graph_node_t *node = &state->nodes[index];
  for (uint32_t i = 0; i < node->publication_count; i++)
    state->topics[node->publications[i]].publisher_count--;
  for (uint32_t i = 0; i < node->subscription_count; i++)
    state->topics[node->subscriptions[i]].subscriber_count--;
  node_fini(node);
  state->public.node_count--;
  memmove(node, node + 1, (state->public.node_count - index) * sizeof *node);
}

tb_status_t tb__graph_state_types(const tb__xmlrpc_value_t *value, tb__graph_state_t *state)
{
  tb_status_t status = TB_OK;
  for (const tb__xmlrpc_value_t *one = value->first; !status && one; one = one->next) {
    const char *name = tb__xmlrpc_string(tb__xmlrpc_at(one, 0));
    const char *type = tb__xmlrpc_string(tb__xmlrpc_at(one, 1));
    tb_ros1_graph_topic_t *topic = name && type ? find_topic(state, name) : NULL;
    if (topic) status = tb__graph_text_set(&topic->type, type);
  }
  return status;
}

/* --- /use_sim_time --- */

static void value_text(const tb__xmlrpc_value_t *value, char *out, size_t size)
{
  switch (value->type) {
  case TB__XMLRPC_BOOLEAN:
    snprintf(out, size, "the boolean %s", value->integer ? "true" : "false");
    break;
  case TB__XMLRPC_INT:
    snprintf(out, size, "the integer %" PRId64, value->integer);
    break;
  case TB__XMLRPC_DOUBLE:
    snprintf(out, size, "the number %g", value->number);
    break;
  case TB__XMLRPC_STRING:
    snprintf(out, size, "the text \"%.40s\"", value->text);
    break;
  case TB__XMLRPC_ARRAY:
    snprintf(out, size, "a list");
    break;
  case TB__XMLRPC_STRUCT:
    snprintf(out, size, "a dictionary");
    break;
  default:
    snprintf(out, size, "of another type");
  }
}

tb_status_t tb__graph_state_sim_time(const tb__xmlrpc_message_t *answer, tb__graph_state_t *state)
{
  const tb__xmlrpc_value_t *value;
  const char *why;
  int64_t code = 0;
  char text[80] = "";
  tb__sim_time_t read = tb__sim_time_of(answer);
  bool is_set = tb__xmlrpc_answer(answer, &code, &why, &value) && code == 1;
  if (is_set) value_text(value, text, sizeof text);
  state->public.sim_time = !is_set                    ? TB_ROS1_SIM_TIME_UNSET
                           : read == TB__SIM_TIME_ON  ? TB_ROS1_SIM_TIME_TRUE
                           : read == TB__SIM_TIME_ODD ? TB_ROS1_SIM_TIME_ODD
                                                      : TB_ROS1_SIM_TIME_FALSE;
  return tb__graph_text_set(&state->public.sim_time_text, text);
}
