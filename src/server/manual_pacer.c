#include "server/manual_pacer.h"

#include "test.h"

static int64_t manual_now(tb__pacer_t *base)
{
  return ((tb__manual_pacer_t *)base)->steady_ns;
}

static void advance_to(tb__manual_pacer_t *pacer, int64_t steady_ns)
{
  if (steady_ns > pacer->steady_ns) pacer->steady_ns = steady_ns;
}

static void manual_wait(tb__pacer_t *base, uint32_t events, int64_t deadline_ns, int64_t limit_ns)
{
  if (limit_ns < deadline_ns) deadline_ns = limit_ns;
  tb__manual_pacer_t *pacer = (tb__manual_pacer_t *)base;
  if (events != tb__pacer_events(base)) return;
  if (pacer->next_act < pacer->act_count &&
      pacer->acts[pacer->next_act].at_ns <= deadline_ns - TB__MANUAL_PACER_START) {
    const tb__manual_act_t *act = &pacer->acts[pacer->next_act++];
    advance_to(pacer, TB__MANUAL_PACER_START + act->at_ns);
    act->act(pacer->user);
    return;
  }
  if (deadline_ns == INT64_MAX) fail_msg("waits for ever");
  advance_to(pacer, deadline_ns);
}

void tb__manual_pacer_init(tb__manual_pacer_t *pacer)
{
  *pacer = (tb__manual_pacer_t){.base = {.now_ns = manual_now, .wait = manual_wait},
                                .steady_ns = TB__MANUAL_PACER_START};
}
