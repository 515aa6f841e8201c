/* Messages whose stamps are ahead of `/clock`: a publisher may get a tick, and we its message,
 * before we get the tick. Such a stamp is not in the future. So it waits until `/clock` has reached
 * it, or has had the time to, and the messages of its publisher after it wait with it: they are
 * counted in order. Of the topic whose lock is held. */
#ifndef TB_CLI_OBSERVE_AHEAD_H
#define TB_CLI_OBSERVE_AHEAD_H

#include "observe.h"

#define OBSERVE_AHEAD_MAX 64 /* of a publisher; then the oldest one is judged as it is */

/* Counts a message, at once or when it has been settled. */
void observe_ahead_take_locked(observe_t *observe, observe_stream_t *stream,
                               const tb__received_t *received);
/* Counts those that need not wait any longer. `is_end`: all of them; stamps that wait are not
 * judged.
 */
void observe_ahead_settle_locked(observe_t *observe, observe_stream_t *stream, bool is_end);

#endif
