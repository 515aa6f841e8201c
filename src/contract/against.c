#include "contract/against.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_MS INT64_C(1000000)

/* DDS carries messages with zeros at the end, up to a multiple of 4 bytes: these do not count. */
uint64_t tb__against_digest(const void *data, size_t size)
{
  const uint8_t *bytes = data;
  uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ (size + 3) / 4;
  while (size) {
    uint64_t word = 0;
    size_t count = size < sizeof word ? size : sizeof word;
    memcpy(&word, bytes, count);
    hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 32;
    bytes += count;
    size -= count;
  }
  hash *= UINT64_C(0xc4ceb9fe1a85ec53);
  return hash ^ hash >> 29;
}

tb_status_t tb__against_init(tb__against_t *against, uint32_t topic_count, double rate,
                             tb__against_next_fn next, void *user)
{
  memset(against, 0, sizeof *against);
  against->topics = calloc((size_t)topic_count + 1, sizeof *against->topics);
  if (!against->topics) return TB_ERR_NO_MEMORY;
  against->topic_count = topic_count;
  against->rate = rate;
  against->ahead_ns = TB__AGAINST_AHEAD_NS;
  against->next = next;
  against->user = user;
  return TB_OK;
}

void tb__against_fini(tb__against_t *against)
{
  for (uint32_t i = 0; i < against->topic_count; i++) {
    free(against->topics[i].error);
    free(against->topics[i].waiting);
  }
  free(against->topics);
  memset(against, 0, sizeof *against);
}

static tb__against_original_t *waiting_at(const tb__against_topic_t *topic, uint32_t index)
{
  return &topic->waiting[(topic->waiting_at + index) % topic->waiting_capacity];
}

static tb_status_t push(tb__against_topic_t *topic, const tb__against_original_t *original)
{
  if (topic->waiting_count == topic->waiting_capacity) {
    uint32_t capacity = topic->waiting_capacity ? 2 * topic->waiting_capacity : 16;
    tb__against_original_t *moved = malloc(capacity * sizeof *moved);
    if (!moved) return TB_ERR_NO_MEMORY;
    for (uint32_t i = 0; i < topic->waiting_count; i++)
      moved[i] = *waiting_at(topic, i);
    free(topic->waiting);
    topic->waiting = moved;
    topic->waiting_at = 0;
    topic->waiting_capacity = capacity;
  }
  topic->waiting_count++;
  *waiting_at(topic, topic->waiting_count - 1) = *original;
  return TB_OK;
}

/* An original that was passed over: one that comes later, or not at all. */
static void skip(tb__against_t *against, tb__against_topic_t *topic,
                 const tb__against_original_t *original)
{
  if (original->time_ns < against->first_original_ns)
    topic->outside++;
  else
    topic->missing++;
  topic->skipped[topic->skipped_count++ % TB__AGAINST_SKIPPED] = *original;
}

static void pop(tb__against_t *against, tb__against_topic_t *topic)
{
  topic->waiting_at = (topic->waiting_at + 1) % topic->waiting_capacity;
  topic->waiting_count--;
  against->waiting--;
}

/* The next original is put where it waits for its replay. False: there is none, or *status. */
static bool read_one(tb__against_t *against, tb_status_t *status)
{
  tb__against_message_t message;
  if (against->is_at_end) return false;
  if (!against->next(against->user, &message)) {
    against->is_at_end = true;
    return false;
  }
  against->read_ns = message.time_ns;
  if (message.topic >= against->topic_count) return true;
  tb__against_topic_t *topic = &against->topics[message.topic];
  tb__against_original_t original = {message.digest, ++against->numbered, message.time_ns};
  topic->originals++;
  *status = push(topic, &original);
  if (*status) return false;
  against->waiting++;
  return true;
}

static bool may_read(const tb__against_t *against)
{
  if (against->waiting >= TB__AGAINST_WAITING_MAX) return false;
  return against->matched == 0 || against->read_ns - against->last_original_ns <= against->ahead_ns;
}

/* Its place among those that wait; UINT32_MAX: nowhere. */
static uint32_t find_from(const tb__against_topic_t *topic, uint32_t from, uint64_t digest)
{
  for (uint32_t i = from; i < topic->waiting_count && i < TB__AGAINST_SEARCH_MAX; i++)
    if (waiting_at(topic, i)->digest == digest) return i;
  return UINT32_MAX;
}

static uint32_t find(tb__against_t *against, tb__against_topic_t *topic, uint64_t digest,
                     tb_status_t *status)
{
  uint32_t searched = 0, found;
  while ((found = find_from(topic, searched, digest)) == UINT32_MAX) {
    searched = topic->waiting_count;
    while (topic->waiting_count == searched)
      if (searched >= TB__AGAINST_SEARCH_MAX || !may_read(against) || !read_one(against, status))
        return UINT32_MAX;
  }
  return found;
}

static void note_order(tb__against_t *against, int64_t original_ns)
{
  int64_t back_ns = against->last_original_ns - original_ns;
  if (against->matched == 0 || back_ns <= 0) return;
  against->inversions++;
  if (back_ns > NS_PER_MS) against->inversions_1ms++;
  if (back_ns > against->inversion_ns) against->inversion_ns = back_ns;
}

static tb_status_t note_gap(tb__against_t *against, tb__against_topic_t *topic, int64_t original_ns,
                            int64_t replay_ns)
{
  if (!topic->has_last || against->rate <= 0) return TB_OK;
  if (!topic->error) topic->error = calloc(1, sizeof *topic->error);
  if (!topic->error) return TB_ERR_NO_MEMORY;
  double due_ns = (double)(original_ns - topic->last_original_ns) / against->rate;
  int64_t error_ns = (int64_t)((double)(replay_ns - topic->last_replay_ns) - due_ns);
  tb__spread_add(topic->error, error_ns < 0 ? -error_ns : error_ns);
  if ((error_ns < 0 ? -error_ns : error_ns) >
      (topic->worst_ns < 0 ? -topic->worst_ns : topic->worst_ns)) {
    topic->worst_ns = error_ns;
    topic->worst_at_ns = original_ns;
  }
  return TB_OK;
}

static tb_status_t match(tb__against_t *against, tb__against_topic_t *topic,
                         const tb__against_original_t *original, int64_t replay_ns)
{
  tb_status_t status = note_gap(against, topic, original->time_ns, replay_ns);
  note_order(against, original->time_ns);
  if (against->matched == 0) {
    against->first_original_ns = against->last_original_ns = original->time_ns;
    against->first_replay_ns = replay_ns;
  }
  if (original->time_ns < against->first_original_ns)
    against->first_original_ns = original->time_ns;
  if (original->time_ns > against->last_original_ns) {
    against->last_original_ns = original->time_ns;
    against->last_replay_ns = replay_ns;
  }
  topic->has_last = true;
  topic->last_original_ns = original->time_ns;
  topic->last_replay_ns = replay_ns;
  topic->matched++;
  against->matched++;
  return status;
}

/* One that was passed over, and comes after a later one of its topic. */
static bool take_skipped(tb__against_t *against, tb__against_topic_t *topic, uint64_t digest)
{
  uint64_t kept =
      topic->skipped_count < TB__AGAINST_SKIPPED ? topic->skipped_count : TB__AGAINST_SKIPPED;
  for (uint64_t i = 0; i < kept; i++) {
    tb__against_original_t *original = &topic->skipped[i];
    if (original->number == 0 || original->digest != digest) continue;
    note_order(against, original->time_ns);
    original->number = 0;
    if (original->time_ns >= against->first_original_ns && topic->missing) topic->missing--;
    topic->reordered++;
    topic->matched++;
    against->matched++;
    return true;
  }
  return false;
}

static void note_extra(tb__against_t *against, tb__against_topic_t *topic)
{
  topic->extra++;
  if (++against->lost % TB__AGAINST_LOST_MAX == 0 && against->ahead_ns < INT64_MAX / 2)
    against->ahead_ns *= 2;
}

tb_status_t tb__against_take(tb__against_t *against, const tb__against_message_t *message)
{
  tb_status_t status = TB_OK;
  if (message->topic >= against->topic_count) return TB_OK;
  tb__against_topic_t *topic = &against->topics[message->topic];
  topic->replayed++;
  uint32_t found = find(against, topic, message->digest, &status);
  if (status) return status;
  if (found == UINT32_MAX) {
    if (!take_skipped(against, topic, message->digest)) note_extra(against, topic);
    return TB_OK;
  }
  against->lost = 0;
  against->ahead_ns = TB__AGAINST_AHEAD_NS;
  tb__against_original_t original = *waiting_at(topic, found);
  status = match(against, topic, &original, message->time_ns);
  for (uint32_t i = 0; i < found; i++) {
    skip(against, topic, waiting_at(topic, 0));
    pop(against, topic);
  }
  pop(against, topic);
  return status;
}

tb_status_t tb__against_end(tb__against_t *against)
{
  tb_status_t status = TB_OK;
  do {
    for (uint32_t i = 0; i < against->topic_count; i++)
      for (tb__against_topic_t *topic = &against->topics[i]; topic->waiting_count;
           pop(against, topic)) {
        int64_t time_ns = waiting_at(topic, 0)->time_ns;
        if (against->matched == 0 || time_ns < against->first_original_ns ||
            time_ns > against->last_original_ns)
          topic->outside++;
        else
          topic->missing++;
      }
    for (int i = 0; i < 1000 && read_one(against, &status); i++) {
    }
  } while (!status && against->waiting);
  return status;
}

double tb__against_rate(const tb__against_t *against)
{
  int64_t original_ns = against->last_original_ns - against->first_original_ns;
  int64_t replay_ns = against->last_replay_ns - against->first_replay_ns;
  if (against->matched < 2 || original_ns <= 0 || replay_ns <= 0) return 0;
  return (double)original_ns / (double)replay_ns;
}
