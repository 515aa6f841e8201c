/* Inside of tb_recorder_t. recorder.c creates, stops and describes it; recorder_intake.c takes
 * messages from any thread; recorder_writer.c is the thread that writes. */
#ifndef TB_PLAY_RECORDER_H
#define TB_PLAY_RECORDER_H

#include <timebase/jump.h>
#include <timebase/recorder.h>

#include "platform/futex.h"
#include "platform/mutex.h"
#include "platform/thread.h"

#define TB__RECORD_FLUSH_NS (TB_NS_PER_S / 2) /* half of TB_RECORDER_FLUSH_LIMIT */
#define TB__RECORD_HOLD_NS  (TB_NS_PER_S / 4)

typedef enum tb__record_kind {
  TB__RECORD_MESSAGE = 1,
  TB__RECORD_TOPIC,    /* a new one, to be added to the bag */
  TB__RECORD_SPLIT,    /* `bytes` is a tb__record_done_t */
  TB__RECORD_SNAPSHOT, /* the same: everything before it is to be flushed */
  TB__RECORD_JUMP,     /* of the clock: `bytes` is a tb_jump_t */
  TB__RECORD_NOTE,     /* for custom_data: a key and a value, each with its NUL */
  TB__RECORD_EVENT,    /* `bytes` is a tb__recorder_event_at_t */
} tb__record_kind_t;

/* What the recorder notes of itself, with the time. */
typedef enum tb__recorder_event {
  TB__EVENT_PAUSED,
  TB__EVENT_RESUMED,
  TB__EVENT_SPLIT,
  TB__EVENT_SNAPSHOT,
  TB__EVENT_DISK_FAILED,
  TB__EVENT_DISK_RECOVERED,
  TB__EVENT_REMOVED, /* a file, for others */
} tb__recorder_event_t;

typedef struct tb__recorder_event_at {
  tb__recorder_event_t event;
  int64_t at_ns; /* system time */
} tb__recorder_event_at_t;

/* Called when an order has been carried out. */
typedef struct tb__record_done {
  tb_recorder_done_fn done; /* or NULL */
  void *user;
} tb__record_done_t;

/* What waits to be written. */
typedef struct tb__record {
  struct tb__record *next;
  tb__record_kind_t kind;
  size_t topic;
  size_t size;
  int64_t log_ns;
  int64_t publish_ns;
  int64_t steady_ns; /* when it came */
  uint64_t serial;   /* of a message: in the order in which they came */
  bool is_latched;
  uint8_t bytes[];
} tb__record_t;

typedef struct tb__record_list {
  tb__record_t *first, *last;
} tb__record_list_t;

/* Counts are read on any thread. */
typedef struct tb__recorder_topic {
  tb_bag_writer_topic_t info; /* texts of its own */
  size_t in_bag;              /* of the writer thread: index in the bag; SIZE_MAX: not there yet */
  uint64_t tried;             /* of the writer thread: messages that were handed to the bag */
  uint32_t state_count, state_depth; /* by the mutex: on the list `state`, and how many at most */
  uint32_t early;                    /* by the recorder's mutex: how many are on its list `early` */
  _Atomic uint64_t written;
  _Atomic uint64_t waiting;
  _Atomic uint64_t lost_on_the_way;
  _Atomic uint64_t lost_in_queue;
  _Atomic uint64_t lost_in_file;
  _Atomic uint64_t skipped_paused;
  _Atomic uint64_t skipped_early;
  _Atomic uint64_t pushed_out;
  _Atomic int64_t first_lost_ns, last_lost_ns; /* system time; 0: nothing was lost */
  _Atomic uint64_t bytes;                      /* that were taken */
  _Atomic uint64_t sent_before;
} tb__recorder_topic_t;

struct tb_recorder {
  tb_recorder_options_t options; /* texts are not valid any more */
  tb_jump_handler_t *handler;    /* NULL without a clock */
  tb__thread_t thread;
  _Atomic bool paused;    /* changes with `mutex` held */
  _Atomic uint64_t bytes; /* in the queue, and being written */
  _Atomic uint32_t work;  /* futex: something has been put in the queue, or stop */
  _Atomic uint64_t jumps;

  uint64_t forward_jumps; /* of the clock's timeline, before the current jump */

  tb__mutex_t mutex;       /* never held while something waits */
  tb__record_list_t queue; /* to be written */
  tb__record_list_t held;  /* after a tick that leads back, until the jump, or held_until_ns */
  int64_t held_until_ns;
  tb__record_list_t early;  /* latched, and here while paused or before the clock has started */
  uint64_t state_size;      /* bytes, at most the cache's size */
  tb__record_t *state;      /* copies of what is latched, see recorder_state.c */
  uint64_t serial;          /* of the last message */
  tb__record_list_t memory; /* in snapshot mode: messages and jumps until a snapshot is requested */
  tb__recorder_topic_t **topics;
  size_t topic_count;
  int64_t clock_ns;  /* what the clock showed last, or will show after the current jump */
  bool stopped;      /* takes no more */
  bool rests;        /* the writer thread is busy, or looks at the queue soon without being woken */
  bool broken;       /* the file system has failed, and not yet recovered */
  bool out_of_space; /* and will not */
  size_t file_count; /* at the last flush */
  uint64_t file_size;
  tb_error_t failure; /* the first */

  /* Of the writer thread. */
  tb_bag_writer_t *bag;
  int64_t flush_due_ns; /* INT64_MAX: nothing to flush */
  int64_t sync_due_ns;
  int64_t retry_ns;       /* while broken: when to try the next file */
  int64_t retry_delay_ns; /* doubles with each that fails */
  size_t jumps_topic;     /* SIZE_MAX: not there yet */
  unsigned notes;         /* of jumps */
  unsigned events;        /* noted */
  size_t removed;         /* files of a ring, noted */
  size_t state_files;     /* begun when the state of latched topics was looked at last */
  int64_t paused_ns;      /* system time of the last pause that was noted; 0: none */
  bool joined;
  bool is_ros1; /* a bag of ROS 1, whose messages are serialized otherwise */
};

/* recorder_intake.c */
tb__record_t *tb__record_create(tb__record_kind_t kind, size_t topic, const void *bytes,
                                size_t size);
/* Orders to the writer thread count towards the limit and are never refused by it. `record` is
 * taken over; NULL is TB_ERR_NO_MEMORY. TB_ERR_CLOSED. */
tb_status_t tb__recorder_put(tb_recorder_t *recorder, tb__record_t *record);
/* The same, after queuing everything in a snapshot's memory for writing. */
tb_status_t tb__recorder_put_snapshot(tb_recorder_t *recorder, tb__record_t *record) TB_WARN_UNUSED;
/* Counts what is not recorded because of when it came. */
_Atomic uint64_t *tb__recorder_skipped(const tb_recorder_t *recorder, tb__recorder_topic_t *topic);
/* What is latched and needs not wait any more. */
void tb__recorder_admit_early_locked(tb_recorder_t *recorder) TB_REQUIRES(recorder->mutex);
/* To be written, or to the memory, in their order. */
void tb__recorder_release_held_locked(tb_recorder_t *recorder) TB_REQUIRES(recorder->mutex);
tb_status_t tb__recorder_watch_clock(tb_recorder_t *recorder) TB_WARN_UNUSED;
void tb__record_free(tb_recorder_t *recorder, tb__record_t *record);
tb__recorder_topic_t *tb__recorder_topic(tb_recorder_t *recorder, size_t index);
void tb__recorder_wake(tb_recorder_t *recorder);

/* recorder_provenance.c */
#define TB__PROVENANCE_TEXT_SIZE 512
#define TB__EVENT_DETAIL_MAX     300
typedef struct tb__provenance_notes {
  tb_bag_note_t *notes; /* those of the options first; to be freed */
  size_t count;
  char host[TB__PROVENANCE_TEXT_SIZE], system[TB__PROVENANCE_TEXT_SIZE],
      sync[TB__PROVENANCE_TEXT_SIZE];
} tb__provenance_notes_t;
/* For the first metadata.yaml. */
tb_status_t tb__recorder_provenance_begin(const tb_recorder_options_t *options,
                                          tb__provenance_notes_t *out,
                                          tb_error_t *error) TB_WARN_UNUSED;
/* Any thread; nothing with no_provenance. */
TB_PRIVATE_API void tb__recorder_note(tb_recorder_t *recorder, const char *key, const char *value);
void tb__recorder_event(tb_recorder_t *recorder, tb__recorder_event_t event);
/* A message of the topic was lost now. */
void tb__recorder_lost(tb__recorder_topic_t *topic);
/* The writer's thread; `detail` may be NULL. */
void tb__recorder_write_note(tb_recorder_t *recorder, const char *texts);
void tb__recorder_write_event(tb_recorder_t *recorder, tb__recorder_event_t event, int64_t at_ns,
                              const char *detail);
void tb__recorder_write_losses(tb_recorder_t *recorder);
/* Before the last metadata.yaml. */
void tb__recorder_provenance_end(tb_recorder_t *recorder);

/* recorder_state.c. Of a topic with these offers: how many messages are its state. */
uint32_t tb__recorder_state_depth(const char *offers);
/* `record` is latched. */
void tb__recorder_state_keep_locked(tb_recorder_t *recorder, const tb__record_t *record)
    TB_REQUIRES(recorder->mutex);
/* Copies of what a late subscription would get before `first`, the begin of a snapshot's memory
 * or of a file, with log times of that. NULL: nothing. */
tb__record_t *tb__recorder_state_before_locked(tb_recorder_t *recorder, const tb__record_t *first)
    TB_REQUIRES(recorder->mutex);
void tb__recorder_state_free(tb_recorder_t *recorder);

/* recorder_writer.c: the thread, and what its bag calls; `user` is the recorder. */
void tb__recorder_on_split(const char *closed, const char *opened, void *user);
void *tb__recorder_run(void *user);

#endif
