#include "rosbag2/play_lag.h"

#include <timebase/play_transport.h>

static int64_t later(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static int64_t add(int64_t a, int64_t b)
{
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? TB_PLAY_NO_LIMIT : sum; /* b >= 0 */
}

void tb__play_lag_join(tb__play_lag_t *lag)
{
  lag->first_ns = lag->sent_ns = lag->newest_ns = 0;
}

void tb__play_lag_jump(tb__play_lag_t *lag, int64_t time_ns)
{
  tb__play_lag_join(lag);
  lag->time_ns = time_ns;
}

void tb__play_lag_time(tb__play_lag_t *lag, int64_t time_ns)
{
  lag->time_ns = later(lag->time_ns, time_ns);
}

/* Answers copy the stamp, which is a little older than the recorded time as a rule. */
void tb__play_lag_sent(tb__play_lag_t *lag, int64_t stamp_ns)
{
  int64_t sent_ns = stamp_ns > 0 && stamp_ns < lag->time_ns ? stamp_ns : lag->time_ns;
  if (lag->first_ns == 0) lag->first_ns = lag->time_ns;
  lag->sent_ns = later(lag->sent_ns, sent_ns);
}

bool tb__play_lag_output(tb__play_lag_t *lag, int64_t stamp_ns)
{
  if (lag->first_ns == 0) return false;
  if (stamp_ns > add(lag->time_ns, lag->lag_ns)) return false;
  lag->newest_ns = later(lag->newest_ns, stamp_ns);
  return true;
}

int64_t tb__play_lag_limit(const tb__play_lag_t *lag)
{
  if (lag->first_ns == 0 || lag->newest_ns >= lag->sent_ns) return TB_PLAY_NO_LIMIT;
  return add(later(lag->first_ns, lag->newest_ns), lag->lag_ns);
}
