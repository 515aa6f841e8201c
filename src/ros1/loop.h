/* The one thread of a context: descriptors, timers, and tasks from other threads. Whatever is not
 * marked otherwise is called on it. */
#ifndef TB_ROS1_LOOP_H
#define TB_ROS1_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/status.h>

#include "platform/mutex.h"
#include "platform/thread.h"
#include "ros1/turns.h"

/* A descriptor. Removing it from within `ready` is allowed. */
typedef struct tb__ros1_watch {
  int fd; /* -1: not watched */
  uint32_t events;
  void (*ready)(struct tb__ros1_watch *watch, uint32_t events); /* of epoll */
} tb__ros1_watch_t;

/* A moment in steady time, of the kernel also while a test holds time. */
typedef struct tb__ros1_timer {
  struct tb__ros1_timer *next, *previous;
  bool is_set;
  int64_t at_ns;
  void (*expired)(struct tb__ros1_timer *timer);
} tb__ros1_timer_t;

/* What another thread hands over. */
typedef struct tb__ros1_task {
  struct tb__ros1_task *next;
  bool is_posted;
  void (*run)(struct tb__ros1_task *task);
} tb__ros1_task_t;

typedef struct tb__ros1_loop {
  int epoll_fd;
  tb__ros1_watch_t wake;  /* tasks, and the end */
  tb__ros1_watch_t alarm; /* the first timer, or one that has been cleared */
  tb__ros1_timer_t *timers;
  int64_t alarm_ns; /* when it expires; INT64_MAX: it is not set */
  tb__thread_t thread;
  bool runs;
  atomic_bool must_stop;
  tb__mutex_t mutex;
  tb__ros1_task_t *tasks; /* guarded by the mutex; in order */
  tb__ros1_turns_t turns; /* of calls to peers that many are made to */
} tb__ros1_loop_t;

/* TB_ERR_SYSTEM. [any thread] */
tb_status_t tb__ros1_loop_start(tb__ros1_loop_t *loop) TB_WARN_UNUSED;
/* Ends the thread; tasks that it has not run are left. In a forked child only descriptors are
 * closed. [any thread but the loop's] */
void tb__ros1_loop_stop(tb__ros1_loop_t *loop);

/* [any thread] A task that is posted already is posted once. */
void tb__ros1_loop_post(tb__ros1_loop_t *loop, tb__ros1_task_t *task);
/* It will not run. [any thread, but for what is about to run the loop's] */
void tb__ros1_loop_withdraw(tb__ros1_loop_t *loop, tb__ros1_task_t *task);
/* Calls the function on the loop's thread and waits until it has returned; on that thread calls it
 * at once. Does nothing in a forked child. [any thread] */
void tb__ros1_loop_call(tb__ros1_loop_t *loop, void (*function)(void *user), void *user);

/* Changes the events of what is watched already. TB_ERR_SYSTEM. */
tb_status_t tb__ros1_loop_watch(tb__ros1_loop_t *loop, tb__ros1_watch_t *watch, int fd,
                                uint32_t events) TB_WARN_UNUSED;
/* Of a watch with EPOLLET: what is there to be read counts as having come only now. */
tb_status_t tb__ros1_loop_rearm(tb__ros1_loop_t *loop, tb__ros1_watch_t *watch) TB_WARN_UNUSED;
/* The descriptor stays open. */
void tb__ros1_loop_unwatch(tb__ros1_loop_t *loop, tb__ros1_watch_t *watch);

void tb__ros1_loop_set_timer(tb__ros1_loop_t *loop, tb__ros1_timer_t *timer, int64_t at_ns);
void tb__ros1_loop_clear_timer(tb__ros1_loop_t *loop, tb__ros1_timer_t *timer);
/* After so many nanoseconds from now. */
void tb__ros1_loop_set_timer_in(tb__ros1_loop_t *loop, tb__ros1_timer_t *timer, int64_t delay_ns);

/* The object that has `member`, for the callbacks above. */
#define TB__ROS1_OWNER(pointer, type, member)                                                      \
  ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
