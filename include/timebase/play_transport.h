/* Where a player sends messages: implement one to play to something else than a ROS 2 graph. */
#ifndef TIMEBASE_PLAY_TRANSPORT_H
#define TIMEBASE_PLAY_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/bag_reader.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/tick_sink.h>

/** A transport that lets the player go on. */
#define TB_PLAY_NO_LIMIT INT64_MAX

/** Errors fill *error with what went wrong; the player puts the topic's name before it. But for
 * `interrupt`, the functions are called on the threads of tb_player_create (add_topic) and
 * tb_player_run (the others), one at a time and with no lock held. */
typedef struct tb_play_transport_ops {
  /** Prepares a topic; `topic` lives as long as the reader. *out_handle names it in `publish`. */
  tb_status_t (*add_topic)(void *self, const tb_bag_topic_t *topic, void **out_handle,
                           tb_error_t *error);

  /** Sends one message: 4 bytes of encapsulation and the body, valid during the call.
   * TB_ERR_INVALID means that this message cannot be sent at all: it counts as a bad row and
   * playing goes on. */
  tb_status_t (*publish)(void *self, void *handle, const void *data, size_t size,
                         tb_error_t *error);

  /** Called once before the first message: waits until those who already listen can receive, at
   * most `limit` of steady time. That the limit has passed is no error. NULL: nothing to wait for.
   */
  tb_status_t (*settle)(void *self, tb_duration_t limit, tb_error_t *error);

  /** Called once behind the last message: waits until it has arrived, at most `limit` of steady
   * time. TB_ERR_TIMEOUT is reported to the log, with the text of *error, and is no failure of the
   * player. NULL: nothing. */
  tb_status_t (*flush)(void *self, tb_duration_t limit, tb_error_t *error);

  /** Makes `settle` and `flush`, running or called later, return soon with TB_OK.
   * [any thread] [async-signal-safe] NULL: they cannot be cut short. */
  void (*interrupt)(void *self);

  /** Called before the first message of a file, with the paths of the file before and of its own,
   * where a recording has several. NULL: nobody wants to know. */
  void (*split)(void *self, const char *closed, const char *opened);

  /** How far the player may go now: neither a message nor time itself goes beyond *out_ns, in
   * recorded time; what has been reached stays. TB_PLAY_NO_LIMIT: as it likes; 0: nothing moves,
   * and no message goes out. Asked before each step and right behind each message, so it must not
   * wait. An error ends the playing. NULL: nothing ever holds the player up, and the following
   * three are not called. */
  tb_status_t (*limit)(void *self, int64_t *out_ns, tb_error_t *error);

  /** Told before each message what time it is, and of each jump (`jumps`), the start of the playing
   * being one: answers to what was sent before it no longer count. */
  void (*set_time)(void *self, int64_t time_ns, bool jumps);

  /** Who or what the limit waits for, as one line of text ("/camera, which ..."), once the player
   * has been held up for a second, and then every second. */
  void (*name_holder)(void *self, char *out, size_t size);

  /** From now on `wake(user)` is to be called, on any thread, when the limit may have changed; it
   * waits for nothing, so locks may be held. `wake` NULL: no more, and no call is in progress when
   * this returns. */
  void (*watch_limit)(void *self, void (*wake)(void *user), void *user);
} tb_play_transport_ops_t;

/** Where messages and time go. */
typedef struct tb_play_transport {
  const tb_play_transport_ops_t *ops; /**< must outlive the player */
  void *self;                         /**< handed to every function of `ops` */
  tb_tick_sink_t clock;               /**< .tick NULL: no clock */
} tb_play_transport_t;

#endif
