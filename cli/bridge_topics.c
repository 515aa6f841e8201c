#include "bridge_topics.h"

#include <stdlib.h>
#include <string.h>

#include "contract/name_pattern.h"
#include "json.h"
#include "text.h"

/* --- choosing --- */

/* What is of one graph alone: time, and what nodes say about themselves. */
static bool is_never_carried(const char *name)
{
  static const char *const names[] = {"/clock", "/rosout", "/rosout_agg", "/parameter_events",
                                      "/statistics"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return strstr(name, "/_") != NULL; /* hidden */
}

static bool is_in(const bridge_names_t *names, const char *name)
{
  for (size_t i = 0; i < names->count; i++)
    if (tb__name_matches(names->items[i], name)) return true;
  return false;
}

/* `otherwise`: what counts if it cannot be decided. */
static bool finds(const tb_topic_expression_t *expression, const char *name, bool otherwise)
{
  bool is_found = otherwise;
  if (!expression) return false;
  if (tb_topic_expression_search(expression, name, &is_found, NULL)) return otherwise;
  return is_found;
}

static bool is_chosen(const bridge_choice_t *choice, const char *name, bridge_side_t from)
{
  if (is_never_carried(name) || is_in(&choice->exclude, name) ||
      finds(choice->exclude_regex, name, true))
    return false;
  bool is_to_ros1 = is_in(&choice->to_ros1, name), is_to_ros2 = is_in(&choice->to_ros2, name);
  if (is_to_ros1 || is_to_ros2) return from == BRIDGE_ROS1 ? is_to_ros2 : is_to_ros1;
  return choice->all || is_in(&choice->names, name) || finds(choice->regex, name, false);
}

/* --- finding --- */

/* A subscription of ROS 1 takes all types of a topic, one of ROS 2 is of one type. */
static bool is_known(const bridge_topics_t *topics, const char *name, const char *type,
                     bridge_side_t from)
{
  for (bridge_topic_t *topic = topics->first; topic; topic = topic->next)
    if (topic->from == from && strcmp(topic->name, name) == 0 &&
        (from == BRIDGE_ROS1 || strcmp(topic->type, type) == 0))
      return true;
  return false;
}

/* Another bridge of the same graphs carries it, either way. */
static const char *other_bridge(const bridge_view_t *view, const char *name)
{
  const char *node = bridge_view_bridge(view, BRIDGE_ROS1, name);
  return node ? node : bridge_view_bridge(view, BRIDGE_ROS2, name);
}

static void report_limit(bridge_topics_t *topics, const char *name)
{
  if (topics->has_reported_limit) return;
  topics->has_reported_limit = true;
  command_begin_warning(topics->command);
  text_err("%s and more topics are not carried: a bridge takes %d; choose some with --topics, "
           "--regex or --exclude, and start another bridge for the others\n",
           name, BRIDGE_TOPICS_MAX);
}

static int consider(bridge_topics_t *topics, const bridge_view_t *view, bridge_side_t from,
                    const char *name, const char *type)
{
  if (!is_chosen(topics->choice, name, from) || is_known(topics, name, type, from) ||
      !bridge_view_publishers(view, from, name, NULL, 0))
    return EXIT_OK;
  if (topics->count >= BRIDGE_TOPICS_MAX) {
    report_limit(topics, name);
    return EXIT_OK;
  }
  const char *node = other_bridge(view, name);
  bridge_topic_t *topic =
      node ? bridge_topic_refused(view, from, name, type, node)
           : bridge_topic_open(view, &topics->queue, &topics->choice->folders, from, name, type);
  if (!topic) return command_failed(topics->command, TB_ERR_NO_MEMORY, NULL);
  topic->next = topics->first;
  topics->first = topic;
  topics->count++;
  return EXIT_OK;
}

/* Of two bridges that began at once, the one whose name comes later gives the topic up. */
static void yield_topics(bridge_topics_t *topics, const bridge_view_t *view)
{
  for (bridge_topic_t *topic = topics->first; topic; topic = topic->next) {
    const char *node = topic->is_refused ? NULL : other_bridge(view, topic->name);
    if (node && strcmp(view->own, node) > 0) bridge_topic_give_up(topic, node);
  }
}

int bridge_topics_look(bridge_topics_t *topics, const bridge_view_t *view)
{
  int result = EXIT_OK;
  if (!topics->choice->is_given) return EXIT_OK;
  yield_topics(topics, view);
  for (bridge_topic_t *topic = topics->first; topic; topic = topic->next)
    bridge_topic_look(topic, view);
  for (size_t i = 0; i < view->ros1->topic_count && !result; i++) {
    const tb_ros1_graph_topic_t *topic = &view->ros1->topics[i];
    if (topic->publisher_count)
      result = consider(topics, view, BRIDGE_ROS1, topic->name, topic->type);
  }
  for (size_t i = 0; i < view->ros2->endpoint_count && !result; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &view->ros2->endpoints[i];
    if (endpoint->is_publisher && endpoint->kind == TB_ROS2_ENDPOINT_TOPIC &&
        !bridge_view_is_own(view, endpoint))
      result = consider(topics, view, BRIDGE_ROS2, endpoint->name, endpoint->type);
  }
  return result;
}

/* --- the whole --- */

int bridge_topics_open(const command_t *command, const bridge_choice_t *choice,
                       bridge_topics_t *out)
{
  *out = (bridge_topics_t){.command = command, .choice = choice};
  if (!choice->is_given) return EXIT_OK;
  if (bridge_queue_begin(&out->queue, bridge_topic_send, bridge_topic_lose))
    return command_failed(command, TB_ERR_SYSTEM, NULL);
  return EXIT_OK;
}

void bridge_topics_end(bridge_topics_t *topics)
{
  for (bridge_topic_t *topic = topics->first; topic; topic = topic->next)
    bridge_topic_end(topic);
  bridge_queue_end(&topics->queue);
}

void bridge_topics_close(bridge_topics_t *topics)
{
  bridge_topics_end(topics);
  while (topics->first) {
    bridge_topic_t *topic = topics->first;
    topics->first = topic->next;
    bridge_topic_close(topic);
  }
}

size_t bridge_topics_count(const bridge_topics_t *topics, uint64_t *out_messages)
{
  size_t count = 0;
  uint64_t messages = 0;
  for (bridge_topic_t *topic = topics->first; topic; topic = topic->next) {
    count += bridge_topic_is_carried(topic);
    messages += atomic_load(&topic->messages);
  }
  if (out_messages) *out_messages = messages;
  return count;
}

static void show_json(const bridge_topic_t *topic)
{
  json_t *object = json_object();
  json_put(object, "topic", text_json(topic->name));
  json_put(object, "type", text_json(topic->type));
  json_put(object, "from", json_string(bridge_side_word(topic->from)));
  json_put(object, "carried", json_boolean(bridge_topic_is_carried(topic)));
  json_put(object, "messages", json_integer((json_int_t)atomic_load(&topic->messages)));
  json_put(object, "bytes", json_integer((json_int_t)atomic_load(&topic->bytes)));
  json_put(object, "lost", json_integer((json_int_t)atomic_load(&topic->lost)));
  json_put(object, "failed", json_integer((json_int_t)atomic_load(&topic->failed)));
  json_print(object, 0);
}

static void show_text(const bridge_topic_t *topic)
{
  text_out("%s  %s to %s  %s  ", topic->name, bridge_side_name(topic->from),
           bridge_side_name(bridge_other_side(topic->from)), topic->type);
  if (!bridge_topic_is_carried(topic))
    text_out("not carried\n");
  else
    text_out("messages %llu  lost %llu  failed %llu\n",
             (unsigned long long)atomic_load(&topic->messages),
             (unsigned long long)atomic_load(&topic->lost),
             (unsigned long long)atomic_load(&topic->failed));
}

void bridge_topics_show(const bridge_topics_t *topics, bool json)
{
  for (bridge_topic_t *topic = topics->first; topic; topic = topic->next)
    if (json)
      show_json(topic);
    else
      show_text(topic);
}
