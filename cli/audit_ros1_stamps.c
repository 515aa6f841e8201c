#include "audit_ros1_stamps.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stamp_findings.h"
#include "stamp_intake.h"

#define TOPICS_MAX      64   /* sampled at once */
#define CANDIDATES_MAX  1024 /* topics of the graph that are looked at */
#define BEGIN_MAX       4    /* in one step: the master keeps 5 connections waiting */
#define CONNECTIONS_MAX 32   /* of a topic */
#define DEFINITIONS_MAX 4    /* of a topic */
#define NAME_SIZE       256

/* What a publisher announced. */
typedef struct announced {
  char *type, *text;
  tb__known_definition_t known; /* .schema is NULL: it cannot be used */
} announced_t;

typedef struct connection {
  uint64_t id;
  char publisher[NAME_SIZE];
  const announced_t *announced;
} connection_t;

typedef struct topic {
  struct ros1_stamps *all;
  const char *name; /* NULL: this place is free */
  tb_ros1_subscription_t *subscription;
  bool is_over;       /* enough was sampled */
  bool is_headerless; /* its messages have no stamps */
  bool is_unknown;    /* its definition cannot be used */
  tb_error_t problem; /* of that */
  announced_t announced[DEFINITIONS_MAX];
  size_t announced_count;
  connection_t connections[CONNECTIONS_MAX];
  size_t connection_count;
  uint64_t samples, bytes;
  stamp_topic_t stamped;
} topic_t;

struct ros1_stamps {
  ros1_look_t *look;
  tb_ros1_graph_snapshot_t *graph; /* as it was when sampling began */
  size_t next;                     /* topic of the graph */
  size_t looked_at;
  tb__tick_history_t recent; /* under the mutex of the gauge */
  pthread_mutex_t mutex;
  topic_t list[TOPICS_MAX];
  stamp_intake_t intake;
};

/* --- the graph's time --- */

static void now_of(void *user, stamp_now_t *out)
{
  ros1_stamps_t *stamps = user;
  clock_gauge_t *gauge = stamps->look->gauge;
  tb_steady_time_t now = {0};
  tb_steady_clock_now(gauge->steady, &now);
  pthread_mutex_lock(&gauge->mutex);
  const tb__tick_stream_t *all = &gauge->ticks.all;
  *out = (stamp_now_t){.steady_ns = now.ns,
                       .clock_ns = all->first_ns ? all->last_ns : 0,
                       .step_ns = all->usual_step_ns,
                       .epoch = all->epoch};
  pthread_mutex_unlock(&gauge->mutex);
}

static tb__ahead_state_t settle(void *user, const tb__ahead_t *ahead, int64_t now_ns)
{
  ros1_stamps_t *stamps = user;
  pthread_mutex_lock(&stamps->look->gauge->mutex);
  tb__ahead_state_t state = tb__tick_history_settle(&stamps->recent, ahead, now_ns);
  pthread_mutex_unlock(&stamps->look->gauge->mutex);
  return state;
}

/* Nodes that follow /clock, or will once they are started: its time is that of the graph. */
static bool has_clock(const tb_ros1_graph_snapshot_t *graph)
{
  bool is_published = false, is_followed = graph->sim_time == TB_ROS1_SIM_TIME_TRUE ||
                                           graph->sim_time == TB_ROS1_SIM_TIME_ODD;
  for (size_t i = 0; i < graph->node_count; i++) {
    const tb_ros1_graph_node_t *node = &graph->nodes[i];
    is_published |= node->publishes_clock;
    is_followed |= ros1_node_follows(node) && !node->is_own;
  }
  return is_published && is_followed;
}

/* --- messages, on the context's thread --- */

static void announced_fini(announced_t *announced)
{
  tb__message_head_fini(&announced->known.head);
  tb__edge_paths_fini(&announced->known.edges);
  tb__schema_destroy(announced->known.schema);
  free(announced->type);
  free(announced->text);
}

static tb_status_t parse(announced_t *announced, const tb_ros1_message_type_t *type,
                         tb_error_t *error)
{
  tb__known_definition_t *known = &announced->known;
  announced->type = strdup(type->name);
  announced->text = strdup(type->definition);
  char *text = NULL;
  if (!announced->type || !announced->text) return TB_ERR_NO_MEMORY;
  tb_status_t status =
      tb__ros1_definition_of(type->name, type->md5sum, type->definition, NULL, &text, error);
  if (!status)
    status = tb__schema_parse(type->name, TB__MESSAGE_ROS1_ENCODING, text, strlen(text),
                              &known->schema, error);
  free(text);
  if (!status) status = tb__message_head_init(&known->head, known->schema, error);
  if (!status) status = tb__edge_paths_init(&known->edges, known->schema, error);
  return status;
}

/* NULL: there are too many. */
static const announced_t *announced_of(topic_t *topic, const tb_ros1_message_type_t *type)
{
  for (size_t i = 0; i < topic->announced_count; i++)
    if (!strcmp(topic->announced[i].type, type->name) &&
        !strcmp(topic->announced[i].text, type->definition))
      return &topic->announced[i];
  if (topic->announced_count == DEFINITIONS_MAX) return NULL;
  announced_t *announced = &topic->announced[topic->announced_count];
  tb_status_t status = parse(announced, type, &topic->problem);
  bool has_stamps = announced->known.head.stamp || announced->known.edges.all;
  topic->is_unknown |= status && status != TB_ERR_NO_MEMORY;
  topic->is_headerless |= !status && !has_stamps && !topic->announced_count;
  if (!status) {
    topic->stamped.is_tf |= announced->known.edges.all != NULL;
    topic->announced_count++;
    return announced;
  }
  announced_fini(announced);
  memset(announced, 0, sizeof *announced);
  return NULL;
}

static connection_t *connection_of(topic_t *topic, uint64_t id)
{
  for (size_t i = 0; i < topic->connection_count; i++)
    if (topic->connections[i].id == id) return &topic->connections[i];
  return NULL;
}

/* NULL: the message is not to be judged. The first of a latched publisher may be of long ago. */
static const connection_t *judged_connection(topic_t *topic, const tb_ros1_sample_t *sample)
{
  connection_t *connection = connection_of(topic, sample->connection);
  if (connection || topic->connection_count == CONNECTIONS_MAX) return connection;
  connection = &topic->connections[topic->connection_count++];
  connection->id = sample->connection;
  connection->announced = announced_of(topic, &sample->type);
  snprintf(connection->publisher, sizeof connection->publisher, "%s", sample->publisher);
  return sample->latched ? NULL : connection;
}

typedef struct received {
  topic_t *topic;
  const tb_ros1_sample_t *sample;
  stamp_now_t now;
} received_t;

static void take_stamp(void *user, int64_t stamp_ns, const char *frame, size_t length)
{
  const received_t *received = user;
  stamp_intake_t *intake = &received->topic->all->intake;
  uint8_t writer[16] = {0};
  memcpy(writer, &received->sample->connection, sizeof received->sample->connection);
  stamp_stream_t *stream = stamp_stream_of(&received->topic->stamped, writer, frame, length);
  if (!stream) return;
  stamp_intake_take(
      intake, stream,
      stamp_sample(intake->has_clock, stamp_ns, received->sample->received_ns, &received->now), 0,
      &received->now);
}

static void on_message(const tb_ros1_sample_t *sample, void *user)
{
  topic_t *topic = user;
  received_t received = {.topic = topic, .sample = sample};
  now_of(topic->all, &received.now);
  pthread_mutex_lock(&topic->all->mutex);
  if (!topic->is_over) {
    const connection_t *connection = judged_connection(topic, sample);
    const announced_t *announced = connection ? connection->announced : NULL;
    if (announced && (announced->known.head.stamp || announced->known.edges.all))
      (void)!stamps_read(&announced->known, sample->message, sample->size, take_stamp, &received);
    topic->samples++;
    topic->bytes += sample->size;
    topic->is_over |= topic->is_headerless || topic->samples >= STAMP_SAMPLES_ENOUGH ||
                      topic->bytes >= STAMP_BYTES_ENOUGH;
  }
  pthread_mutex_unlock(&topic->all->mutex);
}

/* --- topics --- */

/* Of packages whose messages have no stamps, or not of the graph's work. */
static bool is_without_stamps(const char *type)
{
  static const char *const packages[] = {"rosgraph_msgs/", "std_msgs/", "dynamic_reconfigure/",
                                         "bond/", "roscpp/"};
  for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
    if (!strncmp(type, packages[i], strlen(packages[i])))
      return strcmp(type, "std_msgs/Header") != 0;
  return false;
}

static bool is_candidate(const tb_ros1_graph_topic_t *topic)
{
  static const char *const others[] = {"/clock", "/rosout", "/rosout_agg", "/tf_static"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strcmp(topic->name, others[i])) return false;
  return topic->publisher_count && !is_without_stamps(topic->type);
}

/* NULL: there are no more. */
static const char *next_candidate(ros1_stamps_t *stamps)
{
  while (stamps->next < stamps->graph->topic_count && stamps->looked_at < CANDIDATES_MAX) {
    const tb_ros1_graph_topic_t *topic = &stamps->graph->topics[stamps->next++];
    if (!is_candidate(topic)) continue;
    stamps->looked_at++;
    return topic->name;
  }
  return NULL;
}

static void topic_begin(ros1_stamps_t *stamps, topic_t *topic, const char *name)
{
  tb_ros1_subscription_options_t options = {.callback = on_message, .user = topic};
  *topic = (topic_t){.all = stamps, .name = name, .stamped.limits = tb__contract_limits_default()};
  if (tb_ros1_subscription_create(stamps->look->context, name, NULL, &options, &topic->subscription,
                                  NULL))
    topic->is_over = true; /* an odd name: the others are sampled */
}

/* Nothing of it is "ahead": it has no stamps, or nothing waits any more. */
static void topic_close(topic_t *topic)
{
  tb_ros1_subscription_destroy(topic->subscription);
  for (size_t i = 0; i < topic->announced_count; i++)
    announced_fini(&topic->announced[i]);
  stamp_topic_fini(&topic->stamped);
  memset(topic, 0, sizeof *topic);
}

/* Whether a topic has taken its place. */
static bool topic_step(ros1_stamps_t *stamps, topic_t *topic, bool may_begin)
{
  pthread_mutex_lock(&stamps->mutex);
  bool is_over = topic->is_over, is_headerless = topic->is_headerless;
  pthread_mutex_unlock(&stamps->mutex);
  if (is_over) {
    tb_ros1_subscription_destroy(topic->subscription);
    topic->subscription = NULL;
  }
  if (is_over && is_headerless) topic_close(topic);
  const char *name = topic->name || !may_begin ? NULL : next_candidate(stamps);
  if (name) topic_begin(stamps, topic, name);
  return name;
}

void ros1_stamps_step(ros1_stamps_t *stamps)
{
  size_t begun = 0;
  for (size_t i = 0; i < TOPICS_MAX; i++)
    begun += topic_step(stamps, &stamps->list[i], begun < BEGIN_MAX);
  pthread_mutex_lock(&stamps->mutex);
  stamp_intake_settle(&stamps->intake, false);
  pthread_mutex_unlock(&stamps->mutex);
}

void ros1_stamps_end(ros1_stamps_t *stamps)
{
  for (size_t i = 0; i < TOPICS_MAX; i++) {
    tb_ros1_subscription_destroy(stamps->list[i].subscription);
    stamps->list[i].subscription = NULL;
  }
  pthread_mutex_lock(&stamps->mutex);
  stamp_intake_settle(&stamps->intake, true);
  pthread_mutex_unlock(&stamps->mutex);
}

/* --- findings --- */

static void find_topic(const ros1_look_t *look, topic_t *topic)
{
  /* All nodes are on wall time, and what comes with /clock is not. */
  bool is_unset = !topic->all->intake.has_clock && look->clock == ROS1_CLOCK_TICKS;
  for (size_t i = 0; i < topic->stamped.stream_count; i++) {
    const stamp_stream_t *stream = topic->stamped.streams[i];
    uint64_t id;
    memcpy(&id, stream->writer, sizeof id);
    const connection_t *connection = connection_of(topic, id);
    judged_stamps_t judged = {
        .findings = look->findings,
        .topic = topic->name,
        .stamps = &stream->stamps,
        .limits = &topic->stamped.limits,
        .owner = connection && connection->publisher[0] ? connection->publisher : NULL,
        .base_cause = is_unset ? "/use_sim_time" : NULL};
    stamp_findings_add(&judged);
  }
}

static void find(ros1_look_t *look, void *user)
{
  ros1_stamps_t *stamps = user;
  for (size_t i = 0; i < TOPICS_MAX; i++) {
    topic_t *topic = &stamps->list[i];
    tb__finding_input_t unknown = {
        .rule = TB__RULE_DEFINITION_UNKNOWN, .kind = TB__SUBJECT_TOPIC, .subject = topic->name};
    if (!topic->name) continue;
    if (topic->is_unknown) tb__findings_add(look->findings, &unknown, "%s", topic->problem.text);
    find_topic(look, topic);
  }
}

size_t ros1_stamps_sampled(const ros1_stamps_t *stamps)
{
  size_t count = 0;
  for (size_t i = 0; i < TOPICS_MAX; i++)
    count += stamps->list[i].stamped.stream_count > 0;
  return count;
}

/* --- its life --- */

int ros1_stamps_open(ros1_look_t *look, ros1_stamps_t **out)
{
  tb_error_t error = TB_ERROR_INIT;
  ros1_stamps_t *stamps = calloc(1, sizeof *stamps);
  if (!stamps) return command_failed(look->command, TB_ERR_NO_MEMORY, NULL);
  *out = stamps;
  stamps->look = look;
  pthread_mutex_init(&stamps->mutex, NULL);
  tb_status_t status = tb_ros1_graph_take(look->context, look->limit, &stamps->graph, &error);
  if (status) return command_failed(look->command, status, &error);
  stamps->intake.now = now_of;
  stamps->intake.settle = settle;
  stamps->intake.user = stamps;
  stamps->intake.has_clock = has_clock(stamps->graph);
  pthread_mutex_lock(&look->gauge->mutex);
  look->gauge->recent = &stamps->recent;
  pthread_mutex_unlock(&look->gauge->mutex);
  look->find = find;
  look->find_user = stamps;
  ros1_stamps_step(stamps);
  return EXIT_OK;
}

void ros1_stamps_close(ros1_stamps_t *stamps)
{
  if (!stamps) return;
  clock_gauge_t *gauge = stamps->look->gauge;
  stamps->look->find = NULL;
  pthread_mutex_lock(&gauge->mutex);
  gauge->recent = NULL;
  pthread_mutex_unlock(&gauge->mutex);
  for (size_t i = 0; i < TOPICS_MAX; i++) {
    tb_ros1_subscription_destroy(stamps->list[i].subscription);
    stamps->list[i].subscription = NULL;
  }
  stamps->intake.ahead_count = 0;
  for (size_t i = 0; i < TOPICS_MAX; i++)
    topic_close(&stamps->list[i]);
  tb_ros1_graph_snapshot_release(stamps->graph);
  pthread_mutex_destroy(&stamps->mutex);
  free(stamps);
}
