/* The section of a manifest for `timebase rehearse`. */
#ifndef TB_CONTRACT_MANIFEST_REHEARSAL_H
#define TB_CONTRACT_MANIFEST_REHEARSAL_H

#include "contract/manifest_fields.h"

/* Without `quiet`. */
#define TB__REHEARSAL_QUIET_NS INT64_C(2000000000)

/* Reads it; `out` is a tb__manifest_rehearsal_t. */
void tb__manifest_read_rehearsal(tb__fields_reader_t *reader, const tb__yaml_node_t *node,
                                 void *out);

#endif
