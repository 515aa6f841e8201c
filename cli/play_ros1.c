#include "play_ros1.h"

#ifdef TB_CLI_ROS1
#include <math.h>
#include <string.h>
#include <timebase/ros1_clock_source.h>
#include <timebase/ros1_play_transport.h>

#define CLOCK_TOPIC "/clock"

static bool has_clock(const play_arguments_t *arguments)
{
  const tb_player_options_t *player = &arguments->player;
  return player->clock_hz > 0 || player->clock_topics_all || arguments->clock_topics.count > 0;
}

static tb_status_t follow_clock(const play_arguments_t *arguments, play_ros1_t *ros1,
                                tb_error_t *error)
{
  const char *own = arguments->own_clock ? arguments->own_clock : CLOCK_TOPIC;
  tb_ros1_clock_source_options_t options = TB_ROS1_CLOCK_SOURCE_OPTIONS_INIT;
  if (has_clock(arguments) && strcmp(own + (*own == '/'), &CLOCK_TOPIC[1]) == 0)
    return tb_error_set(error, TB_ERR_RANGE,
                        "a clock cannot be published on " CLOCK_TOPIC ", which --use-sim-time "
                        "follows: use another name, such as --remap /clock:=/replay_clock");
  options.sim_time = TB_ROS1_SIM_TIME_ALWAYS;
  tb_status_t status = tb_ros1_clock_source_create(ros1->context, &options, &ros1->source, error);
  if (status) return status;
  status = tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, ros1->source}, &ros1->clock);
  return status ? tb_error_set(error, status, CLOCK_TOPIC ": %s", tb_status_message(status))
                : TB_OK;
}

tb_status_t play_ros1_open(const play_arguments_t *arguments, play_ros1_t *out,
                           tb_play_transport_t *out_to, tb_error_t *error)
{
  tb_ros1_context_t *context;
  tb_ros1_play_transport_t *transport;
  tb_ros1_context_options_t options = TB_ROS1_CONTEXT_OPTIONS_INIT;
  tb_ros1_play_transport_options_t playing = TB_ROS1_PLAY_TRANSPORT_OPTIONS_INIT;
  playing.clock = has_clock(arguments);
  playing.clock_topic = arguments->own_clock;
  playing.remappings = arguments->remaps.items;
  playing.remapping_count = arguments->remaps.count;
  playing.waits_for_room = isinf(arguments->player.rate);
  tb_status_t status = tb_ros1_context_create(&options, &context, error);
  if (status) return status;
  out->context = context;
  if (arguments->use_sim_time) status = follow_clock(arguments, out, error);
  if (!status) status = tb_ros1_play_transport_create(context, &playing, &transport, error);
  if (status) return status;
  out->transport = transport;
  *out_to = tb_ros1_play_transport_interface(transport);
  return TB_OK;
}

void play_ros1_close(play_ros1_t *ros1)
{
  tb_ros1_play_transport_destroy(ros1->transport);
  (void)!tb_clock_destroy(ros1->clock); /* nothing uses it any more */
  tb_source_destroy(ros1->source);
  tb_ros1_context_destroy(ros1->context);
}

#else

tb_status_t play_ros1_open(const play_arguments_t *arguments, play_ros1_t *out,
                           tb_play_transport_t *out_to, tb_error_t *error)
{
  (void)arguments, (void)out, (void)out_to;
  return tb_error_set(error, TB_ERR_UNSUPPORTED,
                      "built without ROS 1; build it with expat and libmicrohttpd");
}

void play_ros1_close(play_ros1_t *ros1)
{
  (void)ros1;
}

#endif
