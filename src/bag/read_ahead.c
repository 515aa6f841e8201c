#include "bag/read_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "bag/reader.h"
#include "base/no_memory.h"
#include "platform/futex.h"
#include "platform/mutex.h"
#include "platform/thread.h"

#define BLOCK_SIZE 262144
#define HAND_OVER                                                                                  \
  65536 /* what an owner that waits gets at least: waking it costs as much as many messages */
#define SPARE_MAX 4

/* A message, followed by its data and the publisher's name. */
typedef struct item {
  tb_bag_message_t message; /* without addresses, as the block may move */
  size_t name_size;         /* 0: no publisher */
  uint8_t data[];
} item_t;

/* Messages in a row, and what came after them. */
typedef struct block {
  struct block *next;
  uint8_t *bytes;
  size_t capacity, end;
  size_t at; /* of the next one for the owner */
  tb_status_t failure;
  tb_error_t error;
} block_t;

struct tb__read_ahead {
  tb_bag_reader_t *reader; /* of the thread, while it runs */
  size_t size;
  tb__thread_t thread;
  bool is_started;       /* and not joined */
  block_t *current;      /* of the owner; NULL: none */
  _Atomic uint32_t news; /* for the owner: there is a block, or the thread has ended */
  _Atomic uint32_t room; /* for the thread */
  atomic_bool quit, is_awaited;

  tb__mutex_t mutex; /* guards what follows */
  block_t *first, *last;
  block_t *spare;
  size_t spare_count, bytes;
  bool has_ended; /* the thread */
};

static void signal(_Atomic uint32_t *word)
{
  atomic_fetch_add(word, 1);
  tb__futex_wake_kernel(word, 1);
}

static void wait_for(_Atomic uint32_t *word, uint32_t seen)
{
  tb__futex_wait_kernel(word, seen, TB__NO_DEADLINE);
}

static void free_block(block_t *block)
{
  if (block) free(block->bytes);
  free(block);
}

static void free_blocks(block_t *block)
{
  while (block) {
    block_t *next = block->next;
    free_block(block);
    block = next;
  }
}

/* --- the thread --- */

static size_t space_of(const item_t *item)
{
  size_t alignment = _Alignof(item_t), size = item->message.size + item->name_size;
  return (sizeof *item + size + alignment - 1) / alignment * alignment;
}

static bool reserve(block_t *block, size_t space)
{
  if (space <= block->capacity - block->end) return true;
  size_t capacity = block->end + space > BLOCK_SIZE ? block->end + space : BLOCK_SIZE;
  uint8_t *bytes = realloc(block->bytes, capacity);
  if (!bytes) return false;
  block->bytes = bytes;
  block->capacity = capacity;
  return true;
}

static bool put(block_t *block, const tb_bag_message_t *message)
{
  item_t head = {.message = *message,
                 .name_size = message->publisher ? strlen(message->publisher) + 1 : 0};
  size_t space = space_of(&head);
  if (!reserve(block, space)) return false;
  item_t *item = (item_t *)(void *)(block->bytes + block->end);
  *item = head;
  if (message->size > 0 && message->data) memcpy(item->data, message->data, message->size);
  if (head.name_size > 0) memcpy(item->data + message->size, message->publisher, head.name_size);
  block->end += space;
  return true;
}

/* One that was used before, or a new one. NULL: no memory. */
static block_t *get_block(tb__read_ahead_t *ahead)
{
  tb__mutex_lock(&ahead->mutex);
  block_t *block = ahead->spare;
  if (block) {
    ahead->spare = block->next;
    ahead->spare_count--;
  }
  tb__mutex_unlock(&ahead->mutex);
  if (!block) return calloc(1, sizeof *block);
  block->next = NULL;
  block->end = block->at = 0;
  block->failure = TB_OK;
  return block;
}

static void fill(tb__read_ahead_t *ahead, block_t *block)
{
  tb_bag_message_t message;
  while (!block->failure && block->end < BLOCK_SIZE &&
         !atomic_load_explicit(&ahead->quit, memory_order_relaxed)) {
    block->failure = tb__bag_reader_read(ahead->reader, &message, &block->error);
    if (!block->failure && !put(block, &message)) block->failure = tb__no_memory(&block->error);
    if (block->end >= HAND_OVER && atomic_load_explicit(&ahead->is_awaited, memory_order_relaxed))
      return;
  }
}

static void push(tb__read_ahead_t *ahead, block_t *block)
{
  tb__mutex_lock(&ahead->mutex);
  *(ahead->last ? &ahead->last->next : &ahead->first) = block;
  ahead->last = block;
  ahead->bytes += block->end;
  bool awaited = atomic_exchange(&ahead->is_awaited, false);
  tb__mutex_unlock(&ahead->mutex);
  if (awaited) signal(&ahead->news);
}

/* False: to quit. */
static bool wait_for_room(tb__read_ahead_t *ahead)
{
  for (;;) {
    uint32_t seen = atomic_load(&ahead->room);
    if (atomic_load(&ahead->quit)) return false;
    tb__mutex_lock(&ahead->mutex);
    bool has_room = ahead->bytes < ahead->size;
    tb__mutex_unlock(&ahead->mutex);
    if (has_room) return true;
    wait_for(&ahead->room, seen);
  }
}

static void *read_ahead(void *user)
{
  tb__read_ahead_t *ahead = user;
  bool goes_on = true;
  while (goes_on && wait_for_room(ahead)) {
    block_t *block = get_block(ahead);
    if (!block) break; /* the owner reads on by itself */
    fill(ahead, block);
    goes_on = !block->failure;
    push(ahead, block);
  }
  tb__mutex_lock(&ahead->mutex);
  ahead->has_ended = true;
  tb__mutex_unlock(&ahead->mutex);
  signal(&ahead->news);
  return NULL;
}

/* --- the owner --- */

tb__read_ahead_t *tb__read_ahead_create(tb_bag_reader_t *reader, size_t size)
{
  tb__read_ahead_t *ahead = calloc(1, sizeof *ahead);
  if (!ahead) return NULL;
  ahead->reader = reader;
  ahead->size = size;
  tb__mutex_init(&ahead->mutex);
  return ahead;
}

bool tb__read_ahead_is_lost(const tb__read_ahead_t *ahead)
{
  return ahead && ahead->is_started && tb__is_forked();
}

void tb__read_ahead_pause(tb__read_ahead_t *ahead)
{
  if (!ahead->is_started || tb__read_ahead_is_lost(ahead)) return;
  atomic_store(&ahead->quit, true);
  signal(&ahead->room);
  tb__thread_join(&ahead->thread);
  ahead->is_started = false;
}

void tb__read_ahead_drop(tb__read_ahead_t *ahead)
{
  tb__read_ahead_pause(ahead);
  tb__mutex_lock(&ahead->mutex);
  free_blocks(ahead->first);
  ahead->first = ahead->last = NULL;
  ahead->bytes = 0;
  tb__mutex_unlock(&ahead->mutex);
  free_block(ahead->current);
  ahead->current = NULL;
}

void tb__read_ahead_destroy(tb__read_ahead_t *ahead)
{
  if (!ahead || tb__read_ahead_is_lost(ahead)) return;
  tb__read_ahead_drop(ahead);
  free_blocks(ahead->spare);
  tb__mutex_fini(&ahead->mutex);
  free(ahead);
}

/* The block that the owner has read. Large ones are not kept. */
static void give_back(tb__read_ahead_t *ahead, block_t *block)
{
  bool is_kept = false;
  tb__mutex_lock(&ahead->mutex);
  if (block->capacity <= 2 * BLOCK_SIZE && ahead->spare_count < SPARE_MAX) {
    block->next = ahead->spare;
    ahead->spare = block;
    ahead->spare_count++;
    is_kept = true;
  }
  tb__mutex_unlock(&ahead->mutex);
  if (!is_kept) free_block(block);
}

static bool start(tb__read_ahead_t *ahead)
{
  tb__read_ahead_pause(ahead); /* joins one that has ended */
  if (tb__fork_watch()) return false;
  atomic_store(&ahead->quit, false);
  atomic_store(&ahead->is_awaited, false);
  ahead->has_ended = false;
  ahead->is_started = !tb__thread_start(&ahead->thread, "tb-read-ahead", read_ahead, ahead);
  return ahead->is_started;
}

/* Removes the first block. NULL: there is none, and *out_ended whether none will come. */
static block_t *pop(tb__read_ahead_t *ahead, bool *out_ended)
{
  tb__mutex_lock(&ahead->mutex);
  block_t *block = ahead->first;
  bool was_full = ahead->bytes >= ahead->size;
  if (block) {
    ahead->first = block->next;
    if (!ahead->first) ahead->last = NULL;
    ahead->bytes -= block->end;
  }
  bool has_room = was_full && ahead->bytes < ahead->size;
  *out_ended = !ahead->is_started || ahead->has_ended;
  if (!block && !*out_ended) atomic_store(&ahead->is_awaited, true);
  tb__mutex_unlock(&ahead->mutex);
  if (has_room) signal(&ahead->room);
  return block;
}

/* The next block with something in it. NULL: the caller reads by itself. */
static block_t *take(tb__read_ahead_t *ahead)
{
  bool was_started = false;
  for (;;) {
    bool ended = false;
    uint32_t seen = atomic_load(&ahead->news);
    block_t *block = pop(ahead, &ended);
    if (block) return block;
    if (!ended) {
      wait_for(&ahead->news, seen);
      continue;
    }
    if (was_started || !start(ahead)) return NULL;
    was_started = true;
  }
}

static void get_item(block_t *block, tb_bag_message_t *out)
{
  item_t *item = (item_t *)(void *)(block->bytes + block->at);
  block->at += space_of(item);
  *out = item->message;
  if (out->data) out->data = item->data;
  if (item->name_size > 0) out->publisher = (const char *)item->data + out->size;
}

static tb_status_t read_here(tb__read_ahead_t *ahead, tb_bag_message_t *out, tb_error_t *error)
{
  tb__read_ahead_pause(ahead);
  return tb__bag_reader_read(ahead->reader, out, error);
}

tb_status_t tb__read_ahead_next(tb__read_ahead_t *ahead, tb_bag_message_t *out, tb_error_t *error)
{
  if (tb__read_ahead_is_lost(ahead))
    return tb_error_set(error, TB_ERR_FORKED, "the thread that reads this bag is the parent's");
  for (;;) {
    block_t *block = ahead->current;
    if (block && block->at < block->end) {
      get_item(block, out);
      return TB_OK;
    }
    if (block && block->failure) {
      tb_status_t status = block->failure;
      if (error) *error = block->error;
      block->failure = TB_OK;
      return status;
    }
    ahead->current = NULL;
    if (block) give_back(ahead, block);
    ahead->current = take(ahead);
    if (!ahead->current) return read_here(ahead, out, error);
  }
}
