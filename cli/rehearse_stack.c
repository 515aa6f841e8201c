#include "rehearse_stack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text.h"

#define SLICE_MS 10
#define INT_MS   5000 /* as ros2 launch waits */
#define TERM_MS  2000

/* In the child; writes errno and ends if that fails. */
static void run_child(char **argv, pid_t parent, int failed)
{
  setpgid(0, 0);
  /* If this process is killed, nobody else ends the command. */
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  signal(SIGPIPE, SIG_DFL);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0) dup2(null, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  (void)close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC); /* sockets of DDS */
  execvp(argv[0], argv);
  int code = errno;
  ssize_t written = write(failed, &code, sizeof code);
  (void)written;
  _exit(127);
}

int rehearse_stack_start(const command_t *command, char **argv, int domain, rehearse_stack_t *out)
{
  int failed[2], code = 0;
  char number[16];
  pid_t parent = getpid();
  *out = (rehearse_stack_t){0};
  if (pipe2(failed, O_CLOEXEC) != 0) return command_failed(command, TB_ERR_SYSTEM, NULL);
  /* Processes that outlive the command become children of this one, and can be waited for. */
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  snprintf(number, sizeof number, "%d", domain);
  if (domain >= 0) setenv("ROS_DOMAIN_ID", number, 1); /* its own contexts were given it */
  pid_t pid = fork();
  if (pid == 0) run_child(argv, parent, failed[1]);
  close(failed[1]);
  ssize_t got = pid > 0 ? read(failed[0], &code, sizeof code) : -1;
  if (pid < 0) code = errno;
  close(failed[0]);
  if (pid > 0) {
    setpgid(pid, pid); /* both do it: whoever comes first */
    out->pid = pid;
  }
  if (pid > 0 && got <= 0) return EXIT_OK;
  if (pid > 0) rehearse_stack_end(out);
  text_err("timebase %s: cannot run '%s': %s\n", command->name, argv[0], strerror(code));
  return EXIT_USAGE;
}

/* Also reaps processes that have outlived the command. */
static void reap(rehearse_stack_t *stack)
{
  int status;
  for (pid_t pid; (pid = waitpid(-stack->pid, &status, WNOHANG)) > 0;) {
    if (pid != stack->pid) continue;
    stack->is_ended = true;
    stack->status = status;
  }
}

bool rehearse_stack_has_ended(rehearse_stack_t *stack)
{
  if (stack->pid && !stack->is_ended) reap(stack);
  return stack->is_ended;
}

void rehearse_stack_describe(const rehearse_stack_t *stack, char *out, size_t size)
{
  if (WIFSIGNALED(stack->status))
    snprintf(out, size, "signal %d", WTERMSIG(stack->status));
  else
    snprintf(out, size, "exit status %d", WEXITSTATUS(stack->status));
}

/* Whether the group is gone within that time after the signal. */
static bool end_by(rehearse_stack_t *stack, int number, int limit_ms)
{
  if (kill(-stack->pid, number) != 0 && errno == ESRCH) return true;
  for (int waited_ms = 0;; waited_ms += SLICE_MS) {
    reap(stack);
    if (kill(-stack->pid, 0) != 0 && errno == ESRCH) return true;
    if (waited_ms >= limit_ms) return false;
    poll(NULL, 0, SLICE_MS);
  }
}

void rehearse_stack_end(rehearse_stack_t *stack)
{
  if (!stack->pid) return;
  if (!end_by(stack, SIGINT, INT_MS) && !end_by(stack, SIGTERM, TERM_MS))
    (void)end_by(stack, SIGKILL, TERM_MS);
  stack->pid = 0;
}
