/* What a node answers to other nodes, tools and the master. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "ros1/node.h"

typedef void (*method_t)(tb__ros1_node_t *node, const tb__xmlrpc_value_t *params,
                         tb__xmlrpc_writer_t *out);

/* [code, text, ...: the value and the end of the array are the caller's. */
static void begin_answer(tb__xmlrpc_writer_t *out, int32_t code, const char *text)
{
  tb__xmlrpc_begin_response(out);
  tb__xmlrpc_begin_array(out);
  tb__xmlrpc_put_int(out, code);
  tb__xmlrpc_put_string(out, text);
}

static void answer_int(tb__xmlrpc_writer_t *out, int32_t code, const char *text, int32_t value)
{
  begin_answer(out, code, text);
  tb__xmlrpc_put_int(out, value);
  tb__xmlrpc_end_array(out);
}

static void answer_string(tb__xmlrpc_writer_t *out, const char *value)
{
  begin_answer(out, 1, "");
  tb__xmlrpc_put_string(out, value);
  tb__xmlrpc_end_array(out);
}

/* The third element is an array also in a refusal: roscpp aborts at a number. */
static void answer_nothing(tb__xmlrpc_writer_t *out, int32_t code, const char *text)
{
  begin_answer(out, code, text);
  tb__xmlrpc_begin_array(out);
  tb__xmlrpc_end_array(out);
  tb__xmlrpc_end_array(out);
}

/* Anybody can call it: the master is asked what is true. */
static void publisher_update(tb__ros1_node_t *node, const tb__xmlrpc_value_t *params,
                             tb__xmlrpc_writer_t *out)
{
  const char *topic = tb__xmlrpc_string(tb__xmlrpc_at(params, 1));
  if (topic) tb__ros1_node_renew(node, "registerSubscriber", topic);
  answer_int(out, 1, "", 0);
}

static void param_update(tb__ros1_node_t *node, const tb__xmlrpc_value_t *params,
                         tb__xmlrpc_writer_t *out)
{
  (void)node, (void)params;
  answer_int(out, 1, "", 0);
}

static bool offers_tcpros(const tb__xmlrpc_value_t *protocols)
{
  const tb__xmlrpc_value_t *one = protocols ? protocols->first : NULL;
  for (; one; one = one->next) {
    const char *name = tb__xmlrpc_string(tb__xmlrpc_at(one, 0));
    if (name && !strcmp(name, "TCPROS")) return true;
  }
  return false;
}

static bool publishes(const tb__ros1_node_t *node, const char *topic)
{
  for (const tb__ros1_publication_t *one = node->publications; topic && one; one = one->next)
    if (!strcmp(one->name, topic)) return true;
  return false;
}

static void request_topic(tb__ros1_node_t *node, const tb__xmlrpc_value_t *params,
                          tb__xmlrpc_writer_t *out)
{
  char text[TB__ROS1_URI_SIZE];
  if (!publishes(node, tb__xmlrpc_string(tb__xmlrpc_at(params, 1)))) {
    answer_nothing(out, 0, "this node does not publish the topic");
    return;
  }
  if (!offers_tcpros(tb__xmlrpc_at(params, 2))) {
    answer_nothing(out, 0, "no supported protocol: this node has TCPROS");
    return;
  }
  snprintf(text, sizeof text, "ready on %s:%u", node->host, (unsigned)node->tcpros.port);
  begin_answer(out, 1, text);
  tb__xmlrpc_begin_array(out);
  tb__xmlrpc_put_string(out, "TCPROS");
  tb__xmlrpc_put_string(out, node->host);
  tb__xmlrpc_put_int(out, node->tcpros.port);
  tb__xmlrpc_end_array(out);
  tb__xmlrpc_end_array(out);
}

static void get_pid(tb__ros1_node_t *node, const tb__xmlrpc_value_t *params,
                    tb__xmlrpc_writer_t *out)
{
  (void)node, (void)params;
  answer_int(out, 1, "", (int32_t)getpid());
}

static void get_name(tb__ros1_node_t *node, const tb__xmlrpc_value_t *params,
                     tb__xmlrpc_writer_t *out)
{
  (void)params;
  answer_string(out, node->name);
}

static void get_master_uri(tb__ros1_node_t *node, const tb__xmlrpc_value_t *params,
                           tb__xmlrpc_writer_t *out)
{
  char text[TB__ROS1_URI_SIZE];
  (void)params;
  snprintf(text, sizeof text, "http://%s:%u/", node->master.host, (unsigned)node->master.port);
  answer_string(out, text);
}

static void put_topic(tb__xmlrpc_writer_t *out, const char *name, const char *type)
{
  tb__xmlrpc_begin_array(out);
  tb__xmlrpc_put_string(out, name);
  tb__xmlrpc_put_string(out, type);
  tb__xmlrpc_end_array(out);
}

static void get_publications(tb__ros1_node_t *node, const tb__xmlrpc_value_t *params,
                             tb__xmlrpc_writer_t *out)
{
  (void)params;
  begin_answer(out, 1, "publications");
  tb__xmlrpc_begin_array(out);
  for (const tb__ros1_publication_t *one = node->publications; one; one = one->next)
    put_topic(out, one->name, one->type);
  tb__xmlrpc_end_array(out);
  tb__xmlrpc_end_array(out);
}

static void get_subscriptions(tb__ros1_node_t *node, const tb__xmlrpc_value_t *params,
                              tb__xmlrpc_writer_t *out)
{
  (void)params;
  begin_answer(out, 1, "subscriptions");
  tb__xmlrpc_begin_array(out);
  for (const tb__ros1_subscription_t *one = node->subscriptions; one; one = one->next)
    put_topic(out, one->name, one->topic.type);
  tb__xmlrpc_end_array(out);
  tb__xmlrpc_end_array(out);
}

static void put_connection(tb__xmlrpc_writer_t *out, uint64_t id, const char *peer,
                           const char *direction, const char *topic, const char *where)
{
  tb__xmlrpc_begin_array(out);
  tb__xmlrpc_put_int(out, (int32_t)(id & INT32_MAX));
  tb__xmlrpc_put_string(out, peer);
  tb__xmlrpc_put_string(out, direction);
  tb__xmlrpc_put_string(out, "TCPROS");
  tb__xmlrpc_put_string(out, topic);
  tb__xmlrpc_put_boolean(out, true);
  tb__xmlrpc_put_string(out, where);
  tb__xmlrpc_end_array(out);
}

static void put_publisher(tb__xmlrpc_writer_t *out, const tb__publisher_link_t *link)
{
  char uri[TB__ROS1_URI_SIZE], where[TB__ROS1_URI_SIZE];
  snprintf(uri, sizeof uri, "http://%s:%u/", link->uri.host, (unsigned)link->uri.port);
  snprintf(where, sizeof where, "TCPROS connection to [%s:%u on socket %d]", link->dial.peer.host,
           (unsigned)link->dial.peer.port, link->watch.fd);
  put_connection(out, link->id, uri, "i", link->topic->name, where);
}

static void put_subscribers(tb__xmlrpc_writer_t *out, tb__ros1_publication_t *publication)
{
  char where[TB__ROS1_URI_SIZE];
  tb__mutex_lock(&publication->mutex);
  for (const tb__subscriber_link_t *link = publication->links; link; link = link->next) {
    snprintf(where, sizeof where, "TCPROS connection on port %u to [%s on socket %d]",
             (unsigned)publication->node->tcpros.port, link->peer, link->watch.fd);
    put_connection(out, link->id, link->subscriber, "o", publication->name, where);
  }
  tb__mutex_unlock(&publication->mutex);
}

static void get_bus_info(tb__ros1_node_t *node, const tb__xmlrpc_value_t *params,
                         tb__xmlrpc_writer_t *out)
{
  (void)params;
  begin_answer(out, 1, "bus info");
  tb__xmlrpc_begin_array(out);
  for (tb__ros1_publication_t *one = node->publications; one; one = one->next)
    put_subscribers(out, one);
  for (const tb__ros1_subscription_t *one = node->subscriptions; one; one = one->next)
    for (const tb__publisher_link_t *link = one->links; link; link = link->next)
      if (link->state == TB__LINK_OPEN) put_publisher(out, link);
  tb__xmlrpc_end_array(out);
  tb__xmlrpc_end_array(out);
}

/* By the master when another node takes the name, by `rosnode kill`, or by anybody: the program is
 * not this library's to end. */
static void shut_down(tb__ros1_node_t *node, const tb__xmlrpc_value_t *params,
                      tb__xmlrpc_writer_t *out)
{
  const char *why = tb__xmlrpc_string(tb__xmlrpc_at(params, 1));
  if (!node->was_asked_to_end)
    tb__log(TB_LOG_WARN, "%s was asked to shut down (%s), which only its program can do",
            node->name, why ? why : "without a reason");
  node->was_asked_to_end = true;
  tb__ros1_node_poll(node);
  answer_int(out, 1, "", 0);
}

static const struct {
  const char *name;
  method_t method;
} methods[] = {
    {"publisherUpdate", publisher_update},
    {"paramUpdate", param_update},
    {"requestTopic", request_topic},
    {"getPid", get_pid},
    {"getName", get_name},
    {"getMasterUri", get_master_uri},
    {"getPublications", get_publications},
    {"getSubscriptions", get_subscriptions},
    {"getBusInfo", get_bus_info},
    {"shutdown", shut_down},
};

void tb__ros1_node_answer(tb__ros1_node_t *node, const tb__xmlrpc_message_t *call,
                          tb__xmlrpc_writer_t *out)
{
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (call->kind != TB__XMLRPC_CALL || strcmp(methods[i].name, call->method) != 0) continue;
    methods[i].method(node, &call->params, out);
    tb__xmlrpc_end(out);
    return;
  }
  char text[160];
  snprintf(text, sizeof text, "%.100s: unknown method name", call->method);
  tb__xmlrpc_write_fault(out, -1, text);
}
