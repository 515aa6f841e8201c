/* What follows the data of an MCAP file: its end, the summary, the footer. */
#ifndef TB_MCAP_SUMMARY_WRITER_H
#define TB_MCAP_SUMMARY_WRITER_H

#include "mcap/file_writer_inside.h"

/* The end of the data, summary, offsets, footer and magic, as they follow writer->position. False:
 * no memory. */
bool tb__mcap_put_summary(const tb__mcap_writer_t *writer, tb__mcap_bytes_t *out);

#endif
