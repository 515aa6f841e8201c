#include <timebase/ros1_subscription.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/no_memory.h"
#include "base/null_argument.h"
#include "base/sized.h"
#include "ros1/context.h"
#include "ros1/sample.h"
#include "ros1/topic_name.h"

#define MESSAGE_MAX_DEFAULT ((uint32_t)64 << 20)
#define ANY                 "*"

struct tb_ros1_subscription {
  tb_ros1_context_t *context;
  tb__ros1_subscription_t subscription;
  char *type, *md5sum; /* own */
  tb_ros1_sample_callback_t callback;
  void *user;
  _Atomic uint32_t matched;
};

static void on_message(void *user, const tb__publisher_link_t *link, const uint8_t *bytes,
                       size_t size)
{
  tb_ros1_subscription_t *self = user;
  tb_ros1_sample_t sample = tb__ros1_sample_of(link, bytes, size);
  self->callback(&sample, self->user);
}

static void on_publishers(void *user, uint32_t open)
{
  tb_ros1_subscription_t *self = user;
  atomic_store(&self->matched, open);
}

static void subscription_free(tb_ros1_subscription_t *self)
{
  free(self->type);
  free(self->md5sum);
  free(self);
}

static void open_subscription(void *user)
{
  tb_ros1_subscription_t *self = user;
  tb__ros1_subscription_open(&self->subscription, &self->context->node);
}

static void close_subscription(void *user)
{
  tb_ros1_subscription_t *self = user;
  tb__ros1_subscription_close(&self->subscription);
}

static tb_status_t check(const char *topic, const tb_ros1_message_type_t *type,
                         const tb_ros1_subscription_options_t *options, tb_error_t *error)
{
  if (!tb__ros1_topic_is_valid(topic))
    return tb_error_set(
        error, TB_ERR_INVALID,
        "subscription of ROS 1: \"%.99s\" is no name of a topic; it must be like /name", topic);
  if (type && (!type->name || !type->md5sum))
    return tb_error_set(error, TB_ERR_INVALID, "subscription to %s: the type has no name or md5sum",
                        topic);
  if (!options->callback)
    return tb_error_set(error, TB_ERR_INVALID, "subscription to %s: callback is NULL", topic);
  return TB_OK;
}

tb_status_t tb_ros1_subscription_create_sized(tb_ros1_context_t *context, const char *topic,
                                              const tb_ros1_message_type_t *type,
                                              const tb_ros1_subscription_options_t *options,
                                              size_t options_size, tb_ros1_subscription_t **out,
                                              tb_error_t *error)
{
  tb_ros1_subscription_options_t known;
  if (!context || !topic || !options || !out) return tb__null_argument(error, __func__);
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros1_subscription_options_t");
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "subscription of ROS 1: this is a forked child");
  tb_status_t status = check(topic, type, options, error);
  if (status) return status;
  tb_ros1_subscription_t *self = calloc(1, sizeof *self);
  if (!self) return tb__no_memory_for(error, "subscription");
  self->context = context;
  self->callback = options->callback;
  self->user = options->user;
  self->type = strdup(type ? type->name : ANY);
  self->md5sum = strdup(type ? type->md5sum : ANY);
  if (!self->type || !self->md5sum) {
    subscription_free(self);
    return tb__no_memory_for(error, "subscription");
  }
  tb__ros1_subscription_t *subscription = &self->subscription;
  snprintf(subscription->name, sizeof subscription->name, "%s", topic);
  subscription->topic.type = self->type;
  subscription->topic.md5sum = self->md5sum;
  subscription->topic.message_max =
      options->message_max ? options->message_max : MESSAGE_MAX_DEFAULT;
  subscription->message = on_message;
  subscription->publishers_changed = on_publishers;
  subscription->user = self;
  tb__ros1_loop_call(&context->loop, open_subscription, self);
  *out = self;
  return TB_OK;
}

void tb_ros1_subscription_destroy(tb_ros1_subscription_t *self)
{
  if (!self) return;
  tb__ros1_loop_call(&self->context->loop, close_subscription, self);
  subscription_free(self);
}

uint32_t tb_ros1_subscription_matched(const tb_ros1_subscription_t *self)
{
  return self ? atomic_load(&self->matched) : 0;
}
