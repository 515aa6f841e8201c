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
  const tb__contract_limits_t *limits; /* of the topic */
  const char *owner;                   /* the node that publishes it; NULL: none is known */
  const char *base_cause;              /* what makes stamps of another time base; NULL: the owner */
  tb__time_base_t base;                /* that a manifest declares; 0: none */
  bool has_other_clock;                /* the owner follows one that was not listened to: no ages */
} judged_stamps_t;

/* All rules about the stamps of a stream. */
void stamp_findings_add(const judged_stamps_t *judged);

#endif
