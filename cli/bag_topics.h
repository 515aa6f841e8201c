/* Which topics of recordings are read. */
#ifndef TB_CLI_BAG_TOPICS_H
#define TB_CLI_BAG_TOPICS_H

#include <timebase/bag_reader.h>

#include "words.h"

/* Options of `ros2 bag play`, which mean the same everywhere. */
typedef struct bag_topics {
  const words_t *bags;
  const words_t *topics, *exclude_topics;
  const words_t *services, *exclude_services; /* names of their topics of events */
  const words_t *actions, *exclude_actions;   /* names, of all of their topics */
  const char *regex, *exclude_regex;          /* NULL: none */
  size_t run; /* 0: the only one, or the first inside of a .bag; of several recordings all */
  bool skips_missing; /* names that are not recorded are warned of, unless that leaves nothing */
  tb_bag_limits_t limits;
} bag_topics_t;

/* Opens the recordings with the topics that are chosen. An exit status; a message was printed
 * unless it is EXIT_OK. */
int bag_topics_open(const command_t *command, const bag_topics_t *wanted, tb_bag_reader_t **out);

/* Whether a topic of that name is chosen. An expression that is not valid chooses none. */
bool bag_topics_choose(const bag_topics_t *wanted, const char *name);

#endif
