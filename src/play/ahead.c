#include "play/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "platform/futex.h"

struct tb__ahead_item {
  tb__ahead_item_t *next;
  tb__feed_message_t message;
  uint8_t data[];
};

static bool is_full_locked(const tb__ahead_t *ahead) TB_REQUIRES(ahead->mutex);
static bool has_work_locked(const tb__ahead_t *ahead) TB_REQUIRES(ahead->mutex);
static void drop_all_locked(tb__ahead_t *ahead) TB_REQUIRES(ahead->mutex);
static void push_locked(tb__ahead_t *ahead, tb__ahead_item_t *item) TB_REQUIRES(ahead->mutex);
static tb__ahead_item_t *pop_locked(tb__ahead_t *ahead) TB_REQUIRES(ahead->mutex);

void tb__ahead_init(tb__ahead_t *ahead, tb__feed_t *feed, tb__pacer_t *pacer, size_t max_messages,
                    size_t max_bytes)
{
  *ahead = (tb__ahead_t){
      .feed = feed, .pacer = pacer, .max_messages = max_messages, .max_bytes = max_bytes};
  tb__mutex_init(&ahead->mutex);
  ahead->last = &ahead->first;
}

static void wake_thread(tb__ahead_t *ahead)
{
  atomic_fetch_add(&ahead->events, 1);
  tb__futex_wake_all(&ahead->events);
}

static void drop_all_locked(tb__ahead_t *ahead)
{
  while (ahead->first)
    free(pop_locked(ahead));
  ahead->ended = false;
}

static tb__ahead_item_t *pop_locked(tb__ahead_t *ahead)
{
  tb__ahead_item_t *item = ahead->first;
  ahead->first = item->next;
  if (!ahead->first) ahead->last = &ahead->first;
  ahead->messages--;
  ahead->bytes -= item->message.bag.size;
  return item;
}

static void push_locked(tb__ahead_t *ahead, tb__ahead_item_t *item)
{
  item->next = NULL;
  *ahead->last = item;
  ahead->last = &item->next;
  ahead->messages++;
  ahead->bytes += item->message.bag.size;
}

static bool is_full_locked(const tb__ahead_t *ahead)
{
  return ahead->messages >= ahead->max_messages ||
         (ahead->messages > 0 && ahead->bytes >= ahead->max_bytes);
}

static bool has_work_locked(const tb__ahead_t *ahead)
{
  return ahead->quit || ahead->wants_seek || (!ahead->ended && !is_full_locked(ahead));
}

static void feed_seek(tb__ahead_t *ahead, const tb__ahead_target_t *target)
{
  if (target->before)
    tb__feed_seek_before(ahead->feed, target->place, target->until_ns);
  else
    tb__feed_seek(ahead->feed, target->time_ns, target->until_ns, target->restore);
}

/* --- the thread --- */

static tb__ahead_item_t *copy(tb__ahead_t *ahead, const tb__feed_message_t *message)
{
  tb__ahead_item_t *item = malloc(sizeof *item + message->bag.size);
  if (!item) {
    tb__reject(&ahead->feed->rejects, TB_ERR_NO_MEMORY, "a message was read");
    return NULL;
  }
  item->message = *message;
  memcpy(item->data, message->bag.data, message->bag.size);
  item->message.bag.data = item->data;
  return item;
}

/* What was read while a seek was asked for is of no use. */
static void deliver(tb__ahead_t *ahead, bool more, tb__ahead_item_t *item)
{
  bool awaited = false;
  tb__mutex_lock(&ahead->mutex);
  if (ahead->wants_seek) {
    free(item);
  } else {
    awaited = ahead->awaited;
    ahead->awaited = false;
    ahead->ended = !more;
    if (item) push_locked(ahead, item);
  }
  tb__mutex_unlock(&ahead->mutex);
  if (awaited) tb__pacer_nudge(ahead->pacer);
}

static void read_one(tb__ahead_t *ahead)
{
  tb__feed_message_t message;
  bool more = tb__feed_next(ahead->feed, &message);
  tb__ahead_item_t *item = more ? copy(ahead, &message) : NULL;
  atomic_store(&ahead->bad_rows, ahead->feed->rejects.count);
  deliver(ahead, more, item);
}

/* Waits for work. False: to quit. */
static bool await_work(tb__ahead_t *ahead, bool *out_seek, tb__ahead_target_t *out_target)
{
  for (;;) {
    uint32_t events = atomic_load(&ahead->events);
    tb__mutex_lock(&ahead->mutex);
    bool has_work = has_work_locked(ahead), quit = ahead->quit;
    *out_seek = ahead->wants_seek;
    *out_target = ahead->target;
    ahead->wants_seek = false;
    ahead->sleeping = !has_work;
    tb__mutex_unlock(&ahead->mutex);
    if (has_work) return !quit;
    tb__futex_wait(&ahead->events, events, TB__NO_DEADLINE);
  }
}

static void *read_ahead(void *user)
{
  tb__ahead_t *ahead = user;
  tb__ahead_target_t target;
  bool seek = false;
  while (await_work(ahead, &seek, &target))
    if (seek)
      feed_seek(ahead, &target);
    else
      read_one(ahead);
  return NULL;
}

/* --- who plays --- */

tb_status_t tb__ahead_start(tb__ahead_t *ahead, tb__ahead_target_t target)
{
  if (ahead->max_messages == 0) return TB_OK;
  ahead->running = true;
  tb__ahead_seek(ahead, target);
  tb_status_t status = tb__thread_start(&ahead->thread, "tb-read", read_ahead, ahead);
  if (status != TB_OK) ahead->running = false;
  return status;
}

void tb__ahead_stop(tb__ahead_t *ahead)
{
  if (!ahead->running) return;
  tb__mutex_lock(&ahead->mutex);
  ahead->quit = true;
  tb__mutex_unlock(&ahead->mutex);
  wake_thread(ahead);
  tb__thread_join(&ahead->thread);
  ahead->running = false;
}

void tb__ahead_fini(tb__ahead_t *ahead)
{
  tb__ahead_stop(ahead);
  tb__mutex_lock(&ahead->mutex);
  drop_all_locked(ahead);
  tb__mutex_unlock(&ahead->mutex);
  free(ahead->taken);
  ahead->taken = NULL;
  tb__mutex_fini(&ahead->mutex);
}

void tb__ahead_seek(tb__ahead_t *ahead, tb__ahead_target_t target)
{
  if (!ahead->running) {
    feed_seek(ahead, &target);
    return;
  }
  tb__mutex_lock(&ahead->mutex);
  drop_all_locked(ahead);
  ahead->wants_seek = true;
  ahead->target = target;
  tb__mutex_unlock(&ahead->mutex);
  wake_thread(ahead);
}

static tb__ahead_result_t read_here(tb__ahead_t *ahead, tb__feed_message_t *out)
{
  bool more = tb__feed_next(ahead->feed, out);
  atomic_store(&ahead->bad_rows, ahead->feed->rejects.count);
  return more ? TB__AHEAD_MESSAGE : TB__AHEAD_END;
}

/* The thread sleeps while the queue is full, and goes on when half of it is free. */
tb__ahead_result_t tb__ahead_next(tb__ahead_t *ahead, tb__feed_message_t *out)
{
  if (!ahead->running) return read_here(ahead, out);
  tb__ahead_item_t *item = NULL;
  tb__mutex_lock(&ahead->mutex);
  if (ahead->first) item = pop_locked(ahead);
  bool ended = ahead->ended && !ahead->wants_seek;
  ahead->awaited = !item && !ended;
  bool wakes = ahead->sleeping && ahead->messages <= ahead->max_messages / 2 &&
               (!ahead->first || ahead->bytes <= ahead->max_bytes / 2);
  if (wakes) ahead->sleeping = false;
  tb__mutex_unlock(&ahead->mutex);
  if (wakes) wake_thread(ahead);
  if (!item) return ended ? TB__AHEAD_END : TB__AHEAD_WAIT;
  free(ahead->taken);
  ahead->taken = item;
  *out = item->message;
  return TB__AHEAD_MESSAGE;
}
