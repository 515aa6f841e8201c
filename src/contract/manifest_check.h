/* What a manifest declares that cannot hold together. */
#ifndef TB_CONTRACT_MANIFEST_CHECK_H
#define TB_CONTRACT_MANIFEST_CHECK_H

#include "contract/manifest.h"
#include "yaml/yaml_tree.h"

/* Adds errors and warnings. The manifest has a mode and its defaults. */
void tb__manifest_check(const tb__manifest_t *manifest, const tb__yaml_node_t *root,
                        tb__problems_t *problems);

#endif
