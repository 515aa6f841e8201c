#include "play_gap.h"

#include <stdio.h>
#include <stdlib.h>
#include <timebase/time.h>

#include "text.h"

#define SHOWN_S    10
#define REPORTED_S 3600
#define DAY_S      86400

/* Until the next message, at the present rate. */
static double wall_s(const tb_player_status_t *status)
{
  bool flows = !status->paused && !status->halted && !status->finished && !status->waits_for[0];
  bool goes_back = status->repeat_to_ns > 0 && status->next_ns > status->repeat_to_ns;
  if (!flows || goes_back || status->next_ns <= status->position_ns) return 0;
  return (double)(status->next_ns - status->position_ns) / 1e9 / status->rate;
}

static void print_span(FILE *out, double seconds)
{
  long long whole_s = (long long)seconds;
  if (seconds >= 2 * DAY_S)
    text_to(out, "%.0f days", seconds / DAY_S);
  else
    text_to(out, "%lld:%02lld:%02lld", whole_s / 3600, whole_s / 60 % 60, whole_s % 60);
}

const char *play_gap_text(const tb_player_status_t *status, char out[PLAY_GAP_TEXT_SIZE])
{
  double seconds = wall_s(status);
  out[0] = '\0';
  FILE *stream = seconds >= SHOWN_S ? fmemopen(out, PLAY_GAP_TEXT_SIZE, "w") : NULL;
  if (!stream) return "";
  text_to(stream, "next message in ");
  print_span(stream, seconds);
  fclose(stream);
  return out;
}

static void print_message(FILE *out, const tb_player_status_t *status, const tb_bag_info_t *info)
{
  char date[TB_TIME_TEXT_SIZE];
  const tb_time_t time = {status->next_ns, TB_TIME_ROS};
  text_to(out, "the next message, on ");
  text_to(out, "%s", info->topics[status->next_topic].name);
  text_to(out, " of ");
  text_to(out, "%s", info->files[status->next_file]);
  if (tb_time_format(time, date, sizeof date) == TB_OK) text_to(out, ", is at %s", date);
}

char *play_gap_warning(const tb_player_status_t *status, const tb_bag_info_t *info,
                       int64_t *reported_ns)
{
  char *text = NULL;
  size_t size;
  double seconds = wall_s(status);
  if (seconds <= REPORTED_S || status->next_ns == *reported_ns) return NULL;
  *reported_ns = status->next_ns;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return NULL;
  text_to(stream, "no message for ");
  print_span(stream, seconds);
  text_to(stream, ": ");
  print_message(stream, status, info);
  text_to(stream,
          ". To skip the gap: --start-offset %llds, or on a terminal the keys SPACE . SPACE",
          (long long)((status->next_ns - status->recording_start_ns) / TB_NS_PER_S));
  if (fclose(stream) == 0) return text;
  free(text);
  return NULL;
}
