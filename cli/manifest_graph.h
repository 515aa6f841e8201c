/* What a live graph shows of what a manifest declares, for a draft. */
#ifndef TB_CLI_MANIFEST_GRAPH_H
#define TB_CLI_MANIFEST_GRAPH_H

#include "audit.h"
#include "contract/manifest_draft.h"

/* Looks at the graph as the audit does: nodes, what they answer, and the ticks of /clock. EXIT_OK,
 * or a message was printed; audit_close it either way. */
int manifest_graph_open(const command_t *command, const graph_options_t *options, audit_t *out);

/* Whether there is a node, or a publisher of /clock. */
bool manifest_graph_has_any(const audit_t *audit);

/* The facts for a draft, which point into the graph; the arrays are to be freed. False: no memory.
 */
bool manifest_graph_facts(const audit_t *audit, tb__draft_facts_t *out);

#endif
