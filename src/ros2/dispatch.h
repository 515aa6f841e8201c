/* One thread for what must not run on the middleware's receive threads: code of the user's that
 * answers requests, or waits for answers. It starts with its first member. */
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
  void (*run)(tb__dispatch_member_t *member);    /* on the thread, with nothing held */
  void (*finish)(tb__dispatch_member_t *member); /* set in its own run, and called after that */
  int64_t due_ns;                                /* when it runs unasked; INT64_MAX: never */
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
  _Atomic uint32_t done; /* futex of those who wait for a run to end */
} tb__dispatch_t;

void tb__dispatch_init(tb__dispatch_t *dispatch);
void tb__dispatch_fini(tb__dispatch_t *dispatch);

/* This is its thread: what the members do is not to be waited for. */
bool tb__dispatch_is_here(const tb__dispatch_t *dispatch);

/* TB_ERR_SYSTEM: no thread. */
tb_status_t tb__dispatch_add(tb__dispatch_t *dispatch, tb__dispatch_member_t *member,
                             void (*run_member)(tb__dispatch_member_t *member));

/* Waits until it does not run. Not from its own run. */
void tb__dispatch_remove(tb__dispatch_t *dispatch, tb__dispatch_member_t *member);

/* From its own run: removes it, and has `finish` called on the thread when the run has ended. False
 * anywhere else: nothing is done. */
bool tb__dispatch_leave(tb__dispatch_t *dispatch, tb__dispatch_member_t *member,
                        void (*finish)(tb__dispatch_member_t *member));

/* Has it run once more; what is posted before it runs counts once. Never blocks for long. */
void tb__dispatch_post(tb__dispatch_t *dispatch, tb__dispatch_member_t *member);

/* Has it run at a steady time too, once. */
void tb__dispatch_set_due(tb__dispatch_t *dispatch, tb__dispatch_member_t *member, int64_t due_ns);

#endif
