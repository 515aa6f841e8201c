/* Follows /clock, or what TIMEBASE_SOURCE names, and prints all that it sees, a line each, for
 * command_test.py:
 *
 *   tick TIME STEADY           every forward step, in order
 *   NAME before|after KIND FROM TO NOW      jump handlers "one" and "two": backward and first tick
 *   slept STATUS FROM TO       the answer to "sleep NS [LIMIT_NS]" on standard input
 *   now TIME STATE EPOCH MATCHED             the answer to "now"
 *   stats FORWARD BACKWARD STALLS RATE       jumps and so on of the source, the answer to "stats"
 *   log LEVEL TEXT             what the library logs
 *
 * Ends at the end of standard input. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/timebase.h>

static tb_clock_t *clock_ros;
static tb_steady_clock_t *clock_steady;
static tb_source_t *source;

static void on_tick(const tb_jump_t *jump, void *user)
{
  (void)user;
  tb_steady_time_t now = {0};
  tb_now(clock_steady, &now);
  if (jump->kind == TB_JUMP_FORWARD)
    printf("tick %" PRId64 " %" PRId64 "\n", jump->after.ns, now.ns);
}

static void print_jump(const char *name, const char *phase, const tb_jump_t *jump)
{
  static const char *const kinds[] = {"?", "forward", "backward", "change", "started"};
  tb_time_t now = {-1, TB_TIME_ROS};
  tb_now(clock_ros, &now);
  printf("%s %s %s %" PRId64 " %" PRId64 " %" PRId64 "\n", name, phase, kinds[jump->kind],
         jump->before.ns, jump->after.ns, now.ns);
}

static void on_before(const tb_jump_t *jump, void *user)
{
  print_jump(user, "before", jump);
}

static void on_after(const tb_jump_t *jump, void *user)
{
  print_jump(user, "after", jump);
}

typedef struct nap {
  pthread_t thread;
  int64_t duration_ns, limit_ns;
} nap_t;

static void *nap_run(void *argument)
{
  nap_t *nap = argument;
  tb_wait_options_t options = {.limit = {nap->limit_ns}};
  tb_time_t from = {0}, to = {0};
  tb_now(clock_ros, &from);
  tb_status_t status = tb_sleep_for(clock_ros, (tb_duration_t){nap->duration_ns}, &options);
  tb_now(clock_ros, &to);
  printf("slept %s %" PRId64 " %" PRId64 "\n", tb_status_name(status), from.ns, to.ns);
  free(nap);
  return NULL;
}

static void nap_start(const char *arguments)
{
  nap_t *nap = calloc(1, sizeof *nap);
  char *end;
  if (!nap) exit(3);
  nap->duration_ns = strtoll(arguments, &end, 10);
  nap->limit_ns = strtoll(end, NULL, 10);
  if (pthread_create(&nap->thread, NULL, nap_run, nap)) exit(3);
  pthread_detach(nap->thread);
}

static void report_now(void)
{
  tb_clock_reading_t reading = {0};
  tb_ros2_clock_source_status_t status = {0};
  tb_clock_read(clock_ros, &reading);
  tb_ros2_clock_source_status(source, &status);
  printf("now %" PRId64 " %d %" PRIu64 " %u\n", reading.time.ns, (int)reading.state, reading.epoch,
         status.matched);
}

static void report_stats(void)
{
  tb_timeline_stats_t stats = {0};
  tb_timeline_stats(tb_source_timeline(source), &stats);
  printf("stats %" PRIu64 " %" PRIu64 " %" PRIu64 " %.3f\n", stats.jumps_forward,
         stats.jumps_backward, stats.stalls, stats.rate);
}

static void report_log(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  printf("log %d %s\n", (int)level, message);
}

static tb_status_t handler_add(const char *name, tb_jump_threshold_t threshold,
                               tb_jump_callback_t before, tb_jump_callback_t after)
{
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {name, threshold, before, after, (void *)name};
  return tb_jump_handler_create(clock_ros, &options, &handler);
}

int main(void)
{
  tb_ros2_context_t *context;
  tb_error_t error = TB_ERROR_INIT;
  tb_jump_threshold_t every = {.min_forward = {1}};
  tb_jump_threshold_t back = {.min_backward = {-1}, .on_clock_change = true};
  char line[128];
  setvbuf(stdout, NULL, _IOLBF, 0);
  tb_log_set_hook(report_log, NULL);
  if (tb_ros2_context_create(NULL, &context, &error) ||
      tb_ros2_clock_source_create(context, NULL, &source, &error)) {
    fprintf(stderr, "clock_probe: %s\n", error.text);
    return 3;
  }
  if (tb_steady_clock_create(&clock_steady) || tb_clock_create(NULL, &clock_ros) ||
      handler_add("every", every, NULL, on_tick) || handler_add("one", back, on_before, on_after) ||
      handler_add("two", back, on_before, on_after) ||
      (!getenv("TIMEBASE_SOURCE") && tb_clock_set_source(clock_ros, source)))
    return 3;
  puts("ready");
  while (fgets(line, sizeof line, stdin)) {
    if (!strncmp(line, "sleep ", 6))
      nap_start(line + 6);
    else if (!strcmp(line, "now\n"))
      report_now();
    else if (!strcmp(line, "stats\n"))
      report_stats();
  }
  tb_clock_destroy(clock_ros);
  tb_source_destroy(source);
  tb_ros2_context_destroy(context);
  tb_steady_clock_destroy(clock_steady);
  return 0;
}
