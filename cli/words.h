/* Words after an option, and names of topics among them. */
#ifndef TB_CLI_WORDS_H
#define TB_CLI_WORDS_H

#include <timebase/bag_reader.h>

#include "command.h"

typedef struct words {
  const char **items; /* as given; resolved topics: as recorded */
  size_t count;
} words_t;

/* The argument of the option and all words up to the next option. There is room for them. */
void words_take(words_t *words, int argc, char **argv);

const char *words_without_slash(const char *name);

/* A slash at the start makes no difference. */
bool words_have_topic(const words_t *words, const char *topic);

/* Whether a recording has a topic of that name. */
bool words_are_topic(const char *word, const tb_bag_info_t *info);

/* False: a recording lacks one of these topics, and a message was printed. */
bool words_check_topics(const words_t *words, const command_t *command, const char *option,
                        const tb_bag_info_t *info);

#endif
