/* `timebase play --manifest`: whether what is played fits what the deployment declares. */
#ifndef TB_CLI_PLAY_MANIFEST_H
#define TB_CLI_PLAY_MANIFEST_H

#include "play_arguments.h"

/* EXIT_OK also where there is no manifest; EXIT_CHECK, and every mismatch was printed; or another
 * exit status, and a message was printed. */
int play_manifest_check(const command_t *command, const play_arguments_t *arguments);

#endif
