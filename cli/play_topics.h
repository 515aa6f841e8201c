/* Which topics of a recording are played. */
#ifndef TB_CLI_PLAY_TOPICS_H
#define TB_CLI_PLAY_TOPICS_H

#include <timebase/bag_reader.h>

#include "play_arguments.h"

/* Opens the recording with the topics that the arguments choose. An exit status; a message was
 * printed unless it is EXIT_OK. */
int play_topics_open(const command_t *command, const play_arguments_t *arguments,
                     tb_bag_reader_t **out);

#endif
