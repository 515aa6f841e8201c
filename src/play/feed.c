#include "play/feed.h"

#include <string.h>

#include "base/log.h"

static bool is_clock(const tb_bag_topic_t *topic)
{
  const char *name = topic->name;
  return strcmp(name + (*name == '/'), "clock") == 0;
}

bool tb__feed_plays(const tb__feed_t *feed, const tb_bag_topic_t *topic)
{
  return !(feed->skip_clock && is_clock(topic)) && strcmp(topic->serialization_format, "cdr") == 0;
}

void tb__feed_reject(tb__feed_t *feed, tb_status_t kind, const char *text)
{
  uint64_t bit = UINT64_C(1) << (-(int)kind & 63);
  feed->bad_rows++;
  if (feed->reported & bit) return;
  feed->reported |= bit;
  tb__log(TB_LOG_WARN, "%s; skipped, as others of this kind (%s)", text, tb_status_message(kind));
}

bool tb__feed_next(tb__feed_t *feed, tb_bag_message_t *out)
{
  const tb_bag_topic_t *topics = tb_bag_reader_info(feed->reader)->topics;
  for (;;) {
    tb_bag_message_t message;
    tb_error_t error = TB_ERROR_INIT;
    tb_status_t status = tb_bag_reader_next(feed->reader, &message, &error);
    if (status == TB_ERR_END) return false;
    if (status != TB_OK) {
      tb__feed_reject(feed, status, error.text);
    } else if (tb__feed_plays(feed, &topics[message.topic])) {
      *out = message;
      return true;
    }
  }
}
