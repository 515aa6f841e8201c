/* What a recording says of how it was made, as notes (custom_data) with keys of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bag/writer.h"
#include "base/no_memory.h"
#include "platform/system_sync.h"
#include "platform/time.h"
#include "play/recorder.h"
#include "storage/clean.h"

#define EVENTS_MAX 1000 /* metadata.yaml is rewritten with each file */

#define KEY(name) TB__PROVENANCE_PREFIX name

static const char *log_time_name(tb_recorder_time_t log_time)
{
  return log_time == TB_RECORDER_TIME_ROS      ? "ros"
         : log_time == TB_RECORDER_TIME_SOURCE ? "source"
                                               : "receive";
}

static void sync_text(char out[TB__PROVENANCE_TEXT_SIZE])
{
  tb__system_sync_t sync = tb__system_sync_read();
  int length = snprintf(out, TB__PROVENANCE_TEXT_SIZE, "at_ns=%lld synchronized=%s",
                        (long long)tb__system_now_ns(), sync.is_synchronized ? "yes" : "no");
  if (sync.max_error_ns >= 0)
    snprintf(out + length, TB__PROVENANCE_TEXT_SIZE - (size_t)length, " max_error_ns=%lld",
             (long long)sync.max_error_ns);
}

tb_status_t tb__recorder_provenance_begin(const tb_recorder_options_t *options,
                                          tb__provenance_notes_t *out, tb_error_t *error)
{
  struct utsname host = {0};
  const size_t given = options->bag.note_count;
  *out = (tb__provenance_notes_t){.notes = calloc(given + 5, sizeof *out->notes)};
  if (!out->notes) return tb__no_memory_for(error, "recorder");
  if (given > 0) memcpy(out->notes, options->bag.notes, given * sizeof *out->notes);
  out->count = given;
  if (options->no_provenance) return TB_OK;
  uname(&host);
  snprintf(out->host, sizeof out->host, "%s", host.nodename);
  snprintf(out->system, sizeof out->system, "%s %s %s", host.sysname, host.release, host.machine);
  sync_text(out->sync);
  const tb_bag_note_t made[] = {
      {KEY("recorder"), "timebase " TB_VERSION},
      {KEY("host"), out->host},
      {KEY("system"), out->system},
      {KEY("clock.start"), out->sync},
      {KEY("log_time"), log_time_name(options->log_time)},
  };
  for (size_t i = 0; i < sizeof made / sizeof *made; i++)
    if (tb__yaml_can_hold(made[i].value)) out->notes[out->count++] = made[i];
  return TB_OK;
}

/* What the recording does not say is a failure of it. */
static void fail_without_memory(tb_recorder_t *recorder)
{
  tb__mutex_lock(&recorder->mutex);
  if (!recorder->failure.status) (void)!tb__no_memory_for(&recorder->failure, "recorder");
  tb__mutex_unlock(&recorder->mutex);
}

static void put(tb_recorder_t *recorder, tb__record_t *record)
{
  if (tb__recorder_put(recorder, record) == TB_ERR_NO_MEMORY) fail_without_memory(recorder);
}

static void set_note(tb_recorder_t *recorder, const char *key, const char *value)
{
  if (tb_bag_writer_set_custom_data(recorder->bag, key, value, NULL) == TB_ERR_NO_MEMORY)
    fail_without_memory(recorder);
}

void tb__recorder_note(tb_recorder_t *recorder, const char *key, const char *value)
{
  size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;
  if (recorder->options.no_provenance) return;
  char *texts = malloc(key_size + value_size);
  if (!texts) {
    fail_without_memory(recorder);
    return;
  }
  memcpy(texts, key, key_size);
  memcpy(texts + key_size, value, value_size);
  put(recorder, tb__record_create(TB__RECORD_NOTE, 0, texts, key_size + value_size));
  free(texts);
}

void tb__recorder_event(tb_recorder_t *recorder, tb__recorder_event_t event)
{
  const tb__recorder_event_at_t at = {event, tb__system_now_ns()};
  if (!recorder->options.no_provenance)
    put(recorder, tb__record_create(TB__RECORD_EVENT, 0, &at, sizeof at));
}

/* --- on the writer's thread --- */

void tb__recorder_write_note(tb_recorder_t *recorder, const char *texts)
{
  set_note(recorder, texts, texts + strlen(texts) + 1);
}

static uint64_t count_taken(tb_recorder_t *recorder)
{
  uint64_t count = 0;
  for (size_t i = 0;; i++) {
    const tb__recorder_topic_t *topic = tb__recorder_topic(recorder, i);
    if (!topic) return count;
    count += topic->tried;
  }
}

void tb__recorder_write_event(tb_recorder_t *recorder, tb__recorder_event_t event, int64_t at_ns,
                              const char *detail)
{
  static const char *const names[] = {"paused",      "resumed",        "split",  "snapshot",
                                      "disk_failed", "disk_recovered", "removed"};
  char key[64], value[TB__PROVENANCE_TEXT_SIZE];
  if (recorder->options.no_provenance || recorder->events == EVENTS_MAX) return;
  int length = snprintf(value, sizeof value, "at_ns=%lld event=%s messages=%llu", (long long)at_ns,
                        names[event], (unsigned long long)count_taken(recorder));
  if (event == TB__EVENT_PAUSED) recorder->paused_ns = at_ns;
  if (event == TB__EVENT_RESUMED && recorder->paused_ns > 0)
    length += snprintf(value + length, sizeof value - (size_t)length, " paused_ns=%lld",
                       (long long)(at_ns - recorder->paused_ns));
  if (detail && tb__yaml_can_hold(detail)) {
    int shown = (int)strnlen(detail, TB__EVENT_DETAIL_MAX);
    while (shown > 0 && ((unsigned char)detail[shown] & 0xC0) == 0x80)
      shown--; /* not within a character */
    snprintf(value + length, sizeof value - (size_t)length, " detail=%.*s", shown, detail);
  }
  snprintf(key, sizeof key, KEY("event.%u"), ++recorder->events);
  set_note(recorder, key, value);
}

static void write_loss(tb_recorder_t *recorder, const tb__recorder_topic_t *topic)
{
  uint64_t on_the_way = atomic_load(&topic->lost_on_the_way);
  uint64_t in_queue = atomic_load(&topic->lost_in_queue);
  uint64_t in_file = atomic_load(&topic->lost_in_file);
  char *key = NULL, value[TB__PROVENANCE_TEXT_SIZE];
  if (on_the_way + in_queue + in_file == 0) return;
  if (asprintf(&key, KEY("lost.%s"), topic->info.name) < 0) {
    fail_without_memory(recorder);
    return;
  }
  snprintf(value, sizeof value,
           "on_the_way=%llu in_queue=%llu in_file=%llu first_at_ns=%lld last_at_ns=%lld",
           (unsigned long long)on_the_way, (unsigned long long)in_queue,
           (unsigned long long)in_file, (long long)atomic_load(&topic->first_lost_ns),
           (long long)atomic_load(&topic->last_lost_ns));
  set_note(recorder, key, value);
  free(key);
}

void tb__recorder_write_losses(tb_recorder_t *recorder)
{
  if (recorder->options.no_provenance) return;
  for (size_t i = 0;; i++) {
    const tb__recorder_topic_t *topic = tb__recorder_topic(recorder, i);
    if (!topic) return;
    write_loss(recorder, topic);
  }
}

void tb__recorder_provenance_end(tb_recorder_t *recorder)
{
  char text[TB__PROVENANCE_TEXT_SIZE];
  if (recorder->options.no_provenance) return;
  sync_text(text);
  set_note(recorder, KEY("clock.end"), text);
  tb__recorder_write_losses(recorder);
}

void tb__recorder_lost(tb__recorder_topic_t *topic)
{
  int64_t now_ns = tb__system_now_ns(), none = 0;
  atomic_compare_exchange_strong(&topic->first_lost_ns, &none, now_ns);
  atomic_store(&topic->last_lost_ns, now_ns);
}
