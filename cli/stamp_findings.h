/* Findings about the stamps of one stream of messages, of a graph of either generation. */
#ifndef TB_CLI_STAMP_FINDINGS_H
#define TB_CLI_STAMP_FINDINGS_H

#include "contract/finding.h"
#include "contract/manifest.h"
#include "contract/stamps.h"

typedef struct judged_stamps {
  tb__findings_t *findings;
  const char *topic;
  const tb__stamps_t *stamps;
  int64_t age_min_ns;     /* of the topic's limits: an age below it is an error */
  const char *owner;      /* the node that publishes it; NULL: none is known */
  const char *base_cause; /* what makes stamps of another time base; NULL: the owner */
  tb__time_base_t base;   /* that a manifest declares; 0: none */
} judged_stamps_t;

/* stamp-zero, stamp-other-domain, stamp-future, stamp-old, stamp-backward, stale-epoch. */
void stamp_findings_add(const judged_stamps_t *judged);

#endif
