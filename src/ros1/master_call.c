#include "ros1/master_call.h"

#include <pthread.h>

#include "base/fork.h"
#include "base/saturate.h"
#include "held/parking.h"
#include "platform/time.h"

void tb__master_call_end(tb__master_call_t *call, tb_status_t status)
{
  call->status = status;
  atomic_store(&call->done, 1);
  tb__futex_wake_all(&call->done); /* uses the address only: the call may be gone */
}

tb_status_t tb__master_call_run(tb__master_call_t *call, int64_t limit_ns,
                                void (*begin)(void *user), void (*give_up)(void *user), void *user,
                                tb_error_t *error)
{
  tb__ros1_loop_t *loop = &call->context->loop;
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "%s: this is a forked child", call->what);
  if (pthread_equal(pthread_self(), loop->thread.impl))
    return tb_error_set(error, TB_ERR_DEADLOCK, "%s: this thread takes in what the master answers",
                        call->what);
  call->status = TB_ERR_TIMEOUT;
  tb__deadline_t deadline = {TB__DEADLINE_STEADY,
                             tb__add_saturated(tb__real_steady_now_ns(), limit_ns)};
  tb__ros1_loop_call(loop, begin, user);
  while (!atomic_load(&call->done))
    if (!tb__futex_wait_kernel(&call->done, 0, deadline)) break;
  tb__ros1_loop_call(loop, give_up, user);
  if (call->status == TB_ERR_TIMEOUT)
    return tb_error_set(error, TB_ERR_TIMEOUT, "%s: the ROS 1 master has not answered in time",
                        call->what);
  return call->status ? tb_error_set(error, call->status, "%s", call->error.text) : TB_OK;
}

tb_status_t tb__master_call_unanswered(tb__master_call_t *call, const char *why)
{
  const tb__ros1_uri_t *master = &call->context->node.master;
  return tb_error_set(&call->error, TB_ERR_TRANSPORT,
                      "the ROS 1 master at http://%s:%u does not answer (%s); start roscore, "
                      "or correct ROS_MASTER_URI",
                      master->host, (unsigned)master->port, why);
}
