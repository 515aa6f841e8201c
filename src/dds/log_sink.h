/* Passes Cyclone's own messages to the log hook. */
#ifndef TB_DDS_LOG_SINK_H
#define TB_DDS_LOG_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dds/guid.h"

/* Messages of Cyclone go to the log hook from the first acquire to the last release, afterwards to
 * stderr again. */
void tb__dds_log_acquire(void);
void tb__dds_log_release(void);

/* A secured participant that is being deleted may receive its own last announcement when Cyclone no
 * longer knows it, and Cyclone warns as for an unknown participant. From leave to left such a
 * warning is dropped. */
typedef struct tb__dds_leaving {
  struct tb__dds_leaving *next;
  char text[96];
} tb__dds_leaving_t;

void tb__dds_log_leave(tb__dds_leaving_t *leaving, const tb__guid_t *guid);
void tb__dds_log_left(tb__dds_leaving_t *leaving);

/* Messages of Cyclone on one thread, kept back because Cyclone is called under a lock there. */
typedef struct tb__dds_log_capture {
  char lines[4096]; /* per message: the level as one byte, text, NUL */
  size_t used;
} tb__dds_log_capture_t;

/* From begin to stop the messages of the calling thread go to *capture. Replay passes them to the
 * log hook, and is called with no lock held. */
void tb__dds_log_capture_begin(tb__dds_log_capture_t *capture);
void tb__dds_log_capture_stop(void);
void tb__dds_log_capture_replay(const tb__dds_log_capture_t *capture);

/* The first captured message that contains `part`; NULL if none does. */
const char *tb__dds_log_capture_find(const tb__dds_log_capture_t *capture, const char *part);

/* The last message at warning level or above; NULL if there was none. */
const char *tb__dds_log_capture_last(const tb__dds_log_capture_t *capture);

#endif
