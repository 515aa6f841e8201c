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
#define OFTEN_ROUNDS   50 /* of looks at processes */
#define SELDOM_ROUNDS  25

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

static sigset_t signals, mask_before;

typedef struct child {
  const command_t *command;
  const run_arguments_t *arguments;
  const run_environment_t *environment;
  pid_t id;
  bool has_ended;
  bool was_signalled; /* this process was asked to end, which was passed on */
  int status;
  run_time_t *time;
  run_reports_t *reports; /* NULL: none */
  run_processes_t *processes;
  run_nodes_t *nodes;
} child_t;

static const char *name_of(const child_t *child)
{
  return child->environment->source + strlen(RUN_TIME_PREFIX);
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
  if (signal == SIGCHLD) {
    reap(child);
    return;
  }
  if (signal != SIGUSR1 && signal != SIGUSR2) child->was_signalled = true;
  if (info->si_code != SI_KERNEL) kill(child->id, signal);
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

static bool is_followed(const child_t *child)
{
  if (child->nodes) return run_nodes_have_taken(child->nodes, name_of(child));
  return run_reports_has_follower(child->reports) || run_followers(name_of(child)) > 0;
}

/* The most precise reason that is known. */
static void explain(const child_t *child)
{
  const char *reason = run_time_reason(child->time);
  char *refusal = reason ? NULL : run_reports_refusal(child->reports);
  if (reason || refusal)
    text_err("timebase run: %s\n", reason ? reason : refusal);
  else if (!run_processes_explain(child->processes, child->arguments->words[0]))
    text_err("timebase run: %s\n",
             child->environment->library
                 ? "nothing in it uses rcl or timebase, or its ROS nodes have no clock yet"
                 : "libtimebase-rcl.so was not found, and nothing in it uses timebase");
  free(refusal);
}

/* EXIT_CHECK: it was required. */
static int not_taken(const child_t *child, bool is_followed_now, const char *when)
{
  const run_arguments_t *arguments = child->arguments;
  const char *kind = arguments->require ? "" : "note: ";
  int result = arguments->require ? EXIT_CHECK : EXIT_OK;
  if (is_followed_now) {
    text_err("timebase run: %sthe time of %s has not begun %s: ", kind, child->environment->source,
             when);
    text_err("%s\n", run_time_reason(child->time) ? run_time_reason(child->time)
                                                  : "its first tick came too late");
    return result;
  }
  if (child->nodes && run_nodes_print_missing(child->nodes, child->environment->source, when))
    return result;
  if (!child->nodes)
    text_err("timebase run: %sno process of %s has taken the time of %s %s\n", kind,
             arguments->words[0], child->environment->source, when);
  explain(child);
  return result;
}

/* Often at first: some processes end soon. */
static void look_at_processes(child_t *child, unsigned round)
{
  if (child->processes && (round < OFTEN_ROUNDS || round % SELDOM_ROUNDS == 0))
    run_processes_look(child->processes);
}

/* Until it has taken the time, which has begun; or has ended, or the limit has passed. That it was
 * ended by a signal that was sent to this process is no failure of what is required. */
static int watch(child_t *child)
{
  char limit[TB_DURATION_TEXT_SIZE] = "", when[TB_DURATION_TEXT_SIZE + 16];
  int64_t now_ns = command_steady_ns(), limit_ns = child->arguments->limit.ns;
  int64_t until_ns = limit_ns < INT64_MAX - now_ns ? now_ns + limit_ns : INT64_MAX;
  bool follows = false, taken = false;
  for (unsigned round = 0; !taken && !child->has_ended && command_steady_ns() < until_ns; round++) {
    look_at_processes(child, round);
    wait_for_signal(child, command_steady_ns() + POLL_NS);
    follows = is_followed(child);
    taken = follows && run_time_has_begun(child->time);
  }
  bool is_ended_in_vain = child->arguments->require && !child->was_signalled;
  if (taken || (child->has_ended && !is_ended_in_vain)) return EXIT_OK;
  tb_duration_format(child->arguments->limit, limit, sizeof limit);
  snprintf(when, sizeof when, "within %s", limit);
  return not_taken(child, follows, child->has_ended ? "before it ended" : when);
}

static void print_reports(const child_t *child)
{
  if (run_reports_print(child->reports, child->arguments->json)) return;
  if (child->arguments->json) return;
  text_out("no process has loaded rcl%s\n",
           child->environment->library ? "" : ": libtimebase-rcl.so was not found");
  command_flush();
  run_processes_explain(child->processes, child->arguments->words[0]);
}

static int start_and_wait(child_t *child)
{
  int result = start(child);
  if (result) return result;
  int missed = watch(child);
  bool has_crashed = child->has_ended && child->status > BY_SIGNAL;
  run_time_stop(child->time);
  if (missed && !child->has_ended) end_command(child);
  while (!child->has_ended)
    wait_for_signal(child, INT64_MAX);
  if (child->arguments->check) print_reports(child);
  return missed && !has_crashed ? missed : child->status;
}

int run_child(const command_t *command, const run_arguments_t *arguments,
              const run_environment_t *environment, run_time_t *time)
{
  child_t child = {
      .command = command, .arguments = arguments, .environment = environment, .time = time};
  int result = run_environment_set(command, environment);
  if (!result && environment->library && (arguments->require || arguments->check))
    result = run_reports_open(command, environment, &child.reports);
  if (!result && arguments->node_count) result = run_nodes_open(command, arguments, &child.nodes);
  child.processes = run_processes_create(environment);
  if (!result) result = start_and_wait(&child);
  run_processes_destroy(child.processes);
  run_nodes_close(child.nodes);
  run_reports_close(child.reports);
  return result;
}
