/* usage: test_launch [--ceiling=S] [--host-network] NAME COMMAND [ARGUMENT...]
 *
 * Gives the test a loopback interface and a /dev/shm of its own, where the kernel lets it, so that
 * ports, DDS domains and names of shared memory are its own, whatever else runs on the machine.
 *
 * Runs a test's command and ends as it does. Every process that it has started and not waited for
 * becomes a child of this one: what is still there 5 s after the command's end is named and killed,
 * and the test has failed. Adds a line "NAME PROCESSOR_S WALL_S MAX_RSS_KIB STATUS CEILING" to the
 * file $TB_TEST_TIMES, if that is set; the processor time is that of all of these processes. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANNOT_START = 127, LEFT_PROCESSES = 99 };

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double of_timeval(struct timeval time)
{
  return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static int write_file(const char *path, const char *text)
{
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : write(fd, text, strlen(text));
  if (fd >= 0) close(fd);
  return length < 0 ? -1 : 0;
}

/* In a user namespace, for who may not otherwise: with the same ids, so that the test has no more
 * rights. */
static int unshare_as_user(int flags)
{
  char users[64], groups[64];
  snprintf(users, sizeof users, "%d %d 1", (int)getuid(), (int)getuid());
  snprintf(groups, sizeof groups, "%d %d 1", (int)getgid(), (int)getgid());
  if (unshare(flags | CLONE_NEWUSER) != 0) return -1;
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", users);
  write_file("/proc/self/gid_map", groups);
  return 0;
}

static void isolate(void)
{
  const int flags = CLONE_NEWNET | CLONE_NEWNS;
  if (unshare(flags) != 0 && unshare_as_user(flags) != 0) return;
  struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING | IFF_MULTICAST};
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &loopback) != 0) perror("test_launch: loopback interface");
  if (fd >= 0) close(fd);
  if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0)
    perror("test_launch: /dev/shm");
}

static int read_file(const char *path, char *text, size_t size)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);
  if (fd >= 0) close(fd);
  text[length > 0 ? length : 0] = '\0';
  return (int)length;
}

/* Names and kills the children of this process. */
static void kill_children(void)
{
  char path[64], children[4096], words[512];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  read_file(path, children, sizeof children);
  for (char *next, *pid = strtok_r(children, " ", &next); pid; pid = strtok_r(NULL, " ", &next)) {
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    int length = read_file(path, words, sizeof words);
    for (int i = 0; i < length - 1; i++)
      if (words[i] == '\0') words[i] = ' ';
    fprintf(stderr, "test_launch: the test has left process %s: %s\n", pid, words);
    kill((pid_t)atoi(pid), SIGKILL);
  }
}

/* Whether all children have ended within 5 s. SIGCHLD is blocked, so that none is missed. */
static int wait_for_children(const sigset_t *child_ended)
{
  for (double end = seconds() + 5, left = 5; left > 0; left = end - seconds()) {
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
    }
    if (pid < 0 && errno == ECHILD) return 1;
    struct timespec limit = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    sigtimedwait(child_ended, NULL, &limit);
  }
  return 0;
}

static int run(char **command, const sigset_t *child_ended)
{
  pid_t pid, child = fork();
  if (child == 0) {
    sigprocmask(SIG_UNBLOCK, child_ended, NULL);
    execvp(command[0], command);
    fprintf(stderr, "test_launch: %s: %s\n", command[0], strerror(errno));
    _exit(CANNOT_START);
  }
  int status = 0;
  while ((pid = wait(&status)) != child)
    if (pid < 0 && errno != EINTR) return CANNOT_START;
  if (WIFSIGNALED(status))
    fprintf(stderr, "test_launch: ended by signal %d: %s\n", WTERMSIG(status),
            strsignal(WTERMSIG(status)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void note(const char *name, double wall, int status, int ceiling)
{
  const char *path = getenv("TB_TEST_TIMES");
  struct rusage used;
  char line[256];
  if (!path || getrusage(RUSAGE_CHILDREN, &used) != 0) return;
  snprintf(line, sizeof line, "%s %.2f %.2f %ld %d %d\n", name,
           of_timeval(used.ru_utime) + of_timeval(used.ru_stime), wall, used.ru_maxrss, status,
           ceiling);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, line, strlen(line)) < 0)
    fprintf(stderr, "test_launch: %s: %s\n", path, strerror(errno));
  if (fd >= 0) close(fd);
}

int main(int argc, char **argv)
{
  double began = seconds();
  int at = 1, ceiling = 0, is_isolated = 1;
  for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
    if (strncmp(argv[at], "--ceiling=", 10) == 0) ceiling = atoi(argv[at] + 10);
    if (strcmp(argv[at], "--host-network") == 0) is_isolated = 0;
  }
  if (argc - at < 2) {
    fputs("usage: test_launch [--ceiling=S] [--host-network] NAME COMMAND [ARGUMENT...]\n", stderr);
    return 2;
  }
  if (is_isolated) isolate();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t child_ended;
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_ended, NULL);
  int status = run(argv + at + 1, &child_ended);
  double wall = seconds() - began;
  /* Children of what is killed come here in turn. */
  for (int tries = 0; !wait_for_children(&child_ended) && tries < 5; tries++) {
    kill_children();
    if (status == 0) status = LEFT_PROCESSES;
  }
  note(argv[at], wall, status, ceiling);
  return status;
}
