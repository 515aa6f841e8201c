/* What the statistics of a recording say is wrong. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "contract/durations.h"
#include "contract/recording_judge.h"
#include "contract/tf_findings.h"
#include "definition/parse.h"

/* Ticks and messages of best effort come out of order by a little, more of them on a busy machine:
 * so few stamps a little ahead of ROS time are no fault of the stamps. */
#define FUTURE_AT_LEAST 3
#define FUTURE_SHARE    100 /* one of so many */
#define DISORDER_SHARE  20  /* the same, if all of them are ahead by less than this */
#define DISORDER_NS     (100 * TB_NS_PER_MS)

/* An edge whose stamps are by turns before each other has two publishers: so many steps back, and
 * one of so many stamps. */
#define TURNS_AT_LEAST 10
#define TURNS_SHARE    10

/* Fewer messages have no rate. */
#define RATE_AT_LEAST 10

/* Ages that are always the same, and long: the stamps are of another clock, or of another day. */
#define SHIFT_AT_LEAST  10
#define SHIFT_LEAST_NS  INT64_C(60000000000)
#define SHIFT_SPREAD_NS INT64_C(1000000000)

/* Log messages are kept for 10 s for who comes later: so far behind they may be without a fault of
 * the host's clock. */
#define LOG_BEHIND_NS INT64_C(15000000000)

typedef tb__recording_judge_t judge_t;

static const char *name_of(const judge_t *judge, const tb__recorded_stream_t *stream)
{
  return judge->recording->topics[stream->topic].name;
}

void tb__recording_judge_add(judge_t *judge, const tb__finding_input_t *input, const char *format,
                             ...)
{
  char line[TB__FINDING_LINE_SIZE];
  va_list args;
  const tb__manifest_t *manifest = judge->recording->manifest;
  if (manifest && tb__manifest_off_reason(manifest, input->rule, input->subject) &&
      !tb__findings_switched_off(judge->findings, input->rule, NULL))
    return;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  tb_status_t status = tb__findings_add(judge->findings, input, "%s", line);
  if (!judge->status) judge->status = status;
}

/* "frame 'laser': ", or "" for messages without a frame. */
static const char *frame_text(const judge_t *judge, const tb__recorded_stream_t *stream, char *out,
                              size_t size)
{
  const char *frame = tb__recorded_stream_frame(judge->recording, stream);
  bool is_edge = judge->recording->topics[stream->topic].role == TB__RECORDED_TF;
  *out = '\0';
  if (!frame)
    snprintf(out, size, "further frames: ");
  else if (*frame)
    snprintf(out, size, "%s%s: ", is_edge ? "" : "frame ", frame);
  return out;
}

static const char *clock_cause(const judge_t *judge)
{
  return judge->recording->has_clock ? "/clock" : NULL;
}

static void add_stream(judge_t *judge, tb__rule_id_t rule, tb__severity_t severity,
                       const tb__recorded_stream_t *stream, const char *cause, const char *text,
                       const char *detail)
{
  char frame[TB__FRAME_TEXT_MAX + 16];
  tb__finding_input_t input = {.rule = rule,
                               .severity = severity,
                               .kind = TB__SUBJECT_TOPIC,
                               .subject = name_of(judge, stream),
                               .cause = cause,
                               .detail = detail};
  tb__recording_judge_add(judge, &input, "%s%s", frame_text(judge, stream, frame, sizeof frame),
                          text);
}

/* "12 of 100 stamps WHAT 5.000 s, the first at 1700000000.123 (stamp 1699999990.123)". */
static void add_excess(judge_t *judge, tb__rule_id_t rule, tb__severity_t severity,
                       const tb__recorded_stream_t *stream, tb__stamp_kind_t kind,
                       const char *cause, const char *what)
{
  const tb__stamps_t *stamps = &stream->stamps;
  const tb__stamp_excess_t *excess = &stamps->excess[kind];
  char text[TB__FINDING_LINE_SIZE];
  snprintf(text, sizeof text, "%llu of %llu stamps %s up to %s, first at %s (stamp %s)",
           (unsigned long long)stamps->kinds[kind],
           (unsigned long long)(stamps->arrivals - stamps->kinds[TB__STAMP_NONE]), what,
           tb__duration_text(excess->greatest_ns).text, tb__moment_text(excess->at_ns).text,
           tb__moment_text(excess->stamp_ns).text);
  add_stream(judge, rule, severity, stream, cause, text, NULL);
}

/* Markers and commands use 0 for "whenever" or "now". */
static bool may_be_zero(const tb__recorded_topic_t *topic)
{
  static const char *const packages[] = {"visualization_msgs/", "trajectory_msgs/", "moveit_msgs/"};
  for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
    if (strncmp(topic->type, packages[i], strlen(packages[i])) == 0) return true;
  return topic->is_latched;
}

static void judge_zero(judge_t *judge, const tb__recorded_stream_t *stream)
{
  const tb__stamps_t *stamps = &stream->stamps;
  char text[TB__FINDING_LINE_SIZE];
  if (stamps->kinds[TB__STAMP_ZERO] == 0 || may_be_zero(&judge->recording->topics[stream->topic]))
    return;
  int64_t at_ns = stamps->excess[TB__STAMP_ZERO].at_ns;
  snprintf(text, sizeof text, "%llu of %llu stamps are 0, %s%s",
           (unsigned long long)stamps->kinds[TB__STAMP_ZERO],
           (unsigned long long)(stamps->arrivals - stamps->kinds[TB__STAMP_NONE]),
           at_ns ? "first at " : "first before /clock began",
           at_ns ? tb__moment_text(at_ns).text : "");
  add_stream(judge, TB__RULE_STAMP_ZERO, 0, stream, NULL, text, NULL);
}

static void judge_invalid(judge_t *judge, const tb__recorded_stream_t *stream)
{
  char text[TB__FINDING_LINE_SIZE];
  if (tb__stamps_invalid_text(&stream->stamps, text, sizeof text))
    add_stream(judge, TB__RULE_STAMP_INVALID, 0, stream, NULL, text, NULL);
}

static void judge_domain(judge_t *judge, const tb__recorded_stream_t *stream, bool lacks_clock)
{
  const tb__stamps_t *stamps = &stream->stamps;
  if (stamps->kinds[TB__STAMP_SYSTEM])
    add_excess(judge, TB__RULE_STAMP_OTHER_DOMAIN, 0, stream, TB__STAMP_SYSTEM, NULL,
               "are system time: they fit it, and are off ROS time by");
  if (stamps->kinds[TB__STAMP_FAR] && !lacks_clock)
    add_excess(judge, TB__RULE_STAMP_OTHER_DOMAIN, 0, stream, TB__STAMP_FAR, NULL,
               "are of no time of the recording: off by");
}

/* As far as log times can tell: those that are no system time tell nothing. */
static bool logger_is_right(const judge_t *judge, const tb__recorded_logger_t *logger)
{
  tb__log_time_t log_time = judge->recording->provenance.log_time;
  bool is_system = log_time == TB__LOG_TIME_RECEIVED || log_time == TB__LOG_TIME_SENT ||
                   log_time == TB__LOG_TIME_SYSTEM;
  return !is_system || (logger->least_ns < LOG_BEHIND_NS &&
                        logger->greatest_ns > -judge->recording->limits.future_ns);
}

static bool is_shifted(const tb__stamps_t *stamps)
{
  const tb__moments_t *age = &stamps->age.moments;
  return age->count >= SHIFT_AT_LEAST && stamps->kinds[TB__STAMP_OLD] == age->count &&
         age->min_ns >= SHIFT_LEAST_NS && age->max_ns - age->min_ns <= SHIFT_SPREAD_NS;
}

/* A logger on a host whose clock is behind by as much; NULL: there is none. */
static const char *logger_of_shift(const judge_t *judge, const tb__moments_t *age)
{
  const tb__recording_log_t *log = judge->recording->log;
  for (size_t i = 0; log && i < log->logger_count; i++) {
    const tb__recorded_logger_t *logger = &log->loggers[i];
    if (logger_is_right(judge, logger) || logger->least_ns > age->max_ns + SHIFT_SPREAD_NS ||
        logger->least_ns < age->min_ns - SHIFT_SPREAD_NS)
      continue;
    return logger->name;
  }
  return NULL;
}

static void add_shift(judge_t *judge, const tb__recorded_stream_t *stream)
{
  const tb__stamps_t *stamps = &stream->stamps;
  const tb__moments_t *age = &stamps->age.moments;
  char text[TB__FINDING_LINE_SIZE];
  const char *logger = logger_of_shift(judge, age);
  snprintf(text, sizeof text,
           "all %llu stamps are %s behind, always the same to %s, first at %s (stamp %s)%s",
           (unsigned long long)age->count, tb__duration_text(age->min_ns).text,
           tb__duration_text(age->max_ns - age->min_ns).text,
           tb__moment_text(stamps->excess[TB__STAMP_OLD].at_ns).text,
           tb__moment_text(stamps->excess[TB__STAMP_OLD].stamp_ns).text,
           logger ? ""
                  : ": played from an older recording without its /clock, or by a clock that "
                    "was not set");
  add_stream(judge, TB__RULE_STAMP_OLD, 0, stream, logger, text, NULL);
}

/* True: there is one, and it says all of the ages. */
static bool judge_offset(judge_t *judge, const tb__recorded_stream_t *stream)
{
  tb__stamp_offset_t offset;
  char text[TB__FINDING_LINE_SIZE];
  if (!tb__stamps_offset(&stream->stamps, &offset) ||
      (offset.by_ns < 0 && logger_of_shift(judge, &stream->stamps.age.moments)))
    return false;
  tb__stamps_offset_text(&stream->stamps, &offset, text, sizeof text);
  add_stream(judge, TB__RULE_STAMP_OFFSET, 0, stream, NULL, text, offset.remedy);
  return true;
}

static void judge_age(judge_t *judge, const tb__recorded_stream_t *stream)
{
  if (judge_offset(judge, stream)) return;
  const tb__stamps_t *stamps = &stream->stamps;
  const tb__contract_limits_t *limits = &judge->recording->topics[stream->topic].limits;
  uint64_t future = stamps->kinds[TB__STAMP_FUTURE];
  int64_t most_ns = stamps->excess[TB__STAMP_FUTURE].greatest_ns;
  bool is_far = -most_ns < limits->age_min_ns && most_ns > stamps->limits.future_ns;
  uint64_t share = most_ns < DISORDER_NS ? DISORDER_SHARE : FUTURE_SHARE;
  bool are_many = future >= FUTURE_AT_LEAST && future >= stamps->arrivals / share;
  if (future && (is_far || are_many))
    add_excess(judge, TB__RULE_STAMP_FUTURE, is_far ? TB__SEVERITY_ERROR : 0, stream,
               TB__STAMP_FUTURE, NULL, "are ahead of ROS time by");
  if (is_shifted(stamps))
    add_shift(judge, stream);
  else if (stamps->kinds[TB__STAMP_OLD])
    add_excess(judge, TB__RULE_STAMP_OLD, 0, stream, TB__STAMP_OLD, NULL, "have an age of");
}

/* All but one of a hundred messages are to be within the budget. */
static void judge_budget(judge_t *judge, const tb__recorded_stream_t *stream)
{
  const tb__recorded_topic_t *topic = &judge->recording->topics[stream->topic];
  int64_t most_ns = tb__spread_quantile(&stream->stamps.age, 0.99);
  char text[TB__FINDING_LINE_SIZE];
  if (topic->budget_ns == 0 || most_ns <= topic->budget_ns) return;
  snprintf(text, sizeof text, "ages are up to %s (99 %% of %llu), the budget is %s",
           tb__duration_text(most_ns).text, (unsigned long long)stream->stamps.age.moments.count,
           tb__duration_text(topic->budget_ns).text);
  add_stream(judge, TB__RULE_STAMP_OLD, 0, stream, NULL, text, NULL);
}

/* Stamps of several publishers are not in order, and a recording does not tell who sent what. */
static bool is_of_one_publisher(const judge_t *judge, const tb__recorded_stream_t *stream)
{
  const tb__recorded_topic_t *topic = &judge->recording->topics[stream->topic];
  if (topic->role == TB__RECORDED_TF) return stream->frame != UINT32_MAX; /* of each edge */
  return stream->frame != UINT32_MAX && topic->offer_count < 2 &&
         !tb__definition_is_of(topic->type, "diagnostic_msgs/msg/DiagnosticArray");
}

static bool is_edge_of_two(const judge_t *judge, const tb__recorded_stream_t *stream)
{
  const tb__stamps_t *stamps = &stream->stamps;
  return judge->recording->topics[stream->topic].role == TB__RECORDED_TF &&
         stamps->backward >= TURNS_AT_LEAST && stamps->backward >= stamps->arrivals / TURNS_SHARE;
}

static void judge_edge_of_two(judge_t *judge, const tb__recorded_stream_t *stream)
{
  const tb__stamps_t *stamps = &stream->stamps;
  tb__finding_input_t input = {.rule = TB__RULE_TF_TWO_PUBLISHERS,
                               .kind = TB__SUBJECT_FRAME,
                               .subject = tb__recorded_stream_frame(judge->recording, stream)};
  tb__recording_judge_add(
      judge, &input, "%llu of %llu stamps are before the one before, by up to %s",
      (unsigned long long)stamps->backward, (unsigned long long)stamps->arrivals,
      tb__duration_text(stamps->backward_ns).text);
}

static void judge_order(judge_t *judge, const tb__recorded_stream_t *stream)
{
  const tb__stamps_t *stamps = &stream->stamps;
  char text[TB__FINDING_LINE_SIZE];
  if (stream->frame != UINT32_MAX && is_edge_of_two(judge, stream)) {
    judge_edge_of_two(judge, stream);
  } else if (stamps->backward && is_of_one_publisher(judge, stream)) {
    snprintf(text, sizeof text, "%llu steps back, by up to %s, first at %s",
             (unsigned long long)stamps->backward, tb__duration_text(stamps->backward_ns).text,
             tb__moment_text(stamps->backward_at_ns).text);
    add_stream(judge, TB__RULE_STAMP_BACKWARD, 0, stream, NULL, text, NULL);
  }
  if (!stamps->kinds[TB__STAMP_STALE_EPOCH]) return;
  if (judge->recording->topics[stream->topic].role != TB__RECORDED_TF) {
    add_excess(judge, TB__RULE_STALE_EPOCH, 0, stream, TB__STAMP_STALE_EPOCH, clock_cause(judge),
               "are of the time before a jump back, ahead by");
    return;
  }
  tb__finding_input_t input = {.rule = TB__RULE_TF_OLD_EPOCH,
                               .kind = TB__SUBJECT_FRAME,
                               .subject = tb__recorded_stream_frame(judge->recording, stream),
                               .cause = clock_cause(judge)};
  if (!input.subject) input.subject = "further edges";
  const tb__stamp_excess_t *excess = &stamps->excess[TB__STAMP_STALE_EPOCH];
  tb__recording_judge_add(judge, &input, "%llu stamps, the first at %s (stamp %s)",
                          (unsigned long long)stamps->kinds[TB__STAMP_STALE_EPOCH],
                          tb__moment_text(excess->at_ns).text,
                          tb__moment_text(excess->stamp_ns).text);
}

/* Stamps of several publishers may repeat each other; of each edge, and of latched topics, it is
 * usual. */
static void judge_texture(judge_t *judge, const tb__recorded_stream_t *stream)
{
  const tb__recorded_topic_t *topic = &judge->recording->topics[stream->topic];
  char text[TB__FINDING_LINE_SIZE];
  if (may_be_zero(topic) || !is_of_one_publisher(judge, stream)) return;
  if (tb__stamps_whole_text(&stream->stamps, text, sizeof text))
    add_stream(judge, TB__RULE_STAMP_WHOLE_SECONDS, 0, stream, NULL, text, NULL);
  else if (tb__stamps_repeated_text(&stream->stamps, topic->limits.repeated, text, sizeof text))
    add_stream(judge, TB__RULE_STAMP_REPEATED, 0, stream, NULL, text, NULL);
}

static void judge_receipt(judge_t *judge, const tb__recorded_stream_t *stream)
{
  char text[TB__FINDING_LINE_SIZE];
  if (judge->recording->has_clock || judge->recording->provenance.log_time == TB__LOG_TIME_ROS ||
      !tb__recorded_topic_is_sensor(&judge->recording->topics[stream->topic]))
    return;
  tb__receipt_score_t score = tb__stamps_receipt_score(&stream->stamps);
  if (score.score < TB__RECEIPT_SCORE) return;
  snprintf(text, sizeof text,
           "score %.2f: steps of stamps follow those of log times (correlation %.3f of %u), ages "
           "%s to %s (1st to 50th percentile)",
           score.score, score.correlation, score.pair_count,
           tb__duration_text(score.age_p01_ns).text, tb__duration_text(score.age_p50_ns).text);
  add_stream(judge, TB__RULE_RECEIPT_STAMPED, 0, stream, NULL, text, NULL);
}

/* A host's clock is ahead of the recorder's if messages were received before they were sent. The
 * other way round it looks like a long way. */
static void judge_hosts(judge_t *judge)
{
  const tb__recording_t *recording = judge->recording;
  tb__log_time_t log_time = recording->provenance.log_time;
  if (log_time != TB__LOG_TIME_RECEIVED) return;
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    const tb__recorded_topic_t *topic = &recording->topics[i];
    if (!topic->travel) continue;
    int64_t half_ns = tb__spread_quantile(topic->travel, 0.5);
    if (half_ns >= -recording->limits.host_offset_ns) continue;
    char subject[TB__FINDING_NAME_SIZE];
    snprintf(subject, sizeof subject, "the publisher of %s", topic->name);
    tb__finding_input_t input = {
        .rule = TB__RULE_HOST_OFFSET, .kind = TB__SUBJECT_HOST, .subject = subject};
    tb__recording_judge_add(
        judge, &input, "half of %llu messages were received %s or more before they were sent",
        (unsigned long long)topic->travel->moments.count, tb__duration_text(-half_ns).text);
  }
}

static void judge_loggers(judge_t *judge)
{
  const tb__recording_log_t *log = judge->recording->log;
  for (size_t i = 0; log && i < log->logger_count; i++) {
    const tb__recorded_logger_t *logger = &log->loggers[i];
    tb__finding_input_t input = {
        .rule = TB__RULE_HOST_OFFSET, .kind = TB__SUBJECT_HOST, .subject = logger->name};
    if (logger_is_right(judge, logger)) continue;
    bool is_behind = logger->least_ns > 0;
    tb__recording_judge_add(
        judge, &input,
        "%llu of %llu log messages, whose stamps are system time, are stamped %s %s log times",
        (unsigned long long)logger->count, (unsigned long long)logger->count,
        tb__duration_text(is_behind ? logger->least_ns : -logger->greatest_ns).text,
        is_behind ? "before" : "after");
  }
}

/* Stamps that are of no time of the recording, of all topics that have any. */
bool tb__recording_lacks_clock(const tb__recording_t *recording)
{
  uint64_t far = 0;
  if (recording->has_clock) return false;
  for (uint32_t i = 0; i < recording->topic_count; i++)
    for (const tb__recorded_stream_t *stream = recording->topics[i].first; stream;
         stream = stream->next) {
      const tb__stamps_t *stamps = &stream->stamps;
      uint64_t judged = stamps->kinds[TB__STAMP_FAR] + stamps->age.moments.count;
      if (judged == 0) continue;
      if (stamps->kinds[TB__STAMP_FAR] < judged) return false;
      if (stamps->excess[TB__STAMP_FAR].stamp_ns > recording->end_ns) return false;
      far++;
    }
  return far > 1;
}

double tb__recording_ros_by_log_time(const tb__recording_t *recording)
{
  const tb__tick_stream_t *all = &recording->ticks.all;
  if (!recording->has_clock || recording->provenance.log_time == TB__LOG_TIME_ROS) return 1;
  if (all->pauses || all->stalls || all->kinds[TB__TICK_SKIP] || all->kinds[TB__TICK_BACKWARD] ||
      tb__tick_stream_is_double(all))
    return 0;
  return tb__tick_stream_factor(all);
}

/* In ROS time, between its first and its last message. */
static void judge_topic_rate(judge_t *judge, const tb__recorded_topic_t *topic)
{
  double span_ns =
      (double)(topic->last_ns - topic->first_ns) * tb__recording_ros_by_log_time(judge->recording);
  tb__finding_input_t input = {
      .rule = TB__RULE_TOPIC_RATE, .kind = TB__SUBJECT_TOPIC, .subject = topic->name};
  if (topic->rate_hz <= 0 || topic->is_latched || topic->messages < RATE_AT_LEAST || !(span_ns > 0))
    return;
  double rate = (double)(topic->messages - 1) * 1e9 / span_ns;
  double off = fabs(rate / topic->rate_hz - 1);
  if (off > topic->limits.rate_error) input.severity = TB__SEVERITY_ERROR;
  if (off > topic->limits.rate_warn)
    tb__recording_judge_add(judge, &input, "%.4g Hz, declared are %.4g Hz", rate, topic->rate_hz);
}

static bool is_recorded(const tb__recording_t *recording, const char *name)
{
  const tb__recorded_topic_t *topic = tb__recording_topic(recording, name);
  return topic && topic->messages > 0;
}

static void judge_declared_evidence(judge_t *judge)
{
  const tb__manifest_t *manifest = judge->recording->manifest;
  for (size_t i = 0; i < manifest->evidence.count; i++) {
    const char *name = manifest->evidence.items[i];
    tb__finding_input_t input = {
        .rule = TB__RULE_MISSING_EVIDENCE, .kind = TB__SUBJECT_TOPIC, .subject = name};
    const char *lack =
        tb__recording_topic(judge->recording, name) ? "no message of it" : "no such topic";
    if (is_recorded(judge->recording, name)) continue;
    if (manifest->has_evidence)
      tb__recording_judge_add(
          judge, &input, "the manifest declares it as evidence, and the recording has %s", lack);
    else
      tb__recording_judge_add(
          judge, &input,
          "it is evidence of mode %s, as the manifest declares no other (evidence: [...]), and the "
          "recording has %s",
          tb__manifest_mode_name(manifest->mode), lack);
  }
}

static void judge_evidence(judge_t *judge)
{
  const tb__recording_t *recording = judge->recording;
  tb__finding_input_t input = {
      .rule = TB__RULE_MISSING_EVIDENCE, .kind = TB__SUBJECT_TOPIC, .subject = "/clock"};
  if (recording->manifest) judge_declared_evidence(judge);
  if (tb__recording_lacks_clock(recording))
    tb__recording_judge_add(judge, &input,
                            "the stamps of all topics are far from the log times, as in "
                            "simulated time, and /clock is not in the recording");
}

/* A pause is one of the recording if that was not cut down to what is before or after it. */
static bool is_in_recording(const tb__recording_t *recording, const tb__made_t *item)
{
  if (item->rule != TB__RULE_RECORDING_PAUSED || !recording->made.is_system_time) return true;
  return recording->messages > 0 && item->from_ns < recording->end_ns &&
         item->end_ns > recording->start_ns;
}

static void judge_made(judge_t *judge)
{
  const tb__recording_made_t *made = &judge->recording->made;
  const char *host = made->host ? made->host : "the host";
  for (size_t i = 0; i < made->count; i++) {
    const tb__made_t *item = &made->items[i];
    bool is_clock = item->rule == TB__RULE_RECORDER_UNSYNCHRONIZED;
    if (is_clock && !made->is_system_time && !made->has_hosts)
      continue; /* nothing is on that time */
    tb__finding_input_t input = {.rule = item->rule,
                                 .kind = item->subject ? TB__SUBJECT_TOPIC
                                         : is_clock    ? TB__SUBJECT_HOST
                                                       : TB__SUBJECT_RECORDING,
                                 .subject = item->subject ? item->subject
                                            : is_clock    ? host
                                                          : "the recording"};
    if (is_clock && made->has_hosts) input.severity = TB__SEVERITY_WARN;
    if (is_in_recording(judge->recording, item))
      tb__recording_judge_add(judge, &input, "%s", item->text);
  }
  if (!judge->status) judge->status = made->status;
}

static const char *topic_name(void *user, uint32_t topic)
{
  const judge_t *judge = user;
  return judge->recording->topics[topic].name;
}

static tb_status_t add_edge(void *user, const tb__finding_input_t *input, const char *evidence)
{
  tb__recording_judge_add(user, input, "%s", evidence);
  return TB_OK;
}

static void judge_transforms(judge_t *judge)
{
  tb__tf_judge_t edges = {.cover = &judge->recording->cover,
                          .late_ns = judge->recording->limits.stall_ns,
                          .user = judge,
                          .topic = topic_name,
                          .add = add_edge};
  tb_status_t status = tb__tf_cover_judge(&edges);
  if (!judge->status) judge->status = status;
}

/* Why no definition that there is fits the topic's messages; "": there is none at all, or one fits.
 * A topic without any is no fault of the recording: it is listed as such. */
static const char *definition_note(const tb__recorded_topic_t *topic)
{
  bool is_unknown = topic->definition && !topic->known && topic->messages > 0;
  return is_unknown ? tb__definition_entry_note(topic->definition) : "";
}

/* Of the name without the number that the reader gave it. */
static void judge_type(judge_t *judge, const tb__recorded_topic_t *topic)
{
  char name[TB__FINDING_NAME_SIZE];
  const char *number = strrchr(topic->name, '_');
  tb__finding_input_t input = {
      .rule = TB__RULE_TOPIC_TWO_TYPES, .kind = TB__SUBJECT_TOPIC, .subject = name};
  if (!topic->oddity) return;
  snprintf(name, sizeof name, "%.*s", number ? (int)(number - topic->name) : 0, topic->name);
  tb__recording_judge_add(judge, &input, "%s", topic->oddity);
}

static void judge_definitions(judge_t *judge)
{
  const tb__recording_t *recording = judge->recording;
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    const tb__recorded_topic_t *topic = &recording->topics[i];
    tb__finding_input_t input = {
        .rule = TB__RULE_DEFINITION_UNKNOWN, .kind = TB__SUBJECT_TOPIC, .subject = topic->name};
    if (topic->unreadable)
      tb__recording_judge_add(judge, &input, "%s: %llu of %llu messages are not of its definition",
                              topic->type, (unsigned long long)topic->unreadable,
                              (unsigned long long)topic->messages);
    const char *note = definition_note(topic);
    if (*note) tb__recording_judge_add(judge, &input, "%s: %s", topic->type, note);
  }
}

/* --- the log --- */

/* The only topic of another time base; NULL: none, or several. */
static const char *only_mixed(const tb__recording_t *recording)
{
  const char *found = NULL;
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    const tb__recorded_topic_t *topic = &recording->topics[i];
    bool is_mixed = false;
    for (const tb__recorded_stream_t *stream = topic->first; stream; stream = stream->next)
      is_mixed = is_mixed || stream->stamps.kinds[TB__STAMP_SYSTEM];
    if (is_mixed && found) return NULL;
    if (is_mixed) found = topic->name;
  }
  return found;
}

static const char *cause_of(const judge_t *judge, const tb__log_sentence_t *sentence)
{
  const tb__recording_t *recording = judge->recording;
  bool is_steady;
  const tb__tick_stream_t *all = &tb__recording_ticks(recording, &is_steady)->all;
  if (sentence->is_of_jump && all->kinds[TB__TICK_BACKWARD]) return "/clock";
  return sentence->is_of_mix ? only_mixed(recording) : NULL;
}

static void judge_log(judge_t *judge)
{
  const tb__recording_log_t *log = judge->recording->log;
  for (size_t i = 0; log && i < log->count; i++) {
    const tb__recorded_log_t *entry = &log->list[i];
    tb__finding_input_t input = {.rule = TB__RULE_LOG_EVIDENCE,
                                 .kind = TB__SUBJECT_NODE,
                                 .subject = entry->logger,
                                 .cause = cause_of(judge, entry->sentence)};
    tb__recording_judge_add(judge, &input, "%s (%llu times, first at %s): %s",
                            entry->sentence->meaning, (unsigned long long)entry->count,
                            tb__moment_text(entry->first_ns).text, entry->text);
  }
}

static void judge_stream(judge_t *judge, const tb__recorded_stream_t *stream, bool lacks_clock)
{
  judge_zero(judge, stream);
  judge_invalid(judge, stream);
  judge_domain(judge, stream, lacks_clock);
  judge_age(judge, stream);
  judge_budget(judge, stream);
  judge_order(judge, stream);
  judge_texture(judge, stream);
  judge_receipt(judge, stream);
}

tb_status_t tb__recording_judge(const tb__recording_t *recording, tb__findings_t *findings)
{
  judge_t judge = {recording, findings, TB_OK};
  bool lacks_clock = tb__recording_lacks_clock(recording);
  tb__recording_judge_clock(&judge);
  tb__recording_judge_log_times(&judge);
  judge_hosts(&judge);
  judge_loggers(&judge);
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    judge_type(&judge, &recording->topics[i]);
    judge_topic_rate(&judge, &recording->topics[i]);
    for (const tb__recorded_stream_t *stream = recording->topics[i].first; stream;
         stream = stream->next)
      judge_stream(&judge, stream, lacks_clock);
  }
  judge_transforms(&judge);
  judge_evidence(&judge);
  judge_made(&judge);
  judge_definitions(&judge);
  judge_log(&judge);
  return judge.status;
}
