#include "ros1/loop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/list.h"
#include "base/saturate.h"
#include "held/parking.h"
#include "platform/time.h"

#define NS_PER_S INT64_C(1000000000)

/* --- tasks --- */

static void wake_up(tb__ros1_loop_t *loop)
{
  uint64_t one = 1;
  ssize_t written = write(loop->wake.fd, &one, sizeof one);
  (void)written; /* a full counter is readable too */
}

static void run_tasks(tb__ros1_loop_t *loop)
{
  for (;;) {
    tb__mutex_lock(&loop->mutex);
    tb__ros1_task_t *task = loop->tasks;
    if (task) {
      loop->tasks = task->next;
      task->is_posted = false;
    }
    tb__mutex_unlock(&loop->mutex);
    if (!task) return;
    task->run(task);
  }
}

static void drain(const tb__ros1_watch_t *watch)
{
  uint64_t count;
  ssize_t got = read(watch->fd, &count, sizeof count);
  (void)got; /* nothing is there if it was drained already */
}

static void woken(tb__ros1_watch_t *watch, uint32_t events)
{
  (void)events;
  drain(watch);
  run_tasks(TB__ROS1_OWNER(watch, tb__ros1_loop_t, wake));
}

void tb__ros1_loop_post(tb__ros1_loop_t *loop, tb__ros1_task_t *task)
{
  tb__mutex_lock(&loop->mutex);
  if (!task->is_posted) {
    task->is_posted = true;
    TB__CHAIN_APPEND(loop->tasks, task);
  }
  tb__mutex_unlock(&loop->mutex);
  wake_up(loop);
}

void tb__ros1_loop_withdraw(tb__ros1_loop_t *loop, tb__ros1_task_t *task)
{
  tb__mutex_lock(&loop->mutex);
  if (task->is_posted) TB__CHAIN_REMOVE(loop->tasks, task);
  task->is_posted = false;
  tb__mutex_unlock(&loop->mutex);
}

typedef struct call {
  tb__ros1_task_t task;
  void (*function)(void *user);
  void *user;
  _Atomic uint32_t done; /* futex */
} call_t;

static void run_call(tb__ros1_task_t *task)
{
  call_t *call = TB__ROS1_OWNER(task, call_t, task);
  call->function(call->user);
  atomic_store(&call->done, 1);
  tb__futex_wake_all(&call->done); /* uses the address only: the call may be gone */
}

void tb__ros1_loop_call(tb__ros1_loop_t *loop, void (*function)(void *user), void *user)
{
  if (tb__is_forked()) return;
  if (!loop->runs || pthread_equal(pthread_self(), loop->thread.impl)) {
    function(user);
    return;
  }
  call_t call = {.task = {.run = run_call}, .function = function, .user = user};
  tb__ros1_loop_post(loop, &call.task);
  while (!atomic_load(&call.done))
    tb__futex_wait_kernel(&call.done, 0, TB__NO_DEADLINE);
}

/* --- timers --- */

void tb__ros1_loop_clear_timer(tb__ros1_loop_t *loop, tb__ros1_timer_t *timer)
{
  if (timer->is_set) TB__LIST_REMOVE(loop->timers, timer);
  timer->is_set = false;
}

void tb__ros1_loop_set_timer(tb__ros1_loop_t *loop, tb__ros1_timer_t *timer, int64_t at_ns)
{
  if (!timer->is_set) TB__LIST_PUSH(loop->timers, timer);
  timer->is_set = true;
  timer->at_ns = at_ns;
}

void tb__ros1_loop_set_timer_in(tb__ros1_loop_t *loop, tb__ros1_timer_t *timer, int64_t delay_ns)
{
  tb__ros1_loop_set_timer(loop, timer, tb__add_saturated(tb__real_steady_now_ns(), delay_ns));
}

static tb__ros1_timer_t *first_timer(const tb__ros1_loop_t *loop)
{
  tb__ros1_timer_t *first = loop->timers;
  for (tb__ros1_timer_t *timer = first; timer; timer = timer->next)
    if (timer->at_ns < first->at_ns) first = timer;
  return first;
}

/* A descriptor that becomes ready then, as a limit of each wait would cost more. Where the first
 * timer was cleared it expires too early, once. */
static void set_alarm(tb__ros1_loop_t *loop)
{
  const tb__ros1_timer_t *first = first_timer(loop);
  if (!first || first->at_ns >= loop->alarm_ns) return;
  int64_t at_ns = first->at_ns > 0 ? first->at_ns : 1; /* 0 would unset it */
  struct itimerspec at = {.it_value = {at_ns / NS_PER_S, at_ns % NS_PER_S}};
  if (timerfd_settime(loop->alarm.fd, TFD_TIMER_ABSTIME, &at, NULL) == 0)
    loop->alarm_ns = first->at_ns;
}

static void alarmed(tb__ros1_watch_t *watch, uint32_t events)
{
  tb__ros1_loop_t *loop = TB__ROS1_OWNER(watch, tb__ros1_loop_t, alarm);
  tb__ros1_timer_t *timer;
  (void)events;
  drain(watch);
  loop->alarm_ns = INT64_MAX;
  while ((timer = first_timer(loop)) && !atomic_load(&loop->must_stop) &&
         timer->at_ns <= tb__real_steady_now_ns()) {
    tb__ros1_loop_clear_timer(loop, timer);
    timer->expired(timer);
  }
}

/* --- descriptors --- */

tb_status_t tb__ros1_loop_watch(tb__ros1_loop_t *loop, tb__ros1_watch_t *watch, int fd,
                                uint32_t events)
{
  if (watch->fd == fd && watch->events == events) return TB_OK;
  struct epoll_event event = {.events = events, .data.ptr = watch};
  int operation = watch->fd == fd ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(loop->epoll_fd, operation, fd, &event)) return TB_ERR_SYSTEM;
  watch->fd = fd;
  watch->events = events;
  return TB_OK;
}

tb_status_t tb__ros1_loop_rearm(tb__ros1_loop_t *loop, tb__ros1_watch_t *watch)
{
  struct epoll_event event = {.events = watch->events, .data.ptr = watch};
  return epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event) ? TB_ERR_SYSTEM : TB_OK;
}

void tb__ros1_loop_unwatch(tb__ros1_loop_t *loop, tb__ros1_watch_t *watch)
{
  if (watch->fd >= 0) epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
  watch->fd = -1;
  watch->events = 0;
}

/* One event at a time, as `ready` may remove any other watch. */
static void *run(void *argument)
{
  tb__ros1_loop_t *loop = argument;
  while (!atomic_load(&loop->must_stop)) {
    struct epoll_event event;
    set_alarm(loop);
    if (epoll_wait(loop->epoll_fd, &event, 1, -1) != 1) continue;
    tb__ros1_watch_t *watch = event.data.ptr;
    watch->ready(watch, event.events);
  }
  return NULL;
}

static void close_all(tb__ros1_loop_t *loop)
{
  if (loop->wake.fd >= 0) close(loop->wake.fd);
  if (loop->alarm.fd >= 0) close(loop->alarm.fd);
  if (loop->epoll_fd >= 0) close(loop->epoll_fd);
  loop->wake.fd = loop->alarm.fd = loop->epoll_fd = -1;
}

/* Takes the descriptor over. */
static bool watch_own(tb__ros1_loop_t *loop, tb__ros1_watch_t *watch, int fd)
{
  if (fd < 0) return false;
  if (tb__ros1_loop_watch(loop, watch, fd, EPOLLIN) == TB_OK) return true;
  close(fd);
  return false;
}

tb_status_t tb__ros1_loop_start(tb__ros1_loop_t *loop)
{
  *loop = (tb__ros1_loop_t){.wake = {.fd = -1, .ready = woken},
                            .alarm = {.fd = -1, .ready = alarmed},
                            .alarm_ns = INT64_MAX};
  loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  tb__mutex_init(&loop->mutex);
  if (loop->epoll_fd < 0 || !watch_own(loop, &loop->wake, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) ||
      !watch_own(loop, &loop->alarm, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK))) {
    close_all(loop);
    tb__mutex_fini(&loop->mutex);
    return TB_ERR_SYSTEM;
  }
  tb_status_t status = tb__thread_start(&loop->thread, "tb-ros1", run, loop);
  loop->runs = status == TB_OK;
  if (status) tb__ros1_loop_stop(loop);
  return status;
}

void tb__ros1_loop_stop(tb__ros1_loop_t *loop)
{
  if (loop->runs && !tb__is_forked()) {
    atomic_store(&loop->must_stop, true);
    wake_up(loop);
    tb__thread_join(&loop->thread);
  }
  loop->runs = false;
  close_all(loop);
  tb__mutex_fini(&loop->mutex);
}
