#include "source/clock_presence.h"

void tb__clock_presence_matched(tb__clock_presence_t *presence, uint32_t matched)
{
  if (matched && !presence->matched) presence->appearances++;
  presence->matched = matched;
  if (matched) return;
  presence->alive = false;
  presence->lost = presence->ticked;
}

void tb__clock_presence_incompatible(tb__clock_presence_t *presence, uint32_t incompatible)
{
  presence->incompatible = incompatible;
  presence->unmatched = true;
}

bool tb__clock_presence_tick(tb__clock_presence_t *presence, int64_t time_ns)
{
  presence->ticked = time_ns != 0;
  presence->alive = true;
  presence->reported = (tb_clock_state_t)0;
  return presence->matched == 0;
}

static tb_clock_state_t state_of(const tb__clock_presence_t *presence)
{
  if (!presence->matched) {
    if (presence->incompatible && presence->unmatched) return TB_CLOCK_QOS_MISMATCH;
    return presence->ticked ? TB_CLOCK_LOST : TB_CLOCK_NO_PUBLISHER;
  }
  if (!presence->ticked) return TB_CLOCK_WAITING;
  return presence->alive ? TB_CLOCK_RUNNING : TB_CLOCK_STALLED;
}

size_t tb__clock_presence_take(tb__clock_presence_t *presence,
                               tb_clock_state_t out[TB__CLOCK_PRESENCE_STATES])
{
  size_t count = 0;
  tb_clock_state_t state = state_of(presence);
  bool ticks = state == TB_CLOCK_RUNNING;
  if (presence->lost && !ticks && state != TB_CLOCK_LOST && presence->reported != TB_CLOCK_LOST)
    out[count++] = presence->reported = TB_CLOCK_LOST;
  presence->lost = false;
  if (state == presence->reported || (ticks && !presence->reported)) return count;
  out[count++] = state;
  presence->reported = ticks ? (tb_clock_state_t)0 : state;
  return count;
}
