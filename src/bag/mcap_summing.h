/* What stands behind the data. */
#ifndef TB_BAG_MCAP_SUMMING_H
#define TB_BAG_MCAP_SUMMING_H

#include "bag/mcap_writer_inside.h"

/* The end of the data, summary, offsets, footer and magic, as they follow writer->position. False:
 * no memory. */
bool tb__mcap_put_summary(const tb__mcap_writer_t *writer, tb__mcap_bytes_t *out);

#endif
