/* What the audit prints. */
#ifndef TB_CLI_AUDIT_REPORT_H
#define TB_CLI_AUDIT_REPORT_H

#include "audit.h"
#include "findings_changes.h"

/* Findings, and one line of what was looked at. */
void audit_report_text(const audit_t *audit);
/* One object. EXIT_OK, or a message has been printed. */
int audit_report_json(const audit_t *audit);

/* Both, for findings_changes_report; `audit` outlives it. */
findings_report_t audit_report_of(const audit_t *audit);

#endif
