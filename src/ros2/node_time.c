#include "ros2/node_time.h"

#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "ros2/clock_source.h"

void tb__node_time_init(tb__node_time_t *time, tb__shared_sources_t *sources,
                        tb__announced_node_t *announced, const char *topic)
{
  *time = (tb__node_time_t){
      .sources = sources, .announced_node = announced, .topic = topic, .qos = TB_QOS_INIT_CLOCK};
  tb__mutex_init(&time->turn);
}

static tb_source_t *source_of(const tb__shared_source_t *shared)
{
  return shared ? shared->source : NULL;
}

/* The subscription is the source's and shared; each node that uses it lists it. */
static void reader_announce(tb__node_time_t *time) TB_REQUIRES(time->turn);
static void reader_announce(tb__node_time_t *time)
{
  tb_error_t error = TB_ERROR_INIT;
  uint8_t guid[16];
  tb__announced_remove(&time->announced);
  if (!time->source || !time->source->clock_topic) return;
  if (!tb__clock_source_reader_guid(time->source->clock_topic, guid)) return;
  if (tb__announced_add(&time->announced, time->announced_node, guid, NULL, &error) != TB_OK)
    tb__log(TB_LOG_WARN, "%s: the subscription of %s is not listed under the node", error.text,
            time->topic);
}

static tb_status_t clocks_move(tb__node_time_t *time, tb_source_t *to) TB_REQUIRES(time->turn);
static tb_status_t clocks_move(tb__node_time_t *time, tb_source_t *to)
{
  for (size_t i = 0; i < time->clock_count; i++) {
    tb_status_t status = tb_clock_set_source(time->clocks[i], to);
    if (status == TB_OK) continue;
    while (i-- > 0)
      tb_clock_set_source(time->clocks[i], source_of(time->source));
    return status;
  }
  return TB_OK;
}

tb_status_t tb__node_time_follow(tb__node_time_t *time, const char *name, tb_error_t *error)
{
  tb__shared_source_t *next = NULL, *previous;
  if (name) {
    tb_status_t status =
        tb__shared_source_acquire(time->sources, name, time->topic, &time->qos, &next, error);
    if (status != TB_OK) return status;
  }
  tb__mutex_lock(&time->turn);
  tb_status_t status = clocks_move(time, source_of(next));
  if (status == TB_OK) {
    previous = time->source;
    time->source = next;
    if (next != previous) reader_announce(time);
  } else {
    previous = next;
    tb_error_set(error, status, "time source '%s' cannot be used: %s", name ? name : "(none)",
                 tb_status_message(status));
  }
  tb__mutex_unlock(&time->turn);
  tb__shared_source_release(time->sources, previous);
  return status;
}

tb_status_t tb__node_time_status(tb__node_time_t *time, tb_ros2_clock_source_status_t *out)
{
  tb_status_t status = TB_ERR_NOT_FOUND;
  tb__mutex_lock(&time->turn);
  if (time->source && time->source->clock_topic)
    status = tb_ros2_clock_source_status(time->source->clock_topic, out);
  tb__mutex_unlock(&time->turn);
  return status;
}

static size_t clock_index(const tb__node_time_t *time, const tb_clock_t *clock)
    TB_REQUIRES(time->turn);
static size_t clock_index(const tb__node_time_t *time, const tb_clock_t *clock)
{
  size_t i = 0;
  while (i < time->clock_count && time->clocks[i] != clock)
    i++;
  return i;
}

static bool clocks_grow(tb__node_time_t *time) TB_REQUIRES(time->turn);
static bool clocks_grow(tb__node_time_t *time)
{
  if (time->clock_count < time->clock_size) return true;
  size_t size = time->clock_size ? 2 * time->clock_size : 4;
  tb_clock_t **clocks = realloc(time->clocks, size * sizeof(tb_clock_t *));
  if (!clocks) return false;
  time->clocks = clocks;
  time->clock_size = size;
  return true;
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
    status = tb_clock_set_source(clock, source_of(time->source));
  if (status == TB_OK) {
    time->clocks[time->clock_count++] = clock;
    if (time->source && !time->announced.node) reader_announce(time); /* its first clock */
  }
  tb__mutex_unlock(&time->turn);
  return status;
}

tb_status_t tb__node_time_remove(tb__node_time_t *time, tb_clock_t *clock)
{
  tb_status_t status = TB_ERR_INVALID;
  tb__mutex_lock(&time->turn);
  size_t i = clock_index(time, clock);
  if (i < time->clock_count) {
    status = tb_clock_set_source(clock, NULL);
    if (status == TB_OK) time->clocks[i] = time->clocks[--time->clock_count];
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
    for (size_t i = 0; i < time->clock_count; i++)
      tb_clock_set_source(time->clocks[i], NULL);
    tb__mutex_unlock(&time->turn);
  }
  tb__shared_source_release(time->sources, time->source);
  free(time->clocks);
  tb__mutex_fini(&time->turn);
}
