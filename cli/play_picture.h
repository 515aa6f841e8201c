/* What the full screen of `timebase play` shows, as rows of text: it knows no terminal. */
#ifndef TB_CLI_PLAY_PICTURE_H
#define TB_CLI_PLAY_PICTURE_H

#include "play_control.h"
#include "play_density.h"
#include "play_rates.h"
#include "play_table.h"
#include "screen_log.h"
#include "screen_text.h"

#define PLAY_PICTURE_ROWS_MIN    6
#define PLAY_PICTURE_COLUMNS_MIN 30

typedef struct play_picture {
  const char *path;
  const play_topic_t *topics;
  size_t topic_count;
  const size_t *order; /* of those that are shown: play_table_order */
  size_t shown_count;
  const play_density_t *density; /* NULL: none is shown */
  bool holds;                    /* at its end it waits, and a seek leads back */
  tb_player_status_t status;
  play_control_t *control; /* its scroll position and cursor are corrected */
  const play_rates_t *rates;
  screen_log_t *log;
  const char *clock_note; /* why the clock that is followed is stopped, or NULL */
  int64_t bag_start_ns;
  int64_t now_ns, since_ns; /* steady: now, and when playing began */
} play_picture_t;

/* Of a play_picture_t. */
void play_picture_draw(const void *of_picture, int rows, int columns, screen_emit_t *emit,
                       void *user);

#define PLAY_AT_END "at the end (0, arrows: back; q: quit)"

/* Where in the recording the timeline is at this place, counted from 1: 0 to 1; negative: there is
 * no timeline. */
double play_picture_part_at(int row, int column, int columns);

/* Why time is stopped, "" if it is not; `clock_note`: of the clock that is followed, or NULL. */
const char *play_state_text(const tb_player_status_t *status, const char *clock_note);
/* "2" or "max". */
const char *play_rate_text(double rate, char *text, size_t size);

/* What of [from_ns, to_ns] has been played, in `width` columns, with A, B and the marks. */
void play_timeline(const play_picture_t *picture, char *out, int width);

#endif
