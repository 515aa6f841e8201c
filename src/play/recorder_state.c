/* The state with which a snapshot begins, or a file: the last messages of latched topics that came
 * before it, as many as their publishers keep for a subscription that is late. */
#include <stdlib.h>

#include "bag/offers.h"
#include "play/recorder.h"

#define KEPT_MAX 1000

uint32_t tb__recorder_state_depth(const char *offers)
{
  tb__qos_offers_t parsed;
  if (!offers || tb__qos_offers_parse(offers, &parsed, NULL) != TB_OK) return 1;
  uint64_t kept = tb__qos_offers_kept(&parsed);
  tb__qos_offers_fini(&parsed);
  return kept < 1 ? 1 : kept > KEPT_MAX ? KEPT_MAX : (uint32_t)kept;
}

static tb__record_t *copy_of(const tb__record_t *record)
{
  tb__record_t *copy =
      tb__record_create(TB__RECORD_MESSAGE, record->topic, record->bytes, record->size);
  if (!copy) return NULL;
  copy->log_ns = record->log_ns;
  copy->publish_ns = record->publish_ns;
  copy->serial = record->serial;
  return copy;
}

/* False: there is none. */
static bool drop_oldest(tb_recorder_t *recorder, size_t topic)
{
  tb__record_t **at = &recorder->state;
  while (*at && (*at)->topic != topic)
    at = &(*at)->next;
  tb__record_t *dropped = *at;
  if (!dropped) return false;
  *at = dropped->next;
  recorder->topics[topic]->state_count--;
  recorder->state_size -= dropped->size;
  free(dropped);
  return true;
}

/* Out of memory, or larger than what is kept in all: that message is not in later snapshots and
 * files. */
void tb__recorder_state_keep_locked(tb_recorder_t *recorder, const tb__record_t *record)
{
  tb__recorder_topic_t *topic = recorder->topics[record->topic];
  tb__record_t *copy = copy_of(record), **end = &recorder->state;
  if (!copy) return;
  while (topic->state_count >= topic->state_depth ||
         recorder->state_size + copy->size > recorder->options.cache_size)
    if (!drop_oldest(recorder, record->topic)) break;
  if (recorder->state_size + copy->size > recorder->options.cache_size) {
    free(copy);
    return;
  }
  while (*end)
    end = &(*end)->next;
  *end = copy;
  topic->state_count++;
  recorder->state_size += copy->size;
}

/* Messages from `first` on are in the snapshot's memory, or in the file. */
tb__record_t *tb__recorder_state_before_locked(tb_recorder_t *recorder, const tb__record_t *first)
{
  tb__record_t *list = NULL, **end = &list;
  while (first && first->kind != TB__RECORD_MESSAGE)
    first = first->next;
  for (const tb__record_t *kept = recorder->state; first && kept; kept = kept->next) {
    if (kept->serial >= first->serial) break;
    tb__record_t *copy = copy_of(kept);
    if (!copy) break;
    copy->log_ns = first->log_ns;
    *end = copy;
    end = &copy->next;
  }
  return list;
}

void tb__recorder_state_free(tb_recorder_t *recorder)
{
  while (recorder->state) {
    tb__record_t *record = recorder->state;
    recorder->state = record->next;
    free(record);
  }
}
