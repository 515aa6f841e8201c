#include "contract/recording.h"

#include <stdlib.h>
#include <string.h>

#include "definition/parse.h"

#define NS_PER_S   INT64_C(1000000000)
#define NEAR_NS    (10 * NS_PER_S) /* publish times this near to log times are of the same clock */
#define EDGE_ARROW " -> "

enum { EDGE_SIZE = TB__FRAME_TEXT_MAX, ARROW_SIZE = sizeof EDGE_ARROW - 1 };

tb_status_t tb__recording_init(tb__recording_t *recording, const tb__manifest_t *manifest,
                               const tb__definition_places_t *places)
{
  memset(recording, 0, sizeof *recording);
  recording->manifest = manifest;
  recording->limits = manifest ? manifest->limits : tb__contract_limits_default();
  recording->frames.most = TB__RECORDING_STREAMS_MAX;
  recording->frames.most_of_topic = TB__RECORDING_FRAMES_MAX;
  tb__ticks_init(&recording->ticks, &recording->limits, true);
  tb__ticks_init(&recording->sent_ticks, &recording->limits, true);
  tb__definition_places_t none = {.prefixes = NULL};
  tb_status_t status = tb__tf_cover_init(&recording->cover, TB__RECORDING_TOPICS_MAX);
  if (!status) status = tb__definitions_create(places ? places : &none, &recording->definitions);
  return status;
}

static void fini_topic(tb__recorded_topic_t *topic)
{
  free(topic->name);
  free(topic->type);
  free(topic->oddity);
  free(topic->travel);
  free(topic->rest);
}

void tb__recording_fini(tb__recording_t *recording)
{
  for (uint32_t i = 0; i < recording->topic_count; i++)
    fini_topic(&recording->topics[i]);
  for (uint32_t i = 0; i < recording->frames.count; i++)
    free(recording->streams[i]);
  free(recording->topics);
  free(recording->streams);
  free(recording->log);
  tb__recording_made_fini(&recording->made);
  tb__frames_fini(&recording->frames);
  tb__definitions_destroy(recording->definitions);
  tb__tf_cover_fini(&recording->cover);
  memset(recording, 0, sizeof *recording);
}

static bool is_named(const char *name, const char *wanted)
{
  if (*name == '/') name++;
  return strcmp(name, wanted) == 0;
}

static bool has_ros1_definition(const tb__recorded_topic_input_t *topic)
{
  return topic->definition_encoding &&
         strcmp(topic->definition_encoding, TB__MESSAGE_ROS1_ENCODING) == 0;
}

static bool is_ros1(const tb__recorded_topic_input_t *topic)
{
  return !topic->is_cdr && has_ros1_definition(topic);
}

static tb__recorded_role_t role_of(const tb__recorded_topic_input_t *topic)
{
  if (is_named(topic->name, "clock") &&
      tb__definition_is_of(topic->type, "rosgraph_msgs/msg/Clock"))
    return TB__RECORDED_CLOCK;
  const char *last = strrchr(topic->name, '/');
  last = last ? last + 1 : topic->name;
  if (tb__definition_is_of(topic->type, "tf2_msgs/msg/TFMessage"))
    return strcmp(last, "tf_static") == 0 ? TB__RECORDED_TF_STATIC : TB__RECORDED_TF;
  if (strcmp(last, "rosout") == 0 && strcmp(topic->type, "rcl_interfaces/msg/Log") == 0)
    return TB__RECORDED_LOG;
  return strncmp(topic->name, "/timebase/", 10) == 0 ? TB__RECORDED_OWN : TB__RECORDED_PLAIN;
}

/* Topics of which nothing is decoded have none, as those whose definition is of ROS 1 and whose
 * messages are of ROS 2: one of the two is wrong. */
static tb_status_t find_definition(tb__recording_t *recording,
                                   const tb__recorded_topic_input_t *input,
                                   tb__recorded_topic_t *topic)
{
  bool is_read = topic->is_ros1 || (topic->is_cdr && !has_ros1_definition(input));
  if (!is_read || topic->role == TB__RECORDED_CLOCK || topic->role == TB__RECORDED_OWN ||
      topic->role == TB__RECORDED_LOG || recording->topic_count >= TB__RECORDING_TOPICS_MAX)
    return TB_OK;
  tb__definition_key_t key = {.type = input->type,
                              .type_hash = input->type_hash,
                              .recorded = input->definition,
                              .recorded_encoding = input->definition_encoding};
  tb_status_t status = tb__definitions_get(recording->definitions, &key, &topic->definition);
  return status == TB_ERR_NO_MEMORY ? status : TB_OK;
}

static void take_declared(const tb__manifest_t *manifest, tb__recorded_topic_t *topic)
{
  const tb__manifest_topic_t *declared = tb__manifest_topic(manifest, topic->name, NULL);
  topic->limits = declared->limits;
  topic->budget_ns = declared->budget_ns;
  topic->rate_hz = declared->rate_hz;
}

static bool has_transforms(const tb__recorded_topic_t *topic)
{
  return topic->role == TB__RECORDED_TF || topic->role == TB__RECORDED_TF_STATIC;
}

/* The transforms of the namespace that a topic is in, the innermost one that has any. */
static void find_trees(tb__recording_t *recording)
{
  const tb__recorded_topic_t *added = &recording->topics[recording->topic_count - 1];
  bool is_tree = has_transforms(added);
  for (uint32_t i = is_tree ? 0 : recording->topic_count - 1; i < recording->topic_count; i++) {
    tb__recorded_topic_t *topic = &recording->topics[i];
    for (uint32_t k = 0; k < recording->topic_count; k++) {
      const char *tree = recording->topics[k].name;
      size_t length = has_transforms(&recording->topics[k]) ? tb__tf_tree_length(tree) : 0;
      if (length > topic->tree_length && tb__tf_tree_has(tree, length, topic->name))
        topic->tree_length = length;
    }
  }
}

tb_status_t tb__recording_add_topic(tb__recording_t *recording,
                                    const tb__recorded_topic_input_t *input, uint32_t *out)
{
  if (recording->topic_count == recording->topic_capacity) {
    uint32_t capacity = recording->topic_capacity ? 2 * recording->topic_capacity : 16;
    tb__recorded_topic_t *moved = realloc(recording->topics, capacity * sizeof *moved);
    if (!moved) return TB_ERR_NO_MEMORY;
    recording->topics = moved;
    recording->topic_capacity = capacity;
  }
  tb__recorded_topic_t topic = {.name = strdup(input->name),
                                .type = strdup(input->type),
                                .oddity = input->oddity ? strdup(input->oddity) : NULL,
                                .role = role_of(input),
                                .is_cdr = input->is_cdr,
                                .is_ros1 = is_ros1(input),
                                .is_latched = input->is_latched,
                                .offer_count = input->offer_count,
                                .limits = recording->limits,
                                .sent_last_ns = -1};
  tb_status_t status = topic.name && topic.type && (topic.oddity || !input->oddity)
                           ? find_definition(recording, input, &topic)
                           : TB_ERR_NO_MEMORY;
  if (status) {
    fini_topic(&topic);
    return status;
  }
  if (recording->manifest) take_declared(recording->manifest, &topic);
  if (topic.role == TB__RECORDED_CLOCK && input->message_count) recording->awaits_clock = true;
  if (recording->report)
    topic.pictures = tb__report_topic(recording->report, topic.name, topic.type);
  *out = recording->topic_count;
  recording->topics[recording->topic_count++] = topic;
  find_trees(recording);
  return TB_OK;
}

void tb__recording_note(tb__recording_t *recording, const char *key, const char *value)
{
  tb__recording_made_note(&recording->made, key, value);
  if (strncmp(key, "timebase_jump_", 14) == 0) recording->declares_ros_time = true;
  if (strcmp(key, TB__MANIFEST_CUSTOM_DATA) == 0) recording->has_manifest = true;
}

void tb__recording_begin_run(tb__recording_t *recording)
{
  if (recording->messages) recording->run_count++;
}

/* ROS time when a message came: as the ticks before it say, or 0 before the first one; as log times
 * do where there is no /clock. */
static int64_t ros_time_at(const tb__recording_t *recording, const tb__recorded_message_t *message)
{
  if (recording->has_clock) return recording->ticks.all.last_ns;
  if (recording->awaits_clock) return 0;
  int64_t log_ns = message->log_ns;
  /* Stamps are by the clock of the sender's host, which may be ahead of the recorder's. */
  bool is_same_clock = message->publish_ns > log_ns && message->publish_ns - log_ns < NEAR_NS;
  return is_same_clock ? message->publish_ns : log_ns;
}

static tb__stamp_limits_t limits_of(const tb__recording_t *recording,
                                    const tb__recorded_topic_t *topic)
{
  int64_t tick_ns = recording->has_clock ? recording->ticks.all.usual_step_ns : 0;
  tb__stamp_limits_t limits = tb__stamp_limits(&topic->limits, tick_ns, topic->budget_ns);
  if (recording->has_clock && tick_ns == 0) limits.future_ns = recording->limits.stall_ns;
  if (topic->role == TB__RECORDED_TF) limits.future_ns += TB__TF_FUTURE_NS;
  if (topic->is_latched) limits.old_ns = INT64_MAX;
  return limits;
}

/* NULL: no memory. */
static tb__recorded_stream_t *make_stream(tb__recording_t *recording, uint32_t number,
                                          uint32_t frame)
{
  tb__recorded_stream_t *stream = calloc(1, sizeof *stream);
  if (!stream) return NULL;
  tb__recorded_topic_t *topic = &recording->topics[number];
  tb__stamp_limits_t limits = limits_of(recording, topic);
  stream->topic = number;
  stream->frame = frame;
  tb__stamps_init(&stream->stamps, &limits);
  *(topic->newest ? &topic->newest->next : &topic->first) = stream;
  topic->newest = stream;
  return stream;
}

static bool is_of_frame(const tb__recording_t *recording, const tb__recorded_stream_t *stream,
                        const char *text, size_t length)
{
  if (!stream || stream->frame == UINT32_MAX || length > TB__FRAME_TEXT_MAX) return false;
  const tb__frame_t *frame = &recording->frames.frames[stream->frame];
  return frame->length == length && memcmp(frame->text, text, length) == 0;
}

/* NULL: no memory. */
static tb__recorded_stream_t *stream_of(tb__recording_t *recording, uint32_t number,
                                        const char *text, size_t length)
{
  tb__recorded_topic_t *topic = &recording->topics[number];
  uint32_t before = recording->frames.count, frame;
  if (is_of_frame(recording, topic->last, text, length)) return topic->last;
  if (recording->stream_capacity == before) {
    uint32_t capacity = before ? 2 * before : 16;
    tb__recorded_stream_t **moved = realloc(recording->streams, capacity * sizeof *moved);
    if (!moved) return NULL;
    recording->streams = moved;
    memset(moved + before, 0, (capacity - before) * sizeof *moved);
    recording->stream_capacity = capacity;
  }
  tb_status_t status =
      tb__frames_find(&recording->frames, number, &topic->frame_count, text, length, &frame);
  if (status == TB_ERR_NO_MEMORY) return NULL;
  if (status) {
    if (!topic->rest) topic->rest = make_stream(recording, number, UINT32_MAX);
    return topic->rest;
  }
  if (frame == before) recording->streams[frame] = NULL;
  if (!recording->streams[frame]) recording->streams[frame] = make_stream(recording, number, frame);
  topic->last = recording->streams[frame];
  return topic->last;
}

static const tb__epoch_t *epoch_of(const tb__recording_t *recording)
{
  return recording->has_clock ? &recording->ticks.all.epoch : &recording->log_epoch;
}

static tb_status_t take_stamp(tb__recording_t *recording, const tb__recorded_message_t *message,
                              const char *frame, size_t length, int64_t stamp_ns,
                              tb__stamp_kind_t *out)
{
  const tb__recorded_topic_t *topic = &recording->topics[message->topic];
  tb__recorded_stream_t *stream = stream_of(recording, message->topic, frame, length);
  if (!stream) return TB_ERR_NO_MEMORY;
  if (recording->has_clock) stream->stamps.limits.future_ns = limits_of(recording, topic).future_ns;
  tb__stamp_sample_t sample = {
      .has_stamp = true,
      .stamp_ns = stamp_ns,
      .ros_ns = ros_time_at(recording, message),
      .system_ns = message->publish_ns > 0 ? message->publish_ns : message->log_ns,
      .arrival_ns = message->log_ns,
      .epoch = *epoch_of(recording),
  };
  tb__stamp_kind_t kind = tb__stamps_feed(&stream->stamps, &sample);
  bool is_aged = kind == TB__STAMP_GOOD || kind == TB__STAMP_OLD || kind == TB__STAMP_FUTURE;
  if (is_aged && (!recording->has_age || sample.ros_ns - stamp_ns > recording->age_ns)) {
    recording->has_age = true;
    recording->age_ns = sample.ros_ns - stamp_ns;
  }
  *out = kind;
  return TB_OK;
}

/* Of ROS time, as it is now: the others would be out of place in a buffer of transforms. */
static bool is_of_this_time(tb__recording_t *recording, tb__stamp_kind_t kind)
{
  uint32_t epoch = epoch_of(recording)->number;
  if (epoch != recording->cover_epoch) tb__tf_cover_clear(&recording->cover);
  recording->cover_epoch = epoch;
  return kind == TB__STAMP_GOOD || kind == TB__STAMP_OLD || kind == TB__STAMP_FUTURE;
}

typedef struct edge_taker {
  tb__recording_t *recording;
  const tb__recorded_message_t *message;
  tb_status_t status;
} edge_taker_t;

/* "odom -> base", cut where it is too long. */
static size_t name_edge(const tb__tf_transform_t *edge, char out[EDGE_SIZE])
{
  size_t half = (EDGE_SIZE - ARROW_SIZE) / 2;
  size_t parent = edge->parent_length < half ? edge->parent_length : half;
  size_t child = edge->child_length < half ? edge->child_length : half;
  memcpy(out, edge->parent, parent);
  memcpy(out + parent, EDGE_ARROW, ARROW_SIZE);
  memcpy(out + parent + ARROW_SIZE, edge->child, child);
  return parent + ARROW_SIZE + child;
}

static bool take_edge(void *user, const tb__edge_t *edge)
{
  edge_taker_t *taker = user;
  tb__recording_t *recording = taker->recording;
  const tb__recorded_topic_t *topic = &recording->topics[taker->message->topic];
  bool is_static = topic->role == TB__RECORDED_TF_STATIC;
  tb__tf_tree_names_t names;
  tb__tf_transform_t transform =
      tb__tf_tree_transform(topic->name, topic->tree_length, edge, &names);
  transform.received_ns = taker->message->log_ns;
  transform.is_static = is_static;
  if (!is_static) {
    char text[EDGE_SIZE];
    tb__stamp_kind_t kind;
    taker->status = take_stamp(recording, taker->message, text, name_edge(&transform, text),
                               edge->stamp_ns, &kind);
    if (taker->status || !is_of_this_time(recording, kind)) return taker->status == TB_OK;
  }
  taker->status = tb__tf_cover_transform(&recording->cover, &transform);
  return taker->status == TB_OK;
}

static tb_status_t take_edges(tb__recording_t *recording, const tb__recorded_message_t *message,
                              const tb__message_t *opened)
{
  tb__recorded_topic_t *topic = &recording->topics[message->topic];
  edge_taker_t taker = {recording, message, TB_OK};
  if (tb__edge_paths_each(&topic->known->edges, opened, take_edge, &taker)) topic->unreadable++;
  return taker.status;
}

static tb_status_t take_header(tb__recording_t *recording, const tb__recorded_message_t *message,
                               const tb__message_t *opened)
{
  tb__recorded_topic_t *topic = &recording->topics[message->topic];
  const tb__message_head_t *head = &topic->known->head;
  int64_t stamp_ns;
  const char *frame;
  size_t length;
  if (!head->stamp) return TB_OK;
  if (tb__message_head_stamp(head, opened, &stamp_ns)) {
    topic->unreadable++;
    return TB_OK;
  }
  if (tb__message_head_frame(head, opened, &frame, &length)) {
    frame = "";
    length = 0;
  }
  tb__stamp_kind_t kind;
  tb_status_t status = take_stamp(recording, message, frame, length, stamp_ns, &kind);
  if (status || topic->is_latched || !is_of_this_time(recording, kind)) return status;
  char name[TB__TF_TREE_FRAME_SIZE];
  length = tb__tf_tree_frame(topic->name, topic->tree_length, frame, length, name);
  return tb__tf_cover_message(&recording->cover, message->topic, name, length, stamp_ns,
                              message->log_ns);
}

/* The definition is chosen by the first message that fits one. */
static tb_status_t take_data(tb__recording_t *recording, const tb__recorded_message_t *message)
{
  tb__recorded_topic_t *topic = &recording->topics[message->topic];
  tb__message_t opened;
  if (!topic->definition || !message->data) return TB_OK;
  if (!topic->known)
    topic->known = tb__definition_entry_fit(topic->definition, message->data, message->size);
  if (!topic->known) return TB_OK;
  if (tb__message_open(&opened, topic->known->schema, message->data, message->size)) {
    topic->unreadable++;
    return TB_OK;
  }
  return topic->role == TB__RECORDED_PLAIN ? take_header(recording, message, &opened)
                                           : take_edges(recording, message, &opened);
}

static uint32_t number_at(const uint8_t *bytes, bool is_little)
{
  uint32_t number = 0;
  for (int i = 0; i < 4; i++)
    number |= (uint32_t)bytes[i] << (8 * (is_little ? i : 3 - i));
  return number;
}

/* A rosgraph_msgs/Clock: the encapsulation (not in ROS 1) and a time, which may be invalid. False:
 * it is none. */
static bool read_tick(const tb__recorded_message_t *message, bool is_ros1, int64_t *out_ns)
{
  const uint8_t *bytes = message->data;
  if (is_ros1) {
    if (!bytes || message->size != 8) return false;
    *out_ns = tb__time_of_fields(number_at(bytes, true), number_at(bytes + 4, true));
    return true;
  }
  if (!bytes || message->size < 12 || bytes[0] != 0 || bytes[1] > 1) return false;
  *out_ns =
      tb__time_of_fields((int32_t)number_at(bytes + 4, bytes[1]), number_at(bytes + 8, bytes[1]));
  return true;
}

static bool is_near(int64_t a_ns, int64_t b_ns)
{
  int64_t off_ns;
  return !__builtin_sub_overflow(a_ns, b_ns, &off_ns) && off_ns < NS_PER_S && off_ns > -NS_PER_S;
}

static void take_tick(tb__recording_t *recording, const tb__recorded_message_t *message)
{
  tb__recorded_topic_t *topic = &recording->topics[message->topic];
  int64_t tick_ns;
  if ((!topic->is_cdr && !topic->is_ros1) || !read_tick(message, topic->is_ros1, &tick_ns)) {
    topic->unreadable++;
    return;
  }
  if (tick_ns == 0) {
    if (recording->has_clock) recording->late_zeros++;
  } else if (tick_ns > 0) {
    if (!recording->has_clock) recording->clock_first_log_ns = message->log_ns;
    recording->has_clock = true;
    tb__spread_add(&recording->tick_off, message->log_ns - tick_ns);
  }
  tb__tick_kind_t kind = tb__ticks_feed(&recording->ticks, 0, tick_ns, message->log_ns);
  if (recording->report) tb__report_tick(recording->report, message->log_ns, tick_ns, kind);
  if (message->publish_ns > 0)
    tb__ticks_feed(&recording->sent_ticks, 0, tick_ns, message->publish_ns);
}

static tb_status_t note_sending(tb__recording_t *recording, tb__recorded_topic_t *topic,
                                const tb__recorded_message_t *message)
{
  if (message->publish_ns <= 0 || message->topic >= TB__RECORDING_TOPICS_MAX) return TB_OK;
  recording->sent_known++;
  if (message->publish_ns == message->log_ns) recording->sent_same++;
  if (!topic->travel) topic->travel = calloc(1, sizeof *topic->travel);
  if (!topic->travel) return TB_ERR_NO_MEMORY;
  tb__spread_add(topic->travel, message->log_ns - message->publish_ns);
  if (message->publish_ns < topic->sent_last_ns) topic->sent_backward++;
  topic->sent_last_ns = message->publish_ns;
  return TB_OK;
}

static void note_silence(tb__recording_t *recording, int64_t log_ns)
{
  int64_t silence_ns = log_ns - recording->last_log_ns;
  if (recording->last_log_ns == 0 || silence_ns <= recording->silence_ns) return;
  recording->silence_ns = silence_ns;
  recording->silence_at_ns = recording->last_log_ns;
}

/* Messages come in the order of log times: those that were written before one that has come already
 * are of the time before log times were set back. */
static void note_place(tb__recorded_topic_t *topic, const tb__recorded_message_t *message)
{
  if (message->place >= topic->last_place) {
    topic->last_place = message->place;
    topic->last_place_ns = message->log_ns;
    return;
  }
  if (message->place > topic->turn_place) {
    topic->turn_place = topic->last_place;
    topic->turn_ns = topic->last_place_ns;
  }
  if (message->log_ns - topic->turn_ns <= topic->back_ns) return;
  topic->back_ns = message->log_ns - topic->turn_ns;
  topic->back_at_ns = message->log_ns;
}

static void note_log_time(tb__recording_t *recording, tb__recorded_topic_t *topic, int64_t log_ns)
{
  if (recording->messages == 0 || log_ns < recording->start_ns) recording->start_ns = log_ns;
  if (recording->messages == 0 || log_ns > recording->end_ns) recording->end_ns = log_ns;
  if (recording->messages && log_ns < recording->last_log_ns)
    recording->log_epoch =
        (tb__epoch_t){recording->log_epoch.number + 1, recording->last_log_ns, log_ns};
  if (log_ns == 0)
    recording->log_zeros++;
  else if (topic->role != TB__RECORDED_OWN)
    note_silence(recording, log_ns);
  recording->last_log_ns = log_ns;
  recording->messages++;
  if (topic->messages++ == 0) {
    topic->first_ns = log_ns;
  } else {
    if (topic->gap.count == 0 || log_ns - topic->last_ns > topic->gap.max_ns)
      topic->gap_at_ns = topic->last_ns;
    tb__moments_add(&topic->gap, log_ns - topic->last_ns);
  }
  topic->last_ns = log_ns;
}

/* The recorder's own: a std_msgs/String. */
static void take_own(tb__recording_t *recording, const tb__recorded_topic_t *topic,
                     const tb__recorded_message_t *message)
{
  const uint8_t *bytes = message->data;
  tb__point_t point;
  if (strcmp(topic->name, TB__MANIFEST_TOPIC) == 0) recording->has_manifest = true;
  if (strcmp(topic->name, TB__POINTS_TOPIC) != 0 || !bytes || message->size < 8) return;
  uint32_t length = number_at(bytes + 4, bytes[1] == 1);
  if (length == 0 || length > message->size - 8) return;
  if (!tb__point_parse((const char *)bytes + 8, length - 1, &point)) return;
  if (is_near(message->log_ns, point.system_ns))
    recording->by_points = TB__LOG_TIME_RECEIVED;
  else if (point.has_ros && is_near(message->log_ns, point.ros_ns))
    recording->by_points = TB__LOG_TIME_ROS;
}

static tb_status_t take_log(tb__recording_t *recording, tb__recorded_topic_t *topic,
                            const tb__recorded_message_t *message)
{
  if (!recording->log) recording->log = calloc(1, sizeof *recording->log);
  if (!recording->log) return TB_ERR_NO_MEMORY;
  if (!topic->is_cdr ||
      !tb__recording_log_take(recording->log, message->data, message->size, message->log_ns))
    topic->unreadable++;
  return TB_OK;
}

tb_status_t tb__recording_take(tb__recording_t *recording, const tb__recorded_message_t *message)
{
  if (message->topic >= recording->topic_count || message->log_ns < 0) return TB_ERR_INVALID;
  tb__recorded_topic_t *topic = &recording->topics[message->topic];
  note_log_time(recording, topic, message->log_ns);
  note_place(topic, message);
  if (topic->role == TB__RECORDED_OWN) take_own(recording, topic, message);
  topic->bytes += message->size;
  tb_status_t status = note_sending(recording, topic, message);
  tb_status_t taken = TB_OK;
  recording->has_age = false;
  if (topic->role == TB__RECORDED_LOG)
    taken = take_log(recording, topic, message);
  else if (topic->role != TB__RECORDED_CLOCK)
    taken = take_data(recording, message);
  if (recording->report)
    tb__report_message(recording->report, topic->pictures, message->log_ns,
                       recording->has_age ? &recording->age_ns : NULL);
  if (topic->role == TB__RECORDED_CLOCK) take_tick(recording, message);
  return status ? status : taken;
}

const tb__recorded_topic_t *tb__recording_topic(const tb__recording_t *recording, const char *name)
{
  if (*name == '/') name++;
  for (uint32_t i = 0; i < recording->topic_count; i++)
    if (is_named(recording->topics[i].name, name)) return &recording->topics[i];
  return NULL;
}

const char *tb__recorded_stream_frame(const tb__recording_t *recording,
                                      const tb__recorded_stream_t *stream)
{
  return stream->frame == UINT32_MAX ? NULL : recording->frames.frames[stream->frame].text;
}

bool tb__recorded_topic_is_sensor(const tb__recorded_topic_t *topic)
{
  static const char *const types[] = {"Image",       "CompressedImage", "PointCloud",
                                      "PointCloud2", "LaserScan",       "MultiEchoLaserScan",
                                      "Imu",         "MagneticField",   "Range"};
  static const char package[] = "sensor_msgs/msg/";
  if (strncmp(topic->type, package, sizeof package - 1) != 0) return false;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(topic->type + sizeof package - 1, types[i]) == 0) return true;
  return false;
}
