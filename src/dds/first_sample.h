/* Readers without history that get the first sample of a writer whole. */
#ifndef TB_DDS_FIRST_SAMPLE_H
#define TB_DDS_FIRST_SAMPLE_H

#include <dds/dds.h>

#include "dds/guid.h"

struct ddsi_sertype;

/* For a reader that keeps no history Cyclone DDS takes the first heartbeat of a writer as the end
 * of what was before the reader. Fast DDS sends its first heartbeat with the first sample, and with
 * each fragment of it: then that sample is lost. Afterwards what the writer sends counts from its
 * first sample on; what it no longer has or is not for the reader, the writer declares so.
 * `reader` is a reader of ours that is matched with `writer`, and `type` one that was registered
 * for its topic. Not from a callback of DDS. */
void tb__first_sample_expect(dds_entity_t reader, const struct ddsi_sertype *type,
                             const tb__guid_t *writer);

#endif
