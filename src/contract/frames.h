/* Which number a text of a topic has: the frames of its messages, the edges of its transforms.
 * Bounded. One thread at a time. */
#ifndef TB_CONTRACT_FRAMES_H
#define TB_CONTRACT_FRAMES_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

#include "base/private_api.h"

#define TB__FRAME_TEXT_MAX 256 /* bytes of a text that are looked at */

typedef struct tb__frame {
  uint32_t topic, length;
  uint64_t hash;
  char *text; /* with a NUL after it; may be any bytes */
} tb__frame_t;

/* All zero but the limits: empty. */
typedef struct tb__frames {
  uint32_t most, most_of_topic;
  tb__frame_t *frames;
  uint32_t count, capacity;
  uint32_t *slots; /* of a hash table: numbers from 1 on */
  uint32_t slot_count;
} tb__frames_t;

void tb__frames_fini(tb__frames_t *frames);

/* The number of the text, from 0 on in the order of appearance; a new one if `*topic_count`, how
 * many the topic has, allows it, and is raised then. TB_ERR_LIMIT: there are too many.
 * TB_ERR_NO_MEMORY. */
tb_status_t tb__frames_find(tb__frames_t *frames, uint32_t topic, uint32_t *topic_count,
                            const char *text, size_t length, uint32_t *out) TB_WARN_UNUSED;

#endif
