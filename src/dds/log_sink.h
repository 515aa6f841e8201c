/* Cyclone's own messages on their way to the log hook. */
#ifndef TB_DDS_LOG_SINK_H
#define TB_DDS_LOG_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Messages of Cyclone go to the log hook from the first acquire to the last release; after it they
 * go to stderr again. */
void tb__dds_log_acquire(void);
void tb__dds_log_release(void);

/* A secured participant that goes may hear its own last announcement when Cyclone does not know it
 * any more, and Cyclone warns of it as of a stranger. From leave to left such a warning is dropped.
 */
typedef struct tb__dds_leaving {
  struct tb__dds_leaving *next;
  char text[96];
} tb__dds_leaving_t;

void tb__dds_log_leave(tb__dds_leaving_t *leaving, const uint8_t guid[16]);
void tb__dds_log_left(tb__dds_leaving_t *leaving);

/* What Cyclone says on one thread, held back: Cyclone is called under a lock there. */
typedef struct tb__dds_log_capture {
  char lines[4096]; /* per message: the level as one byte, text, NUL */
  size_t used;
} tb__dds_log_capture_t;

/* From begin to stop the calling thread's messages go to *capture; replay hands them to the log
 * hook: call it with no lock held. */
void tb__dds_log_capture_begin(tb__dds_log_capture_t *capture);
void tb__dds_log_capture_stop(void);
void tb__dds_log_capture_replay(const tb__dds_log_capture_t *capture);

/* The first captured message that contains `part`; NULL if none does. */
const char *tb__dds_log_capture_find(const tb__dds_log_capture_t *capture, const char *part);

/* The last message at warning level or above; NULL if there was none. */
const char *tb__dds_log_capture_last(const tb__dds_log_capture_t *capture);

#endif
