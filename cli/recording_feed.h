/* What a reader reads, given to the statistics of a recording. */
#ifndef TB_CLI_RECORDING_FEED_H
#define TB_CLI_RECORDING_FEED_H

#include <timebase/bag_reader.h>

#include "contract/recording.h"

typedef struct recording_feed {
  tb__recording_t *recording; /* initialized */
  uint32_t *topics;           /* of the recording, by topic of the reader */
} recording_feed_t;

/* The topics of a run; those of an earlier one are the same. TB_ERR_NO_MEMORY. */
tb_status_t recording_feed_topics(recording_feed_t *feed, const tb_bag_info_t *info);
/* The entries of custom_data. */
void recording_feed_notes(recording_feed_t *feed, const tb_bag_info_t *info);
/* A message of the run. TB_ERR_NO_MEMORY. */
tb_status_t recording_feed_message(recording_feed_t *feed, const tb_bag_message_t *message);
/* The recording is left as it is. */
void recording_feed_fini(recording_feed_t *feed);

#endif
