#include "play/feed.h"

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

bool tb__feed_plays(const tb__feed_t *feed, size_t topic)
{
  const tb_bag_topic_t *info = &tb_bag_reader_info(feed->reader)->topics[topic];
  return feed->reader->wanted[topic] && !(feed->skip_clock && is_clock(info)) &&
         strcmp(info->serialization_format, "cdr") == 0;
}

tb_status_t tb__feed_init(tb__feed_t *feed, tb_bag_reader_t *reader, bool skip_clock,
                          const atomic_bool *stopping)
{
  *feed = (tb__feed_t){
      .reader = reader, .skip_clock = skip_clock, .until_ns = INT64_MAX, .stopping = stopping};
  tb_status_t status = tb__latched_init(&feed->latched, reader, stopping);
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  for (size_t i = 0; i < info->topic_count && !status; i++)
    if (tb__feed_plays(feed, i) && info->topics[i].qos.durability == TB_QOS_TRANSIENT_LOCAL)
      status = tb__latched_add_topic(&feed->latched, i);
  return status;
}

void tb__feed_fini(tb__feed_t *feed)
{
  tb__latched_fini(&feed->latched);
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
    if (status || !tb__feed_plays(feed, message.topic)) continue;
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

bool tb__feed_next(tb__feed_t *feed, tb__feed_message_t *out)
{
  if (feed->until_ns == TB__FEED_NOTHING) return false;
  if (next_restored(feed, out)) return true;
  for (;;) {
    tb_bag_message_t message;
    tb_error_t error;
    error.text[0] = '\0'; /* to clear all of it costs as much as to read a small message */
    tb_status_t status = tb_bag_reader_next(feed->reader, &message, &error);
    if (status == TB_ERR_END) return false;
    if (status && feed->reader->is_at_unclosed_end) {
      report_unclosed(feed);
    } else if (status) {
      tb__reject(&feed->rejects, status, error.text);
    } else if (message.log_time_ns > feed->until_ns) {
      return false;
    } else if (!is_skipped(feed, &message) && tb__feed_plays(feed, message.topic)) {
      *out = (tb__feed_message_t){message, at_least_one(message.log_time_ns), false};
      return true;
    }
  }
}
