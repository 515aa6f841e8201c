#include "ros2/subscription.h"
#include "base/sized.h"

#include <stdlib.h>

#include "dds/raw_reader.h"
#include "ros2/announced.h"
#include "ros2/context.h"
#include "ros2/match_wait.h"
#include "ros2/topic_endpoint.h"

struct tb_ros2_subscription {
  tb__announced_t announced;
  tb_ros2_context_t *context;
  tb__raw_reader_t *reader;
  bool has_callback;
  tb__retired_t retired;
};

tb_status_t tb__subscription_create_watched(tb_ros2_context_t *context, const char *topic,
                                            const char *type, const tb_qos_t *qos,
                                            const tb_ros2_subscription_options_t *options,
                                            tb__writers_callback_t on_writers,
                                            tb_ros2_subscription_t **out, tb_error_t *error)
{
  static const tb_ros2_subscription_options_t defaults = TB_ROS2_SUBSCRIPTION_OPTIONS_INIT;
  if (!options) options = &defaults;
  tb__topic_endpoint_t endpoint;
  tb_status_t status = tb__topic_endpoint_init(&endpoint, context, topic, type, qos, error);
  if (status) return status;
  tb_ros2_subscription_t *subscription = calloc(1, sizeof *subscription);
  if (!subscription)
    return tb_error_set(error, TB_ERR_NO_MEMORY, "subscription of %s: out of memory", topic);
  subscription->context = context;
  subscription->has_callback = options->callback != NULL;
  endpoint.options.on_writers = on_writers;
  endpoint.options.on_writers_user = options->user;
  status = tb__raw_reader_create(tb__ros2_context_participant(context), &endpoint.options,
                                 options->callback, options->user, &subscription->reader, error);
  if (status) {
    free(subscription);
    return status;
  }
  *out = subscription;
  return TB_OK;
}

tb_status_t tb_ros2_subscription_create_sized(tb_ros2_context_t *context, const char *topic,
                                              const char *type, const tb_qos_t *qos,
                                              const tb_ros2_subscription_options_t *options,
                                              size_t options_size, tb_ros2_subscription_t **out,
                                              tb_error_t *error)
{
  tb_ros2_subscription_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_ros2_subscription_options_t");
  return tb__subscription_create_watched(context, topic, type, qos, options, NULL, out, error);
}

tb__guid_t tb__subscription_guid(const tb_ros2_subscription_t *subscription)
{
  return tb__raw_reader_guid(subscription->reader);
}

static void subscription_free(tb_ros2_subscription_t *subscription)
{
  tb__raw_reader_destroy(subscription->reader);
  free(subscription);
}

static void finish(tb__retired_t *retired)
{
  subscription_free((tb_ros2_subscription_t *)(void *)((char *)retired -
                                                       offsetof(tb_ros2_subscription_t, retired)));
}

/* Deleting a reader waits for a running callback. From within that callback the context's thread
 * deletes it. */
void tb_ros2_subscription_destroy(tb_ros2_subscription_t *subscription)
{
  if (!subscription || !tb__raw_reader_close(subscription->reader)) return;
  tb__announced_remove(&subscription->announced);
  if (!tb__raw_reader_runs_here(subscription->reader)) {
    subscription_free(subscription);
  } else if (!tb__is_forked()) { /* else it is left allocated: the child is in its callback */
    subscription->retired.finish = finish;
    tb__ros2_context_retire(subscription->context, &subscription->retired);
  }
}

static tb_status_t ros2_subscription_take(tb_ros2_subscription_t *subscription,
                                          tb_ros2_sample_t *out)
{
  if (tb__raw_reader_is_closed(subscription->reader)) return TB_ERR_CLOSED;
  if (subscription->has_callback) return TB_ERR_INVALID;
  return tb__raw_reader_take(subscription->reader, out);
}

tb_status_t tb_ros2_subscription_take_sized(tb_ros2_subscription_t *subscription,
                                            tb_ros2_sample_t *out, size_t out_size)
{
  if (!subscription || !out) return TB_ERR_INVALID;
  tb_ros2_sample_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = ros2_subscription_take(subscription, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

void tb_ros2_sample_release(tb_ros2_sample_t *sample)
{
  tb__raw_reader_release(sample);
}

uint32_t tb_ros2_subscription_matched(const tb_ros2_subscription_t *subscription)
{
  if (!subscription) return 0;
  return tb__raw_reader_matched(subscription->reader);
}

tb_status_t tb_ros2_subscription_wait_for_matched_sized(tb_ros2_subscription_t *subscription,
                                                        uint32_t count,
                                                        const tb_wait_options_t *options,
                                                        size_t options_size)
{
  tb_wait_options_t known;
  if (!subscription) return TB_ERR_INVALID;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  return tb__reader_wait_for_matched(subscription->reader, count, options);
}

uint32_t tb_ros2_subscription_incompatible(const tb_ros2_subscription_t *subscription,
                                           const char **out_policy)
{
  if (!subscription) return 0;
  return tb__raw_reader_incompatible(subscription->reader, out_policy);
}

tb_status_t tb__subscription_announce(tb_ros2_subscription_t *subscription,
                                      tb__announced_node_t *node, tb_error_t *error)
{
  tb__guid_t reader = tb__subscription_guid(subscription);
  return tb__announced_add(&subscription->announced, node, &reader, NULL, error);
}
