/* Inside of tb_player_t. player.c makes it; control.c, range.c, burst.c, previous.c and repeat.c
 * are what any thread may tell it; playback.c runs it, as next_step.c says. */
#ifndef TB_PLAY_PLAYER_H
#define TB_PLAY_PLAYER_H

#include <timebase/player.h>

#include "held/pacer.h"
#include "held/suspension.h"
#include "platform/mutex.h"
#include "play/ahead.h"
#include "play/backpressure.h"
#include "play/burst.h"
#include "play/feed.h"
#include "server/flow.h"

#define TB__LATE_NS (100 * TB_NS_PER_MS) /* steady; beyond this, time is held back */
/* Of the pacer's time and of steady time: a loop over one message must neither spin nor go on while
 * a clock stands. */
#define TB__ROUND_MIN_NS (10 * TB_NS_PER_MS)

/* What is played again and again. */
typedef struct tb__repeat {
  bool wanted;
  bool armed; /* no seek has led behind the end */
  int64_t from_ns, to_ns;
  int64_t earliest_ns, earliest_steady_ns; /* the next jump: the pacer's time, and steady */
} tb__repeat_t;

struct tb_player {
  tb_play_transport_t transport;
  tb_player_options_t options;
  tb__pacer_t *pacer;
  tb__pacer_t own_pacer;
  /* Of options.clock, or NULL. */
  tb__pacer_t *clock_pacer;

  void **handles;   /* by topic of the bag */
  bool *ticks;      /* by topic: whether a tick goes before its messages */
  int64_t first_ns; /* recorded time of the first message */
  tb__feed_place_t first;
  atomic_bool stopping;
  atomic_bool started;
  _Atomic uintptr_t runner;   /* the thread that runs, or 0 */
  _Atomic uint32_t step_ends; /* bursts that came to their end */

  /* Of the thread that runs. */
  tb__feed_t feed; /* but see tb__ahead_t */
  tb__ahead_t ahead;
  tb__rejects_t rejects;      /* messages that cannot be sent */
  tb__feed_message_t message; /* the next one to send, if there is one */
  size_t file;                /* of the last one; SIZE_MAX behind a jump */
  int64_t sent_ns;            /* time of the last one since the last jump; 0: none */
  int64_t round_start_ns;     /* the pacer's time */
  int64_t round_steady_ns;    /* the same in steady time */
  int64_t late_report_ns;     /* steady; 0: none yet */
  bool watches_suspension;    /* not where a test has its own time */
  tb__suspension_t suspension;
  tb__backpressure_t backpressure;

  tb__mutex_t mutex; /* guards what follows; never held while something else is called */
  tb__flow_t flow;
  int64_t start_ns; /* recorded time, of every round */
  int64_t until_ns; /* nothing is played behind it */
  int64_t last_ns;  /* the last target of a seek */
  bool halted;      /* until wants_play; time stands */
  bool wants_play;  /* from start_ns on */
  bool fastest;     /* time goes from message to message, without waiting */
  bool has_message; /* false: behind the last one, or it is not there yet */
  bool awaits;      /* a message, which is being read */
  bool starts;      /* time does, with the next message */
  int64_t next_ns;  /* its time */
  int64_t limit_ns; /* the transport's, on what is played */
  bool wants_seek;  /* to seek_ns */
  int64_t seek_ns;
  int64_t jumped_ns;           /* where time went on at the last jump */
  int64_t no_message_since_ns; /* the same while no message has been taken since; else INT64_MAX */
  tb__feed_place_t last;       /* the last message sent, or where a jump led since */
  uint64_t wanted_previous;    /* steps back */
  bool finds_previous;         /* it is being read */
  tb__repeat_t repeat;
  tb_player_topic_status_t *topics; /* by topic of the bag */
  uint64_t wanted_steps;            /* messages to send while time stands, for nobody who waits */
  tb__burst_t *bursts;              /* those for somebody who does, in order */
  tb_player_status_t status;        /* but position and paused */
};

/* tb_player_create on another steady clock, which must outlive the player. NULL: the system's. */
tb_status_t tb__player_create(tb_bag_reader_t *reader, const tb_play_transport_t *transport,
                              const tb_player_options_t *options, tb__pacer_t *pacer,
                              tb_player_t **out, tb_error_t *error);

/* TB_ERR_RANGE: not within the bounds, and not TB_PLAYER_FASTEST. */
tb_status_t tb__player_check_rate(const tb_player_options_t *options, double rate,
                                  tb_error_t *error);

/* The last time that is played, from `start_ns` on; the later one of the two ends. */
int64_t tb__player_end(const tb_player_range_t *range, int64_t start_ns);
void tb__player_set_range_locked(tb_player_t *player, int64_t start_ns, int64_t until_ns)
    TB_REQUIRES(player->mutex);
void tb__player_halt_locked(tb_player_t *player) TB_REQUIRES(player->mutex);

/* Time may run up to the next message and the transport's limit, but not where it goes from message
 * to message. */
void tb__player_limit_locked(tb_player_t *player, int64_t now_ns) TB_REQUIRES(player->mutex);

/* Of player->message, which is there. */
void tb__player_know_next_locked(tb_player_t *player) TB_REQUIRES(player->mutex);

/* On the thread that plays. A message that cannot be sent counts as a bad row. */
tb_status_t tb__player_send_tick(tb_player_t *player, const tb__tick_t *tick, tb_error_t *error);
tb_status_t tb__player_send_message(tb_player_t *player, tb_error_t *error);

static inline bool tb__player_steps_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);
static inline bool tb__player_steps_locked(const tb_player_t *player)
{
  return player->flow.paused && (player->wanted_steps > 0 || player->bursts);
}

/* What is asked for is dropped. */
void tb__player_end_previous_locked(tb_player_t *player) TB_REQUIRES(player->mutex);
/* True: the message before *out_place is to be read now. */
bool tb__player_seeks_previous_locked(tb_player_t *player, tb__feed_place_t *out_place)
    TB_REQUIRES(player->mutex);
/* True: it is there, and time is to jump to it. */
bool tb__player_found_previous_locked(tb_player_t *player) TB_REQUIRES(player->mutex);

/* It is known that no message lies in what is repeated. */
bool tb__player_repeat_is_empty_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);
/* What is repeated has all been sent. */
bool tb__player_is_behind_repeat_locked(const tb_player_t *player) TB_REQUIRES(player->mutex);
void tb__player_end_repeat_locked(tb_player_t *player) TB_REQUIRES(player->mutex);

/* A message that was stepped to has been sent. */
void tb__player_count_step_locked(tb_player_t *player) TB_REQUIRES(player->mutex);
/* No more steps: who waits is told how many there were. */
void tb__player_end_steps_locked(tb_player_t *player) TB_REQUIRES(player->mutex);
/* The same where there is nothing to step to. Where a part is repeated there is, but a burst of all
 * ends with each round. */
void tb__player_end_steps_behind_locked(tb_player_t *player) TB_REQUIRES(player->mutex);

#endif
