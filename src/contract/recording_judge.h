/* What the parts of tb__recording_judge share. */
#ifndef TB_CONTRACT_RECORDING_JUDGE_H
#define TB_CONTRACT_RECORDING_JUDGE_H

#include "contract/recording.h"

typedef struct tb__recording_judge {
  const tb__recording_t *recording;
  tb__findings_t *findings;
  tb_status_t status; /* the first failure */
} tb__recording_judge_t;

/* Unless the manifest has switched the rule off for the subject. */
void tb__recording_judge_add(tb__recording_judge_t *judge, const tb__finding_input_t *input,
                             const char *format, ...) TB_PRINTF(3, 4);
void tb__recording_judge_clock(tb__recording_judge_t *judge);
/* Steps of the system clock, silences, log times that cannot be. */
void tb__recording_judge_log_times(tb__recording_judge_t *judge);

#endif
