/* The parts of `timebase run`. */
#ifndef TB_CLI_RUN_H
#define TB_CLI_RUN_H

#include <sys/types.h>

#include "command.h"

#define RUN_NODES_MAX 64

typedef enum relay_kind {
  RELAY_NONE,
  RELAY_TOPIC,
  RELAY_EXTRAPOLATING,
} relay_kind_t;

typedef struct run_arguments {
  const char *source; /* shm:NAME, or the name of the relay's kind */
  relay_kind_t relay;
  const char *name; /* under which /clock is shared; NULL: the default */
  int domain;       /* -1: ROS_DOMAIN_ID */
  bool require, print_env, check;
  const char *nodes[RUN_NODES_MAX];
  int node_count;
  tb_duration_t limit;
  char **words; /* of the command, to NULL */
} run_arguments_t;

/* --- a relay: follows /clock, and shares it under a name --- */

typedef struct run_relay run_relay_t;

/* EXIT_OK, or a message has been printed. */
int run_relay_open(const command_t *command, const run_arguments_t *arguments, run_relay_t **out);
void run_relay_close(run_relay_t *relay);
/* The name, for TIMEBASE_SOURCE=shm:NAME. */
const char *run_relay_name(const run_relay_t *relay);

/* --- what the command gets in its environment --- */

typedef struct run_environment {
  char *source;  /* of TIMEBASE_SOURCE */
  char *preload; /* of LD_PRELOAD; NULL: unchanged */
  char *library; /* libtimebase-rcl.so; NULL: not found */
} run_environment_t;

/* EXIT_OK, or a message has been printed. Release it either way. */
int run_environment_find(const command_t *command, const run_arguments_t *arguments,
                         const run_relay_t *relay, run_environment_t *out);
void run_environment_release(run_environment_t *environment);
void run_environment_print(const run_environment_t *environment);
/* For this process, before it starts the command: EXIT_OK, or a message has been printed. */
int run_environment_set(const command_t *command, const run_environment_t *environment);

/* --- the command --- */

/* For this process and the threads that it starts: signals wait for run_child. */
void run_block_signals(void);

/* Starts the command and waits for its end. Returns what this command exits with. */
int run_child(const command_t *command, const run_arguments_t *arguments,
              const run_environment_t *environment);

/* --- which processes follow the time --- */

/* How many of the processes that `root` has started, and itself, follow the time. -1: not known. */
int run_followers(const char *name, pid_t root);
/* Whether the process is `root`, or was started by it or by those that it has started. */
bool run_has_started(pid_t root, uint64_t process);
/* Prints why the command may not have taken the time. */
void run_explain(const run_environment_t *environment, const char *program);

/* Prints what the processes have reported to the file; "": nothing can be reported. */
void run_report_print(const char *path, const run_environment_t *environment);

#endif
