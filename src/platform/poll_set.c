#include "platform/poll_set.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static void fd_close(int *fd)
{
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void fd_drain(int fd)
{
  uint64_t count;
  ssize_t got = read(fd, &count, sizeof count); /* nothing there is fine: it does not block */
  (void)got;
}

static tb_status_t watch(tb__poll_set_t *set, int fd)
{
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  return epoll_ctl(set->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? TB_ERR_SYSTEM : TB_OK;
}

tb_status_t tb__poll_set_init(tb__poll_set_t *set)
{
  set->event_fd = -1;
  set->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (set->epoll_fd < 0) goto fail;
  set->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (set->event_fd < 0 || watch(set, set->event_fd)) goto fail;
  return TB_OK;

fail:
  tb__poll_set_fini(set);
  return TB_ERR_SYSTEM;
}

void tb__poll_set_fini(tb__poll_set_t *set)
{
  fd_close(&set->event_fd);
  fd_close(&set->epoll_fd);
}

void tb__poll_set_raise(tb__poll_set_t *set)
{
  uint64_t one = 1;
  ssize_t written = write(set->event_fd, &one, sizeof one); /* full means raised */
  (void)written;
}

void tb__poll_set_wait(tb__poll_set_t *set)
{
  struct epoll_event event;
  while (epoll_wait(set->epoll_fd, &event, 1, -1) < 0 && errno == EINTR)
    ;
}

void tb__poll_set_clear(tb__poll_set_t *set)
{
  fd_drain(set->event_fd);
}

tb_status_t tb__poll_alarm_init(tb__poll_alarm_t *alarm, tb__poll_set_t *set, bool system)
{
  *alarm = (tb__poll_alarm_t){.system = system, .when_ns = INT64_MAX};
  alarm->fd = timerfd_create(system ? CLOCK_REALTIME : CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (alarm->fd < 0 || watch(set, alarm->fd)) {
    fd_close(&alarm->fd);
    return TB_ERR_SYSTEM;
  }
  tb__poll_alarm_list(alarm);
  return TB_OK;
}

void tb__poll_alarm_fini(tb__poll_alarm_t *alarm)
{
  if (alarm->fd < 0) return;
  tb__poll_alarm_unlist(alarm);
  fd_close(&alarm->fd);
}

void tb__poll_alarm_set_kernel(const tb__poll_alarm_t *alarm, int64_t when_ns)
{
  struct itimerspec spec = {0};
  if (when_ns != INT64_MAX) {
    int64_t at = when_ns > 0 ? when_ns : 1; /* zero would disarm */
    spec.it_value.tv_sec = at / 1000000000;
    spec.it_value.tv_nsec = at % 1000000000;
  }
  timerfd_settime(alarm->fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

void tb__poll_alarm_clear(tb__poll_alarm_t *alarm)
{
  fd_drain(alarm->fd);
}
