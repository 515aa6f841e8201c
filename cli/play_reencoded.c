#include "play_reencoded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/reencoder.h>

#include "bag_reencode.h"
#include "text.h"

#define ROS1 "ros1"
#define CDR  "cdr"

/* A topic of the recording, and what it is on the graph. */
struct play_reencoded_topic {
  play_reencoded_topic_t *next;
  char *name, *type;            /* as recorded */
  char *type_hash, *definition; /* the same */
  bool is_left_out;             /* which was reported */
  tb_bag_topic_t info;          /* for the graph */
  tb_reencoder_t *reencoder;    /* NULL: its messages are as the graph has them */
  void *handle;                 /* of the graph's transport */
};

static bool is_of_graph(const play_reencoded_t *self, const tb_bag_topic_t *info)
{
  return strcmp(info->serialization_format, self->to_ros1 ? ROS1 : CDR) == 0;
}

bool play_reencoded_is_needed(const tb_bag_info_t *info, bool to_ros1)
{
  for (size_t i = 0; i < info->topic_count; i++)
    if (strcmp(info->topics[i].serialization_format, to_ros1 ? ROS1 : CDR) != 0 ||
        bag_reencode_check(&info->topics[i], NULL) == TB_ERR_CORRUPT)
      return true;
  return false;
}

static void topic_free(play_reencoded_topic_t *topic)
{
  tb_reencoder_destroy(topic->reencoder);
  free(topic->name);
  free(topic->type);
  free(topic->type_hash);
  free(topic->definition);
  free(topic);
}

/* What it is on the graph. */
static void describe(const play_reencoded_t *self, play_reencoded_topic_t *topic,
                     const tb_bag_topic_t *info)
{
  topic->info = *info;
  if (!topic->reencoder) return;
  const tb_reencoder_type_t *to =
      self->to_ros1 ? tb_reencoder_ros1(topic->reencoder) : tb_reencoder_ros2(topic->reencoder);
  topic->info.type = to->name;
  topic->info.definition = to->definition;
  topic->info.definition_encoding = to->encoding;
  topic->info.serialization_format = self->to_ros1 ? ROS1 : CDR;
  topic->info.type_hash = self->to_ros1 ? tb_reencoder_md5sum(topic->reencoder) : "";
}

static tb_status_t find_counterpart(play_reencoded_topic_t *topic, const tb_bag_topic_t *info,
                                    tb_error_t *error)
{
  const tb_reencoder_type_t from = bag_reencode_type(info);
  return tb_reencoder_find(&from, NULL, 0, &topic->reencoder, error);
}

static bool refuse(const play_reencoded_t *self, play_reencoded_topic_t *topic, const char *why)
{
  flockfile(stderr);
  command_begin_warning(self->command);
  text_err("%s (%s) is not played: %s\n", topic->name, topic->type, why);
  funlockfile(stderr);
  topic->is_left_out = true;
  return false;
}

static bool choose(const play_reencoded_t *self, play_reencoded_topic_t *topic,
                   const tb_bag_topic_t *info)
{
  tb_error_t error = TB_ERROR_INIT;
  if (bag_reencode_check(info, &error)) return refuse(self, topic, error.text);
  if (!is_of_graph(self, info) && find_counterpart(topic, info, &error))
    return refuse(self, topic, error.text);
  describe(self, topic, info);
  topic->is_left_out = self->forward.to.ops->takes &&
                       !self->forward.to.ops->takes(self->forward.to.self, &topic->info);
  return !topic->is_left_out;
}

/* Two files may have other definitions of one type. */
static bool is_same(const play_reencoded_topic_t *topic, const tb_bag_topic_t *info)
{
  return strcmp(topic->name, info->name) == 0 && strcmp(topic->type, info->type) == 0 &&
         strcmp(topic->type_hash, info->type_hash) == 0 &&
         strcmp(topic->definition, info->definition) == 0;
}

static play_reencoded_topic_t *find(const play_reencoded_t *self, const tb_bag_topic_t *info)
{
  play_reencoded_topic_t *topic = self->topics;
  while (topic && !is_same(topic, info))
    topic = topic->next;
  return topic;
}

/* --- what the player calls --- */

static bool takes(void *user, const tb_bag_topic_t *info)
{
  play_reencoded_t *self = user;
  play_reencoded_topic_t *topic = find(self, info);
  if (topic) return !topic->is_left_out;
  topic = calloc(1, sizeof *topic);
  if (!topic) return true; /* add_topic fails */
  topic->name = strdup(info->name);
  topic->type = strdup(info->type);
  topic->type_hash = strdup(info->type_hash);
  topic->definition = strdup(info->definition);
  if (!topic->name || !topic->type || !topic->type_hash || !topic->definition) {
    topic_free(topic);
    return true;
  }
  topic->next = self->topics;
  self->topics = topic;
  return choose(self, topic, info);
}

static tb_status_t add_topic(void *user, const tb_bag_topic_t *info, void **out_handle,
                             tb_error_t *error)
{
  play_reencoded_t *self = user;
  play_reencoded_topic_t *topic = find(self, info);
  if (!topic) return tb_error_set(error, TB_ERR_NO_MEMORY, "out of memory");
  describe(self, topic, info); /* the reader may be another than that of `takes` */
  *out_handle = topic;
  return self->forward.to.ops->add_topic(self->forward.to.self, &topic->info, &topic->handle,
                                         error);
}

static tb_status_t publish_as(void *user, void *handle, const char *publisher, const void *data,
                              size_t size, tb_error_t *error)
{
  play_reencoded_t *self = user;
  const play_reencoded_topic_t *topic = handle;
  if (topic->reencoder) {
    bool is_empty = size == 0;
    tb_status_t status = tb_reencoder_run(topic->reencoder, data, size, &data, &size, error);
    if (status == TB_ERR_TRUNCATED && is_empty) {
      self->empty++;
      return TB_ERR_NOT_FOUND;
    }
    if (status) return status == TB_ERR_NO_MEMORY ? status : TB_ERR_INVALID; /* of this message */
  }
  return play_forward_publish(&self->forward, topic->handle, publisher, data, size, error);
}

/* --- begin and end --- */

tb_play_transport_t play_reencoded_begin(play_reencoded_t *self, const command_t *command,
                                         bool to_ros1, const tb_play_transport_t *to)
{
  *self = (play_reencoded_t){.command = command, .to_ros1 = to_ros1};
  tb_play_transport_t own = play_forward_begin(&self->forward, to);
  self->forward.ops.takes = takes;
  self->forward.ops.add_topic = add_topic;
  self->forward.ops.publish_as = publish_as;
  return own;
}

void play_reencoded_end(play_reencoded_t *self)
{
  if (self->empty > 0) {
    command_begin_warning(self->command);
    text_err("%" PRIu64 " message%s left out: empty, which their types are not\n", self->empty,
             self->empty == 1 ? " was" : "s were");
  }
  while (self->topics) {
    play_reencoded_topic_t *topic = self->topics;
    self->topics = topic->next;
    topic_free(topic);
  }
}
