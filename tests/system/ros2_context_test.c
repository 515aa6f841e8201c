/* Contexts: how many, in which domain, with which settings of the environment. */
#include <arpa/inet.h>
#include <dds/dds.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <timebase/log.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_subscription.h>
#include <unistd.h>

#include "forking.h"
#include "system/loopback.h"
#include "test.h"
#include "within.h"

#define FIRST_DOMAIN 72
#define LIMIT        ((tb_duration_t){120 * TB_NS_PER_S})

static int domain_id = FIRST_DOMAIN - 1;

static int domain_setup(void **state)
{
  (void)state;
  loopback_setup(++domain_id);
  return 0;
}

static tb_ros2_context_t *context_of(const tb_ros2_context_options_t *options)
{
  tb_ros2_context_t *context = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_context_create(options, &context, &error) != TB_OK) fail_msg("%s", error.text);
  loopback_check(0);
  return context;
}

static void assert_context_refused(const tb_ros2_context_options_t *options, tb_status_t expected,
                                   const char *text)
{
  tb_ros2_context_t *context = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_ros2_context_create(options, &context, &error), expected);
  assert_null(context);
  assert_int_equal(error.status, expected);
  if (!strstr(error.text, text)) fail_msg("'%s' does not contain '%s'", error.text, text);
}

static void test_domain_comes_from_options_or_environment(void **state)
{
  (void)state;
  tb_ros2_context_t *context = context_of(NULL);
  assert_int_equal(tb_ros2_context_domain_id(context), domain_id);
  tb_ros2_context_destroy(context);
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  options.has_domain_id = true;
  options.domain_id = domain_id;
  setenv("ROS_DOMAIN_ID", "not used", 1);
  context = context_of(&options);
  assert_int_equal(tb_ros2_context_domain_id(context), domain_id);
  tb_ros2_context_destroy(context);
  domain_setup(NULL); /* a literal without an initialiser takes it from there, too */
  context = context_of(&(tb_ros2_context_options_t){.keep_dds_log = false});
  assert_int_equal(tb_ros2_context_domain_id(context), domain_id);
  tb_ros2_context_destroy(context);
  tb_ros2_context_destroy(NULL);
}

static void test_bad_settings_are_refused(void **state)
{
  (void)state;
  tb_ros2_context_options_t options = TB_ROS2_CONTEXT_OPTIONS_INIT;
  options.domain_id = 5;
  assert_context_refused(&options, TB_ERR_INVALID, "domain_id 5 without has_domain_id");
  options.has_domain_id = true;
  options.domain_id = 233;
  assert_context_refused(&options, TB_ERR_RANGE, "233");
  options.domain_id = -2;
  assert_context_refused(&options, TB_ERR_RANGE, "-2");
  setenv("ROS_DOMAIN_ID", "x", 1);
  assert_context_refused(NULL, TB_ERR_INVALID, "ROS_DOMAIN_ID 'x'");
  domain_setup(NULL);
  setenv("ROS_STATIC_PEERS", "a b", 1);
  assert_context_refused(NULL, TB_ERR_INVALID, "ROS_STATIC_PEERS");
  unsetenv("ROS_STATIC_PEERS");
  setenv("CYCLONEDDS_URI", "<General><NoSuchThing>1</NoSuchThing></General>", 1);
  assert_context_refused(NULL, TB_ERR_INVALID, "CYCLONEDDS_URI");
}

static void test_contexts_of_a_domain_share_it(void **state)
{
  (void)state;
  tb_ros2_context_t *first = context_of(NULL);
  tb_ros2_context_t *second = context_of(NULL);
  tb_ros2_publisher_t *publisher = NULL;
  tb_ros2_subscription_t *subscription = NULL;
  assert_ok(tb_ros2_publisher_create(first, "a", "std_msgs/String", NULL, &publisher, NULL));
  assert_ok(
      tb_ros2_subscription_create(second, "a", "std_msgs/String", NULL, NULL, &subscription, NULL));
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  assert_ok(tb_ros2_subscription_wait_for_matched(subscription, 1, WITHIN(LIMIT)));
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_context_destroy(first);
  assert_int_equal(tb_ros2_subscription_matched(subscription), 0);
  assert_context_refused(&(tb_ros2_context_options_t){.has_domain_id = true, .domain_id = 999},
                         TB_ERR_RANGE, "999");
  setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
  assert_context_refused(NULL, TB_ERR_INVALID, "other discovery settings");
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_context_destroy(second);
  tb_ros2_context_destroy(context_of(NULL)); /* no other context is left */
}

static void test_domains_are_apart(void **state)
{
  (void)state;
  tb_ros2_context_t *here = context_of(NULL);
  domain_setup(NULL);
  tb_ros2_context_t *there = context_of(NULL);
  tb_ros2_publisher_t *publisher = NULL, *other = NULL;
  tb_ros2_subscription_t *subscription = NULL;
  assert_ok(tb_ros2_publisher_create(here, "a", "std_msgs/String", NULL, &publisher, NULL));
  assert_ok(
      tb_ros2_subscription_create(there, "a", "std_msgs/String", NULL, NULL, &subscription, NULL));
  assert_ok(tb_ros2_publisher_create(there, "a", "std_msgs/String", NULL, &other, NULL));
  assert_ok(tb_ros2_subscription_wait_for_matched(subscription, 1, WITHIN(LIMIT)));
  assert_int_equal(tb_ros2_subscription_matched(subscription), 1);
  assert_int_equal(tb_ros2_publisher_matched(publisher), 0);
  tb_ros2_publisher_destroy(publisher);
  tb_ros2_publisher_destroy(other);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_context_destroy(here);
  tb_ros2_context_destroy(there);
}

static void collect(tb_log_level_t level, const char *message, void *user)
{
  char *lines = user;
  (void)level;
  if (strlen(lines) + strlen(message) + 2 < 4096) strcat(strcat(lines, message), "\n");
}

/* Takes the port of participant index 0. */
static int port_take(void)
{
  int taken = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in address = {
      .sin_family = AF_INET,
      .sin_port = htons((uint16_t)(7400 + 250 * domain_id + 10)),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
  };
  assert_true(taken >= 0);
  assert_int_equal(bind(taken, (struct sockaddr *)&address, sizeof address), 0);
  return taken;
}

static void test_no_free_participant_index_is_named_in_the_error(void **state)
{
  (void)state;
  static char lines[4096];
  setenv("CYCLONEDDS_URI",
         "<General><Interfaces><NetworkInterface name=\"lo\" multicast=\"false\"/></Interfaces>"
         "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto"
         "</ParticipantIndex><MaxAutoParticipantIndex>0</MaxAutoParticipantIndex></Discovery>",
         1);
  int taken = port_take();
  lines[0] = '\0';
  tb_log_set_hook(collect, lines);
  assert_context_refused(NULL, TB_ERR_LIMIT, "MaxAutoParticipantIndex");
  tb_log_set_hook(NULL, NULL);
  assert_non_null(strstr(lines, "dds: Failed to find a free participant index"));
  loopback_setup(domain_id);
  tb_ros2_context_destroy(context_of(NULL)); /* at another index */
  close(taken);
}

static void test_a_domain_of_the_program_is_used_as_it_is(void **state)
{
  (void)state;
  static char lines[4096];
  dds_entity_t mine = dds_create_participant((dds_domainid_t)domain_id, NULL, NULL);
  assert_true(mine > 0);
  lines[0] = '\0';
  tb_log_set_hook(collect, lines);
  tb_ros2_context_t *context = context_of(NULL);
  tb_log_set_hook(NULL, NULL);
  assert_non_null(strstr(lines, "created by the program itself"));
  tb_ros2_context_destroy(context);
  dds_guid_t guid;
  assert_int_equal(dds_get_guid(mine, &guid), DDS_RETCODE_OK);
  dds_delete(mine);
}

static void test_discovery_can_be_off(void **state)
{
  (void)state;
  setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF", 1);
  setenv("CYCLONEDDS_URI",
         "<General><Interfaces><NetworkInterface name=\"lo\" multicast=\"false\"/></Interfaces>"
         "</General>",
         1);
  tb_ros2_context_destroy(context_of(NULL));
}

static void *come_and_go(void *argument)
{
  for (int i = 0; i < 10; i++) {
    tb_ros2_context_t *context = NULL;
    tb_ros2_subscription_t *subscription = NULL;
    if (tb_ros2_context_create(NULL, &context, NULL) != TB_OK ||
        tb_ros2_subscription_create(context, "/clock", "rosgraph_msgs/msg/Clock", NULL, NULL,
                                    &subscription, NULL) != TB_OK)
      return argument;
    tb_ros2_subscription_destroy(subscription);
    tb_ros2_context_destroy(context);
  }
  return NULL;
}

static void test_threads_may_come_and_go(void **state)
{
  (void)state;
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &domain_id), 0);
  for (int i = 0; i < 3; i++) {
    void *failed = NULL;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
}

typedef struct child {
  tb_ros2_context_t *context;
  tb_ros2_publisher_t *publisher;
  tb_ros2_subscription_t *subscription;
  tb_source_t *source;
  tb_clock_t *clock;
} child_t;

/* Makes all calls in a forked child, where DDS has no threads: 0, or the line of the one that
 * failed. */
static int child_run(child_t *child)
{
  static const uint8_t empty[] = {0, 1, 0, 0};
  tb_ros2_context_t *another;
  tb_ros2_publisher_t *publisher;
  tb_ros2_sample_t sample;
  tb_time_t now;
  if (tb_ros2_context_create(NULL, &another, NULL) != TB_ERR_FORKED) return __LINE__;
  if (tb_ros2_publisher_create(child->context, "c", "std_msgs/Empty", NULL, &publisher, NULL) !=
      TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_publisher_publish(child->publisher, empty, sizeof empty, NULL) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_publisher_wait_for_acks(child->publisher, WITHIN(LIMIT)) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_subscription_take(child->subscription, &sample) != TB_ERR_FORKED) return __LINE__;
  if (tb_clock_now(child->clock, &now) != TB_OK || now.ns != 0) return __LINE__;
  if (tb_clock_destroy(child->clock) || tb_source_destroy(child->source)) return __LINE__;
  tb_ros2_publisher_destroy(child->publisher);
  tb_ros2_subscription_destroy(child->subscription);
  tb_ros2_context_destroy(child->context);
  return 0;
}

static void test_C7_a_forked_child_destroys_without_dds(void **state)
{
  (void)state;
  child_t child = {.context = context_of(NULL)};
  assert_ok(
      tb_ros2_publisher_create(child.context, "a", "std_msgs/Empty", NULL, &child.publisher, NULL));
  assert_ok(tb_ros2_subscription_create(child.context, "b", "std_msgs/Empty", NULL, NULL,
                                        &child.subscription, NULL));
  assert_ok(tb_ros2_clock_source_create(child.context, NULL, &child.source, NULL));
  tb_clock_options_t options = {TB_TIME_ROS, child.source};
  assert_ok(tb_clock_create(&options, &child.clock));
  pid_t pid = fork();
  if (pid == 0) {
    int line = child_run(&child);
    if (line) fprintf(stderr, "child: line %d\n", line);
    _exit(line ? 1 : 0);
  }
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_ok(tb_clock_destroy(child.clock));
  assert_ok(tb_source_destroy(child.source));
  tb_ros2_publisher_destroy(child.publisher);
  tb_ros2_subscription_destroy(child.subscription);
  tb_ros2_context_destroy(child.context);
}

#define CONTEXT_TEST(test) cmocka_unit_test_setup(test, domain_setup)

int main(void)
{
  const struct CMUnitTest tests[] = {
      CONTEXT_TEST(test_domain_comes_from_options_or_environment),
      CONTEXT_TEST(test_bad_settings_are_refused),
      CONTEXT_TEST(test_contexts_of_a_domain_share_it),
      CONTEXT_TEST(test_domains_are_apart),
      CONTEXT_TEST(test_no_free_participant_index_is_named_in_the_error),
      CONTEXT_TEST(test_a_domain_of_the_program_is_used_as_it_is),
      CONTEXT_TEST(test_discovery_can_be_off),
      CONTEXT_TEST(test_threads_may_come_and_go),
      CONTEXT_TEST(test_C7_a_forked_child_destroys_without_dds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
