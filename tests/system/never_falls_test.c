/* A follower of /clock, over DDS on loopback, that is stopped again and again, as is one thread of
 * it or another, while /clock ticks and jumps: in one epoch time never falls. */
#include <timebase/ros2_clock_publisher.h>

#include "stopping.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define DOMAIN 39
#define S      TB_NS_PER_S
#define LIMIT  ((tb_duration_t){120 * S})

#define JUMPS_MIN 20 /* of which some may be lost on the way, and the follower wants two */

static tb_ros2_context_t *context;
static tb_ros2_clock_publisher_t *publisher;
static _Atomic bool done;
static _Atomic uint32_t jumps; /* that were published */

static int setup(void **state)
{
  (void)state;
  loopback_setup(DOMAIN);
  assert_ok(tb_ros2_context_create(NULL, &context, NULL));
  assert_ok(tb_ros2_clock_publisher_create(context, NULL, NULL, &publisher, NULL));
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb_ros2_clock_publisher_destroy(publisher);
  tb_ros2_context_destroy(context);
  return 0;
}

/* Steps back are so short that time is soon past where it was, steps forward some that handlers
 * and other threads take part in. */
static void *publish(void *argument)
{
  uint64_t random = *(uint64_t *)argument;
  int64_t time_ns = S;
  while (!atomic_load(&done)) {
    uint64_t dice = test_random(&random) % 200;
    int64_t step_ns = (int64_t)(test_random(&random) % 1000000);
    if (dice < 6)
      time_ns -= time_ns > 3 * step_ns ? 3 * step_ns : 0;
    else if (dice == 6)
      time_ns = step_ns;
    else
      time_ns += dice == 7 ? 2 * S : step_ns;
    assert_ok(tb_ros2_clock_publisher_publish(publisher, time_ns, NULL));
    if (dice <= 7) atomic_fetch_add(&jumps, 1);
    if (dice % 4 == 0) stop_pause(test_random(&random) % 500000);
  }
  return NULL;
}

static bool time_is_left(const struct timespec *begin)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - begin->tv_sec) * 1000 + (now.tv_nsec - begin->tv_nsec) / 1000000 <
         test_duration_ms(1000);
}

static void follow(const char *option)
{
  peer_t follower;
  pthread_t thread;
  struct timespec begin;
  uint64_t seed = test_seed(), other = seed + 1;
  peer_start(&follower, (const char *const[]){TB_NEVER_FALLS_PEER, option, NULL});
  peer_expect_line(&follower, "ready");
  assert_ok(tb_ros2_clock_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  loopback_check(follower.pid);
  atomic_store(&done, false);
  atomic_store(&jumps, 0);
  assert_int_equal(pthread_create(&thread, NULL, publish, &other), 0);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  while (time_is_left(&begin) || atomic_load(&jumps) < JUMPS_MIN)
    stop_once(follower.pid, &seed);
  peer_stop(&follower); /* time runs on */
  atomic_store(&done, true);
  pthread_join(thread, NULL);
}

static void test_C6_time_of_clock_never_falls(void **state)
{
  (void)state;
  follow(NULL);
}

static void test_C6_time_that_runs_on_between_ticks_never_falls(void **state)
{
  (void)state;
  follow("extrapolating");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_C6_time_of_clock_never_falls, setup, teardown),
      cmocka_unit_test_setup_teardown(test_C6_time_that_runs_on_between_ticks_never_falls, setup,
                                      teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
