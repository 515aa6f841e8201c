/* Reading ahead of the owner of a reader, on a separate thread: what it has read is copied, and
 * waits in a queue. The thread ends at each failure and at the end of the bag, and is started again
 * by the call that follows. */
#ifndef TB_BAG_READ_AHEAD_H
#define TB_BAG_READ_AHEAD_H

#include <stdbool.h>
#include <timebase/bag_reader.h>

typedef struct tb__read_ahead tb__read_ahead_t;

/* The next message of the reader, as without the thread; it is started if it does not run. Where
 * none can be started the caller's thread reads. */
tb_status_t tb__read_ahead_next(tb__read_ahead_t *ahead, tb_bag_message_t *out,
                                tb_error_t *error) TB_WARN_UNUSED;

/* Up to `size` bytes, or one block. NULL: no memory. */
tb__read_ahead_t *tb__read_ahead_create(tb_bag_reader_t *reader, size_t size);
/* Ends the thread after its current read, so that the reader is the caller's; what it has read
 * stays in the queue. */
void tb__read_ahead_pause(tb__read_ahead_t *ahead);
/* The same, and drops the queue. */
void tb__read_ahead_drop(tb__read_ahead_t *ahead);
/* C7: its thread is that of another process, of which this one is a forked child. NULL: no. */
bool tb__read_ahead_is_lost(const tb__read_ahead_t *ahead);
/* NULL is accepted. */
void tb__read_ahead_destroy(tb__read_ahead_t *ahead);

#endif
