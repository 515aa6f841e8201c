#include "bridge_topic.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/ros1_publisher.h>

#include "text.h"

#define DEPTH        100
#define DEPTH_ROS2   10 /* of publishers, as in ROS */
#define PREFIX_BYTES 12 /* of a GUID: its participant */

static void report(const bridge_topic_t *topic, const char *what, const char *why)
{
  command_begin_warning(topic->ends->command);
  text_err("%s from %s%s: %s\n", topic->name, bridge_side_name(topic->from), what, why);
}

static void refuse(bridge_topic_t *topic, const char *why)
{
  if (!atomic_exchange(&topic->is_refused, true)) report(topic, " is not carried", why);
}

static void report_failure(bridge_topic_t *topic, const tb_error_t *error)
{
  atomic_fetch_add(&topic->failed, 1);
  if (!atomic_exchange(&topic->has_reported_failure, true))
    report(topic, ": a message was not carried (more of them are only counted)", error->text);
}

static void count(bridge_topic_t *topic, tb_status_t status, const tb_error_t *error)
{
  if (status)
    report_failure(topic, error);
  else
    atomic_fetch_add(&topic->messages, 1);
}

/* --- from ROS 1 --- */

static void source_free(bridge_source_t *source)
{
  if (!source) return;
  if (source->owns_publisher) tb_ros2_publisher_destroy(source->to_ros2);
  tb_reencoder_destroy(source->reencoder);
  free(source->publisher);
  free(source->type);
  free(source->md5sum);
  free(source->definition);
  free(source);
}

static bool is_of(const bridge_source_t *source, const tb_ros1_sample_t *sample)
{
  return source->latched == (sample->latched != 0) &&
         strcmp(source->publisher, sample->publisher) == 0 &&
         strcmp(source->md5sum, sample->type.md5sum) == 0;
}

/* NULL: too many, or no memory. */
static bridge_source_t *source_of(bridge_topic_t *topic, const tb_ros1_sample_t *sample)
{
  size_t count = 0;
  bridge_source_t *first = atomic_load(&topic->sources), *source = first;
  for (; source && !is_of(source, sample); source = source->next)
    count++;
  if (source || count >= BRIDGE_SOURCES_MAX) return source;
  source = calloc(1, sizeof *source);
  if (!source) return NULL;
  source->next = first;
  source->latched = sample->latched != 0;
  source->publisher = strdup(sample->publisher);
  source->type = strdup(sample->type.name);
  source->md5sum = strdup(sample->type.md5sum);
  source->definition = strdup(sample->type.definition);
  if (!source->publisher || !source->type || !source->md5sum || !source->definition) {
    source_free(source);
    return NULL;
  }
  atomic_store(&topic->sources, source);
  return source;
}

/* On the thread of the ROS 1 context. */
static void on_ros1_message(const tb_ros1_sample_t *sample, void *user)
{
  bridge_topic_t *topic = user;
  if (bridge_is_own_name(tb_ros1_context_node_name(topic->ends->ros1), sample->publisher)) return;
  bridge_source_t *source = source_of(topic, sample);
  if (!source || !bridge_queue_put(topic->queue, topic, source, sample->message, sample->size))
    atomic_fetch_add(&topic->lost, 1);
}

/* The publisher that another node's messages go to, which are not latched either. */
static tb_ros2_publisher_t *shared_publisher(bridge_topic_t *topic, const bridge_source_t *source)
{
  if (source->latched) return NULL;
  for (bridge_source_t *other = atomic_load(&topic->sources); other; other = other->next)
    if (other->owns_publisher && !other->latched && strcmp(other->md5sum, source->md5sum) == 0)
      return other->to_ros2;
  return NULL;
}

/* By what the connection has announced: a definition of "" is none. */
static void source_open(bridge_topic_t *topic, bridge_source_t *source)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  bool has_text = source->definition[0] != 0;
  tb_reencoder_type_t type = {source->type, "ros1msg", has_text ? source->definition : NULL};
  source->is_tried = true;
  tb_status_t status = tb_reencoder_find(&type, topic->folders->items, topic->folders->count,
                                         &source->reencoder, &error);
  if (!status && strcmp(tb_reencoder_md5sum(source->reencoder), source->md5sum) != 0)
    status = tb_error_set(&error, TB_ERR_CORRUPT, "the definition of %s is not that of its md5sum",
                          source->type);
  if (!status) {
    source->to_ros2 = shared_publisher(topic, source);
    if (source->to_ros2) return;
    qos.durability = source->latched ? TB_QOS_TRANSIENT_LOCAL : TB_QOS_VOLATILE;
    qos.depth = source->latched ? 1 : DEPTH_ROS2;
    status = tb_ros2_node_create_publisher(topic->ends->node, topic->name,
                                           tb_reencoder_ros2(source->reencoder)->name, &qos,
                                           &source->to_ros2, &error);
    source->owns_publisher = !status;
  }
  if (status) refuse(topic, error.text);
}

static void send_to_ros2(bridge_topic_t *topic, bridge_source_t *source,
                         const bridge_message_t *message)
{
  tb_error_t error = TB_ERROR_INIT;
  const void *bytes;
  size_t size;
  if (!source->is_tried) source_open(topic, source);
  if (!source->to_ros2) {
    atomic_fetch_add(&topic->failed, 1);
    return;
  }
  tb_status_t status =
      tb_reencoder_run(source->reencoder, message->bytes, message->size, &bytes, &size, &error);
  if (!status) status = tb_ros2_publisher_publish(source->to_ros2, bytes, size, &error);
  count(topic, status, &error);
}

static tb_status_t open_from_ros1(bridge_topic_t *topic, tb_error_t *error)
{
  tb_ros1_subscription_options_t options = {.callback = on_ros1_message, .user = topic};
  return tb_ros1_subscription_create(topic->ends->ros1, topic->name, NULL, &options,
                                     &topic->from_ros1, error);
}

/* --- from ROS 2 --- */

/* The one of that GUID, or a new one. NULL: too many, or no memory: then the bridge's node sends
 * for it. Under the mutex. */
static bridge_writer_t *writer_of(bridge_topic_t *topic, const uint8_t guid[16])
{
  size_t number = 0;
  bridge_writer_t *gone = NULL, **end = &topic->writers;
  for (; *end; end = &(*end)->next, number++) {
    if (memcmp((*end)->guid, guid, sizeof(*end)->guid) == 0) return *end;
    if ((*end)->is_gone && !gone) gone = *end;
  }
  bridge_writer_t *writer = gone;
  if (!writer && number < BRIDGE_WRITERS_MAX) writer = *end = calloc(1, sizeof *writer);
  if (!writer) return NULL;
  memcpy(writer->guid, guid, sizeof writer->guid);
  writer->is_gone = false;
  return writer;
}

/* On a receive thread of DDS. */
static void on_ros2_message(const tb_ros2_sample_t *sample, void *user)
{
  bridge_topic_t *topic = user;
  bridge_writer_t *writer = NULL;
  if (memcmp(sample->writer_guid, topic->own_guid, PREFIX_BYTES) == 0) return;
  if (topic->is_latched) {
    pthread_mutex_lock(&topic->mutex);
    writer = writer_of(topic, sample->writer_guid);
    pthread_mutex_unlock(&topic->mutex);
  }
  if (!bridge_queue_put(topic->queue, topic, writer, sample->cdr, sample->size))
    atomic_fetch_add(&topic->lost, 1);
}

static tb_status_t open_publisher(const bridge_topic_t *topic, tb_ros1_context_t *context,
                                  tb_ros1_publisher_t **out, tb_error_t *error)
{
  tb_ros1_publisher_options_t options = TB_ROS1_PUBLISHER_OPTIONS_INIT;
  const tb_reencoder_type_t *ros1 = tb_reencoder_ros1(topic->reencoder);
  const tb_ros1_message_type_t type = {ros1->name, tb_reencoder_md5sum(topic->reencoder),
                                       ros1->definition};
  options.latched = topic->is_latched;
  return tb_ros1_publisher_create(context, topic->name, &type, &options, out, error);
}

/* The first has the publisher of the bridge's node. */
static void writer_open(bridge_topic_t *topic, bridge_writer_t *writer)
{
  tb_error_t error = TB_ERROR_INIT;
  writer->is_tried = true;
  if (writer == topic->writers) {
    writer->to_ros1 = topic->to_ros1;
    return;
  }
  tb_status_t status = bridge_ends_open_extra(topic->ends, &writer->context, &error);
  if (!status) status = open_publisher(topic, writer->context, &writer->to_ros1, &error);
  writer->owns_publisher = !status;
  if (status) report(topic, ": the messages of one publisher are not carried", error.text);
}

static void writer_free(bridge_writer_t *writer)
{
  if (writer->owns_publisher) tb_ros1_publisher_destroy(writer->to_ros1);
  tb_ros1_context_destroy(writer->context);
  free(writer);
}

static void send_to_ros1(bridge_topic_t *topic, bridge_writer_t *writer,
                         const bridge_message_t *message)
{
  tb_error_t error = TB_ERROR_INIT;
  const void *bytes;
  size_t size;
  if (writer && !writer->is_tried) writer_open(topic, writer);
  tb_ros1_publisher_t *publisher = writer ? writer->to_ros1 : topic->to_ros1;
  if (!publisher) {
    atomic_fetch_add(&topic->failed, 1);
    return;
  }
  tb_status_t status =
      tb_reencoder_run(topic->reencoder, message->bytes, message->size, &bytes, &size, &error);
  if (!status) status = tb_ros1_publisher_publish(publisher, bytes, size, &error);
  count(topic, status, &error);
}

void bridge_topic_look(bridge_topic_t *topic, const bridge_view_t *view)
{
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  size_t count = tb_ros2_graph_publishers(view->ros2, topic->name, &publishers);
  pthread_mutex_lock(&topic->mutex);
  for (bridge_writer_t *writer = topic->writers; writer; writer = writer->next) {
    writer->is_gone = true;
    for (size_t i = 0; i < count; i++)
      if (memcmp(publishers[i].guid, writer->guid, sizeof writer->guid) == 0)
        writer->is_gone = false;
  }
  pthread_mutex_unlock(&topic->mutex);
}

/* What all publishers offer; *out_latched: one of them keeps messages. */
static tb_qos_t offered(const bridge_view_t *view, const char *name, bool *out_latched)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  size_t count = tb_ros2_graph_publishers(view->ros2, name, &publishers), keeping = 0, others = 0;
  qos.depth = DEPTH;
  for (size_t i = 0; i < count; i++) {
    if (bridge_view_is_own(view, &publishers[i])) continue;
    others++;
    keeping += publishers[i].qos.durability == TB_QOS_TRANSIENT_LOCAL;
    if (publishers[i].qos.reliability == TB_QOS_BEST_EFFORT) qos.reliability = TB_QOS_BEST_EFFORT;
  }
  if (keeping && keeping == others) qos.durability = TB_QOS_TRANSIENT_LOCAL;
  *out_latched = keeping > 0;
  return qos;
}

static tb_status_t open_from_ros2(bridge_topic_t *topic, const bridge_view_t *view,
                                  tb_error_t *error)
{
  tb_ros2_subscription_options_t receiving = {on_ros2_message, topic};
  tb_reencoder_type_t type = {topic->type, NULL, NULL};
  tb_qos_t qos = offered(view, topic->name, &topic->is_latched);
  tb_status_t status = tb_reencoder_find(&type, topic->folders->items, topic->folders->count,
                                         &topic->reencoder, error);
  if (!status) status = open_publisher(topic, topic->ends->ros1, &topic->to_ros1, error);
  if (status) return status;
  return tb_ros2_node_create_subscription(topic->ends->node, topic->name, topic->type, &qos,
                                          &receiving, &topic->from_ros2, error);
}

/* --- both --- */

static void note_participant(bridge_topic_t *topic, const bridge_view_t *view)
{
  for (size_t i = 0; i < view->ros2->participant_count; i++)
    if (view->ros2->participants[i].is_own)
      memcpy(topic->own_guid, view->ros2->participants[i].guid, sizeof topic->own_guid);
}

static bridge_topic_t *topic_new(const bridge_view_t *view, bridge_side_t from, const char *name,
                                 const char *type)
{
  bridge_topic_t *topic = calloc(1, sizeof *topic);
  if (!topic) return NULL;
  pthread_mutex_init(&topic->mutex, NULL);
  topic->ends = view->ends;
  topic->from = from;
  topic->name = strdup(name);
  topic->type = strdup(type);
  note_participant(topic, view);
  if (topic->name && topic->type) return topic;
  bridge_topic_close(topic);
  return NULL;
}

bridge_topic_t *bridge_topic_open(const bridge_view_t *view, bridge_queue_t *queue,
                                  const bridge_folders_t *folders, bridge_side_t from,
                                  const char *name, const char *type)
{
  tb_error_t error = TB_ERROR_INIT;
  bridge_topic_t *topic = topic_new(view, from, name, type);
  if (!topic) return NULL;
  topic->queue = queue;
  topic->folders = folders;
  tb_status_t status =
      from == BRIDGE_ROS1 ? open_from_ros1(topic, &error) : open_from_ros2(topic, view, &error);
  if (status) refuse(topic, error.text);
  return topic;
}

void bridge_topic_give_up(bridge_topic_t *topic, const char *node)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_error_set(&error, TB_ERR_BUSY, "%s carries it between the two graphs already", node);
  bridge_topic_end(topic);
  refuse(topic, error.text);
}

bridge_topic_t *bridge_topic_refused(const bridge_view_t *view, bridge_side_t from,
                                     const char *name, const char *type, const char *node)
{
  bridge_topic_t *topic = topic_new(view, from, name, type);
  if (topic) bridge_topic_give_up(topic, node);
  return topic;
}

void bridge_topic_end(bridge_topic_t *topic)
{
  tb_ros1_subscription_destroy(topic->from_ros1);
  tb_ros2_subscription_destroy(topic->from_ros2);
  topic->from_ros1 = NULL;
  topic->from_ros2 = NULL;
}

void bridge_topic_close(bridge_topic_t *topic)
{
  if (!topic) return;
  bridge_topic_end(topic);
  while (topic->writers) {
    bridge_writer_t *writer = topic->writers;
    topic->writers = writer->next;
    writer_free(writer);
  }
  tb_ros1_publisher_destroy(topic->to_ros1);
  tb_reencoder_destroy(topic->reencoder);
  pthread_mutex_destroy(&topic->mutex);
  for (bridge_source_t *source = atomic_load(&topic->sources); source;) {
    bridge_source_t *next = source->next;
    source_free(source);
    source = next;
  }
  free(topic->name);
  free(topic->type);
  free(topic);
}

void bridge_topic_send(const bridge_message_t *message)
{
  bridge_topic_t *topic = message->topic;
  atomic_fetch_add(&topic->bytes, message->size);
  if (topic->from == BRIDGE_ROS1)
    send_to_ros2(topic, message->source, message);
  else
    send_to_ros1(topic, message->source, message);
}

void bridge_topic_lose(const bridge_message_t *message)
{
  bridge_topic_t *topic = message->topic;
  atomic_fetch_add(&topic->lost, 1);
}
