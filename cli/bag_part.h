/* A part of recordings, as convert, cut, filter and merge write it: their options and one copy. */
#ifndef TB_CLI_BAG_PART_H
#define TB_CLI_BAG_PART_H

#include "bag.h"
#include "bag_select.h"

typedef struct bag_part {
  bag_copy_t copy;
  words_t inputs;
  bag_select_t select;
  int run;                            /* 0: not given */
  const char *start, *end, *duration; /* as given, or NULL */
  const char *output_options;         /* a file, or NULL */
  bool is_offset;                     /* `start` is a duration */
  bool keeps_latched;
  bool help; /* was requested */
} bag_part_t;

#define BAG_PART_INIT(its_command)                                                                 \
  {                                                                                                \
    .copy = BAG_COPY_INIT(its_command), .keeps_latched = (its_command) == &command_bag_cut         \
  }

/* Reads the arguments, and after them the options in `more` (or NULL), which replace what they say.
 * EXIT_OK, or a message was printed. */
int bag_part_begin(bag_part_t *part, int argc, char **argv, const words_t *more);
/* Checks what was requested, as far as that needs no message to be read. EXIT_OK, or a message was
 * printed. */
int bag_part_check(bag_part_t *part);
/* Checks what was requested, and writes it. */
int bag_part_write(bag_part_t *part);
void bag_part_end(bag_part_t *part);

/* Of convert: --keep-ros1 and --definitions. */
enum { BAG_CONVERT_KEEP_ROS1 = 0x700, BAG_CONVERT_DEFINITIONS };
/* False: it is none of these. */
bool bag_convert_option(bag_copy_t *copy, int option, int *result);
/* EXIT_CHECK, after a message, where something was left out that has no counterpart. */
int bag_convert_result(const bag_copy_t *copy, int result);

#endif
