/* ros1_follower [always|hold|name|two] [NODE]: a program with a clock on the ROS 1 source. Each
 * line of its input is answered with the clock's time, state, and what the source counts, as JSON;
 * before that the clock leaves the source for "leave" and comes back to it for "back", for
 * "end" a second source is destroyed, for "fork" a child reads the clock and destroys
 * everything, and for "step N" the process's system time is set by N seconds. Messages of the
 * library go to stderr. "always": whatever /use_sim_time is; "hold": the first publisher is
 * followed; "name": by TIMEBASE_SOURCE; "two": two sources of one context. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <timebase/clock.h>
#include <timebase/log.h>
#include <timebase/ros1_clock_source.h>
#include <timebase/timeline.h>
#include <unistd.h>

#include "platform/time.h"

static _Atomic int64_t system_ahead_s;
static int (*real_gettime)(clockid_t id, struct timespec *out);

static int shifted_gettime(clockid_t id, struct timespec *out)
{
  int result = real_gettime(id, out);
  if (id == CLOCK_REALTIME) out->tv_sec += system_ahead_s;
  return result;
}

static void print_log(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  fprintf(stderr, "%d %s\n", (int)level, message);
  fflush(stderr);
}

static void fail(const char *what, tb_status_t status, const tb_error_t *error)
{
  fprintf(stderr, "%s: %s %s\n", what, tb_status_name(status), error ? error->text : "");
  exit(1);
}

static const char *const states[] = {"",        "inactive", "no source", "no publisher",
                                     "qos",     "waiting",  "running",   "paused",
                                     "stalled", "lost",     "closed"};

static void answer(tb_clock_t *clock, tb_source_t *source)
{
  tb_clock_reading_t reading;
  tb_timeline_stats_t stats;
  tb_ros1_clock_source_status_t status = {0};
  tb_status_t failed = tb_clock_read(clock, &reading);
  if (failed) fail("tb_clock_read", failed, NULL);
  if (source) {
    failed = tb_ros1_clock_source_status(source, &status);
    if (failed) fail("tb_ros1_clock_source_status", failed, NULL);
    tb_timeline_stats(tb_source_timeline(source), &stats);
  } else
    memset(&stats, 0, sizeof stats);
  printf("{\"time_ns\": %lld, \"state\": \"%s\", \"epoch\": %llu, \"mode\": %d, \"connected\": %u, "
         "\"samples\": %llu, \"invalid\": %llu, \"refused\": %llu, \"faults\": %llu, "
         "\"jumps_backward\": %llu, \"ticks\": %llu, \"rate\": %g, \"dropped\": %llu}\n",
         (long long)reading.time.ns, states[reading.state], (unsigned long long)reading.epoch,
         (int)status.mode, status.connected, (unsigned long long)status.samples,
         (unsigned long long)status.invalid, (unsigned long long)status.refused,
         (unsigned long long)status.faults, (unsigned long long)stats.jumps_backward,
         (unsigned long long)stats.ticks, stats.rate, (unsigned long long)stats.dropped);
  fflush(stdout);
}

static void run_child(tb_clock_t *clock, tb_source_t *source, tb_ros1_context_t *context)
{
  int status = -1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    tb_time_t now;
    tb_ros1_context_t *another = NULL;
    tb_status_t failed = tb_clock_now(clock, &now);
    bool refused = tb_ros1_context_create(NULL, &another, NULL) == TB_ERR_FORKED;
    tb_clock_destroy(clock);
    tb_source_destroy(source);
    tb_ros1_context_destroy(context);
    _exit(failed || !refused || now.ns == 0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    fprintf(stderr, "the child ended with %d\n", status);
    exit(1);
  }
}

int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "";
  tb_error_t error = TB_ERROR_INIT;
  tb_ros1_context_t *context = NULL;
  tb_source_t *source = NULL, *second = NULL;
  tb_clock_options_t clock_options = TB_CLOCK_OPTIONS_INIT;
  tb_clock_t *clock, *second_clock = NULL;
  tb_log_set_hook(print_log, NULL);
  real_gettime = tb__clock_gettime;
  tb__clock_gettime = shifted_gettime;
  tb_status_t status = TB_OK;
  if (strcmp(how, "name") != 0) {
    tb_ros1_context_options_t options = TB_ROS1_CONTEXT_OPTIONS_INIT;
    tb_ros1_clock_source_options_t source_options = TB_ROS1_CLOCK_SOURCE_OPTIONS_INIT;
    if (argc > 2) options.node_name = argv[2];
    if (!strcmp(how, "always")) source_options.sim_time = TB_ROS1_SIM_TIME_ALWAYS;
    if (!strcmp(how, "hold")) source_options.publishers = TB_ROS1_CLOCK_HOLD_TO_FIRST;
    status = tb_ros1_context_create(&options, &context, &error);
    if (!status) status = tb_ros1_clock_source_create(context, &source_options, &source, &error);
    if (!status && !strcmp(how, "two")) {
      status = tb_ros1_clock_source_create(context, NULL, &second, &error);
      clock_options.source = second;
      if (!status) status = tb_clock_create(&clock_options, &second_clock);
    }
    if (status) fail("source", status, &error);
    clock_options.source = source;
  }
  status = tb_clock_create(&clock_options, &clock);
  if (status) fail("tb_clock_create", status, NULL);
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    if (!strcmp(line, "leave\n")) tb_clock_set_source(clock, NULL);
    if (!strcmp(line, "back\n")) tb_clock_set_source(clock, source);
    if (!strcmp(line, "end\n")) {
      tb_source_destroy(second);
      second = NULL;
    }
    if (!strncmp(line, "step ", 5)) system_ahead_s += strtol(line + 5, NULL, 10);
    if (!strcmp(line, "fork\n")) run_child(clock, source, context);
    answer(clock, source);
  }
  tb_clock_destroy(second_clock);
  tb_source_destroy(second);
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  tb_ros1_context_destroy(context);
  return 0;
}
