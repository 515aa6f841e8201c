/* A process that is stopped notices it afterwards, and only then. */
#include "held/suspension.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/time.h"
#include "test.h"

#define MS 1000000L

static void sleep_ms(long ms)
{
  const struct timespec duration = {ms / 1000, ms % 1000 * MS};
  nanosleep(&duration, NULL);
}

/* Reports that it is ready and, when asked, for how long it has been stopped since. */
static void be_stopped(int in, int out)
{
  tb__suspension_t suspension;
  char go;
  if (tb__suspension_start(&suspension)) _exit(1);
  int64_t from_ns = tb__real_steady_now_ns();
  if (write(out, "r", 1) != 1 || read(in, &go, 1) != 1) _exit(1);
  int64_t stopped_ns = tb__suspension_within(&suspension, from_ns, tb__real_steady_now_ns());
  if (write(out, &stopped_ns, sizeof stopped_ns) != sizeof stopped_ns) _exit(1);
  tb__suspension_end(&suspension);
  _exit(0);
}

static int64_t stop_a_child(const long *stops_ms, int count)
{
  int to[2], from[2], status;
  char ready;
  int64_t stopped_ns = -1;
  assert_int_equal(pipe(to) + pipe(from), 0);
  pid_t child = fork();
  if (child == 0) be_stopped(to[0], from[1]);
  assert_int_equal(read(from[0], &ready, 1), 1);
  for (int i = 0; i < count; i++) {
    assert_int_equal(kill(child, SIGSTOP), 0);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    sleep_ms(stops_ms[i]);
    /* The request is there already when it is continued: the thread that reads may be first. */
    if (i == count - 1) assert_int_equal(write(to[1], "g", 1), 1);
    assert_int_equal(kill(child, SIGCONT), 0);
  }
  assert_int_equal(read(from[0], &stopped_ns, sizeof stopped_ns), sizeof stopped_ns);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  for (int i = 0; i < 2; i++)
    assert_int_equal(close(to[i]) + close(from[i]), 0);
  return stopped_ns;
}

static void test_stops_are_noticed(void **state)
{
  (void)state;
  static const long once[] = {100}, often[] = {120, 150, 110};
  for (int i = 0; i < 10; i++)
    assert_true(stop_a_child(once, 1) >= 100 * MS);
  assert_true(stop_a_child(often, 3) >= 380 * MS);
}

/* A machine without a free processor looks the same from outside: some tries. */
static void test_what_is_slow_was_not_stopped(void **state)
{
  (void)state;
  int64_t stopped_ns = 1;
  for (int tries = 0; tries < 20 && stopped_ns > 0; tries++) {
    tb__suspension_t suspension;
    assert_ok(tb__suspension_start(&suspension));
    int64_t from_ns = tb__real_steady_now_ns();
    sleep_ms(200);
    stopped_ns = tb__suspension_within(&suspension, from_ns, tb__real_steady_now_ns());
    tb__suspension_end(&suspension);
  }
  assert_int_equal(stopped_ns, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stops_are_noticed),
      cmocka_unit_test(test_what_is_slow_was_not_stopped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
