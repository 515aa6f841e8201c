#include "held/wall_step.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "held/held_time.h"
#include "platform/mutex.h"
#include "platform/time.h"

#define NEVER_S  (INT64_C(1) << 33) /* centuries after any time to which the clock can be set */
#define ATTEMPTS 8
#define CLOSE_NS 200 /* two clocks read within this time count as read at once */

static tb__mutex_t fds_mutex = TB__MUTEX_INIT;
static int timer_fd = -1, event_fd = -1; /* written by the watcher, with the mutex held */
static bool announced;                   /* guarded by the mutex */

static void fds_close(void) TB_REQUIRES(fds_mutex)
{
  if (timer_fd >= 0) close(timer_fd);
  if (event_fd >= 0) close(event_fd);
  timer_fd = event_fd = -1;
}

/* An alarm that is never due, and that the kernel cancels when the clock is set. */
static bool timer_arm(void)
{
  struct itimerspec never = {.it_value.tv_sec = NEVER_S};
  return !timerfd_settime(timer_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

tb_status_t tb__wall_step_open(void)
{
  tb__mutex_lock(&fds_mutex);
  timer_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  bool ready = timer_fd >= 0 && event_fd >= 0 && timer_arm();
  if (!ready) fds_close();
  announced = false;
  tb__mutex_unlock(&fds_mutex);
  return ready ? TB_OK : TB_ERR_SYSTEM;
}

void tb__wall_step_close(void)
{
  tb__mutex_lock(&fds_mutex);
  fds_close();
  tb__mutex_unlock(&fds_mutex);
}

static void drain(int fd)
{
  uint64_t count;
  ssize_t got = read(fd, &count, sizeof count); /* the timer's: ECANCELED; it stays armed */
  (void)got;
}

static bool announcement_take(void)
{
  tb__mutex_lock(&fds_mutex);
  bool taken = announced;
  announced = false;
  tb__mutex_unlock(&fds_mutex);
  return taken;
}

tb__wall_event_t tb__wall_step_wait(int limit_ms)
{
  struct pollfd fds[2] = {{.fd = timer_fd, .events = POLLIN}, {.fd = event_fd, .events = POLLIN}};
  int ready = poll(fds, 2, limit_ms);
  if (ready == 0) return TB__WALL_QUIET;
  if (ready < 0) return TB__WALL_NUDGED; /* interrupted: check everything */
  if (fds[0].revents) drain(timer_fd);
  if (fds[1].revents) drain(event_fd);
  return announcement_take() || fds[0].revents ? TB__WALL_STEPPED : TB__WALL_NUDGED;
}

static void event_raise(bool step)
{
  uint64_t one = 1;
  tb__mutex_lock(&fds_mutex);
  if (step) announced = true;
  if (event_fd >= 0) {
    ssize_t written =
        write(event_fd, &one, sizeof one); /* it cannot fail: a full counter is raised */
    (void)written;
  }
  tb__mutex_unlock(&fds_mutex);
}

void tb__wall_step_nudge(void)
{
  event_raise(false);
}

void tb__wall_step_announce(void)
{
  event_raise(true);
}

/* The best of a few attempts: the thread may be preempted between two readings. */
int64_t tb__wall_offset_ns(void)
{
  int64_t closest_ns = INT64_MAX, offset_ns = 0;
  if (tb__time_is_held()) return tb__held_wall_offset_ns();
  int64_t apart_ns = tb__moved_apart_ns();
  for (int i = 0; i < ATTEMPTS && closest_ns > CLOSE_NS; i++) {
    int64_t before_ns = tb__steady_now_ns();
    int64_t system_ns = tb__system_now_ns();
    int64_t width_ns = tb__steady_now_ns() - before_ns;
    if (width_ns >= closest_ns) continue;
    closest_ns = width_ns;
    offset_ns = system_ns - before_ns - width_ns / 2;
  }
  return offset_ns - apart_ns;
}
