#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/futex.h"

static _Atomic int blocks;
static _Atomic bool armed;
static _Atomic int pass; /* what fails in this one */
static _Atomic int calls_left;
static _Thread_local bool is_suspended;
static const char *_Atomic failed_call;
static _Atomic int failed_kind;

/* One after the other, so that each counts only its own calls. Allocations of other libraries are
 * many: a sample of them is enough. */
static const struct pass {
  bool kinds[FAULT_HARMLESS + 1];
  int step;
  const char *what;
} passes[] = {
    {{[FAULT_MEMORY] = true, [FAULT_SYSTEM] = true, [FAULT_MIDDLEWARE] = true}, 1, "calls failed"},
    {{[FAULT_HARMLESS] = true}, 1, "calls failed without harm"},
    {{[FAULT_OPTIONAL] = true}, 7, "calls could fail, of which every 7th did"},
};

void fault_arm(bool on)
{
  atomic_store(&armed, on);
}

void fault_suspend(bool on)
{
  is_suspended = on;
}

bool fault_strikes(fault_kind_t kind, const char *call)
{
  if (is_suspended || !atomic_load(&armed) || !passes[atomic_load(&pass)].kinds[kind]) return false;
  if (atomic_fetch_sub(&calls_left, 1) != 1) return false;
  atomic_store(&failed_kind, kind);
  atomic_store(&failed_call, call);
  return true;
}

static const tb_status_t ends_in[] = {
    [FAULT_MEMORY] = TB_ERR_NO_MEMORY, [FAULT_OPTIONAL] = TB_ERR_NO_MEMORY,
    [FAULT_SYSTEM] = TB_ERR_SYSTEM,    [FAULT_MIDDLEWARE] = TB_ERR_TRANSPORT,
    [FAULT_HARMLESS] = TB_OK,
};

tb_status_t fault_status(void)
{
  return atomic_load(&failed_call) ? ends_in[atomic_load(&failed_kind)] : TB_OK;
}

bool fault_has_struck(void)
{
  return atomic_load(&failed_call) != NULL;
}

void fault_count_blocks(int by)
{
  atomic_fetch_add(&blocks, by);
}

void __real_free(void *block);
void __wrap_free(void *block);
void __wrap_free(void *block)
{
  if (block) fault_count_blocks(-1);
  __real_free(block);
}

/* Its memory is of the C library; tb__libc_free counts it. */
char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved)
{
#ifdef FAULTS_OF_ROS2 /* which does without */
  const fault_kind_t kind = FAULT_HARMLESS;
#else
  const fault_kind_t kind = FAULT_SYSTEM;
#endif
  if (fault_strikes(kind, "realpath")) {
    errno = EIO;
    return NULL;
  }
  char *result = __real_realpath(path, resolved);
  if (result && !resolved) fault_count_blocks(1);
  return result;
}

#define ALLOCATES(name, taken, parameters, arguments)                                              \
  void *__real_##name parameters;                                                                  \
  void *__wrap_##name parameters;                                                                  \
  void *__wrap_##name parameters                                                                   \
  {                                                                                                \
    bool had = (taken) != NULL;                                                                    \
    if (fault_strikes(FAULT_MEMORY, #name)) {                                                      \
      errno = ENOMEM;                                                                              \
      return NULL;                                                                                 \
    }                                                                                              \
    void *result = __real_##name arguments;                                                        \
    if (result && !had) fault_count_blocks(1);                                                     \
    return result;                                                                                 \
  }
#define CALLS(kind, type, name, failure, error, parameters, arguments)                             \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters                                                                    \
  {                                                                                                \
    if (fault_strikes(FAULT_##kind, #name)) {                                                      \
      errno = error;                                                                               \
      return failure;                                                                              \
    }                                                                                              \
    return __real_##name arguments;                                                                \
  }
#include "core_calls.inc"
#ifdef FAULTS_OF_BAGS
#include "bag_calls.inc"
#endif
#ifdef FAULTS_OF_ROS2
#include "ros2_calls.inc"
#endif

int __real_fcntl(int fd, int command, void *lock);
int __wrap_fcntl(int fd, int command, void *lock);
int __wrap_fcntl(int fd, int command, void *lock)
{
  const struct flock *range = lock;
  bool locks = command == F_OFD_SETLK && range->l_type != F_UNLCK;
  if (!fault_strikes(locks ? FAULT_SYSTEM : FAULT_HARMLESS, "fcntl"))
    return __real_fcntl(fd, command, lock);
  errno = ENOLCK;
  return -1;
}

static int open_descriptors(void)
{
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  assert_non_null(folder);
  while (readdir(folder))
    count++;
  closedir(folder);
  return count;
}

/* What the library reports of each failure is not looked at, and writing it is no call that may
 * fail. */
__attribute__((constructor)) static void be_quiet(void)
{
  setenv("TIMEBASE_LOG", "off", 1);
}

/* False: nothing failed. */
static bool run_once(fault_scenario_t scenario, int nth)
{
  int blocks_before = atomic_load(&blocks), descriptors_before = open_descriptors();
  atomic_store(&failed_call, NULL);
  atomic_store(&calls_left, nth);
  fault_arm(true);
  tb_status_t status = scenario();
  fault_arm(false);
  const char *call = atomic_load(&failed_call);
  tb_status_t expected = fault_status();
  bool optional = call && atomic_load(&failed_kind) == FAULT_OPTIONAL;
  const char *name = call ? call : "nothing";
  if (status != expected && !(optional && !status))
    fail_msg("call %d, %s failed: %s, expected %s", nth, name, tb_status_name(status),
             tb_status_name(expected));
  if (atomic_load(&blocks) != blocks_before)
    fail_msg("call %d, %s failed: %d blocks left", nth, name, atomic_load(&blocks) - blocks_before);
  if (open_descriptors() != descriptors_before)
    fail_msg("call %d, %s failed: %d descriptors left", nth, name,
             open_descriptors() - descriptors_before);
  return call;
}

void fault_sweep(fault_scenario_t scenario, void (*still_works)(void))
{
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
    atomic_store(&pass, (int)i);
    int nth = 1;
    for (; run_once(scenario, nth); nth += passes[i].step)
      if (still_works) still_works();
    printf("%d %s\n", nth - 1, passes[i].what);
  }
}

#define NOTHING_FAILED 0
#define PASSED         2 /* something failed, as it should */

/* A child must not return to the test runner, which would go on with the next test. */
static int child_run(fault_scenario_t scenario, int nth)
{
  atomic_store(&failed_call, NULL);
  atomic_store(&calls_left, nth);
  fault_arm(true);
  tb_status_t status = scenario();
  fault_arm(false);
  tb_status_t again = scenario();
  const char *call = atomic_load(&failed_call);
  bool optional = call && atomic_load(&failed_kind) == FAULT_OPTIONAL;
  bool is_right = status == fault_status() || (optional && !status);
  if (is_right && !again) return call ? PASSED : NOTHING_FAILED;
  fprintf(stderr, "call %d, %s failed: %s, expected %s; then %s\n", nth, call ? call : "nothing",
          tb_status_name(status), tb_status_name(fault_status()), tb_status_name(again));
  return 1;
}

void fault_sweep_in_children(fault_scenario_t scenario, void (*begin)(void), void (*end)(void))
{
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
    int nth = 1 - passes[i].step, status = PASSED << 8;
    atomic_store(&pass, (int)i);
    while (WIFEXITED(status) && WEXITSTATUS(status) == PASSED) {
      nth += passes[i].step;
      pid_t child = fork();
      if (child == 0) {
        begin();
        int result = child_run(scenario, nth);
        end();
        _exit(result);
      }
      assert_int_equal(waitpid(child, &status, 0), child);
    }
    assert_int_equal(status, NOTHING_FAILED);
    printf("%d %s\n", nth - 1, passes[i].what);
  }
}
