/* The stack that is rehearsed: a command in a process group of its own, which is ended as a whole,
 * whatever happens. */
#ifndef TB_CLI_REHEARSE_STACK_H
#define TB_CLI_REHEARSE_STACK_H

#include <stdbool.h>
#include <sys/types.h>

#include "command.h"

typedef struct rehearse_stack {
  pid_t pid;     /* 0: not started. Also the number of the group */
  bool is_ended; /* the command; others of its group may run */
  int status;    /* of waitpid, once it has ended */
} rehearse_stack_t;

/* Starts argv[0] with its arguments, found by PATH. Its output goes to standard error, its input is
 * empty. `domain` (-1: as it is) is its ROS_DOMAIN_ID. EXIT_OK, or a message was printed. */
int rehearse_stack_start(const command_t *command, char **argv, int domain, rehearse_stack_t *out);
/* Whether the command has ended by itself. */
bool rehearse_stack_has_ended(rehearse_stack_t *stack);
/* "exit status 3", "signal 11". */
void rehearse_stack_describe(const rehearse_stack_t *stack, char *out, size_t size);
/* Ends the whole group: SIGINT, after 5 s SIGTERM, after 2 s more SIGKILL. Returns when none of it
 * is left. May be called at any time. */
void rehearse_stack_end(rehearse_stack_t *stack);

#endif
