#include "play/player.h"
#include "base/no_memory.h"
#include "base/sized.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "platform/deadline.h"
#include "value/seconds_text.h"
#include "wait/clock_pacer.h"

/* In the order of sending, where no reading ahead is asked for. */
#define ORDER_MESSAGES ((size_t)1000)
#define ORDER_BYTES    ((size_t)64 << 20)

static bool has_clock(const tb_player_options_t *options)
{
  return options->clock_hz > 0 || options->clock_topics_all || options->clock_topic_count > 0;
}

static tb_status_t check_options(const tb_play_transport_t *transport,
                                 const tb_player_options_t *options, tb_error_t *error)
{
  tb__flow_t flow;
  tb__flow_init(&flow, TB__TIME_MIN, 0);
  if (tb__flow_set_rate(&flow, options->rate_min, 0) != TB_OK ||
      tb__flow_set_rate(&flow, options->rate_max, 0) != TB_OK ||
      options->rate_min > options->rate_max)
    return tb_error_set(error, TB_ERR_RANGE, "bounds of the rate, %g and %g: must be %g to %g",
                        options->rate_min, options->rate_max, TB__SPEED_MIN, TB__SPEED_MAX);
  tb_status_t status = tb__player_check_rate(options, options->rate, error);
  if (status) return status;
  if (tb__flow_set_tick_rate(&flow, options->clock_hz, 0) != TB_OK)
    return tb_error_set(error, TB_ERR_RANGE, "clock at %g Hz: must be 0, or %g to %g",
                        options->clock_hz, TB__TICK_HZ_MIN, TB__TICK_HZ_MAX);
  if (options->start_offset.ns < 0)
    return tb_error_set(error, TB_ERR_RANGE, "start offset %s s: must not be negative",
                        tb__seconds_text(options->start_offset.ns).text);
  if (options->skip_silence.ns < 0)
    return tb_error_set(error, TB_ERR_RANGE, "skip_silence is negative");
  if (options->delay.ns < 0)
    return tb_error_set(error, TB_ERR_RANGE, "delay %s s: must not be negative",
                        tb__seconds_text(options->delay.ns).text);
  if (!tb__limit_is_valid(options->ack_limit))
    return tb_error_set(error, TB_ERR_INVALID, "limit of acknowledgements: must not be negative");
  if (options->order != TB_PLAYER_ORDER_RECEIVED && options->order != TB_PLAYER_ORDER_SENT)
    return tb_error_set(error, TB_ERR_INVALID, "unknown order %d of messages", (int)options->order);
  if (has_clock(options) && !transport->clock.tick)
    return tb_error_set(error, TB_ERR_INVALID, "the transport has no clock to publish");
  return TB_OK;
}

static bool mark_topic(tb_player_t *player, const char *name)
{
  const tb_bag_info_t *info = tb_bag_reader_info(player->feed.reader);
  for (size_t i = 0; i < info->topic_count; i++) {
    const char *topic = info->topics[i].name;
    if (strcmp(topic + (*topic == '/'), name + (*name == '/')) != 0) continue;
    player->ticks[i] = tb__feed_plays(&player->feed, i);
    return player->ticks[i];
  }
  return false;
}

static tb_status_t mark_topics(tb_player_t *player, tb_error_t *error)
{
  const tb_player_options_t *options = &player->options;
  const tb_bag_info_t *info = tb_bag_reader_info(player->feed.reader);
  player->ticks = calloc(info->topic_count + 1, sizeof *player->ticks);
  if (!player->ticks) return tb__no_memory_for(error, "player");
  for (size_t i = 0; i < info->topic_count; i++)
    player->ticks[i] = options->clock_hz > 0 || options->clock_topics_all;
  for (size_t i = 0; i < options->clock_topic_count; i++)
    if (!mark_topic(player, options->clock_topics[i]))
      return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: topic %.200s, for the clock, is not played",
                          info->path, options->clock_topics[i]);
  return TB_OK;
}

static tb_status_t add_topics(tb_player_t *player, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(player->feed.reader);
  player->handles = calloc(info->topic_count + 1, sizeof *player->handles);
  if (!player->handles) return tb__no_memory_for(error, "player");
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    if (!tb__feed_plays(&player->feed, i)) continue;
    tb_error_t detail = TB_ERROR_INIT;
    tb_status_t status = player->transport.ops->add_topic(player->transport.self, topic,
                                                          &player->handles[i], &detail);
    if (status)
      return tb_error_set(error, status, "topic %.200s: %s", topic->name,
                          detail.text[0] ? detail.text : tb_status_message(status));
  }
  return TB_OK;
}

static tb_status_t no_message_error(const tb_player_t *player, tb_error_t *error)
{
  const tb__rejects_t *rejects = &player->feed.rejects;
  const char *path = tb_bag_reader_info(player->feed.reader)->path;
  if (rejects->count == 0)
    return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: no message to play", path);
  return tb_error_set(error, rejects->first, "%s: no message can be played: %s", path,
                      tb_status_message(rejects->first));
}

/* Reads up to the first message. Time starts with the recording, whatever is played of it. */
static tb_status_t find_first(tb_player_t *player, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(player->feed.reader);
  const tb__feed_message_t *message = &player->message;
  tb__feed_seek(&player->feed, INT64_MIN, INT64_MAX, false);
  if (!tb__feed_next(&player->feed, &player->message)) return no_message_error(player, error);
  player->first_ns = message->time_ns;
  player->first = tb__feed_place_of(&message->bag);
  int64_t start_ns = info->start_ns < TB__TIME_MIN ? TB__TIME_MIN : info->start_ns;
  player->recording_start_ns = start_ns < player->first_ns ? start_ns : player->first_ns;
  return TB_OK;
}

/* Leaves in player->message what is sent first, if anything is. */
static tb_status_t find_start(tb_player_t *player, int64_t *out_start_ns, bool *out_has_message,
                              tb_error_t *error)
{
  tb__feed_t *feed = &player->feed;
  const tb_player_options_t *options = &player->options;
  const tb_player_range_t range = {options->start_offset, options->playback_duration,
                                   options->playback_until_ns};
  int64_t until_ns = INT64_MAX;
  tb_status_t status = find_first(player, error);
  if (!status) status = tb__player_place_range(player, &range, out_start_ns, &until_ns, error);
  if (status) return status;
  feed->until_ns = until_ns;
  *out_has_message = player->first_ns <= until_ns;
  if (*out_start_ns <= player->first_ns) return TB_OK;
  tb__feed_seek(feed, *out_start_ns, until_ns, true);
  *out_has_message = tb__feed_next(feed, &player->message);
  return TB_OK;
}

static tb_status_t describe_topics(tb_player_t *player, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(player->feed.reader);
  tb_player_topic_status_t *topics = calloc(info->topic_count + 1, sizeof *topics);
  if (!topics) return tb__no_memory_for(error, "player");
  for (size_t i = 0; i < info->topic_count; i++) {
    topics[i].name = info->topics[i].name;
    topics[i].plays = tb__feed_plays(&player->feed, i);
  }
  tb__mutex_lock(&player->mutex);
  player->topics = topics;
  tb__mutex_unlock(&player->mutex);
  return TB_OK;
}

static void init_state_locked(tb_player_t *player, int64_t start_ns, bool has_message)
    TB_REQUIRES(player->mutex);

static void init_state_locked(tb_player_t *player, int64_t start_ns, bool has_message)
{
  const tb_player_options_t *options = &player->options;
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  player->status = (tb_player_status_t){
      .recording_start_ns = player->recording_start_ns,
      .rate = options->rate,
      .bad_rows = player->feed.rejects.count,
  };
  tb__player_set_range_locked(player, start_ns, player->feed.until_ns);
  tb__flow_init(&player->flow, start_ns, now_ns);
  player->control.fastest = isinf(options->rate);
  if (!player->control.fastest)
    tb__flow_set_rate(&player->flow, options->rate, now_ns); /* was checked */
  tb__flow_set_horizon(&player->flow, start_ns, now_ns);
  if (!options->start_paused) tb__flow_resume(&player->flow, now_ns);
  player->next.has_message = has_message;
  player->next.starts = true;
  if (has_message) tb__player_know_next_locked(player);
  player->position.jumped_ns = player->flow.anchor_time_ns;
  player->position.no_message_since_ns = INT64_MAX;
  player->position.last = (tb__feed_place_t){start_ns, TB__NO_FILE, 0};
  player->backpressure.limit_ns = TB_PLAY_NO_LIMIT;
  if (options->on_demand) tb__player_halt_locked(player);
}

/* No clock is played beside another one. */
static tb_status_t init_feed(tb_player_t *player, tb_bag_reader_t *reader, tb_error_t *error)
{
  bool skip_clock = has_clock(&player->options) || player->options.clock;
  tb_status_t status =
      tb__feed_init(&player->feed, reader, &player->transport, skip_clock, &player->stopping);
  if (status) return tb_error_set(error, status, "player: out of memory");
  const tb_player_options_t *options = &player->options;
  bool reads_ahead = options->read_ahead_messages > 0;
  if (options->order == TB_PLAYER_ORDER_SENT)
    tb__order_init(&player->feed.order, reads_ahead ? options->read_ahead_messages : ORDER_MESSAGES,
                   reads_ahead ? options->read_ahead_bytes : ORDER_BYTES);
  return TB_OK;
}

/* `pacer`: NULL for the player's own. */
static tb_status_t choose_pacer(tb_player_t *player, tb__pacer_t *pacer, tb_error_t *error)
{
  tb__pacer_init(&player->own_pacer);
  player->pacer = pacer ? pacer : &player->own_pacer;
  if (!player->options.clock) return TB_OK;
  tb_status_t status = tb__clock_pacer_create(player->options.clock, &player->clock_pacer);
  if (status)
    return tb_error_set(error, status, "player: its clock: %s", tb_status_message(status));
  player->pacer = player->clock_pacer;
  return TB_OK;
}

tb_status_t tb__player_create(tb_bag_reader_t *reader, const tb_play_transport_t *transport,
                              const tb_player_options_t *options, tb__pacer_t *pacer,
                              tb_player_t **out, tb_error_t *error)
{
  static const tb_player_options_t defaults = TB_PLAYER_OPTIONS_INIT;
  if (!options) options = &defaults;
  tb_status_t status = tb__fork_watch();
  if (status) return tb_error_set(error, status, "player: %s", tb_status_message(status));
  status = check_options(transport, options, error);
  if (status) return status;
  int64_t start_ns = 0;
  bool has_message = false;
  tb_player_t *player = calloc(1, sizeof *player);
  if (!player) return tb__no_memory_for(error, "player");
  tb__mutex_init(&player->mutex);
  player->transport = *transport;
  tb__sending_restart(&player->sending);
  player->options = *options;
  status = choose_pacer(player, pacer, error);
  tb__ahead_init(&player->ahead, &player->feed, player->pacer, options->read_ahead_messages,
                 options->read_ahead_bytes);
  if (!status) status = init_feed(player, reader, error);
  if (!status) status = find_start(player, &start_ns, &has_message, error);
  if (!status) status = mark_topics(player, error);
  if (!status) status = add_topics(player, error);
  if (!status) status = describe_topics(player, error);
  if (status) goto fail;
  tb__mutex_lock(&player->mutex);
  init_state_locked(player, start_ns, has_message);
  tb__mutex_unlock(&player->mutex);
  *out = player;
  return TB_OK;
fail:
  tb_player_destroy(player);
  return status;
}

tb_status_t tb_player_create_sized(tb_bag_reader_t *reader, const tb_play_transport_t *transport,
                                   const tb_player_options_t *options, size_t options_size,
                                   tb_player_t **out, tb_error_t *error)
{
  tb_player_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_player_options_t");
  if (!reader || !transport || !out || !transport->ops)
    return tb_error_set(error, TB_ERR_INVALID, "player: reader, transport or out is NULL");
  for (size_t i = 0; i < sizeof transport->ops->reserved / sizeof *transport->ops->reserved; i++)
    if (transport->ops->reserved[i]) return tb__sized_unsupported(error, "tb_play_transport_ops_t");
  return tb__player_create(reader, transport, options, NULL, out, error);
}

void tb_player_destroy(tb_player_t *player)
{
  if (!player) return;
  free(player->handles);
  free(player->topics);
  free(player->ticks);
  tb__ahead_fini(&player->ahead);
  tb__feed_fini(&player->feed);
  tb__clock_pacer_destroy(player->clock_pacer);
  tb__mutex_fini(&player->mutex);
  free(player);
}
