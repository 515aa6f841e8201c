/* The command of `timebase run`: started, watched until it has taken the time, given the signals
 * that this process gets, and waited for. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"
#include "run_nodes.h"
#include "text.h"

#define POLL_NS        (20 * TB_NS_PER_MS) /* until it has taken the time */
#define LAST_CHANCE_NS (5 * TB_NS_PER_S)   /* between SIGTERM and SIGKILL */
#define NOT_FOUND      127
#define NOT_STARTED    126
#define BY_SIGNAL      128

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

static sigset_t signals, mask_before;

typedef struct child {
  const command_t *command;
  const run_arguments_t *arguments;
  const run_environment_t *environment;
  pid_t id;
  bool has_ended;
  int status;
  char report[64]; /* what processes report to; empty: nothing */
  run_nodes_t *nodes;
} child_t;

static const char *name_of(const child_t *child)
{
  return child->environment->source + strlen("shm:");
}

void run_block_signals(void)
{
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
    sigaddset(&signals, forwarded[i]);
  sigprocmask(SIG_BLOCK, &signals, &mask_before);
}

/* --- start --- */

static void run_program(const child_t *child, int failures)
{
  signal(SIGPIPE, SIG_DFL); /* main ignores it */
  sigprocmask(SIG_SETMASK, &mask_before, NULL);
  execvp(child->arguments->words[0], child->arguments->words);
  int failure = errno;
  ssize_t written = write(failures, &failure, sizeof failure);
  _exit(written == sizeof failure ? NOT_FOUND : NOT_STARTED);
}

/* Processes whose parent ends become children of this one, so that they are found. */
static int start(child_t *child)
{
  int failures[2], failure = 0;
  const char *program = child->arguments->words[0];
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (pipe2(failures, O_CLOEXEC)) return command_failed(child->command, TB_ERR_SYSTEM, NULL);
  child->id = fork();
  if (child->id == 0) run_program(child, failures[1]);
  close(failures[1]);
  bool failed = child->id < 0 || read(failures[0], &failure, sizeof failure) > 0;
  close(failures[0]);
  if (!failed) return EXIT_OK;
  if (child->id < 0) return command_failed(child->command, TB_ERR_SYSTEM, NULL);
  waitpid(child->id, NULL, 0);
  text_err("timebase run: %s: %s\n", program, strerror(failure));
  return failure == ENOENT ? NOT_FOUND : NOT_STARTED;
}

/* --- its end, and signals --- */

static void reap(child_t *child)
{
  int status;
  for (pid_t id; (id = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (id != child->id) continue;
    child->has_ended = true;
    child->status = WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

/* What a terminal sends goes to the command as well, which is in the same group. */
static void take_signal(child_t *child, int signal, const siginfo_t *info)
{
  if (signal == SIGCHLD)
    reap(child);
  else if (info->si_code != SI_KERNEL)
    kill(child->id, signal);
}

/* False: the time has passed; INT64_MAX: there is none. */
static bool wait_for_signal(child_t *child, int64_t until_ns)
{
  siginfo_t info;
  int64_t left_ns = until_ns - command_steady_ns();
  struct timespec left = {0};
  if (left_ns > 0) left = (struct timespec){left_ns / TB_NS_PER_S, left_ns % TB_NS_PER_S};
  int signal =
      until_ns == INT64_MAX ? sigwaitinfo(&signals, &info) : sigtimedwait(&signals, &info, &left);
  if (signal > 0) take_signal(child, signal, &info);
  return signal > 0 || errno != EAGAIN;
}

static void end_command(child_t *child)
{
  int64_t until_ns = command_steady_ns() + LAST_CHANCE_NS;
  kill(child->id, SIGTERM);
  while (!child->has_ended && wait_for_signal(child, until_ns))
    ;
  if (child->has_ended) return;
  kill(child->id, SIGKILL);
  while (!child->has_ended)
    wait_for_signal(child, INT64_MAX);
}

/* --- whether it has taken the time --- */

/* Whether a process has reported a ROS clock that follows; one of an unknown release reports that
 * it is left alone. */
static bool has_reports(const child_t *child)
{
  char line[8192];
  bool has_any = false;
  FILE *file = child->report[0] ? fopen(child->report, "re") : NULL;
  while (file && !has_any && fgets(line, sizeof line, file))
    has_any = strstr(line, "\"event\": \"first_clock\"") != NULL;
  if (file) fclose(file);
  return has_any;
}

static bool has_taken(const child_t *child)
{
  if (child->nodes) return run_nodes_have_taken(child->nodes, name_of(child));
  return has_reports(child) || run_followers(name_of(child), getpid()) > 0;
}

/* EXIT_CHECK: it was required. */
static int not_taken(const child_t *child, const char *when)
{
  const run_arguments_t *arguments = child->arguments;
  const char *kind = arguments->require ? "" : "note: ";
  text_err("timebase run: %s", kind);
  if (child->nodes)
    run_nodes_print_missing(child->nodes);
  else
    text_err("no process of %s", arguments->words[0]);
  text_err(" has taken the time of %s %s\n", child->environment->source, when);
  run_explain(child->environment, arguments->words[0]);
  return arguments->require ? EXIT_CHECK : EXIT_OK;
}

/* Until it has taken the time, or has ended, or the limit has passed. */
static int watch(child_t *child)
{
  char limit[TB_DURATION_TEXT_SIZE] = "", when[TB_DURATION_TEXT_SIZE + 16];
  int64_t now_ns = command_steady_ns(), limit_ns = child->arguments->limit.ns;
  int64_t until_ns = limit_ns < INT64_MAX - now_ns ? now_ns + limit_ns : INT64_MAX;
  bool taken = false;
  while (!taken && !child->has_ended && command_steady_ns() < until_ns) {
    wait_for_signal(child, command_steady_ns() + POLL_NS);
    taken = has_taken(child);
  }
  if (taken || (child->has_ended && !child->arguments->require)) return EXIT_OK;
  tb_duration_format(child->arguments->limit, limit, sizeof limit);
  snprintf(when, sizeof when, "within %s", limit);
  return not_taken(child, child->has_ended ? "before it ended" : when);
}

/* --- reports --- */

/* The processes of the command report there which functions of rcl they have. */
static int open_report(child_t *child)
{
  const char *folder = getenv("TMPDIR");
  if (!child->environment->library || getenv("TIMEBASE_RCL_REPORT")) return EXIT_OK;
  if (!folder || strlen(folder) > 32) folder = "/tmp";
  snprintf(child->report, sizeof child->report, "%s/timebase-run-XXXXXX", folder);
  int file = mkstemp(child->report);
  if (file < 0) {
    child->report[0] = '\0';
    return child->arguments->check ? command_failed(child->command, TB_ERR_SYSTEM, NULL) : EXIT_OK;
  }
  close(file);
  return setenv("TIMEBASE_RCL_REPORT", child->report, 1)
             ? command_failed(child->command, TB_ERR_NO_MEMORY, NULL)
             : EXIT_OK;
}

static int start_and_wait(child_t *child)
{
  int result = start(child);
  if (result) return result;
  int missed = watch(child);
  if (missed && !child->has_ended) end_command(child);
  while (!child->has_ended)
    wait_for_signal(child, INT64_MAX);
  if (child->arguments->check) run_report_print(child->report, child->environment);
  return missed ? missed : child->status;
}

int run_child(const command_t *command, const run_arguments_t *arguments,
              const run_environment_t *environment)
{
  child_t child = {.command = command, .arguments = arguments, .environment = environment};
  int result = run_environment_set(command, environment);
  if (!result && (arguments->require || arguments->check)) result = open_report(&child);
  if (!result && arguments->node_count) result = run_nodes_open(command, arguments, &child.nodes);
  if (!result) result = start_and_wait(&child);
  run_nodes_close(child.nodes);
  if (child.report[0]) unlink(child.report);
  return result;
}
