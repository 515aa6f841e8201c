/* Messages between the threads that take them in, which must not wait, and the one that sends them.
 * So /clock never waits for a large message, nor for a subscription that does not keep up. */
#ifndef TB_CLI_BRIDGE_QUEUE_H
#define TB_CLI_BRIDGE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BRIDGE_QUEUE_BYTES    ((size_t)64 << 20)
#define BRIDGE_QUEUE_MESSAGES 4096

typedef struct bridge_message {
  struct bridge_message *next;
  void *topic, *source; /* as the caller of bridge_queue_put means them */
  size_t size;
  uint8_t bytes[];
} bridge_message_t;

typedef struct bridge_queue {
  pthread_mutex_t mutex;
  pthread_cond_t filled;
  pthread_t thread;
  bool is_running, is_ending;
  bridge_message_t *first, *last;
  size_t bytes, count;
  void (*send)(const bridge_message_t *message); /* on the queue's thread */
  void (*lose)(const bridge_message_t *message); /* the oldest, for which there is no room */
} bridge_queue_t;

/* 0, or an errno. */
int bridge_queue_begin(bridge_queue_t *queue, void (*send)(const bridge_message_t *message),
                       void (*lose)(const bridge_message_t *message));
/* Drops what waits. Nothing may be put any more. */
void bridge_queue_end(bridge_queue_t *queue);
/* Copies the message. False: no memory. */
bool bridge_queue_put(bridge_queue_t *queue, void *topic, void *source, const void *bytes,
                      size_t size);

#endif
