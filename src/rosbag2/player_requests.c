#include "rosbag2/player_requests.h"

#include "play/player.h"

#define NAME(snake, camel) .name = "~/" snake, .type = "rosbag2_interfaces/srv/" camel
#define STOPPED            "playback is stopped: play starts it again"

/* Any values: this cannot overflow. */
static int64_t ns_of(const tb__time_message_t *time)
{
  return time->sec * TB_NS_PER_S + time->nanosec;
}

static void pause_player(tb_player_t *player, const void *request, tb__player_answer_t *out)
{
  (void)request, (void)out;
  tb_player_pause(player);
}

static void refuse(tb__player_answer_t *out, int32_t code, const char *text)
{
  out->result = (tb__result_response_t){code, text};
}

/* Until tb_player_play, or for ever. */
static bool is_stopped(tb_player_t *player, bool *out_paused)
{
  tb_player_status_t status;
  tb_player_status(player, &status);
  *out_paused = status.paused;
  return status.halted || status.stopped;
}

static void get_state(tb_player_t *player, const void *request, tb__player_answer_t *out)
{
  bool paused, stopped = is_stopped(player, &paused);
  (void)request;
  out->state = (tb__trigger_response_t){true, stopped ? "stopped" : paused ? "paused" : "playing"};
}

static void resume(tb_player_t *player, const void *request, tb__player_answer_t *out)
{
  const tb__timed_request_t *wanted = request;
  bool paused;
  if (wanted->mode < 0 || wanted->mode >= TB__TIMED_REQUEST_MODES)
    refuse(out, TB__RESUME_INVALID_MODE, "resume_mode must be 0, 1 or 2");
  else if (is_stopped(player, &paused))
    refuse(out, TB__RESUME_FAILED, STOPPED);
  else
    tb_player_resume(player);
}

/* By times of messages: they may be sent now. */
static int64_t resume_at_ns(const void *request)
{
  const tb__timed_request_t *wanted = request;
  return wanted->mode == 0 ? ns_of(&wanted->time) : 0;
}

static void toggle_paused(tb_player_t *player, const void *request, tb__player_answer_t *out)
{
  (void)request, (void)out;
  tb_player_toggle_paused(player);
}

static void is_paused(tb_player_t *player, const void *request, tb__player_answer_t *out)
{
  (void)request;
  (void)is_stopped(
      player, &out->is_paused.paused); /* a stopped player may be paused or not, as in rosbag2 */
}

static void get_rate(tb_player_t *player, const void *request, tb__player_answer_t *out)
{
  tb_player_status_t status;
  (void)request;
  tb_player_status(player, &status);
  out->rate.rate = status.rate;
}

static void set_rate(tb_player_t *player, const void *request, tb__player_answer_t *out)
{
  const tb__rate_message_t *wanted = request;
  out->success.success = tb_player_set_rate(player, wanted->rate, NULL) == TB_OK;
}

static void seek(tb_player_t *player, const void *request, tb__player_answer_t *out)
{
  const tb__seek_request_t *wanted = request;
  out->success.success = tb_player_seek(player, ns_of(&wanted->time), NULL) == TB_OK;
}

/* Negative is a duration without limit, and an error elsewhere; a zero in the place of a time since
 * 1970 is no time. */
static void play(tb_player_t *player, const void *request, tb__player_answer_t *out)
{
  const tb__play_request_t *wanted = request;
  int64_t until_ns = ns_of(&wanted->playback_until_timestamp);
  tb_player_range_t range = {{ns_of(&wanted->start_offset)},
                             {ns_of(&wanted->playback_duration)},
                             until_ns == 0 ? -1 : until_ns};
  out->success.success = until_ns >= 0 && tb_player_play(player, &range, NULL) == TB_OK;
}

static int64_t play_at_ns(const void *request)
{
  return ns_of(&((const tb__play_request_t *)request)->start_time);
}

static void stop(tb_player_t *player, const void *request, tb__player_answer_t *out)
{
  bool paused, stays = player->options.on_demand || player->options.keep_alive;
  (void)request;
  if (is_stopped(player, &paused))
    refuse(out, TB__STOP_FAILED, "the player is stopped already");
  else if (stays)
    tb_player_halt(player);
  else
    tb_player_stop(player);
}

static uint64_t one_step(const void *request)
{
  (void)request;
  return 1;
}

static uint64_t burst_steps(const void *request)
{
  return ((const tb__burst_request_t *)request)->num_messages;
}

static void played_next(uint64_t sent, tb__player_answer_t *out)
{
  out->success.success = sent == 1;
}

static void burst(uint64_t sent, tb__player_answer_t *out)
{
  out->burst.actually_burst = sent;
}

/* The state is the first one, and so discovered before those that depend on it. */
const tb__player_service_t tb__player_services[TB__PLAYER_SERVICE_COUNT] = {
    {"~/state", "std_srvs/srv/Trigger", &tb__player_empty_type, &tb__trigger_response_type,
     .carry_out = get_state},
    {NAME("pause", "Pause"), &tb__player_empty_type, &tb__player_empty_type,
     .carry_out = pause_player},
    {NAME("resume", "Resume"), &tb__untimed_request_type, &tb__player_empty_type,
     .forms = tb__timed_forms, .carry_out = resume, .at_ns = resume_at_ns},
    {NAME("toggle_paused", "TogglePaused"), &tb__player_empty_type, &tb__player_empty_type,
     .carry_out = toggle_paused},
    {NAME("is_paused", "IsPaused"), &tb__player_empty_type, &tb__is_paused_response_type,
     .carry_out = is_paused},
    {NAME("get_rate", "GetRate"), &tb__player_empty_type, &tb__player_rate_type,
     .carry_out = get_rate},
    {NAME("set_rate", "SetRate"), &tb__player_rate_type, &tb__player_success_type,
     .carry_out = set_rate},
    {NAME("play_next", "PlayNext"), &tb__player_empty_type, &tb__player_success_type,
     .steps = one_step, .stepped = played_next},
    {NAME("burst", "Burst"), &tb__burst_request_type, &tb__burst_response_type,
     .steps = burst_steps, .stepped = burst},
    {NAME("seek", "Seek"), &tb__seek_request_type, &tb__player_success_type, .carry_out = seek},
    {NAME("play", "Play"), &tb__play_request_type, &tb__player_success_type,
     .forms = tb__play_forms, .carry_out = play, .at_ns = play_at_ns},
    {NAME("stop", "Stop"), &tb__player_empty_type, &tb__player_empty_type, .forms = tb__stop_forms,
     .carry_out = stop},
};
