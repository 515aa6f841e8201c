/* What is wrong: findings of rules, grouped by rule and by the node that is held responsible, with
 * their evidence. The same for a live graph and for a recording. Not for several threads. */
#ifndef TB_CONTRACT_FINDING_H
#define TB_CONTRACT_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

#include "contract/rules.h"

#define TB__FINDING_SUBJECTS_MAX 1000 /* kept of each rule; the others are counted */
#define TB__FINDING_EVIDENCE_MAX 8    /* lines kept of each subject */
#define TB__FINDING_LINE_SIZE    512  /* of a line of evidence, with its NUL */
#define TB__FINDING_NAME_SIZE    1024 /* of a name, with its NUL; what is longer is cut */
#define TB__FINDING_TEXT_SIZE    4096 /* enough for tb__finding_text */

typedef enum tb__subject_kind {
  TB__SUBJECT_NODE,
  TB__SUBJECT_TOPIC,
  TB__SUBJECT_CLOCK, /* "/clock" */
  TB__SUBJECT_FRAME, /* of tf: "odom", or an edge "map -> odom" */
  TB__SUBJECT_HOST,
  TB__SUBJECT_PROCESS, /* a participant whose nodes are not known */
  TB__SUBJECT_RECORDING,
  TB__SUBJECT_PARAMETER, /* of ROS 1: "/use_sim_time" */
} tb__subject_kind_t;

/* What is added. Texts are copied; they may be of others, and any bytes. */
typedef struct tb__finding_input {
  tb__rule_id_t rule;
  tb__severity_t severity; /* 0: that of the rule */
  tb__subject_kind_t kind;
  const char *subject; /* its name */
  const char *cause;   /* the name of the node, or /clock, held responsible; NULL: none is known */
  const char *detail;  /* what fills {detail} in the rule's texts; NULL: nothing */
} tb__finding_input_t;

typedef struct tb__finding_subject {
  tb__subject_kind_t kind;
  tb__severity_t severity;
  char *name;
  char *detail; /* may be NULL */
  char *evidence[TB__FINDING_EVIDENCE_MAX];
  size_t evidence_count;
  uint64_t evidence_dropped; /* lines that were too many */
  uint64_t hash;
} tb__finding_subject_t;

/* One rule on all the subjects that one cause has. */
typedef struct tb__finding {
  tb__rule_id_t id;
  const tb__rule_t *rule;
  bool is_ros1;                    /* of a graph of ROS 1: see tb__finding_remedies */
  tb__severity_t severity;         /* the gravest of its subjects */
  char *cause;                     /* may be NULL */
  tb__finding_subject_t *subjects; /* at least one; by name once finished */
  size_t subject_count, subject_capacity;
  uint64_t more; /* subjects that were not kept */
  /* Once finished: */
  struct tb__finding *below;         /* the finding that is its cause; NULL: none */
  const struct tb__finding **caused; /* folded below it */
  size_t caused_count;
} tb__finding_t;

typedef struct tb__findings tb__findings_t;

TB_PRIVATE_API tb__findings_t *tb__findings_create(void) TB_WARN_UNUSED; /* NULL: no memory */
TB_PRIVATE_API void tb__findings_destroy(tb__findings_t *findings);      /* accepts NULL */

/* What is added is of a graph of ROS 1. To be called before tb__findings_add. */
TB_PRIVATE_API void tb__findings_of_ros1(tb__findings_t *findings);

/* What is judged is a replay beside what was played: the rules from TB__RULE_REPLAY_MISSING on, and
 * not the others. */
TB_PRIVATE_API void tb__findings_of_replay(tb__findings_t *findings);
TB_PRIVATE_API bool tb__findings_is_judged(const tb__findings_t *findings, tb__rule_id_t rule);

/* Findings of the rule are counted and not kept. `reason` is copied. To be called before
 * tb__findings_add. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__findings_switch_off(tb__findings_t *findings, tb__rule_id_t rule,
                                                   const char *reason);
/* Why the rule is off for a subject; NULL: it is on. */
typedef const char *(*tb__finding_off_fn)(void *user, tb__rule_id_t rule, const char *subject);

/* Findings of subjects for which `is_off` returns a reason are counted and not kept. To be called
 * before tb__findings_add; NULL: none. */
TB_PRIVATE_API void tb__findings_ask_off(tb__findings_t *findings, tb__finding_off_fn is_off,
                                         void *user);
/* The rule is off for some subjects, by tb__findings_ask_off: the reason is kept to be shown.
 * TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__findings_switch_off_some(tb__findings_t *findings,
                                                        tb__rule_id_t rule, const char *reason);
/* Why the rule is off for all subjects, or for some (*out_some, may be NULL); NULL: it is on. */
TB_PRIVATE_API const char *tb__findings_off(const tb__findings_t *findings, tb__rule_id_t rule,
                                            bool *out_some, uint64_t *out_count);
/* How grave what is added is, whatever its rule has; *severity is that on entry. Returns why it was
 * changed, which is added as evidence, or NULL: it was not. */
typedef const char *(*tb__finding_severity_fn)(void *user, const tb__finding_input_t *input,
                                               tb__severity_t *severity);
/* To be called before tb__findings_add; NULL: none. */
TB_PRIVATE_API void tb__findings_ask_severity(tb__findings_t *findings,
                                              tb__finding_severity_fn severity, void *user);
/* The reason, or NULL: the rule is on. *out_count (may be NULL): how many were not kept. */
TB_PRIVATE_API const char *tb__findings_switched_off(const tb__findings_t *findings,
                                                     tb__rule_id_t rule, uint64_t *out_count);

/* Adds one fact with its first line of evidence. A subject that the rule and the cause have already
 * gets another line. TB_ERR_NO_MEMORY: it is lost, and tb__findings_finish reports it. */
TB_PRIVATE_API tb_status_t tb__findings_add(tb__findings_t *findings,
                                            const tb__finding_input_t *input, const char *format,
                                            ...) TB_PRINTF(3, 4);
/* A further line of evidence of the subject that was added last. A line that it has already is
 * dropped. */
TB_PRIVATE_API tb_status_t tb__findings_add_evidence(tb__findings_t *findings, const char *format,
                                                     ...) TB_PRINTF(2, 3);

/* Sorts and folds: the gravest first, then by rule. Afterwards nothing is added.
 * TB_ERR_NO_MEMORY: now or earlier. */
TB_PRIVATE_API tb_status_t tb__findings_finish(tb__findings_t *findings) TB_WARN_UNUSED;

/* Of a finished one: all findings, those first that are below no other. */
TB_PRIVATE_API size_t tb__findings_count(const tb__findings_t *findings);
TB_PRIVATE_API const tb__finding_t *tb__findings_at(const tb__findings_t *findings, size_t index);
/* How many there are of a severity, folded ones included; 0: of any. */
TB_PRIVATE_API size_t tb__findings_count_of(const tb__findings_t *findings,
                                            tb__severity_t severity);
/* The gravest, 0: there is none. */
TB_PRIVATE_API tb__severity_t tb__findings_gravest(const tb__findings_t *findings);

/* Subjects with those that were not kept. */
TB_PRIVATE_API uint64_t tb__finding_subject_count(const tb__finding_t *finding);
/* "node", "topic", "clock", "frame", "host", "process", "recording", "parameter". */
TB_PRIVATE_API const char *tb__subject_kind_name(tb__subject_kind_t kind);

/* What to do, in the commands and launch files of the graph that it is of. */
TB_PRIVATE_API tb__remedies_t tb__finding_remedies(const tb__finding_t *finding);
/* Writes a text of the finding's rule with its places filled in, as snprintf does. Names of others
 * are as they came: escape them. In a remedy, a command for a shell, is `is_command` true: names
 * that have other characters than those of ROS names are quoted. */
TB_PRIVATE_API size_t tb__finding_text(const tb__finding_t *finding, const char *text,
                                       bool is_command, char *buffer, size_t size);
/* rule->one or rule->many, filled in. */
TB_PRIVATE_API size_t tb__finding_title(const tb__finding_t *finding, char *buffer, size_t size);

#endif
