/* The state of latched (transient-local) topics at any time of a recording.
 *
 * An index of their messages is made by reading on, as far as targets need it; it is complete when
 * it holds as many as the recording counts, which is soon where latched topics are sent at the
 * start. */
#ifndef TB_PLAY_LATCHED_H
#define TB_PLAY_LATCHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <timebase/bag_reader.h>

typedef struct tb__latched_entry {
  int64_t time_ns;
  int64_t row_id;
  size_t file;
  size_t topic;
} tb__latched_entry_t;

typedef struct tb__latched {
  tb_bag_reader_t *reader;
  const atomic_bool *stopping;
  bool *topics;           /* by topic of the bag: whether it is latched */
  uint64_t *kept;         /* by topic: how many of its messages are its state */
  uint64_t *left;         /* by topic: how many are still missing */
  uint64_t kept_count;    /* of all topics */
  uint64_t message_count; /* of all latched topics */

  tb__latched_entry_t *entries; /* in the order of the recording */
  size_t count, capacity;
  int64_t covered_ns; /* all earlier messages are in the index */

  size_t *state; /* entries to be sent, in order */
  size_t state_count, next;
  int64_t target_ns; /* of the last find */
} tb__latched_t;

tb_status_t tb__latched_init(tb__latched_t *latched, tb_bag_reader_t *reader,
                             const atomic_bool *stopping) TB_WARN_UNUSED;
void tb__latched_fini(tb__latched_t *latched);
/* The state of a topic is its last messages, as many as its publishers kept: one each, or their
 * depths. */
tb_status_t tb__latched_add_topic(tb__latched_t *latched, size_t topic) TB_WARN_UNUSED;

/* Finds the state of each topic before `time_ns`. Moves the reader. */
void tb__latched_find(tb__latched_t *latched, int64_t time_ns);
/* Drops what is left of the state. */
void tb__latched_forget(tb__latched_t *latched);

/* True if something was found; then tb__latched_next gives it out, and false at the end, when the
 * reader is anywhere. A message that cannot be read is left out. */
bool tb__latched_has_next(const tb__latched_t *latched);
bool tb__latched_next(tb__latched_t *latched, tb_bag_message_t *out);

#endif
