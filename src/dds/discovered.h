/* How far DDS has discovered a remote participant. */
#ifndef TB_DDS_DISCOVERED_H
#define TB_DDS_DISCOVERED_H

#include <stdbool.h>

#include "dds/guid.h"

struct ddsi_sertype;

/* Whether all writers that the participant has announced so far have arrived: what is not among
 * them does not exist, or is new. False also where that is not known, as with DDS Security. They
 * may be about to be reported. `type` is a registered type of the domain. Not from a callback of
 * DDS. */
bool tb__dds_has_all_writers_of(const struct ddsi_sertype *type, const tb__guid_t *participant);

#endif
