#include "contract/tick_history.h"

#include <stdbool.h>
#include <timebase/duration.h>

#define RACE_NS (50 * TB_NS_PER_MS) /* that a tick may be later than a message with its time */
#define WAIT_NS (500 * TB_NS_PER_MS)

void tb__tick_history_add(tb__tick_history_t *history, int64_t tick_ns, int64_t source_ns,
                          int64_t arrival_ns)
{
  uint64_t at = history->count++ % TB__TICK_HISTORY;
  history->ticks[at].tick_ns = tick_ns;
  history->ticks[at].source_ns = source_ns;
  history->ticks[at].arrival_ns = arrival_ns;
}

tb__ahead_state_t tb__tick_history_settle(const tb__tick_history_t *history,
                                          const tb__ahead_t *ahead, int64_t now_ns)
{
  bool is_reached = false, is_race = false;
  for (uint64_t i = 0; i < TB__TICK_HISTORY && i < history->count; i++) {
    uint64_t at = (history->count - 1 - i) % TB__TICK_HISTORY;
    int64_t source_ns = history->ticks[at].source_ns, arrival_ns = history->ticks[at].arrival_ns;
    if (arrival_ns < ahead->arrival_ns) break;
    if (history->ticks[at].tick_ns < ahead->stamp_ns) continue;
    is_reached = true;
    is_race |= arrival_ns - ahead->arrival_ns < RACE_NS ||
               (source_ns > 0 && source_ns <= ahead->source_ns);
  }
  if (is_race) return TB__AHEAD_RACE;
  return is_reached || now_ns - ahead->arrival_ns > WAIT_NS ? TB__AHEAD_SURE : TB__AHEAD_WAITS;
}
