#include "ros2/node_time.h"

#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "clock/claim.h"
#include "ros2/clock_source.h"

void tb__node_time_init(tb__node_time_t *time, tb__shared_sources_t *sources,
                        tb__announced_node_t *announced, const char *topic)
{
  *time = (tb__node_time_t){
      .sources = sources, .announced_node = announced, .topic = topic, .qos = TB_QOS_INIT_CLOCK};
  tb__mutex_init(&time->turn);
}

/* The source that the last tb__node_time_follow of this thread has left. */
static _Thread_local tb__source_lease_t left;

static tb_source_t *source_of(const tb__source_lease_t *lease)
{
  return lease->shared ? lease->shared->source : NULL;
}

static void lease_end(tb__node_time_t *time, tb__source_lease_t lease)
{
  tb_clock_destroy(lease.keeper);
  tb__shared_source_release(time->sources, lease.shared);
}

static tb_status_t refused(const char *name, tb_status_t status, tb_error_t *error)
{
  return tb_error_set(error, status, "time source '%s' cannot be used: %s", name,
                      tb_status_message(status));
}

/* Afterwards the source runs. */
static tb_status_t lease_begin(tb__node_time_t *time, const char *name, tb__source_lease_t *out,
                               tb_error_t *error)
{
  tb__source_lease_t lease = {NULL, NULL};
  tb_status_t status =
      tb__shared_source_acquire(time->sources, name, time->topic, &time->qos, &lease.shared, error);
  if (status) return status;
  tb_clock_options_t options = {TB_TIME_ROS, lease.shared->source};
  status = tb_clock_create(&options, &lease.keeper);
  if (status) {
    left = lease;
    return refused(name, status, error);
  }
  *out = lease;
  return TB_OK;
}

/* The subscription belongs to the source and is shared; each node that uses it lists it. */
static void reader_announce(tb__node_time_t *time) TB_REQUIRES(time->turn)
{
  tb_error_t error = TB_ERROR_INIT;
  tb__guid_t guid;
  tb__announced_remove(&time->announced);
  const tb__shared_source_t *shared = time->lease.shared;
  if (!shared || !shared->clock_topic) return;
  if (!tb__clock_source_reader_guid(shared->clock_topic, &guid)) return;
  if (tb__announced_add(&time->announced, time->announced_node, &guid, NULL, &error) != TB_OK)
    tb__log(TB_LOG_WARN, "%s: the subscription of %s is not shown under the node", error.text,
            time->topic);
}

static tb_status_t clocks_move(tb__node_time_t *time, tb_source_t *to) TB_REQUIRES(time->turn)
{
  for (size_t i = 0; i < time->clock_count; i++) {
    tb_status_t status = tb__clock_set_claimed(time->clocks[i], to);
    if (!status) continue;
    while (i-- > 0)
      tb__clock_set_claimed(time->clocks[i], source_of(&time->lease));
    return status;
  }
  return TB_OK;
}

tb_status_t tb__node_time_follow(tb__node_time_t *time, const char *name, tb_error_t *error)
{
  tb__source_lease_t next = {NULL, NULL};
  tb_status_t status = name ? lease_begin(time, name, &next, error) : TB_OK;
  if (status) return status;
  tb__mutex_lock(&time->turn);
  status = clocks_move(time, source_of(&next));
  if (!status) {
    left = time->lease;
    time->lease = next;
    if (left.shared != next.shared) reader_announce(time);
  } else {
    left = next;
    refused(name ? name : "(none)", status, error);
  }
  tb__mutex_unlock(&time->turn);
  return status;
}

void tb__node_time_settle(tb__node_time_t *time)
{
  tb__source_lease_t ended = left;
  left = (tb__source_lease_t){NULL, NULL}; /* before a source's code runs */
  lease_end(time, ended);
}

tb_status_t tb__node_time_status(tb__node_time_t *time, tb_ros2_clock_source_status_t *out)
{
  tb_status_t status = TB_ERR_NOT_FOUND;
  tb__mutex_lock(&time->turn);
  if (time->lease.shared && time->lease.shared->clock_topic)
    status = tb_ros2_clock_source_status(time->lease.shared->clock_topic, out);
  tb__mutex_unlock(&time->turn);
  return status;
}

static size_t clock_index(const tb__node_time_t *time, const tb_clock_t *clock)
    TB_REQUIRES(time->turn)
{
  size_t i = 0;
  while (i < time->clock_count && time->clocks[i] != clock)
    i++;
  return i;
}

static bool clocks_grow(tb__node_time_t *time) TB_REQUIRES(time->turn)
{
  if (time->clock_count < time->clock_size) return true;
  size_t size = time->clock_size ? 2 * time->clock_size : 4;
  tb_clock_t **clocks = realloc(time->clocks, size * sizeof(tb_clock_t *));
  if (!clocks) return false;
  time->clocks = clocks;
  time->clock_size = size;
  return true;
}

static tb_status_t clock_claim_and_move(tb_clock_t *clock, tb_source_t *to)
{
  if (!tb__clock_claim(clock)) return TB_ERR_BUSY;
  tb_status_t status = tb__clock_set_claimed(clock, to);
  if (status) tb__clock_unclaim(clock);
  return status;
}

tb_status_t tb__node_time_add(tb__node_time_t *time, tb_clock_t *clock)
{
  tb__mutex_lock(&time->turn);
  tb_status_t status = TB_OK;
  if (clock_index(time, clock) < time->clock_count)
    status = TB_ERR_INVALID;
  else if (!clocks_grow(time))
    status = TB_ERR_NO_MEMORY;
  else
    status = clock_claim_and_move(clock, source_of(&time->lease));
  if (!status) time->clocks[time->clock_count++] = clock;
  tb__mutex_unlock(&time->turn);
  return status;
}

tb_status_t tb__node_time_remove(tb__node_time_t *time, tb_clock_t *clock)
{
  tb_status_t status = TB_ERR_INVALID;
  tb__mutex_lock(&time->turn);
  size_t i = clock_index(time, clock);
  if (i < time->clock_count) {
    status = tb__clock_set_claimed(clock, NULL);
    if (!status) {
      tb__clock_unclaim(clock);
      time->clocks[i] = time->clocks[--time->clock_count];
    }
  }
  tb__mutex_unlock(&time->turn);
  return status;
}

void tb__node_time_fini(tb__node_time_t *time)
{
  if (!time->sources) return;
  tb__announced_remove(&time->announced);
  if (!tb__is_forked()) {
    tb__mutex_lock(&time->turn);
    for (size_t i = 0; i < time->clock_count; i++) {
      tb__clock_set_claimed(time->clocks[i], NULL);
      tb__clock_unclaim(time->clocks[i]);
    }
    tb__mutex_unlock(&time->turn);
  }
  lease_end(time, time->lease);
  free(time->clocks);
  tb__mutex_fini(&time->turn);
}
