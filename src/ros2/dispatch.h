/* A thread for code that must not run on the middleware's receive threads: callbacks of the user
 * that answer requests or receive answers. It starts with its first member. */
#ifndef TB_ROS2_DISPATCH_H
#define TB_ROS2_DISPATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/mutex.h"
#include "platform/thread.h"

typedef struct tb__dispatch_member tb__dispatch_member_t;

/* A client or a service. */
struct tb__dispatch_member {
  void (*run)(tb__dispatch_member_t *member);    /* on the thread, with no lock held */
  void (*finish)(tb__dispatch_member_t *member); /* set during its own run, and called after it */
  int64_t due_ns;                                /* when it runs without a post; INT64_MAX: never */
  bool is_member, posted;
  tb__dispatch_member_t *next_posted;
  tb__dispatch_member_t *previous, *next;
};

typedef struct tb__dispatch {
  tb__mutex_t mutex;
  tb__dispatch_member_t *first;                      /* all */
  tb__dispatch_member_t *first_posted, *last_posted; /* in order */
  tb__dispatch_member_t *running;
  tb__thread_t thread;
  bool started, stop;
  int64_t next_due_ns;   /* of all members, or earlier */
  _Atomic uint32_t work; /* futex of the thread */
  _Atomic uint32_t done; /* futex of threads that wait for a run to end */
} tb__dispatch_t;

void tb__dispatch_init(tb__dispatch_t *dispatch);
void tb__dispatch_fini(tb__dispatch_t *dispatch);

/* Whether this is its thread, which must not wait for what members do. */
bool tb__dispatch_is_here(const tb__dispatch_t *dispatch);

/* TB_ERR_SYSTEM: no thread. */
TB_WARN_UNUSED tb_status_t tb__dispatch_add(tb__dispatch_t *dispatch, tb__dispatch_member_t *member,
                                            void (*run_member)(tb__dispatch_member_t *member));

/* Waits for a running `run`. Not from its own run. */
void tb__dispatch_remove(tb__dispatch_t *dispatch, tb__dispatch_member_t *member);

/* From its own run: removes it, and calls `finish` on the thread when the run has ended. Anywhere
 * else it does nothing and returns false. */
bool tb__dispatch_leave(tb__dispatch_t *dispatch, tb__dispatch_member_t *member,
                        void (*finish)(tb__dispatch_member_t *member));

/* Makes it run once more; several posts before a run count once. Never blocks for long. */
void tb__dispatch_post(tb__dispatch_t *dispatch, tb__dispatch_member_t *member);

/* Makes it also run once at a steady time. */
void tb__dispatch_set_due(tb__dispatch_t *dispatch, tb__dispatch_member_t *member, int64_t due_ns);

#endif
