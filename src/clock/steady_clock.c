#include <stdlib.h>
#include <timebase/steady_clock.h>

#include "clock/clock.h"
#include "platform/time.h"

tb_status_t tb_steady_clock_create(tb_steady_clock_t **out)
{
  if (!out) return TB_ERR_INVALID;
  tb_status_t status = tb__fork_watch();
  if (status) return status;
  tb_steady_clock_t *clock = calloc(1, sizeof *clock);
  if (!clock) return TB_ERR_NO_MEMORY;
  tb__clock_init(&clock->core, 0, tb__timeline_steady());
  *out = clock;
  return TB_OK;
}

tb_status_t tb_steady_clock_destroy(tb_steady_clock_t *clock)
{
  return clock ? tb__clock_destroy(&clock->core, INT64_MAX) : TB_OK;
}

tb_status_t tb_steady_clock_now(const tb_steady_clock_t *clock, tb_steady_time_t *out)
{
  if (!clock || !out) return TB_ERR_INVALID;
  out->ns = tb__steady_now_ns();
  return TB_OK;
}
