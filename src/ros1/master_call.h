/* Calls of a program that wait for what the loop's thread finds out. */
#ifndef TB_ROS1_MASTER_CALL_H
#define TB_ROS1_MASTER_CALL_H

#include "ros1/context.h"

typedef struct tb__master_call {
  tb_ros1_context_t *context;
  const char *what; /* begins what is reported */
  tb_status_t status;
  tb_error_t error;
  _Atomic uint32_t done; /* futex */
} tb__master_call_t;

/* On the loop's thread: the call has its status, and its error where it failed. It may be gone when
 * this returns. */
void tb__master_call_end(tb__master_call_t *call, tb_status_t status);

/* Has `begin` run on the loop's thread, and waits for tb__master_call_end, for `limit_ns` at most;
 * `give_up` runs there afterwards in any case. TB_ERR_TIMEOUT, TB_ERR_DEADLOCK, TB_ERR_FORKED, or
 * the call's. */
tb_status_t tb__master_call_run(tb__master_call_t *call, int64_t limit_ns,
                                void (*begin)(void *user), void (*give_up)(void *user), void *user,
                                tb_error_t *error) TB_WARN_UNUSED;

/* "the ROS 1 master at http://localhost:11311 does not answer (...); start roscore, ..." into the
 * call's error. TB_ERR_TRANSPORT. */
tb_status_t tb__master_call_unanswered(tb__master_call_t *call, const char *why);

#endif
