/* Finds the readers that have not acknowledged all samples of a writer. */
#ifndef TB_DDS_UNACKED_H
#define TB_DDS_UNACKED_H

#include <dds/dds.h>

#include "dds/endpoint.h"

/* Moves those of `readers` to the front that have not acknowledged everything, and returns how many
 * they are. `readers` are matched with `writer`, whose samples have `type`. Not from a callback of
 * DDS. */
size_t tb__unacked_select(dds_entity_t writer, const struct ddsi_sertype *type,
                          tb__matched_t *readers, size_t count);

/* The bytes that the writer keeps for reliable readers which have not acknowledged them. *out_high:
 * with more than that, a write blocks. */
size_t tb__unacked_bytes(dds_entity_t writer, const struct ddsi_sertype *type, size_t *out_high);

/* How often readers have asked again for what was no longer kept. Those of `readers` that have
 * asked again for anything are moved to the front: *count. */
size_t tb__unkept_select(dds_entity_t writer, const struct ddsi_sertype *type,
                         tb__matched_t *readers, size_t *count);

#endif
