/* A program that ends while timers, sleepers and sources are active ends with its own status: it
 * neither crashes nor hangs. Each way of ending is tried in separate processes. */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/timebase.h>
#include <unistd.h>

#define STATUS 7
#define TRIES  10

static const char *const ways[] = {"return",
                                   "exit",
                                   "exit in a thread",
                                   "exit in a timer callback",
                                   "exit in a jump callback",
                                   "quick_exit",
                                   "pthread_exit"};

static tb_source_t *source, *running;
static tb_clock_t *clocks[3];
static tb_steady_clock_t *steady;
static tb_timer_queue_t *queue;
static const char *way;
static atomic_int calls;

static void check(tb_status_t status, const char *what)
{
  if (!status) return;
  fprintf(stderr, "exit_test: %s: %s\n", what, tb_status_name(status));
  _exit(1);
}

#define CHECK(call) check(call, #call)

static void end_if(const char *here)
{
  if (strcmp(way, here) == 0) exit(STATUS);
}

static void on_timer(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer, (void)info, (void)user;
  if (atomic_fetch_add(&calls, 1) == 3) end_if("exit in a timer callback");
}

static void on_jump(const tb_jump_t *jump, void *user)
{
  (void)jump, (void)user;
  end_if("exit in a jump callback");
}

static void *sleep_on(void *clock)
{
  tb_status_t status = tb_clock_sleep_for(clock, (tb_duration_t){INT64_MAX}, NULL);
  (void)status;
  return NULL;
}

/* It jumps back now and then. */
static void *tick(void *user)
{
  for (int64_t i = 1; source; i++)
    tb_manual_source_set(source, (i % 1000 + 1) * TB_NS_PER_MS);
  return user;
}

static void *exit_here(void *user)
{
  (void)user;
  exit(STATUS);
}

static void start(void *(*run)(void *), void *argument)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, argument)) _exit(1);
  pthread_detach(thread);
}

static void make(void)
{
  tb_timer_t *timer;
  tb_jump_handler_t *handler;
  tb_steady_time_t now;
  const tb_steady_timer_options_t timer_options = {.period = {TB_NS_PER_MS / 10},
                                                   .callback = on_timer};
  const tb_jump_handler_options_t handler_options = {.threshold.min_backward.ns = -1,
                                                     .after = on_jump};
  CHECK(tb_manual_source_create(&source));
  CHECK(tb_manual_source_create(&running));
  CHECK(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &clocks[0]));
  CHECK(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, running}, &clocks[1]));
  CHECK(tb_clock_create(&(tb_clock_options_t){TB_TIME_SYSTEM, NULL}, &clocks[2]));
  CHECK(tb_steady_clock_create(&steady));
  CHECK(tb_timer_queue_create(&queue));
  CHECK(tb_timer_create(queue, steady, &timer_options, &timer));
  CHECK(tb_jump_handler_create(clocks[0], &handler_options, &handler));
  CHECK(tb_timer_start(timer));
  CHECK(tb_timer_queue_start_thread(queue));
  CHECK(tb_now(steady, &now));
  const tb_anchor_t anchor = {TB_NS_PER_S, now, 1, {INT64_MAX}, TB_CLOCK_RUNNING, 0};
  CHECK(tb_timeline_anchor(tb_source_timeline(running), &anchor, TB_JUMP_REASON_NONE));
  for (int i = 0; i < 3; i++)
    start(sleep_on, clocks[i]);
  start(tick, NULL);
}

static int live(const char *how)
{
  way = how;
  make();
  while (atomic_load(&calls) < 2)
    sched_yield();
  end_if("exit");
  if (strcmp(how, "quick_exit") == 0) quick_exit(STATUS);
  if (strcmp(how, "exit in a thread") == 0) start(exit_here, NULL);
  if (strcmp(how, "pthread_exit") == 0) {
    start(exit_here, NULL);
    pthread_exit(NULL);
  }
  while (strcmp(how, "return") != 0)
    pause();
  return STATUS;
}

int main(int argc, char **argv)
{
  extern char **environ;
  if (argc == 2) return live(argv[1]);
  int failed = 0;
  for (size_t i = 0; i < TRIES * sizeof ways / sizeof *ways; i++) {
    char *arguments[] = {argv[0], (char *)ways[i / TRIES], NULL};
    pid_t child;
    int status;
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) ||
        waitpid(child, &status, 0) != child)
      return 1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS) continue;
    fprintf(stderr, "%s: wait status %#x\n", arguments[1], (unsigned)status);
    failed = 1;
  }
  return failed;
}
