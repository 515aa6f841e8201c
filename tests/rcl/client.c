/* What host.c loads: a user of librcl. Prints what it sees, one fact a line. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "standin.h"

EXPORTED int client_run(const char *scenario);

static rcl_clock_t clock_of_client;
static rcl_clock_t left_over; /* ended after main */

static void print_now(rcl_clock_t *clock)
{
  int64_t now_ns = 0;
  rcl_ret_t code = rcl_clock_get_now(clock, &now_ns);
  printf("now %d %" PRId64 "\n", code, now_ns);
}

static int64_t wait_for_other_time(rcl_clock_t *clock, int64_t not_ns)
{
  int64_t now_ns;
  while (rcl_clock_get_now(clock, &now_ns) == RCL_RET_OK && now_ns == not_ns)
    sched_yield();
  return now_ns;
}

static void plain(rcl_clock_t *clock)
{
  bool is_enabled = true;
  rcl_is_enabled_ros_time_override(clock, &is_enabled);
  printf("enabled %d\n", is_enabled);
  rcl_set_ros_time_override(clock, -5);
  rcl_enable_ros_time_override(clock);
  print_now(clock);
  rcl_disable_ros_time_override(clock);
  rcl_enable_ros_time_override(clock);
  print_now(clock);
}

static void ignore_jump(const rcl_time_jump_t *jump, bool before, void *user_data)
{
  (void)jump;
  (void)before;
  (void)user_data;
}

static void leave_over(void)
{
  rcl_allocator_t allocator = standin_allocator();
  rcl_jump_threshold_t threshold = {true, {1}, {-1}};
  rcl_clock_init(RCL_ROS_TIME, &left_over, &allocator);
  rcl_clock_add_jump_callback(&left_over, threshold, ignore_jump, NULL);
}

__attribute__((destructor)) static void end_left_over(void)
{
  if (!left_over.data) return;
  int removed = rcl_clock_remove_jump_callback(&left_over, ignore_jump, NULL);
  printf("after main %d %d\n", removed, rcl_clock_fini(&left_over));
  fflush(stdout);
}

/* The time at which a timer of 10 s was called, over whatever its publishers do. */
static void run_timer(rcl_clock_t *clock, rcl_clock_t *clock_of_timer)
{
  rcl_allocator_t allocator = standin_allocator();
  rcl_timer_t timer = {NULL}, *timers[] = {&timer};
  int64_t start_ns = wait_for_other_time(clock, 0);
  bool is_ready = false;
  rcl_timer_init2(&timer, clock_of_timer, NULL, INT64_C(10000000000), NULL, allocator, true);
  printf("waits from %" PRId64 "\n", start_ns);
  fflush(stdout);
  while (rcl_timer_is_ready(&timer, &is_ready) == RCL_RET_OK && !is_ready)
    standin_wait(timers, 1, -1);
  print_now(clock);
  rcl_timer_call(&timer);
  rcl_timer_fini(&timer);
}

/* A timer as create_wall_timer makes it. */
static void run_wall_timer(bool is_called)
{
  rcl_allocator_t allocator = standin_allocator();
  rcl_clock_t steady;
  rcl_timer_t timer = {NULL};
  rcl_steady_clock_init(&steady, &allocator);
  if (is_called)
    run_timer(&clock_of_client, &steady);
  else
    printf("timer %d\n", rcl_timer_init2(&timer, &steady, NULL, 1000, NULL, allocator, true));
  rcl_timer_fini(&timer);
  rcl_steady_clock_fini(&steady);
}

/* As an executor that is still spinning when the program ends. */
static _Atomic int spun;

static void *spin(void *unused)
{
  (void)unused;
  rcl_allocator_t allocator = standin_allocator();
  static rcl_timer_t timer;
  rcl_timer_t *timers[] = {&timer};
  rcl_timer_init2(&timer, &clock_of_client, NULL, 1000, NULL, allocator, true);
  for (;;) {
    bool is_ready = false;
    standin_wait(timers, 1, -1);
    if (rcl_timer_is_ready(&timer, &is_ready) == RCL_RET_OK && is_ready &&
        rcl_timer_call(&timer) == RCL_RET_OK)
      spun++;
  }
  return NULL;
}

static int leave_spinning(void)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, spin, NULL)) return 1;
  while (spun < 10)
    sched_yield();
  return 0;
}

/* ---- a constructor that uses librcl while its library is loaded ---- */

static pthread_t beside;
static _Atomic pid_t beside_id;

static void *init_clock(void *out_code)
{
  rcl_allocator_t allocator = standin_allocator();
  rcl_clock_t clock;
  atomic_store(&beside_id, gettid());
  *(rcl_ret_t *)out_code = rcl_clock_init(RCL_ROS_TIME, &clock, &allocator);
  return NULL;
}

/* 'S': it waits. */
static char state_of(pid_t thread)
{
  char path[64], text[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
  FILE *file = fopen(path, "r");
  size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  const char *name_end = length ? strrchr(text, ')') : NULL;
  return name_end ? name_end[2] : '?';
}

/* This thread has the loader's lock, for which the other one waits in its first call of librcl. */
__attribute__((constructor)) static void use_while_loaded(void)
{
  static rcl_ret_t code_beside;
  const char *when = getenv("CLIENT_USES_RCL_WHILE_LOADED");
  if (!when) return;
  if (!strcmp(when, "found")) rcl_timer_cancel(NULL); /* librcl has been looked for before */
  if (pthread_create(&beside, NULL, init_clock, &code_beside)) return;
  while (!atomic_load(&beside_id) || state_of(atomic_load(&beside_id)) != 'S')
    sched_yield();
  rcl_allocator_t allocator = standin_allocator();
  rcl_clock_t clock;
  printf("constructor %d\n", rcl_clock_init(RCL_ROS_TIME, &clock, &allocator));
}

static void print_beside(void)
{
  void *unused;
  if (!atomic_load(&beside_id)) return;
  pthread_join(beside, &unused);
  printf("beside\n");
}

int client_run(const char *scenario)
{
  print_beside();
  rcl_allocator_t allocator = standin_allocator();
  rcl_ret_t code = rcl_clock_init(RCL_ROS_TIME, &clock_of_client, &allocator);
  printf("init %d\n", code);
  if (code) return 1;
  if (!strcmp(scenario, "plain")) plain(&clock_of_client);
  if (!strcmp(scenario, "now")) {
    wait_for_other_time(&clock_of_client, 0);
    print_now(&clock_of_client);
  }
  if (!strcmp(scenario, "sim-time"))
    for (int i = 0; i < 3; i++) {
      rcl_enable_ros_time_override(&clock_of_client);
      rcl_set_ros_time_override(&clock_of_client, i);
    }
  if (!strcmp(scenario, "spinning")) return leave_spinning();
  if (!strcmp(scenario, "timer")) run_timer(&clock_of_client, &clock_of_client);
  if (!strncmp(scenario, "wall-timer", 10)) run_wall_timer(!scenario[10]);
  if (!strcmp(scenario, "after-main")) {
    wait_for_other_time(&clock_of_client, 0);
    leave_over();
  }
  printf("fini %d\n", rcl_clock_fini(&clock_of_client));
  fflush(stdout);
  return 0;
}
