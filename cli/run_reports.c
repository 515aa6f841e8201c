/* What libtimebase-rcl.so has reported of the processes of a command (TIMEBASE_RCL_REPORT). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "text.h"

#define VARIABLE "TIMEBASE_RCL_REPORT"

struct run_reports {
  const run_environment_t *environment;
  char path[64];
};

/* The user's own file gets the reports too. */
static int set_variable(const command_t *command, const run_reports_t *self)
{
  const char *inherited = getenv(VARIABLE);
  char *value = NULL;
  if (!inherited || !inherited[0])
    value = strdup(self->path);
  else if (asprintf(&value, "%s:%s", self->path, inherited) < 0)
    value = NULL;
  bool is_set = value && !setenv(VARIABLE, value, 1);
  free(value);
  return is_set ? EXIT_OK : command_failed(command, TB_ERR_NO_MEMORY, NULL);
}

int run_reports_open(const command_t *command, const run_environment_t *environment,
                     run_reports_t **out)
{
  const char *folder = getenv("TMPDIR");
  run_reports_t *self = calloc(1, sizeof *self);
  if (!self) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  *out = self;
  self->environment = environment;
  if (!folder || strlen(folder) > 32 || strchr(folder, ':')) folder = "/tmp";
  snprintf(self->path, sizeof self->path, "%s/timebase-run-XXXXXX", folder);
  int file = mkstemp(self->path);
  if (file < 0) {
    self->path[0] = '\0';
    return command_failed(command, TB_ERR_SYSTEM, NULL);
  }
  close(file);
  return set_variable(command, self);
}

void run_reports_close(run_reports_t *self)
{
  if (self && self->path[0]) unlink(self->path);
  free(self);
}

/* --- reading --- */

/* One line of src/rcl/report.c. */
typedef struct report {
  char event[16], rcl[16], version[32], source[256], reason[512], functions[1024];
  char command[1024], program[1024];
  long long process;
  long long made; /* ROS clocks */
  long long ros_timers, wall_timers, wall_moved;
} report_t;

/* Where the value of the field begins. Inside of a string each quote has a backslash before it, so
 * what follows a space or a brace is a name. NULL: there is no such field. */
static const char *find_value(const char *line, const char *name)
{
  char field[32];
  snprintf(field, sizeof field, "\"%s\": ", name);
  for (const char *at = line; (at = strstr(at, field)); at++)
    if (at > line && strchr(" {", at[-1])) return at + strlen(field);
  return NULL;
}

static long long number_of(const char *line, const char *name)
{
  const char *value = find_value(line, name);
  return value ? strtoll(value, NULL, 10) : 0;
}

/* "": it is no string. What does not fit is left out. */
static void take_string(const char *line, const char *name, char *out, size_t size)
{
  const char *value = find_value(line, name);
  size_t used = 0;
  if (value && *value == '"')
    for (const char *at = value + 1; *at && *at != '"' && used + 1 < size; at++) {
      if (*at == '\\' && at[1]) at++;
      out[used++] = *at;
    }
  out[used] = '\0';
}

/* NAME, NAME of ["NAME", "NAME"]. */
static void take_list(const char *line, const char *name, char *out, size_t size)
{
  const char *value = find_value(line, name);
  size_t used = 0;
  if (value && *value == '[')
    for (const char *at = value + 1; *at && *at != ']' && used + 1 < size; at++)
      if (*at != '"') out[used++] = *at;
  out[used] = '\0';
}

/* False: a process was ended while it wrote the line. */
static bool parse(const char *line, report_t *out)
{
  size_t length = strlen(line);
  if (length < 2 || strcmp(line + length - 2, "}\n") != 0) return false;
  take_string(line, "event", out->event, sizeof out->event);
  take_string(line, "rcl", out->rcl, sizeof out->rcl);
  take_string(line, "rcl_version", out->version, sizeof out->version);
  take_string(line, "source", out->source, sizeof out->source);
  take_string(line, "reason", out->reason, sizeof out->reason);
  take_string(line, "command", out->command, sizeof out->command);
  take_string(line, "program", out->program, sizeof out->program);
  take_list(line, "functions", out->functions, sizeof out->functions);
  out->process = number_of(line, "pid");
  out->made = number_of(line, "ros_clocks_made");
  out->ros_timers = number_of(line, "ros_timers_made");
  out->wall_timers = number_of(line, "wall_timers_made");
  out->wall_moved = number_of(line, "wall_timers_on_shared_time");
  return out->event[0] != '\0';
}

typedef void (*visit_t)(const report_t *report, const char *line, void *user);

static void each_report(const run_reports_t *self, visit_t visit, void *user)
{
  char *line = NULL;
  size_t size = 0;
  report_t report;
  FILE *file = self ? fopen(self->path, "re") : NULL;
  while (file && getline(&line, &size, file) > 0)
    if (parse(line, &report)) visit(&report, line, user);
  free(line);
  if (file) fclose(file);
}

typedef struct search {
  const run_reports_t *self;
  bool has_follower;
  char *refusal;
} search_t;

static void search_in(const report_t *report, const char *line, void *user)
{
  search_t *search = user;
  (void)line;
  search->has_follower |= strcmp(report->event, "first_clock") == 0 &&
                          strcmp(report->source, search->self->environment->source) == 0;
  if (!search->refusal && strcmp(report->event, "left_alone") == 0 &&
      asprintf(&search->refusal, "%s (process %lld) was left alone: %s", report->program,
               report->process, report->reason) < 0)
    search->refusal = NULL;
}

bool run_reports_has_follower(const run_reports_t *self)
{
  search_t search = {.self = self};
  each_report(self, search_in, &search);
  free(search.refusal);
  return search.has_follower;
}

char *run_reports_refusal(const run_reports_t *self)
{
  search_t search = {.self = self};
  each_report(self, search_in, &search);
  return search.refusal;
}

/* --- printing --- */

typedef struct printing {
  report_t *processes; /* the last report of each, in the order of the first ones */
  size_t count, lines;
  bool as_json;
} printing_t;

static void take(const report_t *report, const char *line, void *user)
{
  printing_t *printing = user;
  printing->lines++;
  if (printing->as_json) {
    text_out("%.*s\n", (int)strcspn(line, "\n"), line);
    return;
  }
  for (size_t i = 0; i < printing->count; i++)
    if (printing->processes[i].process == report->process) {
      printing->processes[i] = *report;
      return;
    }
  report_t *more = realloc(printing->processes, (printing->count + 1) * sizeof *more);
  if (!more) return;
  printing->processes = more;
  more[printing->count++] = *report;
}

/* At the end of a process: before, its timers are still to be made. */
static void print_timers(const report_t *report)
{
  long long count = report->ros_timers + report->wall_timers;
  if (strcmp(report->event, "exit") != 0 || count == 0) return;
  text_out("  made %lld timer%s: %lld of ROS clocks", count, count == 1 ? "" : "s",
           report->ros_timers);
  if (report->wall_timers > 0)
    text_out(", %lld wall timer%s (%s)", report->wall_timers, report->wall_timers == 1 ? "" : "s",
             report->wall_moved ? "on the shared time"
                                : "on wall time; --wall-timers puts them on the shared time");
  text_out("\n");
}

static void print_process(const report_t *report)
{
  text_out("process %lld: ", report->process);
  text_out("%s\n", report->command);
  if (strcmp(report->event, "left_alone") == 0)
    text_out("  left alone: %s\n", report->reason);
  else
    text_out("  follows %s: %lld ROS clock%s, of rcl %s%s%s%s\n", report->source, report->made,
             report->made == 1 ? "" : "s", report->rcl, report->version[0] ? " " : "",
             report->version, strcmp(report->event, "exit") ? "; its end was not reported" : "");
  print_timers(report);
}

/* They are the same in each process that follows. */
static void print_functions(const printing_t *printing)
{
  for (size_t i = 0; i < printing->count; i++) {
    if (!printing->processes[i].functions[0]) continue;
    text_out("replaced in rcl: %s\n", printing->processes[i].functions);
    return;
  }
}

bool run_reports_print(const run_reports_t *self, bool as_json)
{
  printing_t printing = {.as_json = as_json};
  each_report(self, take, &printing);
  for (size_t i = 0; i < printing.count; i++)
    print_process(&printing.processes[i]);
  print_functions(&printing);
  free(printing.processes);
  command_flush();
  return printing.lines > 0;
}
