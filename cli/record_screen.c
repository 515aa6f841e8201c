#include "record_screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "text.h"

#define LOOK_NS      TB_NS_PER_S /* between two looks at how fast messages come */
#define NOTE_NS      (5 * TB_NS_PER_S)
#define NOTICE_NS    (20 * TB_NS_PER_S)
#define SCROLL_LINES 5
#define SMOOTHING    0.8 /* of the growth of the file, which is written in steps */

/* --- opening and closing --- */

/* Where that fails, one line it is. */
static void open_view(record_screen_t *screen)
{
  screen->shown_path = text_harmless(screen->path);
  if (!screen->shown_path) return;
  screen->view =
      screen_view_open(&screen->terminal, RECORD_PICTURE_ROWS_MIN, RECORD_PICTURE_COLUMNS_MIN);
  if (screen->view && !screen_log_open(&screen->log, screen->command)) {
    screen_view_close(screen->view);
    screen->view = NULL;
  }
}

void record_screen_open(record_screen_t *screen, const command_t *command, const char *path,
                        const record_screen_options_t *options)
{
  *screen = (record_screen_t){.command = command,
                              .path = path,
                              .options = *options,
                              .begin_ns = command_steady_ns(),
                              .growth = NAN,
                              .snapshot = -1};
  if (screen->options.cache_size == 0) screen->options.cache_size = TB_RECORDER_CACHE_SIZE;
  terminal_open(&screen->terminal);
  if (options->no_keyboard) terminal_close(&screen->terminal);
  if (!options->plain) open_view(screen);
}

void record_screen_close(record_screen_t *screen)
{
  screen_view_close(screen->view);
  screen->view = NULL;
  terminal_close(&screen->terminal);
  screen_log_close(&screen->log);
}

void record_screen_fini(record_screen_t *screen)
{
  record_screen_close(screen);
  for (size_t i = 0; i < screen->topic_count; i++)
    free(screen->topics[i].name);
  free(screen->topics);
  free(screen->shown_path);
}

/* --- the whole screen --- */

__attribute__((format(printf, 2, 3))) static void note(record_screen_t *screen, const char *format,
                                                       ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(screen->note, sizeof screen->note, format, args);
  va_end(args);
  screen->note_end_ns = command_steady_ns() + NOTE_NS;
}

/* Topics are only added. False: out of memory. */
static bool add_topics(record_screen_t *screen, size_t count)
{
  if (count <= screen->topic_count) return true;
  record_topic_t *topics = reallocarray(screen->topics, count, sizeof *topics);
  if (!topics) return false;
  for (size_t i = screen->topic_count; i < count; i++)
    topics[i] = (record_topic_t){.hz = NAN, .bytes_per_s = NAN};
  screen->topics = topics;
  screen->topic_count = count;
  return true;
}

static uint64_t came_of(const tb_recorder_topic_status_t *topic)
{
  return topic->written + topic->waiting + topic->lost_in_queue + topic->lost_in_file +
         topic->pushed_out;
}

static void look_at_topic(record_topic_t *topic, double seconds)
{
  uint64_t count = came_of(&topic->status), bytes = topic->status.bytes;
  if (seconds > 0 && count >= topic->count) {
    topic->hz = (double)(count - topic->count) / seconds;
    topic->bytes_per_s = (double)(bytes - topic->bytes) / seconds;
  }
  topic->count = count;
  topic->bytes = bytes;
}

/* A new file is smaller than the one before. */
static void look_at_file(record_screen_t *screen, uint64_t size, double seconds)
{
  if (seconds > 0 && size >= screen->file_size) {
    double growth = (double)(size - screen->file_size) / seconds;
    screen->growth =
        isnan(screen->growth) ? growth : SMOOTHING * screen->growth + (1 - SMOOTHING) * growth;
  }
  screen->file_size = size;
}

static void look(record_screen_t *screen, tb_recorder_t *recorder,
                 const tb_recorder_status_t *status)
{
  int64_t now_ns = command_steady_ns();
  bool is_due = now_ns - screen->looked_ns >= LOOK_NS;
  double seconds = screen->looked_ns > 0 ? (double)(now_ns - screen->looked_ns) / 1e9 : 0;
  if (!add_topics(screen, status->topic_count)) return;
  for (size_t i = 0; i < screen->topic_count; i++) {
    record_topic_t *topic = &screen->topics[i];
    if (tb_recorder_topic_status(recorder, i, &topic->status)) continue;
    if (!topic->name) topic->name = text_harmless(topic->status.name);
    if (is_due) look_at_topic(topic, seconds);
  }
  if (!is_due) return;
  look_at_file(screen, status->file_size, seconds);
  screen->looked_ns = now_ns;
}

static uint64_t disk_left(const char *path)
{
  struct statvfs disk;
  return statvfs(path, &disk) == 0 ? (uint64_t)disk.f_bavail * disk.f_frsize : UINT64_MAX;
}

static void take_snapshot_result(record_screen_t *screen)
{
  int result = atomic_exchange(&screen->snapshot, -1);
  if (result == TB_OK) note(screen, "what was held has been written");
  if (result > TB_OK) note(screen, "no snapshot: %s", tb_status_message((tb_status_t)result));
}

static bool has_names(const record_screen_t *screen)
{
  for (size_t i = 0; i < screen->topic_count; i++)
    if (!screen->topics[i].name) return false;
  return true;
}

static void show_view(record_screen_t *screen, tb_recorder_t *recorder,
                      const tb_recorder_status_t *status)
{
  int64_t now_ns = command_steady_ns();
  look(screen, recorder, status);
  take_snapshot_result(screen);
  record_picture_t picture = {
      .path = screen->shown_path,
      .status = *status,
      .topics = screen->topics,
      .topic_count = has_names(screen) ? screen->topic_count : 0,
      .snapshot_mode = screen->options.snapshot_mode,
      .cache_size = screen->options.cache_size,
      .growth = screen->growth,
      .disk_left = disk_left(screen->path),
      .elapsed_ns = now_ns - screen->begin_ns,
      .scrolled = &screen->scrolled,
      .note = now_ns < screen->note_end_ns ? screen->note : "",
      .log_since_ns = now_ns - NOTICE_NS,
      .log = &screen->log,
  };
  screen_view_show(screen->view, record_picture_draw, &picture);
}

/* --- keys --- */

static void on_snapshot(tb_status_t status, void *user)
{
  atomic_store(&((record_screen_t *)user)->snapshot, (int)status);
}

static void take_snapshot(record_screen_t *screen, tb_recorder_t *recorder)
{
  if (!screen->options.snapshot_mode) {
    note(screen, "there is nothing held: s is for --snapshot-mode");
    return;
  }
  tb_status_t status = tb_recorder_snapshot(recorder, on_snapshot, screen);
  if (status) note(screen, "no snapshot: %s", tb_status_message(status));
}

/* False: to end. */
static bool take_key(record_screen_t *screen, tb_recorder_t *recorder, int key)
{
  switch (key) {
  case 'q':
    return false;
  case ' ':
    if (tb_recorder_is_paused(recorder))
      tb_recorder_resume(recorder);
    else
      tb_recorder_pause(recorder);
    return true;
  case 's':
    take_snapshot(screen, recorder);
    return true;
  case KEY_PAGE_DOWN:
    screen->scrolled += SCROLL_LINES;
    return true;
  case KEY_PAGE_UP:
    screen->scrolled -= screen->scrolled < SCROLL_LINES ? screen->scrolled : SCROLL_LINES;
    return true;
  default:
    return true;
  }
}

bool record_screen_handle_input(record_screen_t *screen, tb_recorder_t *recorder)
{
  char bytes[64];
  size_t count = terminal_read(&screen->terminal, bytes, sizeof bytes);
  for (size_t i = 0; i < count; i++)
    if (!take_key(screen, recorder, keys_take(&screen->keys, bytes[i]))) return false;
  return true;
}

/* --- one line, and the end --- */

static uint64_t lost_of(const tb_recorder_topic_status_t *topic)
{
  return topic->lost_on_the_way + topic->lost_in_queue + topic->lost_in_file;
}

static const char *state_of(const tb_recorder_status_t *status)
{
  if (status->failing) return "  THE FILE CANNOT BE WRITTEN";
  if (status->waits_for_clock) return "  waiting for /clock";
  return status->paused ? "  paused (SPACE resumes)" : "";
}

/* "/a: 5 lost (2 on the way, 3 queue full), up to 7 sent before" */
static void print_topic(FILE *out, const tb_recorder_topic_status_t *topic)
{
  const struct {
    uint64_t count;
    const char *why;
  } losses[] = {{topic->lost_on_the_way, "on the way"},
                {topic->lost_in_queue, "queue full"},
                {topic->lost_in_file, "file could not be written"}};
  const char *separator = " (", *end = "";
  text_to(out, "%s: %" PRIu64 " lost", topic->name, lost_of(topic));
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
    if (losses[i].count == 0) continue;
    text_to(out, "%s%" PRIu64 " %s", separator, losses[i].count, losses[i].why);
    separator = ", ";
    end = ")";
  }
  text_to(out, "%s", end);
  if (topic->sent_before > 0)
    text_to(out, ", up to %" PRIu64 " sent before the first one recorded", topic->sent_before);
  text_to(out, "\n");
}

static void print_topics(FILE *out, tb_recorder_t *recorder, const char *before, bool is_end)
{
  tb_recorder_topic_status_t topic;
  for (size_t i = 0; tb_recorder_topic_status(recorder, i, &topic) == TB_OK; i++) {
    if (lost_of(&topic) == 0 && !(is_end && topic.sent_before > 0)) continue;
    text_to(out, "%s", before);
    print_topic(out, &topic);
  }
}

/* All that have lost anything, when there is more than before. */
static void report_losses(record_screen_t *screen, tb_recorder_t *recorder,
                          const tb_recorder_status_t *status)
{
  if (status->lost == screen->lost_reported) return;
  screen->lost_reported = status->lost;
  if (!screen->terminal.screen) print_topics(stderr, recorder, "timebase record: warning: ", false);
}

void record_screen_show(record_screen_t *screen, tb_recorder_t *recorder)
{
  char line[256];
  tb_recorder_status_t status;
  tb_recorder_status(recorder, &status);
  if (screen->view) {
    show_view(screen, recorder, &status);
    return;
  }
  report_losses(screen, recorder, &status);
  snprintf(line, sizeof line,
           "recorded %" PRIu64 " messages of %zu topic%s  lost %" PRIu64 "  %.1f MB in file %zu%s",
           status.written, status.topic_count, status.topic_count == 1 ? "" : "s", status.lost,
           (double)status.file_size / 1e6, status.file_count, state_of(&status));
  if (screen->terminal.screen)
    terminal_show(line);
  else
    text_out("%s\n", line);
}

void record_screen_summary(const record_screen_t *screen, tb_recorder_t *recorder)
{
  tb_recorder_status_t status;
  tb_recorder_status(recorder, &status);
  terminal_clear(&screen->terminal);
  text_out("%s: %" PRIu64 " message%s of %zu topic%s in %zu file%s", screen->path, status.written,
           status.written == 1 ? "" : "s", status.topic_count, status.topic_count == 1 ? "" : "s",
           status.file_count, status.file_count == 1 ? "" : "s");
  if (status.skipped_early > 0)
    text_out(", %" PRIu64 " skipped before the first tick of /clock", status.skipped_early);
  if (status.skipped_paused > 0)
    text_out(", %" PRIu64 " skipped while paused", status.skipped_paused);
  if (status.jumps > 0)
    text_out(", %" PRIu64 " jump%s back", status.jumps, status.jumps == 1 ? "" : "s");
  text_out(", %" PRIu64 " lost\n", status.lost);
  print_topics(stdout, recorder, "  ", true);
}
