/* Contexts in processes that may open few descriptors, or take little memory: Cyclone DDS would
 * crash, so what it needs is checked first. Each limit is tried in a separate child. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_subscription.h>
#include <unistd.h>

#include "forking.h"
#include "system/loopback.h"
#include "test.h"

#define DOMAIN 90
#define MIB    ((rlim_t)1 << 20)

enum { MADE = 0, REFUSED = 10, WRONG = 20 };

typedef struct limits {
  int descriptors; /* free ones; -1: as many as there are */
  rlim_t bytes;    /* more than at the start; RLIM_INFINITY */
  int contexts;    /* the limits count before this one is made */
} limits_t;

static rlim_t address_space(void)
{
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu", &pages) != 1) _exit(WRONG);
  fclose(file);
  return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void set_limits(const limits_t *limits)
{
  if (limits->descriptors >= 0) {
    int first = dup(0); /* the lowest free one; above it there are none after fork_child */
    close(first);
    rlim_t count = (rlim_t)(first + limits->descriptors);
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){count, count})) _exit(WRONG);
  }
  if (limits->bytes != RLIM_INFINITY) {
    rlim_t bytes = address_space() + limits->bytes;
    if (setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes})) _exit(WRONG);
  }
}

/* A refusal has a code that fits, and names what is missing. */
static int refusal(const limits_t *limits, tb_status_t status, const tb_error_t *error)
{
  bool few = limits->descriptors >= 0;
  bool fits = status == (few ? TB_ERR_SYSTEM : TB_ERR_NO_MEMORY);
  bool clear = strstr(error->text, few ? "descriptors" : "address space") ||
               strstr(error->text, "out of memory");
  if (fits && clear) return REFUSED;
  fprintf(stderr, "%s: %s\n", tb_status_name(status), error->text);
  return WRONG;
}

static int use(tb_ros2_context_t *context, const limits_t *limits)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_publisher_t *publisher = NULL;
  tb_ros2_subscription_t *subscription = NULL;
  tb_status_t status =
      tb_ros2_publisher_create(context, "a", "std_msgs/String", NULL, &publisher, &error);
  if (!status)
    status = tb_ros2_subscription_create(context, "a", "std_msgs/String", NULL, NULL, &subscription,
                                         &error);
  int result = status ? refusal(limits, status, &error) : MADE;
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_subscription_destroy(subscription);
  return result;
}

static int make_contexts(const limits_t *limits)
{
  tb_ros2_context_t *contexts[3] = {NULL};
  int result = MADE;
  for (int i = 0; i <= limits->contexts && result == MADE; i++) {
    tb_error_t error = TB_ERROR_INIT;
    tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
    options.has_domain_id = true;
    options.domain_id = DOMAIN + i % 2;
    if (i == limits->contexts) set_limits(limits);
    tb_status_t status = tb_ros2_context_create(&options, &contexts[i], &error);
    result = status ? refusal(limits, status, &error) : use(contexts[i], limits);
  }
  for (int i = 0; i < 3; i++)
    tb_ros2_context_destroy(contexts[i]);
  return result;
}

static int end_of_child(const limits_t *limits)
{
  int status = 0;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    for (int fd = 3; fd < 1024; fd++)
      close(fd);
    _exit(make_contexts(limits));
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status))
    fail_msg("%d free descriptors, %llu more bytes, %d contexts before: signal %d",
             limits->descriptors, (unsigned long long)limits->bytes, limits->contexts,
             WTERMSIG(status));
  assert_true(WEXITSTATUS(status) == MADE || WEXITSTATUS(status) == REFUSED);
  return WEXITSTATUS(status);
}

/* From nothing to plenty: refused at first, and never again after the first success. */
static void test_few_descriptors_are_an_error(void **state)
{
  (void)state;
  for (int contexts = 0; contexts < 3; contexts++) {
    int last = REFUSED, refused = 0;
    for (int free = 0; free <= 24; free++) {
      int end = end_of_child(&(limits_t){free, RLIM_INFINITY, contexts});
      if (last == MADE) assert_int_equal(end, MADE);
      refused += end == REFUSED;
      last = end;
    }
    assert_true(refused > 0);
    assert_int_equal(last, MADE);
  }
}

static void test_little_address_space_is_an_error(void **state)
{
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip(); /* a sanitizer itself cannot live in it */
#endif
  for (int contexts = 0; contexts < 3; contexts++) {
    /* Threads of contexts that are there abort if they get nothing, whatever a new one needs. */
    rlim_t first = contexts > 0 ? 144 * MIB : 0;
    for (rlim_t bytes = first; bytes <= 300 * MIB; bytes += bytes < 160 * MIB ? MIB : 20 * MIB) {
      int end = end_of_child(&(limits_t){-1, bytes, contexts});
      if (bytes == 300 * MIB) assert_int_equal(end, MADE);
      if (bytes == first && contexts < 2) assert_int_equal(end, REFUSED);
    }
  }
}

static int setup(void **state)
{
  (void)state;
  loopback_setup(DOMAIN);
  loopback_setup(DOMAIN + 1);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_few_descriptors_are_an_error),
      cmocka_unit_test(test_little_address_space_is_an_error),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
