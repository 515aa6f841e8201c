/* A thread that runs a queue. It keeps `running` set as long as it lives, so no other thread runs
 * the queue. */
#include "clock/callback_context.h"
#include "held/parking.h"
#include "platform/time.h"
#include "wait/timer_queue.h"

static void *thread_run(void *argument)
{
  tb_timer_queue_t *queue = argument;
  atomic_store(&queue->runner, (uintptr_t)pthread_self());
  while (atomic_load(&queue->thread_wanted)) {
    /* fails where readers give up; tried again at the end of the jump */
    if (tb__timer_queue_run(queue, NULL) == TB_ERR_FORKED) return NULL;
    if (atomic_load(&queue->thread_wanted)) tb__poll_set_wait(&queue->poll);
  }
  atomic_store(&queue->runner, 0);
  atomic_store(&queue->thread_active, 0);
  tb__futex_wake_all(&queue->thread_active);
  return NULL;
}

tb_status_t tb_timer_queue_start_thread(tb_timer_queue_t *queue)
{
  if (!queue) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (atomic_exchange(&queue->running, true)) return TB_ERR_BUSY;
  tb__mutex_lock(&queue->mutex);
  atomic_store(&queue->thread_wanted, true);
  atomic_store(&queue->thread_active, 1);
  tb_status_t status = tb__thread_start(&queue->thread, "tb-timers", thread_run, queue);
  queue->has_thread = !status;
  if (status) {
    atomic_store(&queue->thread_wanted, false);
    atomic_store(&queue->thread_active, 0);
    atomic_store(&queue->running, false);
  }
  tb__mutex_unlock(&queue->mutex);
  return status;
}

/* Called when the thread's last call has ended; the first caller joins it. */
static void thread_join(tb_timer_queue_t *queue)
{
  tb__mutex_lock(&queue->mutex);
  if (queue->has_thread && !atomic_load(&queue->thread_active)) {
    tb__thread_join(&queue->thread);
    queue->has_thread = false;
    atomic_store(&queue->running, false);
  }
  tb__mutex_unlock(&queue->mutex);
}

tb_status_t tb_timer_queue_stop_thread(tb_timer_queue_t *queue, tb_duration_t limit)
{
  tb__deadline_t deadline;
  tb_status_t status = queue ? tb__limit_begin(limit, &deadline) : TB_ERR_INVALID;
  return status ? status : tb__timer_queue_stop_thread(queue, deadline);
}

tb_status_t tb__timer_queue_stop_thread(tb_timer_queue_t *queue, tb__deadline_t deadline)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__in_jump_callback() || tb__timer_queue_runs_here(queue)) return TB_ERR_DEADLOCK;
  atomic_store(&queue->thread_wanted, false);
  if (atomic_load(&queue->thread_active)) tb__poll_set_raise(&queue->poll);
  while (atomic_load(&queue->thread_active))
    if (!tb__futex_wait(&queue->thread_active, 1, deadline) && atomic_load(&queue->thread_active))
      return TB_ERR_TIMEOUT;
  thread_join(queue);
  return TB_OK;
}
