#include "play/latched.h"

#include <stdlib.h>
#include <string.h>

#include "bag/reader.h"
#include "base/log.h"

tb_status_t tb__latched_init(tb__latched_t *latched, tb_bag_reader_t *reader,
                             const atomic_bool *stopping)
{
  size_t topics = tb_bag_reader_info(reader)->topic_count;
  *latched =
      (tb__latched_t){.reader = reader, .stopping = stopping, .covered_ns = 0, .target_ns = 0};
  latched->topics = calloc(topics + 1, sizeof *latched->topics);
  latched->kept = calloc(topics + 1, sizeof *latched->kept);
  latched->left = calloc(topics + 1, sizeof *latched->left);
  return latched->topics && latched->kept && latched->left ? TB_OK : TB_ERR_NO_MEMORY;
}

void tb__latched_fini(tb__latched_t *latched)
{
  free(latched->topics);
  free(latched->kept);
  free(latched->left);
  free(latched->state);
  free(latched->entries);
  *latched = (tb__latched_t){0};
}

static uint64_t kept_of(const tb_bag_topic_t *topic)
{
  uint64_t kept = topic->latched_depth;
  if (kept > topic->message_count) kept = topic->message_count;
  return kept ? kept : 1;
}

tb_status_t tb__latched_add_topic(tb__latched_t *latched, size_t topic)
{
  const tb_bag_topic_t *info = &tb_bag_reader_info(latched->reader)->topics[topic];
  uint64_t kept = kept_of(info);
  size_t *state = realloc(latched->state, (latched->kept_count + kept) * sizeof *state);
  if (!state) return TB_ERR_NO_MEMORY;
  latched->state = state;
  latched->topics[topic] = true;
  latched->kept[topic] = kept;
  latched->kept_count += kept;
  latched->message_count += info->message_count;
  return TB_OK;
}

static bool append(tb__latched_t *latched, const tb_bag_message_t *message)
{
  if (latched->count == latched->capacity) {
    size_t capacity = latched->capacity ? 2 * latched->capacity : 16;
    void *entries = realloc(latched->entries, capacity * sizeof *latched->entries);
    if (!entries) return false;
    latched->entries = entries;
    latched->capacity = capacity;
  }
  latched->entries[latched->count++] =
      (tb__latched_entry_t){message->log_time_ns, message->row_id, message->file, message->topic};
  return true;
}

/* The next message of a latched topic; false at the end. Bad rows are met again in playing. Nothing
 * reads ahead of this: what it would read is chosen here. */
static bool read_next(tb__latched_t *latched, tb_bag_message_t *out)
{
  tb_bag_reader_t *reader = latched->reader;
  bool *wanted = reader->wanted, is_sparse = reader->is_sparse;
  reader->wanted = latched->topics;
  reader->is_sparse = true; /* files that are opened for this are sought in again */
  tb_status_t status;
  do
    status = tb__bag_reader_read(reader, out, NULL);
  while ((status ? status != TB_ERR_END : tb__bag_is_short(reader, out)) &&
         !atomic_load(latched->stopping));
  reader->wanted = wanted;
  reader->is_sparse = is_sparse;
  return !status;
}

static void cover(tb__latched_t *latched, int64_t time_ns)
{
  if (latched->covered_ns >= time_ns) return;
  tb_bag_reader_seek(latched->reader, latched->covered_ns);
  while (latched->count < latched->message_count && !atomic_load(latched->stopping)) {
    tb_bag_message_t message;
    bool found = read_next(latched, &message);
    if (!found || message.log_time_ns >= time_ns) break;
    if (append(latched, &message)) continue;
    tb__log(TB_LOG_WARN, "latched topics are not sent again at %lld ns: out of memory",
            (long long)time_ns);
    latched->count = 0; /* from the start, the next time */
    latched->covered_ns = 0;
    return;
  }
  latched->covered_ns = latched->count < latched->message_count ? time_ns : INT64_MAX;
}

static int by_place(const void *a, const void *b)
{
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

void tb__latched_find(tb__latched_t *latched, int64_t time_ns)
{
  size_t topics = tb_bag_reader_info(latched->reader)->topic_count;
  tb__latched_forget(latched);
  latched->target_ns = time_ns;
  if (latched->kept_count == 0) return;
  cover(latched, time_ns);
  memcpy(latched->left, latched->kept, topics * sizeof *latched->left);
  for (size_t i = latched->count; i > 0 && latched->state_count < latched->kept_count; i--) {
    const tb__latched_entry_t *entry = &latched->entries[i - 1];
    if (entry->time_ns >= time_ns || latched->left[entry->topic] == 0) continue;
    latched->left[entry->topic]--;
    latched->state[latched->state_count++] = i - 1;
  }
  qsort(latched->state, latched->state_count, sizeof *latched->state, by_place);
}

void tb__latched_forget(tb__latched_t *latched)
{
  latched->state_count = latched->next = 0;
}

bool tb__latched_has_next(const tb__latched_t *latched)
{
  return latched->state_count > 0;
}

static bool read_entry(tb__latched_t *latched, const tb__latched_entry_t *entry,
                       tb_bag_message_t *out)
{
  tb_bag_reader_seek(latched->reader, entry->time_ns);
  while (read_next(latched, out) && out->log_time_ns == entry->time_ns)
    if (out->row_id == entry->row_id && out->file == entry->file) return true;
  return false;
}

bool tb__latched_next(tb__latched_t *latched, tb_bag_message_t *out)
{
  while (latched->next < latched->state_count)
    if (read_entry(latched, &latched->entries[latched->state[latched->next++]], out)) return true;
  tb__latched_forget(latched);
  return false;
}
