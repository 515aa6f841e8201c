/* Topics of a graph of ROS 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/clock.h>
#include <timebase/ros1_clock_source.h>
#include <timebase/ros1_graph.h>
#include <timebase/ros1_subscription.h>

#include "clock_gauge.h"
#include "json.h"
#include "ros1_ticks.h"
#include "similar.h"
#include "text.h"
#include "topic.h"
#include "topic_queue.h"

#define FUTURE_NS (5 * TB_NS_PER_MS)
#define SILENT    3 /* calls, one a second, that find a publisher and no message */
#define LIMIT     ((tb_duration_t){300 * TB_NS_PER_MS}) /* for the answers of nodes */

struct topic_feed {
  const command_t *command;
  tb_ros1_context_t *context;
  tb_ros1_subscription_t *subscription;
  tb_source_t *source; /* the time that nodes have */
  tb_clock_t *clock;
  clock_gauge_t gauge; /* fed by it */
  topic_queue_t *queue;
  char topic[TOPIC_NAME_SIZE];
  bool is_clock; /* the topic is that of the clock */
  bool is_explained;
  int silent; /* how often it was to be explained */
};

/* --- list --- */

static json_t *topic_json(const tb_ros1_graph_topic_t *topic)
{
  json_t *item = json_object();
  json_put(item, "topic", text_json(topic->name));
  json_put(item, "type", *topic->type ? text_json(topic->type) : json_null());
  json_put(item, "publishers", json_integer(topic->publisher_count));
  json_put(item, "subscribers", json_integer(topic->subscriber_count));
  return item;
}

static void print_topics(const tb_ros1_graph_snapshot_t *graph)
{
  int columns = 7, types = 6;
  for (size_t i = 0; i < graph->topic_count; i++) {
    int name = text_columns(graph->topics[i].name) + 2,
        type = text_columns(graph->topics[i].type) + 2;
    if (name > columns) columns = name;
    if (type > types) types = type;
  }
  text_out("%-*s%-*spublishers  subscribers\n", columns, "TOPIC", types, "type");
  for (size_t i = 0; i < graph->topic_count; i++) {
    const tb_ros1_graph_topic_t *topic = &graph->topics[i];
    text_out("%-*s", columns, topic->name);
    text_out("%-*s", types, *topic->type ? topic->type : "?");
    text_out("%10u  %11u\n", topic->publisher_count, topic->subscriber_count);
  }
}

static int ros1_list(const topic_arguments_t *arguments)
{
  tb_ros1_context_t *context = NULL;
  tb_ros1_graph_snapshot_t *graph = NULL;
  tb_error_t error = TB_ERROR_INIT;
  int result = ros1_join(arguments->command, &context);
  tb_status_t status = result ? TB_OK : tb_ros1_graph_take(context, LIMIT, &graph, &error);
  if (status) result = command_failed(arguments->command, status, &error);
  if (!result && arguments->style.form == MESSAGE_JSON) {
    json_t *list = json_array();
    for (size_t i = 0; i < graph->topic_count; i++)
      json_push(list, topic_json(&graph->topics[i]));
    result = json_finish(arguments->command, list, EXIT_OK);
  } else if (!result) {
    print_topics(graph);
  }
  tb_ros1_graph_snapshot_release(graph);
  ros1_leave(context);
  return result;
}

/* --- messages --- */

/* On the context's thread. */
static void put(topic_feed_t *feed, const tb_ros1_sample_t *sample, int64_t now_ns)
{
  topic_message_t head = {.received_ns = sample->received_ns,
                          .steady_ns = sample->steady_ns,
                          .now_ns = now_ns,
                          .publisher = sample->connection,
                          .is_latched = sample->latched != 0};
  topic_type_t type = {.definition = NULL};
  union {
    const char *in;
    char *out; /* the queue copies it */
  } definition = {.in = sample->type.definition};
  type.definition = definition.out;
  snprintf(head.name, sizeof head.name, "%s", sample->publisher);
  snprintf(type.name, sizeof type.name, "%s", sample->type.name);
  snprintf(type.md5sum, sizeof type.md5sum, "%s", sample->type.md5sum);
  topic_queue_put(feed->queue, &head, &type, sample->message, sample->size);
}

static void on_message(const tb_ros1_sample_t *sample, void *user)
{
  topic_feed_t *feed = user;
  tb_time_t now = {0};
  if (tb_clock_now(feed->clock, &now)) now.ns = 0;
  put(feed, sample, now.ns);
}

/* Of the clock's own topic, whose messages come by its source: before time has moved to them. */
static void on_tick(const tb_ros1_sample_t *sample, void *user)
{
  topic_feed_t *feed = user;
  ros1_gauge_feed(sample, &feed->gauge);
  if (feed->is_clock) put(feed, sample, 0);
}

static tb_status_t subscribe(topic_feed_t *feed, tb_error_t *error)
{
  tb_ros1_subscription_options_t options = {.callback = on_message, .user = feed};
  return tb_ros1_subscription_create(feed->context, feed->topic, NULL, &options,
                                     &feed->subscription, error);
}

static int ros1_open(const topic_arguments_t *arguments, topic_queue_t *queue, topic_feed_t **out)
{
  tb_error_t error = TB_ERROR_INIT;
  topic_feed_t *feed = calloc(1, sizeof *feed);
  if (!feed) return command_failed(arguments->command, TB_ERR_NO_MEMORY, NULL);
  *out = feed;
  feed->command = arguments->command;
  feed->queue = queue;
  topic_full_name(arguments->word, feed->topic);
  feed->is_clock = !strcmp(feed->topic, "/clock");
  tb_ros1_clock_source_options_t source = TB_ROS1_CLOCK_SOURCE_OPTIONS_INIT;
  source.observer = on_tick;
  source.observer_user = feed;
  if (feed->is_clock) source.sim_time = TB_ROS1_SIM_TIME_ALWAYS;
  int result = ros1_join(feed->command, &feed->context);
  if (!result) result = ros1_require_master(feed->command, feed->context);
  if (!result) result = clock_gauge_begin(feed->command, &feed->gauge);
  if (result) return result;
  tb_status_t status = tb_ros1_clock_source_create(feed->context, &source, &feed->source, &error);
  tb_clock_options_t clock = {TB_TIME_ROS, feed->source};
  if (!status) status = tb_clock_create(&clock, &feed->clock);
  if (!status && !feed->is_clock) status = subscribe(feed, &error);
  if (status == TB_ERR_INVALID) return command_usage_error(feed->command, "%s", error.text);
  return status ? command_failed(feed->command, status, &error) : EXIT_OK;
}

static void ros1_close(topic_feed_t *feed)
{
  if (!feed) return;
  tb_ros1_subscription_destroy(feed->subscription);
  tb_clock_destroy(feed->clock);
  tb_source_destroy(feed->source);
  ros1_leave(feed->context);
  clock_gauge_close(&feed->gauge);
  free(feed);
}

static void print_similar(const topic_feed_t *feed, const tb_ros1_graph_snapshot_t *graph)
{
  const char *before = "; did you mean ";
  for (size_t i = 0; i < graph->topic_count; i++) {
    if (!graph->topics[i].publisher_count || !is_similar(feed->topic, graph->topics[i].name))
      continue;
    text_err("%s", before);
    text_err("%s", graph->topics[i].name);
    before = " or ";
  }
  text_err("%s\n", *before == ';' ? "; 'timebase topic list --ros1' shows what there is" : "?");
}

static void ros1_explain(topic_feed_t *feed, bool is_last)
{
  tb_ros1_graph_snapshot_t *graph = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (feed->is_explained) return;
  if (tb_ros1_graph_take(feed->context, LIMIT, &graph, &error)) {
    feed->is_explained = true;
    text_err("timebase %s: %s\n", feed->command->name, error.text);
    return;
  }
  uint32_t publishers = 0;
  for (size_t i = 0; i < graph->topic_count; i++)
    if (!strcmp(graph->topics[i].name, feed->topic)) publishers = graph->topics[i].publisher_count;
  if (publishers && !is_last && ++feed->silent < SILENT) {
    tb_ros1_graph_snapshot_release(graph);
    return;
  }
  feed->is_explained = true;
  text_err("timebase %s: ", feed->command->name);
  if (publishers) {
    text_err("%s has %u publisher%s, and no message was received\n", feed->topic, publishers,
             publishers == 1 ? "" : "s");
  } else {
    text_err("no publisher of %s on the ROS 1 graph", feed->topic);
    print_similar(feed, graph);
  }
  tb_ros1_graph_snapshot_release(graph);
}

static int64_t ros1_tolerance(topic_feed_t *feed)
{
  int64_t step_ns = clock_gauge_read(&feed->gauge).step_ns;
  return step_ns > FUTURE_NS ? step_ns : FUTURE_NS;
}

const topic_graph_t topic_ros1 = {
    .list = ros1_list,
    .open = ros1_open,
    .close = ros1_close,
    .explain = ros1_explain,
    .tolerance = ros1_tolerance,
};
