#include "source/tick_queue.h"

#include <stdlib.h>

#include "clock/try_tick.h"
#include "held/parking.h"
#include "platform/time.h"

#define SMALL_STEP_NS INT64_C(1000000000)

/* Where jumps arrive faster than their handlers run, readers are no longer blocked after this time,
 * until the queue is empty: they read the time before the queued ticks. */
#define ANNOUNCED_LIMIT_NS INT64_C(100000000)

static void wake_thread(tb__tick_queue_t *queue)
{
  if (queue->loop) {
    tb__poll_set_raise(&queue->loop->poll);
    return;
  }
  atomic_fetch_add(&queue->work, 1);
  tb__futex_wake_one(&queue->work);
}

static tb__waiting_tick_t *waiting_tick(tb__tick_queue_t *queue, uint32_t index)
{
  return &queue->ticks[(queue->first + index) % TB__TICK_QUEUE_SIZE];
}

/* Whether a queued tick, or the one being dispatched, is a jump. */
static bool has_jump_locked(tb__tick_queue_t *queue) TB_REQUIRES(queue->mutex)
{
  for (uint32_t i = 0; i < queue->count; i++)
    if (!waiting_tick(queue, i)->small_step) return true;
  return false;
}

/* These two run under the queue's mutex, so that one does not undo the other. */
static void announce_locked(tb__tick_queue_t *queue, tb__waiting_tick_t *tick)
    TB_REQUIRES(queue->mutex)
{
  if (tick->announced || queue->overloaded || queue->loop) return;
  tick->announced = true;
  if (queue->announced++ > 0) return;
  queue->announced_since_ns = tb__real_steady_now_ns();
  tb__timeline_announce(queue->timeline);
}

static void end_announced_locked(tb__tick_queue_t *queue) TB_REQUIRES(queue->mutex)
{
  for (uint32_t i = 0; i < queue->count; i++)
    waiting_tick(queue, i)->announced = false;
  queue->announced = 0;
  tb__timeline_end_announced(queue->timeline);
}

/* After the first has been dispatched. */
static void remove_first_locked(tb__tick_queue_t *queue) TB_REQUIRES(queue->mutex)
{
  bool announced = waiting_tick(queue, 0)->announced;
  queue->first = (queue->first + 1) % TB__TICK_QUEUE_SIZE;
  if (--queue->count == 0) queue->overloaded = false;
  if (!announced) return;
  queue->announced--;
  int64_t since_ns = queue->announced_since_ns;
  if (queue->announced && has_jump_locked(queue))
    queue->overloaded = tb__real_steady_now_ns() - since_ns > ANNOUNCED_LIMIT_NS;
  if (!queue->announced || queue->overloaded) end_announced_locked(queue);
}

/* The first stays in the ring while it is dispatched, so that no tick overtakes it. Waiters that
 * are due became so by ticks before it. */
static bool dispatch_next(tb__tick_queue_t *queue)
{
  tb__mutex_lock(&queue->mutex);
  bool due = queue->due_wanted;
  queue->due_wanted = false;
  bool work = !queue->stop && queue->count > 0;
  int64_t time_ns = work ? waiting_tick(queue, 0)->time_ns : 0;
  tb__mutex_unlock(&queue->mutex);
  if (due) tb__timeline_wake_due(queue->timeline);
  if (!work) return due;
  tb_timeline_tick(queue->timeline, time_ns, TB_JUMP_REASON_NONE);
  tb__mutex_lock(&queue->mutex);
  remove_first_locked(queue);
  tb__mutex_unlock(&queue->mutex);
  return true;
}

static void report_if_wanted(tb__tick_queue_t *queue)
{
  tb__mutex_lock(&queue->mutex);
  bool wanted = queue->report_wanted;
  queue->report_wanted = false;
  tb__mutex_unlock(&queue->mutex);
  if (!wanted) return;
  queue->report_at_ns = 0;
  queue->report(queue->report_user);
}

static void wait_for_work(tb__tick_queue_t *queue, uint32_t seen)
{
  tb__deadline_t deadline = TB__NO_DEADLINE;
  if (queue->report_at_ns) deadline = (tb__deadline_t){TB__DEADLINE_STEADY, queue->report_at_ns};
  if (tb__futex_wait_kernel(&queue->work, seen, deadline)) return;
  tb__mutex_lock(&queue->mutex);
  queue->report_wanted = true;
  tb__mutex_unlock(&queue->mutex);
}

static bool report_drained(tb__tick_queue_t *queue)
{
  tb__mutex_lock(&queue->mutex);
  bool wanted = queue->drained_wanted && !queue->count && !queue->stop;
  if (wanted) queue->drained_wanted = false;
  tb__mutex_unlock(&queue->mutex);
  if (wanted) queue->drained(queue->report_user);
  return wanted;
}

static void *run(void *argument)
{
  tb__tick_queue_t *queue = argument;
  for (;;) {
    uint32_t seen = atomic_load(&queue->work);
    bool dispatched = dispatch_next(queue); /* first, as readers may wait for it */
    report_if_wanted(queue);
    if (dispatched || report_drained(queue)) continue;
    tb__mutex_lock(&queue->mutex);
    bool stop = queue->stop;
    tb__mutex_unlock(&queue->mutex);
    if (stop) {
      report_if_wanted(queue); /* requested since the last check */
      return NULL;
    }
    wait_for_work(queue, seen);
  }
}

static void queue_init(tb__tick_queue_t *queue, tb_timeline_t *timeline, tb__tick_report_t report,
                       tb__tick_report_t drained, void *user, tb__tick_loop_t *loop)
{
  *queue = (tb__tick_queue_t){.timeline = timeline,
                              .report = report,
                              .drained = drained,
                              .report_user = user,
                              .loop = loop};
  tb__mutex_init(&queue->mutex);
}

void tb__tick_queue_init_for_loop(tb__tick_queue_t *queue, tb_timeline_t *timeline,
                                  tb__tick_report_t report, tb__tick_report_t drained, void *user,
                                  tb__tick_loop_t *loop)
{
  queue_init(queue, timeline, report, drained, user, loop);
}

/* What comes while it runs waits for the next run, so that it ends. */
uint32_t tb__tick_queue_run(tb__tick_queue_t *queue)
{
  tb__poll_set_clear(&queue->loop->poll);
  tb__poll_alarm_clear(&queue->loop->alarm);
  tb__mutex_lock(&queue->mutex);
  if (queue->report_at_ns && queue->report_at_ns <= tb__real_steady_now_ns())
    queue->report_wanted = true;
  uint32_t count = queue->count, dispatched = 0;
  tb__mutex_unlock(&queue->mutex);
  while (dispatched < count && dispatch_next(queue))
    dispatched++;
  if (!count) dispatch_next(queue); /* waiters that are due */
  report_if_wanted(queue);
  if (!report_drained(queue)) {
    tb__mutex_lock(&queue->mutex);
    bool more = queue->count > 0 || queue->due_wanted;
    tb__mutex_unlock(&queue->mutex);
    if (more) wake_thread(queue);
  }
  tb__poll_alarm_set(&queue->loop->alarm, queue->report_at_ns ? queue->report_at_ns : INT64_MAX);
  return dispatched;
}

tb_status_t tb__tick_loop_create(tb__tick_loop_t **out)
{
  tb__tick_loop_t *loop = calloc(1, sizeof *loop);
  if (!loop) return TB_ERR_NO_MEMORY;
  tb_status_t status = tb__poll_set_init(&loop->poll);
  if (!status) {
    status = tb__poll_alarm_init(&loop->alarm, &loop->poll, false);
    if (status) tb__poll_set_fini(&loop->poll);
  }
  if (status)
    free(loop);
  else
    *out = loop;
  return status;
}

void tb__tick_loop_destroy(tb__tick_loop_t *loop)
{
  if (!loop) return;
  tb__poll_alarm_fini(&loop->alarm);
  tb__poll_set_fini(&loop->poll);
  free(loop);
}

void tb__tick_loop_raise(tb__tick_loop_t *loop)
{
  tb__poll_set_raise(&loop->poll);
}

void tb__tick_loop_clear(tb__tick_loop_t *loop)
{
  tb__poll_set_clear(&loop->poll);
  tb__poll_alarm_set(&loop->alarm, INT64_MAX);
}

int tb__tick_loop_fd(const tb__tick_loop_t *loop)
{
  return loop->poll.epoll_fd;
}

tb_status_t tb__tick_queue_init(tb__tick_queue_t *queue, tb_timeline_t *timeline,
                                tb__tick_report_t report, tb__tick_report_t drained, void *user)
{
  queue_init(queue, timeline, report, drained, user, NULL);
  tb_status_t status = tb__thread_start(&queue->thread, "tb-clock", run, queue);
  if (status) tb__mutex_fini(&queue->mutex);
  return status;
}

void tb__tick_queue_fini(tb__tick_queue_t *queue)
{
  tb__mutex_lock(&queue->mutex);
  queue->stop = true;
  tb__mutex_unlock(&queue->mutex);
  if (!queue->loop) {
    wake_thread(queue);
    tb__thread_join(&queue->thread);
  }
  tb__mutex_lock(&queue->mutex);
  if (queue->announced) end_announced_locked(queue);
  tb__mutex_unlock(&queue->mutex);
  tb__mutex_fini(&queue->mutex);
}

/* The first is being dispatched: only ticks after it may still change. The passing of time blocks
 * no reader, but after a queued jump readers wait for it too. */
static void enqueue_locked(tb__tick_queue_t *queue, int64_t time_ns, bool small_step)
    TB_REQUIRES(queue->mutex)
{
  bool full = queue->count == TB__TICK_QUEUE_SIZE;
  tb__waiting_tick_t *last = queue->count > 0 ? waiting_tick(queue, queue->count - 1) : NULL;
  if (full || (queue->count > 1 && small_step && last->small_step)) {
    last->time_ns = time_ns;
    last->small_step = last->small_step && small_step;
  } else {
    last = waiting_tick(queue, queue->count++);
    *last = (tb__waiting_tick_t){.time_ns = time_ns, .small_step = small_step};
  }
  if (has_jump_locked(queue)) announce_locked(queue, last);
}

void tb__tick_queue_tick(tb__tick_queue_t *queue, int64_t time_ns)
{
  /* X5: a step forward is committed here; jumps with handlers and waiters are the thread's */
  bool due = false;
  tb__mutex_lock(&queue->mutex);
  int64_t step_ns = time_ns - queue->last_ns;
  bool small_step = queue->last_ns > 0 && step_ns >= 0 && step_ns < SMALL_STEP_NS;
  bool passes = queue->last_ns > 0 && step_ns >= 0;
  bool direct = queue->count == 0 && (passes || !queue->loop) &&
                tb__timeline_try_tick(queue->timeline, time_ns, &due) != TB_ERR_BUSY;
  if (!direct) enqueue_locked(queue, time_ns, small_step);
  if (due) queue->due_wanted = true;
  queue->last_ns = time_ns;
  tb__mutex_unlock(&queue->mutex);
  if (!direct || due) wake_thread(queue);
}

void tb__tick_queue_report(tb__tick_queue_t *queue)
{
  if (!queue->report) return;
  tb__mutex_lock(&queue->mutex);
  queue->report_wanted = true;
  tb__mutex_unlock(&queue->mutex);
  wake_thread(queue);
}

void tb__tick_queue_report_again(tb__tick_queue_t *queue, int64_t at_ns)
{
  queue->report_at_ns = at_ns;
}

void tb__tick_queue_when_drained(tb__tick_queue_t *queue)
{
  tb__mutex_lock(&queue->mutex);
  queue->drained_wanted = true;
  tb__mutex_unlock(&queue->mutex);
  wake_thread(queue);
}
