#include "play/recorder.h"
#include "base/no_memory.h"
#include "base/sized.h"

#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/null_argument.h"
#include "clock/jump_wait.h"

static tb_status_t check_options(const tb_recorder_options_t *options, tb_error_t *error)
{
  if (!TB__RESERVED_IS_0(options)) return tb__sized_unsupported(error, "tb_recorder_options_t");
  if ((unsigned)options->log_time > TB_RECORDER_TIME_ROS)
    return tb_error_set(error, TB_ERR_INVALID, "recorder: log_time: unknown value %d",
                        (int)options->log_time);
  if ((options->log_time == TB_RECORDER_TIME_ROS) != (options->clock != NULL))
    return tb_error_set(error, TB_ERR_INVALID,
                        "recorder: clock must be set for log times of ROS, and only for them");
  if (options->fsync_interval.ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "recorder: fsync_interval is negative");
  if (options->snapshot_duration.ns < 0)
    return tb_error_set(error, TB_ERR_INVALID, "recorder: snapshot_duration is negative");
  if (options->snapshot_duration.ns > 0 && !options->snapshot_mode)
    return tb_error_set(error, TB_ERR_INVALID,
                        "recorder: snapshot_duration is for snapshot mode only");
  return TB_OK;
}

static tb_status_t open_bag(tb_recorder_t *recorder, const char *path, tb_error_t *error)
{
  tb_bag_writer_options_t bag = recorder->options.bag;
  tb__provenance_notes_t provenance;
  if (!bag.storage_id) bag.storage_id = TB_RECORDER_STORAGE;
  recorder->is_ros1 = strcmp(bag.storage_id, "rosbag1") == 0;
  tb_status_t status = tb__recorder_provenance_begin(&recorder->options, &provenance, error);
  if (status) return status;
  bag.notes = provenance.notes;
  bag.note_count = provenance.count;
  bag.on_split = tb__recorder_on_split;
  bag.user = recorder;
  status = tb_bag_writer_create(path, &bag, &recorder->bag, error);
  free(provenance.notes);
  return status;
}

static void topic_destroy(tb__recorder_topic_t *topic)
{
  const char *texts[] = {topic->info.name,
                         topic->info.type,
                         topic->info.offers,
                         topic->info.serialization_format,
                         topic->info.type_hash,
                         topic->info.definition,
                         topic->info.definition_encoding,
                         topic->info.publisher};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    free((void *)(uintptr_t)texts[i]);
  free(topic);
}

static void recorder_free(tb_recorder_t *recorder)
{
  for (size_t i = 0; i < recorder->topic_count; i++)
    topic_destroy(recorder->topics[i]);
  free(recorder->topics);
  tb__recorder_state_free(recorder);
  for (tb__record_t *record = recorder->queue.first, *next; record; record = next) {
    next = record->next;
    free(record);
  }
  tb__mutex_fini(&recorder->mutex);
  free(recorder);
}

/* What was begun is ended again; the bag stays, as it would after a crash. */
static tb_status_t start(tb_recorder_t *recorder, tb_error_t *error)
{
  tb_status_t status = recorder->options.clock ? tb__recorder_watch_clock(recorder) : TB_OK;
  if (status) return tb_error_set(error, status, "recorder: %s", tb_status_message(status));
  status = tb__thread_start(&recorder->thread, "tb-recorder", tb__recorder_run, recorder);
  if (!status) return TB_OK;
  tb_jump_handler_destroy(recorder->handler);
  return tb_error_set(error, status, "recorder: cannot create a thread");
}

tb_status_t tb_recorder_create_sized(const char *path, const tb_recorder_options_t *options,
                                     size_t options_size, tb_recorder_t **out, tb_error_t *error)
{
  if (!path || !out) return tb__null_argument(error, __func__);
  tb_recorder_options_t known;
  if (!TB__SIZED_IN(options, options_size, known))
    return tb__sized_unsupported(error, "tb_recorder_options_t");
  static const tb_recorder_options_t defaults = TB_RECORDER_OPTIONS_INIT;
  if (!options) options = &defaults;
  tb_status_t status = check_options(options, error);
  if (status) return status;
  status = tb__fork_watch();
  if (status) return tb_error_set(error, status, "recorder: %s", tb_status_message(status));
  tb_recorder_t *recorder = calloc(1, sizeof *recorder);
  if (!recorder) return tb__no_memory_for(error, "recorder");
  tb__mutex_init(&recorder->mutex);
  recorder->options = *options;
  if (!recorder->options.cache_size) recorder->options.cache_size = TB_RECORDER_CACHE_SIZE;
  atomic_store(&recorder->paused, options->start_paused);
  recorder->flush_due_ns = recorder->sync_due_ns = recorder->retry_ns = INT64_MAX;
  recorder->state_files = 1; /* the first one begins without */
  recorder->jumps_topic = SIZE_MAX;
  recorder->file_count = 1;
  status = open_bag(recorder, path, error);
  if (!status) {
    if (options->start_paused) tb__recorder_event(recorder, TB__EVENT_PAUSED);
    status = start(recorder, error);
    tb_status_t closed = status ? tb_bag_writer_close(recorder->bag, NULL) : TB_OK;
    (void)closed; /* the first failure is reported */
  }
  if (status) {
    recorder_free(recorder);
    return status;
  }
  *out = recorder;
  return TB_OK;
}

tb_status_t tb_recorder_stop(tb_recorder_t *recorder, tb_error_t *error)
{
  if (!recorder) return tb__null_argument(error, __func__);
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "recorder: %s", tb_status_message(TB_ERR_FORKED));
  if (tb__thread_may_not_wait())
    return tb_error_set(error, TB_ERR_DEADLOCK, "recorder: %s", tb_status_message(TB_ERR_DEADLOCK));
  if (!recorder->joined) {
    tb_jump_handler_destroy(recorder->handler);
    recorder->handler = NULL;
    tb__mutex_lock(&recorder->mutex);
    tb__recorder_admit_early_locked(recorder);
    recorder->stopped = true;
    tb__mutex_unlock(&recorder->mutex);
    tb__recorder_wake(recorder);
    tb__thread_join(&recorder->thread);
    recorder->joined = true;
  }
  tb__mutex_lock(&recorder->mutex);
  tb_error_t failure = recorder->failure;
  tb__mutex_unlock(&recorder->mutex);
  if (failure.status && error) *error = failure;
  return failure.status;
}

/* A forked child leaves alone what the parent's thread was using. */
void tb_recorder_destroy(tb_recorder_t *recorder)
{
  if (!recorder) return;
  tb_status_t status = tb_recorder_stop(recorder, NULL);
  if (status == TB_ERR_FORKED) tb_jump_handler_destroy(recorder->handler);
  if (status != TB_ERR_DEADLOCK) recorder_free(recorder);
}

/* --- topics --- */

static bool copy_text(const char *text, const char **out)
{
  *out = text ? strdup(text) : NULL;
  return !text || *out;
}

static tb__recorder_topic_t *topic_create(const tb_bag_writer_topic_t *info)
{
  tb__recorder_topic_t *topic = calloc(1, sizeof *topic);
  if (!topic) return NULL;
  topic->in_bag = SIZE_MAX;
  topic->state_depth = tb__recorder_state_depth(info->offers);
  if (copy_text(info->name, &topic->info.name) && copy_text(info->type, &topic->info.type) &&
      copy_text(info->serialization_format, &topic->info.serialization_format) &&
      copy_text(info->offers, &topic->info.offers) &&
      copy_text(info->type_hash, &topic->info.type_hash) &&
      copy_text(info->definition, &topic->info.definition) &&
      copy_text(info->definition_encoding, &topic->info.definition_encoding) &&
      copy_text(info->publisher, &topic->info.publisher))
    return topic;
  topic_destroy(topic);
  return NULL;
}

static const char *or_empty(const char *text)
{
  return text ? text : "";
}

/* In a bag of ROS 1 each publisher of a topic has its own, and another for each definition. */
static bool is_same(const tb_bag_writer_topic_t *a, const tb_bag_writer_topic_t *b)
{
  return strcmp(a->name, b->name) == 0 &&
         strcmp(or_empty(a->publisher), or_empty(b->publisher)) == 0 &&
         (!a->publisher || (strcmp(a->type, b->type) == 0 &&
                            strcmp(or_empty(a->type_hash), or_empty(b->type_hash)) == 0));
}

static tb_status_t topic_put(tb_recorder_t *recorder, tb__recorder_topic_t *topic)
{
  tb_status_t status = TB_OK;
  tb__mutex_lock(&recorder->mutex);
  for (size_t i = 0; i < recorder->topic_count && !status; i++)
    if (is_same(&recorder->topics[i]->info, &topic->info)) status = TB_ERR_INVALID;
  if (!status) {
    tb__recorder_topic_t **topics =
        reallocarray(recorder->topics, recorder->topic_count + 1, sizeof(tb__recorder_topic_t *));
    if (!topics) status = TB_ERR_NO_MEMORY;
    if (topics) recorder->topics = topics;
  }
  if (!status) recorder->topics[recorder->topic_count++] = topic;
  tb__mutex_unlock(&recorder->mutex);
  return status;
}

static size_t topic_index(tb_recorder_t *recorder, const tb__recorder_topic_t *topic)
{
  size_t i = 0;
  tb__mutex_lock(&recorder->mutex);
  while (recorder->topics[i] != topic)
    i++;
  tb__mutex_unlock(&recorder->mutex);
  return i;
}

tb_status_t tb_recorder_add_topic_sized(tb_recorder_t *recorder, const tb_bag_writer_topic_t *info,
                                        size_t info_size, size_t *out_topic, tb_error_t *error)
{
  if (!recorder || !info || !out_topic) return tb__null_argument(error, __func__);
  tb_bag_writer_topic_t known;
  if (!TB__SIZED_IN(info, info_size, known))
    return tb__sized_unsupported(error, "tb_bag_writer_topic_t");
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "recorder: %s", tb_status_message(TB_ERR_FORKED));
  if (!info->name || !*info->name || !info->type || !*info->type)
    return tb_error_set(error, TB_ERR_INVALID, "recorder: a topic has no name or no type");
  tb__recorder_topic_t *topic = topic_create(info);
  tb__record_t *order = tb__record_create(TB__RECORD_TOPIC, 0, NULL, 0);
  tb_status_t status = topic && order ? topic_put(recorder, topic) : TB_ERR_NO_MEMORY;
  if (status) {
    if (topic) topic_destroy(topic);
    free(order);
    return tb_error_set(error, status, "recorder: topic %.200s: %s", info->name,
                        status == TB_ERR_INVALID ? "already exists" : tb_status_message(status));
  }
  *out_topic = order->topic = topic_index(recorder, topic);
  tb__recorder_put(recorder, order); /* its result is not needed once stopped */
  return TB_OK;
}

/* --- controls --- */

void tb_recorder_pause(tb_recorder_t *recorder)
{
  if (!recorder) return;
  if (tb__is_forked()) return;
  tb__mutex_lock(&recorder->mutex);
  bool was_paused = atomic_exchange(&recorder->paused, true);
  tb__mutex_unlock(&recorder->mutex);
  if (!was_paused) tb__recorder_event(recorder, TB__EVENT_PAUSED);
}

void tb_recorder_resume(tb_recorder_t *recorder)
{
  if (!recorder) return;
  if (tb__is_forked()) return;
  tb__mutex_lock(&recorder->mutex);
  bool was_paused = atomic_exchange(&recorder->paused, false);
  if (!recorder->stopped) tb__recorder_admit_early_locked(recorder);
  tb__mutex_unlock(&recorder->mutex);
  if (was_paused) tb__recorder_event(recorder, TB__EVENT_RESUMED);
  tb__recorder_wake(recorder);
}

bool tb_recorder_is_paused(const tb_recorder_t *recorder)
{
  if (!recorder) return false;
  return atomic_load(&recorder->paused);
}

tb_status_t tb_recorder_split(tb_recorder_t *recorder, tb_recorder_done_fn done, void *user)
{
  if (!recorder) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  const tb__record_done_t on_done = {done, user};
  return tb__recorder_put(recorder,
                          tb__record_create(TB__RECORD_SPLIT, 0, &on_done, sizeof on_done));
}

tb_status_t tb_recorder_snapshot(tb_recorder_t *recorder, tb_recorder_done_fn done, void *user)
{
  if (!recorder) return TB_ERR_INVALID;
  if (tb__is_forked()) return TB_ERR_FORKED;
  if (!recorder->options.snapshot_mode) return TB_ERR_INVALID;
  const tb__record_done_t on_done = {done, user};
  return tb__recorder_put_snapshot(
      recorder, tb__record_create(TB__RECORD_SNAPSHOT, 0, &on_done, sizeof on_done));
}

/* --- status --- */

static void topic_report(const tb__recorder_topic_t *topic, tb_recorder_topic_status_t *out)
{
  *out = (tb_recorder_topic_status_t){
      .name = topic->info.name,
      .type = topic->info.type,
      .written = atomic_load(&topic->written),
      .waiting = atomic_load(&topic->waiting),
      .lost_on_the_way = atomic_load(&topic->lost_on_the_way),
      .lost_in_queue = atomic_load(&topic->lost_in_queue),
      .lost_in_file = atomic_load(&topic->lost_in_file),
      .skipped_paused = atomic_load(&topic->skipped_paused),
      .skipped_early = atomic_load(&topic->skipped_early),
      .pushed_out = atomic_load(&topic->pushed_out),
      .bytes = atomic_load(&topic->bytes),
      .sent_before = atomic_load(&topic->sent_before),
  };
}

static tb_status_t recorder_topic_status(tb_recorder_t *recorder, size_t index,
                                         tb_recorder_topic_status_t *out)
{
  const tb__recorder_topic_t *topic = tb__recorder_topic(recorder, index);
  if (!topic) return TB_ERR_NOT_FOUND;
  topic_report(topic, out);
  return TB_OK;
}

tb_status_t tb_recorder_topic_status_sized(tb_recorder_t *recorder, size_t index,
                                           tb_recorder_topic_status_t *out, size_t out_size)
{
  if (!recorder || !out) return TB_ERR_INVALID;
  tb_recorder_topic_status_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  tb_status_t status = recorder_topic_status(recorder, index, full);
  TB__SIZED_END(status, out, out_size, full);
  return status;
}

static void recorder_status(tb_recorder_t *recorder, tb_recorder_status_t *out)
{
  tb_recorder_status_t status = {.paused = tb_recorder_is_paused(recorder)};
  tb_time_t now;
  tb__mutex_lock(&recorder->mutex);
  status.topic_count = recorder->topic_count;
  status.file_count = recorder->file_count;
  status.file_size = recorder->file_size;
  status.failure = recorder->failure;
  status.failing = recorder->broken;
  status.out_of_space = recorder->out_of_space;
  if (recorder->memory.first)
    status.held_ns = tb__steady_now_ns() - recorder->memory.first->steady_ns;
  for (size_t i = 0; i < recorder->topic_count; i++) {
    tb_recorder_topic_status_t topic;
    topic_report(recorder->topics[i], &topic);
    status.written += topic.written;
    status.lost += topic.lost_on_the_way + topic.lost_in_queue + topic.lost_in_file;
    status.skipped_paused += topic.skipped_paused;
    status.skipped_early += topic.skipped_early;
  }
  tb__mutex_unlock(&recorder->mutex);
  status.waiting_bytes = atomic_load(&recorder->bytes);
  status.jumps = atomic_load(&recorder->jumps);
  status.waits_for_clock = recorder->options.clock &&
                           tb_clock_try_now(recorder->options.clock, &now) == TB_OK && now.ns == 0;
  *out = status;
}

void tb_recorder_status_sized(tb_recorder_t *recorder, tb_recorder_status_t *out, size_t out_size)
{
  if (!recorder || !out) return;
  tb_recorder_status_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  recorder_status(recorder, full);
  TB__SIZED_END(TB_OK, out, out_size, full);
}
