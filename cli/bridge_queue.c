#include "bridge_queue.h"

#include <stdlib.h>
#include <string.h>

static bridge_message_t *take_first(bridge_queue_t *queue)
{
  bridge_message_t *message = queue->first;
  queue->first = message->next;
  if (!queue->first) queue->last = NULL;
  queue->bytes -= message->size;
  queue->count--;
  return message;
}

static void *run(void *user)
{
  bridge_queue_t *queue = user;
  pthread_mutex_lock(&queue->mutex);
  for (;;) {
    while (!queue->first && !queue->is_ending)
      pthread_cond_wait(&queue->filled, &queue->mutex);
    if (queue->is_ending) break;
    bridge_message_t *message = take_first(queue);
    pthread_mutex_unlock(&queue->mutex);
    queue->send(message);
    free(message);
    pthread_mutex_lock(&queue->mutex);
  }
  pthread_mutex_unlock(&queue->mutex);
  return NULL;
}

int bridge_queue_begin(bridge_queue_t *queue, void (*send)(const bridge_message_t *message),
                       void (*lose)(const bridge_message_t *message))
{
  *queue = (bridge_queue_t){.send = send, .lose = lose};
  pthread_mutex_init(&queue->mutex, NULL);
  pthread_cond_init(&queue->filled, NULL);
  int error = pthread_create(&queue->thread, NULL, run, queue);
  queue->is_running = error == 0;
  return error;
}

void bridge_queue_end(bridge_queue_t *queue)
{
  if (!queue->is_running) return;
  pthread_mutex_lock(&queue->mutex);
  queue->is_ending = true;
  pthread_cond_signal(&queue->filled);
  pthread_mutex_unlock(&queue->mutex);
  pthread_join(queue->thread, NULL);
  while (queue->first) {
    bridge_message_t *message = take_first(queue);
    queue->lose(message);
    free(message);
  }
  pthread_cond_destroy(&queue->filled);
  pthread_mutex_destroy(&queue->mutex);
  queue->is_running = false;
}

static bool is_full(const bridge_queue_t *queue, size_t size)
{
  return queue->first && (queue->count >= BRIDGE_QUEUE_MESSAGES || size > BRIDGE_QUEUE_BYTES ||
                          queue->bytes > BRIDGE_QUEUE_BYTES - size);
}

bool bridge_queue_put(bridge_queue_t *queue, void *topic, void *source, const void *bytes,
                      size_t size)
{
  bridge_message_t *message = malloc(sizeof *message + size);
  if (!message) return false;
  *message = (bridge_message_t){.topic = topic, .source = source, .size = size};
  if (size) memcpy(message->bytes, bytes, size);
  pthread_mutex_lock(&queue->mutex);
  while (is_full(queue, size)) {
    bridge_message_t *oldest = take_first(queue);
    queue->lose(oldest);
    free(oldest);
  }
  if (queue->last)
    queue->last->next = message;
  else
    queue->first = message;
  queue->last = message;
  queue->bytes += size;
  queue->count++;
  pthread_cond_signal(&queue->filled);
  pthread_mutex_unlock(&queue->mutex);
  return true;
}
