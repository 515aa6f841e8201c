/* Sleeps in ROS time of /clock, however long that is in wall time.
 *
 *   sleeper COUNT MILLISECONDS LIMIT_S
 *
 * Sleeps COUNT times for MILLISECONDS of ROS time. Returns 0 if no sleep ended early, 1 if one did
 * or took longer than LIMIT_S of steady time. */
#include <stdio.h>
#include <stdlib.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/timebase.h>

static double seconds(int64_t ns)
{
  return (double)ns / (double)TB_NS_PER_S;
}

/* Whether the sleep was long enough. After a jump back this cannot be checked from outside. */
static bool sleep_once(tb_clock_t *clock, const tb_steady_clock_t *steady, int number,
                       tb_duration_t duration, const tb_wait_options_t *options)
{
  tb_clock_reading_t from, to;
  tb_steady_time_t began, ended;
  if (tb_clock_wait_until_started(clock, options) || tb_clock_read(clock, &from) ||
      tb_now(steady, &began))
    return false;
  tb_status_t status = tb_sleep_for(clock, duration, options);
  tb_clock_read(clock, &to);
  tb_now(steady, &ended);
  bool jumped = to.epoch != from.epoch;
  bool early = !jumped && to.time.ns - from.time.ns < duration.ns;
  printf("sleeper: %d: slept %.3f s of ROS time%s in %.3f s%s%s\n", number, seconds(duration.ns),
         jumped ? " across a jump" : "", seconds(ended.ns - began.ns), early ? ": EARLY" : "",
         status ? ": FAILED" : "");
  return !status && !early;
}

int main(int argc, char **argv)
{
  if (argc != 4) {
    fprintf(stderr, "usage: sleeper COUNT MILLISECONDS LIMIT_S\n");
    return 2;
  }
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_context_t *context = NULL;
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  tb_steady_clock_t *steady = NULL;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (tb_ros2_context_create(NULL, &context, &error) ||
      tb_ros2_clock_source_create(context, NULL, &source, &error)) {
    fprintf(stderr, "sleeper: %s\n", error.text);
    return 3;
  }
  tb_clock_options_t ros = {TB_TIME_ROS, source};
  if (tb_clock_create(&ros, &clock) || tb_steady_clock_create(&steady)) {
    fprintf(stderr, "sleeper: no clock\n");
    return 3;
  }
  tb_duration_t duration = {atoi(argv[2]) * TB_NS_PER_MS};
  tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
  options.limit.ns = atoi(argv[3]) * TB_NS_PER_S;
  int done = 0, count = atoi(argv[1]);
  while (done < count && sleep_once(clock, steady, done + 1, duration, &options))
    done++;
  printf("sleeper: %d of %d sleeps, none early %34s\n", done, count,
         done == count ? "ok" : "FAILED");
  tb_steady_clock_destroy(steady);
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  tb_ros2_context_destroy(context);
  return done == count ? 0 : 1;
}
