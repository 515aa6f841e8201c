/* Findings (src/contract/finding.h) as text and as JSON, for the commands that judge time. */
#ifndef TB_CLI_FINDINGS_H
#define TB_CLI_FINDINGS_H

#include <jansson.h>
#include <stdio.h>

#include "command.h"
#include "contract/finding.h"

/* Of a finished one, to standard output: each with its evidence, consequence and remedies, and what
 * it causes below it; then the rules that are switched off. Nothing where there is nothing. */
void findings_print(const tb__findings_t *findings);

/* One in a line: its severity, its rule, what it is and the command of ROS against it. */
void findings_print_line(FILE *out, const tb__finding_t *finding);

/* "2 errors, 1 warning", "no findings". Notes are named only where there are some. */
void findings_print_counts(const tb__findings_t *findings);

/* An array; each has "rule", "severity", "title", "cause" (a name, or null), "count", "subjects",
 * "consequence", "remedy" and "caused", an array of the same. Subjects have "kind", "name",
 * "severity", "evidence" and "evidence_dropped". */
json_t *findings_json(const tb__findings_t *findings);
/* {"error": 1, "warn": 0, "note": 0}. */
json_t *findings_counts_json(const tb__findings_t *findings);
/* An array of "rule", "reason" and "count". */
json_t *findings_off_json(const tb__findings_t *findings);

/* All rules, as a table in Markdown: id, severity, what it finds, what follows from it. */
void findings_print_rules(void);

/* The value of --fail-on: "warn" or "error". */
bool findings_parse_fail_on(const command_t *command, const char *text, tb__severity_t *out);
/* EXIT_CHECK if the gravest is as grave as that, else EXIT_OK. */
int findings_status(const tb__findings_t *findings, tb__severity_t fail_on);

#endif
