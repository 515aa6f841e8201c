/* Reading ahead of playback, on a separate thread: a slow read stops neither ticks nor controls.
 * Without a queue, the thread that plays reads itself. */
#ifndef TB_PLAY_AHEAD_H
#define TB_PLAY_AHEAD_H

#include "base/loan.h"
#include "held/pacer.h"
#include "platform/mutex.h"
#include "platform/thread.h"
#include "play/feed.h"

typedef enum tb__ahead_result {
  TB__AHEAD_MESSAGE,
  TB__AHEAD_WAIT, /* nothing yet; the pacer is nudged when there is */
  TB__AHEAD_END,
} tb__ahead_result_t;

/* See tb__feed_seek, and with `before` tb__feed_seek_before. */
typedef struct tb__ahead_target {
  int64_t time_ns, until_ns;
  bool restore;
  bool before;
  tb__feed_place_t place;
} tb__ahead_target_t;

typedef struct tb__ahead_block tb__ahead_block_t;

typedef struct tb__ahead {
  tb__feed_t *feed; /* of the thread, while it runs */
  tb__pacer_t *pacer;
  size_t max_messages, max_bytes; /* 0 messages: no thread */
  tb__thread_t thread;
  bool running;
  tb__ahead_block_t *filling; /* of the thread: the last block */
  _Atomic uint32_t events;    /* for the thread: there is something to do */
  _Atomic uint64_t bad_rows;  /* that the feed has met */

  tb__mutex_t mutex;        /* guards what follows */
  tb__ahead_block_t *first; /* it also holds the last message that was returned */
  size_t messages, bytes;
  bool ended, quit;
  bool sleeping;   /* the thread waits for room or a seek */
  bool awaited;    /* the player waits for a message */
  bool wants_seek; /* to target */
  tb__ahead_target_t target;
} tb__ahead_t;

void tb__ahead_init(tb__ahead_t *ahead, tb__feed_t *feed, tb__pacer_t *pacer, size_t max_messages,
                    size_t max_bytes);
/* Stops the thread after its current read. */
void tb__ahead_stop(tb__ahead_t *ahead);
void tb__ahead_fini(tb__ahead_t *ahead);

/* Starts the thread, which reads from the target on. Does nothing without a queue. TB_ERR_SYSTEM.
 */
tb_status_t tb__ahead_start(tb__ahead_t *ahead, tb__ahead_target_t target) TB_WARN_UNUSED;

/* As tb__feed_seek: what was read before is dropped. Does not wait. */
void tb__ahead_seek(tb__ahead_t *ahead, tb__ahead_target_t target);
/* The data is valid until the next call, or the next seek. */
tb__ahead_result_t tb__ahead_next(tb__ahead_t *ahead, tb__feed_message_t *out) TB_WARN_UNUSED;

/* Whether the message that was returned last may be kept beyond that, and how. */
bool tb__ahead_lend(tb__ahead_t *ahead, const tb_bag_message_t *message,
                    tb__loan_t *out) TB_WARN_UNUSED;

/* Whether the counts of the queue agree with its content. NULL: they do; else what is wrong. */
const char *tb__ahead_check_locked(const tb__ahead_t *ahead)
    TB_REQUIRES(ahead->mutex) TB_WARN_UNUSED;

#endif
