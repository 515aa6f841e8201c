/* What `timebase top` has found, latest first: one line for each kind of fault and what has it. */
#ifndef TB_CLI_TOP_FINDINGS_H
#define TB_CLI_TOP_FINDINGS_H

#include "contract/rules.h"
#include "observe.h"
#include "observe_rows.h"

#define TOP_FINDINGS_MAX 200 /* the latest ones */

typedef struct top_finding {
  int64_t system_ns; /* when it was seen last, to a second */
  char *id;          /* of the fault: that of the rule where there is one */
  char *subject;     /* escaped */
  char *text;        /* what was seen of it, escaped */
  tb__severity_t severity;
} top_finding_t;

typedef struct top_findings {
  top_finding_t list[TOP_FINDINGS_MAX]; /* the latest one last */
  size_t count;
  int64_t system_ns; /* of the second that is taken */
  uint64_t noted_clock[8];
  tb__path_state_t noted_paths[OBSERVE_PATHS_MAX];
} top_findings_t;

/* Of a publisher, of /clock and of the paths: what is new since the last call. */
void top_findings_note_row(top_findings_t *findings, const observe_row_t *row);
void top_findings_note_clock(top_findings_t *findings, observe_t *observe);
void top_findings_note_paths(top_findings_t *findings, observe_t *observe);

/* The last one but `back`. NULL: there is none. */
const top_finding_t *top_findings_get(const top_findings_t *findings, size_t back);
void top_findings_fini(top_findings_t *findings);

#endif
