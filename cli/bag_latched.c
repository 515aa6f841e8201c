#include "bag_latched.h"

#include <stdlib.h>
#include <string.h>

/* Where a message is. */
typedef struct place {
  size_t topic, file;
  int64_t row_id, log_time_ns;
  char *publisher; /* or NULL */
} place_t;

struct bag_latched {
  tb_bag_reader_t *reader; /* of the latched topics */
  place_t *places;         /* in the order of reading */
  size_t count, next;
};

void bag_latched_close(bag_latched_t *latched)
{
  if (!latched) return;
  tb_bag_reader_close(latched->reader);
  for (size_t i = 0; i < latched->count; i++)
    free(latched->places[i].publisher);
  free(latched->places);
  free(latched);
}

/* *names is to be freed. */
static tb_status_t name_topics(const bag_latched_from_t *from, const tb_bag_info_t *info,
                               const char ***names, size_t *count, tb_error_t *error)
{
  *names = calloc(info->topic_count + 1, sizeof **names);
  if (!*names) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  for (size_t i = 0; i < info->topic_count; i++)
    if (info->topics[i].latched_depth > 0 && (!from->wanted || from->wanted[i]))
      (*names)[(*count)++] = info->topics[i].name;
  return TB_OK;
}

/* Of the latched topics alone; *out stays NULL if there are none, or nothing is that early. */
static tb_status_t open_reader(const bag_latched_from_t *from, tb_bag_content_t content,
                               tb_bag_reader_t **out, tb_error_t *error)
{
  tb_bag_reader_options_t options = *from->options;
  tb_bag_reader_t *all = NULL;
  const char **names = NULL;
  options.topics = NULL;
  options.topic_count = 0;
  options.content = content;
  tb_status_t status =
      tb_bag_reader_open_many(from->paths, from->path_count, &options, &all, error);
  if (status) return status;
  const tb_bag_info_t *info = tb_bag_reader_info(all);
  status = name_topics(from, info, &names, &options.topic_count, error);
  options.topics = names;
  if (!status && options.topic_count > 0 && info->start_ns < from->before_ns)
    status = tb_bag_reader_open_many(from->paths, from->path_count, &options, out, error);
  free(names);
  tb_bag_reader_close(all);
  return status;
}

static bool is_of(const place_t *place, const tb_bag_message_t *message)
{
  if (place->topic != message->topic) return false;
  if (!place->publisher || !message->publisher) return place->publisher == message->publisher;
  return strcmp(place->publisher, message->publisher) == 0;
}

/* Instead of the oldest one that its publisher no longer keeps. */
static bool keep(bag_latched_t *latched, const tb_bag_message_t *message)
{
  const tb_bag_topic_t *topic = &tb_bag_reader_info(latched->reader)->topics[message->topic];
  uint64_t depth = message->publisher ? 1 : topic->latched_depth, there = 0;
  size_t oldest = latched->count;
  for (size_t i = latched->count; i > 0; i--)
    if (is_of(&latched->places[i - 1], message)) {
      there++;
      oldest = i - 1;
    }
  if (there > 0 && there >= depth) {
    free(latched->places[oldest].publisher);
    latched->count--;
    memmove(&latched->places[oldest], &latched->places[oldest + 1],
            (latched->count - oldest) * sizeof *latched->places);
  }
  place_t *places = reallocarray(latched->places, latched->count + 1, sizeof *places);
  if (places) latched->places = places;
  place_t added = {message->topic, message->file, message->row_id, message->log_time_ns,
                   message->publisher ? strdup(message->publisher) : NULL};
  if (!places || (message->publisher && !added.publisher)) {
    free(added.publisher);
    return false;
  }
  latched->places[latched->count++] = added;
  return true;
}

static tb_status_t search(const bag_latched_from_t *from, bag_latched_t *latched, tb_error_t *error)
{
  tb_bag_message_t message;
  while (!*from->signalled) {
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
