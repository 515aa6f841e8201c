/* Sets one parameter on many nodes: each gets its request as soon as it is present, without waiting
 * for the others. */
#include <stdlib.h>

#include "base/fork.h"
#include "base/null_argument.h"
#include "clock/jump_wait.h"
#include "held/parking.h"
#include "platform/time.h"
#include "ros2/client.h"
#include "ros2/context.h"
#include "ros2/parameter_client.h"
#include "ros2/topic_endpoint.h"

/* The wait for an answer before the request is sent again; it doubles each time. DDS does not send
 * a first message again that is lost because its reader has not discovered its writer yet, where
 * neither keeps history. A node that receives both requests sets the same value twice. */
#define FIRST_TRY_NS (2 * TB_NS_PER_S)

typedef struct batch batch_t;

typedef struct job {
  batch_t *batch;
  tb_ros2_client_t *client;
  tb_ros2_parameter_outcome_t *outcome;
  int64_t try_ns; /* the last one */
  bool is_sent;
} job_t;

struct batch {
  job_t *jobs;
  size_t count;
  uint8_t *request;
  size_t size;
  tb__deadline_t deadline;
  size_t open;              /* not sent yet */
  size_t sent;              /* each ends with a call of `on_response` */
  _Atomic size_t answered;  /* `on_response` was called */
  _Atomic uint32_t events;  /* futex: an answer or a node has arrived */
  _Atomic bool is_too_late; /* open requests end by the limit, not by the end of their client */
};

static tb_duration_t time_left(tb__deadline_t deadline)
{
  if (deadline.clock == TB__DEADLINE_NONE) return (tb_duration_t){INT64_MAX};
  int64_t left_ns = deadline.ns - tb__steady_now_ns();
  return left_ns > 0 ? (tb_duration_t){left_ns} : TB_NO_WAIT;
}

static void on_response(tb_status_t status, const tb_ros2_response_t *response, void *user);

static tb_status_t job_try(job_t *job)
{
  batch_t *batch = job->batch;
  tb_duration_t limit = time_left(batch->deadline);
  job->try_ns = job->try_ns ? 2 * job->try_ns : FIRST_TRY_NS;
  if (limit.ns > job->try_ns) limit.ns = job->try_ns;
  return tb_ros2_client_call_async(job->client, batch->request, batch->size, limit, on_response,
                                   job, NULL);
}

static void on_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  job_t *job = user;
  batch_t *batch = job->batch;
  if (status == TB_ERR_TIMEOUT && time_left(batch->deadline).ns > 0 && job_try(job) == TB_OK)
    return;
  if (!status) status = tb__set_response_read(response, 1, &job->outcome->result);
  if (status == TB_ERR_CLOSED && atomic_load(&batch->is_too_late)) status = TB_ERR_TIMEOUT;
  job->outcome->status = status;
  atomic_fetch_add(&batch->answered, 1);
  atomic_fetch_add(&batch->events, 1);
  tb__futex_wake_all(&batch->events);
}

static void job_end(job_t *job, tb_status_t status)
{
  job->is_sent = true;
  job->outcome->status = status;
  job->batch->open--;
}

static void job_send(job_t *job)
{
  batch_t *batch = job->batch;
  if (job->is_sent) return;
  if (!tb_ros2_client_is_service_ready(job->client)) {
    if (tb__client_has_foreign_server(job->client)) job_end(job, TB_ERR_UNSUPPORTED);
    return;
  }
  /* Counted first: the answer may arrive before job_try returns. */
  batch->sent++;
  tb_status_t status = job_try(job);
  if (!status) {
    job->is_sent = true;
    batch->open--;
    return;
  }
  batch->sent--;
  if (status != TB_ERR_NOT_FOUND) job_end(job, status); /* else the service has gone again */
}

static void jobs_send(batch_t *batch)
{
  for (;;) {
    uint32_t seen = atomic_load(&batch->events);
    for (size_t i = 0; i < batch->count && batch->open > 0; i++)
      job_send(&batch->jobs[i]);
    if (batch->open == 0) return;
    if (!tb__futex_wait(&batch->events, seen, batch->deadline)) break;
  }
  for (size_t i = 0; i < batch->count; i++) {
    if (!batch->jobs[i].is_sent) job_end(&batch->jobs[i], TB_ERR_NOT_FOUND);
  }
}

static void answers_wait(batch_t *batch)
{
  for (;;) {
    uint32_t seen = atomic_load(&batch->events);
    if (atomic_load(&batch->answered) == batch->sent) return;
    if (!tb__futex_wait(&batch->events, seen, batch->deadline)) return;
  }
}

static void job_start(batch_t *batch, job_t *job, tb_ros2_context_t *context, const char *node)
{
  tb_status_t status = TB_ERR_INVALID;
  if (tb__is_full_node_name(node))
    status = tb__parameter_service_client(context, node, "set_parameters",
                                          "rcl_interfaces/srv/SetParameters", &job->client, NULL);
  if (!status)
    tb__client_watch(job->client, &batch->events);
  else
    job_end(job, status);
}

static void batch_run(batch_t *batch, tb_ros2_context_t *context, const char *const *nodes)
{
  for (size_t i = 0; i < batch->count; i++)
    job_start(batch, &batch->jobs[i], context, nodes[i]);
  jobs_send(batch);
  answers_wait(batch);
  atomic_store(&batch->is_too_late, true);
  for (size_t i = 0; i < batch->count; i++)
    tb_ros2_client_destroy(batch->jobs[i].client);
}

static tb_status_t refused(tb_status_t status, const tb_ros2_parameter_t *parameter,
                           tb_error_t *error)
{
  return tb_error_set(error, status, "parameter %s on many nodes: %s",
                      parameter->name ? parameter->name : "(null)", tb_status_message(status));
}

tb_status_t tb_ros2_parameter_set_on_nodes(tb_ros2_context_t *context, const char *const *nodes,
                                           size_t node_count, const tb_ros2_parameter_t *parameter,
                                           tb_duration_t limit,
                                           tb_ros2_parameter_outcome_t *outcomes, tb_error_t *error)
{
  if (!context || (!nodes && node_count > 0) || !parameter || (!outcomes && node_count > 0))
    return tb__null_argument(error, __func__);
  if (tb__is_forked()) return refused(TB_ERR_FORKED, parameter, error);
  if (tb__thread_may_not_wait() || tb__dispatch_is_here(tb__ros2_context_dispatch(context)))
    return refused(TB_ERR_DEADLOCK, parameter, error);
  batch_t batch = {.count = node_count, .open = node_count};
  tb_status_t status = tb__limit_begin(limit, &batch.deadline);
  if (!status) status = tb__set_request_encode(parameter, 1, &batch.request, &batch.size);
  if (status) return refused(status, parameter, error);
  batch.jobs = calloc(node_count + 1, sizeof *batch.jobs);
  if (!batch.jobs) {
    free(batch.request);
    return refused(TB_ERR_NO_MEMORY, parameter, error);
  }
  for (size_t i = 0; i < batch.count; i++) {
    outcomes[i] = (tb_ros2_parameter_outcome_t){0};
    batch.jobs[i].batch = &batch;
    batch.jobs[i].outcome = &outcomes[i];
  }
  batch_run(&batch, context, nodes);
  free(batch.jobs);
  free(batch.request);
  return TB_OK;
}
