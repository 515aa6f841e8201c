/* What comes and goes among findings, for audits that go on (--watch). */
#ifndef TB_CLI_FINDINGS_CHANGES_H
#define TB_CLI_FINDINGS_CHANGES_H

#include "findings.h"

/* What there was in the round before. Begin with {0}. */
typedef struct findings_changes {
  char **keys;
  char **titles;
  size_t count;
  uint64_t rounds;
} findings_changes_t;

/* A round as a whole. */
typedef struct findings_report {
  const command_t *command;
  void (*text)(const void *user); /* prints it */
  json_t *(*json)(const void *user);
  const void *user;
} findings_report_t;

/* The first time all, then what has come ("+") and gone ("-"); in JSON an object for each round in
 * which something has. EXIT_OK, or a message has been printed. */
int findings_changes_report(findings_changes_t *changes, const findings_report_t *report,
                            const tb__findings_t *findings, bool json);
void findings_changes_fini(findings_changes_t *changes);

#endif
