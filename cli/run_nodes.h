/* The nodes that `timebase run --require --node NAME` waits for. */
#ifndef TB_CLI_RUN_NODES_H
#define TB_CLI_RUN_NODES_H

#include "run.h"

typedef struct run_nodes run_nodes_t;

/* EXIT_OK, or a message has been printed. */
int run_nodes_open(const command_t *command, const run_arguments_t *arguments, run_nodes_t **out);
void run_nodes_close(run_nodes_t *nodes);

/* Whether the process of each of the nodes follows the time of the name. */
bool run_nodes_have_taken(run_nodes_t *nodes, const char *name);
/* Prints a line for each whose process does not: there is no such node, or it follows another time.
 * False: of one it is still to be explained. */
bool run_nodes_print_missing(const run_nodes_t *nodes, const char *source, const char *when);

#endif
