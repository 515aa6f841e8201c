/* What a manifest declares of /clock, for commands that follow it. */
#ifndef TB_CLI_MANIFEST_CLOCK_H
#define TB_CLI_MANIFEST_CLOCK_H

#include <stdint.h>

#include "command.h"

/* 0: not declared. */
typedef struct manifest_clock {
  char topic[256];                                         /* "/clock", if no other is declared */
  double min_rate_hz, max_rate_hz, min_factor, max_factor; /* with the manifest's tolerance */
  int64_t max_error_ns;
} manifest_clock_t;

/* Of a file, or a recording that has a manifest. EXIT_OK, or a message has been printed: also where
 * its mode has no /clock. */
int manifest_clock_read(const command_t *command, const char *path, manifest_clock_t *out);

#endif
