#include "play/burst.h"
#include "base/list.h"

#include <pthread.h>

#include "base/fork.h"
#include "base/sized.h"
#include "clock/jump_wait.h"
#include "held/parking.h"
#include "platform/time.h"
#include "play/player.h"
#include "wait/call_wait.h"

static void end_burst_locked(tb_player_t *player, tb__burst_t *burst) TB_REQUIRES(player->mutex);
static tb_status_t check_step_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);

static void end_burst_locked(tb_player_t *player, tb__burst_t *burst)
{
  burst->done = true;
  if (burst->on_done) burst->on_done(burst);
  atomic_fetch_add(&player->steps.ends, 1);
  tb__futex_wake_all(&player->steps.ends);
}

void tb__player_end_steps_locked(tb_player_t *player)
{
  player->steps.wanted = 0;
  while (player->steps.bursts) {
    tb__burst_t *burst = player->steps.bursts;
    player->steps.bursts = burst->next;
    end_burst_locked(player, burst);
  }
}

void tb__player_end_steps_at_end_locked(tb_player_t *player)
{
  tb__burst_t *burst = player->steps.bursts;
  if (player->next.awaits || !tb__player_steps_locked(player)) return;
  if (!player->repeat.armed && !player->next.has_message) tb__player_end_steps_locked(player);
  if (!player->repeat.armed || !tb__player_is_past_repeat_locked(player)) return;
  if (!burst || burst->wanted != UINT64_MAX || burst->sent == 0) return;
  player->steps.bursts = burst->next;
  end_burst_locked(player, burst);
}

void tb__player_count_step_locked(tb_player_t *player)
{
  tb__burst_t *burst = player->steps.bursts;
  player->steps.sent++;
  if (!burst) {
    if (player->steps.wanted > 0) player->steps.wanted--;
    return;
  }
  if (++burst->sent < burst->wanted) return;
  player->steps.bursts = burst->next;
  end_burst_locked(player, burst);
}

void tb__player_begin_round_of_steps_locked(tb_player_t *player)
{
  tb__steps_t *steps = &player->steps;
  bool is_idle = steps->sent == steps->idle_since;
  if (is_idle && steps->was_idle) tb__player_end_steps_locked(player);
  steps->was_idle = is_idle;
  steps->idle_since = steps->sent;
}

static tb_status_t check_step_locked(const tb_player_t *player)
{
  if (!player->flow.paused) return TB_ERR_BUSY;
  bool moves =
      player->control.wants_seek || player->range.wants_play || player->previous.wanted > 0;
  bool empty = player->repeat.armed ? tb__player_repeat_is_empty_locked(player)
                                    : !player->next.has_message && !player->next.awaits;
  bool at_end = empty && !moves;
  return player->status.finished || at_end ? TB_ERR_END : TB_OK;
}

tb_status_t tb_player_play_next(tb_player_t *player)
{
  if (!player) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (!atomic_load(&player->started)) return TB_ERR_INVALID;
  tb__mutex_lock(&player->mutex);
  tb_status_t status = check_step_locked(player);
  if (!status) tb__steps_add(&player->steps);
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
  return status;
}

tb_status_t tb__player_begin_burst(tb_player_t *player, uint64_t count, tb__burst_t *burst)
{
  if (tb__is_forked()) return TB_ERR_FORKED;
  burst->next = NULL;
  burst->wanted = count ? count : UINT64_MAX;
  burst->sent = 0;
  burst->done = false;
  tb__mutex_lock(&player->mutex);
  tb_status_t status = check_step_locked(player);
  if (!status) {
    TB__CHAIN_APPEND(player->steps.bursts, burst);
  }
  tb__mutex_unlock(&player->mutex);
  tb__pacer_nudge(player->pacer);
  return status;
}

bool tb__player_take_back(tb_player_t *player, tb__burst_t *burst)
{
  tb__mutex_lock(&player->mutex);
  bool gives_up = !burst->done;
  TB__CHAIN_REMOVE(player->steps.bursts, burst);
  tb__mutex_unlock(&player->mutex);
  return gives_up;
}

static bool is_done(tb_player_t *player, const tb__burst_t *burst)
{
  tb__mutex_lock(&player->mutex);
  bool done = burst->done;
  tb__mutex_unlock(&player->mutex);
  return done;
}

typedef struct awaited {
  tb_player_t *player;
  tb__burst_t burst;
} awaited_t;

static tb_status_t look(void *user)
{
  const awaited_t *awaited = user;
  return is_done(awaited->player, &awaited->burst) ? TB_OK : TB_ERR_TIMEOUT;
}

tb_status_t tb_player_burst_sized(tb_player_t *player, uint64_t count,
                                  const tb_wait_options_t *options, size_t options_size,
                                  uint64_t *out_sent)
{
  tb_wait_options_t known;
  if (!player) return TB_ERR_INVALID;
  if (!TB__SIZED_IN(options, options_size, known)) return TB_ERR_UNSUPPORTED;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (tb__thread_may_not_wait() || atomic_load(&player->runner) == (uintptr_t)pthread_self())
    return TB_ERR_DEADLOCK;
  if (!atomic_load(&player->started)) return TB_ERR_INVALID;
  awaited_t awaited = {.player = player};
  tb__call_wait_t wait;
  tb_status_t status = tb__call_wait_begin(&wait, options, &player->steps.ends);
  if (status) return status;
  status = tb__player_begin_burst(player, count, &awaited.burst);
  if (!status) {
    status = tb__call_wait_for(&wait, look, &awaited);
    if (status && !tb__player_take_back(player, &awaited.burst)) status = TB_OK;
    if (!status && out_sent) *out_sent = awaited.burst.sent;
  }
  tb__call_wait_end(&wait);
  return status;
}
