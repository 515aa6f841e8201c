/* Options that set the ceilings for recordings that are read, of every command that reads one. */
#ifndef TB_CLI_BAG_LIMITS_H
#define TB_CLI_BAG_LIMITS_H

#include <timebase/bag_reader.h>

#include "command.h"

enum {
  BAG_LIMIT_CHUNK = 0x500,
  BAG_LIMIT_OVERLAP,
  BAG_LIMIT_UNPACKED,
  BAG_LIMIT_FILES,
};
#define BAG_LIMIT_OPTIONS                                                                          \
  {"max-chunk-size", required_argument, NULL, BAG_LIMIT_CHUNK},                                    \
      {"max-overlap-size", required_argument, NULL, BAG_LIMIT_OVERLAP},                            \
      {"max-unpacked-size", required_argument, NULL, BAG_LIMIT_UNPACKED},                          \
  {                                                                                                \
    "max-files", required_argument, NULL, BAG_LIMIT_FILES                                          \
  }
#define BAG_LIMIT_HELP                                                                             \
  "  --max-chunk-size B, --max-overlap-size B, --max-unpacked-size B, --max-files N\n"             \
  "                     limits on reading: an MCAP chunk in memory (default 1G), chunks that\n"    \
  "                     overlap in time (256M), a file unpacked into TMPDIR (64G), number of\n"    \
  "                     files (10000)\n"

/* True if the option was one of BAG_LIMIT_OPTIONS; *result is EXIT_OK or EXIT_USAGE then. */
bool bag_limit_option(const command_t *command, int option, tb_bag_limits_t *limits, int *result);

#endif
