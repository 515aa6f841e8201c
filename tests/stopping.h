/* For stress tests: a process is stopped again and again, as a whole (SIGSTOP) or one thread of it
 * alone, wherever it is just then, in a call of the library or not. */
#ifndef TB_TEST_STOPPING_H
#define TB_TEST_STOPPING_H

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "seed.h"

#define STOP_LONGEST_NS UINT64_C(20000000)

static inline void stop_pause(uint64_t ns)
{
  struct timespec rest = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
  ppoll(NULL, 0, &rest, NULL);
}

/* 0: it has ended. */
static inline pid_t stop_any_thread(pid_t process, uint64_t choice)
{
  char path[64];
  pid_t threads[256];
  size_t count = 0;
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  DIR *tasks = opendir(path);
  if (!tasks) return 0;
  for (struct dirent *entry; count < 256 && (entry = readdir(tasks));)
    if (entry->d_name[0] != '.') threads[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
  closedir(tasks);
  return count ? threads[choice % count] : 0;
}

/* Where processes may not be traced, nothing is stopped. On the thread that has the process. */
static inline void stop_thread(pid_t thread, uint64_t ns)
{
  int status = 0;
  if (!thread || ptrace(PTRACE_SEIZE, thread, 0, 0)) return;
  if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) || waitpid(thread, &status, __WALL) != thread ||
      !WIFSTOPPED(status))
    return;
  stop_pause(ns);
  bool by_signal = status >> 16 == 0; /* which is on its way to the thread */
  ptrace(PTRACE_DETACH, thread, 0, by_signal ? (long)WSTOPSIG(status) : 0);
}

/* Returns when no thread of it runs any more, or it has ended. */
static inline void stop_process(pid_t process)
{
  siginfo_t stopped;
  if (!kill(process, SIGSTOP)) waitid(P_PID, (id_t)process, &stopped, WSTOPPED | WEXITED | WNOWAIT);
}

/* Most stops are short, some long; one in three is of the whole process. */
static inline void stop_once(pid_t process, uint64_t *random)
{
  uint64_t longest_ns = test_random(random) % 8 ? STOP_LONGEST_NS / 20 : STOP_LONGEST_NS;
  uint64_t ns = 1 + test_random(random) % longest_ns;
  if (test_random(random) % 3 == 0) {
    stop_process(process);
    stop_pause(ns);
    kill(process, SIGCONT);
  } else {
    stop_thread(stop_any_thread(process, test_random(random) >> 8), ns);
  }
  stop_pause(test_random(random) % (STOP_LONGEST_NS / 10));
}

/* ---- a test that stops its own process ---- */

typedef struct stop_words {
  _Atomic bool done;  /* the child is about to end */
  _Atomic bool quiet; /* nothing of it is stopped any more */
} stop_words_t;

/* Runs the test in a child, which must not have made any object of the library before, and stops
 * it meanwhile. What fails there ends the child's test run, and with it this test. */
static inline void stopping_run(void (*test)(void), uint64_t seed)
{
  stop_words_t *words =
      mmap(NULL, sizeof *words, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(words != MAP_FAILED);
  uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    test();
    atomic_store(&words->done, true);
    while (!atomic_load(&words->quiet)) /* leak sanitizer stops threads itself */
      stop_pause(1000000);
    exit(0);
  }
  int status = 0;
  siginfo_t ended = {0};
  assert_true(child > 0);
  while (!atomic_load(&words->done) &&
         !(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid))
    stop_once(child, &random);
  atomic_store(&words->quiet, true);
  assert_int_equal(waitpid(child, &status, 0), child);
  munmap(words, sizeof *words);
  assert_int_equal(status, 0);
}

#endif
