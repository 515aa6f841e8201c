/* What the full screen of `timebase play` shows, as rows of text: it knows no terminal. */
#ifndef TB_CLI_PLAY_PICTURE_H
#define TB_CLI_PLAY_PICTURE_H

#include "play_control.h"
#include "play_log.h"
#include "play_rates.h"

#define PLAY_PICTURE_ROWS_MIN    6
#define PLAY_PICTURE_COLUMNS_MIN 30

typedef enum play_style {
  PLAY_PLAIN,
  PLAY_TITLE,
  PLAY_HEADING,
  PLAY_QUIET,
  PLAY_LOUD,
} play_style_t;

/* A topic that is played. */
typedef struct play_topic {
  size_t topic; /* of the bag */
  char *name;   /* does no harm on a terminal */
  uint64_t recorded, sent;
} play_topic_t;

typedef struct play_picture {
  const char *path;
  const play_topic_t *topics;
  size_t topic_count;
  tb_player_status_t status;
  play_control_t *control; /* its scroll position is corrected */
  const play_rates_t *rates;
  play_log_t *log;
  const char *clock_note; /* why the clock that is followed is stopped, or NULL */
  int64_t bag_start_ns;
  int64_t now_ns, since_ns; /* steady: now, and when playing began */
} play_picture_t;

/* `text` is one row, no wider than the screen. */
typedef void play_emit_t(void *user, int row, play_style_t style, const char *text);

void play_picture_draw(const play_picture_t *picture, int rows, int columns, play_emit_t *emit,
                       void *user);

/* Why time is stopped, "" if it is not; `clock_note`: of the clock that is followed, or NULL. */
const char *play_state_text(const tb_player_status_t *status, const char *clock_note);
/* "2" or "max". */
const char *play_rate_text(double rate, char *text, size_t size);

/* What of [from_ns, to_ns] has been played, in `width` columns, with A, B and the marks. */
void play_timeline(const play_picture_t *picture, char *out, int width);

/* At most `columns` of `text`; where it is longer "…" replaces the rest, or with `keeps_end`
 * the beginning. */
void play_fit(const char *text, int columns, bool keeps_end, char *out, size_t size);

#endif
