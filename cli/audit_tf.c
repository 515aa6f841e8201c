#include "audit_tf.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_type_hash.h>

#include "audit.h"
#include "contract/tf_findings.h"
#include "contract_json.h"

#define TYPE "tf2_msgs/msg/TFMessage"

/* --- receiving --- */

/* From 1 on; 0: there are too many. */
static uint64_t writer_number(audit_tf_t *tf, const uint8_t guid[16])
{
  for (size_t i = 0; i < tf->writer_count; i++)
    if (memcmp(tf->writers[i], guid, 16) == 0) return i + 1;
  size_t at = 0;
  while (at < tf->writer_count && !tf->is_gone[at])
    at++;
  if (at == AUDIT_TF_WRITERS_MAX) return 0;
  if (at == tf->writer_count) tf->writer_count++;
  memcpy(tf->writers[at], guid, 16);
  tf->is_gone[at] = false;
  return at + 1;
}

/* At a jump back of /clock tf2 clears its buffers. */
static void note_epoch(audit_tf_t *tf, const tb__stamp_sample_t *sample)
{
  if (sample->epoch.number != tf->epoch) tb__tf_cover_clear(&tf->cover);
  tf->epoch = sample->epoch.number;
}

/* Waits are measured in ROS time, so that a paused clock makes nothing late. */
static int64_t wait_time(const audit_tf_t *tf, const tb__stamp_sample_t *sample)
{
  return tf->has_clock ? sample->ros_ns : sample->arrival_ns;
}

typedef struct received {
  audit_tf_reader_t *reader;
  const tb_ros2_sample_t *sample;
  stamp_now_t now;
  tb__stamp_limits_t limits;
} received_t;

static bool take_edge(void *user, const tb__edge_t *edge)
{
  const received_t *received = user;
  audit_tf_t *tf = &received->reader->audit->tf;
  tb__stamp_sample_t sample =
      audit_stamp_sample(tf->has_clock, edge->stamp_ns, received->sample, &received->now);
  const audit_tf_reader_t *reader = received->reader;
  tb__tf_tree_names_t names;
  tb__tf_transform_t transform =
      tb__tf_tree_transform(reader->topic, reader->tree_length, edge, &names);
  transform.received_ns = wait_time(tf, &sample);
  transform.publisher = writer_number(tf, received->sample->writer_guid);
  transform.is_static = reader->is_static;
  tb__stamp_kind_t kind =
      transform.is_static ? TB__STAMP_GOOD : tb__stamp_kind(&received->limits, &sample);
  note_epoch(tf, &sample);
  tb_status_t status = TB_OK;
  if (kind == TB__STAMP_STALE_EPOCH)
    status = tb__tf_cover_old_epoch(&tf->cover, &transform, sample.ros_ns);
  else if (kind == TB__STAMP_GOOD || kind == TB__STAMP_OLD || kind == TB__STAMP_FUTURE)
    status = tb__tf_cover_transform(&tf->cover, &transform);
  return status == TB_OK;
}

static void on_transforms(const tb_ros2_sample_t *sample, void *user)
{
  audit_tf_reader_t *reader = user;
  audit_t *audit = reader->audit;
  received_t received = {.reader = reader, .sample = sample};
  tb__message_t message;
  tb_status_t status = TB_ERR_CORRUPT;
  audit_clock_now(&audit->clock, &received.now);
  if (!reader->is_static) host_clocks_sample(&audit->hosts, sample); /* others may be of long ago */
  received.limits = tb__stamp_limits(&audit->limits, received.now.step_ns, 0);
  received.limits.future_ns += TB__TF_FUTURE_NS;
  pthread_mutex_lock(&audit->tf.mutex);
  if (tb__known_definition_fits(audit->tf.known, sample->cdr, sample->size, NULL))
    status = tb__message_open(&message, audit->tf.known->schema, sample->cdr, sample->size);
  if (!status)
    status = tb__edge_paths_each(&audit->tf.known->edges, &message, take_edge, &received);
  audit->tf.malformed += status != TB_OK;
  pthread_mutex_unlock(&audit->tf.mutex);
}

/* A stamp in the future waits by its own fault. */
void audit_tf_message(audit_tf_t *tf, size_t topic, const char *name, const char *frame,
                      size_t length, const tb__stamp_sample_t *sample, tb__stamp_kind_t kind)
{
  if (kind != TB__STAMP_GOOD && kind != TB__STAMP_OLD) return;
  char in_tree[TB__TF_TREE_FRAME_SIZE];
  size_t tree_length = 0;
  pthread_mutex_lock(&tf->mutex);
  note_epoch(tf, sample);
  for (size_t i = 0; i < tf->reader_count; i++) {
    const audit_tf_reader_t *reader = &tf->readers[i];
    if (reader->tree_length > tree_length &&
        tb__tf_tree_has(reader->topic, reader->tree_length, name))
      tree_length = reader->tree_length;
  }
  length = tb__tf_tree_frame(name, tree_length, frame, length, in_tree);
  (void)tb__tf_cover_message(&tf->cover, (uint32_t)topic, in_tree, length, sample->stamp_ns,
                             wait_time(tf, sample));
  pthread_mutex_unlock(&tf->mutex);
}

/* --- rounds --- */

int audit_tf_open(audit_t *audit)
{
  audit_tf_t *tf = &audit->tf;
  tb__definition_entry_t *entry = NULL;
  memset(tf, 0, sizeof *tf);
  pthread_mutex_init(&tf->mutex, NULL);
  tf->audit = audit;
  tf->is_open = true;
  tb_status_t status = tb__tf_cover_init(&tf->cover, AUDIT_TOPICS_MAX);
  if (!status)
    status = tb__definitions_create(&(tb__definition_places_t){.prefixes = NULL}, &tf->definitions);
  if (!status)
    status = tb__definitions_get(tf->definitions, &(tb__definition_key_t){.type = TYPE}, &entry);
  if (!status) tf->known = tb__definition_entry_known(entry);
  if (!status && !tf->known) status = TB_ERR_NOT_FOUND; /* it is built in */
  return status ? command_failed(audit->command, status, NULL) : EXIT_OK;
}

void audit_tf_close(audit_tf_t *tf)
{
  if (!tf->is_open) return;
  for (size_t i = 0; i < tf->reader_count; i++) {
    tb_ros2_subscription_destroy(tf->readers[i].subscription);
    free(tf->readers[i].topic);
  }
  tb__definitions_destroy(tf->definitions);
  tb__tf_cover_fini(&tf->cover);
  pthread_mutex_destroy(&tf->mutex);
  memset(tf, 0, sizeof *tf);
}

/* Static transforms were sent once, and only a reliable reader gets what was sent before. But a
 * publisher of ROS that offers less than a reader asks for logs a warning: what one does not offer
 * is not asked of any. */
static tb_qos_t qos_for(bool is_static, const tb_ros2_graph_endpoint_t *publishers, size_t count)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.depth = 100;
  qos.reliability = is_static ? TB_QOS_RELIABLE : TB_QOS_BEST_EFFORT;
  qos.durability = is_static ? TB_QOS_TRANSIENT_LOCAL : TB_QOS_VOLATILE;
  for (size_t i = 0; i < count; i++) {
    if (publishers[i].qos.durability != TB_QOS_TRANSIENT_LOCAL) qos.durability = TB_QOS_VOLATILE;
    if (publishers[i].qos.reliability != TB_QOS_RELIABLE) qos.reliability = TB_QOS_BEST_EFFORT;
  }
  return qos;
}

static bool has_reader(const audit_tf_t *tf, const char *topic)
{
  for (size_t i = 0; i < tf->reader_count; i++)
    if (strcmp(tf->readers[i].topic, topic) == 0) return true;
  return false;
}

/* The `count` publishers are of a topic that has no reader yet, the first one of transforms. */
static int subscribe(audit_t *audit, const tb_ros2_graph_endpoint_t *publishers, size_t count)
{
  audit_tf_t *tf = &audit->tf;
  audit_tf_reader_t *reader = &tf->readers[tf->reader_count];
  const char *topic = publishers[0].name;
  tb_ros2_subscription_options_t options = {on_transforms, reader};
  tb_error_t error = TB_ERROR_INIT;
  *reader = (audit_tf_reader_t){.audit = audit,
                                .is_static = strcmp(strrchr(topic, '/'), "/tf_static") == 0,
                                .topic = strdup(topic),
                                .tree_length = tb__tf_tree_length(topic)};
  if (!reader->topic) return command_failed(audit->command, TB_ERR_NO_MEMORY, NULL);
  pthread_mutex_lock(&tf->mutex);
  tf->reader_count++;
  pthread_mutex_unlock(&tf->mutex);
  tb_qos_t qos = qos_for(reader->is_static, publishers, count);
  if (publishers[0].type_hash) /* nodes of ROS log a warning about a reader without */
    (void)tb_ros2_type_hash_register(TYPE, publishers[0].type_hash, NULL);
  tb_status_t status = tb_ros2_subscription_create(audit->view.context, topic, TYPE, &qos, &options,
                                                   &reader->subscription, &error);
  return status ? command_failed(audit->command, status, &error) : EXIT_OK;
}

static bool is_of_transforms(const tb_ros2_graph_endpoint_t *endpoint)
{
  const char *slash = strrchr(endpoint->name, '/');
  return endpoint->kind == TB_ROS2_ENDPOINT_TOPIC && endpoint->is_publisher && slash &&
         strcmp(endpoint->type, TYPE) == 0 &&
         (strcmp(slash, "/tf") == 0 || strcmp(slash, "/tf_static") == 0);
}

/* /tf and /tf_static, and those of robots in namespaces. */
static int subscribe_all(audit_t *audit)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  int result = EXIT_OK;
  for (size_t i = 0; i < snapshot->endpoint_count && !result; i++) {
    const tb_ros2_graph_endpoint_t *first = &snapshot->endpoints[i];
    size_t count = 1;
    if (!is_of_transforms(first) || has_reader(&audit->tf, first->name) ||
        audit->tf.reader_count == AUDIT_TF_READERS_MAX)
      continue;
    while (i + count < snapshot->endpoint_count && first[count].is_publisher &&
           strcmp(first[count].name, first->name) == 0)
      count++;
    result = subscribe(audit, first, count);
  }
  return result;
}

static bool is_there(const tb_ros2_graph_snapshot_t *snapshot, const uint8_t guid[16])
{
  for (size_t i = 0; i < snapshot->endpoint_count; i++)
    if (memcmp(snapshot->endpoints[i].guid, guid, 16) == 0) return true;
  return false;
}

int audit_tf_begin(audit_t *audit)
{
  audit_tf_t *tf = &audit->tf;
  pthread_mutex_lock(&tf->mutex);
  tb__tf_cover_end(&tf->cover);
  tb__tf_cover_restart(&tf->cover);
  if (tf->has_clock != audit->topics.intake.has_clock) tb__tf_cover_clear(&tf->cover);
  tf->has_clock = audit->topics.intake.has_clock;
  for (size_t i = 0; i < tf->writer_count; i++) {
    if (tf->is_gone[i] || is_there(audit->view.snapshot, tf->writers[i])) continue;
    tf->is_gone[i] = true;
    tb__tf_cover_gone(&tf->cover, i + 1);
  }
  pthread_mutex_unlock(&tf->mutex);
  return subscribe_all(audit);
}

void audit_tf_end(audit_t *audit)
{
  audit_tf_t *tf = &audit->tf;
  stamp_now_t now;
  audit_clock_now(&audit->clock, &now);
  pthread_mutex_lock(&tf->mutex);
  if (!tf->has_clock || now.epoch.number == tf->epoch)
    (void)tb__tf_cover_cut(&tf->cover, tf->has_clock ? now.clock_ns : now.steady_ns,
                           audit->limits.stall_ns);
  pthread_mutex_unlock(&tf->mutex);
}

/* --- results --- */

static const char *topic_name(void *user, uint32_t topic)
{
  const audit_t *audit = user;
  return topic < audit->topics.count ? audit->topics.list[topic].name : "";
}

static const char *publisher_node(void *user, uint64_t publisher)
{
  const audit_t *audit = user;
  return audit_node_of(audit->view.snapshot, audit->tf.writers[publisher - 1]);
}

static tb_status_t add(void *user, const tb__finding_input_t *input, const char *evidence)
{
  const audit_t *audit = user;
  return tb__findings_add(audit->findings, input, "%s", evidence);
}

void audit_tf_find(audit_t *audit)
{
  tb__tf_judge_t judge = {.cover = &audit->tf.cover,
                          .late_ns = audit->limits.stall_ns,
                          .user = audit,
                          .topic = topic_name,
                          .publisher = publisher_node,
                          .add = add};
  pthread_mutex_lock(&audit->tf.mutex);
  tb_status_t status = tb__tf_cover_judge(&judge);
  pthread_mutex_unlock(&audit->tf.mutex);
  (void)status; /* tb__findings_finish reports it */
}

json_t *audit_tf_json(const audit_t *audit)
{
  audit_tf_t *tf = &audit->tf.audit->tf;
  json_t *out = json_object(), *topics = json_array();
  pthread_mutex_lock(&tf->mutex);
  for (uint32_t i = 0; i < audit->topics.count; i++) {
    json_t *item = contract_tf_topic_json(&tf->cover, i);
    if (!item) continue;
    json_put(item, "name", text_json(audit->topics.list[i].name));
    json_push(topics, item);
  }
  json_put(out, "malformed", json_integer((json_int_t)tf->malformed));
  json_put(out, "topics", topics);
  json_put(out, "edges", contract_tf_edges_json(&tf->cover, publisher_node, tf->audit));
  pthread_mutex_unlock(&tf->mutex);
  return out;
}
