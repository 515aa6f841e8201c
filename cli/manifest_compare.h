/* A manifest beside the live graph. */
#ifndef TB_CLI_MANIFEST_COMPARE_H
#define TB_CLI_MANIFEST_COMPARE_H

#include <jansson.h>

#include "contract/manifest.h"
#include "graph_view.h"

/* Prints what differs from what is declared, and what could not be observed; with `root` puts both
 * into that object instead. EXIT_OK, EXIT_CHECK if something differs, or a message was printed. */
int manifest_compare(const command_t *command, const graph_options_t *options,
                     const tb__manifest_t *manifest, json_t *root);

#endif
