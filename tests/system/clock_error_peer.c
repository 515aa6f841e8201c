/* What the error of simulated time is, measured: one process serves a clock of which it knows the
 * time at any moment, the other reads it. Steady time is the same in both.
 *
 *   clock_error_peer serve FACTOR HZ    ticks of /clock, until the end of standard input; prints
 *                                       "tick STEADY_NS ROS_NS" for each: its time was that then,
 * and advances by FACTOR between ticks as well clock_error_peer read HZ            "ready" after
 * the first tick; after a line on standard input reads the clock HZ times a second and prints "read
 * STEADY_NS ROS_NS", until the end of standard input */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/clock.h>
#include <timebase/generic.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_publisher.h>
#include <timebase/steady_clock.h>
#include <unistd.h>

#define BEGIN_NS (1000 * TB_NS_PER_S)
#define SHORT_NS (50 * TB_NS_PER_MS / 1000)

static tb_steady_clock_t *steady;
static tb_ros2_context_t *context;

static void check(tb_status_t status, const tb_error_t *error)
{
  if (!status) return;
  fprintf(stderr, "clock_error_peer: %s: %s\n", tb_status_name(status), error ? error->text : "");
  exit(1);
}

static int64_t now_ns(void)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(steady, &now);
  return now.ns;
}

static void rest(int64_t until_ns)
{
  int64_t left_ns = until_ns - now_ns();
  if (left_ns > 0) tb_steady_clock_sleep_for(steady, (tb_duration_t){left_ns}, NULL);
}

/* Whether there is a line; ends the program at the end of input. */
static bool has_line(int wait_ms)
{
  char byte;
  struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
  if (poll(&fd, 1, wait_ms) <= 0) return false;
  if (read(STDIN_FILENO, &byte, 1) <= 0) {
    fflush(stdout);
    exit(0);
  }
  return true;
}

static void serve(double factor, double hz)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_publisher_t *publisher;
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  int64_t period_ns = (int64_t)(1e9 / hz), begin_ns = now_ns();
  check(tb_ros2_publisher_create(context, "/clock", "rosgraph_msgs/msg/Clock", &qos, &publisher,
                                 &error),
        &error);
  for (int64_t next_ns = begin_ns;; next_ns += period_ns) {
    uint8_t cdr[12] = {0, 1, 0, 0};
    rest(next_ns);
    int64_t at_ns = now_ns();
    int64_t ros_ns = BEGIN_NS + (int64_t)(factor * (double)(at_ns - begin_ns));
    uint32_t words[] = {(uint32_t)(ros_ns / TB_NS_PER_S), (uint32_t)(ros_ns % TB_NS_PER_S)};
    memcpy(cdr + 4, words, sizeof words);
    check(tb_ros2_publisher_publish(publisher, cdr, sizeof cdr, &error), &error);
    printf("tick %lld %lld\n", (long long)at_ns, (long long)ros_ns);
    has_line(0);
  }
}

static void follow(double hz)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_source_t *source;
  tb_clock_t *clock;
  tb_time_t time = {0};
  int64_t period_ns = (int64_t)(1e9 / hz);
  check(tb_ros2_clock_source_create(context, NULL, &source, &error), &error);
  check(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &clock), NULL);
  while (tb_clock_now(clock, &time) || time.ns <= 0)
    has_line(10);
  printf("ready\n");
  while (!has_line(100))
    ;
  for (int64_t next_ns = now_ns();; next_ns += period_ns) {
    rest(next_ns);
    int64_t before_ns = now_ns();
    check(tb_clock_now(clock, &time), NULL);
    int64_t after_ns = now_ns();
    if (after_ns - before_ns < SHORT_NS) /* else it is not known when it was read */
      printf("read %lld %lld\n", (long long)after_ns, (long long)time.ns);
    has_line(0);
  }
}

int main(int argc, char **argv)
{
  tb_error_t error = TB_ERROR_INIT;
  setvbuf(stdout, NULL, _IOLBF, 0);
  check(tb_steady_clock_create(&steady), NULL);
  check(tb_ros2_context_create(NULL, &context, &error), &error);
  if (argc == 4 && strcmp(argv[1], "serve") == 0)
    serve(atof(argv[2]), atof(argv[3]));
  else if (argc == 3 && strcmp(argv[1], "read") == 0)
    follow(atof(argv[2]));
  return 2;
}
