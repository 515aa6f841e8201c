#include "contract/frames.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "definition/hash.h"

void tb__frames_fini(tb__frames_t *frames)
{
  for (uint32_t i = 0; i < frames->count; i++)
    free(frames->frames[i].text);
  free(frames->frames);
  free(frames->slots);
  *frames = (tb__frames_t){.most = frames->most, .most_of_topic = frames->most_of_topic};
}

static uint64_t hash_of(uint32_t topic, const char *text, size_t length)
{
  uint64_t hash = tb__hash_bytes(TB__HASH_START ^ topic, text, length);
  return hash ^ hash >> 29;
}

static bool is_frame(const tb__frame_t *frame, uint64_t hash, uint32_t topic, const char *text,
                     size_t length)
{
  return frame->hash == hash && frame->topic == topic && frame->length == length &&
         memcmp(frame->text, text, length) == 0;
}

/* The slot of the text, or the free one where it would be. */
static uint32_t *slot_of(const tb__frames_t *frames, uint64_t hash, uint32_t topic,
                         const char *text, size_t length)
{
  uint32_t at = (uint32_t)hash & (frames->slot_count - 1);
  while (frames->slots[at] &&
         !is_frame(&frames->frames[frames->slots[at] - 1], hash, topic, text, length))
    at = (at + 1) & (frames->slot_count - 1);
  return &frames->slots[at];
}

/* At most half of the slots are used. */
static tb_status_t grow(tb__frames_t *frames)
{
  uint32_t capacity = frames->capacity ? 2 * frames->capacity : 32;
  tb__frame_t *moved = realloc(frames->frames, capacity * sizeof *moved);
  if (!moved) return TB_ERR_NO_MEMORY;
  frames->frames = moved;
  uint32_t *slots = calloc((size_t)2 * capacity, sizeof *slots);
  if (!slots) return TB_ERR_NO_MEMORY;
  free(frames->slots);
  frames->slots = slots;
  frames->slot_count = 2 * capacity;
  frames->capacity = capacity;
  for (uint32_t i = 0; i < frames->count; i++) {
    const tb__frame_t *frame = &frames->frames[i];
    *slot_of(frames, frame->hash, frame->topic, frame->text, frame->length) = i + 1;
  }
  return TB_OK;
}

tb_status_t tb__frames_find(tb__frames_t *frames, uint32_t topic, uint32_t *topic_count,
                            const char *text, size_t length, uint32_t *out)
{
  if (length > TB__FRAME_TEXT_MAX) length = TB__FRAME_TEXT_MAX;
  uint64_t hash = hash_of(topic, text, length);
  if (frames->slot_count) {
    uint32_t found = *slot_of(frames, hash, topic, text, length);
    if (found) {
      *out = found - 1;
      return TB_OK;
    }
  }
  if (frames->count >= frames->most || *topic_count >= frames->most_of_topic) return TB_ERR_LIMIT;
  if (frames->count == frames->capacity && grow(frames)) return TB_ERR_NO_MEMORY;
  char *copy = malloc(length + 1);
  if (!copy) return TB_ERR_NO_MEMORY;
  if (length) memcpy(copy, text, length);
  copy[length] = '\0';
  frames->frames[frames->count] = (tb__frame_t){topic, (uint32_t)length, hash, copy};
  *slot_of(frames, hash, topic, text, length) = ++frames->count;
  ++*topic_count;
  *out = frames->count - 1;
  return TB_OK;
}
