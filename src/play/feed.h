/* The messages to play, one at a time: what the reader gives, without the rows that are bad and the
 * topics that are not played. */
#ifndef TB_PLAY_FEED_H
#define TB_PLAY_FEED_H

#include <stdbool.h>
#include <stdint.h>
#include <timebase/bag_reader.h>

typedef struct tb__feed {
  tb_bag_reader_t *reader;
  bool skip_clock; /* a recorded /clock is left out */
  uint64_t bad_rows;
  uint64_t reported; /* one bit per status code */
} tb__feed_t;

/* The next message; false at the end. */
bool tb__feed_next(tb__feed_t *feed, tb_bag_message_t *out);

/* Counts a row that is left out; the first of its kind goes to the log. */
void tb__feed_reject(tb__feed_t *feed, tb_status_t kind, const char *text);

/* Whether messages of the topic are given out, as far as its description tells. */
bool tb__feed_plays(const tb__feed_t *feed, const tb_bag_topic_t *topic);

/* The recorded time as a clock can show it: never below 1 ns. */
static inline int64_t tb__feed_time(const tb_bag_message_t *message)
{
  return message->log_time_ns > 0 ? message->log_time_ns : 1;
}

#endif
