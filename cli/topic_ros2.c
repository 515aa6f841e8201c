/* Topics of a graph of ROS 2. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_subscription.h>

#include "clock_gauge.h"
#include "clocks.h"
#include "definition_requests.h"
#include "graph_view.h"
#include "json.h"
#include "similar.h"
#include "text.h"
#include "topic.h"
#include "topic_queue.h"

#define FUTURE_NS (5 * TB_NS_PER_MS)
#define DEPTH     100
#define NAMES     32
#define SILENT    3 /* calls, one a second, that find it matched without a message */
#define UNMATCHED 6 /* the same before it is matched */

typedef struct named {
  uint64_t id; /* clock_publisher_id of the GUID */
  char name[256];
} named_t;

struct topic_feed {
  const command_t *command;
  topic_queue_t *queue;
  ros_clock_t ros; /* with the context and the graph */
  clock_gauge_t gauge;
  tb_steady_clock_t *steady;
  tb_ros2_subscription_t *subscription; /* NULL: no publisher was seen yet */
  tb__definitions_t *definitions;
  definition_requests_t *requests;
  tb__definition_entry_t *entry; /* NULL: it was not looked for yet */
  const tb_ros2_graph_snapshot_t *snapshot;
  char topic[TOPIC_NAME_SIZE];
  topic_type_t type;
  bool wants_definition, is_latched, is_explained;
  int silent, unmatched; /* how often it was to be explained */
  pthread_mutex_t mutex; /* what follows */
  named_t names[NAMES];
  uint32_t name_count;
};

/* --- list --- */

typedef struct row {
  const char *name, *type;
  size_t publishers, subscribers;
} row_t;

/* Endpoints are ordered by kind and name: the next topic from *at on. False: there is none. */
static bool next_topic(const tb_ros2_graph_snapshot_t *snapshot, size_t *at, row_t *out)
{
  while (*at < snapshot->endpoint_count && snapshot->endpoints[*at].kind != TB_ROS2_ENDPOINT_TOPIC)
    ++*at;
  if (*at == snapshot->endpoint_count) return false;
  const tb_ros2_graph_endpoint_t *first = &snapshot->endpoints[*at];
  *out = (row_t){.name = first->name, .type = first->type};
  for (; *at < snapshot->endpoint_count; ++*at) {
    const tb_ros2_graph_endpoint_t *one = &snapshot->endpoints[*at];
    if (one->kind != TB_ROS2_ENDPOINT_TOPIC || strcmp(one->name, first->name) != 0) break;
    if (one->is_publisher)
      out->publishers++;
    else
      out->subscribers++;
  }
  return true;
}

static void print_topics(const tb_ros2_graph_snapshot_t *snapshot)
{
  int columns = 7, types = 6;
  row_t row;
  for (size_t at = 0; next_topic(snapshot, &at, &row);) {
    if (text_columns(row.name) + 2 > columns) columns = text_columns(row.name) + 2;
    if (text_columns(row.type) + 2 > types) types = text_columns(row.type) + 2;
  }
  text_out("%-*s%-*spublishers  subscribers\n", columns, "TOPIC", types, "type");
  for (size_t at = 0; next_topic(snapshot, &at, &row);) {
    text_out("%-*s", columns, row.name);
    text_out("%-*s", types, row.type);
    text_out("%10zu  %11zu\n", row.publishers, row.subscribers);
  }
}

static json_t *topics_json(const tb_ros2_graph_snapshot_t *snapshot)
{
  json_t *list = json_array();
  row_t row;
  for (size_t at = 0; next_topic(snapshot, &at, &row);) {
    json_t *item = json_object();
    json_put(item, "topic", text_json(row.name));
    json_put(item, "type", text_json(row.type));
    json_put(item, "publishers", json_integer((json_int_t)row.publishers));
    json_put(item, "subscribers", json_integer((json_int_t)row.subscribers));
    json_push(list, item);
  }
  return list;
}

static int ros2_list(const topic_arguments_t *arguments)
{
  graph_view_t view;
  int result = graph_view_open(arguments->command, arguments->domain, &view);
  if (!result) result = graph_view_settle(&view, arguments->duration, NULL, NULL);
  if (!result && arguments->style.form == MESSAGE_JSON)
    result = json_finish(arguments->command, topics_json(view.snapshot), EXIT_OK);
  else if (!result)
    print_topics(view.snapshot);
  graph_view_close(&view);
  return result;
}

/* --- messages --- */

static int64_t now_of(topic_feed_t *feed, const tb_ros2_sample_t *sample)
{
  tb_time_t now = {0};
  if (!ros_clock_facts(&feed->ros).first_sample_ns) return sample->receive_timestamp_ns;
  return tb_clock_now(feed->ros.clock, &now) ? 0 : now.ns;
}

/* On a thread of DDS. */
static void on_message(const tb_ros2_sample_t *sample, void *user)
{
  topic_feed_t *feed = user;
  topic_message_t head = {.received_ns = sample->receive_timestamp_ns,
                          .steady_ns = sample->receive_steady_ns,
                          .now_ns = now_of(feed, sample),
                          .publisher = clock_publisher_id(sample->writer_guid),
                          .is_latched = feed->is_latched};
  pthread_mutex_lock(&feed->mutex);
  for (uint32_t i = 0; i < feed->name_count; i++)
    if (feed->names[i].id == head.publisher)
      snprintf(head.name, sizeof head.name, "%s", feed->names[i].name);
  pthread_mutex_unlock(&feed->mutex);
  topic_queue_put(feed->queue, &head, &feed->type, sample->cdr, sample->size);
}

static void name_publishers(topic_feed_t *feed, const tb_ros2_graph_endpoint_t *publishers,
                            size_t count)
{
  pthread_mutex_lock(&feed->mutex);
  feed->name_count = 0;
  for (size_t i = 0; i < count && feed->name_count < NAMES; i++) {
    if (publishers[i].node < 0) continue;
    named_t *named = &feed->names[feed->name_count++];
    named->id = clock_publisher_id(publishers[i].guid);
    snprintf(named->name, sizeof named->name, "%s",
             feed->snapshot->nodes[publishers[i].node].full_name);
  }
  pthread_mutex_unlock(&feed->mutex);
}

/* What has been published before comes only from publishers that all keep it, and reliably. */
static int subscribe(topic_feed_t *feed, const tb_ros2_graph_endpoint_t *publishers, size_t count)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb_ros2_subscription_options_t options = {on_message, feed};
  feed->is_latched = true;
  for (size_t i = 0; i < count; i++)
    feed->is_latched &= publishers[i].qos.durability == TB_QOS_TRANSIENT_LOCAL &&
                        publishers[i].qos.reliability == TB_QOS_RELIABLE;
  qos.depth = DEPTH;
  qos.has_key = publishers[0].qos.has_key;
  qos.reliability = feed->is_latched ? TB_QOS_RELIABLE : TB_QOS_BEST_EFFORT;
  qos.durability = feed->is_latched ? TB_QOS_TRANSIENT_LOCAL : TB_QOS_VOLATILE;
  snprintf(feed->type.name, sizeof feed->type.name, "%s", publishers[0].type);
  tb_status_t status = tb_ros2_subscription_create(feed->ros.context, feed->topic, feed->type.name,
                                                   &qos, &options, &feed->subscription, &error);
  return status ? command_failed(feed->command, status, &error) : EXIT_OK;
}

/* Whether the definition was found, or is nowhere. */
static int find_definition(topic_feed_t *feed, const tb_ros2_graph_endpoint_t *publisher,
                           bool *out_done)
{
  tb_status_t status = TB_OK;
  tb_steady_time_t now = {0};
  *out_done = !feed->wants_definition;
  if (!feed->wants_definition) return EXIT_OK;
  if (!feed->entry) status = definition_requests_get(feed->requests, publisher, &feed->entry);
  if (status) return command_failed(feed->command, status, NULL);
  tb_steady_clock_now(feed->steady, &now);
  definition_requests_step(feed->requests, feed->snapshot, now.ns);
  tb__definition_state_t state = tb__definition_entry_state(feed->entry);
  *out_done = state != TB__DEFINITION_IS_AWAITED;
  if (state != TB__DEFINITION_IS_UNKNOWN || feed->subscription) return EXIT_OK;
  const char *note = tb__definition_entry_note(feed->entry);
  text_err("timebase %s: the definition of ", feed->command->name);
  text_err("%s is unknown%s%s; source its workspace (AMENT_PREFIX_PATH)\n", publisher->type,
           *note ? ": " : "", note);
  return EXIT_OK;
}

static int ros2_step(topic_feed_t *feed)
{
  const tb_ros2_graph_endpoint_t *publishers;
  tb_error_t error = TB_ERROR_INIT;
  bool is_done = false;
  tb_ros2_graph_snapshot_release(feed->snapshot);
  feed->snapshot = NULL;
  tb_status_t status = tb_ros2_graph_snapshot(feed->ros.graph, &feed->snapshot, &error);
  if (status) return command_failed(feed->command, status, &error);
  size_t count = tb_ros2_graph_publishers(feed->snapshot, feed->topic, &publishers);
  if (!count) return EXIT_OK;
  name_publishers(feed, publishers, count);
  int result = find_definition(feed, publishers, &is_done);
  if (result || !is_done || feed->subscription) return result;
  return subscribe(feed, publishers, count);
}

static int ros2_open(const topic_arguments_t *arguments, topic_queue_t *queue, topic_feed_t **out)
{
  topic_feed_t *feed = calloc(1, sizeof *feed);
  if (!feed) return command_failed(arguments->command, TB_ERR_NO_MEMORY, NULL);
  *out = feed;
  static char none[] = "";
  feed->type.definition = none; /* the queue copies it */
  feed->command = arguments->command;
  feed->queue = queue;
  feed->wants_definition = arguments->verb == TOPIC_ECHO || arguments->verb == TOPIC_DELAY;
  pthread_mutex_init(&feed->mutex, NULL);
  topic_full_name(arguments->word, feed->topic);
  tb_ros2_clock_source_options_t source = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  source.observer = clock_gauge_feed;
  source.observer_user = &feed->gauge;
  int result = clock_gauge_begin(feed->command, &feed->gauge);
  if (!result) result = topic_clock_open(feed->command, arguments->domain, &source, &feed->ros);
  if (result) return result;
  tb__definition_places_t places = {.prefixes = getenv("AMENT_PREFIX_PATH")};
  tb_status_t status = tb_steady_clock_create(&feed->steady);
  if (!status) status = tb__definitions_create(&places, &feed->definitions);
  if (!status) feed->requests = definition_requests_create(feed->ros.context, feed->definitions);
  if (!status && !feed->requests) status = TB_ERR_NO_MEMORY;
  return status ? command_failed(feed->command, status, NULL) : EXIT_OK;
}

static void ros2_close(topic_feed_t *feed)
{
  if (!feed) return;
  tb_ros2_subscription_destroy(feed->subscription);
  definition_requests_destroy(feed->requests);
  tb_ros2_graph_snapshot_release(feed->snapshot);
  ros_clock_close(&feed->ros); /* its source feeds the gauge */
  clock_gauge_close(&feed->gauge);
  tb__definitions_destroy(feed->definitions);
  tb_steady_clock_destroy(feed->steady);
  pthread_mutex_destroy(&feed->mutex);
  free(feed);
}

/* A publisher that has just been found, or matched, may not have sent anything yet. */
static bool may_still_come(topic_feed_t *feed)
{
  bool is_matched = feed->subscription && tb_ros2_subscription_matched(feed->subscription) > 0;
  if (is_matched) return ++feed->silent < SILENT;
  feed->silent = 0;
  return ++feed->unmatched < UNMATCHED;
}

static void ros2_explain(topic_feed_t *feed, bool is_last)
{
  const tb_ros2_graph_endpoint_t *publishers;
  const char *before = "; did you mean ";
  row_t row;
  if (feed->is_explained || !feed->snapshot) return;
  size_t count = tb_ros2_graph_publishers(feed->snapshot, feed->topic, &publishers);
  if (count && !is_last && may_still_come(feed)) return;
  feed->is_explained = true;
  text_err("timebase %s: ", feed->command->name);
  if (count) {
    text_err("%s has %zu publisher%s, and no message was received\n", feed->topic, count,
             count == 1 ? "" : "s");
    return;
  }
  text_err("no publisher of %s on the graph", feed->topic);
  for (size_t at = 0; next_topic(feed->snapshot, &at, &row);) {
    if (!row.publishers || !is_similar(feed->topic, row.name)) continue;
    text_err("%s", before);
    text_err("%s", row.name);
    before = " or ";
  }
  text_err("%s\n", *before == ';' ? "; 'timebase topic list' shows what there is" : "?");
}

static int64_t ros2_tolerance(topic_feed_t *feed)
{
  int64_t step_ns = clock_gauge_read(&feed->gauge).step_ns;
  return step_ns > FUTURE_NS ? step_ns : FUTURE_NS;
}

static const tb__known_definition_t *ros2_definition(topic_feed_t *feed, const void *data,
                                                     size_t size)
{
  return feed->entry ? tb__definition_entry_fit(feed->entry, data, size) : NULL;
}

const topic_graph_t topic_ros2 = {
    .list = ros2_list,
    .open = ros2_open,
    .close = ros2_close,
    .step = ros2_step,
    .explain = ros2_explain,
    .tolerance = ros2_tolerance,
    .definition = ros2_definition,
};
