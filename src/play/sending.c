/* Playing: what goes out. */
#include <stdio.h>

#include "play/player.h"

tb_status_t tb__player_send_tick(tb_player_t *player, const tb__tick_t *tick, tb_error_t *error)
{
  const tb_tick_sink_t *sink = &player->transport.clock;
  tb_error_t detail = TB_ERROR_INIT;
  tb_status_t status = sink->tick(sink->self, tick->time_ns, tick->reason, &detail);
  if (status)
    return tb_error_set(error, status, "/clock: %s",
                        detail.text[0] ? detail.text : tb_status_message(status));
  tb__mutex_lock(&player->mutex);
  player->status.ticks++;
  tb__mutex_unlock(&player->mutex);
  return TB_OK;
}

static void report_of_file(tb_player_t *player)
{
  const tb_play_transport_t *transport = &player->transport;
  size_t last = player->sending.file, next = player->message.bag.file;
  if (last != SIZE_MAX && next <= last) return; /* of files that overlap, the latest counts */
  player->sending.file = next;
  const tb_bag_info_t *info = tb_bag_reader_info(player->feed.reader);
  if (last != SIZE_MAX && transport->ops->split)
    transport->ops->split(transport->self, info->files[last], info->files[next]);
}

void tb__player_send_kept(tb_player_t *player)
{
  const tb_play_transport_t *to = &player->transport;
  if (to->ops->send) to->ops->send(to->self);
}

static tb_status_t publish(tb_player_t *player, const tb_bag_message_t *message, tb_error_t *error)
{
  const tb_play_transport_t *to = &player->transport;
  void *handle = player->handles[message->topic];
  tb__loan_t loan;
  if (tb__ahead_lend(&player->ahead, message, &loan)) tb__loan_set(&loan);
  tb_status_t status =
      to->ops->publish_as ? to->ops->publish_as(to->self, handle, message->publisher, message->data,
                                                message->size, error)
                          : to->ops->publish(to->self, handle, message->data, message->size, error);
  tb__loan_set(NULL);
  return status;
}

tb_status_t tb__player_send_message(tb_player_t *player, bool *out_sent, tb_error_t *error)
{
  if (!player->message.restored) report_of_file(player);
  const tb_bag_message_t *message = &player->message.bag;
  if (!player->message.restored) player->sending.sent_ns = player->message.time_ns;
  const tb_bag_topic_t *topic = &tb_bag_reader_info(player->feed.reader)->topics[message->topic];
  tb_error_t detail;
  detail.text[0] = '\0'; /* to clear all of it costs more than the rest of this */
  char text[TB_ERROR_TEXT_SIZE];
  const tb_player_options_t *options = &player->options;
  tb__player_backpressure_message(player);
  bool has_callbacks = options->before_message || options->after_message;
  if (has_callbacks) tb__player_send_kept(player); /* they may take their time */
  if (options->before_message) options->before_message(message, options->message_user);
  tb_status_t status = publish(player, message, &detail);
  *out_sent = !status;
  if (status == TB_ERR_NOT_FOUND) return TB_OK;
  if (!status) {
    tb__mutex_lock(&player->mutex);
    player->status.messages++;
    player->topics[message->topic].messages++;
    tb__mutex_unlock(&player->mutex);
    if (has_callbacks) tb__player_send_kept(player);
    if (options->after_message) options->after_message(message, options->message_user);
    return TB_OK;
  }
  snprintf(text, sizeof text, "topic %.200s: %.250s", topic->name,
           detail.text[0] ? detail.text : tb_status_message(status));
  if (status != TB_ERR_INVALID) return tb_error_set(error, status, "%s", text);
  tb__reject(&player->sending.rejects, status, text);
  return TB_OK;
}
