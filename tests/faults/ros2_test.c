/* The faults of core_test.c for the ROS 2 part: Cyclone DDS refuses, or there is no memory of ours.
 */
#include <signal.h>
#include <stdlib.h>
#include <timebase/clock.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_subscription.h>

#include "faults.h"
#include "loopback.h"

#define TYPE "std_msgs/msg/String"

FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size)
{
  if (fault_strikes(FAULT_MEMORY, "open_memstream")) return NULL;
  FILE *stream = __real_open_memstream(text, size);
  if (stream) fault_count_blocks(1); /* the text, which its owner frees */
  return stream;
}

char *__real_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved)
{
  if (fault_strikes(FAULT_HARMLESS, "realpath")) return NULL;
  char *result = __real_realpath(path, resolved);
  if (result && !resolved) fault_count_blocks(1);
  return result;
}

static int only_loopback(void **state)
{
  (void)state;
  loopback_setup(70);
  return 0;
}

static tb_status_t joins_a_domain(void)
{
  tb_status_t status;
  tb_ros2_context_t *joined = NULL, *second = NULL;
  TRY_MAKE(joined, tb_ros2_context_create(NULL, &joined, NULL));
  TRY_MAKE(second, tb_ros2_context_create(NULL, &second, NULL));
end:
  tb_ros2_context_destroy(second);
  tb_ros2_context_destroy(joined);
  return status;
}

static tb_status_t makes_endpoints(tb_ros2_context_t *context)
{
  tb_status_t status;
  tb_ros2_publisher_t *publisher = NULL;
  tb_ros2_subscription_t *subscription = NULL;
  tb_ros2_clock_publisher_t *clock_publisher = NULL;
  TRY_MAKE(publisher, tb_ros2_publisher_create(context, "/faults", TYPE, NULL, &publisher, NULL));
  TRY_MAKE(subscription, tb_ros2_subscription_create(context, "/faults_too", TYPE, NULL, NULL,
                                                     &subscription, NULL));
  TRY_MAKE(clock_publisher,
           tb_ros2_clock_publisher_create(context, NULL, NULL, &clock_publisher, NULL));
  TRY(tb_ros2_clock_publisher_publish(clock_publisher, 1, NULL));
end:
  tb_ros2_clock_publisher_destroy(clock_publisher);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_publisher_destroy(publisher);
  return status;
}

static tb_status_t follows_clock(tb_ros2_context_t *context)
{
  tb_status_t status;
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  tb_clock_options_t options = TB_CLOCK_OPTIONS_INIT;
  TRY_MAKE(source, tb_ros2_clock_source_create(context, NULL, &source, NULL));
  options.source = source;
  TRY_MAKE(clock, tb_clock_create(&options, &clock));
end:
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  return status;
}

/* In a domain that is there before and works after. The middleware frees much on a thread of its
 * own and some of it later, but all before the end of the domain: with that, what is left is
 * counted. */
static tb_status_t in_a_domain(tb_status_t (*scenario)(tb_ros2_context_t *))
{
  tb_ros2_context_t *context = NULL;
  fault_arm(false);
  assert_ok(tb_ros2_context_create(NULL, &context, NULL));
  fault_arm(true);
  tb_status_t status = scenario(context);
  fault_arm(false);
  assert_ok(makes_endpoints(context));
  assert_ok(follows_clock(context));
  tb_ros2_context_destroy(context);
  return status;
}

static tb_status_t makes_endpoints_in_a_domain(void)
{
  return in_a_domain(makes_endpoints);
}

static tb_status_t follows_clock_in_a_domain(void)
{
  return in_a_domain(follows_clock);
}

static void sweep(fault_scenario_t scenario)
{
  signal(SIGSEGV, SIG_DFL); /* a crash inside the middleware leaves it locked: nothing can go on */
  fault_sweep(scenario, NULL);
}

static void test_faults_of_joining_a_domain(void **state)
{
  (void)state;
  sweep(joins_a_domain);
}

static void test_faults_of_endpoints(void **state)
{
  (void)state;
  sweep(makes_endpoints_in_a_domain);
}

static void test_faults_of_following_clock(void **state)
{
  (void)state;
  sweep(follows_clock_in_a_domain);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_faults_of_joining_a_domain, only_loopback),
      cmocka_unit_test_setup(test_faults_of_endpoints, only_loopback),
      cmocka_unit_test_setup(test_faults_of_following_clock, only_loopback),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
