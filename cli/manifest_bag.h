/* What a recording shows of what a manifest declares. */
#ifndef TB_CLI_MANIFEST_BAG_H
#define TB_CLI_MANIFEST_BAG_H

#include "command.h"
#include "contract/manifest_draft.h"
#include "contract/recording.h"

typedef struct manifest_bag {
  tb__recording_t recording;
  tb__findings_t *findings; /* of the recording: marks are made of them */
  char *source;
  tb__draft_facts_t facts; /* point into the others */
  tb__draft_topic_t *topics;
  char **marks; /* of the topics, and of the clock after the last */
  size_t mark_count;
} manifest_bag_t;

/* Reads all of the recording, of a damaged one what can be read. EXIT_OK, or a message was printed;
 * close it either way. */
int manifest_bag_open(const command_t *command, const char *path, manifest_bag_t *out);
void manifest_bag_close(manifest_bag_t *bag);

#endif
