#include "recording_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One list item for each publisher that there was. */
static uint32_t count_offers(const char *offers)
{
  uint32_t count = 0;
  for (const char *line = offers; line && *line; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (*line == '-') count++;
  }
  return count;
}

/* Of an earlier run; usually at the same place. False: it is new. */
static bool find_topic(const tb__recording_t *recording, const char *name, uint32_t likely,
                       uint32_t *out)
{
  for (uint32_t i = 0; i <= recording->topic_count; i++) {
    uint32_t at = i ? i - 1 : likely;
    if (at >= recording->topic_count || strcmp(recording->topics[at].name, name) != 0) continue;
    *out = at;
    return true;
  }
  return false;
}

/* What the reader reports of a topic to which it gave a number; NULL: none. */
static const char *oddity_of(const tb_bag_info_t *info, const char *name)
{
  char end[128];
  int length = snprintf(end, sizeof end, "; it is read as %.80s", name);
  for (size_t i = 0; i < info->oddity_count; i++) {
    size_t size = strlen(info->oddities[i]);
    if (size > (size_t)length && strcmp(info->oddities[i] + size - length, end) == 0 &&
        strstr(info->oddities[i], " here"))
      return info->oddities[i];
  }
  return NULL;
}

tb_status_t recording_feed_topics(recording_feed_t *feed, const tb_bag_info_t *info)
{
  bool is_first = !feed->topics;
  free(feed->topics);
  feed->topics = calloc(info->topic_count + 1, sizeof *feed->topics);
  if (!feed->topics) return TB_ERR_NO_MEMORY;
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    if (!is_first && find_topic(feed->recording, topic->name, (uint32_t)i, &feed->topics[i]))
      continue;
    tb__recorded_topic_input_t input = {.name = topic->name,
                                        .type = topic->type,
                                        .type_hash = topic->type_hash,
                                        .definition = topic->definition,
                                        .definition_encoding = topic->definition_encoding,
                                        .is_cdr = strcmp(topic->serialization_format, "cdr") == 0,
                                        .is_latched =
                                            topic->qos.durability == TB_QOS_TRANSIENT_LOCAL,
                                        .offer_count = count_offers(topic->offers),
                                        .oddity = oddity_of(info, topic->name),
                                        .message_count = topic->message_count};
    tb_status_t status = tb__recording_add_topic(feed->recording, &input, &feed->topics[i]);
    if (status) return status;
  }
  return TB_OK;
}

void recording_feed_notes(recording_feed_t *feed, const tb_bag_info_t *info)
{
  for (size_t i = 0; i < info->note_count; i++)
    tb__recording_note(feed->recording, info->notes[i].key, info->notes[i].value);
}

tb_status_t recording_feed_message(recording_feed_t *feed, const tb_bag_message_t *message)
{
  tb__recorded_message_t taken = {.topic = feed->topics[message->topic],
                                  .log_ns = message->log_time_ns,
                                  .publish_ns = message->publish_time_ns,
                                  .place =
                                      (uint64_t)message->file << 44 | (uint64_t)message->row_id,
                                  .data = message->data,
                                  .size = message->size};
  tb_status_t status = tb__recording_take(feed->recording, &taken);
  return status == TB_ERR_NO_MEMORY ? status : TB_OK;
}

void recording_feed_fini(recording_feed_t *feed)
{
  free(feed->topics);
  feed->topics = NULL;
}
