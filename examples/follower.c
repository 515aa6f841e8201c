/* Follows /clock: prints ROS time and system time once a second of ROS time, and every jump.
 *
 *   follower CALLS_AFTER_JUMP LIMIT_S
 *
 * Ends CALLS_AFTER_JUMP timer calls after the first jump back, checks what it saw, and returns 0 if
 * all checks passed, 1 if not. LIMIT_S is in steady time. */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/timebase.h>

#define PERIOD TB_SECONDS(1)

typedef struct follower {
  tb_clock_t *clock, *wall;
  unsigned calls, early, unset; /* of the timer; used by the main thread */
  int64_t first_ros_ns, first_wall_ns;
  double rate;
  _Atomic unsigned jumps_back, started; /* used by the thread that moves time */
  _Atomic unsigned handler_errors;
} follower_t;

static double seconds(int64_t ns)
{
  return (double)ns / (double)TB_NS_PER_S;
}

/* Runs on the thread that moves the time; "before" still sees the old time, "after" the new one. */
static void before_jump(const tb_jump_t *jump, void *user)
{
  follower_t *follower = user;
  tb_time_t now;
  if (tb_now(follower->clock, &now) || now.ns != jump->before.ns)
    atomic_fetch_add(&follower->handler_errors, 1);
}

static void after_jump(const tb_jump_t *jump, void *user)
{
  follower_t *follower = user;
  tb_time_t now;
  if (tb_now(follower->clock, &now) || now.ns != jump->after.ns)
    atomic_fetch_add(&follower->handler_errors, 1);
  if (jump->kind == TB_JUMP_BACKWARD) {
    atomic_fetch_add(&follower->jumps_back, 1);
    printf("follower: jump back by %.3f s, from %.3f to %.3f\n", -seconds(jump->delta.ns),
           seconds(jump->before.ns), seconds(jump->after.ns));
  } else {
    atomic_fetch_add(&follower->started, 1);
    printf("follower: time starts at %.3f\n", seconds(jump->after.ns));
  }
}

static void on_timer(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer;
  follower_t *follower = user;
  tb_time_t wall;
  tb_now(follower->wall, &wall);
  follower->calls++;
  follower->early += info->actual.ns < info->scheduled.ns;
  follower->unset += !tb_time_is_set(info->actual);
  if (atomic_load(&follower->jumps_back) == 0) {
    if (follower->calls == 1) {
      follower->first_ros_ns = info->actual.ns;
      follower->first_wall_ns = wall.ns;
    } else {
      follower->rate = (double)(info->actual.ns - follower->first_ros_ns) /
                       (double)(wall.ns - follower->first_wall_ns);
    }
  }
  printf("follower: ROS %.3f   system %.3f   timer call %u for %.3f, missed %llu\n",
         seconds(info->actual.ns), seconds(wall.ns), follower->calls, seconds(info->scheduled.ns),
         (unsigned long long)info->missed);
}

/* Runs due timers until enough was seen. False: the limit in steady time was reached first. */
static bool follow(follower_t *follower, tb_timer_queue_t *queue, unsigned calls_after_jump,
                   int64_t limit_ns)
{
  tb_steady_clock_t *steady;
  tb_steady_time_t start, now;
  struct pollfd fd = {.fd = tb_timer_queue_fd(queue), .events = POLLIN};
  unsigned calls_at_jump = 0;
  bool jumped = false;
  if (tb_steady_clock_create(&steady) || tb_now(steady, &start)) return false;
  now = start;
  while (now.ns - start.ns < limit_ns) {
    poll(&fd, 1, 100);
    tb_timer_queue_run_due(queue, NULL);
    if (!jumped && atomic_load(&follower->jumps_back) > 0) {
      jumped = true;
      calls_at_jump = follower->calls;
    }
    if (jumped && follower->calls - calls_at_jump >= calls_after_jump) break;
    tb_now(steady, &now);
  }
  tb_steady_clock_destroy(steady);
  return now.ns - start.ns < limit_ns;
}

static int check(const char *what, bool ok)
{
  printf("follower: %-52s %s\n", what, ok ? "ok" : "FAILED");
  return ok ? 0 : 1;
}

static int report(follower_t *follower, bool in_time)
{
  int failed = 0;
  failed += check("the clock started, and jumped back once",
                  in_time && atomic_load(&follower->started) == 1 &&
                      atomic_load(&follower->jumps_back) == 1);
  failed += check("handlers saw the old time before and the new after",
                  atomic_load(&follower->handler_errors) == 0);
  failed += check("timers were called, never early, never at zero",
                  follower->calls > 3 && !follower->early && !follower->unset);
  printf("follower: ROS time ran %.2f times as fast as system time\n", follower->rate);
  failed += check("that is 5 within 10 %", follower->rate > 4.5 && follower->rate < 5.5);
  return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
  if (argc != 3) {
    fprintf(stderr, "usage: follower CALLS_AFTER_JUMP LIMIT_S\n");
    return 2;
  }
  follower_t follower = {0};
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_t *context = NULL;
  tb_source_t *source = NULL;
  tb_timer_queue_t *queue = NULL;
  tb_timer_t *timer;
  tb_jump_handler_t *handler;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (tb_ros2_context_create(NULL, &context, &error) ||
      tb_ros2_clock_source_create(context, NULL, &source, &error)) {
    fprintf(stderr, "follower: %s\n", error.text);
    return 3;
  }
  tb_clock_options_t ros = {TB_TIME_ROS, source}, wall = {TB_TIME_SYSTEM, NULL};
  tb_timer_options_t timer_options = {.period = PERIOD, .callback = on_timer, .user = &follower};
  tb_jump_handler_options_t handler_options = {
      .name = "follower",
      .threshold = {.min_backward = {-1}, .on_clock_change = true},
      .before = before_jump,
      .after = after_jump,
      .user = &follower,
  };
  tb_status_t status = tb_clock_create(&wall, &follower.wall);
  if (!status) status = tb_clock_create(&ros, &follower.clock);
  if (!status) status = tb_jump_handler_create(follower.clock, &handler_options, &handler);
  if (!status) status = tb_timer_queue_create(&queue);
  if (!status) status = tb_timer_create(queue, follower.clock, &timer_options, &timer);
  if (!status) status = tb_timer_start(timer);
  if (status) {
    fprintf(stderr, "follower: %s\n", tb_status_message(status));
    return 3;
  }
  bool in_time = follow(&follower, queue, (unsigned)atoi(argv[1]), atoi(argv[2]) * TB_NS_PER_S);
  int result = report(&follower, in_time);
  tb_timer_queue_destroy(queue);
  tb_jump_handler_destroy(handler);
  tb_clock_destroy(follower.clock);
  tb_clock_destroy(follower.wall);
  tb_source_destroy(source);
  tb_ros2_context_destroy(context);
  return result;
}
