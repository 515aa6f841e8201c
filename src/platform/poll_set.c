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
  ssize_t got = read(fd, &count, sizeof count); /* it does not block if there is nothing */
  (void)got;
}

tb_status_t tb__poll_set_add(tb__poll_set_t *set, int fd)
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
  if (set->event_fd < 0 || tb__poll_set_add(set, set->event_fd)) goto fail;
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
  ssize_t written =
      write(set->event_fd, &one, sizeof one); /* it cannot fail: a full counter is raised */
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
