#include <timebase/ros1_play_transport.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros1_clock_publisher.h>
#include <timebase/ros1_publisher.h>

#include "base/log.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "definition/ros1_text.h"
#include "held/parking.h"
#include "platform/time.h"
#include "ros1bag/remapping.h"

#define CLOCK_TOPIC   "/clock"
#define QUEUE_DEFAULT 100
#define LOOK_NS       (2 * TB_NS_PER_MS) /* between looks at connections and queues */
#define ROOM_LIMIT_NS TB_NS_PER_S
#define ARRIVE_NS     (200 * TB_NS_PER_MS)

/* Recorded topics that were remapped to one name share it. */
typedef struct topic {
  struct topic *next;
  char *name, *md5sum;
  tb_ros1_publisher_t *publisher;
  bool gave_up; /* waiting for room in its queues, until they are empty */
} topic_t;

struct tb_ros1_play_transport {
  tb_ros1_context_t *context;
  tb__ros1_remappings_t remappings;
  uint32_t queue_size;
  bool waits_for_room;
  tb_ros1_clock_publisher_t *clock; /* NULL: none wanted */
  topic_t *topics;
  _Atomic uint32_t interrupts; /* futex */
};

/* --- topics --- */

/* Recordings of ROS 1 have it; files of MCAP need not, as it follows from the definition. Of
 * TB_ERR_INVALID the topic is left out. */
static tb_status_t md5sum_of(const tb_bag_topic_t *info, char out[TB__MD5_TEXT_SIZE],
                             tb_error_t *error)
{
  tb_error_t detail = TB_ERROR_INIT;
  if (info->type_hash && *info->type_hash) {
    snprintf(out, TB__MD5_TEXT_SIZE, "%s", info->type_hash);
    return TB_OK;
  }
  if (!info->definition || !*info->definition)
    return tb_error_set(error, TB_ERR_INVALID,
                        "the recording has neither the md5sum nor the definition of %.150s",
                        info->type);
  tb_status_t status = tb__ros1_md5sum(info->type, info->definition, out, &detail);
  if (!status) return TB_OK;
  if (status == TB_ERR_NO_MEMORY) return tb__no_memory(error);
  return tb_error_set(
      error, TB_ERR_INVALID,
      "the recording has no md5sum of %.100s, and none follows from its definition: "
      "%s",
      info->type, detail.text);
}

static topic_t *find_topic(const tb_ros1_play_transport_t *transport, const char *name)
{
  topic_t *topic = transport->topics;
  while (topic && strcmp(topic->name, name) != 0)
    topic = topic->next;
  return topic;
}

static void topic_destroy(topic_t *topic)
{
  tb_ros1_publisher_destroy(topic->publisher);
  free(topic->name);
  free(topic->md5sum);
  free(topic);
}

static tb_status_t topic_create(const tb_ros1_play_transport_t *transport, const char *name,
                                const tb_bag_topic_t *info, const char *md5sum, topic_t **out,
                                tb_error_t *error)
{
  const tb_ros1_message_type_t type = {info->type, md5sum, info->definition};
  tb_ros1_publisher_options_t options = TB_ROS1_PUBLISHER_OPTIONS_INIT;
  options.queue_size = transport->queue_size;
  options.latched = info->qos.durability == TB_QOS_TRANSIENT_LOCAL;
  topic_t *topic = calloc(1, sizeof *topic);
  if (!topic) return tb__no_memory(error);
  topic->name = strdup(name);
  topic->md5sum = strdup(md5sum);
  tb_status_t status = !topic->name || !topic->md5sum
                           ? tb__no_memory(error)
                           : tb_ros1_publisher_create(transport->context, name, &type, &options,
                                                      &topic->publisher, error);
  if (status)
    topic_destroy(topic);
  else
    *out = topic;
  return status;
}

static tb_status_t open_topic(tb_ros1_play_transport_t *transport, const tb_bag_topic_t *info,
                              tb_error_t *error)
{
  char md5sum[TB__MD5_TEXT_SIZE];
  tb_status_t status = md5sum_of(info, md5sum, error);
  if (status) return status;
  char *name = tb__ros1_remap(&transport->remappings, info->name);
  if (!name) return tb__no_memory(error);
  topic_t *topic = find_topic(transport, name);
  if (topic && strcmp(topic->md5sum, md5sum) != 0)
    status = tb_error_set(error, TB_ERR_INVALID, "%s is published with another type", name);
  if (!topic) status = topic_create(transport, name, info, md5sum, &topic, error);
  if (!status && !find_topic(transport, name)) {
    topic->next = transport->topics;
    transport->topics = topic;
  }
  free(name);
  return status;
}

/* A publisher is made for each that can have one, which takes no message unless it is played. */
static bool takes(void *self, const tb_bag_topic_t *info)
{
  tb_error_t error = TB_ERROR_INIT;
  if (strcmp(info->serialization_format, "ros1") != 0) return false;
  bool is_other = *info->definition_encoding && strcmp(info->definition_encoding, "ros1msg") != 0;
  tb_status_t status = is_other ? tb_error_set(&error, TB_ERR_INVALID,
                                               "its messages are of ROS 1, but its definition is "
                                               "\"%.40s\"",
                                               info->definition_encoding)
                                : open_topic(self, info, &error);
  if (status == TB_ERR_INVALID)
    tb__log(TB_LOG_WARN, "player: topic %.200s is left out: %s", info->name, error.text);
  return status != TB_ERR_INVALID; /* another failure is met again in add_topic */
}

static tb_status_t add_topic(void *self, const tb_bag_topic_t *info, void **out_handle,
                             tb_error_t *error)
{
  tb_ros1_play_transport_t *transport = self;
  tb_status_t status = open_topic(transport, info, error);
  char *name = status ? NULL : tb__ros1_remap(&transport->remappings, info->name);
  if (!status && !name) status = tb__no_memory(error);
  if (name) *out_handle = find_topic(transport, name);
  free(name);
  return status;
}

/* --- messages --- */

/* False: interrupted. */
static bool pause_until(tb_ros1_play_transport_t *transport, int64_t steady_ns)
{
  uint32_t seen = atomic_load(&transport->interrupts);
  if (seen) return false;
  tb__futex_wait(&transport->interrupts, seen, tb__deadline_at(steady_ns));
  return atomic_load(&transport->interrupts) == 0;
}

static void await_room(tb_ros1_play_transport_t *transport, topic_t *topic)
{
  int64_t end_ns = 0;
  for (;;) {
    uint32_t waiting = tb_ros1_publisher_waiting(topic->publisher);
    if (waiting == 0) topic->gave_up = false;
    if (waiting < transport->queue_size || topic->gave_up) return;
    int64_t now_ns = tb__steady_now_ns();
    if (!end_ns) end_ns = now_ns + ROOM_LIMIT_NS;
    if (now_ns >= end_ns) {
      topic->gave_up = true;
      tb__log(TB_LOG_WARN, "player: %s: a subscriber has taken nothing for a second", topic->name);
    } else if (!pause_until(transport, now_ns + LOOK_NS)) {
      return;
    }
  }
}

static tb_status_t publish_as(void *self, void *handle, const char *publisher, const void *data,
                              size_t size, tb_error_t *error)
{
  tb_ros1_play_transport_t *transport = self;
  topic_t *topic = handle;
  if (transport->waits_for_room) await_room(transport, topic);
  tb_status_t status =
      tb_ros1_publisher_publish_as(topic->publisher, publisher ? publisher : "", data, size, error);
  return status == TB_ERR_LIMIT ? TB_ERR_INVALID : status; /* of the message alone */
}

static bool are_connected(const tb_ros1_play_transport_t *transport)
{
  if (tb_ros1_clock_publisher_awaited(transport->clock) > 0) return false;
  for (const topic_t *topic = transport->topics; topic; topic = topic->next)
    if (tb_ros1_publisher_awaited(topic->publisher) > 0) return false;
  return true;
}

static tb_status_t settle(void *self, tb_duration_t limit, tb_error_t *error)
{
  tb_ros1_play_transport_t *transport = self;
  tb__deadline_t end;
  if (tb__limit_begin(limit, &end))
    return tb_error_set(error, TB_ERR_INVALID, "play transport: the limit is negative");
  while (!are_connected(transport)) {
    int64_t now_ns = tb__steady_now_ns();
    if (now_ns >= end.ns || !pause_until(transport, now_ns + LOOK_NS)) break;
  }
  return TB_OK;
}

/* The first topic for which messages wait; NULL: there is none. */
static const topic_t *first_waiting(const tb_ros1_play_transport_t *transport)
{
  const topic_t *topic = transport->topics;
  while (topic && tb_ros1_publisher_waiting(topic->publisher) == 0)
    topic = topic->next;
  return topic;
}

static void report_drops(const tb_ros1_play_transport_t *transport)
{
  for (const topic_t *topic = transport->topics; topic; topic = topic->next) {
    uint64_t dropped = tb_ros1_publisher_dropped(topic->publisher);
    if (dropped > 0)
      tb__log(TB_LOG_WARN, "player: %s: %llu message%s dropped, as subscribers were too slow",
              topic->name, (unsigned long long)dropped, dropped == 1 ? " was" : "s were");
  }
}

static tb_status_t flush(void *self, tb_duration_t limit, tb_error_t *error)
{
  tb_ros1_play_transport_t *transport = self;
  tb__deadline_t end;
  if (tb__limit_begin(limit, &end))
    return tb_error_set(error, TB_ERR_INVALID, "play transport: the limit is negative");
  int64_t now_ns;
  const topic_t *late;
  while ((late = first_waiting(transport)) && (now_ns = tb__steady_now_ns()) < end.ns &&
         pause_until(transport, now_ns + LOOK_NS))
    continue;
  /* A subscriber that hears that a publisher has gone drops what it has not read. */
  int64_t arrived_ns = tb__steady_now_ns() + ARRIVE_NS;
  while (tb__steady_now_ns() < arrived_ns && pause_until(transport, arrived_ns))
    continue;
  report_drops(transport);
  if (!late || atomic_load(&transport->interrupts) > 0) return TB_OK;
  return tb_error_set(error, TB_ERR_TIMEOUT, "%s by a subscriber that is too slow", late->name);
}

static void interrupt(void *self)
{
  tb_ros1_play_transport_t *transport = self;
  atomic_store(&transport->interrupts, 1);
  tb__futex_wake_all(&transport->interrupts);
}

static const tb_play_transport_ops_t transport_ops = {
    .add_topic = add_topic,
    .publish_as = publish_as,
    .settle = settle,
    .flush = flush,
    .interrupt = interrupt,
    .takes = takes,
};

/* --- begin and end --- */

static tb_status_t create_clock(tb_ros1_play_transport_t *transport, const char *topic,
                                tb_error_t *error)
{
  tb_ros1_clock_publisher_options_t options = TB_ROS1_CLOCK_PUBLISHER_OPTIONS_INIT;
  char *name = tb__ros1_remap(&transport->remappings, topic ? topic : CLOCK_TOPIC);
  if (!name) return tb__no_memory_for(error, "play transport");
  options.topic = name;
  options.sets_use_sim_time = strcmp(name, CLOCK_TOPIC) == 0;
  tb_status_t status =
      tb_ros1_clock_publisher_create(transport->context, &options, &transport->clock, error);
  free(name);
  return status;
}

tb_status_t tb_ros1_play_transport_create_sized(tb_ros1_context_t *context,
                                                const tb_ros1_play_transport_options_t *options,
                                                size_t options_size, tb_ros1_play_transport_t **out,
                                                tb_error_t *error)
{
  static const tb_ros1_play_transport_options_t defaults = TB_ROS1_PLAY_TRANSPORT_OPTIONS_INIT;
  tb_ros1_play_transport_options_t known;
  if (!context || !out) return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros1_play_transport_options_t");
  if (!options) options = &defaults;
  if (options->remapping_count > 0 && !options->remappings)
    return tb__null_argument(error, __func__);
  tb_ros1_play_transport_t *transport = calloc(1, sizeof *transport);
  if (!transport) return tb__no_memory_for(error, "play transport");
  transport->context = context;
  transport->queue_size = options->queue_size ? options->queue_size : QUEUE_DEFAULT;
  transport->waits_for_room = options->waits_for_room;
  tb_status_t status = tb__ros1_remappings_init(&transport->remappings, options->remappings,
                                                options->remapping_count, error);
  if (!status && options->clock) status = create_clock(transport, options->clock_topic, error);
  if (status)
    tb_ros1_play_transport_destroy(transport);
  else
    *out = transport;
  return status;
}

void tb_ros1_play_transport_destroy(tb_ros1_play_transport_t *transport)
{
  if (!transport) return;
  while (transport->topics) {
    topic_t *topic = transport->topics;
    transport->topics = topic->next;
    topic_destroy(topic);
  }
  tb_ros1_clock_publisher_destroy(transport->clock);
  tb__ros1_remappings_fini(&transport->remappings);
  free(transport);
}

tb_play_transport_t tb_ros1_play_transport_interface(tb_ros1_play_transport_t *transport)
{
  if (!transport) return (tb_play_transport_t){0};
  const tb_tick_sink_t none = {NULL, NULL};
  return (tb_play_transport_t){&transport_ops, transport,
                               transport->clock ? tb_ros1_clock_publisher_sink(transport->clock)
                                                : none};
}
