#include "held/pacer.h"

#include "held/held_time.h"
#include "held/parking.h"
#include "platform/time.h"

static int64_t steady_now(tb__pacer_t *pacer)
{
  (void)pacer;
  return tb__steady_now_ns();
}

static void steady_wait(tb__pacer_t *pacer, uint32_t events, int64_t deadline_ns, int64_t limit_ns)
{
  if (limit_ns < deadline_ns) deadline_ns = limit_ns;
  tb__deadline_t deadline = {TB__DEADLINE_STEADY, deadline_ns};
  tb__wait_spec_t spec = {.deadline = deadline_ns == INT64_MAX ? TB__NO_DEADLINE : deadline,
                          .system_ns = INT64_MAX,
                          .held = tb__time_is_held(),
                          .rechecks = true,
                          .counts_as_idle = true};
  tb__futex_wait_spec(&pacer->events, events, &spec);
}

void tb__pacer_init(tb__pacer_t *pacer)
{
  *pacer = (tb__pacer_t){.now_ns = steady_now, .wait = steady_wait};
}

void tb__pacer_nudge(tb__pacer_t *pacer)
{
  atomic_fetch_add(&pacer->events, 1);
  if (pacer->wake)
    pacer->wake(pacer);
  else
    tb__futex_wake_all(&pacer->events);
}
