/* Waiting for matched endpoints. */
#ifndef TB_ROS2_MATCH_WAIT_H
#define TB_ROS2_MATCH_WAIT_H

#include <timebase/sleep.h>

#include "dds/raw_reader.h"
#include "dds/raw_writer.h"

/* Wait until at least `count` are matched. TB_ERR_CLOSED: the reader is closed; others as the
 * options ask. */
TB_WARN_UNUSED tb_status_t tb__writer_wait_for_matched(tb__raw_writer_t *writer, uint32_t count,
                                                       const tb_wait_options_t *options);
TB_WARN_UNUSED tb_status_t tb__reader_wait_for_matched(tb__raw_reader_t *reader, uint32_t count,
                                                       const tb_wait_options_t *options);

#endif
