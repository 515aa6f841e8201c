#include "ros1/publisher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "ros1/topic_name.h"

#define QUEUE_DEFAULT 100
#define QUEUE_MAX     100000
#define MESSAGE_MAX   ((size_t)1000000000)
#define MD5SUM_LENGTH 32

/* "package/Name"; the master refuses others. */
static bool is_type_name(const char *name)
{
  static const char allowed[] = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  size_t package = strspn(name, allowed);
  if (package == 0 || name[package] != '/') return false;
  const char *type = name + package + 1;
  size_t length = strspn(type, allowed);
  return length > 0 && type[length] == '\0' && strlen(name) < TB__ROS1_NAME_SIZE;
}

static bool is_md5sum(const char *text)
{
  return strlen(text) == MD5SUM_LENGTH && strspn(text, "0123456789abcdef") == MD5SUM_LENGTH;
}

static tb_status_t check(const char *topic, const tb_ros1_message_type_t *type, uint32_t queue_size,
                         tb_error_t *error)
{
  if (!tb__ros1_topic_is_valid(topic))
    return tb_error_set(
        error, TB_ERR_INVALID,
        "publisher of ROS 1: \"%.99s\" is no name of a topic; it must be like /name", topic);
  if (!type->name || !is_type_name(type->name))
    return tb_error_set(error, TB_ERR_INVALID,
                        "publisher of %s: \"%.99s\" is no type; it must be like package/Name",
                        topic, type->name ? type->name : "");
  if (!type->md5sum || !is_md5sum(type->md5sum))
    return tb_error_set(error, TB_ERR_INVALID,
                        "publisher of %s: the md5sum of %s must be 32 digits of 0-9 and a-f", topic,
                        type->name);
  if (queue_size > QUEUE_MAX)
    return tb_error_set(error, TB_ERR_INVALID, "publisher of %s: queue_size %lu is above %d", topic,
                        (unsigned long)queue_size, QUEUE_MAX);
  return TB_OK;
}

static void publisher_free(tb_ros1_publisher_t *publisher)
{
  free(publisher->publication.type);
  free(publisher->publication.md5sum);
  free(publisher->publication.definition);
  free(publisher);
}

typedef struct opening {
  tb_ros1_publisher_t *publisher;
  tb_error_t *error;
  tb_status_t status;
} opening_t;

static void open_publication(void *user)
{
  opening_t *opening = user;
  tb__ros1_publication_t *publication = &opening->publisher->publication;
  tb__ros1_node_t *node = &opening->publisher->context->node;
  for (const tb__ros1_publication_t *one = node->publications; one; one = one->next) {
    if (strcmp(one->name, publication->name) != 0) continue;
    opening->status =
        tb_error_set(opening->error, TB_ERR_INVALID, "publisher of %s: %s publishes it already",
                     publication->name, node->name);
    return;
  }
  opening->status = tb__ros1_publication_open(publication, node, opening->error);
}

tb_status_t tb_ros1_publisher_create_sized(tb_ros1_context_t *context, const char *topic,
                                           const tb_ros1_message_type_t *type,
                                           const tb_ros1_publisher_options_t *options,
                                           size_t options_size, tb_ros1_publisher_t **out,
                                           tb_error_t *error)
{
  tb_ros1_publisher_options_t known;
  static const tb_ros1_publisher_options_t defaults = TB_ROS1_PUBLISHER_OPTIONS_INIT;
  if (!context || !topic || !type || !out) return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros1_publisher_options_t");
  if (!options) options = &defaults;
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "publisher of ROS 1: this is a forked child");
  tb_status_t status = check(topic, type, options->queue_size, error);
  if (status) return status;
  tb_ros1_publisher_t *publisher = calloc(1, sizeof *publisher);
  if (!publisher) return tb__no_memory_for(error, "publisher");
  tb__ros1_publication_t *publication = &publisher->publication;
  publisher->context = context;
  snprintf(publication->name, sizeof publication->name, "%s", topic);
  publication->type = strdup(type->name);
  publication->md5sum = strdup(type->md5sum);
  publication->definition = strdup(type->definition ? type->definition : "");
  publication->is_latched = options->latched;
  publication->queue_size = options->queue_size ? options->queue_size : QUEUE_DEFAULT;
  opening_t opening = {publisher, error, TB_OK};
  if (!publication->type || !publication->md5sum || !publication->definition)
    opening.status = tb__no_memory_for(error, "publisher");
  else
    tb__ros1_loop_call(&context->loop, open_publication, &opening);
  if (opening.status)
    publisher_free(publisher);
  else
    *out = publisher;
  return opening.status;
}

static void close_publication(void *user)
{
  tb_ros1_publisher_t *publisher = user;
  tb__ros1_publication_close(&publisher->publication);
}

void tb_ros1_publisher_destroy(tb_ros1_publisher_t *publisher)
{
  if (!publisher) return;
  tb__ros1_loop_call(&publisher->context->loop, close_publication, publisher);
  publisher_free(publisher);
}

tb_status_t tb_ros1_publisher_publish(tb_ros1_publisher_t *publisher, const void *message,
                                      size_t size, tb_error_t *error)
{
  return tb_ros1_publisher_publish_as(publisher, "", message, size, error);
}

tb_status_t tb_ros1_publisher_publish_as(tb_ros1_publisher_t *publisher, const char *origin,
                                         const void *message, size_t size, tb_error_t *error)
{
  if (!publisher || !origin || (!message && size)) return tb__null_argument(error, __func__);
  const char *topic = publisher->publication.name;
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "%s: this is a forked child", topic);
  if (size > MESSAGE_MAX)
    return tb_error_set(error, TB_ERR_LIMIT,
                        "%s: a message of %zu bytes; subscribers of ROS 1 take at most %zu", topic,
                        size, MESSAGE_MAX);
  if (tb__ros1_publication_send(&publisher->publication, origin, message, size))
    return tb__no_memory_for(error, "message");
  return TB_OK;
}

uint32_t tb_ros1_publisher_matched(const tb_ros1_publisher_t *publisher)
{
  return publisher ? atomic_load(&publisher->publication.link_count) : 0;
}

uint64_t tb_ros1_publisher_dropped(const tb_ros1_publisher_t *publisher)
{
  return publisher ? atomic_load(&publisher->publication.dropped) : 0;
}

uint32_t tb_ros1_publisher_awaited(const tb_ros1_publisher_t *publisher)
{
  if (!publisher) return 0;
  uint32_t named = atomic_load(&publisher->publication.named);
  uint32_t connected = atomic_load(&publisher->publication.link_count);
  if (named == UINT32_MAX) return named;
  return named > connected ? named - connected : 0;
}

uint32_t tb_ros1_publisher_waiting(tb_ros1_publisher_t *publisher)
{
  return publisher ? tb__ros1_publication_waiting(&publisher->publication) : 0;
}
