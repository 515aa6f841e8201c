/* How far a player may run ahead of what a node has answered. Pure; times are ns of recorded time,
 * 0 is none. Stamps are compared with recorded time as they are. */
#ifndef TB_ROSBAG2_PLAY_LAG_H
#define TB_ROSBAG2_PLAY_LAG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tb__play_lag {
  int64_t lag_ns;    /* how far ahead of the newest stamp */
  int64_t time_ns;   /* to where time has come */
  int64_t first_ns;  /* the first message that the node was sent since the last jump */
  int64_t sent_ns;   /* the newest of what it was sent */
  int64_t newest_ns; /* stamp of its output since then */
} tb__play_lag_t;

/* What was sent before is not waited for, and what comes before something is sent does not count.
 */
void tb__play_lag_jump(tb__play_lag_t *lag, int64_t time_ns);
/* The node has restarted: the same, but time continues. */
void tb__play_lag_join(tb__play_lag_t *lag);
void tb__play_lag_time(tb__play_lag_t *lag, int64_t time_ns);

/* The node is sent a message with this stamp (0: it has none), in the time that is now. */
void tb__play_lag_sent(tb__play_lag_t *lag, int64_t stamp_ns);

/* The node has published this stamp. False: it does not count, as nothing was sent, or it lies more
 * than the lag ahead of time: then it may answer what was sent before a jump back, or by another
 * else. */
bool tb__play_lag_output(tb__play_lag_t *lag, int64_t stamp_ns);

/* How far the player may go: to the newest stamp plus the lag, and without limit while the node has
 * answered everything it was sent, as no further answer would come. */
int64_t tb__play_lag_limit(const tb__play_lag_t *lag);

#endif
