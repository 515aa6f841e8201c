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

#endif
