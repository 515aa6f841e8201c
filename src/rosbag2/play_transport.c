#include <timebase/ros2_play_transport.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_type_hash.h>

#include "base/log.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "definition/message_definition.h"
#include "held/parking.h"
#include "platform/time.h"
#include "ros2/match_watch.h"
#include "ros2/publisher.h"
#include "rosbag2/play_acks.h"
#include "rosbag2/play_outputs.h"
#include "rosbag2/player_messages.h"
#include "wire/clock_message.h"

#define BATCH_MESSAGE_MAX    8192 /* bytes; larger ones fill packets by themselves */
#define QUIET_NS             (200 * TB_NS_PER_MS) /* discovery of one process comes in one go */
#define QUIET_WHEN_EMPTY_NS  (500 * TB_NS_PER_MS) /* the same, while no subscription was found */
#define LINGER_NS            (200 * TB_NS_PER_MS)
#define ACK_SLICE_NS         (50 * TB_NS_PER_MS) /* DDS's wait for acknowledgements cannot be woken */
#define ACK_LIMIT_ON_STOP_NS (200 * TB_NS_PER_MS) /* what a stop waits for them */

typedef struct topic {
  struct topic *next;
  char *name, *type; /* as recorded */
  tb_ros2_publisher_t *publisher;
  bool reliable;
  bool is_kept;   /* it has messages that were not sent */
  bool keeps_all; /* until they are acknowledged */
  size_t unacked; /* of them, in bytes, when that was looked at last */
  size_t unkept;  /* that was reported */
  size_t input;   /* of the awaited outputs */
} topic_t;

struct tb_ros2_play_transport {
  tb_ros2_context_t *context;
  tb_ros2_play_transport_options_t options;
  tb_ros2_clock_publisher_t *clock; /* NULL: none wanted */
  tb_ros2_publisher_t *splits;      /* NULL: there is no node */
  topic_t *topics;
  bool batches, is_kept;   /* messages go out together; some were not sent */
  int64_t first_ns;        /* steady time of the first of them */
  uint64_t backlog;        /* bytes: the sum of `unacked` */
  _Atomic uint32_t events; /* subscriptions that came and went, and interrupts */
  atomic_bool interrupted;
  tb_ros2_graph_t *graph; /* for names: a node that does not acknowledge may have left */
  tb__play_wake_t wake;
  tb__play_acks_t acks;
  tb__play_outputs_t outputs;
};

static tb_status_t create_publisher(const tb_ros2_play_transport_t *transport,
                                    const tb_bag_topic_t *topic, const tb_qos_t *qos,
                                    tb_ros2_publisher_t **out, tb_error_t *error)
{
  tb_ros2_node_t *node = transport->options.node;
  if (!node)
    return tb_ros2_publisher_create(transport->context, topic->name, topic->type, qos, out, error);
  return tb_ros2_node_create_publisher(node, topic->name, topic->type, qos, out, error);
}

static tb_status_t create_clock(tb_ros2_play_transport_t *transport, tb_error_t *error)
{
  tb_ros2_node_t *node = transport->options.node;
  const char *topic = transport->options.clock_topic;
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  tb_qos_overrides_apply(transport->options.qos_overrides, topic ? topic : TB__CLOCK_TOPIC, &qos);
  if (!node)
    return tb_ros2_clock_publisher_create(transport->context, topic, &qos, &transport->clock,
                                          error);
  return tb_ros2_node_create_clock_publisher(node, topic, &qos, &transport->clock, error);
}

static tb_status_t create_splits(tb_ros2_play_transport_t *transport, tb_error_t *error)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.depth = 1;
  tb_qos_overrides_apply(transport->options.qos_overrides, "/events/read_split", &qos);
  return tb_ros2_node_create_publisher(transport->options.node, "events/read_split",
                                       "rosbag2_interfaces/msg/ReadSplitEvent", &qos,
                                       &transport->splits, error);
}

static bool waits_for_outputs(const tb_ros2_play_transport_t *transport)
{
  return transport->options.wait_count > 0;
}

static tb_status_t add_input(tb_ros2_play_transport_t *transport, topic_t *topic,
                             const tb_bag_topic_t *info, const tb_qos_t *qos, tb_error_t *error)
{
  if (!waits_for_outputs(transport)) return TB_OK;
  tb__guid_t guid = tb__ros2_publisher_guid(topic->publisher);
  return tb__play_outputs_add_input(&transport->outputs, &guid, info,
                                    qos->durability == TB_QOS_TRANSIENT_LOCAL, &topic->input,
                                    error);
}

static void topic_free(topic_t *topic)
{
  tb_ros2_publisher_destroy(topic->publisher);
  free(topic->name);
  free(topic->type);
  free(topic);
}

/* Of an earlier player; NULL: there is none. */
static topic_t *find_topic(const tb_ros2_play_transport_t *transport, const tb_bag_topic_t *info)
{
  topic_t *topic = transport->topics;
  while (topic && (strcmp(topic->name, info->name) != 0 || strcmp(topic->type, info->type) != 0))
    topic = topic->next;
  return topic;
}

static tb_status_t create_topic(tb_ros2_play_transport_t *transport, const tb_bag_topic_t *info,
                                void **out_handle, tb_error_t *error)
{
  topic_t *topic = calloc(1, sizeof *topic);
  if (!topic) return tb__no_memory(error);
  topic->name = strdup(info->name);
  topic->type = strdup(info->type);
  if (!topic->name || !topic->type) {
    topic_free(topic);
    return tb__no_memory(error);
  }
  if (info->type_hash[0])
    tb_ros2_type_hash_register(info->type, info->type_hash, NULL); /* as recorded, or not at all */
  tb_qos_t qos = info->qos;
  qos.has_key = tb__idl_is_keyed(info->definition, info->type);
  /* A node that starts late gets as many as all publishers that were recorded kept for it. */
  if (qos.durability == TB_QOS_TRANSIENT_LOCAL && info->latched_depth > (uint64_t)qos.depth)
    qos.depth = (int32_t)info->latched_depth;
  bool is_overridden = tb_qos_overrides_apply(transport->options.qos_overrides, info->name, &qos);
  topic->reliable = qos.reliability == TB_QOS_RELIABLE;
  topic->keeps_all = transport->options.backlog_max > 0 && topic->reliable && !is_overridden;
  tb__ros2_publishers_batch(transport->batches);
  tb__ros2_publishers_keep_all(topic->keeps_all);
  tb_status_t status = create_publisher(transport, info, &qos, &topic->publisher, error);
  tb__ros2_publishers_keep_all(false);
  tb__ros2_publishers_batch(false);
  if (!status) status = add_input(transport, topic, info, &qos, error);
  if (status) {
    topic_free(topic);
    return status;
  }
  tb__ros2_publisher_watch_matched(topic->publisher, &transport->events);
  topic->next = transport->topics;
  transport->topics = topic;
  *out_handle = topic;
  return TB_OK;
}

static tb_status_t add_topic(void *self, const tb_bag_topic_t *info, void **out_handle,
                             tb_error_t *error)
{
  tb_ros2_play_transport_t *transport = self;
  topic_t *topic = find_topic(transport, info);
  if (!topic) return create_topic(transport, info, out_handle, error);
  *out_handle = topic;
  return TB_OK;
}

/* A name or a type that ROS 2 cannot have, as ROS 1 may: the others are played. Another failure is
 * met again in add_topic. */
static bool takes(void *self, const tb_bag_topic_t *info)
{
  tb_error_t error = TB_ERROR_INIT;
  void *topic;
  if (strcmp(info->serialization_format, "cdr") != 0) return false;
  if (add_topic(self, info, &topic, &error) != TB_ERR_INVALID) return true;
  tb__log(TB_LOG_WARN, "player: topic %.200s is left out: %s", info->name, error.text);
  return false;
}

static void send(void *self)
{
  tb_ros2_play_transport_t *transport = self;
  if (!transport->is_kept) return;
  for (topic_t *topic = transport->topics; topic; topic = topic->next) {
    if (topic->is_kept) tb__ros2_publisher_flush(topic->publisher);
    topic->is_kept = false;
  }
  transport->is_kept = false;
}

static void note_kept(tb_ros2_play_transport_t *transport, topic_t *topic, size_t size)
{
  int64_t now_ns = tb__steady_now_ns();
  if (!transport->is_kept) transport->first_ns = now_ns;
  topic->is_kept = transport->is_kept = true;
  if (size > BATCH_MESSAGE_MAX || now_ns - transport->first_ns >= transport->options.batch.ns)
    send(transport);
}

/* How much its subscriptions have not acknowledged; true: the next message would block. */
static bool look_at_backlog(tb_ros2_play_transport_t *transport, topic_t *topic)
{
  size_t high, unacked = tb__ros2_publisher_unacked_bytes(topic->publisher, &high);
  transport->backlog += unacked - topic->unacked;
  topic->unacked = unacked;
  return unacked > high;
}

/* What others have acknowledged since they were looked at does not count. The one that waits most;
 * NULL: there is room. */
static topic_t *find_most_backlog(tb_ros2_play_transport_t *transport)
{
  topic_t *most = NULL;
  for (topic_t *topic = transport->topics; topic; topic = topic->next) {
    if (!topic->keeps_all) continue;
    look_at_backlog(transport, topic);
    if (!most || topic->unacked > most->unacked) most = topic;
  }
  return transport->backlog > transport->options.backlog_max ? most : NULL;
}

/* The player waits until all is acknowledged. */
static void hold_backlog(tb_ros2_play_transport_t *transport, topic_t *topic)
{
  topic_t *held = look_at_backlog(transport, topic) ? topic : NULL;
  if (!held && transport->backlog > transport->options.backlog_max)
    held = find_most_backlog(transport);
  if (!held) return;
  send(transport);
  tb__play_acks_sent(&transport->acks, held->publisher);
}

/* A writer that was full before, as after a seek, may block: until a stop. */
static tb_status_t publish_kept(tb_ros2_play_transport_t *transport, topic_t *topic,
                                const void *data, size_t size, tb_error_t *error)
{
  tb_status_t status;
  do
    status = tb_ros2_publisher_publish(topic->publisher, data, size, error);
  while (status == TB_ERR_TIMEOUT && !atomic_load(&transport->interrupted));
  return status == TB_ERR_TIMEOUT ? TB_ERR_NOT_FOUND : status;
}

static tb_status_t publish(void *self, void *handle, const void *data, size_t size,
                           tb_error_t *error)
{
  tb_ros2_play_transport_t *transport = self;
  topic_t *topic = handle;
  if (waits_for_outputs(transport))
    tb__play_outputs_sending(&transport->outputs, topic->input, data, size);
  tb_status_t status = topic->keeps_all
                           ? publish_kept(transport, topic, data, size, error)
                           : tb_ros2_publisher_publish(topic->publisher, data, size, error);
  if (!status && transport->options.wait_for_acks && topic->reliable)
    tb__play_acks_sent(&transport->acks, topic->publisher);
  if (transport->batches) note_kept(transport, topic, size);
  if (!status && topic->keeps_all) hold_backlog(transport, topic);
  return status;
}

static int64_t earlier(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static tb_status_t refuse_limit(tb_error_t *error)
{
  return tb_error_set(error, TB_ERR_INVALID, "play transport: the limit is negative");
}

/* Each change restarts the quiet time. */
static tb_status_t settle(void *self, tb_duration_t limit, tb_error_t *error)
{
  tb_ros2_play_transport_t *transport = self;
  tb__deadline_t end;
  if (tb__limit_begin(limit, &end)) return refuse_limit(error);
  for (;;) {
    uint32_t events = atomic_load(&transport->events);
    int64_t quiet_ns = tb__steady_now_ns() + (events ? QUIET_NS : QUIET_WHEN_EMPTY_NS);
    tb__deadline_t deadline = {TB__DEADLINE_STEADY, earlier(quiet_ns, end.ns)};
    bool changed = true;
    while (changed && !atomic_load(&transport->interrupted) &&
           atomic_load(&transport->events) == events)
      changed = tb__futex_wait(&transport->events, events, deadline);
    if (!changed || atomic_load(&transport->interrupted)) return TB_OK;
  }
}

static tb_status_t flush_topic(const tb_ros2_play_transport_t *transport, const topic_t *topic,
                               int64_t start_ns, int64_t end_ns)
{
  for (;;) {
    if (atomic_load(&transport->interrupted))
      end_ns = earlier(end_ns, start_ns + ACK_LIMIT_ON_STOP_NS);
    int64_t left_ns = end_ns - tb__steady_now_ns();
    tb_duration_t slice = {earlier(left_ns, ACK_SLICE_NS)};
    if (left_ns <= 0) slice = TB_NO_WAIT;
    tb_status_t status =
        tb_ros2_publisher_wait_for_acks(topic->publisher, &(tb_wait_options_t){.limit = slice});
    if (status != TB_ERR_TIMEOUT || left_ns <= ACK_SLICE_NS) return status;
  }
}

/* A receiver learns that a publisher has gone by another way than its messages, and drops what
 * comes later. Best-effort messages are not acknowledged: the last ones are only given time to
 * arrive. */
static void linger(tb_ros2_play_transport_t *transport)
{
  tb__deadline_t deadline = {TB__DEADLINE_STEADY, tb__steady_now_ns() + LINGER_NS};
  uint32_t events;
  do
    events = atomic_load(&transport->events);
  while (!atomic_load(&transport->interrupted) &&
         tb__futex_wait(&transport->events, events, deadline));
}

static bool has_arrived(const topic_t *topic)
{
  return !topic->reliable ||
         tb_ros2_publisher_wait_for_acks(
             topic->publisher, &(tb_wait_options_t){.limit = TB_NO_WAIT}) != TB_ERR_TIMEOUT;
}

/* "/map by /slow, /other; /tf by /slow" */
static void name_late(const tb_ros2_play_transport_t *transport, char *out, size_t size)
{
  const tb_ros2_graph_snapshot_t *graph = NULL;
  FILE *stream = fmemopen(out, size, "w");
  if (!stream) return;
  if (tb_ros2_graph_snapshot(transport->graph, &graph, NULL) == TB_OK) {
    const char *separator = "";
    for (const topic_t *topic = transport->topics; topic; topic = topic->next) {
      if (has_arrived(topic)) continue;
      fprintf(stream, "%s%s by ", separator, tb__play_acks_topic(graph, topic->publisher));
      tb__play_acks_print_nodes(graph, topic->publisher, stream);
      separator = "; ";
    }
    tb_ros2_graph_snapshot_release(graph);
  }
  fclose(stream);
  out[size - 1] = '\0';
}

/* They have asked again for what was not kept, so they have lost it. */
static void report_unkept(const tb_ros2_play_transport_t *transport)
{
  const tb_ros2_graph_snapshot_t *graph = NULL;
  if (tb_ros2_graph_snapshot(transport->graph, &graph, NULL) != TB_OK) return;
  for (topic_t *topic = transport->topics; topic; topic = topic->next) {
    char nodes[TB_ERROR_TEXT_SIZE] = "";
    FILE *stream = topic->reliable ? fmemopen(nodes, sizeof nodes, "w") : NULL;
    if (!stream) continue;
    size_t before = topic->unkept;
    topic->unkept = tb__play_acks_print_unkept(graph, topic->publisher, stream);
    fclose(stream);
    if (topic->unkept > before)
      tb__log(
          TB_LOG_WARN,
          "player: at least %zu messages of %s were lost: %.400s was too slow, and they were no "
          "longer "
          "kept; play at a lower rate, with -r max, or with a greater depth",
          topic->unkept - before, tb__play_acks_topic(graph, topic->publisher), nodes);
  }
  tb_ros2_graph_snapshot_release(graph);
}

static tb_status_t flush(void *self, tb_duration_t limit, tb_error_t *error)
{
  tb_ros2_play_transport_t *transport = self;
  tb__deadline_t end;
  if (tb__limit_begin(limit, &end)) return refuse_limit(error);
  int64_t start_ns = tb__steady_now_ns();
  char late[TB_ERROR_TEXT_SIZE] = "";
  tb_status_t result = TB_OK;
  for (const topic_t *topic = transport->topics; topic; topic = topic->next) {
    if (!topic->reliable) continue;
    tb_status_t status = flush_topic(transport, topic, start_ns, end.ns);
    if (status) result = status;
  }
  if (result == TB_ERR_TIMEOUT) name_late(transport, late, sizeof late);
  report_unkept(transport);
  linger(transport);
  if (result == TB_OK) return TB_OK;
  if (late[0]) return tb_error_set(error, result, "%s", late);
  return tb_error_set(error, result, "waiting for acknowledgements: %s", tb_status_message(result));
}

static void split(void *self, const char *closed, const char *opened)
{
  tb_ros2_play_transport_t *transport = self;
  if (!transport->splits) return;
  send(transport); /* its messages were before */
  const tb__split_event_t event = {closed, opened,
                                   tb_ros2_node_fully_qualified_name(transport->options.node)};
  uint8_t *cdr = NULL;
  size_t size = 0;
  if (tb__cdr_encode(&tb__split_event_type, &event, false, &cdr, &size) == TB_OK)
    tb_ros2_publisher_publish(transport->splits, cdr, size,
                              NULL); /* a failure loses only the event */
  free(cdr);
}

static void interrupt(void *self)
{
  tb_ros2_play_transport_t *transport = self;
  atomic_store(&transport->interrupted, true);
  atomic_fetch_add(&transport->events, 1);
  tb__futex_wake_all(&transport->events);
}

/* --- waiting --- */

static tb_status_t limit(void *self, int64_t *out_ns, tb_error_t *error)
{
  tb_ros2_play_transport_t *transport = self;
  *out_ns = TB_PLAY_NO_LIMIT;
  tb_status_t status = waits_for_outputs(transport)
                           ? tb__play_outputs_limit(&transport->outputs, out_ns, error)
                           : TB_OK;
  if (tb__play_acks_awaited(&transport->acks)) *out_ns = 0;
  return status;
}

static void set_time(void *self, int64_t time_ns, bool jumps)
{
  tb_ros2_play_transport_t *transport = self;
  if (waits_for_outputs(transport)) tb__play_outputs_time(&transport->outputs, time_ns, jumps);
  if (jumps) tb__play_acks_forget(&transport->acks);
}

static void name_holder(void *self, char *out, size_t size)
{
  tb_ros2_play_transport_t *transport = self;
  if (waits_for_outputs(transport) && !tb__play_acks_awaited(&transport->acks))
    tb__play_outputs_name(&transport->outputs, out, size);
  else
    tb__play_acks_name(&transport->acks, transport->graph, out, size);
}

static void watch_limit(void *self, void (*wake)(void *user), void *user)
{
  tb__play_wake_set(&((tb_ros2_play_transport_t *)self)->wake, wake, user);
}

/* A node may stamp with the time of a tick. */
static tb_status_t tick(void *self, int64_t time_ns, tb_jump_reason_t reason, tb_error_t *error)
{
  tb_ros2_play_transport_t *transport = self;
  tb_tick_sink_t sink = tb_ros2_clock_publisher_sink(transport->clock);
  if (reason == TB_JUMP_REASON_TICK) set_time(self, time_ns, false);
  return sink.tick(sink.self, time_ns, reason, error);
}

static tb_status_t start_waiting(tb_ros2_play_transport_t *transport, tb_error_t *error)
{
  const tb_ros2_play_transport_options_t *options = &transport->options;
  tb_status_t status = tb_ros2_graph_create(transport->context, &transport->graph, error);
  if (!status && (options->wait_for_acks || options->backlog_max > 0))
    status = tb__play_acks_start(&transport->acks, &transport->wake, error);
  if (!status && options->wait_count > 0)
    status = tb__play_outputs_start(&transport->outputs, transport->context, transport->graph,
                                    options, &transport->wake, error);
  return status;
}

static const tb_play_transport_ops_t transport_ops = {
    .takes = takes,
    .add_topic = add_topic,
    .publish = publish,
    .settle = settle,
    .flush = flush,
    .interrupt = interrupt,
    .split = split,
    .send = send,
};

static const tb_play_transport_ops_t waiting_ops = {
    .takes = takes,
    .add_topic = add_topic,
    .publish = publish,
    .settle = settle,
    .flush = flush,
    .interrupt = interrupt,
    .split = split,
    .send = send,
    .limit = limit,
    .set_time = set_time,
    .name_holder = name_holder,
    .watch_limit = watch_limit,
};

tb_status_t tb_ros2_play_transport_create_sized(tb_ros2_context_t *context,
                                                const tb_ros2_play_transport_options_t *options,
                                                size_t options_size, tb_ros2_play_transport_t **out,
                                                tb_error_t *error)
{
  if (!context || !out) return tb__null_argument(error, __func__);
  tb_ros2_play_transport_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros2_play_transport_options_t");
  if (options && options->batch.ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "play transport: `batch` is negative");
  tb_ros2_play_transport_t *transport = calloc(1, sizeof *transport);
  if (!transport) return tb__no_memory_for(error, "play transport");
  transport->context = context;
  if (options) transport->options = *options;
  transport->batches = transport->options.batch.ns > 0 && !transport->options.wait_for_acks &&
                       transport->options.wait_count == 0;
  tb_status_t status = TB_OK;
  if (transport->options.clock) status = create_clock(transport, error);
  if (!status && transport->options.node) status = create_splits(transport, error);
  if (!status) status = start_waiting(transport, error);
  if (status) {
    tb_ros2_play_transport_destroy(transport);
    return status;
  }
  if (transport->clock)
    tb__ros2_clock_publisher_watch_matched(transport->clock, &transport->events);
  *out = transport;
  return TB_OK;
}

void tb_ros2_play_transport_destroy(tb_ros2_play_transport_t *transport)
{
  if (!transport) return;
  send(transport); /* where playing has failed */
  tb__play_acks_stop(&transport->acks);
  tb__play_outputs_stop(&transport->outputs);
  tb_ros2_graph_destroy(transport->graph);
  while (transport->topics) {
    topic_t *topic = transport->topics;
    transport->topics = topic->next;
    topic_free(topic);
  }
  tb_ros2_publisher_destroy(transport->splits);
  tb_ros2_clock_publisher_destroy(transport->clock);
  free(transport);
}

tb_play_transport_t tb_ros2_play_transport_interface(tb_ros2_play_transport_t *transport)
{
  if (!transport) return (tb_play_transport_t){0};
  const tb_tick_sink_t none = {NULL, NULL}, own = {tick, transport};
  bool waits = transport->options.wait_for_acks || waits_for_outputs(transport) ||
               transport->options.backlog_max > 0;
  return (tb_play_transport_t){waits ? &waiting_ops : &transport_ops, transport,
                               transport->clock ? own : none};
}
