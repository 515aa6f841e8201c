/* Sets one parameter on many nodes: each gets its request as soon as it is present, without waiting
 * for the others. */
#include <stdlib.h>

#include "base/fork.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "clock/jump_wait.h"
#include "held/parking.h"
#include "platform/time.h"
#include "ros2/client.h"
#include "ros2/context.h"
#include "ros2/parameter_client.h"
#include "ros2/topic_endpoint.h"
#include "wait/call_wait.h"

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
  size_t open;             /* not sent yet */
  size_t sent;             /* each ends with a call of `on_response` */
  _Atomic size_t answered; /* `on_response` was called */
  _Atomic uint32_t events; /* futex: an answer or a node has arrived */
  tb__call_wait_t wait;
  /* Why open requests end when their client is destroyed: by the limit (TB_ERR_TIMEOUT) or as the
   * wait options ask. */
  _Atomic tb_status_t ended;
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
  tb_duration_t limit = time_left(batch->wait.deadline);
  job->try_ns = job->try_ns ? 2 * job->try_ns : FIRST_TRY_NS;
  if (limit.ns > job->try_ns) limit.ns = job->try_ns;
  return tb_ros2_client_call_async(job->client, batch->request, batch->size, limit, on_response,
                                   job, NULL);
}

static void on_response(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  job_t *job = user;
  batch_t *batch = job->batch;
  if (status == TB_ERR_TIMEOUT && time_left(batch->wait.deadline).ns > 0 && job_try(job) == TB_OK)
    return;
  if (!status) status = tb__set_response_read(response, 1, &job->outcome->result);
  if (status == TB_ERR_CLOSED && atomic_load(&batch->ended)) status = atomic_load(&batch->ended);
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
    tb_status_t status = tb__client_server_status(job->client);
    if (status == TB_ERR_UNSUPPORTED) job_end(job, status);
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

static tb_status_t requests_look(void *user)
{
  batch_t *batch = user;
  for (size_t i = 0; i < batch->count && batch->open > 0; i++)
    job_send(&batch->jobs[i]);
  return batch->open == 0 ? TB_OK : TB_ERR_TIMEOUT;
}

static tb_status_t answers_look(void *user)
{
  const batch_t *batch = user;
  return atomic_load(&batch->answered) == batch->sent ? TB_OK : TB_ERR_TIMEOUT;
}

static tb_status_t answers_wait(batch_t *batch)
{
  tb_status_t status = tb__call_wait_for(&batch->wait, requests_look, batch);
  for (size_t i = 0; i < batch->count; i++) {
    if (!batch->jobs[i].is_sent)
      job_end(&batch->jobs[i], status == TB_ERR_TIMEOUT ? TB_ERR_NOT_FOUND : status);
  }
  if (status && status != TB_ERR_TIMEOUT) return status;
  return tb__call_wait_for(&batch->wait, answers_look, batch);
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

static tb_status_t batch_run(batch_t *batch, tb_ros2_context_t *context, const char *const *nodes)
{
  for (size_t i = 0; i < batch->count; i++)
    job_start(batch, &batch->jobs[i], context, nodes[i]);
  tb_status_t status = answers_wait(batch);
  if (status) atomic_store(&batch->ended, status);
  for (size_t i = 0; i < batch->count; i++)
    tb_ros2_client_destroy(batch->jobs[i].client);
  return status == TB_ERR_TIMEOUT ? TB_OK : status;
}

static tb_status_t refused(tb_status_t status, const tb_ros2_parameter_t *parameter,
                           tb_error_t *error)
{
  return tb_error_set(error, status, "parameter %s on many nodes: %s",
                      parameter->name ? parameter->name : "(null)", tb_status_message(status));
}

static tb_status_t batch_begin(batch_t *batch, const tb_ros2_parameter_t *parameter,
                               const tb_wait_options_t *options,
                               tb_ros2_parameter_outcome_t *outcomes)
{
  tb_status_t status = tb__set_request_encode(parameter, 1, &batch->request, &batch->size);
  if (status) return status;
  batch->jobs = calloc(batch->count + 1, sizeof *batch->jobs);
  if (!batch->jobs) return TB_ERR_NO_MEMORY;
  status = tb__call_wait_begin(&batch->wait, options, &batch->events);
  for (size_t i = 0; i < batch->count; i++) {
    outcomes[i] = (tb_ros2_parameter_outcome_t){.status = status};
    batch->jobs[i].batch = batch;
    batch->jobs[i].outcome = &outcomes[i];
  }
  return status;
}

tb_status_t
tb_ros2_parameter_set_on_nodes_sized(tb_ros2_context_t *context, const char *const *nodes,
                                     size_t node_count, const tb_ros2_parameter_t *parameter,
                                     const tb_wait_options_t *options, size_t options_size,
                                     tb_ros2_parameter_outcome_t *outcomes, tb_error_t *error)
{
  tb_wait_options_t known;
  if (!context || (!nodes && node_count > 0) || !parameter || (!outcomes && node_count > 0))
    return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_wait_options_t");
  if (tb__is_forked()) return refused(TB_ERR_FORKED, parameter, error);
  if (tb__thread_may_not_wait() || tb__dispatch_is_here(tb__ros2_context_dispatch(context)))
    return refused(TB_ERR_DEADLOCK, parameter, error);
  batch_t batch = {.count = node_count, .open = node_count};
  tb_status_t status = batch_begin(&batch, parameter, options, outcomes);
  if (!status) {
    status = batch_run(&batch, context, nodes);
    tb__call_wait_end(&batch.wait);
  }
  free(batch.jobs);
  free(batch.request);
  return !status ? TB_OK : refused(status, parameter, error);
}
