/* Which topics of recordings are copied: by name, type and expression, as `timebase play` and
 * `timebase record` choose. */
#ifndef TB_CLI_BAG_SELECT_H
#define TB_CLI_BAG_SELECT_H

#include <timebase/bag_reader.h>

#include "words.h"

enum { BAG_TOPICS, BAG_EXCLUDED_TOPICS, BAG_TYPES, BAG_EXCLUDED_TYPES, BAG_WORD_LISTS };

typedef struct bag_select {
  words_t lists[BAG_WORD_LISTS];
  const char *regex, *exclude_regex; /* or NULL */
} bag_select_t;

enum { BAG_SELECT_FIRST = 0x600 }; /* + BAG_TOPICS and so on */
#define BAG_SELECT_SHORTS "e:x:"
#define BAG_SELECT_OPTIONS                                                                         \
  {"topics", required_argument, NULL, BAG_SELECT_FIRST + BAG_TOPICS},                              \
      {"exclude-topics", required_argument, NULL, BAG_SELECT_FIRST + BAG_EXCLUDED_TOPICS},         \
      {"topic-types", required_argument, NULL, BAG_SELECT_FIRST + BAG_TYPES},                      \
      {"exclude-topic-types", required_argument, NULL, BAG_SELECT_FIRST + BAG_EXCLUDED_TYPES},     \
      {"regex", required_argument, NULL, 'e'},                                                     \
  {                                                                                                \
    "exclude-regex", required_argument, NULL, 'x'                                                  \
  }
#define BAG_SELECT_HELP                                                                            \
  "  --topics T...      only these topics: all words up to the next option (or --)\n"              \
  "  --topic-types T... also topics of these types, such as sensor_msgs/msg/Imu\n"                 \
  "  -e, --regex E      also topics that match E anywhere in the name; E is as in ros2 bag\n"      \
  "  -x, --exclude-regex E, --exclude-topics T..., --exclude-topic-types T...\n"                   \
  "                     but not these\n"

/* Room for the words of `argc` arguments. False: no memory, which was reported. */
bool bag_select_begin(bag_select_t *select, const command_t *command, int argc);
void bag_select_end(bag_select_t *select);

/* True if the option was one of BAG_SELECT_OPTIONS; *result is EXIT_OK or EXIT_USAGE then. */
bool bag_select_option(bag_select_t *select, const command_t *command, int option, int argc,
                       char **argv, int *result);

/* Whether anything was chosen. */
bool bag_select_is_given(const bag_select_t *select);

/* Which topics of the recording these are; *out, by topic, is to be freed, and NULL if all are.
 * EXIT_OK, or a message was printed, also if none is left. */
int bag_select_topics(const bag_select_t *select, const command_t *command,
                      const tb_bag_info_t *info, bool **out);

#endif
