/* One descriptor that becomes readable by an event, or by descriptors that are added to it. */
#ifndef TB_PLATFORM_POLL_SET_H
#define TB_PLATFORM_POLL_SET_H

#include <timebase/status.h>

typedef struct tb__poll_set {
  int epoll_fd, event_fd;
} tb__poll_set_t;

/* TB_ERR_SYSTEM: no more descriptors. */
tb_status_t tb__poll_set_init(tb__poll_set_t *set) TB_WARN_UNUSED;
void tb__poll_set_fini(tb__poll_set_t *set);

void tb__poll_set_raise(tb__poll_set_t *set);
/* Blocks until the event is raised or an alarm has gone off. */
void tb__poll_set_wait(tb__poll_set_t *set);
/* Clears the event. */
void tb__poll_set_clear(tb__poll_set_t *set);

/* Adds a descriptor: the set is readable while that is. TB_ERR_SYSTEM */
tb_status_t tb__poll_set_add(tb__poll_set_t *set, int fd) TB_WARN_UNUSED;

#endif
