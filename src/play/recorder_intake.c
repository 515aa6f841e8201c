/* What comes in: copied, stamped and queued, without waiting for anything. */
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "platform/time.h"
#include "play/recorder.h"

static void link_locked(tb_recorder_t *recorder, tb__record_t *record) TB_REQUIRES(recorder->mutex);
static tb__record_t *unlink_first_locked(tb_recorder_t *recorder) TB_REQUIRES(recorder->mutex);
static bool make_room_locked(tb_recorder_t *recorder, tb__record_t *record,
                             tb__record_t **out_pushed_out) TB_REQUIRES(recorder->mutex);
static tb_status_t admit_locked(tb_recorder_t *recorder, const tb_recorder_message_t *message,
                                tb__record_t *record, tb__record_t **out_pushed_out)
    TB_REQUIRES(recorder->mutex);

void tb__recorder_wake(tb_recorder_t *recorder)
{
  atomic_fetch_add(&recorder->work, 1);
  tb__futex_wake_one(&recorder->work);
}

tb__recorder_topic_t *tb__recorder_topic(tb_recorder_t *recorder, size_t index)
{
  tb__mutex_lock(&recorder->mutex);
  tb__recorder_topic_t *topic = index < recorder->topic_count ? recorder->topics[index] : NULL;
  tb__mutex_unlock(&recorder->mutex);
  return topic;
}

static size_t record_bytes(const tb__record_t *record)
{
  return sizeof *record + record->size;
}

void tb__record_free(tb_recorder_t *recorder, tb__record_t *record)
{
  atomic_fetch_sub(&recorder->bytes, record_bytes(record));
  free(record);
}

tb__record_t *tb__record_create(tb__record_kind_t kind, size_t topic, const void *bytes,
                                size_t size)
{
  if (size > SIZE_MAX - sizeof(tb__record_t)) return NULL;
  tb__record_t *record = malloc(sizeof *record + size);
  if (!record) return NULL;
  *record =
      (tb__record_t){.kind = kind, .topic = topic, .size = size, .steady_ns = tb__steady_now_ns()};
  if (size > 0) memcpy(record->bytes, bytes, size);
  return record;
}

static void link_locked(tb_recorder_t *recorder, tb__record_t *record)
{
  if (recorder->last)
    recorder->last->next = record;
  else
    recorder->first = record;
  recorder->last = record;
  atomic_fetch_add(&recorder->bytes, record_bytes(record));
}

static tb__record_t *unlink_first_locked(tb_recorder_t *recorder)
{
  tb__record_t *record = recorder->first;
  recorder->first = record->next;
  if (!recorder->first) recorder->last = NULL;
  return record;
}

tb_status_t tb__recorder_put(tb_recorder_t *recorder, tb__record_t *record)
{
  if (!record) return TB_ERR_NO_MEMORY;
  tb__mutex_lock(&recorder->mutex);
  bool stopped = recorder->stopped;
  if (!stopped) link_locked(recorder, record);
  tb__mutex_unlock(&recorder->mutex);
  if (stopped) {
    free(record);
    return TB_ERR_CLOSED;
  }
  tb__recorder_wake(recorder);
  return TB_OK;
}

/* With the mutex held, so that a time of before a jump never comes to stand behind it: the jump is
 * put in the queue when readers are blocked already, and the time was asked for without waiting. */
static bool stamp(const tb_recorder_t *recorder, const tb_recorder_message_t *message,
                  tb__record_t *record)
{
  tb_time_t now;
  record->publish_ns = message->source_ns > 0 ? message->source_ns : message->receive_ns;
  switch (recorder->options.log_time) {
  case TB_RECORDER_TIME_SOURCE:
    record->log_ns = record->publish_ns;
    return true;
  case TB_RECORDER_TIME_ROS:
    record->log_ns = message->clock_ns;
    record->stamp_later = tb_clock_try_now(recorder->options.clock, &now) != TB_OK;
    if (!record->stamp_later && now.ns > 0) record->log_ns = now.ns;
    return record->stamp_later || record->log_ns > 0;
  default:
    record->log_ns = message->receive_ns;
    return true;
  }
}

static bool has_room(const tb_recorder_t *recorder, size_t bytes)
{
  uint64_t used = atomic_load(&recorder->bytes), limit = recorder->options.cache_size;
  return used <= limit && bytes <= limit - used;
}

/* A snapshot's memory keeps the newest: the oldest make room, and are freed by the caller. */
static bool make_room_locked(tb_recorder_t *recorder, tb__record_t *record,
                             tb__record_t **out_pushed_out)
{
  if (!recorder->options.snapshot_mode) return has_room(recorder, record_bytes(record));
  if (record_bytes(record) > recorder->options.cache_size) return false;
  while (!has_room(recorder, record_bytes(record)) && recorder->first) {
    tb__record_t *oldest = unlink_first_locked(recorder);
    atomic_fetch_sub(&recorder->bytes, record_bytes(oldest));
    if (oldest->kind == TB__RECORD_MESSAGE) {
      atomic_fetch_add(&recorder->topics[oldest->topic]->pushed_out, 1);
      atomic_fetch_sub(&recorder->topics[oldest->topic]->waiting, 1);
    }
    oldest->next = *out_pushed_out;
    *out_pushed_out = oldest;
  }
  return has_room(recorder, record_bytes(record));
}

static tb_status_t admit_locked(tb_recorder_t *recorder, const tb_recorder_message_t *message,
                                tb__record_t *record, tb__record_t **out_pushed_out)
{
  if (recorder->stopped) return TB_ERR_CLOSED;
  if (!stamp(recorder, message, record)) return TB_ERR_NOT_SET;
  if (!make_room_locked(recorder, record, out_pushed_out)) return TB_ERR_LIMIT;
  atomic_fetch_add(&recorder->topics[record->topic]->waiting, 1);
  link_locked(recorder, record);
  return TB_OK;
}

static tb_status_t take(tb_recorder_t *recorder, size_t index, const tb_recorder_message_t *message)
{
  if (atomic_load(&recorder->paused)) return TB_ERR_NOT_SET;
  if (!recorder->options.snapshot_mode &&
      !has_room(recorder, sizeof(tb__record_t) + message->size)) /* so that it costs no copy */
    return TB_ERR_LIMIT;
  tb__record_t *pushed_out = NULL;
  tb__record_t *record = tb__record_create(TB__RECORD_MESSAGE, index, message->data, message->size);
  if (!record) return TB_ERR_NO_MEMORY;
  tb__mutex_lock(&recorder->mutex);
  tb_status_t status = admit_locked(recorder, message, record, &pushed_out);
  tb__mutex_unlock(&recorder->mutex);
  while (pushed_out) {
    tb__record_t *next = pushed_out->next;
    free(pushed_out);
    pushed_out = next;
  }
  if (status != TB_OK)
    free(record);
  else if (!recorder->options.snapshot_mode)
    tb__recorder_wake(recorder);
  return status;
}

tb_status_t tb_recorder_take(tb_recorder_t *recorder, size_t index,
                             const tb_recorder_message_t *message)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__recorder_topic_t *topic = tb__recorder_topic(recorder, index);
  if (!topic || !message || (!message->data && message->size > 0)) return TB_ERR_INVALID;
  tb_status_t status = take(recorder, index, message);
  if (status == TB_ERR_NOT_SET) atomic_fetch_add(&topic->skipped, 1);
  if (status == TB_ERR_LIMIT || status == TB_ERR_NO_MEMORY)
    atomic_fetch_add(&topic->lost_in_queue, 1);
  return status;
}

void tb_recorder_note_lost(tb_recorder_t *recorder, size_t index, uint64_t count)
{
  if (tb__is_forked()) return;
  tb__recorder_topic_t *topic = tb__recorder_topic(recorder, index);
  if (topic) atomic_fetch_add(&topic->lost_on_the_way, count);
}

/* Before the new time is there: what is queued behind this is of after the jump. */
static void before_jump(const tb_jump_t *jump, void *user)
{
  tb_recorder_t *recorder = user;
  if (jump->delta.ns < 0) atomic_fetch_add(&recorder->jumps, 1);
  if (tb__recorder_put(recorder, tb__record_create(TB__RECORD_JUMP, 0, jump, sizeof *jump)) ==
      TB_ERR_NO_MEMORY)
    tb__log(TB_LOG_ERROR, "recorder: a jump is not recorded: out of memory");
}

tb_status_t tb__recorder_watch_clock(tb_recorder_t *recorder)
{
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.name = "recorder";
  options.threshold.min_backward = (tb_duration_t){-1};
  options.threshold.on_clock_change = true;
  options.before = before_jump;
  options.user = recorder;
  return tb_jump_handler_create(recorder->options.clock, &options, &recorder->handler);
}
