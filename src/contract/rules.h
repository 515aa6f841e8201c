/* The rules of the runtime contract: what can be wrong with the time of a graph or of a recording,
 * one row each. docs/contract.md lists them; ids never change. */
#ifndef TB_CONTRACT_RULES_H
#define TB_CONTRACT_RULES_H

#include <stdbool.h>

#include "base/private_api.h"

typedef enum tb__severity {
  TB__SEVERITY_NOTE = 1, /* what could not be judged; fails nothing */
  TB__SEVERITY_WARN,
  TB__SEVERITY_ERROR,
} tb__severity_t;

/* In the order of explanation: where several rules could be the cause of a finding, the first one
 * is. */
typedef enum tb__rule_id {
  TB__RULE_SIM_TIME_TYPE,
  TB__RULE_SIM_TIME_UNSET,
  TB__RULE_CLOCK_MISSING,
  TB__RULE_MIXED_TIME_BASE,
  TB__RULE_MIXED_SHARED_TIME,
  TB__RULE_SHARED_TIME_STOPPED,
  TB__RULE_TIME_BASE_DECLARED,
  TB__RULE_NODE_MISSING,
  TB__RULE_CLOCK_DECLARED,
  TB__RULE_CLOCK_TWO_PUBLISHERS,
  TB__RULE_CLOCK_TWO_STREAMS,
  TB__RULE_CLOCK_QOS,
  TB__RULE_NO_CLOCK_RECEIVED,
  TB__RULE_CLOCK_STALL,
  TB__RULE_CLOCK_BACKWARDS,
  TB__RULE_CLOCK_ZERO,
  TB__RULE_CLOCK_INVALID,
  TB__RULE_CLOCK_GAP,
  TB__RULE_CLOCK_RATE,
  TB__RULE_CLOCK_ERROR,
  TB__RULE_SYSTEM_STEP,
  TB__RULE_LOG_TIME_RANGE,
  TB__RULE_RECORDING_SILENT,
  TB__RULE_HOST_OFFSET,
  TB__RULE_ACTIVE_BEFORE_CLOCK,
  TB__RULE_STAMP_ZERO,
  TB__RULE_STAMP_INVALID,
  TB__RULE_STAMP_OTHER_DOMAIN,
  TB__RULE_STAMP_DECLARED,
  TB__RULE_STAMP_OFFSET,
  TB__RULE_STAMP_FUTURE,
  TB__RULE_STAMP_OLD,
  TB__RULE_STAMP_BACKWARD,
  TB__RULE_STAMP_REPEATED,
  TB__RULE_STAMP_WHOLE_SECONDS,
  TB__RULE_STALE_EPOCH,
  TB__RULE_RECEIPT_STAMPED,
  TB__RULE_TOPIC_RATE,
  TB__RULE_TOPIC_DECLARED,
  TB__RULE_TOPIC_TWO_TYPES,
  TB__RULE_TF_TWO_PUBLISHERS,
  TB__RULE_TF_LATE,
  TB__RULE_TF_OLD_EPOCH,
  TB__RULE_MISSING_EVIDENCE,
  TB__RULE_MESSAGES_LOST,
  TB__RULE_RECORDING_PAUSED,
  TB__RULE_RECORDER_UNSYNCHRONIZED,
  TB__RULE_LOG_EVIDENCE,
  TB__RULE_NODE_UNANNOUNCED,
  TB__RULE_NODE_UNREACHABLE,
  TB__RULE_NODE_NAME_SHARED,
  TB__RULE_TIME_BASE_UNKNOWN,
  TB__RULE_DEFINITION_UNKNOWN,
  TB__RULE_REPLAY_MISSING, /* from here on: of a replay beside what was played */
  TB__RULE_REPLAY_EXTRA,
  TB__RULE_REPLAY_REORDERED,
  TB__RULE_COUNT
} tb__rule_id_t;

/* Texts have places, filled in by tb__finding_text (finding.h): {subject} the first subject,
 * {subjects} the first ones with spaces, {list} the same with commas and how many more, {count},
 * {of} " of CAUSE" or nothing, {detail} what the finding adds. */
typedef struct tb__rule {
  const char *id;
  tb__severity_t severity; /* unless a finding has its own */
  bool is_cause;           /* findings that name its subject as their cause are folded below it */
  const char *one, *many;  /* what was found, of one subject and of several */
  const char *consequence;
  const char *remedy_ros;      /* a command of ROS 2; never NULL */
  const char *remedy_timebase; /* ours; never NULL */
  const char *remedy_launch;   /* what makes it last: a line of a launch file or of a program */
} tb__rule_t;

/* What to do on a graph of ROS 1, in place of the rule's own. */
typedef struct tb__remedies {
  const char *remedy_ros;      /* a command of ROS 1 */
  const char *remedy_timebase; /* see above; the same texts as those of the rule */
  const char *remedy_launch;   /* a line of a launch file of ROS 1 */
} tb__remedies_t;

/* NULL: the rule's own are right there too. */
TB_PRIVATE_API const tb__remedies_t *tb__rule_ros1(tb__rule_id_t id);

/* Never NULL. */
TB_PRIVATE_API const tb__rule_t *tb__rule(tb__rule_id_t id);

/* The rule of that id ("mixed-time-base"). False: there is none. */
TB_PRIVATE_API bool tb__rule_find(const char *id, tb__rule_id_t *out);

/* "note", "warn", "error". */
TB_PRIVATE_API const char *tb__severity_name(tb__severity_t severity);

#endif
