#include "bridge_topic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros1_publisher.h>

#include "text.h"

#define DEPTH          100
#define DEPTH_ROS2     10   /* of publishers, as in ROS */
#define PREFIX_BYTES   12   /* of a GUID: its participant */
#define PUBLISHERS_MAX 1024 /* of ROS 1; more are not looked at */
#define REFUSED_MAX    16   /* nodes that are named */
#define FORGET_NS      (30 * TB_NS_PER_S)

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

/* On the queue's thread, or where no message of it waits. */
static void source_close(bridge_source_t *source)
{
  if (source->owns_publisher) tb_ros2_publisher_destroy(source->to_ros2);
  tb_reencoder_destroy(source->reencoder);
  source->reencoder = NULL;
  source->to_ros2 = NULL;
  source->owns_publisher = false;
}

/* On the thread of the ROS 1 context. */
static void on_ros1_message(const tb_ros1_sample_t *sample, void *user)
{
  bridge_topic_t *topic = user;
  if (bridge_is_own_name(tb_ros1_context_node_name(topic->ends->ros1), sample->publisher)) return;
  bridge_source_t *source = bridge_sources_take(&topic->sources, sample);
  if (source && bridge_queue_put(topic->queue, topic, source, sample->message, sample->size))
    return;
  if (source) bridge_source_release(source);
  atomic_fetch_add(&topic->lost, 1);
}

static const char *name_of(const bridge_source_t *source)
{
  return *source->publisher ? source->publisher : "a node without a name";
}

/* Other nodes go on. */
static void refuse_source(bridge_topic_t *topic, const bridge_source_t *source, const char *why)
{
  topic->has_refused = true;
  if (topic->refused_count == REFUSED_MAX) return;
  bool is_last = ++topic->refused_count == REFUSED_MAX;
  command_begin_warning(topic->ends->command);
  text_err("%s from ROS 1: the messages of %s (%s) are not carried: %s%s\n", topic->name,
           name_of(source), source->type, why,
           is_last ? "; those of others like it are only counted" : "");
}

static tb_status_t create_to_ros2(const bridge_topic_t *topic, const bridge_source_t *source,
                                  tb_ros2_publisher_t **out, tb_error_t *error)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.durability = source->latched ? TB_QOS_TRANSIENT_LOCAL : TB_QOS_VOLATILE;
  qos.depth = source->latched ? 1 : DEPTH_ROS2;
  return tb_ros2_node_create_publisher(
      topic->ends->node, topic->name, tb_reencoder_ros2(source->reencoder)->name, &qos, out, error);
}

/* Nodes that are not latched share a publisher for each definition of a type. */
static tb_status_t find_output(bridge_topic_t *topic, const bridge_source_t *source,
                               tb_ros2_publisher_t **out, tb_error_t *error)
{
  size_t i = 0;
  const char *type = tb_reencoder_ros2(source->reencoder)->name;
  while (i < topic->output_count && (strcmp(topic->outputs[i].md5sum, source->md5sum) != 0 ||
                                     strcmp(topic->outputs[i].type, type) != 0))
    i++;
  bridge_output_t *output = &topic->outputs[i];
  if (i < topic->output_count) {
    *out = output->publisher;
    return TB_OK;
  }
  if (i == BRIDGE_OUTPUTS_MAX)
    return tb_error_set(error, TB_ERR_LIMIT, "more than %d definitions of one topic", (int)i);
  if (strlen(source->md5sum) >= sizeof output->md5sum || strlen(type) >= sizeof output->type)
    return tb_error_set(error, TB_ERR_CORRUPT, "its type or md5sum is too long");
  tb_status_t status = create_to_ros2(topic, source, &output->publisher, error);
  if (status) return status;
  snprintf(output->md5sum, sizeof output->md5sum, "%s", source->md5sum);
  snprintf(output->type, sizeof output->type, "%s", type);
  topic->output_count++;
  *out = output->publisher;
  return TB_OK;
}

/* By what the connection has announced: a definition of "" is none. */
static void source_open(bridge_topic_t *topic, bridge_source_t *source)
{
  tb_error_t error = TB_ERROR_INIT;
  bool has_text = source->definition[0] != 0;
  tb_reencoder_type_t type = {source->type, "ros1msg", has_text ? source->definition : NULL,
                              source->md5sum};
  bool was_reported = source->has_failed;
  source_close(source); /* of the one that had its place */
  tb_status_t status = tb_reencoder_find(&type, topic->folders->items, topic->folders->count,
                                         &source->reencoder, &error);
  if (!status && strcmp(tb_reencoder_md5sum(source->reencoder), source->md5sum) != 0)
    status = tb_error_set(&error, TB_ERR_CORRUPT, "the definition of %s is not that of its md5sum",
                          source->type);
  if (!status && source->latched) {
    status = create_to_ros2(topic, source, &source->to_ros2, &error);
    source->owns_publisher = !status;
  } else if (!status) {
    status = find_output(topic, source, &source->to_ros2, &error);
  }
  bridge_source_opened(source, status, bridge_now_ns(topic->ends));
  if (!status)
    topic->has_carried = true;
  else if (!was_reported || source->is_open) /* for good now */
    refuse_source(topic, source, error.text);
}

static void send_to_ros2(bridge_topic_t *topic, bridge_source_t *source,
                         const bridge_message_t *message)
{
  tb_error_t error = TB_ERROR_INIT;
  const void *bytes;
  size_t size;
  if (!source->is_open && bridge_source_is_due(source, bridge_now_ns(topic->ends)))
    source_open(topic, source);
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

static void writer_free(const bridge_topic_t *topic, bridge_writer_t *writer)
{
  if (writer->owns_publisher) tb_ros1_publisher_destroy(writer->to_ros1);
  bridge_ends_close_ros1(topic->ends, writer->context);
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

static void look_at_writers(bridge_topic_t *topic, const bridge_view_t *view)
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

/* What all publishers offer; *out_latched: one of them keeps messages. False: there is none. */
static bool offered(const bridge_topic_t *topic, const bridge_view_t *view, tb_qos_t *out,
                    bool *out_latched)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  size_t count = tb_ros2_graph_publishers(view->ros2, topic->name, &publishers);
  size_t keeping = 0, others = 0;
  qos.depth = DEPTH;
  for (size_t i = 0; i < count; i++) {
    if (bridge_view_is_own(view, &publishers[i]) || strcmp(publishers[i].type, topic->type) != 0)
      continue;
    if (!others++) qos.has_key = publishers[i].qos.has_key;
    keeping += publishers[i].qos.durability == TB_QOS_TRANSIENT_LOCAL;
    if (publishers[i].qos.reliability == TB_QOS_BEST_EFFORT) qos.reliability = TB_QOS_BEST_EFFORT;
  }
  if (keeping && keeping == others) qos.durability = TB_QOS_TRANSIENT_LOCAL;
  *out = qos;
  *out_latched = keeping > 0;
  return others > 0;
}

static tb_status_t subscribe(bridge_topic_t *topic, const tb_qos_t *qos, tb_error_t *error)
{
  tb_ros2_subscription_options_t receiving = {on_ros2_message, topic};
  tb_status_t status = tb_ros2_node_create_subscription(topic->ends->node, topic->name, topic->type,
                                                        qos, &receiving, &topic->from_ros2, error);
  if (!status) topic->qos = *qos;
  return status;
}

static bool is_weaker(const tb_qos_t *qos, const tb_qos_t *than)
{
  return (qos->reliability == TB_QOS_BEST_EFFORT && than->reliability != TB_QOS_BEST_EFFORT) ||
         (qos->durability != TB_QOS_TRANSIENT_LOCAL && than->durability == TB_QOS_TRANSIENT_LOCAL);
}

/* A subscription that asks for more than a publisher offers gets nothing from that. It is made
 * again with what all offer, and stays so, as each time messages may be missed. */
static void follow_offers(bridge_topic_t *topic, const bridge_view_t *view)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos;
  bool is_latched, had_one = topic->from_ros2 != NULL;
  if (topic->is_ended || topic->is_refused || !offered(topic, view, &qos, &is_latched)) return;
  if (topic->qos.reliability == TB_QOS_BEST_EFFORT) qos.reliability = TB_QOS_BEST_EFFORT;
  if (topic->qos.durability != TB_QOS_TRANSIENT_LOCAL) qos.durability = TB_QOS_VOLATILE;
  if (had_one && !is_weaker(&qos, &topic->qos)) return;
  tb_ros2_subscription_destroy(topic->from_ros2);
  topic->from_ros2 = NULL;
  tb_status_t status = subscribe(topic, &qos, &error);
  if (status && had_one)
    report(topic, ": it is not carried for now", error.text);
  else if (!status)
    report(topic, ": a publisher offers less than others",
           qos.reliability == TB_QOS_BEST_EFFORT
               ? "it is subscribed to as best effort from now on"
               : "it is subscribed to as volatile from now on, without what was kept before");
}

/* A connection may be there although the master, which was restarted, knows of no publisher. */
static bool is_published(const bridge_topic_t *topic, const bridge_view_t *view)
{
  return tb_ros1_subscription_matched(topic->from_ros1) > 0 ||
         bridge_view_publishers(view, BRIDGE_ROS1, topic->name, NULL, 0) > 0;
}

/* What nobody publishes any more, latched messages included, is not kept for ever. */
static void forget_sources(bridge_topic_t *topic, const bridge_view_t *view)
{
  int64_t now_ns = bridge_now_ns(topic->ends);
  if (bridge_sources_are_none(&topic->sources) || is_published(topic, view)) {
    topic->unpublished_ns = 0;
  } else if (!topic->unpublished_ns) {
    topic->unpublished_ns = now_ns;
  } else if (now_ns - topic->unpublished_ns >= FORGET_NS) {
    bridge_sources_forget(&topic->sources, source_close);
    topic->unpublished_ns = now_ns;
  }
}

static void look_at_sources(bridge_topic_t *topic, const bridge_view_t *view)
{
  const char *names[PUBLISHERS_MAX];
  if (!bridge_sources_are_many(&topic->sources)) return;
  size_t count = bridge_view_publishers(view, BRIDGE_ROS1, topic->name, names, PUBLISHERS_MAX);
  if (count <= PUBLISHERS_MAX) bridge_sources_look(&topic->sources, names, count);
}

void bridge_topic_look(bridge_topic_t *topic, const bridge_view_t *view)
{
  if (topic->from == BRIDGE_ROS1) {
    look_at_sources(topic, view);
    forget_sources(topic, view);
  } else {
    look_at_writers(topic, view);
    follow_offers(topic, view);
  }
}

static tb_status_t open_from_ros2(bridge_topic_t *topic, const bridge_view_t *view,
                                  tb_error_t *error)
{
  tb_reencoder_type_t type = {.name = topic->type};
  tb_qos_t qos;
  offered(topic, view, &qos, &topic->is_latched);
  tb_status_t status = tb_reencoder_find(&type, topic->folders->items, topic->folders->count,
                                         &topic->reencoder, error);
  if (status) return status;
  status = open_publisher(topic, topic->ends->ros1, &topic->to_ros1, error);
  if (status == TB_ERR_INVALID)
    return tb_error_set(error, status,
                        "as %s: it is of another type for other publishers, or none "
                        "of ROS 1",
                        topic->type);
  return status ? status : subscribe(topic, &qos, error);
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
  bridge_sources_init(&topic->sources);
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
  topic->is_ended = true;
}

void bridge_topic_close(bridge_topic_t *topic)
{
  if (!topic) return;
  bridge_topic_end(topic);
  while (topic->writers) {
    bridge_writer_t *writer = topic->writers;
    topic->writers = writer->next;
    writer_free(topic, writer);
  }
  tb_ros1_publisher_destroy(topic->to_ros1);
  tb_reencoder_destroy(topic->reencoder);
  pthread_mutex_destroy(&topic->mutex);
  bridge_sources_fini(&topic->sources, source_close);
  for (size_t i = 0; i < topic->output_count; i++)
    tb_ros2_publisher_destroy(topic->outputs[i].publisher);
  free(topic->name);
  free(topic->type);
  free(topic);
}

void bridge_topic_send(const bridge_message_t *message)
{
  bridge_topic_t *topic = message->topic;
  atomic_fetch_add(&topic->bytes, message->size);
  if (topic->from == BRIDGE_ROS1) {
    send_to_ros2(topic, message->source, message);
    bridge_source_release(message->source);
  } else {
    send_to_ros1(topic, message->source, message);
  }
}

void bridge_topic_lose(const bridge_message_t *message)
{
  bridge_topic_t *topic = message->topic;
  if (topic->from == BRIDGE_ROS1) bridge_source_release(message->source);
  atomic_fetch_add(&topic->lost, 1);
}

bool bridge_topic_is_carried(const bridge_topic_t *topic)
{
  return !topic->is_refused && (topic->has_carried || !topic->has_refused);
}
