/* For unit tests: a wall clock that the test sets, and the thread that finds its steps. It is never
 * set back between tests: what was reported stays true. */
#ifndef TB_TEST_WALL_CLOCK_H
#define TB_TEST_WALL_CLOCK_H

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "clock/timeline.h"
#include "held/wall_step.h"
#include "platform/time.h"

static _Atomic int64_t wall_ahead_ns;
static int (*wall_gettime)(clockid_t id, struct timespec *out);

static int wall_fake_gettime(clockid_t id, struct timespec *out)
{
  int result = wall_gettime(id, out);
  if (id != CLOCK_REALTIME) return result;
  int64_t ns = (int64_t)out->tv_sec * 1000000000 + out->tv_nsec + atomic_load(&wall_ahead_ns);
  *out = (struct timespec){ns / 1000000000, ns % 1000000000};
  return result;
}

/* Once in a process, before it has threads. */
static inline void wall_begin(void)
{
  wall_gettime = tb__clock_gettime;
  tb__clock_gettime = wall_fake_gettime;
}

static inline void wall_set_by(int64_t step_ns)
{
  atomic_fetch_add(&wall_ahead_ns, step_ns);
  tb__wall_step_announce();
}

/* How many steps have been dispatched, changes of source included. */
static inline uint32_t wall_jumps(void)
{
  tb_timeline_t *timeline = tb__timeline_system();
  tb__mutex_lock(&timeline->mutex);
  uint32_t jumps = atomic_load(&timeline->jumps_done);
  tb__mutex_unlock(&timeline->mutex);
  return jumps;
}

static inline void wait_for_wall_jump(uint32_t before)
{
  while (wall_jumps() == before)
    sched_yield();
}

/* Sets the clock, and returns when that has been found and dispatched. A watcher is needed. */
static inline void wall_step(int64_t step_ns)
{
  uint32_t before = wall_jumps();
  wall_set_by(step_ns);
  wait_for_wall_jump(before);
}

/* Whether the process has the thread that watches. */
static inline bool wall_is_watched(void)
{
  bool found = false;
  DIR *tasks = opendir("/proc/self/task");
  for (const struct dirent *task; (task = readdir(tasks));) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "r");
    if (!file) continue;
    if (fgets(name, sizeof name, file) && !strcmp(name, "tb-steps\n")) found = true;
    fclose(file);
  }
  closedir(tasks);
  return found;
}

#endif
