/* What `timebase check` has found out about a recording, and how it is printed. */
#ifndef TB_CLI_CHECK_H
#define TB_CLI_CHECK_H

#include <jansson.h>

#include "command.h"
#include "contract/recording.h"

typedef struct check_result {
  const char *path;
  const tb__recording_t *recording;
  const tb__findings_t *findings;
  const char *damage;   /* the first part that could not be read, or NULL */
  uint64_t unread;      /* how many there were */
  const char *manifest; /* where the manifest is from, or NULL: there is none */
} check_result_t;

void check_print(const check_result_t *result);
/* A whole object. */
json_t *check_json(const check_result_t *result);

/* Topics whose messages are evidence after an incident; `index` from 0 on, NULL: no more. */
const char *check_evidence(size_t index);
bool check_has_evidence(const tb__recording_t *recording, const char *name);
/* What the stamps of a topic are, by most of them: "ROS time", "system time", "zero", "unknown
 * time"; *out_share (0 to 1) is how many. NULL: it has no stamps. */
const char *check_stamps_are(const tb__recording_t *recording, uint32_t topic, double *out_share);

#endif
