/* Playing a recording: messages at their time, and the time itself. */
#ifndef TIMEBASE_PLAYER_H
#define TIMEBASE_PLAYER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/bag_reader.h>
#include <timebase/clock.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/export.h>
#include <timebase/play_transport.h>
#include <timebase/sleep.h>

/** Plays one recording, once or in a loop. */
typedef struct tb_player tb_player_t;

/** What `ros2 bag play --clock` publishes at, in Hz. */
#define TB_PLAYER_CLOCK_HZ 40.0

/** The rate for "as fast as possible": only the transport makes the player wait. */
#define TB_PLAYER_FASTEST HUGE_VAL

/** Bytes of tb_player_status_t.waits_for, with the terminating NUL. */
#define TB_PLAYER_WAITS_FOR_SIZE 320

/** The beginning of the log warning that reports the same. */
#define TB_PLAYER_WAITS_FOR_LOG "player: waiting for "

/** By what messages are ordered and timed. */
typedef enum tb_player_order {
  TB_PLAYER_ORDER_RECEIVED = 0, /**< log time, as they were recorded */
  /** Publish time; log time for those whose recording has none (sqlite3). Messages that the
   * recorder received late go out when they were sent. As many as may be read ahead (1000 and 64
   * MB, where no reading ahead is asked for) are ordered: one that belongs before what has gone out
   * already goes out at once. After a jump what was published before the target is left out, and
   * tb_player_play_previous is TB_ERR_UNSUPPORTED. */
  TB_PLAYER_ORDER_SENT = 1,
} tb_player_order_t;

/** Called with each message on the thread that plays, right before it goes out, or when it has. It
 * may use the player's controls, but must not wait: what follows would be late. The message and its
 * data are valid during the call. */
typedef void (*tb_player_message_callback_t)(const tb_bag_message_t *message, void *user);

/** How it is played. */
typedef struct tb_player_options {
  double rate;     /**< recorded seconds per second of steady time, or TB_PLAYER_FASTEST */
  double clock_hz; /**< ticks per second of steady time, 0.001 to 10000; 0: no clock is published */
  bool loop;       /**< start again at the end, until stopped */
  bool start_paused; /**< as if tb_player_pause came first */
  /** >= 0, from the start of the recording on; applies to every round. */
  tb_duration_t start_offset;
  /** From the start of each round; what is exactly at its end is played. 0: nothing is played.
   * Negative: no limit. */
  tb_duration_t playback_duration;
  /** Recorded time of the last message that may be played; negative: no limit. With both limits the
   * later one counts, as in rosbag2. */
  int64_t playback_until_ns;
  tb_duration_t delay; /**< >= 0: how long the clock waits at the start of each round */
  double rate_min;     /**< bounds of `rate` and of later ones, 0.001 to 1000 */
  double rate_max;     /**< the same */
  /** Topics, with or without the leading '/': a tick goes out right before each of their messages,
   * and no others unless clock_hz is set. Read only while the player is created. */
  const char *const *clock_topics;
  size_t clock_topic_count; /**< how many there are */
  bool clock_topics_all;    /**< the same with all topics */
  /** Messages read ahead, on a thread of the player's, at most; 0: none, and tb_player_run reads.
   */
  size_t read_ahead_messages;
  size_t read_ahead_bytes; /**< the same in bytes of data, except for one message */
  /** Nothing is played until tb_player_play, and the end of that is not the end of tb_player_run.
   */
  bool on_demand;
  tb_duration_t ack_limit; /**< of the wait for acknowledgements at the end: see TB_NO_LIMIT */
  /** What passes on this clock takes the place of steady time, see tb_player_run; NULL: steady
   * time. It must outlive the player. */
  tb_clock_t *clock;
  tb_player_message_callback_t before_message; /**< may be NULL */
  tb_player_message_callback_t after_message;  /**< may be NULL; not after one that was not sent */
  void *message_user;                          /**< handed to both */
  tb_player_order_t order;                     /**< of messages that are not those of a jump */
  /** At the end of the last round the player halts (tb_player_halt) instead of ending: publishers
   * stay, so that late subscriptions get what is latched, ticks repeat the last time, and
   * tb_player_play plays again. tb_player_run returns after tb_player_stop. */
  bool keep_alive;
  uint8_t padding[3]; /**< not used */
  /** Where the next message is later than this in recorded time, it is the next thing to happen:
   * time steps forward to it, which is no jump. 0: silences last as long as they did. */
  tb_duration_t skip_silence;
} tb_player_options_t;

/** Once, at the speed of the recording in steady time, without publishing a clock. */
#define TB_PLAYER_OPTIONS_INIT                                                                     \
  {                                                                                                \
    1.0, 0.0, false, false, {0}, {-1}, -1, {0}, 0.001, 1000.0, NULL, 0, false, 1000, 64 << 20,     \
        false, {1000000000}, NULL, NULL, NULL, NULL, TB_PLAYER_ORDER_RECEIVED, false, {0},         \
    {                                                                                              \
      0                                                                                            \
    }                                                                                              \
  }

/** From where to where tb_player_play plays; see the options of the same names. */
typedef struct tb_player_range {
  tb_duration_t start_offset;      /**< >= 0, from the start of the recording on */
  tb_duration_t playback_duration; /**< 0: nothing is played; negative: no limit */
  int64_t playback_until_ns;       /**< negative: no limit */
} tb_player_range_t;

/** All of it. */
#define TB_PLAYER_RANGE_INIT                                                                       \
  {                                                                                                \
    {0}, {-1}, -1                                                                                  \
  }

/** Times are recorded time in ns, never below 1. */
typedef struct tb_player_status {
  int64_t position_ns; /**< what the clock shows now */
  /** Of the recording, or of the run that is read: the earliest log time of all its files and
   * topics, whichever are played. Offsets count from it; the earliest target of a seek. */
  int64_t recording_start_ns;
  int64_t start_ns;  /**< where each round starts: that, and start_offset */
  int64_t end_ns;    /**< of the whole bag; once a round has ended, of the topics played */
  double rate;       /**< as asked for */
  bool paused;       /**< whether time is stopped */
  bool halted;       /**< nothing is played until tb_player_play */
  bool starved;      /**< time is stopped because the next message has not been read yet */
  bool running;      /**< tb_player_run is in progress: steps are accepted */
  bool finished;     /**< tb_player_run has returned, or is about to */
  uint64_t loops;    /**< jumps back to the start */
  uint64_t messages; /**< sent, in all rounds */
  uint64_t ticks;    /**< sent to the clock */
  uint64_t bad_rows; /**< rows that could not be read or sent, each time that they were met */
  uint64_t late;     /**< messages more than 100 ms late, for which time was held back, but not by
                        the process having been stopped */
  /** Time is stopped because options.clock has not started. */
  bool waits_for_clock;
  /** Jumps back by tb_player_repeat. */
  uint64_t repeats;
  /** Start of what tb_player_repeat repeats; 0: nothing. */
  int64_t repeat_from_ns;
  /** Its end; 0: nothing. */
  int64_t repeat_to_ns;
  /** Recorded time that has passed, in all rounds: what a jump skips is not counted. */
  int64_t played_ns;
  /** What the transport has been waiting for, for a second or longer, while time is stopped; "":
   * nothing. Printable ASCII. */
  char waits_for[TB_PLAYER_WAITS_FOR_SIZE];
  int64_t next_ns;   /**< of the next message that is sent; 0: there is none, or it is being read */
  size_t next_topic; /**< with next_ns: index into tb_bag_info_t.topics */
  size_t next_file;  /**< with next_ns: index into tb_bag_info_t.files */
  bool stopped;      /**< tb_player_stop was called */
  uint8_t padding[7]; /**< not used */
} tb_player_status_t;

/** What has been played of one topic. */
typedef struct tb_player_topic_status {
  const char *name;  /**< as recorded; lives as long as the reader */
  bool plays;        /**< false: left out by the filter, or cannot be played */
  uint64_t messages; /**< sent, in all rounds and after jumps */
} tb_player_topic_status_t;

TB_BEGIN_DECLS

/** Prepares to play what `reader` reads (its filter says which topics), from the start of the
 * recording on, whatever the reader's position. `options` may be NULL. Reader and transport must
 * outlive the player and are used by nothing else meanwhile.
 *
 * The start of the recording is that of all its files and topics, so players of different topics
 * have the same time: nothing is sent from there to the first message that is played, and ticks go
 * out as between messages. Where nothing is played, as by limits between two messages or a duration
 * of 0, a round is one tick; limits that leave no message are reported to the log.
 *
 * A recorded `/clock` is not played when a clock is published or options.clock is set. Rows that
 * cannot be read are skipped and counted; the first of each kind is reported to the log.
 *
 *   TB_ERR_RANGE      rate or its bounds, clock_hz, delay or start_offset; an offset beyond
 *                     the end of the recording; an end before the start
 *   TB_ERR_NOT_FOUND  the recording, or what the filter leaves of it, has no message to play
 *   TB_ERR_INVALID    clock_hz with a transport that has no clock; an unknown order
 *   TB_ERR_NO_MEMORY, TB_ERR_SYSTEM, errors of the transport and of tb_clock_now of options.clock;
 *   where no message can be read, that of the first (TB_ERR_UNSUPPORTED: not in CDR)
 *
 * [any thread] [blocks: file system, and during a jump of options.clock] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_player_create(tb_bag_reader_t *reader,
                                                      const tb_play_transport_t *transport,
                                                      const tb_player_options_t *options,
                                                      tb_player_t **out, tb_error_t *error);

/** Accepts NULL. Not while tb_player_run runs.
 * [any thread] [blocks: during a jump of options.clock] */
TB_API void tb_player_destroy(tb_player_t *player);

/** Plays to the end, or until tb_player_stop; TB_OK either way. Once per player (then
 * TB_ERR_INVALID). `options`, which may be NULL, end it early as they end a wait (sleep.h): its
 * token, a limit in steady time, and jumps of options.clock (without a clock nothing jumps). It
 * then stops as tb_player_stop makes it, and returns what ended it. With a token that is cancelled
 * already, or TB_NO_WAIT, nothing is played, and it may be called again.
 *
 * A message goes out when steady time has reached its log time, never before. With a clock, a tick
 * of its log time goes before it unless the clock is there already, so a receiver's clock is never
 * earlier than the message. Between messages ticks go out at clock_hz of steady time, also while
 * paused (they repeat). The last tick is the last message's time; the clock never runs past the
 * next message that is known. Time starts at the start of the recording, or start_offset later, as
 * soon as the first message has been read, at every round. A message that is up to 100 ms late
 * (slow disk, slow transport) goes out at once and time catches up; beyond that, time is held back
 * and continues from that message. The same happens after the process could not run (SIGSTOP,
 * Ctrl-Z, a machine without a free processor), which makes nothing late.
 *
 * As fast as possible, time goes from message to message, each tick before its message.
 *
 * With options.clock all this is in the time of that clock: playback runs at that clock's speed
 * times the rate and stops when the clock stops, including the player's own ticks. Nothing goes out
 * before the clock has started. A forward step is time that passes: messages that are due within it
 * go out at its end, and are not late by it. A forward jump, as timeline.h distinguishes it from a
 * step, is also time that passes, but makes them late. The 100 ms are of steady time, at the speed
 * of the clock. Backward jumps and clock changes move nothing: playback continues from where it is.
 * Seeks, steps and stops do not wait for the clock, except that seeks and steps wait for its start.
 * As fast as possible waits for its start only.
 *
 * Where the transport sets a limit (play_transport.h), time stops there, ticks repeat it, and it
 * continues from there later; the round does not end either while time is beyond it. What the
 * transport waits for is in the status after a second, and in the log then and every 10 s. These
 * are seconds of steady time, also while options.clock is stopped.
 *
 * Where playback starts after the first message, by an offset or a seek, transient-local topics
 * first get their state of that time, after the jump's tick, also while paused: of each topic as
 * many of the last messages before that time as its publishers kept, one each or their depths (at
 * most 1000).
 *
 * The round ends after its last message, but not while paused: a seek may lead back.
 *
 * At the end of a round that loops, the clock jumps back to the start exactly once, in a tick with
 * TB_JUMP_REASON_LOOP. A round takes 10 ms or more, in steady time and on options.clock; after a
 * round without any message there is no other, which is reported to the log.
 *
 *   TB_ERR_TRANSPORT and others of the transport, with the topic's name
 *   TB_ERR_DEADLOCK  with options.clock in a jump callback or the log hook; nothing is played
 *   TB_ERR_CANCELLED, TB_ERR_CLOSED, TB_ERR_TIMEOUT, TB_ERR_JUMP_BACKWARD, TB_ERR_JUMP_FORWARD,
 *   TB_ERR_CLOCK_CHANGED as the wait options ask, whose clock NULL means options.clock;
 *   TB_ERR_INVALID: wait options that no wait has
 *   TB_ERR_NO_MEMORY, TB_ERR_SYSTEM (no thread)
 *
 * [one thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_player_run(tb_player_t *player,
                                                   const tb_wait_options_t *options,
                                                   tb_error_t *error);

/** Stops time, which `/clock` repeats; no message goes out except one that is being sent. On resume
 * time continues from there: nothing is caught up. These calls take effect at once, also before
 * tb_player_run. [any thread] [from callbacks] */
TB_API void tb_player_pause(tb_player_t *player);
TB_API void tb_player_resume(tb_player_t *player);
TB_API void tb_player_toggle_paused(tb_player_t *player);
TB_API bool tb_player_is_paused(tb_player_t *player);

/** The rate from now on; time is continuous. TB_ERR_RANGE: not within the bounds of the options,
 * and not TB_PLAYER_FASTEST. TB_ERR_FORKED. [any thread] [from callbacks] */
TB_API tb_status_t tb_player_set_rate(tb_player_t *player, double rate, tb_error_t *error);
/** Multiplies the rate, and stops at its bounds; rounding errors around 1 do not accumulate.
 * TB_PLAYER_FASTEST stays. TB_ERR_RANGE: `factor` is not finite and above 0. TB_ERR_FORKED. [any
 * thread] [from callbacks] */
TB_API tb_status_t tb_player_scale_rate(tb_player_t *player, double factor);

/** Continues from recorded time `time_ns`, paused or not: one jump, TB_JUMP_REASON_SEEK, then the
 * first message at or after it. Does not wait. If seeks come faster than they are carried out, the
 * last one counts. Steps that have not been taken are dropped.
 *
 *   TB_ERR_RANGE   before the start of the recording, or after its last message or the end that
 *                  the options set
 *   TB_ERR_END     playback has ended, or was halted and no tb_player_play has followed
 *   TB_ERR_FORKED
 *
 * [any thread] [from callbacks] */
TB_API tb_status_t tb_player_seek(tb_player_t *player, int64_t time_ns, tb_error_t *error);

/** While paused: sends the next message that can be sent, time is then its log time. Does not wait.
 * TB_ERR_INVALID: before tb_player_run. TB_ERR_BUSY: not paused. TB_ERR_END: there is none.
 * TB_ERR_FORKED. [any thread] [from callbacks] */
TB_API tb_status_t tb_player_play_next(tb_player_t *player);
/** The same with the next `count` messages that can be sent (0: all up to the end of the round, or
 * of what is repeated), and waits until they are sent, or the wait ends as `options` ask
 * (tb_wait_options_t; NULL: nothing ends it): then the rest is dropped. *out_sent (may be NULL)
 * becomes the number sent: fewer at the end, and if a resume, a seek or a stop intervened.
 *
 *   TB_ERR_TIMEOUT, TB_ERR_CANCELLED, TB_ERR_CLOSED, TB_ERR_JUMP_BACKWARD,
 *   TB_ERR_JUMP_FORWARD, TB_ERR_CLOCK_CHANGED   as the options ask
 *   TB_ERR_DEADLOCK  on the thread that plays, in a jump callback or the log hook
 *   TB_ERR_INVALID   before tb_player_run; the options
 *   TB_ERR_BUSY, TB_ERR_END, TB_ERR_FORKED as above
 *
 * [any thread] [blocks] */
TB_INLINE TB_WARN_UNUSED tb_status_t tb_player_burst(tb_player_t *player, uint64_t count,
                                                     const tb_wait_options_t *options,
                                                     uint64_t *out_sent);

/** While paused: sends the message before the last one again, in one jump (TB_JUMP_REASON_SEEK) to
 * its log time, and continues after it; after a seek, sends the message before the target. Does not
 * wait; several calls are carried out one by one. Messages with equal times are separate steps. The
 * search reads about the part of the recording between the two messages. TB_ERR_INVALID: before
 * tb_player_run. TB_ERR_BUSY: not paused. TB_ERR_END: there is none, or nothing is played.
 * TB_ERR_UNSUPPORTED: in the order of sending. TB_ERR_FORKED. [any thread] [from callbacks] */
TB_API tb_status_t tb_player_play_previous(tb_player_t *player);

/** Repeats recorded time `from_ns` to `to_ns`: when all up to `to_ns` has been played and time is
 * there, or at the end of the round, it continues from `from_ns`, in one jump with
 * TB_JUMP_REASON_LOOP, at most every 10 ms. Steps wrap around too, unless there is no message from
 * `from_ns` to `to_ns`: then they are dropped, which is reported to the log, and further ones
 * return TB_ERR_END; as fast as possible such a range is not repeated at all. If time is already
 * past `to_ns`, it jumps at once, or on resume; after a seek to there playback continues. Replaces
 * an earlier range; tb_player_halt ends it.
 *
 *   TB_ERR_RANGE   not in order, or out of the range of tb_player_seek
 *   TB_ERR_END     playback has ended, or was halted
 *   TB_ERR_FORKED
 *
 * [any thread] [from callbacks] */
TB_API tb_status_t tb_player_repeat(tb_player_t *player, int64_t from_ns, int64_t to_ns,
                                    tb_error_t *error);
/** [any thread] [from callbacks] */
TB_API void tb_player_end_repeat(tb_player_t *player);

/** Ends the current playback; tb_player_run stays in progress, time is stopped, and ticks repeat it
 * until tb_player_play or tb_player_stop. [any thread] [from callbacks] */
TB_API void tb_player_halt(tb_player_t *player);
/** After tb_player_halt, or with options.on_demand: plays again, in one jump to the start, with
 * TB_JUMP_REASON_SEEK. The range applies to later rounds too. `range` may be NULL for all. Does not
 * wait.
 *
 *   TB_ERR_BUSY    it is playing
 *   TB_ERR_RANGE   a negative offset, one beyond the recording, or an end before the start
 *   TB_ERR_END     playback has ended
 *   TB_ERR_FORKED
 *
 * [any thread] [from callbacks] */
TB_INLINE tb_status_t tb_player_play(tb_player_t *player, const tb_player_range_t *range,
                                     tb_error_t *error);

/** Makes tb_player_run return soon, now or when it is called.
 * [any thread] [from callbacks] [async-signal-safe] */
TB_API void tb_player_stop(tb_player_t *player);

/** [any thread] */
TB_INLINE void tb_player_status(tb_player_t *player, tb_player_status_t *out);

/** `topic`: index into tb_bag_info_t.topics. TB_ERR_NOT_FOUND: no such topic. [any thread] */
TB_INLINE tb_status_t tb_player_topic_status(tb_player_t *player, size_t topic,
                                             tb_player_topic_status_t *out);

/** What the calls of these names hand over: the size of each struct too, so that it may grow
 * (docs/abi.md). [any thread] as those are. */
TB_API tb_status_t tb_player_create_sized(tb_bag_reader_t *reader,
                                          const tb_play_transport_t *transport,
                                          const tb_player_options_t *options, size_t options_size,
                                          tb_player_t **out, tb_error_t *error);
TB_INLINE tb_status_t tb_player_create(tb_bag_reader_t *reader,
                                       const tb_play_transport_t *transport,
                                       const tb_player_options_t *options, tb_player_t **out,
                                       tb_error_t *error)
{
  return tb_player_create_sized(reader, transport, options, sizeof *options, out, error);
}
TB_API tb_status_t tb_player_run_sized(tb_player_t *player, const tb_wait_options_t *options,
                                       size_t options_size, tb_error_t *error);
TB_INLINE tb_status_t tb_player_run(tb_player_t *player, const tb_wait_options_t *options,
                                    tb_error_t *error)
{
  return tb_player_run_sized(player, options, sizeof *options, error);
}
TB_API tb_status_t tb_player_play_sized(tb_player_t *player, const tb_player_range_t *range,
                                        size_t range_size, tb_error_t *error);
TB_INLINE tb_status_t tb_player_play(tb_player_t *player, const tb_player_range_t *range,
                                     tb_error_t *error)
{
  return tb_player_play_sized(player, range, sizeof *range, error);
}
TB_API void tb_player_status_sized(tb_player_t *player, tb_player_status_t *out, size_t out_size);
TB_INLINE void tb_player_status(tb_player_t *player, tb_player_status_t *out)
{
  tb_player_status_sized(player, out, sizeof *out);
}
TB_API tb_status_t tb_player_topic_status_sized(tb_player_t *player, size_t topic,
                                                tb_player_topic_status_t *out, size_t out_size);
TB_INLINE tb_status_t tb_player_topic_status(tb_player_t *player, size_t topic,
                                             tb_player_topic_status_t *out)
{
  return tb_player_topic_status_sized(player, topic, out, sizeof *out);
}
TB_API tb_status_t tb_player_burst_sized(tb_player_t *player, uint64_t count,
                                         const tb_wait_options_t *options, size_t options_size,
                                         uint64_t *out_sent);
TB_INLINE tb_status_t tb_player_burst(tb_player_t *player, uint64_t count,
                                      const tb_wait_options_t *options, uint64_t *out_sent)
{
  return tb_player_burst_sized(player, count, options, sizeof *options, out_sent);
}

TB_END_DECLS

#endif
