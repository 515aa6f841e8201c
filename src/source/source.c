#include "clock/source.h"

#include <stdlib.h>

#include "clock/clock.h"
#include "clock/default_source.h"
#include "clock/running.h"
#include "platform/futex.h"

tb_status_t tb_source_create(const tb_source_ops_t *ops, void *self, tb_source_t **out)
{
  if (!ops || !out) return TB_ERR_INVALID;
  tb_source_t *source = calloc(1, sizeof *source);
  if (!source) return TB_ERR_NO_MEMORY;
  tb_status_t status = tb__timeline_create(&source->timeline);
  if (status) {
    free(source);
    return status;
  }
  tb__mutex_init(&source->mutex);
  source->ops = ops;
  source->self = self;
  *out = source;
  return TB_OK;
}

/* Referenced, so that it may be destroyed meanwhile. */
static tb_clock_t *first_clock(tb_source_t *source)
{
  tb__mutex_lock(&source->mutex);
  tb_clock_t *clock = source->clocks;
  if (clock) tb__clock_ref(clock);
  tb__mutex_unlock(&source->mutex);
  return clock;
}

/* A clock that has just left on another thread may still be stopping the source. */
static void wait_until_stopped(tb_source_t *source)
{
  uint32_t phase;
  while ((phase = atomic_load(&source->phase)) != TB__SOURCE_STOPPED)
    tb__futex_wait(&source->phase, phase, TB__NO_DEADLINE);
}

tb_status_t tb_source_destroy(tb_source_t *source)
{
  if (!source) return TB_OK;
  if (source == TB_SOURCE_DEFAULT) return TB_ERR_INVALID;
  if (tb__jump_of_thread) return TB_ERR_DEADLOCK;
  tb__default_forget(source);
  tb_clock_t *clock;
  while ((clock = first_clock(source))) {
    tb__clock_orphan(clock, source);
    tb__clock_unref(clock);
  }
  wait_until_stopped(source);
  tb__timeline_set_detached(source->timeline, true);
  tb__running_end(source->timeline); /* moved without a clock */
  if (source->ops->destroy) source->ops->destroy(source->self);
  tb__timeline_unref(source->timeline);
  tb__mutex_fini(&source->mutex);
  free(source);
  return TB_OK;
}

tb_timeline_t *tb_source_timeline(tb_source_t *source)
{
  return source && source != TB_SOURCE_DEFAULT ? source->timeline : NULL;
}
