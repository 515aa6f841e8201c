#include "held/suspension.h"

#include "held/held_time.h"
#include "platform/futex.h"
#include "platform/time.h"

#define PERIOD_NS   INT64_C(25000000)
#define GAP_NS      INT64_C(40000000)  /* heartbeats are rarely this late while threads can run */
#define PATIENCE_NS INT64_C(200000000) /* for a heartbeat that is due */

static void note(tb__suspension_t *suspension, int64_t from_ns, int64_t to_ns)
{
  tb__mutex_lock(&suspension->mutex);
  unsigned place = suspension->next++ % TB__SUSPENSIONS;
  suspension->kept[place].from_ns = from_ns;
  suspension->kept[place].to_ns = to_ns;
  tb__mutex_unlock(&suspension->mutex);
}

static void *run(void *user)
{
  tb__suspension_t *suspension = user;
  int64_t last_ns = atomic_load(&suspension->beat_ns);
  while (!atomic_load(&suspension->stop)) {
    const tb__deadline_t deadline = {TB__DEADLINE_STEADY, last_ns + PERIOD_NS};
    tb__futex_wait_kernel(&suspension->stop, 0, deadline);
    int64_t now_ns = tb__real_steady_now_ns();
    if (now_ns - deadline.ns >= GAP_NS) note(suspension, last_ns, now_ns);
    last_ns = now_ns;
    atomic_store(&suspension->beat_ns, now_ns);
    atomic_fetch_add(&suspension->beats, 1);
    tb__futex_wake_kernel(&suspension->beats, INT32_MAX);
  }
  return NULL;
}

tb_status_t tb__suspension_start(tb__suspension_t *suspension)
{
  *suspension = (tb__suspension_t){0};
  tb__mutex_init(&suspension->mutex);
  atomic_store(&suspension->beat_ns, tb__real_steady_now_ns());
  tb_status_t status = tb__thread_start(&suspension->thread, "tb-beat", run, suspension);
  if (status) tb__mutex_fini(&suspension->mutex);
  return status;
}

void tb__suspension_end(tb__suspension_t *suspension)
{
  atomic_store(&suspension->stop, 1);
  tb__futex_wake_kernel(&suspension->stop, INT32_MAX);
  tb__thread_join(&suspension->thread);
  tb__mutex_fini(&suspension->mutex);
}

/* Waits until the thread has noted everything before `to_ns`: it may be continued after the
 * caller. */
static void await_beat(tb__suspension_t *suspension, int64_t to_ns)
{
  int64_t limit_ns = tb__real_steady_now_ns() + PATIENCE_NS;
  for (;;) {
    uint32_t beats = atomic_load(&suspension->beats);
    if (atomic_load(&suspension->beat_ns) >= to_ns - PERIOD_NS - GAP_NS) return;
    const tb__deadline_t limit = {TB__DEADLINE_STEADY, limit_ns};
    if (!tb__futex_wait_kernel(&suspension->beats, beats, limit)) return;
  }
}

int64_t tb__suspension_within(tb__suspension_t *suspension, int64_t from_ns, int64_t to_ns)
{
  int64_t total_ns = 0;
  if (tb__time_is_held()) return 0;
  await_beat(suspension, to_ns);
  tb__mutex_lock(&suspension->mutex);
  for (int i = 0; i < TB__SUSPENSIONS; i++) {
    int64_t start_ns = suspension->kept[i].from_ns, end_ns = suspension->kept[i].to_ns;
    if (start_ns < from_ns) start_ns = from_ns;
    if (end_ns > to_ns) end_ns = to_ns;
    if (end_ns > start_ns) total_ns += end_ns - start_ns;
  }
  tb__mutex_unlock(&suspension->mutex);
  return total_ns;
}
