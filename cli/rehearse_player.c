#include "rehearse_player.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_node.h>

#include "bag.h"

/* --- the transport between the player and that of the graph --- */

static tb_status_t add_topic(void *self, const tb_bag_topic_t *topic, void **out_handle,
                             tb_error_t *error)
{
  rehearse_player_t *player = self;
  rehearse_outlet_t *outlet = &player->outlets[player->outlet_count];
  tb_status_t status =
      player->inner.ops->add_topic(player->inner.self, topic, &outlet->handle, error);
  if (status) return status;
  outlet->name = topic->name;
  *out_handle = outlet->handle;
  player->outlet_count++;
  return TB_OK;
}

static tb_status_t publish(void *self, void *handle, const void *data, size_t size,
                           tb_error_t *error)
{
  rehearse_player_t *player = self;
  if (atomic_load(&player->withheld) == handle) return TB_OK;
  return player->inner.ops->publish(player->inner.self, handle, data, size, error);
}

static tb_status_t settle(void *self, tb_duration_t limit, tb_error_t *error)
{
  rehearse_player_t *player = self;
  if (!player->inner.ops->settle) return TB_OK;
  return player->inner.ops->settle(player->inner.self, limit, error);
}

static void interrupt(void *self)
{
  rehearse_player_t *player = self;
  if (player->inner.ops->interrupt) player->inner.ops->interrupt(player->inner.self);
}

/* What is played at the end needs no acknowledgement, and no subscriber is waited for. */
static const tb_play_transport_ops_t withholding_ops = {
    .add_topic = add_topic, .publish = publish, .settle = settle, .interrupt = interrupt};

/* --- opening --- */

static tb_status_t open_graph(rehearse_player_t *player, int domain, tb_error_t *error)
{
  tb_ros2_context_options_t context = TB_ROS2_CONTEXT_OPTIONS_INIT;
  tb_ros2_play_transport_options_t transport = TB_ROS2_PLAY_TRANSPORT_OPTIONS_INIT;
  context.has_domain_id = domain >= 0;
  context.domain_id = domain >= 0 ? domain : 0;
  transport.clock = true;
  tb_status_t status = tb_ros2_context_create(&context, &player->context, error);
  if (!status)
    status =
        tb_ros2_node_create(player->context, REHEARSE_PLAYER_NODE, "", NULL, &player->node, error);
  transport.node = player->node;
  if (!status)
    status = tb_ros2_play_transport_create(player->context, &transport, &player->transport, error);
  return status;
}

static tb_status_t open_player(rehearse_player_t *player, double clock_hz, tb_error_t *error)
{
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  options.clock_hz = clock_hz;
  options.loop = true;
  player->inner = tb_ros2_play_transport_interface(player->transport);
  tb_play_transport_t outer = {&withholding_ops, player, player->inner.clock};
  player->outlets =
      calloc(tb_bag_reader_info(player->reader)->topic_count + 1, sizeof *player->outlets);
  if (!player->outlets) return TB_ERR_NO_MEMORY;
  return tb_player_create(player->reader, &outer, &options, &player->player, error);
}

int rehearse_player_open(const command_t *command, const char *bag, const char *const *topics,
                         size_t topic_count, double clock_hz, int domain, rehearse_player_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_bag_reader_options_t options = TB_BAG_READER_OPTIONS_INIT;
  options.topics = topics;
  options.topic_count = topic_count;
  out->command = command;
  int result = bag_open_run(command, &bag, 1, &options, &out->reader);
  if (result) return result;
  tb_status_t status = open_graph(out, domain, &error);
  if (!status) status = open_player(out, clock_hz, &error);
  return status ? command_failed(command, status, &error) : EXIT_OK;
}

void rehearse_player_close(rehearse_player_t *player)
{
  if (player->is_running) {
    tb_player_stop(player->player);
    pthread_join(player->thread, NULL);
    player->is_running = false;
  }
  tb_player_destroy(player->player);
  tb_ros2_play_transport_destroy(player->transport);
  tb_ros2_node_destroy(player->node);
  tb_ros2_context_destroy(player->context);
  tb_bag_reader_close(player->reader);
  free(player->outlets);
  player->player = NULL;
  player->transport = NULL;
  player->node = NULL;
  player->context = NULL;
  player->reader = NULL;
  player->outlets = NULL;
}

/* --- playing --- */

static void *play(void *user)
{
  rehearse_player_t *player = user;
  player->status = tb_player_run(player->player, NULL, &player->error);
  atomic_store(&player->is_done, true);
  return NULL;
}

int rehearse_player_start(rehearse_player_t *player)
{
  player->is_running = pthread_create(&player->thread, NULL, play, player) == 0;
  return player->is_running ? EXIT_OK : command_failed(player->command, TB_ERR_SYSTEM, NULL);
}

bool rehearse_player_withhold(rehearse_player_t *player, const char *topic)
{
  for (size_t i = 0; topic && i < player->outlet_count; i++) {
    if (strcmp(player->outlets[i].name, topic) != 0) continue;
    atomic_store(&player->withheld, player->outlets[i].handle);
    return true;
  }
  atomic_store(&player->withheld, NULL);
  return !topic;
}
