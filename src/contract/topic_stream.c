#include "contract/topic_stream.h"

#include <string.h>

void tb__topic_stream_init(tb__topic_stream_t *stream, const tb__stamp_limits_t *limits)
{
  memset(stream, 0, sizeof *stream);
  tb__stamps_init(&stream->stamps, limits);
}

static void count_gap(tb__topic_stream_t *stream, uint64_t from, uint64_t to)
{
  stream->not_received += to - from - 1;
  stream->last_sequence = to;
  stream->leapt_to = 0;
}

/* Numbers come from another process, and may be forged: one that is far ahead counts once others
 * follow it. */
static void note_sequence(tb__topic_stream_t *stream, uint64_t sequence)
{
  uint64_t last = stream->last_sequence, leapt_to = stream->leapt_to;
  if (sequence == 0) return;
  if (last == 0) {
    stream->last_sequence = sequence;
  } else if (sequence > last && sequence - last <= TB__TOPIC_STREAM_GAP_MAX) {
    count_gap(stream, last, sequence);
  } else if (sequence > last) {
    if (leapt_to > 0 && sequence > leapt_to && sequence - leapt_to <= TB__TOPIC_STREAM_GAP_MAX)
      count_gap(stream, leapt_to, sequence);
    else
      stream->leapt_to = sequence;
  } else if (sequence < last) {
    stream->late++;
    if (stream->not_received > 0) stream->not_received--;
  }
}

tb__stamp_kind_t tb__topic_stream_feed(tb__topic_stream_t *stream, const tb__received_t *received)
{
  int64_t travel_ns;
  note_sequence(stream, received->sequence);
  stream->bytes += received->size;
  if (received->source_ns > 0 &&
      !__builtin_sub_overflow(received->receive_ns, received->source_ns, &travel_ns))
    tb__spread_add(&stream->travel, travel_ns);
  return tb__stamps_feed(&stream->stamps, &received->stamp);
}
