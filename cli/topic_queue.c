#include "topic_queue.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT_MAX 10000
#define BYTES_MAX ((size_t)128 << 20)

tb_status_t topic_queue_open(topic_queue_t *queue)
{
  memset(queue, 0, sizeof *queue);
  queue->fds[0] = queue->fds[1] = -1;
  pthread_mutex_init(&queue->mutex, NULL);
  return pipe2(queue->fds, O_CLOEXEC | O_NONBLOCK) ? TB_ERR_SYSTEM : TB_OK;
}

void topic_queue_close(topic_queue_t *queue)
{
  for (int i = 0; i < 2; i++)
    if (queue->fds[i] >= 0) close(queue->fds[i]);
  for (topic_message_t *next, *one = queue->first; one; one = next) {
    next = one->next;
    free(one);
  }
  for (uint32_t i = 0; i < queue->type_count; i++)
    free(queue->types[i].definition);
  pthread_mutex_destroy(&queue->mutex);
}

/* False: there is no room for another one. */
static bool find_type_locked(topic_queue_t *queue, const topic_type_t *type, uint32_t *out)
{
  for (uint32_t i = 0; i < queue->type_count; i++) {
    *out = i;
    if (!strcmp(queue->types[i].name, type->name) &&
        !strcmp(queue->types[i].md5sum, type->md5sum) &&
        !strcmp(queue->types[i].definition, type->definition))
      return true;
  }
  if (queue->type_count == TOPIC_TYPES) return false;
  topic_type_t *added = &queue->types[queue->type_count];
  *added = *type;
  added->definition = strdup(type->definition);
  if (!added->definition) return false;
  *out = queue->type_count++;
  return true;
}

static bool put_locked(topic_queue_t *queue, const topic_message_t *head, const topic_type_t *type,
                       const void *data, size_t size)
{
  uint32_t index;
  if (queue->count == COUNT_MAX || size > BYTES_MAX - queue->bytes) return false;
  if (!find_type_locked(queue, type, &index)) return false;
  topic_message_t *message = malloc(sizeof *message + size);
  if (!message) return false;
  *message = *head;
  message->next = NULL;
  message->type = index;
  message->size = size;
  if (size) memcpy(message->data, data, size);
  if (queue->last)
    queue->last->next = message;
  else
    queue->first = message;
  queue->last = message;
  queue->count++;
  queue->bytes += size;
  return true;
}

void topic_queue_put(topic_queue_t *queue, const topic_message_t *head, const topic_type_t *type,
                     const void *data, size_t size)
{
  pthread_mutex_lock(&queue->mutex);
  bool was_empty = !queue->first;
  if (!put_locked(queue, head, type, data, size)) queue->dropped++;
  pthread_mutex_unlock(&queue->mutex);
  ssize_t written = was_empty ? write(queue->fds[1], "", 1) : 0;
  (void)written; /* a full pipe is readable */
}

topic_message_t *topic_queue_take(topic_queue_t *queue, uint64_t *dropped)
{
  char bytes[64];
  while (read(queue->fds[0], bytes, sizeof bytes) > 0)
    continue;
  pthread_mutex_lock(&queue->mutex);
  topic_message_t *all = queue->first;
  queue->first = queue->last = NULL;
  queue->count = queue->bytes = 0;
  *dropped += queue->dropped;
  queue->dropped = 0;
  pthread_mutex_unlock(&queue->mutex);
  return all;
}

const topic_type_t *topic_queue_type(topic_queue_t *queue, uint32_t index)
{
  return &queue->types[index];
}
