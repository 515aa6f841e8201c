#include "bag_latched.h"

#include <stdlib.h>
#include <string.h>

#include "definition/hash.h"

/* Where a message is. */
typedef struct place {
  uint64_t order; /* of reading */
  size_t file;
  int64_t row_id, log_time_ns;
} place_t;

/* Of one topic, or of one publisher of it: the last places, as many as are kept. */
typedef struct keeper {
  size_t topic;
  char *publisher; /* or NULL */
  uint64_t depth;
  place_t *places;
  size_t count, room, oldest; /* `oldest`: which the next one replaces, once there are `depth` */
  struct keeper *next;        /* in its bucket */
} keeper_t;

struct bag_latched {
  tb_bag_reader_t *reader; /* of the latched topics */
  keeper_t **buckets;      /* by a hash */
  size_t bucket_count, keeper_count;
  uint64_t seen, recorded; /* messages of these topics */
  place_t *places;         /* of all keepers, in the order of reading */
  size_t count, next;
};

static void free_keepers(bag_latched_t *latched)
{
  for (size_t i = 0; i < latched->bucket_count; i++)
    for (keeper_t *keeper = latched->buckets[i], *next; keeper; keeper = next) {
      next = keeper->next;
      free(keeper->publisher);
      free(keeper->places);
      free(keeper);
    }
  free(latched->buckets);
  latched->buckets = NULL;
  latched->bucket_count = latched->keeper_count = 0;
}

void bag_latched_close(bag_latched_t *latched)
{
  if (!latched) return;
  tb_bag_reader_close(latched->reader);
  free_keepers(latched);
  free(latched->places);
  free(latched);
}

static bool is_latched(const bag_latched_from_t *from, size_t topic)
{
  return from->info->topics[topic].latched_depth > 0 && from->wanted[topic];
}

/* Of the latched topics alone; *out stays NULL if there are none, or nothing is that early. */
static tb_status_t open_reader(const bag_latched_from_t *from, tb_bag_content_t content,
                               tb_bag_reader_t **out, tb_error_t *error)
{
  const tb_bag_info_t *info = from->info;
  tb_bag_reader_options_t options = *from->options;
  const char **names = calloc(info->topic_count + 1, sizeof *names);
  tb_status_t status = TB_OK;
  if (!names) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  options.topics = names;
  options.topic_count = 0;
  options.content = content;
  for (size_t i = 0; i < info->topic_count; i++)
    if (is_latched(from, i)) names[options.topic_count++] = info->topics[i].name;
  if (options.topic_count > 0 && info->start_ns < from->before_ns)
    status = tb_bag_reader_open_many(from->paths, from->path_count, &options, out, error);
  free(names);
  return status;
}

static size_t hash_of(size_t topic, const char *publisher)
{
  uint64_t hash = tb__hash_bytes(TB__HASH_START, &topic, sizeof topic);
  if (publisher) hash = tb__hash_bytes(hash, publisher, strlen(publisher));
  return (size_t)(hash ^ hash >> 32);
}

static bool is_of(const keeper_t *keeper, const tb_bag_message_t *message)
{
  if (keeper->topic != message->topic) return false;
  if (!keeper->publisher || !message->publisher) return keeper->publisher == message->publisher;
  return strcmp(keeper->publisher, message->publisher) == 0;
}

/* Twice as many, before there are more keepers than buckets. */
static bool grow_buckets(bag_latched_t *latched)
{
  size_t count = latched->bucket_count ? 2 * latched->bucket_count : 64;
  if (latched->keeper_count < latched->bucket_count) return true;
  keeper_t **buckets = calloc(count, sizeof(keeper_t *));
  if (!buckets) return false;
  for (size_t i = 0; i < latched->bucket_count; i++)
    for (keeper_t *keeper = latched->buckets[i], *next; keeper; keeper = next) {
      keeper_t **bucket = &buckets[hash_of(keeper->topic, keeper->publisher) % count];
      next = keeper->next;
      keeper->next = *bucket;
      *bucket = keeper;
    }
  free(latched->buckets);
  latched->buckets = buckets;
  latched->bucket_count = count;
  return true;
}

/* NULL: out of memory. */
static keeper_t *keeper_of(bag_latched_t *latched, const tb_bag_message_t *message)
{
  if (!grow_buckets(latched)) return NULL;
  size_t hash = hash_of(message->topic, message->publisher);
  keeper_t **bucket = &latched->buckets[hash % latched->bucket_count], *keeper = *bucket;
  while (keeper && !is_of(keeper, message))
    keeper = keeper->next;
  if (keeper) return keeper;
  const tb_bag_topic_t *topic = &tb_bag_reader_info(latched->reader)->topics[message->topic];
  keeper = calloc(1, sizeof *keeper);
  char *publisher = keeper && message->publisher ? strdup(message->publisher) : NULL;
  if (!keeper || (message->publisher && !publisher)) {
    free(keeper);
    return NULL;
  }
  *keeper = (keeper_t){.topic = message->topic,
                       .publisher = publisher,
                       .depth = publisher ? 1 : topic->latched_depth,
                       .next = *bucket};
  latched->keeper_count++;
  return *bucket = keeper;
}

/* Instead of the oldest one that its publisher no longer keeps. False: out of memory. */
static bool keep(bag_latched_t *latched, const tb_bag_message_t *message)
{
  keeper_t *keeper = keeper_of(latched, message);
  const place_t place = {latched->seen++, message->file, message->row_id, message->log_time_ns};
  if (!keeper) return false;
  if (keeper->count > 0 && keeper->count >= keeper->depth) {
    keeper->places[keeper->oldest] = place;
    keeper->oldest = (keeper->oldest + 1) % keeper->count;
    return true;
  }
  if (keeper->count == keeper->room) {
    size_t room = keeper->room ? 2 * keeper->room : 1;
    place_t *places = reallocarray(keeper->places, room, sizeof *places);
    if (!places) return false;
    keeper->places = places;
    keeper->room = room;
  }
  keeper->places[keeper->count++] = place;
  return true;
}

static int compare_places(const void *left, const void *right)
{
  const place_t *a = left, *b = right;
  return (a->order > b->order) - (a->order < b->order);
}

/* What all of them keep, in the order of reading. */
static tb_status_t gather(bag_latched_t *latched, tb_error_t *error)
{
  size_t count = 0;
  for (size_t i = 0; i < latched->bucket_count; i++)
    for (const keeper_t *keeper = latched->buckets[i]; keeper; keeper = keeper->next)
      count += keeper->count;
  latched->places = calloc(count + 1, sizeof *latched->places);
  if (!latched->places) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  for (size_t i = 0; i < latched->bucket_count; i++)
    for (const keeper_t *keeper = latched->buckets[i]; keeper; keeper = keeper->next) {
      memcpy(&latched->places[latched->count], keeper->places,
             keeper->count * sizeof *keeper->places);
      latched->count += keeper->count;
    }
  qsort(latched->places, latched->count, sizeof *latched->places, compare_places);
  free_keepers(latched);
  return TB_OK;
}

static tb_status_t search(const bag_latched_from_t *from, bag_latched_t *latched, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(latched->reader);
  tb_bag_message_t message;
  for (size_t i = 0; i < info->topic_count; i++)
    if (is_latched(from, i)) latched->recorded += info->topics[i].message_count;
  while (!*from->signalled && latched->seen < latched->recorded) {
    tb_status_t status = tb_bag_reader_next(latched->reader, &message, error);
    if (status == TB_ERR_END || (!status && message.log_time_ns >= from->before_ns)) break;
    if (status)
      from->on_failure(from->user, error);
    else if (!keep(latched, &message))
      return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  }
  return TB_OK;
}

/* Once more, with payloads. */
static tb_status_t reopen(const bag_latched_from_t *from, bag_latched_t *latched, tb_error_t *error)
{
  tb_bag_reader_close(latched->reader);
  latched->reader = NULL;
  tb_status_t status = open_reader(from, from->options->content, &latched->reader, error);
  return status ? status : tb_bag_reader_seek(latched->reader, latched->places[0].log_time_ns);
}

tb_status_t bag_latched_find(const bag_latched_from_t *from, bag_latched_t **out, tb_error_t *error)
{
  bag_latched_t *latched = calloc(1, sizeof *latched);
  if (!latched) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  tb_status_t status = open_reader(from, TB_BAG_CONTENT_TIMES, &latched->reader, error);
  if (!status && latched->reader) status = search(from, latched, error);
  if (!status) status = gather(latched, error);
  if (!status && latched->count > 0) status = reopen(from, latched, error);
  *out = latched;
  if (!status && latched->count > 0) return TB_OK;
  bag_latched_close(latched);
  *out = NULL;
  return status;
}

tb_status_t bag_latched_next(bag_latched_t *latched, tb_bag_message_t *out, tb_error_t *error)
{
  while (latched && latched->next < latched->count) {
    const place_t *place = &latched->places[latched->next];
    tb_bag_message_t message;
    tb_status_t status = tb_bag_reader_next(latched->reader, &message, error);
    if (status) return status;
    if (message.file != place->file || message.row_id != place->row_id) continue;
    latched->next++;
    *out = message;
    return TB_OK;
  }
  return tb_error_set(error, TB_ERR_END, "no more messages");
}
