/* What comes in: copied, stamped and queued, without waiting for anything. */
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/sized.h"
#include "clock/handler.h"
#include "held/parking.h"
#include "platform/time.h"
#include "play/recorder.h"

/* Shorter steps forward are no jumps, unless the timeline's options differ. */
#define FORWARD_MIN ((tb_duration_t){TB_NS_PER_S + 1})
#define EARLY_MAX   1000 /* of a topic: more than its publishers keep */

/* What waits in the queue wakes a writer thread that rests when it is so much, or the cache's share
 * of one in so many. */
#define WAKE_BYTES (UINT64_C(64) << 10)
#define WAKE_SHARE 8

static void link_locked(tb_recorder_t *recorder, tb__record_list_t *list, tb__record_t *record)
    TB_REQUIRES(recorder->mutex);
static tb__record_list_t *list_for_locked(tb_recorder_t *recorder, const tb__record_t *record)
    TB_REQUIRES(recorder->mutex);
static void note_jump_locked(tb_recorder_t *recorder, const tb__record_t *record)
    TB_REQUIRES(recorder->mutex);
static void release_early_locked(tb_recorder_t *recorder, int64_t log_ns)
    TB_REQUIRES(recorder->mutex);
static int64_t clock_now_locked(tb_recorder_t *recorder) TB_REQUIRES(recorder->mutex);
static bool is_held_locked(tb_recorder_t *recorder, const tb_recorder_message_t *message,
                           const tb__record_t *record) TB_REQUIRES(recorder->mutex);
static bool stamp_locked(tb_recorder_t *recorder, const tb_recorder_message_t *message,
                         tb__record_t *record) TB_REQUIRES(recorder->mutex);
static bool make_room_locked(tb_recorder_t *recorder, tb__record_t *record,
                             tb__record_t **out_pushed_out) TB_REQUIRES(recorder->mutex);
static tb_status_t admit_locked(tb_recorder_t *recorder, const tb_recorder_message_t *message,
                                tb__record_t *record, tb__record_t **out_pushed_out)
    TB_REQUIRES(recorder->mutex);
static void put_state_locked(tb_recorder_t *recorder) TB_REQUIRES(recorder->mutex);
static void put_memory_locked(tb_recorder_t *recorder) TB_REQUIRES(recorder->mutex);

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

static void list_add(tb__record_list_t *list, tb__record_t *first, tb__record_t *last)
{
  if (list->last)
    list->last->next = first;
  else
    list->first = first;
  list->last = last;
}

static tb__record_t *list_take_first(tb__record_list_t *list)
{
  tb__record_t *record = list->first;
  list->first = record->next;
  if (!list->first) list->last = NULL;
  return record;
}

static void link_locked(tb_recorder_t *recorder, tb__record_list_t *list, tb__record_t *record)
{
  list_add(list, record, record);
  atomic_fetch_add(&recorder->bytes, record_bytes(record));
}

/* A snapshot's memory has messages, and the jumps between them; orders are carried out at once. */
static tb__record_list_t *list_for_locked(tb_recorder_t *recorder, const tb__record_t *record)
{
  bool is_kept = record->kind == TB__RECORD_MESSAGE || record->kind == TB__RECORD_JUMP;
  return recorder->options.snapshot_mode && is_kept ? &recorder->memory : &recorder->queue;
}

void tb__recorder_release_held_locked(tb_recorder_t *recorder)
{
  tb__record_list_t *held = &recorder->held;
  if (!held->first) return;
  list_add(list_for_locked(recorder, held->first), held->first, held->last);
  *held = (tb__record_list_t){0};
}

/* Messages that waited for the clock to start or for recording to resume; new to the queue. */
static void release_early_locked(tb_recorder_t *recorder, int64_t log_ns)
{
  tb__record_list_t *early = &recorder->early;
  if (!early->first || atomic_load(&recorder->paused)) return;
  int64_t steady_ns = tb__steady_now_ns();
  for (tb__record_t *record = early->first; record; record = record->next) {
    record->log_ns = log_ns;
    record->steady_ns = steady_ns;
    recorder->topics[record->topic]->early = 0;
  }
  tb__record_list_t *list = &recorder->held; /* which comes before it */
  if (!list->first) list = list_for_locked(recorder, early->first);
  list_add(list, early->first, early->last);
  *early = (tb__record_list_t){0};
}

/* Of a jump that blocks readers: its new time is the clock's from here on, and what was
 * held belongs to it. */
static void note_jump_locked(tb_recorder_t *recorder, const tb__record_t *record)
{
  tb_jump_t jump;
  if (record->kind != TB__RECORD_JUMP) return;
  memcpy(&jump, record->bytes, sizeof jump);
  if (jump.kind == TB_JUMP_FORWARD) return;
  recorder->clock_ns = jump.after.ns;
  for (tb__record_t *held = recorder->held.first; held && jump.after.ns > 0; held = held->next)
    held->log_ns = jump.after.ns;
  if (jump.after.ns > 0) release_early_locked(recorder, jump.after.ns);
}

/* A snapshot begins with the state that a late subscription would get there. */
static void put_state_locked(tb_recorder_t *recorder)
{
  tb__record_t *state = tb__recorder_state_before_locked(recorder, recorder->memory.first);
  while (state) {
    tb__record_t *next = state->next;
    state->next = NULL;
    atomic_fetch_add(&recorder->topics[state->topic]->waiting, 1);
    link_locked(recorder, &recorder->queue, state);
    state = next;
  }
}

/* Jumps first: the state is of the run that the messages are of. */
static void put_memory_locked(tb_recorder_t *recorder)
{
  tb__record_list_t *memory = &recorder->memory;
  while (memory->first && memory->first->kind == TB__RECORD_JUMP) {
    tb__record_t *jump = memory->first;
    memory->first = jump->next;
    jump->next = NULL;
    list_add(&recorder->queue, jump, jump);
  }
  if (memory->first) {
    put_state_locked(recorder);
    list_add(&recorder->queue, memory->first, memory->last);
  }
  *memory = (tb__record_list_t){0};
}

static tb_status_t put(tb_recorder_t *recorder, tb__record_t *record, bool with_memory)
{
  if (!record) return TB_ERR_NO_MEMORY;
  tb__mutex_lock(&recorder->mutex);
  bool stopped = recorder->stopped;
  if (!stopped && with_memory) put_memory_locked(recorder);
  if (!stopped) link_locked(recorder, list_for_locked(recorder, record), record);
  note_jump_locked(recorder, record);
  if (record->kind == TB__RECORD_JUMP) tb__recorder_release_held_locked(recorder);
  tb__mutex_unlock(&recorder->mutex);
  if (stopped) {
    free(record);
    return TB_ERR_CLOSED;
  }
  tb__recorder_wake(recorder);
  return TB_OK;
}

tb_status_t tb__recorder_put(tb_recorder_t *recorder, tb__record_t *record)
{
  return put(recorder, record, false);
}

tb_status_t tb__recorder_put_snapshot(tb_recorder_t *recorder, tb__record_t *record)
{
  return put(recorder, record, true);
}

/* A tick may be here before it has moved the clock. */
static bool is_next_tick(const tb_recorder_message_t *message, int64_t now_ns)
{
  return now_ns == 0 || (message->clock_ns > now_ns && message->clock_ns - now_ns < FORWARD_MIN.ns);
}

/* While a jump blocks readers, what it leads to is known: before_jump has noted it. Asked for with
 * the mutex held, so that a time from before a jump never follows the jump in the queue. */
static int64_t clock_now_locked(tb_recorder_t *recorder)
{
  tb_time_t now;
  if (tb_clock_try_now(recorder->options.clock, &now) == TB_OK) recorder->clock_ns = now.ns;
  if (recorder->clock_ns > 0) release_early_locked(recorder, recorder->clock_ns);
  return recorder->clock_ns;
}

void tb__recorder_admit_early_locked(tb_recorder_t *recorder)
{
  if (!recorder->early.first) return;
  if (recorder->options.log_time == TB_RECORDER_TIME_ROS)
    clock_now_locked(
        recorder); /* the start may have passed unnoticed while the recorder was created */
  else
    release_early_locked(recorder, tb__system_now_ns());
}

static bool stamp_locked(tb_recorder_t *recorder, const tb_recorder_message_t *message,
                         tb__record_t *record)
{
  record->publish_ns = message->source_ns > 0 ? message->source_ns : message->receive_ns;
  switch (recorder->options.log_time) {
  case TB_RECORDER_TIME_SOURCE:
    record->log_ns = record->publish_ns;
    return true;
  case TB_RECORDER_TIME_ROS:
    record->log_ns = clock_now_locked(recorder);
    if (is_next_tick(message, record->log_ns)) record->log_ns = message->clock_ns;
    return record->log_ns > 0;
  default:
    record->log_ns = message->receive_ns;
    return true;
  }
}

/* The oldest of the topic, or with `of_any` of one that keeps others; NULL: there is none. */
static tb__record_t *take_oldest_early_locked(tb_recorder_t *recorder, size_t topic, bool of_any)
{
  tb__record_t *before = NULL, *oldest = recorder->early.first;
  while (oldest && oldest->topic != topic &&
         !(of_any && recorder->topics[oldest->topic]->early > 1)) {
    before = oldest;
    oldest = oldest->next;
  }
  if (!oldest) return NULL;
  recorder->topics[oldest->topic]->early--;
  if (!before) return list_take_first(&recorder->early);
  before->next = oldest->next;
  if (!oldest->next) recorder->early.last = before;
  return oldest;
}

static bool has_room(const tb_recorder_t *recorder, size_t bytes)
{
  uint64_t used = atomic_load(&recorder->bytes), limit = recorder->options.cache_size;
  return used <= limit && bytes <= limit - used;
}

_Atomic uint64_t *tb__recorder_skipped(const tb_recorder_t *recorder, tb__recorder_topic_t *topic)
{
  return atomic_load(&recorder->paused) ? &topic->skipped_paused : &topic->skipped_early;
}

static void push_out_locked(tb_recorder_t *recorder, tb__record_t *oldest,
                            tb__record_t **out_pushed_out)
{
  atomic_fetch_sub(&recorder->bytes, record_bytes(oldest));
  if (oldest->kind == TB__RECORD_MESSAGE)
    atomic_fetch_sub(&recorder->topics[oldest->topic]->waiting, 1);
  oldest->next = *out_pushed_out;
  *out_pushed_out = oldest;
}

static tb__record_t *take_oldest_locked(tb_recorder_t *recorder)
{
  const tb__record_t *early = recorder->early.first, *kept = recorder->memory.first;
  if (!early || (kept && kept->steady_ns < early->steady_ns))
    return list_take_first(&recorder->memory);
  recorder->topics[early->topic]->early--;
  return list_take_first(&recorder->early);
}

/* After a jump back log times do not tell which one is older. */
static bool is_within(const tb__record_t *newest, const tb__record_t *record, int64_t duration_ns)
{
  bool is_after_jump = record->log_ns > newest->log_ns;
  return is_after_jump ? newest->steady_ns - record->steady_ns <= duration_ns
                       : newest->log_ns - record->log_ns <= duration_ns;
}

/* What is too old for a snapshot, with the jumps before it; freed by the caller. */
static void drop_old_locked(tb_recorder_t *recorder, const tb__record_t *newest,
                            tb__record_t **out_pushed_out)
{
  int64_t duration_ns = recorder->options.snapshot_duration.ns;
  while (duration_ns > 0) {
    const tb__record_t *first = recorder->memory.first;
    while (first && first->kind != TB__RECORD_MESSAGE)
      first = first->next;
    if (!first || is_within(newest, first, duration_ns)) return;
    for (bool is_dropped = false; !is_dropped;) {
      tb__record_t *oldest = list_take_first(&recorder->memory);
      is_dropped = oldest == first;
      if (is_dropped) atomic_fetch_add(&recorder->topics[oldest->topic]->pushed_out, 1);
      push_out_locked(recorder, oldest, out_pushed_out);
    }
  }
}

/* A snapshot's memory keeps the newest: the oldest make room, and are freed by the caller. */
static bool make_room_locked(tb_recorder_t *recorder, tb__record_t *record,
                             tb__record_t **out_pushed_out)
{
  if (!recorder->options.snapshot_mode) return has_room(recorder, record_bytes(record));
  while (!has_room(recorder, record_bytes(record)) &&
         (recorder->early.first || recorder->memory.first)) {
    tb__record_t *oldest = take_oldest_locked(recorder);
    if (oldest->kind == TB__RECORD_MESSAGE)
      atomic_fetch_add(&recorder->topics[oldest->topic]->pushed_out, 1);
    push_out_locked(recorder, oldest, out_pushed_out);
  }
  return has_room(recorder, record_bytes(record));
}

/* Of what is latched the newest are the state. */
static void make_early_room_locked(tb_recorder_t *recorder, const tb__record_t *record,
                                   tb__record_t **out_pushed_out)
{
  for (;;) {
    bool is_full = recorder->topics[record->topic]->early == EARLY_MAX;
    bool is_crowded = !recorder->options.snapshot_mode && !has_room(recorder, record_bytes(record));
    if (!is_full && !is_crowded) return;
    tb__record_t *oldest = take_oldest_early_locked(recorder, record->topic, !is_full);
    if (!oldest) return;
    atomic_fetch_add(tb__recorder_skipped(recorder, recorder->topics[oldest->topic]), 1);
    push_out_locked(recorder, oldest, out_pushed_out);
  }
}

/* A tick that leads back is here before the jump that it will make, perhaps: it and what follows
 * belong after that, and are held. A tick that is dropped as reordered makes none: the next tick,
 * or some time, decides. */
static bool is_held_locked(tb_recorder_t *recorder, const tb_recorder_message_t *message,
                           const tb__record_t *record)
{
  if (recorder->options.log_time != TB_RECORDER_TIME_ROS) return false;
  if (message->clock_ns > 0 && message->clock_ns >= record->log_ns) {
    tb__recorder_release_held_locked(recorder);
  } else if (message->clock_ns > 0 && !recorder->held.first) {
    recorder->held_until_ns = record->steady_ns + TB__RECORD_HOLD_NS;
    return true;
  }
  return recorder->held.first;
}

static tb_status_t admit_locked(tb_recorder_t *recorder, const tb_recorder_message_t *message,
                                tb__record_t *record, tb__record_t **out_pushed_out)
{
  if (recorder->stopped) return TB_ERR_CLOSED;
  tb__recorder_topic_t *topic = recorder->topics[record->topic];
  bool paused = atomic_load(&recorder->paused);
  bool is_early = !stamp_locked(recorder, message, record) || paused;
  if (is_early && !message->latched) {
    atomic_fetch_add(tb__recorder_skipped(recorder, topic), 1);
    return TB_ERR_NOT_SET;
  }
  if (record_bytes(record) > recorder->options.cache_size) return TB_ERR_LIMIT;
  if (is_early)
    make_early_room_locked(recorder, record, out_pushed_out);
  else
    drop_old_locked(recorder, record, out_pushed_out);
  if (!make_room_locked(recorder, record, out_pushed_out)) return TB_ERR_LIMIT;
  atomic_fetch_add(&topic->waiting, 1);
  record->serial = ++recorder->serial;
  record->is_latched = message->latched;
  if (message->latched && recorder->options.snapshot_mode)
    tb__recorder_state_keep_locked(recorder, record);
  tb__record_list_t *list = list_for_locked(recorder, record);
  if (is_early) {
    list = &recorder->early;
    topic->early++;
  } else if (is_held_locked(recorder, message, record)) {
    list = &recorder->held;
  }
  link_locked(recorder, list, record);
  return TB_OK;
}

static bool must_wake_locked(const tb_recorder_t *recorder) TB_REQUIRES(recorder->mutex);

static bool must_wake_locked(const tb_recorder_t *recorder)
{
  uint64_t bytes = atomic_load(&recorder->bytes);
  return !recorder->options.snapshot_mode && (!recorder->rests || bytes > WAKE_BYTES ||
                                              bytes > recorder->options.cache_size / WAKE_SHARE);
}

static tb_status_t take(tb_recorder_t *recorder, size_t index, const tb_recorder_message_t *message)
{
  if (!recorder->options.snapshot_mode && !message->latched &&
      !has_room(recorder, sizeof(tb__record_t) + message->size)) /* so that it costs no copy */
    return TB_ERR_LIMIT;
  tb__record_t *pushed_out = NULL;
  tb__record_t *record = tb__record_create(TB__RECORD_MESSAGE, index, message->data, message->size);
  if (!record) return TB_ERR_NO_MEMORY;
  tb__mutex_lock(&recorder->mutex);
  tb_status_t status = admit_locked(recorder, message, record, &pushed_out);
  bool wakes = must_wake_locked(recorder);
  tb__mutex_unlock(&recorder->mutex);
  while (pushed_out) {
    tb__record_t *next = pushed_out->next;
    free(pushed_out);
    pushed_out = next;
  }
  if (status)
    free(record);
  else if (wakes)
    tb__recorder_wake(recorder);
  return status;
}

static void count_lost(tb__recorder_topic_t *topic, _Atomic uint64_t *counter, uint64_t count)
{
  atomic_fetch_add(counter, count);
  tb__recorder_lost(topic);
}

tb_status_t tb_recorder_take_sized(tb_recorder_t *recorder, size_t index,
                                   const tb_recorder_message_t *message, size_t message_size)
{
  if (!recorder || !message) return TB_ERR_INVALID;
  tb_recorder_message_t known;
  if (!TB__SIZED_IN(message, message_size, known)) return TB_ERR_UNSUPPORTED;
  if (tb__is_forked()) return TB_ERR_FORKED;
  tb__recorder_topic_t *topic = tb__recorder_topic(recorder, index);
  if (!topic || !message || (!message->data && message->size > 0)) return TB_ERR_INVALID;
  if (atomic_load(&recorder->paused) && !message->latched) {
    atomic_fetch_add(&topic->skipped_paused, 1);
    return TB_ERR_NOT_SET;
  }
  tb_status_t status = take(recorder, index, message);
  if (status == TB_ERR_LIMIT || status == TB_ERR_NO_MEMORY)
    count_lost(topic, &topic->lost_in_queue, 1);
  else if (!status)
    atomic_fetch_add_explicit(&topic->bytes, message->size, memory_order_relaxed);
  return status;
}

void tb_recorder_note_lost(tb_recorder_t *recorder, size_t index, uint64_t count)
{
  if (!recorder) return;
  if (tb__is_forked()) return;
  tb__recorder_topic_t *topic = tb__recorder_topic(recorder, index);
  if (topic && count > 0) count_lost(topic, &topic->lost_on_the_way, count);
}

void tb_recorder_note_before(tb_recorder_t *recorder, size_t index, uint64_t count)
{
  if (!recorder) return;
  if (tb__is_forked()) return;
  tb__recorder_topic_t *topic = tb__recorder_topic(recorder, index);
  if (topic) atomic_fetch_add(&topic->sent_before, count);
}

static void put_jump(tb_recorder_t *recorder, const tb_jump_t *jump)
{
  if (jump->delta.ns < 0) atomic_fetch_add(&recorder->jumps, 1);
  if (tb__recorder_put(recorder, tb__record_create(TB__RECORD_JUMP, 0, jump, sizeof *jump)) ==
      TB_ERR_NO_MEMORY)
    tb__log(TB_LOG_ERROR, "recorder: a jump is not recorded: out of memory");
}

/* Before the new time is set: what is queued after this is from after the jump. A long step
 * forward may be the passing of time: the timeline knows when it has been made. */
static void before_jump(const tb_jump_t *jump, void *user)
{
  tb_recorder_t *recorder = user;
  if (jump->kind == TB_JUMP_FORWARD)
    recorder->forward_jumps = tb__clock_forward_jumps(recorder->options.clock);
  else
    put_jump(recorder, jump);
}

static void after_jump(const tb_jump_t *jump, void *user)
{
  tb_recorder_t *recorder = user;
  if (jump->kind == TB_JUMP_FORWARD &&
      tb__clock_forward_jumps(recorder->options.clock) != recorder->forward_jumps)
    put_jump(recorder, jump);
}

tb_status_t tb__recorder_watch_clock(tb_recorder_t *recorder)
{
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.name = "recorder";
  options.threshold.min_forward = FORWARD_MIN;
  options.threshold.min_backward = (tb_duration_t){-1};
  options.threshold.on_clock_change = true;
  options.before = before_jump;
  options.after = after_jump;
  options.user = recorder;
  return tb_jump_handler_create(recorder->options.clock, &options, &recorder->handler);
}
