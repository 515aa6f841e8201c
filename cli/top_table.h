/* What `timebase top` shows of what is observed: a copy, as text that does no harm on a terminal.
 */
#ifndef TB_CLI_TOP_TABLE_H
#define TB_CLI_TOP_TABLE_H

#include "observe.h"
#include "top_findings.h"

/* A publisher of a topic, or a topic without a message. */
typedef struct top_row {
  char *topic, *type, *node; /* node "": not known */
  char *words;               /* what is wrong: "zero 3, gaps 1", or "" */
  const char *definition;    /* static */
  uint8_t guid[16];          /* zeroes: there was no message */
  bool has_age;
  bool is_undefined; /* the definition of its type is not known (so far) */
  double rate_hz, jitter_ms, age_ms, age_p99_ms, travel_ms, longest_gap_ms;
  uint64_t messages, gaps, missed;
  uint64_t wrong; /* stamps */
} top_row_t;

typedef struct top_table {
  top_row_t *rows;
  size_t count, room;
  char *clock;
  char *paths[OBSERVE_PATHS_MAX];
  size_t path_count;
  size_t topics, silent, left_out;
  uint64_t unattributed;
  bool is_cut; /* memory was short */
} top_table_t;

/* Takes the second that has ended, and notes what is wrong in it. */
void top_table_update(top_table_t *table, observe_t *observe, top_findings_t *findings);
void top_table_fini(top_table_t *table);

#endif
