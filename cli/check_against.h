/* `timebase check BAG --against ORIGINAL`. */
#ifndef TB_CLI_CHECK_AGAINST_H
#define TB_CLI_CHECK_AGAINST_H

#include <timebase/bag_reader.h>

#include "command.h"

typedef struct against_arguments {
  const char *bag, *original;
  double rate; /* 0: that of the replay */
  bool json;
  const char *html, *junit; /* files to be written; NULL: none */
  tb_bag_limits_t limits;
} against_arguments_t;

/* Compares and prints. EXIT_OK, EXIT_CHECK if messages are missing, extra, or out of order within
 * their topic, EXIT_IO: also for a file that cannot be written. */
int check_against(const command_t *command, const against_arguments_t *arguments);

#endif
