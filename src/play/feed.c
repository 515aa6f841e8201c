#include "play/feed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <timebase/duration.h>

#include "bag/reader.h"
#include "base/log.h"

#define BACK_NS     (10 * TB_NS_PER_MS)
#define BACK_GROWTH 4

static bool is_clock(const tb_bag_topic_t *topic)
{
  const char *name = topic->name;
  return strcmp(name + (*name == '/'), "clock") == 0;
}

static bool takes(const tb_play_transport_t *transport, const tb_bag_topic_t *topic)
{
  if (transport->ops->takes) return transport->ops->takes(transport->self, topic);
  return strcmp(topic->serialization_format, "cdr") == 0;
}

bool tb__feed_plays(const tb__feed_t *feed, size_t topic)
{
  return feed->plays[topic];
}

tb_status_t tb__feed_init(tb__feed_t *feed, tb_bag_reader_t *reader,
                          const tb_play_transport_t *transport, bool skip_clock,
                          const atomic_bool *stopping)
{
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  *feed = (tb__feed_t){.reader = reader, .until_ns = INT64_MAX, .stopping = stopping};
  tb_status_t status = tb__latched_init(&feed->latched, reader, stopping);
  if (status) return status;
  feed->plays = calloc(info->topic_count + 1, sizeof *feed->plays);
  if (!feed->plays) return TB_ERR_NO_MEMORY;
  for (size_t i = 0; i < info->topic_count && !status; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    feed->plays[i] =
        reader->wanted[i] && !(skip_clock && is_clock(topic)) && takes(transport, topic);
    if (feed->plays[i] && topic->qos.durability == TB_QOS_TRANSIENT_LOCAL)
      status = tb__latched_add_topic(&feed->latched, i);
  }
  return status;
}

static void report_short(const tb__feed_t *feed)
{
  uint64_t count = feed->short_count;
  if (count == 0) return;
  tb__log(TB_LOG_WARN,
          "%s: %" PRIu64 " message%s left out: shorter than the 4 bytes of encapsulation of CDR",
          tb_bag_reader_info(feed->reader)->path, count, count == 1 ? " was" : "s were");
}

void tb__feed_fini(tb__feed_t *feed)
{
  report_short(feed);
  free(feed->plays);
  tb__latched_fini(&feed->latched);
  tb__order_fini(&feed->order);
}

void tb__reject(tb__rejects_t *rejects, tb_status_t kind, const char *text)
{
  uint64_t bit = UINT64_C(1) << (-(int)kind & 63);
  if (rejects->count++ == 0) rejects->first = kind;
  if (rejects->reported & bit) return;
  rejects->reported |= bit;
  tb__log(TB_LOG_WARN, "%s; further problems of this kind (%s) are counted but not reported", text,
          tb_status_message(kind));
}

static int64_t at_least_one(int64_t time_ns)
{
  return time_ns > 0 ? time_ns : 1;
}

void tb__feed_seek(tb__feed_t *feed, int64_t time_ns, int64_t until_ns, bool restore)
{
  feed->until_ns = until_ns;
  feed->skips = false;
  feed->target_ns = at_least_one(time_ns);
  tb__order_clear(&feed->order);
  feed->ordered_ns = feed->target_ns;
  feed->drops_before = restore;
  if (restore)
    tb__latched_find(&feed->latched, time_ns);
  else
    tb__latched_forget(&feed->latched);
  tb_bag_reader_seek(feed->reader, time_ns);
}

tb__feed_place_t tb__feed_place_of(const tb_bag_message_t *message)
{
  return (tb__feed_place_t){message->log_time_ns, message->file, message->row_id};
}

/* False: it comes before the place. */
static bool has_reached(const tb_bag_message_t *message, const tb__feed_place_t *place)
{
  if (message->log_time_ns != place->time_ns) return message->log_time_ns > place->time_ns;
  return place->file == TB__NO_FILE ||
         (message->file == place->file && message->row_id == place->row_id);
}

/* The last message from `from_ns` on that is played before `place`. What cannot be read is met
 * again in playing. */
static bool find_last(tb__feed_t *feed, int64_t from_ns, const tb__feed_place_t *place,
                      tb__feed_place_t *out)
{
  bool found = false;
  tb_bag_reader_seek(feed->reader, from_ns);
  while (!atomic_load(feed->stopping)) {
    tb_bag_message_t message;
    tb_status_t status = tb_bag_reader_next(feed->reader, &message, NULL);
    if (status == TB_ERR_END || (!status && has_reached(&message, place))) break;
    if (status || !tb__feed_plays(feed, message.topic) || tb__bag_is_short(feed->reader, &message))
      continue;
    *out = tb__feed_place_of(&message);
    found = true;
  }
  return found;
}

static tb__feed_place_t find_before(tb__feed_t *feed, const tb__feed_place_t *place)
{
  tb__feed_place_t found = *place;
  int64_t start_ns = tb_bag_reader_info(feed->reader)->start_ns;
  int64_t span_ns = BACK_NS, from_ns;
  do {
    if (__builtin_sub_overflow(place->time_ns, span_ns, &from_ns)) from_ns = start_ns;
    if (find_last(feed, from_ns, place, &found)) break;
  } while (from_ns > start_ns && !__builtin_mul_overflow(span_ns, BACK_GROWTH, &span_ns));
  return found;
}

void tb__feed_seek_before(tb__feed_t *feed, tb__feed_place_t place, int64_t until_ns)
{
  tb__feed_place_t found = find_before(feed, &place);
  tb__feed_seek(feed, found.time_ns, until_ns, true);
  feed->place = found;
  feed->skips = true;
}

/* The last message of the state leaves the reader where playing continues. */
static bool next_restored(tb__feed_t *feed, tb__feed_message_t *out)
{
  if (!tb__latched_has_next(&feed->latched)) return false;
  if (tb__latched_next(&feed->latched, &out->bag)) {
    out->time_ns = feed->target_ns;
    out->restored = true;
    return true;
  }
  tb_bag_reader_seek(feed->reader, feed->latched.target_ns);
  return false;
}

/* After a search: what comes before the place that was found. */
static bool is_skipped(tb__feed_t *feed, const tb_bag_message_t *message)
{
  feed->skips = feed->skips && !has_reached(message, &feed->place);
  return feed->skips;
}

/* Everything that was written exists: no row is missing, so none is counted. */
static void report_unclosed(tb__feed_t *feed)
{
  const tb_bag_info_t *info = tb_bag_reader_info(feed->reader);
  if (feed->has_reported_unclosed) return;
  feed->has_reported_unclosed = true;
  tb__log(TB_LOG_WARN, "%s: was not closed; everything in it is played", info->path);
}

/* The next one as recorded, up to `until_ns`. */
static bool next_received(tb__feed_t *feed, int64_t until_ns, tb_bag_message_t *out)
{
  for (;;) {
    tb_error_t error;
    error.text[0] = '\0'; /* to clear all of it costs as much as to read a small message */
    tb_status_t status = tb_bag_reader_next(feed->reader, out, &error);
    if (status == TB_ERR_END) return false;
    if (status && feed->reader->is_at_unclosed_end) {
      report_unclosed(feed);
    } else if (status) {
      tb__reject(&feed->rejects, status, error.text);
    } else if (out->log_time_ns > until_ns) {
      return false;
    } else if (!is_skipped(feed, out) && tb__feed_plays(feed, out->topic)) {
      if (!tb__bag_is_short(feed->reader, out)) return true;
      feed->short_count++;
    }
  }
}

/* The next one as published. Time does not go back for one that was read too late. */
static bool next_sent(tb__feed_t *feed, tb__feed_message_t *out)
{
  tb__order_t *order = &feed->order;
  for (;;) {
    tb_bag_message_t message;
    while (tb__order_wants_more(order) && !atomic_load(feed->stopping)) {
      if (!next_received(feed, INT64_MAX, &message))
        order->ended = true;
      else if (tb__order_put(order, &message))
        tb__reject(&feed->rejects, TB_ERR_NO_MEMORY, "a message was put in order");
    }
    int64_t time_ns;
    if (!tb__order_take(order, &message, &time_ns) || time_ns > feed->until_ns) return false;
    if (feed->drops_before && time_ns < feed->target_ns) continue;
    if (feed->ordered_ns < time_ns) feed->ordered_ns = time_ns;
    *out = (tb__feed_message_t){message, feed->ordered_ns, false};
    return true;
  }
}

bool tb__feed_next(tb__feed_t *feed, tb__feed_message_t *out)
{
  if (feed->until_ns == TB__FEED_NOTHING) return false;
  if (next_restored(feed, out)) return true;
  if (feed->order.max_messages) return next_sent(feed, out);
  tb_bag_message_t message;
  if (!next_received(feed, feed->until_ns, &message)) return false;
  *out = (tb__feed_message_t){message, at_least_one(message.log_time_ns), false};
  return true;
}
