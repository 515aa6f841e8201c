/* The messages to play, one at a time: what the reader gives, without the rows that are bad and the
 * topics that are not played, up to an end. After a jump the state of latched topics comes first:
 * of each, the last message before the target. */
#ifndef TB_PLAY_FEED_H
#define TB_PLAY_FEED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/bag_reader.h>
#include <timebase/play_transport.h>

#include "play/latched.h"
#include "play/order.h"

typedef struct tb__feed_message {
  tb_bag_message_t bag; /* data: valid until the next call of the feed */
  int64_t time_ns;      /* when it is due, as a clock can show it: never below 1 */
  bool restored;        /* the state of a latched topic, due at the target of the jump */
} tb__feed_message_t;

/* Where in the recording: before a message, or before all messages of a time. */
typedef struct tb__feed_place {
  int64_t time_ns; /* log time */
  size_t file;     /* TB__NO_FILE: before all of that time */
  int64_t row_id;
} tb__feed_place_t;

#define TB__NO_FILE SIZE_MAX

/* An end before all messages: a feed with it returns none, nor the state before. */
#define TB__FEED_NOTHING INT64_MIN

/* What was left out. */
typedef struct tb__rejects {
  uint64_t count;
  tb_status_t first; /* the kind of the first */
  uint64_t reported; /* one bit per status code */
} tb__rejects_t;

typedef struct tb__feed {
  tb_bag_reader_t *reader;
  bool *plays;      /* by topic */
  int64_t until_ns; /* nothing later is returned */
  tb__latched_t latched;
  int64_t target_ns; /* of the last seek */
  bool skips;        /* what comes before `place` */
  tb__feed_place_t place;
  const atomic_bool *stopping;
  tb__rejects_t rejects;
  bool has_reported_unclosed;
  uint64_t short_count; /* messages of which nothing can be sent, each time that they were met */
  tb__order_t order;    /* by publish time, if it has room for any */
  int64_t ordered_ns;   /* the time of what was taken last, or the target */
  bool drops_before;    /* what was published before the target */
} tb__feed_t;

/* A recorded /clock may be left out, and is what the transport does not take. `stopping` ends long
 * searches. */
tb_status_t tb__feed_init(tb__feed_t *feed, tb_bag_reader_t *reader,
                          const tb_play_transport_t *transport, bool skip_clock,
                          const atomic_bool *stopping) TB_WARN_UNUSED;
void tb__feed_fini(tb__feed_t *feed);

/* The next message is the first at `time_ns` or later; with `restore`, after the state there. The
 * last one is the last up to `until_ns`. */
void tb__feed_seek(tb__feed_t *feed, int64_t time_ns, int64_t until_ns, bool restore);

/* The next message is the last one before `place`, after the state there; without one, the first
 * from there on. Reads back in steps that grow: about as much as lies between the two. */
void tb__feed_seek_before(tb__feed_t *feed, tb__feed_place_t place, int64_t until_ns);

tb__feed_place_t tb__feed_place_of(const tb_bag_message_t *message);

/* The next message; false at the end. */
bool tb__feed_next(tb__feed_t *feed, tb__feed_message_t *out);

/* Counts a row that is left out; the first of its kind goes to the log. */
void tb__reject(tb__rejects_t *rejects, tb_status_t kind, const char *text);

/* Whether messages of the topic are played, as far as its description decides that. */
bool tb__feed_plays(const tb__feed_t *feed, size_t topic);

#endif
