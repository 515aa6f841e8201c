#include "play/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "held/parking.h"

#define BLOCK_SIZE 65536
#define LINE_SIZE  64
#define NEAR_SIZE  2048

/* A message, followed by its data and the publisher's name. */
typedef struct item {
  tb__feed_message_t message;
  uint8_t data[];
} item_t;

/* Messages follow each other in blocks: few allocations, and the next message is near in memory. */
struct tb__ahead_block {
  tb__ahead_block_t *next;
  _Atomic uint32_t references; /* the queue's, and of those who keep its message */
  size_t capacity;
  size_t begin, end; /* of what is to be given out; the rest is the thread's */
  _Alignas(item_t) uint8_t bytes[];
};

static bool is_full_locked(const tb__ahead_t *ahead) TB_REQUIRES(ahead->mutex);
static bool has_work_locked(const tb__ahead_t *ahead) TB_REQUIRES(ahead->mutex);
static void drop_all_locked(tb__ahead_t *ahead) TB_REQUIRES(ahead->mutex);
static void push_locked(tb__ahead_t *ahead, const item_t *item) TB_REQUIRES(ahead->mutex);
static const item_t *pop_locked(tb__ahead_t *ahead) TB_REQUIRES(ahead->mutex);

void tb__ahead_init(tb__ahead_t *ahead, tb__feed_t *feed, tb__pacer_t *pacer, size_t max_messages,
                    size_t max_bytes)
{
  *ahead = (tb__ahead_t){
      .feed = feed, .pacer = pacer, .max_messages = max_messages, .max_bytes = max_bytes};
  tb__mutex_init(&ahead->mutex);
}

static void wake_thread(tb__ahead_t *ahead)
{
  atomic_fetch_add(&ahead->events, 1);
  tb__futex_wake_all(&ahead->events);
}

static void block_release(void *user)
{
  tb__ahead_block_t *block = user;
  if (atomic_fetch_sub(&block->references, 1) == 1) free(block);
}

static void block_keep(void *user)
{
  tb__ahead_block_t *block = user;
  atomic_fetch_add(&block->references, 1);
}

static size_t name_size(const tb_bag_message_t *message)
{
  return message->publisher ? strlen(message->publisher) + 1 : 0;
}

/* With what whoever keeps the data may need after it. */
static size_t padded_size(const tb_bag_message_t *message)
{
  return (message->size + 3) / 4 * 4;
}

static size_t space_of(const tb_bag_message_t *message)
{
  size_t alignment = _Alignof(item_t), size = padded_size(message) + name_size(message);
  return (sizeof(item_t) + size + alignment - 1) / alignment * alignment;
}

/* Blocks are the thread's to drop. */
static void drop_all_locked(tb__ahead_t *ahead)
{
  while (ahead->first) {
    tb__ahead_block_t *block = ahead->first;
    ahead->first = block->next;
    block_release(block);
  }
  ahead->filling = NULL;
  ahead->messages = ahead->bytes = 0;
  ahead->ended = false;
}

/* Prefetches the next message, which another processor has written, while this one is sent. */
static void bring_near(const uint8_t *from, const uint8_t *end)
{
  if (end - from > NEAR_SIZE) end = from + NEAR_SIZE;
  for (; from < end; from += LINE_SIZE)
    __builtin_prefetch(from);
}

/* NULL: there is none. */
static const item_t *pop_locked(tb__ahead_t *ahead)
{
  tb__ahead_block_t *block = ahead->first;
  while (block && block->begin == block->end && block->next) {
    ahead->first = block->next;
    block_release(block);
    block = ahead->first;
  }
  if (!block || block->begin == block->end) return NULL;
  const item_t *item = (const item_t *)(block->bytes + block->begin);
  block->begin += space_of(&item->message.bag);
  bring_near(block->bytes + block->begin, block->bytes + block->end);
  ahead->messages--;
  ahead->bytes -= item->message.bag.size;
  return item;
}

/* The item is at the end of the last block. */
static void push_locked(tb__ahead_t *ahead, const item_t *item)
{
  ahead->filling->end += space_of(&item->message.bag);
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

/* Makes sure that the last block has this much room. */
static bool reserve(tb__ahead_t *ahead, size_t space)
{
  tb__ahead_block_t *last = ahead->filling;
  if (last && space <= last->capacity - last->end) return true;
  size_t capacity = space > BLOCK_SIZE ? space : BLOCK_SIZE;
  tb__ahead_block_t *block = malloc(sizeof *block + capacity);
  if (!block) return false;
  *block = (tb__ahead_block_t){.capacity = capacity};
  atomic_init(&block->references, 1);
  tb__mutex_lock(&ahead->mutex);
  *(last ? &last->next : &ahead->first) = block;
  tb__mutex_unlock(&ahead->mutex);
  ahead->filling = block;
  return true;
}

static item_t *copy(tb__ahead_t *ahead, const tb__feed_message_t *message)
{
  if (!reserve(ahead, space_of(&message->bag))) {
    tb__reject(&ahead->feed->rejects, TB_ERR_NO_MEMORY, "a message was read");
    return NULL;
  }
  item_t *item = (item_t *)(ahead->filling->bytes + ahead->filling->end);
  item->message = *message;
  memcpy(item->data, message->bag.data, message->bag.size);
  memset(item->data + message->bag.size, 0, padded_size(&message->bag) - message->bag.size);
  item->message.bag.data = item->data;
  if (message->bag.publisher) {
    char *name = (char *)item->data + padded_size(&message->bag);
    memcpy(name, message->bag.publisher, name_size(&message->bag));
    item->message.bag.publisher = name;
  }
  return item;
}

/* A message that was read while a seek was requested is dropped. */
static void deliver(tb__ahead_t *ahead, bool more, const item_t *item)
{
  bool awaited = false;
  tb__mutex_lock(&ahead->mutex);
  if (!ahead->wants_seek) {
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
  const item_t *item = more ? copy(ahead, &message) : NULL;
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
    if (ahead->wants_seek) drop_all_locked(ahead);
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

/* --- the thread that plays --- */

tb_status_t tb__ahead_start(tb__ahead_t *ahead, tb__ahead_target_t target)
{
  if (ahead->max_messages == 0) return TB_OK;
  ahead->running = true;
  tb__ahead_seek(ahead, target);
  tb_status_t status = tb__thread_start(&ahead->thread, "tb-read", read_ahead, ahead);
  if (status) ahead->running = false;
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
  tb__mutex_fini(&ahead->mutex);
}

void tb__ahead_seek(tb__ahead_t *ahead, tb__ahead_target_t target)
{
  if (!ahead->running) {
    feed_seek(ahead, &target);
    return;
  }
  tb__mutex_lock(&ahead->mutex);
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

/* The thread sleeps while the queue is full, and continues when half of it is free. */
tb__ahead_result_t tb__ahead_next(tb__ahead_t *ahead, tb__feed_message_t *out)
{
  if (!ahead->running) return read_here(ahead, out);
  const item_t *item = NULL;
  tb__mutex_lock(&ahead->mutex);
  if (!ahead->wants_seek) item = pop_locked(ahead);
  bool ended = ahead->ended && !ahead->wants_seek;
  ahead->awaited = !item && !ended;
  bool wakes = ahead->sleeping && ahead->messages <= ahead->max_messages / 2 &&
               ahead->bytes <= ahead->max_bytes / 2;
  if (wakes) ahead->sleeping = false;
  tb__mutex_unlock(&ahead->mutex);
  if (wakes) wake_thread(ahead);
  if (!item) return ended ? TB__AHEAD_END : TB__AHEAD_WAIT;
  *out = item->message;
  return TB__AHEAD_MESSAGE;
}

/* A message that has a block for itself. */
bool tb__ahead_lend(tb__ahead_t *ahead, const tb_bag_message_t *message, tb__loan_t *out)
{
  if (!ahead->running || space_of(message) <= BLOCK_SIZE) return false;
  tb__mutex_lock(&ahead->mutex);
  tb__ahead_block_t *block = ahead->first;
  tb__mutex_unlock(&ahead->mutex);
  if (!block || message->data != ((const item_t *)block->bytes)->data) return false;
  *out = (tb__loan_t){.data = message->data,
                      .size = message->size,
                      .padded = padded_size(message),
                      .owner = block,
                      .keep = block_keep,
                      .give_back = block_release};
  return true;
}

const char *tb__ahead_check_locked(const tb__ahead_t *ahead)
{
  size_t messages = 0, bytes = 0;
  for (const tb__ahead_block_t *block = ahead->first; block; block = block->next) {
    if (block->begin > block->end || block->end > block->capacity)
      return "a block of the queue exceeds its memory";
    for (size_t at = block->begin; at < block->end;) {
      const item_t *item = (const item_t *)(block->bytes + at);
      messages++;
      bytes += item->message.bag.size;
      at += space_of(&item->message.bag);
    }
  }
  if (messages != ahead->messages) return "the queue counts messages wrongly";
  if (bytes != ahead->bytes) return "the queue counts bytes wrongly";
  if (messages > ahead->max_messages) return "the queue exceeds its bound";
  if (ahead->awaited && messages > 0 && !ahead->wants_seek)
    return "a message is awaited that is in the queue";
  return NULL;
}
