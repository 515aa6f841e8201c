/* The inside of a report, for the files that make its page. */
#ifndef TB_CONTRACT_REPORT_PARTS_H
#define TB_CONTRACT_REPORT_PARTS_H

#include "contract/report.h"
#include "contract/series.h"
#include "contract/svg.h"

#define TB__REPORT_NAME_SHOWN 256  /* characters of a name or a type */
#define TB__REPORT_LINE_SHOWN 1024 /* characters of any other text */

struct tb__report_topic {
  char *name, *type;
  uint64_t messages;
  uint32_t round;            /* of the axis, that those below are of */
  uint64_t placed;           /* messages on the axis */
  int64_t first_ns, last_ns; /* times of these */
  tb__counts_t counts;
  tb__bands_t *ages, *intervals; /* NULL: none yet */
  const tb__stamps_t *stamps;    /* borrowed; may be NULL */
  bool is_lost;                  /* memory ran out: there are no pictures */
};

typedef struct tb__report_jump {
  int64_t time_ns, from_ns, to_ns;
} tb__report_jump_t;

typedef struct tb__report_clock {
  bool is_there, has_last;
  uint32_t round; /* of the axis, that the last tick is of */
  int64_t last_time_ns, last_tick_ns;
  uint64_t ticks, jumps;
  tb__report_jump_t *kept; /* TB__REPORT_JUMPS_MAX of them; NULL: there was no jump */
  size_t kept_count;
  tb__beats_t beats;
  char *no_factor; /* may be NULL */
} tb__report_clock_t;

struct tb__report {
  char *title, *time_name;
  struct {
    char *key, *value;
  } facts[TB__REPORT_FACTS_MAX];
  size_t fact_count;
  tb__report_topic_t *topics[TB__REPORT_TOPICS_MAX];
  size_t topic_count;
  uint64_t topics_more, messages_more; /* that there was no room for */
  tb__axis_t axis;
  tb__report_clock_t clock;
  bool is_lost;
};

/* What findings have on a topic. */
typedef struct tb__verdict {
  const char *name;
  tb__severity_t severity;
  size_t number; /* of the finding, from 1 on */
} tb__verdict_t;

/* The section of findings. `is_shown[i]`: finding i has a place in the page. */
void tb__report_write_findings(tb__markup_t *page, const tb__findings_t *findings, bool *is_shown);
/* "error", "warning" or "note", in its colour. */
void tb__report_write_badge(tb__markup_t *page, tb__severity_t severity);

/* The section of /clock. */
void tb__report_write_clock(tb__markup_t *page, tb__report_t *report, const tb__frame_t *frame);

/* The sections of topics. `verdicts` are sorted by name, the gravest first. */
void tb__report_write_topics(tb__markup_t *page, tb__report_t *report, const tb__frame_t *frame,
                             const tb__verdict_t *verdicts, size_t verdict_count);

extern const char tb__report_style[];

#endif
