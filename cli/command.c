#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <timebase/clock.h>
#include <timebase/log.h>
#include <timebase/steady_clock.h>
#include <unistd.h>

#include "similar.h"
#include "text.h"

int command_help(const command_t *command)
{
  text_own(stdout, "usage: ");
  text_own(stdout, command->usage);
  text_own(stdout, "\n\n");
  text_own(stdout, command->help);
  return command_finish(command, EXIT_OK);
}

static int help_of_group(const command_t *command, const command_t *const *commands, size_t count,
                         const char *about)
{
  text_out("usage: %s\n\n%s\n\n", command->usage, about);
  for (size_t i = 0; i < count; i++)
    text_out("  %-8s %s\n", commands[i]->name + strlen(command->name) + 1, commands[i]->summary);
  text_own(stdout, "\n");
  text_own(stdout, command->help);
  return command_finish(command, EXIT_OK);
}

static int unknown_command(const command_t *command, const command_t *const *commands, size_t count,
                           const char *name)
{
  char similar[100] = "";
  for (size_t i = 0; i < count; i++) {
    const char *known = commands[i]->name + strlen(command->name) + 1;
    size_t length = strlen(similar);
    if (!is_similar(name, known)) continue;
    snprintf(similar + length, sizeof similar - length, "%s '%s'",
             length > 0 ? " or" : "; did you mean", known);
  }
  return command_usage_error(command, "unknown command '%s'%s%s", name, similar,
                             *similar ? "?" : "");
}

int command_run_one_of(const command_t *command, const command_t *const *commands, size_t count,
                       const char *about, int argc, char **argv)
{
  if (argc < 2) return command_usage_error(command, "missing command");
  const char *name = argv[1];
  if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
    return help_of_group(command, commands, count, about);
  for (size_t i = 0; i < count; i++)
    if (!strcmp(commands[i]->name + strlen(command->name) + 1, name))
      return commands[i]->run(commands[i], argc - 1, argv + 1);
  return unknown_command(command, commands, count, name);
}

/* Up to the first option, which may be in a group: "timebase play BAG...". */
static size_t words_before_options(const char *usage)
{
  const char *option = strpbrk(usage, "[\n");
  while (option && *option == '[' && option[1] != '-')
    option = strpbrk(option + 1, "[\n");
  size_t length = option ? (size_t)(option - usage) : strlen(usage);
  while (length > 0 && usage[length - 1] == ' ')
    length--;
  return length;
}

static const char *usage_word; /* of the form that is used, where there are several */

void command_use_form(const char *word)
{
  usage_word = word;
}

/* The line that has the word, or the first. */
static const char *usage_line(const char *usage)
{
  size_t length = usage_word ? strlen(usage_word) : 0;
  for (const char *line = usage; length > 0 && line; line = strchr(line, '\n')) {
    line += strspn(line, "\n ");
    size_t end = strcspn(line, "\n");
    for (const char *at = line; (at = strstr(at, usage_word)) && at < line + end; at += length)
      if (at > line && strchr(" |", at[-1]) && strchr(" |\n", at[length])) return line;
  }
  return usage;
}

void command_print_usage(const command_t *command)
{
  const char *usage = usage_line(command->usage);
  size_t length = words_before_options(usage);
  text_err("usage: %.*s%s (see 'timebase %s --help')\n", (int)length, usage,
           usage[length] && usage[length] != '\n' ? " [OPTION...]" : "", command->name);
}

int command_usage_error(const command_t *command, const char *format, ...)
{
  va_list args;
  text_err("timebase %s: ", command->name);
  va_start(args, format);
  text_to_v(stderr, format, args);
  va_end(args);
  text_err("\n");
  command_print_usage(command);
  return EXIT_USAGE;
}

int command_failed(const command_t *command, tb_status_t status, const tb_error_t *error)
{
  bool has_text = error && error->text[0];
  text_err("timebase %s: %s\n", command->name, has_text ? error->text : tb_status_message(status));
  return EXIT_IO;
}

void command_part_failed(const command_t *command, const tb_error_t *error)
{
  const char *after = text_fold(error->text);
  if (after) text_err("timebase %s: %s%s\n", command->name, error->text, after);
}

int command_bad_file(const command_t *command, tb_status_t status, const tb_error_t *error)
{
  if (status == TB_ERR_INVALID) return command_usage_error(command, "%s", error->text);
  return command_failed(command, status, error);
}

static const struct option *known_options; /* of the latest command_next_option */
static int known_index;                    /* of the option that it returned; -1: a short one */

int command_next_option(int argc, char **argv, const char *shorts, const struct option *longs)
{
  known_options = longs;
  known_index = -1;
  return getopt_long(argc, argv, shorts, longs, &known_index);
}

const char *command_option_name(void)
{
  return known_options && known_index >= 0 ? known_options[known_index].name : "";
}

/* What does the same on ROS 1; NULL: nothing does. */
static const char *on_ros1(const command_t *command)
{
  static const char *const others[][2] = {
      {"now", "'TIMEBASE_SOURCE=ros1 timebase now --ros' prints the time that nodes of ROS 1 have"},
      {"sim-time",
       "it has one value for all nodes: 'timebase param --ros1 set /use_sim_time true'"},
      {"observe", "see 'timebase topic hz|bw|delay TOPIC --ros1' and 'timebase audit --ros1'"},
      {"top", "see 'timebase watch --ros1' and 'timebase topic hz TOPIC --ros1'"},
      {"run", "nodes follow 'timebase serve --ros1' or 'timebase play FILE --ros1 --clock'"},
      {"bridge", "it always joins the ROS 1 graph of ROS_MASTER_URI"},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(others[i][0], command->name) == 0) return others[i][1];
  return NULL;
}

/* An unknown one, with the nearest of those that are known. */
static int unknown_option(const command_t *command, const char *word)
{
  const char *other = strcmp(word, "--ros1") == 0 ? on_ros1(command) : NULL;
  if (other) return command_usage_error(command, "no --ros1: %s", other);
  const char *nearest = NULL;
  char wanted[64];
  size_t least = SIZE_MAX;
  snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(word + 2, "="), word + 2);
  for (const struct option *known = known_options; known && known->name; known++) {
    size_t distance = similar_distance(wanted, known->name);
    if (!is_similar(wanted, known->name) || distance >= least) continue;
    least = distance;
    nearest = known->name;
  }
  if (nearest)
    return command_usage_error(command, "unknown option %s; did you mean --%s?", word, nearest);
  return command_usage_error(command, "unknown option %s", word);
}

/* "-5" of "--clock -5": of an option before it whose value is optional, as the others take it. */
static int negative_value(const command_t *command, char **argv)
{
  const char *last = argv[optind - 1];
  size_t length = strlen(last); /* it has been read if the digit is its last letter */
  bool is_read = length > 1 && last[0] == '-' && last[1] != '-' && last[length - 1] == optopt;
  const char *const *word = (const char *const *)argv + optind - is_read;
  const char *before = word[-1];
  for (const struct option *known = known_options; known && known->name; known++)
    if (known->has_arg == optional_argument && strncmp(before, "--", 2) == 0 &&
        strcmp(before + 2, known->name) == 0)
      return command_usage_error(command, "%s %s: must not be negative", before, *word);
  return command_usage_error(command, "%s: no such option, and values must not be negative", *word);
}

int command_bad_option(const command_t *command, int option, char **argv)
{
  const char *word = argv[optind - 1];
  if (option == ':') return command_usage_error(command, "option %s needs a value", word);
  if (optopt >= '0' && optopt <= '9') return negative_value(command, argv);
  if (optopt && strncmp(word, "--", 2) != 0)
    return command_usage_error(command, "unknown option -%c", optopt);
  return unknown_option(command, word);
}

bool command_parse_double(const command_t *command, const char *name, const char *text,
                          double at_least, double at_most, double *out)
{
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end || !(value >= at_least && value <= at_most)) {
    command_usage_error(command, "%s %s: must be a number from %g to %g", name, text, at_least,
                        at_most);
    return false;
  }
  *out = value;
  return true;
}

bool command_parse_hz(const command_t *command, const char *name, const char *text, double at_least,
                      double at_most, double *out)
{
  char *unit;
  double value = strtod(text, &unit);
  bool is_good = unit != text;
  if (strncasecmp(unit, "khz", 3) == 0 && !unit[3])
    value *= 1000;
  else if (*unit && strcasecmp(unit, "hz") != 0)
    is_good = false;
  if (is_good && value >= at_least && value <= at_most) {
    *out = value;
    return true;
  }
  command_usage_error(command, "%s %s: must be from %g to %g Hz; write 40 or 40hz", name, text,
                      at_least, at_most);
  return false;
}

/* 0: there is no such unit. */
static uint64_t bytes_of_unit(const char *unit)
{
  static const char prefixes[] = "kMGT";
  if (!*unit || strcmp(unit, "B") == 0) return 1;
  const char *prefix = strchr(prefixes, *unit == 'K' ? 'k' : *unit);
  if (!prefix) return 0;
  bool is_binary = unit[1] == 'i';
  const char *rest = unit + 1 + is_binary;
  if (*rest && strcmp(rest, "B") != 0) return 0;
  uint64_t bytes = 1;
  for (const char *at = prefixes; at <= prefix; at++)
    bytes *= is_binary ? 1024 : 1000;
  return bytes;
}

bool command_parse_size(const command_t *command, const char *name, const char *text,
                        uint64_t at_most, uint64_t *out)
{
  char *end = NULL;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  uint64_t unit = bytes_of_unit(end), bytes = 0;
  bool is_good = isdigit((unsigned char)text[0]) && !errno && unit > 0;
  if (is_good && !__builtin_mul_overflow(value, unit, &bytes) && bytes <= at_most) {
    *out = bytes;
    return true;
  }
  command_usage_error(command, "%s %s: %s; write a number of bytes, 10MB or 10MiB", name, text,
                      is_good ? "too large" : "not a size");
  return false;
}

bool command_parse_int(const command_t *command, const char *name, const char *text, long at_least,
                       long at_most, int *out)
{
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (end == text || *end || errno || value < at_least || value > at_most) {
    command_usage_error(command, "%s %s: must be a whole number from %ld to %ld", name, text,
                        at_least, at_most);
    return false;
  }
  *out = (int)value;
  return true;
}

bool command_parse_word(const command_t *command, const char *name, const char *text,
                        const char *const *words, int *out)
{
  char known[100] = "";
  const char *similar = NULL;
  for (int i = 0; words[i]; i++) {
    if (strcmp(text, words[i]) == 0) {
      *out = i;
      return true;
    }
    size_t length = strlen(known);
    snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", words[i]);
    if (!similar && is_similar(text, words[i])) similar = words[i];
  }
  if (similar)
    command_usage_error(command, "%s %s: unknown; did you mean %s? use one of: %s", name, text,
                        similar, known);
  else
    command_usage_error(command, "%s %s: unknown; use one of: %s", name, text, known);
  return false;
}

bool command_parse_storage(const command_t *command, const char *text, const char **out)
{
  static const char *const storages[] = {"sqlite3", "mcap", NULL};
  int storage;
  if (!command_parse_word(command, "--storage", text, storages, &storage)) return false;
  *out = storages[storage];
  return true;
}

bool command_parse_domain(const command_t *command, const char *text, int *out)
{
  return command_parse_int(command, "--domain", text, 0, 232, out);
}

bool command_parse_duration(const command_t *command, const char *name, const char *text,
                            tb_duration_t *out)
{
  tb_status_t status = tb_duration_parse(text, out);
  if (status)
    command_usage_error(command, "%s %s: not a duration (%s); write 1.5s, 200ms or 1h2m", name,
                        text, tb_status_message(status));
  return !status;
}

bool command_parse_limit(const command_t *command, const char *name, const char *text,
                         tb_duration_t *out)
{
  if (!command_parse_duration(command, name, text, out)) return false;
  if (out->ns > 0) return true;
  command_usage_error(command, "%s %s: must be above 0", name, text);
  return false;
}

static int64_t system_time_ns(void)
{
  tb_clock_options_t options = {TB_TIME_SYSTEM, NULL};
  tb_clock_t *clock = NULL;
  tb_time_t now = {0};
  if (tb_clock_create(&options, &clock) == TB_OK) tb_clock_now(clock, &now);
  tb_clock_destroy(clock);
  return now.ns;
}

bool command_take_time(const char *text, int64_t *out_ns)
{
  tb_duration_t since = {-1};
  tb_time_t time = {0};
  if (!strcmp(text, "now"))
    since.ns = system_time_ns();
  else if (tb_time_parse(text, TB_TIME_ROS, &time) == TB_OK)
    since.ns = time.ns;
  else if (tb_duration_parse(text, &since) != TB_OK)
    since.ns = -1;
  if (since.ns < 0) return false;
  *out_ns = since.ns;
  return true;
}

bool command_parse_time(const command_t *command, const char *name, const char *text,
                        int64_t *out_ns)
{
  if (command_take_time(text, out_ns)) return true;
  command_usage_error(command, "%s %s: not a time; write seconds, 2023-11-14T22:13:20Z or now",
                      name, text);
  return false;
}

static void begin_message(const command_t *command, const char *kind)
{
  if (isatty(STDERR_FILENO)) text_err("\r\033[K");
  text_err("timebase %s: %s: ", command->name, kind);
}

void command_begin_warning(const command_t *command)
{
  begin_message(command, "warning");
}

static tb_log_level_t log_shown_from = TB_LOG_WARN;

void command_set_log_level(tb_log_level_t level)
{
  log_shown_from = level;
}

static void print_log(tb_log_level_t level, const char *message, void *user)
{
  if (level < log_shown_from) return;
  flockfile(stderr);
  begin_message(user, level >= TB_LOG_ERROR  ? "error"
                      : level >= TB_LOG_WARN ? "warning"
                      : level >= TB_LOG_INFO ? "info"
                                             : "debug");
  text_err("%s\n", message);
  funlockfile(stderr);
}

void command_show_log(const command_t *command)
{
  tb_log_set_hook(print_log, (void *)command);
}

static atomic_int signalled; /* a signal may be handled on any thread */
static int signal_pipe[2] = {-1, -1};

static void on_signal(int number)
{
  int saved_errno = errno;
  signalled = number;
  ssize_t written = write(signal_pipe[1], "", 1);
  (void)written;
  errno = saved_errno;
}

const atomic_int *command_catch_signals(void)
{
  if (signal_pipe[0] < 0 && pipe(signal_pipe) != 0) return &signalled;
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  return &signalled;
}

static void on_repeat_limit(int number)
{
  (void)number;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}

/* Only after a second: `timeout`, for one, sends two signals in a row. */
void command_force_exit_on_repeat_signal(void)
{
  struct sigaction action = {.sa_handler = on_repeat_limit, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  alarm(1);
}

int64_t command_steady_ns(void)
{
  static tb_steady_clock_t *clock; /* on the first call, before the command has threads */
  tb_steady_time_t now = {0};
  if (!clock && tb_steady_clock_create(&clock)) return 0;
  tb_steady_clock_now(clock, &now);
  return now.ns;
}

int command_signal_fd(void)
{
  return signal_pipe[0];
}

static int output_errno; /* of the first failure; nothing is written afterwards */

/* Waits until standard output takes a line. False: a signal came first. */
static bool output_is_ready(void)
{
  struct pollfd fds[] = {{STDOUT_FILENO, POLLOUT, 0}, {signal_pipe[0], POLLIN, 0}};
  while (poll(fds, 2, -1) < 0 && errno == EINTR)
    ;
  return fds[0].revents || !fds[1].revents;
}

bool command_flush(void)
{
  if (!output_errno && !output_is_ready()) output_errno = EAGAIN;
  if (!output_errno && fflush(stdout) != 0) output_errno = errno;
  if (output_errno) __fpurge(stdout);
  return !output_errno;
}

int command_finish(const command_t *command, int status)
{
  if (command_flush() || output_errno == EPIPE) return status;
  bool is_full = output_errno == EAGAIN;
  text_err("timebase %s: cannot write to standard output: %s\n", command->name,
           is_full ? "its reader is not reading" : strerror(output_errno));
  return status || is_full ? status : EXIT_IO;
}
