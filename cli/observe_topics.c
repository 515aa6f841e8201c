#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_type_hash.h>

#include "clock_gauge.h"
#include "contract/limits.h"
#include "definition/message.h"
#include "observe.h"
#include "observe_ahead.h"
#include "observe_hosts.h"
#include "publishers.h"
#include "text.h"

#define CLOCK_TOPIC      "/clock"
#define READERS_PER_STEP 50
#define READER_DEPTH     100
#define DISCOVERY_NS     TB_NS_PER_S /* until a publisher of /clock has been found */
#define STEP_NS          (100 * TB_NS_PER_MS)

/* --- time --- */

int64_t observe_steady_now(const observe_t *observe)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(observe->steady, &now);
  return now.ns;
}

int64_t observe_system_now(const observe_t *observe)
{
  tb_time_t now = {0};
  tb_clock_now(observe->system, &now);
  return now.ns;
}

observe_time_t observe_now(observe_t *observe, int64_t system_ns)
{
  observe_clock_t *clock = &observe->clock;
  observe_time_t now = {.steady_ns = observe_steady_now(observe), .system_ns = system_ns};
  pthread_mutex_lock(&clock->lock);
  now.is_clock = clock->is_expected;
  if (now.is_clock) {
    now.ros_ns = clock->ticks.all.last_ns;
    now.epoch = clock->ticks.all.epoch;
  } else if (now.steady_ns - observe->begin_ns >= DISCOVERY_NS) {
    now.ros_ns = system_ns;
  }
  pthread_mutex_unlock(&clock->lock);
  return now;
}

/* On a thread of DDS. */
static void on_tick(const tb_ros2_sample_t *sample, void *user)
{
  observe_t *observe = user;
  observe_clock_t *clock = &observe->clock;
  int64_t steady_ns = observe_steady_now(observe), tick_ns = 0;
  tb__message_t message;
  size_t at = 0;
  if (tb__message_open(&message, clock->schema, sample->cdr, sample->size) ||
      tb__field_path_find(clock->path, &message, 0, &at) ||
      tb__message_any_time(&message, &at, &tick_ns))
    return;
  pthread_mutex_lock(&clock->lock);
  clock->is_expected = true;
  tb__ticks_feed(&clock->ticks, clock_publisher_id(sample->writer_guid), tick_ns, steady_ns);
  if (tick_ns > 0)
    tb__tick_history_add(&clock->history, tick_ns, sample->source_timestamp_ns, steady_ns);
  pthread_mutex_unlock(&clock->lock);
}

/* --- messages --- */

static bool take_newer(void *user, const tb__edge_t *edge)
{
  int64_t *newest_ns = user;
  bool has_invalid = *newest_ns < 0 && *newest_ns != INT64_MIN; /* which is to be seen */
  if (!has_invalid && (edge->stamp_ns < 0 || edge->stamp_ns > *newest_ns))
    *newest_ns = edge->stamp_ns;
  return true;
}

/* False: it has no edges. */
static bool read_newest_edge(const tb__known_definition_t *known, const tb__message_t *message,
                             int64_t *out_ns)
{
  int64_t newest_ns = INT64_MIN;
  if (tb__edge_paths_each(&known->edges, message, take_newer, &newest_ns) || newest_ns == INT64_MIN)
    return false;
  *out_ns = newest_ns;
  return true;
}

/* The stamp of a message; false: it has none, or it cannot be read. */
static bool read_stamp_locked(observe_topic_t *topic, const tb_ros2_sample_t *sample,
                              int64_t *out_ns)
{
  tb__message_t message;
  const tb__known_definition_t *known = topic->known;
  if (known && topic->must_check) {
    tb_error_t error = TB_ERROR_INIT;
    bool fits = tb__known_definition_fits(known, sample->cdr, sample->size, &error);
    topic->must_check = false;
    topic->checked = known;
    topic->verdict = fits ? OBSERVE_FITS : OBSERVE_DOES_NOT_FIT;
    snprintf(topic->why, sizeof topic->why, "%.150s", error.text);
    if (!fits) topic->known = known = NULL;
  }
  bool has_edges = known && known->edges.all && topic->of->reads_edges;
  if (!known || (!known->head.stamp && !has_edges)) return false;
  if (tb__message_open(&message, known->schema, sample->cdr, sample->size) == TB_OK &&
      (has_edges ? read_newest_edge(known, &message, out_ns)
                 : tb__message_head_stamp(&known->head, &message, out_ns) == TB_OK))
    return true;
  topic->malformed++;
  return false;
}

static tb__stamp_limits_t stamp_limits(const observe_clock_t *clock)
{
  tb__contract_limits_t limits = tb__contract_limits_default();
  return tb__stamp_limits(&limits, clock->is_expected ? clock->ticks.all.usual_step_ns : 0, 0);
}

static observe_stream_t *add_stream_locked(observe_topic_t *topic, const tb_ros2_sample_t *sample)
{
  observe_t *observe = topic->of;
  observe_stream_t **last = &topic->streams;
  if (atomic_fetch_add(&observe->stream_count, 1) >= OBSERVE_STREAMS_MAX) {
    atomic_fetch_sub(&observe->stream_count, 1);
    return NULL;
  }
  observe_stream_t *stream = calloc(1, sizeof *stream);
  if (!stream) return NULL;
  memcpy(stream->guid, sample->writer_guid, 16);
  stream->first_sequence = sample->sequence;
  tb__topic_stream_init(&stream->is, NULL);
  while (*last)
    last = &(*last)->next;
  *last = stream;
  return stream;
}

static observe_stream_t *find_stream_locked(observe_topic_t *topic, const tb_ros2_sample_t *sample)
{
  for (observe_stream_t *stream = topic->streams; stream; stream = stream->next)
    if (memcmp(stream->guid, sample->writer_guid, 16) == 0) return stream;
  return add_stream_locked(topic, sample);
}

static void feed_paths(observe_t *observe, uint32_t from_paths, uint32_t to_paths,
                       const tb__path_sample_t *sample)
{
  uint32_t paths = from_paths | to_paths;
  for (size_t i = 0; i < OBSERVE_PATHS_MAX && paths >> i; i++) {
    observe_path_t *path = &observe->paths[i];
    if (!(paths >> i & 1)) continue;
    pthread_mutex_lock(&path->lock);
    if (from_paths >> i & 1)
      tb__path_input(&path->is, sample);
    else
      tb__path_output(&path->is, sample);
    pthread_mutex_unlock(&path->lock);
  }
}

/* On a thread of DDS, one call at a time for a topic. */
static void on_message(const tb_ros2_sample_t *sample, void *user)
{
  observe_topic_t *topic = user;
  observe_time_t now = observe_now(topic->of, sample->receive_timestamp_ns);
  tb__received_t received = {.sequence = sample->sequence,
                             .source_ns = sample->source_timestamp_ns,
                             .receive_ns = sample->receive_timestamp_ns,
                             .size = sample->size,
                             .stamp = {.ros_ns = now.ros_ns,
                                       .system_ns = now.is_clock ? now.system_ns : 0,
                                       .arrival_ns = now.steady_ns,
                                       .epoch = now.epoch}};
  pthread_mutex_lock(&topic->lock);
  topic->messages++;
  received.stamp.has_stamp = read_stamp_locked(topic, sample, &received.stamp.stamp_ns);
  observe_stream_t *stream = find_stream_locked(topic, sample);
  if (stream)
    observe_ahead_take_locked(topic->of, stream, &received);
  else
    topic->unattributed++;
  uint32_t from_paths = topic->from_paths, to_paths = topic->to_paths;
  pthread_mutex_unlock(&topic->lock);
  tb__path_sample_t path_sample = {received.stamp.stamp_ns, now.steady_ns, now.ros_ns,
                                   now.epoch.number};
  if (received.stamp.has_stamp && received.stamp.stamp_ns >= 0)
    feed_paths(topic->of, from_paths, to_paths, &path_sample);
}

/* --- topics --- */

char *observe_full_name(const char *name, size_t length)
{
  bool is_full = length > 0 && name[0] == '/';
  char *full = malloc(length + 2);
  if (!full) return NULL;
  full[0] = '/';
  memcpy(full + !is_full, name, length);
  full[length + !is_full] = '\0';
  return full;
}

static bool is_wanted(const observe_t *observe, const char *name)
{
  bool has_paths = false;
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++) {
    const observe_path_t *path = &observe->paths[i];
    if (!path->from || path->is_candidate) continue;
    if (strcmp(path->from, name) == 0 || strcmp(path->to, name) == 0) return true;
    has_paths = true;
  }
  for (size_t i = 0; i < observe->filter_count; i++) {
    const char *filter = observe->filters[i];
    if (fnmatch(filter, filter[0] == '/' ? name : name + 1, 0) == 0) return true;
  }
  return observe->filter_count == 0 && (!has_paths || observe->finds_paths);
}

static void stream_free(observe_stream_t *stream)
{
  free(stream->node);
  free(stream->reported);
  free(stream->ahead);
  free(stream);
}

static void topic_destroy(observe_topic_t *topic)
{
  tb_ros2_subscription_destroy(topic->subscription);
  while (topic->streams) {
    observe_stream_t *stream = topic->streams;
    topic->streams = stream->next;
    stream_free(stream);
  }
  pthread_mutex_destroy(&topic->lock);
  free(topic->name);
  free(topic->type);
  free(topic);
}

/* Volatile: history does not come. Usually best effort, which slows nobody down. */
static tb_status_t subscribe(observe_t *observe, const char *name, const char *type,
                             tb_qos_reliability_t reliability, bool has_key,
                             tb_ros2_subscription_callback_t callback, void *user,
                             tb_ros2_subscription_t **out, tb_error_t *error)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.reliability = reliability;
  qos.has_key = has_key;
  qos.depth = READER_DEPTH;
  tb_ros2_subscription_options_t options = {callback, user};
  return tb_ros2_subscription_create(observe->context, name, type, &qos, &options, out, error);
}

/* NULL: out of memory. */
static observe_topic_t *topic_create(observe_t *observe, const tb_ros2_graph_endpoint_t *publisher)
{
  observe_topic_t *topic = calloc(1, sizeof *topic);
  if (!topic) return NULL;
  pthread_mutex_init(&topic->lock, NULL);
  topic->of = observe;
  topic->name = strdup(publisher->name);
  topic->type = strdup(publisher->type);
  if (!topic->name || !topic->type) {
    topic_destroy(topic);
    return NULL;
  }
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++) {
    if (!observe->paths[i].from) continue;
    if (strcmp(observe->paths[i].from, topic->name) == 0) topic->from_paths |= 1u << i;
    if (strcmp(observe->paths[i].to, topic->name) == 0) topic->to_paths |= 1u << i;
  }
  return topic;
}

static void __attribute__((format(printf, 2, 3)))
print_warning(const observe_t *observe, const char *format, ...)
{
  char *text = NULL;
  size_t size;
  va_list args;
  FILE *out = open_memstream(&text, &size);
  if (!out) return;
  va_start(args, format);
  text_to_v(out, format, args);
  va_end(args);
  bool is_whole = fclose(out) == 0;
  if (is_whole && observe->warn) {
    observe->warn(observe->warn_user, text);
  } else if (is_whole) {
    command_begin_warning(observe->command);
    text_err("%s\n", text);
  }
  free(text);
}

static void topic_begin(observe_topic_t *topic, const tb_ros2_graph_endpoint_t *publisher)
{
  observe_t *observe = topic->of;
  tb_error_t error = TB_ERROR_INIT;
  if (definition_requests_get(observe->requests, publisher, &topic->entry)) topic->entry = NULL;
  /* Without it every node that sees the reader would warn. */
  if (publisher->type_hash)
    (void)tb_ros2_type_hash_register(topic->type, publisher->type_hash, NULL);
  tb_qos_reliability_t reliability =
      observe->is_reliable ? publisher->qos.reliability : TB_QOS_BEST_EFFORT;
  topic->is_failed =
      subscribe(observe, topic->name, topic->type, reliability, publisher->qos.has_key, on_message,
                topic, &topic->subscription, &error) != TB_OK;
  if (topic->is_failed) print_warning(observe, "%s is not observed: %s", topic->name, error.text);
}

static bool is_own(const observe_t *observe, const tb_ros2_graph_endpoint_t *endpoint)
{
  return observe->own_node && endpoint->node >= 0 &&
         strcmp(observe->snapshot->nodes[endpoint->node].full_name, observe->own_node) == 0;
}

/* Endpoints are ordered by name: of each topic the first publisher is looked at. */
static void add_topics(observe_t *observe)
{
  const tb_ros2_graph_snapshot_t *snapshot = observe->snapshot;
  size_t begun = 0, left_out = 0;
  observe_topic_t **at = &observe->topics;
  const char *before = "";
  observe->has_more = false;
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    if (endpoint->kind != TB_ROS2_ENDPOINT_TOPIC || !endpoint->is_publisher ||
        strcmp(endpoint->name, before) == 0 || strcmp(endpoint->name, CLOCK_TOPIC) == 0 ||
        is_own(observe, endpoint) || !is_wanted(observe, endpoint->name))
      continue;
    before = endpoint->name;
    while (*at && strcmp((*at)->name, endpoint->name) < 0)
      at = &(*at)->next;
    if (*at && strcmp((*at)->name, endpoint->name) == 0) continue;
    if (observe->topic_count >= observe->topics_max) {
      left_out++;
      continue;
    }
    if (begun == READERS_PER_STEP) {
      observe->has_more = true;
      continue;
    }
    observe_topic_t *topic = topic_create(observe, endpoint);
    if (!topic) continue;
    topic->next = *at;
    *at = topic;
    observe->topic_count++;
    begun++;
    topic_begin(topic, endpoint);
  }
  observe->left_out = left_out;
}

/* The verdict of the reader, and the definition that it is to read by now. */
static void step_definition(observe_topic_t *topic)
{
  char why[sizeof topic->why];
  pthread_mutex_lock(&topic->lock);
  observe_verdict_t verdict = topic->verdict;
  const tb__known_definition_t *checked = topic->checked;
  topic->verdict = OBSERVE_UNCHECKED;
  memcpy(why, topic->why, sizeof why);
  pthread_mutex_unlock(&topic->lock);
  if (!topic->entry) return;
  if (verdict != OBSERVE_UNCHECKED)
    (void)tb__definition_entry_checked(topic->entry, checked, verdict == OBSERVE_FITS, why);
  const tb__known_definition_t *now = tb__definition_entry_known(topic->entry);
  pthread_mutex_lock(&topic->lock);
  if (topic->verdict == OBSERVE_UNCHECKED && topic->known != now) {
    topic->known = now;
    topic->must_check = now && !tb__definition_entry_is_confirmed(topic->entry);
  }
  pthread_mutex_unlock(&topic->lock);
}

/* Names stay when publishers have gone. */
static void name_publishers(observe_topic_t *topic, const tb_ros2_graph_snapshot_t *snapshot)
{
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  const observe_stream_t *unnamed = topic->streams;
  while (unnamed && unnamed->node)
    unnamed = unnamed->next;
  if (!unnamed) return;
  size_t count = tb_ros2_graph_publishers(snapshot, topic->name, &publishers);
  for (observe_stream_t *stream = topic->streams; stream; stream = stream->next)
    for (size_t i = 0; i < count && !stream->node; i++)
      if (publishers[i].node >= 0 && memcmp(publishers[i].guid, stream->guid, 16) == 0)
        stream->node = strdup(snapshot->nodes[publishers[i].node].full_name);
}

/* Those of publishers that have gone, when room is short. */
static void drop_gone_streams(observe_topic_t *topic, const tb_ros2_graph_snapshot_t *snapshot)
{
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  size_t count = tb_ros2_graph_publishers(snapshot, topic->name, &publishers);
  for (observe_stream_t **at = &topic->streams; *at;) {
    observe_stream_t *stream = *at;
    bool is_there = false;
    for (size_t i = 0; i < count; i++)
      is_there |= memcmp(publishers[i].guid, stream->guid, 16) == 0;
    if (is_there) {
      at = &stream->next;
      continue;
    }
    *at = stream->next;
    stream_free(stream);
    atomic_fetch_sub(&topic->of->stream_count, 1);
  }
}

/* True: there is a new snapshot. */
static bool refresh(observe_t *observe)
{
  const tb_ros2_graph_snapshot_t *snapshot = NULL;
  if (observe->snapshot && tb_ros2_graph_changes(observe->graph) == observe->snapshot->change)
    return false;
  if (tb_ros2_graph_snapshot(observe->graph, &snapshot, NULL)) return false;
  tb_ros2_graph_snapshot_release(observe->snapshot);
  observe->snapshot = snapshot;
  return true;
}

void observe_step(observe_t *observe)
{
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  if (refresh(observe)) observe->has_more = true;
  if (!observe->snapshot) return;
  bool has_clock = tb_ros2_graph_publishers(observe->snapshot, CLOCK_TOPIC, &publishers) > 0;
  pthread_mutex_lock(&observe->clock.lock);
  observe->clock.is_expected |= has_clock;
  tb__stamp_limits_t limits = stamp_limits(&observe->clock);
  pthread_mutex_unlock(&observe->clock.lock);
  if (observe->has_more) add_topics(observe);
  definition_requests_step(observe->requests, observe->snapshot, observe_steady_now(observe));
  observe_hosts_step(observe, observe_steady_now(observe));
  bool is_full = atomic_load(&observe->stream_count) >= OBSERVE_STREAMS_MAX;
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next) {
    step_definition(topic);
    pthread_mutex_lock(&topic->lock);
    name_publishers(topic, observe->snapshot);
    if (is_full) drop_gone_streams(topic, observe->snapshot);
    for (observe_stream_t *stream = topic->streams; stream; stream = stream->next) {
      stream->is.stamps.limits = limits;
      observe_ahead_settle_locked(observe, stream, false);
    }
    pthread_mutex_unlock(&topic->lock);
  }
}

/* Of the last second, as time may run at another factor than before. */
static void end_second_of_clock(observe_clock_t *clock)
{
  pthread_mutex_lock(&clock->lock);
  const tb__tick_stream_t *all = &clock->ticks.all;
  double took_ns = (double)(all->run_arrival_ns - clock->run_arrival_ns);
  if (took_ns > 0) {
    clock->factor_now = (double)(all->run_ns - clock->run_ns) / took_ns;
    clock->rate_now = (double)(all->run_steps - clock->run_steps) * 1e9 / took_ns;
  }
  clock->run_ns = all->run_ns;
  clock->run_arrival_ns = all->run_arrival_ns;
  clock->run_steps = all->run_steps;
  pthread_mutex_unlock(&clock->lock);
}

observe_pace_t observe_pace_begin(const observe_t *observe)
{
  return (observe_pace_t){observe->begin_ns, observe->begin_ns + TB_NS_PER_S};
}

bool observe_keep_pace(observe_t *observe, observe_pace_t *pace)
{
  int64_t now_ns = observe_steady_now(observe);
  if (now_ns >= pace->step_ns) {
    observe_step(observe);
    pace->step_ns += STEP_NS;
    if (now_ns > pace->step_ns + TB_NS_PER_S) pace->step_ns = now_ns; /* stopped, as by Ctrl-Z */
  }
  if (now_ns < pace->second_ns) return false;
  pace->second_ns += (now_ns - pace->second_ns) / TB_NS_PER_S * TB_NS_PER_S + TB_NS_PER_S;
  end_second_of_clock(&observe->clock);
  observe_end_second(observe);
  return true;
}

void observe_end(observe_t *observe)
{
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next) {
    pthread_mutex_lock(&topic->lock);
    for (observe_stream_t *stream = topic->streams; stream; stream = stream->next)
      observe_ahead_settle_locked(observe, stream, true);
    pthread_mutex_unlock(&topic->lock);
  }
}

void observe_restart_counts(observe_t *observe)
{
  for (observe_topic_t *topic = observe->topics; topic; topic = topic->next) {
    pthread_mutex_lock(&topic->lock);
    for (observe_stream_t *stream = topic->streams; stream; stream = stream->next) {
      tb__stamp_limits_t limits = stream->is.stamps.limits;
      tb__topic_stream_init(&stream->is, &limits);
      stream->shown_arrivals = 0;
      memset(stream->noted, 0, sizeof stream->noted);
    }
    topic->messages = topic->malformed = topic->unattributed = 0;
    pthread_mutex_unlock(&topic->lock);
  }
}

/* --- all of it --- */

static int clock_open(observe_t *observe)
{
  observe_clock_t *clock = &observe->clock;
  tb__definition_entry_t *entry = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb__ticks_init(&clock->ticks, NULL, true);
  tb_status_t status =
      tb__definitions_get(observe->built_in, &(tb__definition_key_t){.type = CLOCK_TYPE}, &entry);
  if (!status) {
    clock->schema = tb__definition_entry_known(entry)->schema;
    status = tb__field_path_create(clock->schema, "clock", &clock->path, &error);
  }
  if (!status)
    status = subscribe(observe, CLOCK_TOPIC, CLOCK_TYPE, TB_QOS_BEST_EFFORT, false, on_tick,
                       observe, &clock->subscription, &error);
  return status ? command_failed(observe->command, status, &error) : EXIT_OK;
}

int observe_open(observe_t *observe, int domain, const char *const *folders, size_t folder_count)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb__definition_places_t places = {getenv("AMENT_PREFIX_PATH"), folders, folder_count};
  options.has_domain_id = domain >= 0;
  options.domain_id = domain >= 0 ? domain : 0;
  pthread_mutex_init(&observe->clock.lock, NULL);
  tb_status_t status = tb_steady_clock_create(&observe->steady);
  if (!status)
    status = tb_clock_create(&(tb_clock_options_t){TB_TIME_SYSTEM, NULL}, &observe->system);
  if (!status) status = tb__definitions_create(&places, &observe->definitions);
  if (!status)
    status =
        tb__definitions_create(&(tb__definition_places_t){.prefixes = NULL}, &observe->built_in);
  if (!status) status = tb_ros2_context_create(&options, &observe->context, &error);
  if (!status) status = tb_ros2_graph_create(observe->context, &observe->graph, &error);
  if (!status) {
    observe->requests = definition_requests_create(observe->context, observe->definitions);
    if (!observe->requests) status = TB_ERR_NO_MEMORY;
  }
  if (status) return command_failed(observe->command, status, &error);
  observe->begin_ns = observe->shown_ns = observe_steady_now(observe);
  return clock_open(observe);
}

void observe_close(observe_t *observe)
{
  observe_hosts_close(observe);
  tb_ros2_subscription_destroy(observe->clock.subscription);
  while (observe->topics) {
    observe_topic_t *topic = observe->topics;
    observe->topics = topic->next;
    topic_destroy(topic);
  }
  definition_requests_destroy(observe->requests);
  tb_ros2_graph_snapshot_release(observe->snapshot);
  tb_ros2_graph_destroy(observe->graph);
  tb_ros2_context_destroy(observe->context);
  tb__field_path_destroy(observe->clock.path);
  tb__definitions_destroy(observe->definitions);
  tb__definitions_destroy(observe->built_in);
  tb_clock_destroy(observe->system);
  tb_steady_clock_destroy(observe->steady);
  pthread_mutex_destroy(&observe->clock.lock);
}
