#include "observe_ahead.h"

#include <stdlib.h>
#include <string.h>

struct observe_ahead {
  size_t count;
  tb__received_t list[OBSERVE_AHEAD_MAX]; /* the oldest one first */
};

static bool is_ahead(const tb__received_t *received)
{
  const tb__stamp_sample_t *stamp = &received->stamp;
  return stamp->has_stamp && stamp->system_ns && stamp->ros_ns && stamp->stamp_ns > stamp->ros_ns;
}

/* Of the time before a jump back: /clock does not reach it soon. */
static bool is_of_old_time(const observe_stream_t *stream, const tb__received_t *received)
{
  const tb__stamp_sample_t *stamp = &received->stamp;
  return tb__stamp_kind(&stream->is.stamps.limits, stamp) == TB__STAMP_STALE_EPOCH &&
         stamp->stamp_ns > stamp->ros_ns &&
         (uint64_t)stamp->stamp_ns - (uint64_t)stamp->ros_ns > TB_NS_PER_S;
}

/* False: it must wait. */
static bool settle(observe_t *observe, const observe_stream_t *stream, tb__received_t *received,
                   int64_t steady_ns, bool is_end)
{
  observe_clock_t *clock = &observe->clock;
  tb__stamp_sample_t *stamp = &received->stamp;
  const tb__ahead_t ahead = {stamp->stamp_ns, received->source_ns, stamp->arrival_ns};
  if (!is_ahead(received) || is_of_old_time(stream, received)) return true;
  pthread_mutex_lock(&clock->lock);
  tb__ahead_state_t state = tb__tick_history_settle(&clock->history, &ahead, steady_ns);
  pthread_mutex_unlock(&clock->lock);
  if (state == TB__AHEAD_RACE) stamp->ros_ns = stamp->stamp_ns;
  if (state == TB__AHEAD_WAITS && is_end) stamp->ros_ns = 0; /* not judged */
  return state != TB__AHEAD_WAITS || is_end;
}

static void feed_first(observe_stream_t *stream, size_t count)
{
  struct observe_ahead *ahead = stream->ahead;
  for (size_t i = 0; i < count; i++)
    (void)tb__topic_stream_feed(&stream->is, &ahead->list[i]);
  ahead->count -= count;
  memmove(ahead->list, ahead->list + count, ahead->count * sizeof *ahead->list);
}

void observe_ahead_settle_locked(observe_t *observe, observe_stream_t *stream, bool is_end)
{
  struct observe_ahead *ahead = stream->ahead;
  if (!ahead || !ahead->count) return;
  int64_t steady_ns = observe_steady_now(observe);
  size_t settled = 0;
  while (settled < ahead->count &&
         settle(observe, stream, &ahead->list[settled], steady_ns, is_end))
    settled++;
  feed_first(stream, settled);
}

void observe_ahead_take_locked(observe_t *observe, observe_stream_t *stream,
                               const tb__received_t *received)
{
  observe_ahead_settle_locked(observe, stream, false);
  bool has_waiting = stream->ahead && stream->ahead->count;
  bool must_wait = has_waiting || (is_ahead(received) && !is_of_old_time(stream, received));
  if (must_wait && !stream->ahead) stream->ahead = calloc(1, sizeof *stream->ahead);
  if (!must_wait || !stream->ahead) {
    (void)tb__topic_stream_feed(&stream->is, received);
    return;
  }
  if (stream->ahead->count == OBSERVE_AHEAD_MAX) feed_first(stream, 1);
  stream->ahead->list[stream->ahead->count++] = *received;
}
