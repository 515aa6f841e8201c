/* Where a player sends messages: implement one to play to something other than a ROS 2 graph. */
#ifndef TIMEBASE_PLAY_TRANSPORT_H
#define TIMEBASE_PLAY_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/bag_reader.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/tick_sink.h>

/** A limit that does not restrict the player. */
#define TB_PLAY_NO_LIMIT INT64_MAX

/** Errors fill *error with what went wrong; the player puts the topic's name before it. Except for
 * `interrupt`, the functions are called on the threads of tb_player_create (add_topic) and
 * tb_player_run (the others), one at a time and with no lock held. */
typedef struct tb_play_transport_ops {
  /** Prepares a topic; `topic` lives as long as the reader. *out_handle names it in `publish`. */
  tb_status_t (*add_topic)(void *self, const tb_bag_topic_t *topic, void **out_handle,
                           tb_error_t *error);

  /** Sends one message, valid during the call: 4 bytes of encapsulation and the body, unless the
   * topic is serialized otherwise.
   * TB_ERR_INVALID means that this message cannot be sent at all: it counts as a bad row and
   * playing continues. TB_ERR_NOT_FOUND: nothing is to be sent for it; it counts nowhere. */
  tb_status_t (*publish)(void *self, void *handle, const void *data, size_t size,
                         tb_error_t *error);

  /** Called once before the first message: waits until existing subscribers can receive. `limit`:
   * see TB_NO_LIMIT; a passed one is no error. NULL: nothing to wait for.
   */
  tb_status_t (*settle)(void *self, tb_duration_t limit, tb_error_t *error);

  /** Called once after the last message: waits until it has arrived. `limit`: the player's
   * ack_limit, which may be TB_NO_LIMIT or TB_NO_WAIT. TB_ERR_TIMEOUT is reported to the log, with
   * the text of *error, and does not fail the player. NULL: nothing. */
  tb_status_t (*flush)(void *self, tb_duration_t limit, tb_error_t *error);

  /** Makes `settle` and `flush`, running or called later, return soon with TB_OK.
   * [any thread] [async-signal-safe] NULL: they cannot be cut short. */
  void (*interrupt)(void *self);

  /** Called before the first message of a file, with the paths of the file before and of its own,
   * where a recording has several. NULL: not reported. */
  void (*split)(void *self, const char *closed, const char *opened);

  /** How far the player may go now: neither a message nor time itself goes beyond *out_ns, in
   * recorded time; what has been reached stays. TB_PLAY_NO_LIMIT: any distance; 0: nothing moves,
   * and no message goes out. Called before each step and right after each message, so it must not
   * wait. An error ends the playing. NULL: the player is never limited, and the following three are
   * not called. */
  tb_status_t (*limit)(void *self, int64_t *out_ns, tb_error_t *error);

  /** Called with the time before each message, and at each jump (`jumps`), including the start of
   * playing: answers to what was sent before it no longer count. */
  void (*set_time)(void *self, int64_t time_ns, bool jumps);

  /** What the limit waits for, as one line of text ("/camera, which ..."), called once the player
   * has been blocked for a second, and then every second. */
  void (*name_holder)(void *self, char *out, size_t size);

  /** From now on, call `wake(user)` on any thread when the limit may have changed. It never waits,
   * so locks may be held. `wake` NULL: stop calling; no call is in progress when this returns. */
  void (*watch_limit)(void *self, void (*wake)(void *user), void *user);

  /** Whether messages of the topic can be sent; those of other topics are left out. Called in
   * tb_player_create, before `add_topic`. NULL: where the serialization format is "cdr". A reader
   * gives others with TB_BAG_CONTENT_ANY only. */
  bool (*takes)(void *self, const tb_bag_topic_t *topic);

  /** In place of `publish`, which may then be NULL: with the node that sent the message, as
   * tb_bag_message_t has it; NULL where the recording does not say. NULL: `publish` is called. */
  tb_status_t (*publish_as)(void *self, void *handle, const char *publisher, const void *data,
                            size_t size, tb_error_t *error);

  /** What `publish` has kept, to send it with other messages, goes out now. Called before the
   * player waits for anything or does anything else than publish, with no message in between:
   * before a pause, a tick, a seek and the end; also where the next message has not been read yet.
   * NULL: `publish` keeps nothing. */
  void (*send)(void *self);

  /** NULL. */
  void (*reserved[1])(void);
} tb_play_transport_ops_t;

/** Where messages and time go. */
typedef struct tb_play_transport {
  const tb_play_transport_ops_t *ops; /**< must outlive the player */
  void *self;                         /**< handed to every function of `ops` */
  tb_tick_sink_t clock;               /**< .tick NULL: no clock */
} tb_play_transport_t;

#endif
