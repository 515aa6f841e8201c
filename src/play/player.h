/* The inside of tb_player_t. Each unit declares its part of the state in its own header, and writes
 * only that: player.c creates, control.c, range.c, burst.c, previous.c and repeat.c take requests
 * from any thread, next_step.c chooses the next step and playback.c takes it. */
#ifndef TB_PLAY_PLAYER_H
#define TB_PLAY_PLAYER_H

#include <timebase/player.h>

#include "held/pacer.h"
#include "platform/mutex.h"
#include "play/ahead.h"
#include "play/backpressure.h"
#include "play/burst.h"
#include "play/control.h"
#include "play/feed.h"
#include "play/playback.h"
#include "play/previous.h"
#include "play/range.h"
#include "play/repeat.h"
#include "play/sending.h"
#include "server/flow.h"

#define TB__LATE_NS (100 * TB_NS_PER_MS) /* steady; beyond this, time is held back */

struct tb_player {
  /* Set by player.c at creation, constant afterwards. */
  tb_play_transport_t transport;
  tb_player_options_t options;
  tb__pacer_t *pacer; /* the one below that is used, or a test's */
  tb__pacer_t own_pacer;
  tb__pacer_t *clock_pacer;   /* of options.clock, or NULL */
  void **handles;             /* by topic of the bag */
  bool *ticks;                /* by topic: whether a tick is sent before its messages */
  int64_t recording_start_ns; /* offsets count from here */
  int64_t first_ns;           /* recorded time of the first message that is played */
  tb__feed_place_t first;

  atomic_bool stopping;
  atomic_bool started;
  _Atomic uintptr_t runner; /* the thread that runs, or 0 */

  /* Owned by the thread that runs. */
  tb__feed_t feed; /* while reading ahead, owned by that thread: see tb__ahead_t */
  tb__ahead_t ahead;
  tb__feed_message_t message; /* the next one to send, if there is one */
  tb__playback_t playback;
  tb__sending_t sending;
  tb__backpressure_t backpressure; /* limit_ns: guarded by the mutex */

  tb__mutex_t mutex; /* guards what follows; never held during a call out of the player */
  tb__flow_t flow;
  tb__play_range_t range;
  tb__control_t control;
  tb__next_message_t next;
  tb__position_t position;
  tb__previous_t previous;
  tb__repeat_t repeat;
  tb__steps_t steps;
  tb_player_topic_status_t *topics; /* by topic of the bag */
  tb_player_status_t status;        /* except position and paused; each unit has its own counts */
};

/* tb_player_create on another steady clock, which must outlive the player. NULL: the system's. */
tb_status_t tb__player_create(tb_bag_reader_t *reader, const tb_play_transport_t *transport,
                              const tb_player_options_t *options, tb__pacer_t *pacer,
                              tb_player_t **out, tb_error_t *error) TB_WARN_UNUSED;

/* TB_ERR_RANGE: not within the bounds, and not TB_PLAYER_FASTEST. */
tb_status_t tb__player_check_rate(const tb_player_options_t *options, double rate,
                                  tb_error_t *error) TB_WARN_UNUSED;

/* The recorded times of a range. TB_ERR_RANGE: it is not in the recording, or not in order. */
tb_status_t tb__player_place_range(const tb_player_t *player, const tb_player_range_t *range,
                                   int64_t *out_start_ns, int64_t *out_until_ns,
                                   tb_error_t *error) TB_WARN_UNUSED;
void tb__player_set_range_locked(tb_player_t *player, int64_t start_ns, int64_t until_ns)
    TB_REQUIRES(player->mutex);
void tb__player_halt_locked(tb_player_t *player) TB_REQUIRES(player->mutex);

/* Sets the horizon: time may run up to the next message and the transport's limit; not at all where
 * it goes from message to message. */
void tb__player_limit_locked(tb_player_t *player, int64_t now_ns) TB_REQUIRES(player->mutex);

/* Takes over time and origin of player->message, which must be valid. */
void tb__player_know_next_locked(tb_player_t *player) TB_REQUIRES(player->mutex);

/* On the thread that plays. A message that cannot be sent counts as a bad row. `*out_sent` may be
 * false with TB_OK. */
tb_status_t tb__player_send_tick(tb_player_t *player, const tb__tick_t *tick,
                                 tb_error_t *error) TB_WARN_UNUSED;
tb_status_t tb__player_send_message(tb_player_t *player, bool *out_sent,
                                    tb_error_t *error) TB_WARN_UNUSED;
/* What the transport has kept to send it with other messages. */
void tb__player_send_kept(tb_player_t *player);

static inline bool tb__player_steps_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);
static inline bool tb__player_steps_locked(const tb_player_t *player)
{
  return player->flow.paused && tb__steps_are_wanted(&player->steps);
}

/* Drops the steps back that were requested. */
void tb__player_end_previous_locked(tb_player_t *player) TB_REQUIRES(player->mutex);
/* True: read the message before *out_place now. */
bool tb__player_seeks_previous_locked(tb_player_t *player, tb__feed_place_t *out_place)
    TB_REQUIRES(player->mutex);
/* True: it is there, and time is to jump to it. */
bool tb__player_found_previous_locked(tb_player_t *player) TB_REQUIRES(player->mutex);

/* True: there is no message in the repeated range. */
bool tb__player_repeat_is_empty_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);
/* True: all messages of the repeated range have been sent. */
bool tb__player_is_past_repeat_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);
void tb__player_end_repeat_locked(tb_player_t *player) TB_REQUIRES(player->mutex);

/* A message that was stepped to has been sent. */
void tb__player_count_step_locked(tb_player_t *player) TB_REQUIRES(player->mutex);
/* Steps begin what is repeated again: they end after a whole round in which nothing could be sent.
 */
void tb__player_begin_round_of_steps_locked(tb_player_t *player) TB_REQUIRES(player->mutex);
/* Ends all steps; waiters get the number of messages. */
void tb__player_end_steps_locked(tb_player_t *player) TB_REQUIRES(player->mutex);
/* Ends all steps if no message is left to step to. In a repeat there always is one, but a burst of
 * all messages ends with each round. */
void tb__player_end_steps_at_end_locked(tb_player_t *player) TB_REQUIRES(player->mutex);

#endif
