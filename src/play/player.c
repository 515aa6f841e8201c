#include "play/player.h"

#include <stdlib.h>

#include "bag/reader.h"
#include "base/fork.h"

static tb_status_t check_options(const tb_play_transport_t *transport,
                                 const tb_player_options_t *options, tb_error_t *error)
{
  tb__flow_t flow;
  tb__flow_init(&flow, TB__TIME_MIN, 0);
  if (tb__flow_set_rate(&flow, options->rate, 0) != TB_OK)
    return tb_error_set(error, TB_ERR_RANGE, "rate %g: must be %g to %g", options->rate,
                        TB__SPEED_MIN, TB__SPEED_MAX);
  if (tb__flow_set_tick_rate(&flow, options->clock_hz, 0) != TB_OK)
    return tb_error_set(error, TB_ERR_RANGE, "clock at %g Hz: must be 0, or %g to %g",
                        options->clock_hz, TB__TICK_HZ_MIN, TB__TICK_HZ_MAX);
  if (options->start_offset.ns < 0)
    return tb_error_set(error, TB_ERR_RANGE, "start offset %.9f s: must not be negative",
                        (double)options->start_offset.ns / 1e9);
  if (options->clock_hz > 0 && !transport->clock.tick)
    return tb_error_set(error, TB_ERR_INVALID, "the transport has no clock to publish");
  return TB_OK;
}

static tb_status_t add_topics(tb_player_t *player, tb_error_t *error)
{
  const tb_bag_reader_t *reader = player->feed.reader;
  const tb_bag_info_t *info = tb_bag_reader_info(reader);
  player->handles = calloc(info->topic_count + 1, sizeof *player->handles);
  if (!player->handles) return tb_error_set(error, TB_ERR_NO_MEMORY, "player: out of memory");
  for (size_t i = 0; i < info->topic_count; i++) {
    const tb_bag_topic_t *topic = &info->topics[i];
    if (!reader->wanted[i] || !tb__feed_plays(&player->feed, topic)) continue;
    tb_error_t detail = TB_ERROR_INIT;
    tb_status_t status = player->transport.ops->add_topic(player->transport.self, topic,
                                                          &player->handles[i], &detail);
    if (status != TB_OK)
      return tb_error_set(error, status, "topic %.200s: %s", topic->name,
                          detail.text[0] ? detail.text : tb_status_message(status));
  }
  return TB_OK;
}

static tb_status_t offset_error(const tb_player_t *player, int64_t first_ns, tb_error_t *error)
{
  const tb_bag_info_t *info = tb_bag_reader_info(player->feed.reader);
  return tb_error_set(error, TB_ERR_RANGE,
                      "%s: start offset %.9f s is beyond the end of what is played, at most %.9f s",
                      info->path, (double)player->options.start_offset.ns / 1e9,
                      (double)(info->end_ns - first_ns) / 1e9);
}

/* Leaves the first message in player->message. */
static tb_status_t find_start(tb_player_t *player, int64_t *out_start_ns, tb_error_t *error)
{
  tb_bag_reader_t *reader = player->feed.reader;
  int64_t offset_ns = player->options.start_offset.ns;
  tb_bag_reader_seek(reader, INT64_MIN);
  if (!tb__feed_next(&player->feed, &player->message))
    return tb_error_set(error, TB_ERR_NOT_FOUND, "%s: no message to play",
                        tb_bag_reader_info(reader)->path);
  int64_t start_ns = tb__feed_time(&player->message);
  if (offset_ns > 0) {
    int64_t first_ns = start_ns;
    if (__builtin_add_overflow(start_ns, offset_ns, &start_ns))
      return offset_error(player, first_ns, error);
    tb_bag_reader_seek(reader, start_ns);
    if (!tb__feed_next(&player->feed, &player->message))
      return offset_error(player, first_ns, error);
  }
  *out_start_ns = start_ns;
  return TB_OK;
}

static void init_state(tb_player_t *player, int64_t start_ns)
{
  const tb_bag_info_t *info = tb_bag_reader_info(player->feed.reader);
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  player->start_ns = start_ns;
  tb__flow_init(&player->flow, start_ns, now_ns);
  tb__flow_set_rate(&player->flow, player->options.rate, now_ns); /* was checked */
  tb__flow_set_horizon(&player->flow, start_ns, now_ns);
  if (!player->options.start_paused) tb__flow_resume(&player->flow, now_ns);
  player->status = (tb_player_status_t){
      .start_ns = start_ns,
      .end_ns = info->end_ns > start_ns ? info->end_ns : start_ns,
      .rate = player->options.rate,
      .bad_rows = player->feed.bad_rows,
  };
}

tb_status_t tb__player_create(tb_bag_reader_t *reader, const tb_play_transport_t *transport,
                              const tb_player_options_t *options, tb__pacer_t *pacer,
                              tb_player_t **out, tb_error_t *error)
{
  static const tb_player_options_t defaults = TB_PLAYER_OPTIONS_INIT;
  if (!options) options = &defaults;
  tb_status_t status = tb__fork_watch();
  if (status != TB_OK) return tb_error_set(error, status, "player: %s", tb_status_message(status));
  status = check_options(transport, options, error);
  if (status != TB_OK) return status;
  tb_player_t *player = calloc(1, sizeof *player);
  if (!player) return tb_error_set(error, TB_ERR_NO_MEMORY, "player: out of memory");
  tb__mutex_init(&player->mutex);
  tb__pacer_init(&player->own_pacer);
  player->transport = *transport;
  player->options = *options;
  player->pacer = pacer ? pacer : &player->own_pacer;
  player->feed = (tb__feed_t){.reader = reader, .skip_clock = options->clock_hz > 0};
  int64_t start_ns = 0;
  status = find_start(player, &start_ns, error);
  if (status == TB_OK) status = add_topics(player, error);
  if (status != TB_OK) goto fail;
  init_state(player, start_ns);
  *out = player;
  return TB_OK;
fail:
  tb_player_destroy(player);
  return status;
}

tb_status_t tb_player_create(tb_bag_reader_t *reader, const tb_play_transport_t *transport,
                             const tb_player_options_t *options, tb_player_t **out,
                             tb_error_t *error)
{
  if (!reader || !transport || !transport->ops || !out)
    return tb_error_set(error, TB_ERR_INVALID, "player: reader, transport or out is NULL");
  return tb__player_create(reader, transport, options, NULL, out, error);
}

void tb_player_destroy(tb_player_t *player)
{
  if (!player) return;
  free(player->handles);
  tb__mutex_fini(&player->mutex);
  free(player);
}

static void set_paused_locked(tb_player_t *player, bool paused) TB_REQUIRES(player->mutex);

static void set_paused_locked(tb_player_t *player, bool paused)
{
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  if (paused)
    tb__flow_pause(&player->flow, now_ns);
  else
    tb__flow_resume(&player->flow, now_ns);
}

static void set_paused(tb_player_t *player, bool paused)
{
  tb__mutex_lock(&player->mutex);
  set_paused_locked(player, paused);
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
}

void tb_player_pause(tb_player_t *player)
{
  set_paused(player, true);
}

void tb_player_resume(tb_player_t *player)
{
  set_paused(player, false);
}

void tb_player_toggle_paused(tb_player_t *player)
{
  tb__mutex_lock(&player->mutex);
  set_paused_locked(player, !player->flow.paused);
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
}

bool tb_player_is_paused(tb_player_t *player)
{
  tb__mutex_lock(&player->mutex);
  bool paused = player->flow.paused;
  tb__mutex_unlock(&player->mutex);
  return paused;
}

void tb_player_stop(tb_player_t *player)
{
  if (tb__is_forked()) return;
  atomic_store(&player->stopping, true);
  tb__pacer_nudge(player->pacer);
  const tb_play_transport_t *transport = &player->transport;
  if (transport->ops->interrupt) transport->ops->interrupt(transport->self);
}

void tb_player_status(tb_player_t *player, tb_player_status_t *out)
{
  tb__mutex_lock(&player->mutex);
  int64_t now_ns = player->pacer->now_ns(player->pacer);
  *out = player->status;
  out->position_ns = tb__flow_time(&player->flow, now_ns);
  out->paused = player->flow.paused;
  tb__mutex_unlock(&player->mutex);
}
