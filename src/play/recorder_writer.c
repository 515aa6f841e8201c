/* The thread that owns the bag: writes what waits, flushes in time, and continues in another file
 * when the file system has failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "bag/writer.h"
#include "base/log.h"
#include "held/parking.h"
#include "platform/time.h"
#include "play/recorder.h"

#define RETRY_FIRST_NS TB_NS_PER_S
#define RETRY_LAST_NS  (60 * TB_NS_PER_S)
#define NEVER_NS       (INT64_MAX - 1)
#define NOTES_MAX      1000 /* of jumps: metadata.yaml is rewritten with each file */
#define TEXT_SIZE      256

/* After writing, messages are let gather for so long: to be woken for each costs more than to write
 * it. */
#define REST_NS (5 * TB_NS_PER_MS)

static int64_t earlier(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* --- what became of it --- */

/* What a ring has removed. */
static void note_removed(tb_recorder_t *recorder)
{
  char text[32];
  size_t count = recorder->bag->removed_count - recorder->removed;
  if (count == 0) return;
  recorder->removed += count;
  snprintf(text, sizeof text, "files: %zu", count);
  tb__recorder_write_event(recorder, TB__EVENT_REMOVED, tb__system_now_ns(), text);
}

static void publish_extent(tb_recorder_t *recorder)
{
  tb_bag_writer_info_t info;
  note_removed(recorder);
  tb_bag_writer_get_info(recorder->bag, &info);
  tb__mutex_lock(&recorder->mutex);
  recorder->file_count = info.file_count;
  recorder->file_size = info.file_size;
  tb__mutex_unlock(&recorder->mutex);
}

/* What was tried and is not in the file. */
static void count_losses(tb__recorder_topic_t *topic)
{
  uint64_t lost = topic->tried - atomic_load(&topic->written);
  if (lost > atomic_exchange(&topic->lost_in_file, lost)) tb__recorder_lost(topic);
}

/* After a failure, which may have taken messages with it that had been counted. */
static void recount(tb_recorder_t *recorder)
{
  for (size_t i = 0;; i++) {
    tb__recorder_topic_t *topic = tb__recorder_topic(recorder, i);
    if (!topic) return;
    uint64_t written =
        topic->in_bag == SIZE_MAX ? 0 : tb_bag_writer_topic_count(recorder->bag, topic->in_bag);
    atomic_store(&topic->written, written < topic->tried ? written : topic->tried);
    count_losses(topic);
  }
}

static void set_broken(tb_recorder_t *recorder, bool broken, const tb_error_t *error)
{
  tb__mutex_lock(&recorder->mutex);
  recorder->broken = broken;
  if (error && !recorder->failure.status) recorder->failure = *error;
  tb__mutex_unlock(&recorder->mutex);
}

/* Messages are lost from here on, until another file can be written. */
static void fail(tb_recorder_t *recorder, const tb_error_t *error)
{
  bool again = recorder->retry_delay_ns > 0;
  recorder->flush_due_ns = INT64_MAX;
  recorder->sync_due_ns = INT64_MAX;
  recorder->retry_delay_ns =
      again ? earlier(2 * recorder->retry_delay_ns, RETRY_LAST_NS) : RETRY_FIRST_NS;
  if (recorder->retry_ns != NEVER_NS)
    recorder->retry_ns = tb__steady_now_ns() + recorder->retry_delay_ns;
  set_broken(recorder, true, error);
  recount(recorder);
  publish_extent(recorder);
  if (!again)
    tb__recorder_write_event(recorder, TB__EVENT_DISK_FAILED, tb__system_now_ns(), error->text);
  if (!again)
    tb__log(TB_LOG_ERROR, "recorder: %s: messages are lost until another file can be written",
            error->text);
}

static bool is_broken(const tb_recorder_t *recorder)
{
  return recorder->retry_ns != INT64_MAX;
}

static void set_mended(tb_recorder_t *recorder)
{
  recorder->retry_ns = INT64_MAX;
  set_broken(recorder, false, NULL);
  tb__recorder_write_event(recorder, TB__EVENT_DISK_RECOVERED, tb__system_now_ns(), NULL);
}

/* `opened` is empty at the end. */
void tb__recorder_on_split(const char *closed, const char *opened, void *user)
{
  tb_recorder_t *recorder = user;
  const char *slash = strrchr(opened, '/');
  if (*opened)
    tb__recorder_write_event(recorder, TB__EVENT_SPLIT, tb__system_now_ns(),
                             slash ? slash + 1 : opened);
  tb__recorder_write_losses(recorder);
  if (recorder->options.bag.on_split)
    recorder->options.bag.on_split(closed, opened, recorder->options.bag.user);
}

/* True: the bag can be written to. */
static bool recover_file(tb_recorder_t *recorder)
{
  if (!is_broken(recorder)) return true;
  if (tb__steady_now_ns() < recorder->retry_ns) return false;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_bag_writer_split(recorder->bag, &error) != TB_OK) {
    fail(recorder, &error);
    return false;
  }
  set_mended(recorder);
  return true;
}

/* --- writing --- */

static bool add_topic(tb_recorder_t *recorder, tb__recorder_topic_t *topic)
{
  if (topic->in_bag != SIZE_MAX) return true;
  tb_error_t error = TB_ERROR_INIT;
  if (!recover_file(recorder)) return false;
  tb_status_t status = tb_bag_writer_add_topic(recorder->bag, &topic->info, &topic->in_bag, &error);
  if (!status) return true;
  if (status != TB_ERR_INVALID) fail(recorder, &error);
  return false;
}

static tb_status_t write_to_bag(tb_recorder_t *recorder, const tb__recorder_topic_t *topic,
                                const tb__record_t *record, tb_error_t *error)
{
  return tb_bag_writer_write(recorder->bag, topic->in_bag, record->log_ns, record->publish_ns,
                             record->bytes, record->size, error);
}

static void write_message(tb_recorder_t *recorder, const tb__record_t *record);
static tb_status_t split(tb_recorder_t *recorder);

static size_t files_begun(const tb_recorder_t *recorder)
{
  return recorder->bag->file_count + recorder->bag->removed_count;
}

/* `next` goes to the file, which begins with the state of latched topics, unless it is there. */
static void begin_with_state(tb_recorder_t *recorder, const tb__record_t *next)
{
  if (!recorder->options.repeat_latched || next->topic == recorder->jumps_topic) return;
  if (tb__writer_is_full(recorder->bag, next->log_ns)) (void)split(recorder);
  if (is_broken(recorder) || recorder->state_files == files_begun(recorder)) return;
  tb__mutex_lock(&recorder->mutex);
  tb__record_t *state = tb__recorder_state_before_locked(recorder, next);
  tb__mutex_unlock(&recorder->mutex);
  recorder->state_files = files_begun(recorder);
  recorder->bag->state_count = UINT64_MAX;
  while (state) {
    tb__record_t *written = state;
    state = state->next;
    atomic_fetch_add(&tb__recorder_topic(recorder, written->topic)->waiting, 1);
    write_message(recorder, written);
    free(written);
  }
  recorder->bag->state_count = tb__writer_file(recorder->bag)->extent.message_count;
}

/* In snapshot mode it is kept when it comes. */
static void keep_state(tb_recorder_t *recorder, const tb__record_t *record)
{
  const tb_recorder_options_t *options = &recorder->options;
  if (!record->is_latched || !options->repeat_latched || options->snapshot_mode) return;
  tb__mutex_lock(&recorder->mutex);
  tb__recorder_state_keep_locked(recorder, record);
  tb__mutex_unlock(&recorder->mutex);
}

static void write_message(tb_recorder_t *recorder, const tb__record_t *record)
{
  tb_error_t error = TB_ERROR_INIT;
  tb__recorder_topic_t *topic = tb__recorder_topic(recorder, record->topic);
  atomic_fetch_sub(&topic->waiting, 1);
  topic->tried++;
  if (!add_topic(recorder, topic) || !recover_file(recorder)) {
    count_losses(topic);
    return;
  }
  begin_with_state(recorder, record);
  tb_status_t status = write_to_bag(recorder, topic, record, &error);
  if (status == TB_ERR_INVALID || status == TB_ERR_LIMIT) { /* the message itself */
    count_losses(topic);
  } else if (status) {
    fail(recorder, &error);
  } else {
    atomic_fetch_add(&topic->written, 1);
    keep_state(recorder, record);
    recorder->flush_due_ns =
        earlier(recorder->flush_due_ns, record->steady_ns + TB__RECORD_FLUSH_NS);
    if (recorder->options.fsync_interval.ns > 0)
      recorder->sync_due_ns =
          earlier(recorder->sync_due_ns, tb__steady_now_ns() + recorder->options.fsync_interval.ns);
  }
}

/* False: less is free than was asked for. True where that is not known. */
static bool has_space(const tb_recorder_t *recorder)
{
  struct statvfs disk;
  uint64_t min = recorder->options.min_space;
  if (min == 0 || statvfs(recorder->bag->path, &disk) != 0) return true;
  return (uint64_t)disk.f_bavail >= min / disk.f_frsize + (min % disk.f_frsize != 0);
}

/* For good: what others do with the disk is not waited for. */
static void end_for_space(tb_recorder_t *recorder)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_error_set(&error, TB_ERR_SYSTEM,
               "%s: less than %llu bytes are free on the disk: recording has ended",
               recorder->bag->path, (unsigned long long)recorder->options.min_space);
  recorder->retry_ns = NEVER_NS;
  set_broken(recorder, true, &error);
  tb__mutex_lock(&recorder->mutex);
  recorder->out_of_space = true;
  tb__mutex_unlock(&recorder->mutex);
  tb__recorder_write_event(recorder, TB__EVENT_DISK_FAILED, tb__system_now_ns(), error.text);
  tb__log(TB_LOG_ERROR, "recorder: %s", error.text);
}

static void keep_space(tb_recorder_t *recorder)
{
  tb_error_t error = TB_ERROR_INIT;
  while (!has_space(recorder)) {
    if (!tb__writer_is_ring(recorder->bag) || recorder->bag->file_count < 2 ||
        tb__writer_remove_oldest(recorder->bag, &error)) {
      end_for_space(recorder);
      return;
    }
    note_removed(recorder);
  }
}

static tb_status_t flush(tb_recorder_t *recorder, tb_bag_flush_t how)
{
  tb_error_t error = TB_ERROR_INIT;
  recorder->flush_due_ns = INT64_MAX;
  if (how == TB_BAG_FLUSH_DISK) recorder->sync_due_ns = INT64_MAX;
  if (is_broken(recorder)) return TB_ERR_SYSTEM;
  if (tb_bag_writer_flush(recorder->bag, how, &error) != TB_OK) {
    fail(recorder, &error);
    return error.status;
  }
  recorder->retry_delay_ns = 0;
  keep_space(recorder);
  publish_extent(recorder);
  return TB_OK;
}

static tb_status_t split(tb_recorder_t *recorder)
{
  tb_error_t error = TB_ERROR_INIT;
  if (!recover_file(recorder)) return TB_ERR_SYSTEM;
  if (tb_bag_writer_split(recorder->bag, &error) != TB_OK)
    fail(recorder, &error);
  else
    publish_extent(recorder);
  return error.status;
}

static const char *kind_name(tb_jump_kind_t kind)
{
  switch (kind) {
  case TB_JUMP_FORWARD:
    return "forward";
  case TB_JUMP_BACKWARD:
    return "backward";
  case TB_JUMP_CLOCK_CHANGE:
    return "clock_change";
  case TB_JUMP_STARTED:
    return "started";
  }
  return "unknown";
}

static const char *reason_name(tb_jump_reason_t reason)
{
  static const char *const names[] = {"none",          "tick",      "seek",       "loop",
                                      "reset",         "source_on", "source_off", "source_replaced",
                                      "system_stepped"};
  return (size_t)reason < sizeof names / sizeof *names ? names[reason] : "unknown";
}

/* Made when it is needed; SIZE_MAX: there is none. */
static size_t jumps_topic(tb_recorder_t *recorder)
{
  static const tb_bag_writer_topic_t info = {
      .name = TB_RECORDER_JUMPS_TOPIC,
      .type = "std_msgs/msg/String",
      .type_hash = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
      .definition = "string data\n",
      .definition_encoding = "ros2msg",
  };
  static const tb_bag_writer_topic_t of_ros1 = {
      .name = TB_RECORDER_JUMPS_TOPIC,
      .type = "std_msgs/String",
      .serialization_format = "ros1",
      .type_hash = "992ce8a1687cec8c8bd883ec73ca41d1",
      .definition = "string data\n",
      .definition_encoding = "ros1msg",
  };
  if (recorder->jumps_topic == SIZE_MAX &&
      tb_recorder_add_topic(recorder, recorder->is_ros1 ? &of_ros1 : &info, &recorder->jumps_topic,
                            NULL))
    return SIZE_MAX;
  return recorder->jumps_topic;
}

/* The jump as a message, at the time that it led to. */
static void write_jump_message(tb_recorder_t *recorder, const tb_jump_t *jump, const char *text)
{
  _Alignas(tb__record_t) uint8_t room[sizeof(tb__record_t) + 8 + TEXT_SIZE] = {0};
  tb__record_t *record = (tb__record_t *)(void *)room;
  /* In ROS 1 there is no encapsulation before the length, and no NUL counted in it. */
  uint32_t before = recorder->is_ros1 ? 0 : 4;
  uint32_t length = (uint32_t)strlen(text) + !recorder->is_ros1;
  record->topic = jumps_topic(recorder);
  record->size = before + 4 + length;
  record->log_ns = jump->after.ns > 0 ? jump->after.ns : jump->before.ns;
  record->publish_ns = tb__system_now_ns();
  record->steady_ns = tb__steady_now_ns();
  if (record->topic == SIZE_MAX || record->log_ns <= 0) return;
  if (!recorder->is_ros1) record->bytes[1] = 1; /* CDR, little endian */
  for (uint32_t i = 0; i < 4; i++)
    record->bytes[before + i] = (uint8_t)(length >> 8 * i);
  memcpy(record->bytes + before + 4, text, length);
  atomic_fetch_add(&tb__recorder_topic(recorder, record->topic)->waiting, 1);
  write_message(recorder, record);
}

/* Time goes back, which within a file would make it unreadable in order. */
static void begin_run(tb_recorder_t *recorder)
{
  tb_error_t error = TB_ERROR_INIT;
  if (recorder->retry_ns == NEVER_NS) return; /* recording has ended */
  if (tb_bag_writer_begin_run(recorder->bag, &error) != TB_OK) {
    fail(recorder, &error);
    return;
  }
  if (is_broken(recorder)) set_mended(recorder);
  publish_extent(recorder);
}

static void write_jump(tb_recorder_t *recorder, const tb_jump_t *jump)
{
  char key[TEXT_SIZE], value[TEXT_SIZE];
  if (jump->delta.ns < 0) begin_run(recorder);
  tb_bag_writer_info_t info;
  tb_bag_writer_get_info(recorder->bag, &info);
  snprintf(value, sizeof value, "kind=%s reason=%s before_ns=%lld after_ns=%lld run=%zu",
           kind_name(jump->kind), reason_name(jump->reason), (long long)jump->before.ns,
           (long long)jump->after.ns, info.run_count);
  if (recorder->notes < NOTES_MAX) {
    snprintf(key, sizeof key, "timebase_jump_%u", recorder->notes++);
    tb_bag_writer_set_custom_data(recorder->bag, key, value, NULL);
  }
  write_jump_message(recorder, jump, value);
}

static void report_done(const tb__record_t *order, tb_status_t status)
{
  tb__record_done_t order_done;
  memcpy(&order_done, order->bytes, sizeof order_done);
  if (order_done.done) order_done.done(status, order_done.user);
}

static void write_record(tb_recorder_t *recorder, tb__record_t *record)
{
  tb_jump_t jump;
  tb__recorder_event_at_t event;
  switch (record->kind) {
  case TB__RECORD_MESSAGE:
    write_message(recorder, record);
    break;
  case TB__RECORD_TOPIC:
    add_topic(recorder, tb__recorder_topic(recorder, record->topic));
    break;
  case TB__RECORD_SPLIT:
    report_done(record, split(recorder));
    break;
  case TB__RECORD_SNAPSHOT:
    tb__recorder_write_event(recorder, TB__EVENT_SNAPSHOT, tb__system_now_ns(), NULL);
    report_done(record, flush(recorder, TB_BAG_FLUSH_KERNEL));
    break;
  case TB__RECORD_JUMP:
    memcpy(&jump, record->bytes, sizeof jump);
    write_jump(recorder, &jump);
    break;
  case TB__RECORD_NOTE:
    tb__recorder_write_note(recorder, (const char *)record->bytes);
    break;
  case TB__RECORD_EVENT:
    memcpy(&event, record->bytes, sizeof event);
    tb__recorder_write_event(recorder, event.event, event.at_ns, NULL);
    break;
  }
}

static void flush_if_due(tb_recorder_t *recorder)
{
  int64_t due_ns = earlier(recorder->flush_due_ns, recorder->sync_due_ns);
  if (due_ns == INT64_MAX) return;
  int64_t now_ns = tb__steady_now_ns();
  if (now_ns < due_ns) return;
  flush(recorder, now_ns >= recorder->sync_due_ns ? TB_BAG_FLUSH_DISK : TB_BAG_FLUSH_KERNEL);
}

static tb__record_t *take_list_locked(tb_recorder_t *recorder, tb__record_list_t *list)
    TB_REQUIRES(recorder->mutex);

static tb__record_t *take_list_locked(tb_recorder_t *recorder, tb__record_list_t *list)
{
  (void)recorder;
  tb__record_t *first = list->first;
  *list = (tb__record_list_t){0};
  return first;
}

/* *out_due_ns: when what is held is to be written in any case. */
static tb__record_t *take_all(tb_recorder_t *recorder, bool *out_stopped, int64_t *out_due_ns)
{
  tb__mutex_lock(&recorder->mutex);
  *out_stopped = recorder->stopped;
  if (recorder->stopped || recorder->held_until_ns <= tb__steady_now_ns())
    tb__recorder_release_held_locked(recorder);
  *out_due_ns = recorder->held.first ? recorder->held_until_ns : INT64_MAX;
  tb__record_t *list = take_list_locked(recorder, &recorder->queue);
  recorder->rests = list;
  tb__mutex_unlock(&recorder->mutex);
  return list;
}

static void write_all(tb_recorder_t *recorder, tb__record_t *list)
{
  while (list) {
    tb__record_t *next = list->next;
    write_record(recorder, list);
    tb__record_free(recorder, list);
    flush_if_due(recorder);
    list = next;
  }
}

static void drop(tb_recorder_t *recorder, tb__record_t *list, bool is_early)
{
  while (list) {
    tb__record_t *next = list->next;
    if (list->kind == TB__RECORD_MESSAGE) {
      tb__recorder_topic_t *topic = tb__recorder_topic(recorder, list->topic);
      atomic_fetch_sub(&topic->waiting, 1);
      atomic_fetch_add(is_early ? tb__recorder_skipped(recorder, topic) : &topic->pushed_out, 1);
    }
    tb__record_free(recorder, list);
    list = next;
  }
}

/* A snapshot's memory that was never requested, and what waited for a clock that never started or
 * for recording to resume. */
static void drop_rest(tb_recorder_t *recorder)
{
  tb__mutex_lock(&recorder->mutex);
  tb__record_t *memory = take_list_locked(recorder, &recorder->memory);
  tb__record_t *early = take_list_locked(recorder, &recorder->early);
  tb__mutex_unlock(&recorder->mutex);
  drop(recorder, memory, false);
  drop(recorder, early, true);
}

/* The file is examined when it is closed: the counts are those of what it holds. */
static void finish(tb_recorder_t *recorder)
{
  tb_error_t error = TB_ERROR_INIT;
  drop_rest(recorder);
  flush(recorder,
        recorder->options.fsync_interval.ns > 0 ? TB_BAG_FLUSH_DISK : TB_BAG_FLUSH_KERNEL);
  note_removed(recorder);
  tb__recorder_provenance_end(recorder);
  if (tb__bag_writer_finish(recorder->bag, &error) != TB_OK) {
    set_broken(recorder, true, &error);
    recount(recorder);
    tb__recorder_write_losses(recorder);
    (void)!tb__writer_save_metadata(recorder->bag, NULL); /* the first failure is reported */
  }
  tb__bag_writer_free(recorder->bag);
  recorder->bag = NULL;
}

/* In the kernel's time, also while a test holds time: as if the thread were slow. What was put in
 * the queue with a wake-up since `seen` ends it. */
static void rest(tb_recorder_t *recorder, uint32_t seen)
{
  tb__futex_wait_kernel(&recorder->work, seen,
                        (tb__deadline_t){TB__DEADLINE_STEADY, tb__real_steady_now_ns() + REST_NS});
}

void *tb__recorder_run(void *user)
{
  tb_recorder_t *recorder = user;
  for (;;) {
    bool stopped;
    int64_t held_due_ns;
    uint32_t seen = atomic_load(&recorder->work);
    tb__record_t *list = take_all(recorder, &stopped, &held_due_ns);
    if (list) {
      write_all(recorder, list);
      if (!stopped) rest(recorder, seen);
      continue;
    }
    if (stopped) break;
    flush_if_due(recorder);
    int64_t due_ns = earlier(earlier(recorder->flush_due_ns, recorder->sync_due_ns), held_due_ns);
    tb__futex_wait(&recorder->work, seen,
                   due_ns == INT64_MAX ? TB__NO_DEADLINE
                                       : (tb__deadline_t){TB__DEADLINE_STEADY, due_ns});
  }
  finish(recorder);
  return NULL;
}
