/* What every command of `timebase` shares: its table, exit statuses and messages. */
#ifndef TB_CLI_COMMAND_H
#define TB_CLI_COMMAND_H

#include <getopt.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/log.h>

enum {
  EXIT_OK = 0,
  EXIT_CHECK = 1, /* a check failed, a limit passed (docs/errors.md) */
  EXIT_USAGE = 2, /* unknown option, bad value or name, options that contradict each other */
  EXIT_IO = 3,    /* files, transport, anything that the system refused */
};

typedef struct command {
  const char *name;
  const char *summary; /* one line in `timebase --help` */
  const char *usage;   /* one line, without "usage: " */
  const char *help;    /* the text of `--help` after the usage line */
  int (*run)(const struct command *command, int argc, char **argv); /* argv[0] is the name */
} command_t;

extern const command_t command_now;
extern const command_t command_run;
extern const command_t command_serve;
extern const command_t command_sleep;
#ifdef TB_CLI_BAG
extern const command_t command_bag;
extern const command_t command_check;
#endif
#ifdef TB_CLI_BRIDGE
extern const command_t command_bridge;
#endif
#ifdef TB_CLI_MANIFEST
extern const command_t command_manifest;
#endif
#ifdef TB_CLI_PLAY
extern const command_t command_play;
extern const command_t command_record;
extern const command_t command_rehearse;
#endif
#ifdef TB_CLI_ROS2
extern const command_t command_audit;
extern const command_t command_nodes;
extern const command_t command_observe;
extern const command_t command_param;
extern const command_t command_ctl;
extern const command_t command_sim_time;
extern const command_t command_top;
extern const command_t command_topic;
extern const command_t command_wait;
extern const command_t command_watch;
#endif

/* Prints the usage and the help to standard output. Returns EXIT_OK, or EXIT_IO if that failed. */
int command_help(const command_t *command);

/* Runs the one of `commands` whose name is that of `command` and argv[1]; prints what there is,
 * after `about`, for --help. */
int command_run_one_of(const command_t *command, const command_t *const *commands, size_t count,
                       const char *about, int argc, char **argv);

/* Of a command with several forms, usage errors show the one that has the word. */
void command_use_form(const char *word);

/* One short line of usage to standard error: what comes before the options, and how to see them. */
void command_print_usage(const command_t *command);
/* "timebase NAME: MESSAGE" and the usage line to standard error. Returns EXIT_USAGE. */
int command_usage_error(const command_t *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "timebase NAME: TEXT" to standard error, with the status' message where there is no text.
 * Returns EXIT_IO. */
int command_failed(const command_t *command, tb_status_t status, const tb_error_t *error);

/* The same for each part of a recording that cannot be read: only the first few of a kind. */
void command_part_failed(const command_t *command, const tb_error_t *error);

/* A file that an option names cannot be used. EXIT_USAGE if it is not a file that can be read, such
 * as a pipe; else as command_failed. */
int command_bad_file(const command_t *command, tb_status_t status, const tb_error_t *error);

/* getopt_long, of which command_bad_option knows the long options. Short ones begin with ':', after
 * a '-' if there is one. */
int command_next_option(int argc, char **argv, const char *shorts, const struct option *longs);
/* The long option that it returned last, without "--"; "" after a short one. */
const char *command_option_name(void);
/* For the default case after command_next_option. EXIT_USAGE. */
int command_bad_option(const command_t *command, int option, char **argv);

/* Values of options. False: command_usage_error has printed a message that starts with `name`. */
bool command_parse_double(const command_t *command, const char *name, const char *text,
                          double at_least, double at_most, double *out);
bool command_parse_int(const command_t *command, const char *name, const char *text, long at_least,
                       long at_most, int *out);
/* In Hz: 40, 40hz, 2khz. */
bool command_parse_hz(const command_t *command, const char *name, const char *text, double at_least,
                      double at_most, double *out);
/* In bytes: 1000000, 10MB (10^6), 10MiB (2^20); k, M, G, T. */
bool command_parse_size(const command_t *command, const char *name, const char *text,
                        uint64_t at_most, uint64_t *out);
bool command_parse_duration(const command_t *command, const char *name, const char *text,
                            tb_duration_t *out);
/* The same, for a duration that must be above 0: a limit, a step. */
bool command_parse_limit(const command_t *command, const char *name, const char *text,
                         tb_duration_t *out);
/* One of `words`, which end with NULL; *out is its index. */
bool command_parse_word(const command_t *command, const char *name, const char *text,
                        const char *const *words, int *out);
/* The value of --storage; *out is the name that the library uses. */
bool command_parse_storage(const command_t *command, const char *text, const char **out);
/* The value of --domain. */
bool command_parse_domain(const command_t *command, const char *text, int *out);
/* "now", seconds since 1970 as a duration, or ISO 8601 in UTC. Not negative. */
bool command_parse_time(const command_t *command, const char *name, const char *text,
                        int64_t *out_ns);
/* The same without a message. */
bool command_take_time(const char *text, int64_t *out_ns);

/* "timebase NAME: warning: " to standard error, over a status line on a terminal; the caller prints
 * the text. */
void command_begin_warning(const command_t *command);

/* Sends the library's warnings and errors to standard error, "timebase NAME: warning: ...". */
void command_show_log(const command_t *command);
/* Which are shown, instead of warnings and errors: those from this level on. */
void command_set_log_level(tb_log_level_t level);

/* SIGINT and SIGTERM set the flag that this returns, and make blocking calls return. */
const atomic_int *command_catch_signals(void);
/* A descriptor that becomes readable when one of them was received. */
int command_signal_fd(void);
/* To be called after the first signal: one that comes more than a second later ends the program at
 * once. */
void command_force_exit_on_repeat_signal(void);

/* Steady time, for limits; 0: there is no clock. */
int64_t command_steady_ns(void);

/* Flushes standard output. False once that has failed: the pipe was closed, or it was full and a
 * signal came (command_catch_signals). Output after a failure is dropped. */
bool command_flush(void);

/* Flushes standard output. Returns EXIT_IO, with a message, when something could not be written,
 * else `status`. A closed pipe (as with `head`) is no error, nor is a full one at a signal. */
int command_finish(const command_t *command, int status);

#endif
