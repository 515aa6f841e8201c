/* Messages from the thread that takes them in to the one that shows them. Of bounded size: what
 * there is no room for is counted. */
#ifndef TB_CLI_TOPIC_QUEUE_H
#define TB_CLI_TOPIC_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

typedef struct topic_message {
  struct topic_message *next;
  int64_t received_ns, steady_ns; /* system time, steady time */
  int64_t now_ns;                 /* the time that nodes of the graph have; 0: none yet */
  uint64_t publisher;             /* a number for each */
  char name[256];                 /* of its node */
  uint32_t type;                  /* index of a type of the queue */
  bool is_latched;
  size_t size;
  uint8_t data[];
} topic_message_t;

typedef struct topic_type {
  char name[256];
  char md5sum[64]; /* what identifies it beside the name */
  char *definition;
} topic_type_t;

enum { TOPIC_TYPES = 16 };

typedef struct topic_queue {
  pthread_mutex_t mutex;
  int fds[2]; /* a pipe: readable while there are messages */
  topic_message_t *first, *last;
  size_t count, bytes;
  uint64_t dropped;
  topic_type_t types[TOPIC_TYPES];
  uint32_t type_count;
} topic_queue_t;

/* TB_ERR_SYSTEM. Close it either way. */
tb_status_t topic_queue_open(topic_queue_t *queue);
void topic_queue_close(topic_queue_t *queue);

/* `head` is copied, with its data. [any thread] */
void topic_queue_put(topic_queue_t *queue, const topic_message_t *head, const topic_type_t *type,
                     const void *data, size_t size);
/* All there are, to be freed one by one; NULL: none. The number that was dropped is added to
 * *dropped. */
topic_message_t *topic_queue_take(topic_queue_t *queue, uint64_t *dropped);
/* A type; it stays as it is. */
const topic_type_t *topic_queue_type(topic_queue_t *queue, uint32_t index);

#endif
