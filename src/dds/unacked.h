/* Which readers have not acknowledged what a writer has sent. */
#ifndef TB_DDS_UNACKED_H
#define TB_DDS_UNACKED_H

#include <dds/dds.h>

#include "dds/endpoint.h"

/* Of `readers`, some that are matched with `writer` (whose samples are of `type`), moves those to
 * the front that have not acknowledged everything; how many they are. Not from a callback of DDS.
 */
size_t tb__unacked_select(dds_entity_t writer, const struct ddsi_sertype *type,
                          tb__matched_t *readers, size_t count);

#endif
