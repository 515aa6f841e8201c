/* What `timebase check` prints. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bag.h"
#include "check.h"
#include "contract/durations.h"
#include "contract_json.h"
#include "findings.h"
#include "text.h"

#define COLUMN_MAX 48

const char *check_evidence(size_t index)
{
  static const char *const names[] = {"/clock", "/tf", "/tf_static", "/diagnostics"};
  return index < sizeof names / sizeof *names ? names[index] : NULL;
}

bool check_has_evidence(const tb__recording_t *recording, const char *name)
{
  const tb__recorded_topic_t *topic = tb__recording_topic(recording, name);
  return topic && topic->messages > 0;
}

typedef enum nature {
  NATURE_ROS,
  NATURE_SYSTEM,
  NATURE_ZERO,
  NATURE_INVALID,
  NATURE_OTHER,
  NATURE_COUNT,
} nature_t;

static void count_natures(const tb__stamps_t *stamps, uint64_t out[NATURE_COUNT])
{
  const uint64_t *kinds = stamps->kinds;
  out[NATURE_ROS] += kinds[TB__STAMP_GOOD] + kinds[TB__STAMP_OLD] + kinds[TB__STAMP_FUTURE] +
                     kinds[TB__STAMP_STALE_EPOCH];
  out[NATURE_SYSTEM] += kinds[TB__STAMP_SYSTEM];
  out[NATURE_ZERO] += kinds[TB__STAMP_ZERO];
  out[NATURE_INVALID] += kinds[TB__STAMP_INVALID];
  out[NATURE_OTHER] += kinds[TB__STAMP_FAR] + kinds[TB__STAMP_UNJUDGED];
}

const char *check_stamps_are(const tb__recording_t *recording, uint32_t topic, double *out_share)
{
  static const char *const names[] = {"ROS time", "system time", "zero", "invalid", "unknown time"};
  uint64_t natures[NATURE_COUNT] = {0}, all = 0;
  size_t most = 0;
  for (const tb__recorded_stream_t *stream = recording->topics[topic].first; stream;
       stream = stream->next)
    count_natures(&stream->stamps, natures);
  for (size_t i = 0; i < NATURE_COUNT; i++) {
    all += natures[i];
    if (natures[i] > natures[most]) most = i;
  }
  *out_share = all ? (double)natures[most] / (double)all : 0;
  return all ? names[most] : NULL;
}

/* --- as text --- */

static void print_recording(const check_result_t *result)
{
  const tb__recording_t *recording = result->recording;
  const tb__provenance_t *provenance = &recording->provenance;
  text_out("%s: %" PRIu64 " message%s of %u topic%s in %s\n", result->path, recording->messages,
           bag_plural(recording->messages), recording->topic_count,
           bag_plural(recording->topic_count),
           tb__duration_text(recording->end_ns - recording->start_ns).text);
  if (result->is_unclosed)
    text_out("not closed; everything in it was read\n");
  else if (result->damage)
    text_out("damaged: %" PRIu64 " part%s could not be read; the first: %s\n", result->unread,
             bag_plural(result->unread), result->damage);
  text_out("log times: %s", tb__log_time_text(provenance->log_time));
  if (provenance->is_declared)
    text_out(" (declared: %s)\n", provenance->why);
  else
    text_out(" (inferred, %.0f %%: %s)\n", 100 * provenance->confidence, provenance->why);
  text_out("evidence:");
  for (size_t i = 0; check_evidence(i); i++)
    text_out(" %s %s,", check_evidence(i),
             check_has_evidence(recording, check_evidence(i)) ? "yes" : "no");
  text_out(" manifest %s\n", recording->has_manifest ? "yes" : "no");
  if (result->manifest) text_out("manifest: %s\n", result->manifest);
}

static void print_count(uint64_t count, const char *one, const char *several)
{
  if (count) text_out(", %" PRIu64 " %s", count, count == 1 ? one : several);
}

static void print_clock(const tb__recording_t *recording)
{
  bool is_steady;
  const tb__tick_stream_t *all = &tb__recording_ticks(recording, &is_steady)->all;
  if (!all->ticks) return;
  text_out("/clock: %" PRIu64 " tick%s", all->ticks, bag_plural(all->ticks));
  if (is_steady && tb__tick_stream_rate(all) > 0)
    text_out(", %.1f Hz, %.3f of real time", tb__tick_stream_rate(all),
             tb__tick_stream_factor(all));
  if (all->usual_step_ns) text_out(", steps of %s", tb__duration_text(all->usual_step_ns).text);
  print_count(all->kinds[TB__TICK_BACKWARD], "jump back", "jumps back");
  print_count(all->kinds[TB__TICK_SKIP], "jump forward", "jumps forward");
  print_count(all->kinds[TB__TICK_GAP], "gap", "gaps");
  if (is_steady) print_count(all->stalls, "stall", "stalls");
  if (is_steady) print_count(all->pauses, "pause", "pauses");
  print_count(all->kinds[TB__TICK_REORDERED], "late tick", "late ticks");
  print_count(all->kinds[TB__TICK_ZERO], "tick of 0", "ticks of 0");
  print_count(all->kinds[TB__TICK_INVALID], "invalid tick", "invalid ticks");
  text_out("\n");
}

/* The stream with the most ages, and the greatest look-alike score of all. */
static const tb__stamps_t *main_stamps(const tb__recording_t *recording, uint32_t topic,
                                       double *out_score)
{
  const tb__stamps_t *most = NULL;
  *out_score = 0;
  for (const tb__recorded_stream_t *stream = recording->topics[topic].first; stream;
       stream = stream->next) {
    double score = tb__stamps_receipt_score(&stream->stamps).score;
    if (score > *out_score) *out_score = score;
    if (!most || stream->stamps.age.moments.count > most->age.moments.count) most = &stream->stamps;
  }
  return most;
}

static double rate_of(const tb__recorded_topic_t *topic)
{
  int64_t span_ns = topic->last_ns - topic->first_ns;
  return topic->messages > 1 && span_ns > 0 ? (double)(topic->messages - 1) * 1e9 / (double)span_ns
                                            : 0;
}

static void print_topic(const tb__recording_t *recording, uint32_t index, int width)
{
  const tb__recorded_topic_t *topic = &recording->topics[index];
  double share, score;
  const char *are = check_stamps_are(recording, index, &share);
  const tb__stamps_t *stamps = main_stamps(recording, index, &score);
  text_out("%-*s %9" PRIu64 " %9.2f %11s", width, topic->name, topic->messages, rate_of(topic),
           topic->gap.count ? tb__duration_text(topic->gap.max_ns).text : "-");
  if (!are) {
    text_out("  %s\n", topic->definition && !topic->known && topic->messages ? "definition unknown"
                                                                             : "no stamps");
    return;
  }
  bool has_ages = stamps->age.moments.count > 0;
  text_out(" %11s %11s  ",
           has_ages ? tb__duration_text(tb__spread_quantile(&stamps->age, 0.5)).text : "-",
           has_ages ? tb__duration_text(tb__spread_quantile(&stamps->age, 0.99)).text : "-");
  text_out("%s", are);
  if (share < 1) text_out(" (%.1f %%)", 100 * share);
  if (score >= TB__RECEIPT_SCORE && !recording->has_clock)
    text_out(", like reception (%.2f)", score);
  text_out("\n");
}

static void print_topics(const tb__recording_t *recording)
{
  int width = 5;
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    int columns = text_columns(recording->topics[i].name);
    if (columns > width && columns <= COLUMN_MAX) width = columns;
  }
  if (!recording->topic_count) return;
  text_out("\n%-*s %9s %9s %11s %11s %11s  %s\n", width, "topic", "messages", "Hz", "worst gap",
           "age 50 %", "age 99 %", "stamps");
  for (uint32_t i = 0; i < recording->topic_count; i++)
    print_topic(recording, i, width);
}

static double share_of(uint64_t count, const tb__tf_topic_t *counts)
{
  return 100 * (double)count / (double)counts->messages;
}

/* Whether tf2 would have answered, for topics with a frame. */
static void print_answers(const tb__recording_t *recording)
{
  const tb__tf_topic_t *counts;
  bool has_title = false;
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    counts = tb__tf_cover_topic(&recording->cover, i);
    if (!counts || counts->messages == counts->unknown) continue;
    if (!has_title) text_out("\nWould tf2 have answered? Transforms to the root, at reception:\n");
    has_title = true;
    text_out("%s: %.1f %% at once", recording->topics[i].name, share_of(counts->covered, counts));
    if (counts->waited)
      text_out(", %.1f %% after %s (50 %%), %s (99 %%), last: %s", share_of(counts->waited, counts),
               tb__duration_text(tb__spread_quantile(counts->wait, 0.5)).text,
               tb__duration_text(tb__spread_quantile(counts->wait, 0.99)).text,
               tb__tf_cover_name(&recording->cover, counts->worst_edge));
    if (counts->never) text_out(", %.1f %% never", share_of(counts->never, counts));
    if (counts->too_old) text_out(", %.1f %% too old", share_of(counts->too_old, counts));
    if (counts->unknown) text_out(", %.1f %% no transform", share_of(counts->unknown, counts));
    text_out("\n");
  }
}

void check_print(const check_result_t *result)
{
  findings_print(result->findings);
  findings_print_counts(result->findings);
  text_out("\n\n");
  print_recording(result);
  print_clock(result->recording);
  print_topics(result->recording);
  print_answers(result->recording);
}

/* --- as JSON --- */

static json_t *integer(uint64_t value)
{
  return json_integer((json_int_t)value);
}

static json_t *receipt_json(const tb__stamps_t *stamps)
{
  tb__receipt_score_t score = tb__stamps_receipt_score(stamps);
  json_t *out = json_object();
  json_put(out, "score", json_real(score.score));
  json_put(out, "correlation", json_real(score.correlation));
  json_put(out, "steps", json_integer(score.pair_count));
  json_put(out, "age_p01_ns", json_integer(score.age_p01_ns));
  json_put(out, "age_p50_ns", json_integer(score.age_p50_ns));
  return out;
}

static json_t *stream_json(const tb__recording_t *recording, const tb__recorded_stream_t *stream)
{
  static const char *const names[TB__STAMP_KIND_COUNT] = {[TB__STAMP_ZERO] = "zero",
                                                          [TB__STAMP_INVALID] = "invalid",
                                                          [TB__STAMP_UNJUDGED] = "before_clock",
                                                          [TB__STAMP_STALE_EPOCH] = "stale_epoch",
                                                          [TB__STAMP_SYSTEM] = "system_time",
                                                          [TB__STAMP_FAR] = "unknown_time",
                                                          [TB__STAMP_FUTURE] = "future",
                                                          [TB__STAMP_OLD] = "old",
                                                          [TB__STAMP_GOOD] = "good"};
  const tb__stamps_t *stamps = &stream->stamps;
  const char *frame = tb__recorded_stream_frame(recording, stream);
  json_t *out = json_object();
  json_put(out, "frame", frame ? text_json(frame) : json_null());
  json_put(out, "stamps", integer(stamps->arrivals));
  for (int i = 0; i < TB__STAMP_KIND_COUNT; i++)
    if (names[i]) json_put(out, names[i], integer(stamps->kinds[i]));
  json_put(out, "equal", integer(stamps->equal));
  json_put(out, "backward", integer(stamps->backward));
  json_put(out, "backward_greatest_ns", json_integer(stamps->backward_ns));
  json_put(out, "age", contract_spread_json(&stamps->age));
  json_put(out, "receipt",
           recording->has_clock || recording->provenance.log_time == TB__LOG_TIME_ROS
               ? json_null()
               : receipt_json(stamps));
  return out;
}

static json_t *topic_json(const tb__recording_t *recording, uint32_t index)
{
  const tb__recorded_topic_t *topic = &recording->topics[index];
  double share;
  const char *are = check_stamps_are(recording, index, &share);
  json_t *answers = contract_tf_topic_json(&recording->cover, index);
  json_t *out = json_object(), *streams = json_array();
  for (const tb__recorded_stream_t *stream = topic->first; stream; stream = stream->next)
    json_push(streams, stream_json(recording, stream));
  json_put(out, "name", text_json(topic->name));
  json_put(out, "type", text_json(topic->type));
  json_put(out, "messages", integer(topic->messages));
  json_put(out, "bytes", integer(topic->bytes));
  json_put(out, "rate_hz", json_real(rate_of(topic)));
  json_put(out, "gap_greatest_ns", json_integer(topic->gap.max_ns));
  json_put(out, "gap_at_ns", json_integer(topic->gap_at_ns));
  json_put(out, "publishers", topic->offer_count ? json_integer(topic->offer_count) : json_null());
  json_put(out, "latched", json_boolean(topic->is_latched));
  json_put(out, "definition",
           topic->known ? json_string(tb__definition_origin_text(topic->known->origin))
                        : json_null());
  json_put(out, "unreadable", integer(topic->unreadable));
  json_put(out, "source_to_receive",
           topic->travel ? contract_spread_json(topic->travel) : json_null());
  json_put(out, "sent_out_of_order", integer(topic->sent_backward));
  json_put(out, "stamps_are", are ? json_string(are) : json_null());
  json_put(out, "stamps_confidence", json_real(share));
  json_put(out, "transforms", answers ? answers : json_null());
  json_put(out, "streams", streams);
  return out;
}

static json_t *clock_json(const tb__recording_t *recording)
{
  static const char *const names[TB__TICK_KIND_COUNT] = {
      [TB__TICK_ZERO] = "zero",           [TB__TICK_INVALID] = "invalid",
      [TB__TICK_REPEAT] = "repeats",      [TB__TICK_GAP] = "gaps",
      [TB__TICK_SKIP] = "jumps_forward",  [TB__TICK_REORDERED] = "late",
      [TB__TICK_BACKWARD] = "jumps_back", [TB__TICK_SWITCH] = "switches"};
  bool is_steady;
  const tb__tick_stream_t *all = &tb__recording_ticks(recording, &is_steady)->all;
  double rate = is_steady ? tb__tick_stream_rate(all) : 0;
  if (!all->ticks) return json_null();
  json_t *out = json_object();
  json_put(out, "ticks", integer(all->ticks));
  json_put(out, "rate_hz", rate > 0 ? json_real(rate) : json_null());
  json_put(out, "real_time_factor",
           rate > 0 ? json_real(tb__tick_stream_factor(all)) : json_null());
  json_put(out, "usual_step_ns", json_integer(all->usual_step_ns));
  for (int i = 0; i < TB__TICK_KIND_COUNT; i++)
    if (names[i]) json_put(out, names[i], integer(all->kinds[i]));
  json_put(out, "two_streams", json_boolean(tb__tick_stream_is_double(all)));
  json_put(out, "stalls", is_steady ? integer(all->stalls) : json_null());
  json_put(out, "pauses", is_steady ? integer(all->pauses) : json_null());
  json_put(out, "gap_greatest_ns", json_integer(all->gap_ns));
  json_put(out, "jump_back_greatest_ns", json_integer(all->backward_ns));
  json_put(out, "jump_forward_greatest_ns", json_integer(all->skip_ns));
  json_put(out, "first_ns", json_integer(all->first_ns));
  json_put(out, "last_ns", json_integer(all->last_ns));
  return out;
}

static json_t *log_times_json(const tb__provenance_t *provenance)
{
  json_t *out = json_object();
  json_put(out, "are", json_string(tb__log_time_text(provenance->log_time)));
  json_put(out, "declared", json_boolean(provenance->is_declared));
  json_put(out, "confidence", json_real(provenance->confidence));
  json_put(out, "why", text_json(provenance->why));
  return out;
}

json_t *check_json(const check_result_t *result)
{
  const tb__recording_t *recording = result->recording;
  json_t *out = json_object(), *evidence = json_object(), *topics = json_array();
  for (size_t i = 0; check_evidence(i); i++)
    json_put(evidence, check_evidence(i),
             json_boolean(check_has_evidence(recording, check_evidence(i))));
  json_put(evidence, "manifest", json_boolean(recording->has_manifest));
  for (uint32_t i = 0; i < recording->topic_count; i++)
    json_push(topics, topic_json(recording, i));
  json_put(out, "findings", findings_json(result->findings));
  json_put(out, "counts", findings_counts_json(result->findings));
  json_put(out, "off", findings_off_json(result->findings));
  json_put(out, "bag", text_json(result->path));
  json_put(out, "messages", integer(recording->messages));
  json_put(out, "start_ns", json_integer(recording->start_ns));
  json_put(out, "end_ns", json_integer(recording->end_ns));
  json_put(out, "runs", json_integer((json_int_t)recording->run_count + 1));
  json_put(out, "damage", result->damage ? text_json(result->damage) : json_null());
  json_put(out, "unread", integer(result->unread));
  json_put(out, "unclosed", json_boolean(result->is_unclosed));
  json_put(out, "manifest", result->manifest ? text_json(result->manifest) : json_null());
  json_put(out, "log_times", log_times_json(&recording->provenance));
  json_put(out, "evidence", evidence);
  json_put(out, "clock", clock_json(recording));
  json_put(out, "topics", topics);
  json_put(out, "transforms", contract_tf_edges_json(&recording->cover, NULL, NULL));
  return out;
}
