#include "play_restamp.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/clock.h>

#include "text.h"

#define TIME_SIZE 8 /* seconds and nanoseconds */

struct play_restamp_topic {
  play_restamp_topic_t *next;
  tb__definition_entry_t *definition;
  void *handle;
};

/* --- stamps --- */

typedef struct restamping {
  const tb__message_t *message;
  uint8_t *body;
  int64_t shift_ns;
  const tb__known_definition_t *known;
} restamping_t;

static void put(uint8_t *out, bool big_endian, uint32_t value)
{
  for (unsigned i = 0; i < 4; i++)
    out[big_endian ? 3 - i : i] = (uint8_t)(value >> 8 * i);
}

/* A stamp of 0 is none, and stays, as does one that is no time or would be out of range. */
static void restamp(const restamping_t *what, const tb__field_path_t *path, size_t base)
{
  size_t at = 0;
  int64_t ns;
  if (tb__field_path_find(path, what->message, base, &at) ||
      tb__message_time(what->message, &at, &ns) || ns <= 0 ||
      __builtin_add_overflow(ns, what->shift_ns, &ns) || ns < 0 || ns / TB_NS_PER_S > INT32_MAX)
    return;
  put(what->body + at - TIME_SIZE, what->message->big_endian, (uint32_t)(ns / TB_NS_PER_S));
  put(what->body + at - TIME_SIZE / 2, what->message->big_endian, (uint32_t)(ns % TB_NS_PER_S));
}

static bool restamp_edge(void *user, const tb__message_t *message, size_t base)
{
  const restamping_t *what = user;
  (void)message;
  restamp(what, what->known->edges.stamp, base);
  return true;
}

/* In the buffer. What cannot be read stays as it is. */
static void restamp_all(play_restamp_t *self, const tb__known_definition_t *known, size_t size)
{
  tb__message_t message;
  tb_time_t now = {0};
  if (tb__message_open(&message, known->schema, self->buffer, size) ||
      tb_clock_now(self->system, &now))
    return;
  restamping_t what = {&message, self->buffer + (message.body - self->buffer),
                       now.ns - self->log_ns, known};
  if (known->head.stamp) restamp(&what, known->head.stamp, 0);
  if (known->edges.all)
    (void)!tb__field_path_each(known->edges.all, &message, 0, restamp_edge, &what);
}

static bool copy(play_restamp_t *self, const void *data, size_t size)
{
  uint8_t *larger = size > self->capacity ? realloc(self->buffer, size) : self->buffer;
  if (!larger) return false;
  if (size > self->capacity) self->capacity = size;
  self->buffer = larger;
  memcpy(self->buffer, data, size);
  return true;
}

/* --- what the player calls --- */

void play_restamp_take(play_restamp_t *self, const tb_bag_message_t *message)
{
  self->log_ns = message->log_time_ns;
}

static tb_status_t add_topic(void *user, const tb_bag_topic_t *info, void **out_handle,
                             tb_error_t *error)
{
  play_restamp_t *self = user;
  const tb__definition_key_t key = {.type = info->type,
                                    .type_hash = info->type_hash,
                                    .recorded = info->definition,
                                    .recorded_encoding = info->definition_encoding};
  play_restamp_topic_t *topic = calloc(1, sizeof *topic);
  if (!topic) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  topic->next = self->topics;
  self->topics = topic;
  if (tb__definitions_get(self->definitions, &key, &topic->definition))
    return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  *out_handle = topic;
  return self->forward.to.ops->add_topic(self->forward.to.self, info, &topic->handle, error);
}

static tb_status_t publish_as(void *user, void *handle, const char *publisher, const void *data,
                              size_t size, tb_error_t *error)
{
  play_restamp_t *self = user;
  const play_restamp_topic_t *topic = handle;
  const tb__known_definition_t *known = tb__definition_entry_fit(topic->definition, data, size);
  if (known && (known->head.stamp || known->edges.all)) {
    if (!copy(self, data, size)) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
    restamp_all(self, known, size);
    data = self->buffer;
  }
  return play_forward_publish(&self->forward, topic->handle, publisher, data, size, error);
}

/* --- begin and end --- */

tb_status_t play_restamp_begin(play_restamp_t *self, const command_t *command,
                               tb_play_transport_t *to)
{
  const tb__definition_places_t places = {.prefixes = getenv("AMENT_PREFIX_PATH")};
  const tb_clock_options_t system = {TB_TIME_SYSTEM, NULL};
  *self = (play_restamp_t){.command = command};
  tb_status_t status = tb__definitions_create(&places, &self->definitions);
  if (!status) status = tb_clock_create(&system, &self->system);
  if (status) return status;
  *to = play_forward_begin(&self->forward, to);
  self->forward.ops.add_topic = add_topic;
  self->forward.ops.publish_as = publish_as;
  command_begin_warning(command);
  text_err("--restamp: header stamps are moved to the time of playback; they are not those of the "
           "recording\n");
  return TB_OK;
}

void play_restamp_end(play_restamp_t *self)
{
  while (self->topics) {
    play_restamp_topic_t *topic = self->topics;
    self->topics = topic->next;
    free(topic);
  }
  tb__definitions_destroy(self->definitions);
  tb_clock_destroy(self->system);
  free(self->buffer);
}
