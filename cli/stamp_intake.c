#include "stamp_intake.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/duration.h>

#include "definition/hash.h"

#define STREAMS_MAX 32            /* of a topic */
#define STEP_NS     (TB_NS_PER_S) /* of a /clock whose steps are not known yet: it may be slow */

/* --- streams --- */

stamp_stream_t *stamp_stream_of(stamp_topic_t *topic, const uint8_t writer[16], const char *frame,
                                size_t frame_length)
{
  uint64_t hash = tb__hash_bytes(TB__HASH_START, frame, frame_length);
  for (size_t i = 0; i < topic->stream_count; i++)
    if (topic->streams[i]->frame == hash && memcmp(topic->streams[i]->writer, writer, 16) == 0)
      return topic->streams[i];
  if (topic->stream_count == STREAMS_MAX) return NULL;
  if (!topic->streams) topic->streams = calloc(STREAMS_MAX, sizeof(stamp_stream_t *));
  stamp_stream_t *stream = topic->streams ? calloc(1, sizeof *stream) : NULL;
  if (!stream) return NULL;
  stream->topic = topic;
  memcpy(stream->writer, writer, 16);
  stream->frame = hash;
  tb__stamps_init(&stream->stamps, NULL);
  return topic->streams[topic->stream_count++] = stream;
}

void stamp_topic_fini(stamp_topic_t *topic)
{
  for (size_t i = 0; i < topic->stream_count; i++)
    free(topic->streams[i]);
  free(topic->streams);
  topic->streams = NULL;
  topic->stream_count = 0;
}

/* --- feeding --- */

static int64_t apart(int64_t a, int64_t b)
{
  int64_t difference;
  if (__builtin_sub_overflow(a, b, &difference) || difference == INT64_MIN) return INT64_MAX;
  return difference < 0 ? -difference : difference;
}

static void feed(const stamp_intake_t *intake, stamp_stream_t *stream,
                 const tb__stamp_sample_t *sample, int64_t step_ns)
{
  const tb__contract_limits_t *limits = &stream->topic->limits;
  if (intake->has_clock && !step_ns) step_ns = STEP_NS;
  stream->stamps.limits = tb__stamp_limits(limits, step_ns, stream->topic->budget_ns);
  if (stream->topic->is_tf) stream->stamps.limits.future_ns += TB__TF_FUTURE_NS;
  tb__stamp_kind_t kind = tb__stamps_feed(&stream->stamps, sample);
  if (!sample->ros_ns || !sample->system_ns ||
      apart(sample->ros_ns, sample->system_ns) <= 2 * tb__contract_other_domain_ns(limits, 0))
    return;
  stream->of_wall += kind == TB__STAMP_SYSTEM;
  stream->of_clock += kind == TB__STAMP_GOOD;
}

void stamp_intake_settle(stamp_intake_t *intake, bool must_feed)
{
  bool is_full = intake->ahead_count == STAMP_AHEAD_MAX;
  stamp_now_t now;
  size_t kept = 0;
  intake->now(intake->user, &now);
  for (size_t i = 0; i < intake->ahead_count; i++)
    intake->ahead[i].stream->is_waiting = false;
  for (size_t i = 0; i < intake->ahead_count; i++) {
    stamp_ahead_t *ahead = &intake->ahead[i];
    stamp_stream_t *stream = ahead->stream;
    tb__ahead_t is = {ahead->sample.stamp_ns, ahead->source_ns, ahead->sample.arrival_ns};
    tb__ahead_state_t state = TB__AHEAD_SURE;
    if (ahead->is_ahead) state = intake->settle(intake->user, &is, now.steady_ns);
    stream->is_waiting |= state == TB__AHEAD_WAITS && !must_feed;
    if (stream->is_waiting) {
      intake->ahead[kept++] = *ahead;
      continue;
    }
    if (state == TB__AHEAD_RACE) ahead->sample.ros_ns = ahead->sample.stamp_ns;
    if (state == TB__AHEAD_WAITS && !is_full) continue; /* the end: it cannot be judged */
    feed(intake, stream, &ahead->sample, now.step_ns);
  }
  intake->ahead_count = kept;
}

/* A publisher may get a tick, and we its message, before we get the tick: such a stamp is not in
 * the future. So one that is ahead waits until /clock has reached it, or has had the time to, and
 * those after it in its stream wait with it: they are fed in order. */
void stamp_intake_take(stamp_intake_t *intake, stamp_stream_t *stream, tb__stamp_sample_t sample,
                       int64_t source_ns, const stamp_now_t *now)
{
  bool is_ahead = intake->has_clock && sample.stamp_ns > now->clock_ns && now->clock_ns;
  if (!is_ahead && !stream->is_waiting) {
    feed(intake, stream, &sample, now->step_ns);
    return;
  }
  if (intake->ahead_count == STAMP_AHEAD_MAX) stamp_intake_settle(intake, true);
  stream->is_waiting = true;
  intake->ahead[intake->ahead_count++] = (stamp_ahead_t){stream, sample, source_ns, is_ahead};
}

tb__stamp_sample_t stamp_sample(bool has_clock, int64_t stamp_ns, int64_t system_ns,
                                const stamp_now_t *now)
{
  return (tb__stamp_sample_t){
      .has_stamp = true,
      .stamp_ns = stamp_ns,
      .ros_ns = has_clock ? now->clock_ns : system_ns,
      .system_ns = has_clock ? system_ns : 0,
      .arrival_ns = now->steady_ns,
      .epoch = has_clock ? now->epoch : (tb__epoch_t){0},
  };
}

/* --- reading --- */

typedef struct reading {
  stamp_fn found;
  void *user;
} reading_t;

static bool read_edge(void *user, const tb__edge_t *edge)
{
  const reading_t *reading = user;
  reading->found(reading->user, edge->stamp_ns, edge->child, edge->child_length);
  return true;
}

tb_status_t stamps_read(const tb__known_definition_t *known, const void *data, size_t size,
                        stamp_fn found, void *user)
{
  tb__message_t message;
  int64_t stamp_ns;
  const char *frame = "";
  size_t length = 0;
  reading_t reading = {found, user};
  tb_status_t status = tb__message_open(&message, known->schema, data, size);
  if (status) return status;
  if (!known->head.stamp) return tb__edge_paths_each(&known->edges, &message, read_edge, &reading);
  status = tb__message_head_stamp(&known->head, &message, &stamp_ns);
  if (status) return status;
  if (tb__message_head_frame(&known->head, &message, &frame, &length)) length = 0;
  found(user, stamp_ns, frame, length);
  return TB_OK;
}
