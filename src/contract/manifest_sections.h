/* The sections of a manifest's text. */
#ifndef TB_CONTRACT_MANIFEST_SECTIONS_H
#define TB_CONTRACT_MANIFEST_SECTIONS_H

#include "contract/manifest_fields.h"

/* Fills in what the text declares, and defaults that do not depend on the mode. `out` is zeroed but
 * for its memory. */
void tb__manifest_read_sections(tb__fields_reader_t *reader, const tb__yaml_node_t *root,
                                tb__manifest_t *out);

#endif
