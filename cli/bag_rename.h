/* Other names for topics that are copied: A:=B. */
#ifndef TB_CLI_BAG_RENAME_H
#define TB_CLI_BAG_RENAME_H

#include <timebase/bag_reader.h>

#include "words.h"

/* Whether each word is A:=B, A is a topic that is copied (all, or those with wanted[i]), and B a
 * name of its own. EXIT_OK, or a message was printed. */
int bag_rename_check(const words_t *renames, const command_t *command, const tb_bag_info_t *info,
                     const bool *wanted);
/* The name that the topic gets: its own unless there is another. */
const char *bag_rename_of(const words_t *renames, const char *topic);

#endif
