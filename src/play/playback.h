/* The loop that plays: its rounds, the next message and the position. */
#ifndef TB_PLAY_PLAYBACK_H
#define TB_PLAY_PLAYBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "held/suspension.h"
#include "play/feed.h"

/* Owned by the thread that plays. */
typedef struct tb__playback {
  int64_t round_start_ns;  /* start of the round in the pacer's time */
  int64_t round_steady_ns; /* the same in steady time */
  int64_t late_report_ns;  /* steady; of the last report of lateness, 0: none yet */
  bool watches_suspension; /* false where a test controls time */
  tb__suspension_t suspension;
} tb__playback_t;

/* What is known of the next message; guarded by the player's mutex. */
typedef struct tb__next_message {
  bool has_message; /* false: after the last one, or not read yet */
  bool awaits;      /* a message is being read */
  bool starts;      /* time starts with the next message */
  int64_t time_ns;  /* of the message */
} tb__next_message_t;

/* Reading has been sent to another place. */
static inline void tb__next_await(tb__next_message_t *next)
{
  next->awaits = true;
}

/* There is no next message, and none is read. */
static inline void tb__next_drop(tb__next_message_t *next)
{
  next->has_message = false;
  next->awaits = false;
}

/* How far playing has come; guarded by the player's mutex. */
typedef struct tb__position {
  int64_t jumped_ns; /* target of the last jump */
  /* The same while no message has been taken since that jump, else INT64_MAX. */
  int64_t no_message_since_ns;
  tb__feed_place_t last; /* the last message sent, or the target of a later jump */
} tb__position_t;

#endif
