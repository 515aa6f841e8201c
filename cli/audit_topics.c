#include "audit_topics.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_type_hash.h>

#include "audit.h"

#define CANDIDATES_MAX 1024 /* topics of the graph that are looked at */

/* --- receiving --- */

typedef struct received {
  audit_topic_t *topic;
  const tb_ros2_sample_t *sample;
  stamp_now_t now;
} received_t;

tb__stamp_sample_t audit_stamp_sample(bool has_clock, int64_t stamp_ns,
                                      const tb_ros2_sample_t *sample, const stamp_now_t *now)
{
  return stamp_sample(has_clock, stamp_ns, sample->receive_timestamp_ns, now);
}

/* Whether there are transforms for it. */
static void take_frame(const received_t *received, int64_t stamp_ns, const char *frame,
                       size_t length)
{
  const audit_topic_t *topic = received->topic;
  audit_topics_t *topics = topic->all;
  tb__stamp_sample_t sample =
      audit_stamp_sample(topics->intake.has_clock, stamp_ns, received->sample, &received->now);
  tb__stamp_limits_t limits =
      tb__stamp_limits(&topic->stamped.limits, received->now.step_ns, topic->stamped.budget_ns);
  audit_tf_message(&topics->audit->tf, (size_t)(topic - topics->list), topic->name, frame, length,
                   &sample, tb__stamp_kind(&limits, &sample));
}

static void take_stamp(void *user, int64_t stamp_ns, const char *frame, size_t length)
{
  received_t *received = user;
  stamp_intake_t *intake = &received->topic->all->intake;
  stamp_stream_t *stream =
      stamp_stream_of(&received->topic->stamped, received->sample->writer_guid, frame, length);
  if (stream)
    stamp_intake_take(
        intake, stream,
        audit_stamp_sample(intake->has_clock, stamp_ns, received->sample, &received->now),
        received->sample->source_timestamp_ns, &received->now);
  if (received->topic->known->head.stamp) take_frame(received, stamp_ns, frame, length);
}

static void take_message(received_t *received)
{
  audit_topic_t *topic = received->topic;
  tb_status_t status = stamps_read(topic->known, received->sample->cdr, received->sample->size,
                                   take_stamp, received);
  topic->malformed += status != TB_OK;
}

static void on_sample(const tb_ros2_sample_t *sample, void *user)
{
  audit_topic_t *topic = user;
  audit_topics_t *topics = topic->all;
  received_t received = {.topic = topic, .sample = sample};
  audit_clock_now(&topics->audit->clock, &received.now);
  host_clocks_sample(&topics->audit->hosts, sample);
  pthread_mutex_lock(&topics->mutex);
  if (!topic->is_over && topic->rate_hz > 0) audit_declared_take(topic, sample);
  if (!topic->is_over && !topic->known) {
    topic->samples++;
    topic->is_over = topic->samples >= STAMP_SAMPLES_ENOUGH;
  } else if (!topic->is_over && !topic->is_misfit) {
    if (!topic->is_checked)
      topic->is_misfit = !tb__known_definition_fits(topic->known, sample->cdr, sample->size, NULL);
    topic->is_checked = true;
    if (!topic->is_misfit) take_message(&received);
    topic->malformed += topic->is_misfit;
    topic->samples++;
    topic->bytes += sample->size;
    topic->is_over = topic->samples >= STAMP_SAMPLES_ENOUGH || topic->bytes >= STAMP_BYTES_ENOUGH;
  }
  pthread_mutex_unlock(&topics->mutex);
}

/* --- topics --- */

static void graph_now(void *user, stamp_now_t *out)
{
  audit_clock_now(user, out);
}

static tb__ahead_state_t graph_settle(void *user, const tb__ahead_t *ahead, int64_t now_ns)
{
  return audit_clock_settle(user, ahead, now_ns);
}

int audit_topics_open(audit_t *audit)
{
  audit_topics_t *topics = &audit->topics;
  tb__definition_places_t places = {.prefixes = getenv("AMENT_PREFIX_PATH")};
  *topics = (audit_topics_t){
      .audit = audit, .intake = {.now = graph_now, .settle = graph_settle, .user = &audit->clock}};
  pthread_mutex_init(&topics->mutex, NULL);
  tb_status_t status = tb__definitions_create(&places, &topics->definitions);
  if (!status) {
    topics->requests = definition_requests_create(audit->view.context, topics->definitions);
    if (!topics->requests) status = TB_ERR_NO_MEMORY;
  }
  return status ? command_failed(audit->command, status, NULL) : EXIT_OK;
}

static void topic_close(audit_topic_t *topic)
{
  tb_ros2_subscription_destroy(topic->subscription);
  stamp_topic_fini(&topic->stamped);
  free(topic->name);
  free(topic->type);
  free(topic->hash);
  memset(topic, 0, sizeof *topic);
}

/* No reader is left afterwards. */
static void topics_forget(audit_topics_t *topics)
{
  for (size_t i = 0; i < topics->count; i++) {
    tb_ros2_subscription_destroy(topics->list[i].subscription);
    topics->list[i].subscription = NULL;
  }
  topics->intake.ahead_count = 0;
  for (size_t i = 0; i < topics->count; i++)
    topic_close(&topics->list[i]);
  topics->count = 0;
}

void audit_topics_close(audit_topics_t *topics)
{
  if (!topics->audit) return;
  topics_forget(topics);
  definition_requests_destroy(topics->requests);
  tb__definitions_destroy(topics->definitions);
  pthread_mutex_destroy(&topics->mutex);
  memset(topics, 0, sizeof *topics);
}

/* Of packages whose messages have no header: what tools and the middleware publish. */
static bool is_without_header(const char *type)
{
  static const char *const packages[] = {"rosbag2_interfaces/", "rcl_interfaces/",
                                         "lifecycle_msgs/",     "rosgraph_msgs/",
                                         "statistics_msgs/",    "rmw_dds_common/"};
  for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
    if (strncmp(type, packages[i], strlen(packages[i])) == 0) return true;
  return false;
}

static bool is_candidate(const tb_ros2_graph_snapshot_t *snapshot, size_t index, bool has_rate)
{
  static const char *const others[] = {"/clock", "/rosout", "/parameter_events", "/tf_static"};
  const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[index];
  const char *slash = strrchr(endpoint->name, '/');
  if (endpoint->kind != TB_ROS2_ENDPOINT_TOPIC || !endpoint->is_publisher || !slash ||
      (!has_rate && (slash[1] == '_' || is_without_header(endpoint->type))))
    return false;
  for (size_t i = 0; i < sizeof others / sizeof *others && !has_rate; i++)
    if (strcmp(endpoint->name, others[i]) == 0) return false;
  const tb_ros2_graph_endpoint_t *before = index ? endpoint - 1 : NULL;
  return !before || before->kind != endpoint->kind || !before->is_publisher ||
         strcmp(before->name, endpoint->name) != 0;
}

/* What its definition shows: whether it has stamps to sample. */
static bool has_stamps(tb__definition_entry_t *entry)
{
  const tb__known_definition_t *known = tb__definition_entry_known(entry);
  return !known || known->head.stamp || known->edges.all;
}

static int topic_add(audit_topics_t *topics, const tb_ros2_graph_endpoint_t *publisher)
{
  audit_topic_t *topic = &topics->list[topics->count];
  const audit_t *audit = topics->audit;
  *topic = (audit_topic_t){.all = topics, .stamped.limits = audit->limits};
  if (audit->has_manifest) {
    const tb__manifest_topic_t *declared =
        tb__manifest_topic(&audit->manifest, publisher->name, NULL);
    topic->stamped.limits = declared->limits;
    topic->stamped.budget_ns = declared->budget_ns;
    topic->rate_hz = declared->rate_hz;
  }
  tb__definition_entry_t *entry;
  tb_status_t status = definition_requests_get(topics->requests, publisher, &entry);
  if (status == TB_ERR_LIMIT || (!status && !has_stamps(entry) && topic->rate_hz <= 0))
    return EXIT_OK;
  if (status) return command_failed(audit->command, status, NULL);
  topic->entry = entry;
  topic->name = strdup(publisher->name);
  topic->type = strdup(publisher->type);
  topic->has_key = publisher->qos.has_key;
  topic->hash = publisher->type_hash ? strdup(publisher->type_hash) : NULL;
  topics->count++; /* so that it is freed */
  if (topic->name && topic->type && !topic->hash == !publisher->type_hash) return EXIT_OK;
  return command_failed(topics->audit->command, TB_ERR_NO_MEMORY, NULL);
}

/* Those that the manifest declares, or the others. Returns the new count. */
static size_t add_candidates(const audit_t *audit, bool are_declared, size_t *candidates,
                             size_t count)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < snapshot->endpoint_count && count < CANDIDATES_MAX; i++) {
    bool is_declared = false;
    double rate_hz = 0;
    if (audit->has_manifest)
      rate_hz =
          tb__manifest_topic(&audit->manifest, snapshot->endpoints[i].name, &is_declared)->rate_hz;
    if (is_declared == are_declared && is_candidate(snapshot, i, rate_hz > 0))
      candidates[count++] = i;
  }
  return count;
}

int audit_topics_begin(audit_t *audit)
{
  audit_topics_t *topics = &audit->topics;
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  const tb_ros2_graph_endpoint_t *publishers;
  size_t *candidates = calloc(CANDIDATES_MAX, sizeof *candidates), count = 0;
  int result = EXIT_OK;
  if (!candidates) return command_failed(audit->command, TB_ERR_NO_MEMORY, NULL);
  topics_forget(topics);
  bool is_vehicle = audit->has_manifest && audit->manifest.mode == TB__MODE_VEHICLE;
  topics->intake.has_clock =
      !is_vehicle && tb_ros2_graph_publishers(snapshot, audit->clock_topic, &publishers) > 0;
  count = add_candidates(audit, true, candidates, count);
  count = add_candidates(audit, false, candidates, count);
  topics->candidates = count;
  for (size_t i = 0; i < count && topics->count < AUDIT_TOPICS_MAX && !result; i++) {
    result = topic_add(topics, &snapshot->endpoints[candidates[(topics->first + i) % count]]);
    if (i + 1 < count && topics->count == AUDIT_TOPICS_MAX) topics->first += i + 1;
  }
  free(candidates);
  if (!result) audit_topics_step(audit);
  return result;
}

static void topic_subscribe(audit_topic_t *topic)
{
  const audit_t *audit = topic->all->audit;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb_ros2_subscription_options_t options = {on_sample, topic};
  qos.has_key = topic->has_key;
  qos.reliability = TB_QOS_BEST_EFFORT; /* without history, acknowledgements and repetitions */
  tb_steady_time_t now = {0};
  tb_steady_clock_now(audit->view.steady, &now);
  topic->begin_ns = now.ns;
  if (topic->hash) /* without it, nodes of ROS log a warning about the reader */
    (void)tb_ros2_type_hash_register(topic->type, topic->hash, NULL);
  if (tb_ros2_subscription_create(audit->view.context, topic->name, topic->type, &qos, &options,
                                  &topic->subscription, NULL))
    topic->is_over = true;
}

static void topic_step(audit_topic_t *topic)
{
  audit_topics_t *topics = topic->all;
  const tb__known_definition_t *known = topic->known;
  pthread_mutex_lock(&topics->mutex);
  bool is_misfit = topic->is_misfit, is_over = topic->is_over;
  bool is_fit = topic->is_checked && !is_misfit && !topic->is_reported;
  pthread_mutex_unlock(&topics->mutex);
  if ((is_misfit || is_fit) && tb__definition_entry_checked(topic->entry, known, is_fit, NULL))
    is_over = true;
  topic->is_reported |= is_fit;
  if (is_over) {
    tb_ros2_subscription_destroy(topic->subscription);
    topic->subscription = NULL;
    return;
  }
  tb__definition_state_t state = tb__definition_entry_state(topic->entry);
  topic->is_unknown = state == TB__DEFINITION_IS_UNKNOWN;
  known = tb__definition_entry_known(topic->entry);
  bool has_stamp = known && (known->head.stamp || known->edges.all);
  if (!has_stamp && topic->rate_hz <= 0) return;
  pthread_mutex_lock(&topics->mutex);
  if (is_misfit) topic->is_misfit = topic->is_checked = false; /* the next message is looked at */
  topic->known = has_stamp ? known : NULL;
  topic->stamped.is_tf = has_stamp && known->edges.all;
  pthread_mutex_unlock(&topics->mutex);
  if (!topic->subscription) topic_subscribe(topic);
}

void audit_topics_step(audit_t *audit)
{
  audit_topics_t *topics = &audit->topics;
  stamp_now_t now;
  audit_clock_now(&audit->clock, &now);
  definition_requests_step(topics->requests, audit->view.snapshot, now.steady_ns);
  for (size_t i = 0; i < topics->count; i++)
    topic_step(&topics->list[i]);
  pthread_mutex_lock(&topics->mutex);
  stamp_intake_settle(&topics->intake, false);
  pthread_mutex_unlock(&topics->mutex);
}

void audit_topics_end(audit_t *audit)
{
  audit_topics_t *topics = &audit->topics;
  for (size_t i = 0; i < topics->count; i++) {
    tb_ros2_subscription_destroy(topics->list[i].subscription);
    topics->list[i].subscription = NULL;
    topics->list[i].is_over = true;
  }
  pthread_mutex_lock(&topics->mutex);
  stamp_intake_settle(&topics->intake, true);
  pthread_mutex_unlock(&topics->mutex);
}
