/* What the audit prints. */
#ifndef TB_CLI_AUDIT_REPORT_H
#define TB_CLI_AUDIT_REPORT_H

#include "audit.h"

/* Findings, and one line of what was looked at. */
void audit_report_text(const audit_t *audit);
/* One object. EXIT_OK, or a message has been printed. */
int audit_report_json(const audit_t *audit);

/* Of --watch: what there was in the round before. */
typedef struct audit_changes {
  char **keys;
  char **titles;
  size_t count;
  uint64_t rounds;
} audit_changes_t;

/* The first time all, then what has come ("+") and gone ("-"); in JSON an object for each round in
 * which something has. EXIT_OK, or a message has been printed. */
int audit_report_changes(const audit_t *audit, audit_changes_t *changes, bool json);
void audit_changes_fini(audit_changes_t *changes);

#endif
