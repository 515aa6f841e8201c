#include "record_screen.h"

#include <inttypes.h>
#include <stdio.h>

#include "text.h"

void record_screen_open(record_screen_t *screen, const char *path)
{
  *screen = (record_screen_t){.path = path};
  terminal_open(&screen->terminal);
}

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

/* "/a: 5 lost (2 on the way, 3 queue full)" */
static void print_topic(FILE *out, const tb_recorder_topic_status_t *topic)
{
  const struct {
    uint64_t count;
    const char *why;
  } losses[] = {{topic->lost_on_the_way, "on the way"},
                {topic->lost_in_queue, "queue full"},
                {topic->lost_in_file, "file could not be written"}};
  const char *separator = " (";
  text_to(out, "%s: %" PRIu64 " lost", topic->name, lost_of(topic));
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
    if (losses[i].count == 0) continue;
    text_to(out, "%s%" PRIu64 " %s", separator, losses[i].count, losses[i].why);
    separator = ", ";
  }
  text_to(out, ")\n");
}

static void print_topics(FILE *out, tb_recorder_t *recorder, const char *before)
{
  tb_recorder_topic_status_t topic;
  for (size_t i = 0; tb_recorder_topic_status(recorder, i, &topic) == TB_OK; i++) {
    if (lost_of(&topic) == 0) continue;
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
  if (!screen->terminal.screen) print_topics(stderr, recorder, "timebase record: warning: ");
}

void record_screen_show(record_screen_t *screen, tb_recorder_t *recorder)
{
  char line[256];
  tb_recorder_status_t status;
  tb_recorder_status(recorder, &status);
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
  print_topics(stdout, recorder, "  ");
}
