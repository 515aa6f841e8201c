/* What an MCAP file holds beside messages. */
#ifndef TB_MCAP_EXTRA_RECORDS_H
#define TB_MCAP_EXTRA_RECORDS_H

#include "mcap/file_writer.h"
#include "mcap/index.h"
#include "storage/storage.h"

/* Attachments of that time and metadata, but not rosbag2's own; counted in *count. `to` may be
 * NULL. Reads the file from end to end, unless its index has none. */
tb_status_t tb__mcap_copy_extra_records(tb__bag_input_t *from, const tb__mcap_index_t *index,
                                        tb__mcap_writer_t *to, tb__bag_span_t span,
                                        tb_bag_extra_records_t *count,
                                        tb_error_t *error) TB_WARN_UNUSED;

#endif
