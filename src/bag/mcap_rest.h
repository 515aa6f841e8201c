/* What an MCAP file holds beside messages. */
#ifndef TB_BAG_MCAP_REST_H
#define TB_BAG_MCAP_REST_H

#include "bag/mcap_input.h"
#include "bag/mcap_writer.h"

/* Attachments and metadata, but not rosbag2's own. Reads the file from end to end. */
tb_status_t tb__mcap_copy_rest(tb__mcap_input_t *from, tb__mcap_writer_t *to, tb_error_t *error);

#endif
