/* What the audit makes of the system clocks of hosts. */
#ifndef TB_CLI_AUDIT_HOSTS_H
#define TB_CLI_AUDIT_HOSTS_H

#include "json.h"

struct audit;

/* Findings: nodes on hosts whose clock is off. */
void audit_hosts_find(struct audit *audit);
/* A line of how this host's clock is, and how far the others are from it. */
void audit_hosts_print(const struct audit *audit);
/* {"synchronized": B, "max_error_ns": N or null} */
json_t *audit_hosts_local_json(void);
/* A list of processes. */
json_t *audit_hosts_json(const struct audit *audit);

#endif
