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
  bool require, print_env, check, json, wall_timers;
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
#define RUN_RELAY_NAME_SIZE 80
/* What it is with these arguments. */
void run_relay_find_name(const run_arguments_t *arguments, char out[RUN_RELAY_NAME_SIZE]);

/* --- what the command gets in its environment --- */

typedef struct run_environment {
  char *source;  /* of TIMEBASE_SOURCE */
  char *preload; /* of LD_PRELOAD; NULL: unchanged */
  char *library; /* libtimebase-rcl.so; NULL: not found */
  bool wall_timers;
} run_environment_t;

/* EXIT_OK, or a message has been printed. Release it either way. */
int run_environment_find(const command_t *command, const run_arguments_t *arguments,
                         const run_relay_t *relay, run_environment_t *out);
void run_environment_release(run_environment_t *environment);
void run_environment_print(const run_environment_t *environment);
/* For this process, before it starts the command: EXIT_OK, or a message has been printed. */
int run_environment_set(const command_t *command, const run_environment_t *environment);

/* --- the time --- */

#define RUN_TIME_PREFIX "shm:"

typedef struct run_time run_time_t;

/* Of shm:NAME, before anything is started: EXIT_OK, or a message has been printed. */
int run_time_check_name(const command_t *command, const char *source);
/* Opens the page as the command's processes will. EXIT_OK, or a message has been printed. Close it
 * either way. */
int run_time_open(const command_t *command, const run_arguments_t *arguments,
                  const run_environment_t *environment, run_time_t **out);
void run_time_close(run_time_t *self);
/* It is not asked any more: its threads and its place in the list beside the page are given back.
 */
void run_time_stop(run_time_t *self);
/* Whether a first tick has come. */
bool run_time_has_begun(const run_time_t *self);
/* Why not; NULL: it has. */
const char *run_time_reason(const run_time_t *self);
/* A note where the time has no publisher. */
void run_time_note(const run_time_t *self);

/* --- the processes of the command --- */

typedef struct run_processes run_processes_t;

/* How many of those that this process has started, at any depth, follow the time. -1: not known. */
int run_followers(const char *name);

/* What they lack to follow: NULL: out of memory. */
run_processes_t *run_processes_create(const run_environment_t *environment);
void run_processes_destroy(run_processes_t *self);
/* Looks at those that run now. */
void run_processes_look(run_processes_t *self);
/* Prints what is in the way of one, if anything is: one that was seen, or `program`, the command's.
 * `self` may be NULL. */
bool run_processes_explain(const run_processes_t *self, const char *program);

/* --- what they have reported --- */

typedef struct run_reports run_reports_t;

/* Sets TIMEBASE_RCL_REPORT for the command. EXIT_OK, or a message has been printed. Close it either
 * way. */
int run_reports_open(const command_t *command, const run_environment_t *environment,
                     run_reports_t **out);
void run_reports_close(run_reports_t *self);
/* Whether a process has reported a ROS clock that follows. `self` may be NULL. */
bool run_reports_has_follower(const run_reports_t *self);
/* The reason of the first process that was left alone, allocated; NULL: there is none. */
char *run_reports_refusal(const run_reports_t *self);
/* Prints a line for each process, or what they have reported as it is. False: there is nothing. */
bool run_reports_print(const run_reports_t *self, bool as_json);

/* --- the command --- */

/* For this process and the threads that it starts: signals wait for run_child. */
void run_block_signals(void);

/* Starts the command and waits for its end. Returns what this command exits with. */
int run_child(const command_t *command, const run_arguments_t *arguments,
              const run_environment_t *environment, run_time_t *time);

#endif
