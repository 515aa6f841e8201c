/* Which topics of a recording are played. */
#ifndef TB_CLI_PLAY_TOPICS_H
#define TB_CLI_PLAY_TOPICS_H

#include <timebase/bag_reader.h>

#include "play_arguments.h"

/* Opens the recording with the topics that the arguments choose: the run `run`, or 0 for the only
 * one or the first inside of a .bag. An exit status; a message was printed unless it is EXIT_OK. */
int play_topics_open(const command_t *command, const play_arguments_t *arguments, size_t run,
                     tb_bag_reader_t **out);

/* Whether they choose a topic of that name. An expression that is not valid chooses none. */
bool play_topics_choose(const play_arguments_t *arguments, const char *name);

#endif
