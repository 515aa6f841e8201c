/* Nodes that are used from callbacks, in forked children, and for long. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/jump.h>
#include <timebase/log.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter_client.h>
#include <timebase/source.h>
#include <unistd.h>

#include "dds/raw_writer.h"
#include "forking.h"
#include "ros2/context.h"
#include "system/loopback.h"
#include "test.h"
#include "within.h"

#define DOMAIN       55
#define LIMIT        ((tb_duration_t){60 * TB_NS_PER_S})
#define CHILDREN     100
#define CHILD_LIMIT  60 /* seconds */
#define ASKERS       3
#define STRING_TYPE  "std_msgs/msg/String"
#define TRIGGER_TYPE "std_srvs/srv/Trigger"

static tb_ros2_context_t *context;
static tb_ros2_node_t *node;
static atomic_bool writes_fail;

tb_status_t __real_tb__raw_writer_write(tb__raw_writer_t *writer, const void *cdr, size_t size,
                                        tb_error_t *error);
tb_status_t __wrap_tb__raw_writer_write(tb__raw_writer_t *writer, const void *cdr, size_t size,
                                        tb_error_t *error);
tb_status_t __wrap_tb__raw_writer_write(tb__raw_writer_t *writer, const void *cdr, size_t size,
                                        tb_error_t *error)
{
  if (atomic_load(&writes_fail)) return tb_error_set(error, TB_ERR_TRANSPORT, "no");
  return __real_tb__raw_writer_write(writer, cdr, size, error);
}

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_node_create(context, "alive", "", NULL, &node, &error) != TB_OK)
    fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  atomic_store(&writes_fail, false);
  tb_log_set_hook(NULL, NULL);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return 0;
}

static tb_status_t set_sim_time(bool on)
{
  tb_ros2_parameter_value_t value = tb_ros2_parameter_bool(on);
  return tb_ros2_node_set_parameter(node, "use_sim_time", &value, NULL);
}

/* ---- callbacks ---- */

typedef struct attempt {
  tb_status_t status;
  tb_error_t error;
} attempt_t;

static void make_node(const tb_jump_t *jump, void *user)
{
  attempt_t *attempt = user;
  tb_ros2_node_t *made;
  (void)jump;
  attempt->status = tb_ros2_node_create(context, "too_early", "", NULL, &made, &attempt->error);
}

/* What is begun could not be taken back there: the sanitizer would see it. */
static void test_J5_a_jump_handler_cannot_make_a_node(void **state)
{
  (void)state;
  attempt_t attempt = {.error = TB_ERROR_INIT};
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = {
      .name = "test", .threshold = {{0}, {0}, true}, .after = make_node, .user = &attempt};
  assert_ok(tb_jump_handler_create(tb_ros2_node_clock(node), &options, &handler));
  assert_ok(set_sim_time(true));
  assert_status(attempt.status, TB_ERR_DEADLOCK);
  assert_non_null(strstr(attempt.error.text, "too_early"));
  tb_jump_handler_destroy(handler);
}

static tb_ros2_publisher_t *publisher_create(const char *topic)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_publisher_t *made = NULL;
  if (tb_ros2_node_create_publisher(node, topic, STRING_TYPE, NULL, &made, &error) != TB_OK)
    fail_msg("%s", error.text);
  return made;
}

static void destroy_publisher(tb_log_level_t level, const char *message, void *user)
{
  tb_ros2_publisher_t **other = user;
  (void)level, (void)message;
  tb_ros2_publisher_t *destroyed = *other;
  *other = NULL;
  atomic_store(&writes_fail, false);
  tb_ros2_publisher_destroy(destroyed);
}

static void *destroy_in_thread(void *user)
{
  tb_ros2_publisher_destroy(user);
  return NULL;
}

static void test_J5_the_log_hook_runs_without_locks(void **state)
{
  (void)state;
  pthread_t thread;
  struct timespec end;
  tb_ros2_publisher_t *first = publisher_create("first"), *second = publisher_create("second");
  tb_log_set_hook(destroy_publisher, &second);
  atomic_store(&writes_fail, true);
  assert_int_equal(pthread_create(&thread, NULL, destroy_in_thread, first), 0);
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 60;
  assert_int_equal(pthread_timedjoin_np(thread, NULL, &end), 0);
  assert_null(second);
}

typedef struct served {
  tb_status_t status;
  _Atomic uint32_t count;
} served_t;

static void set_others(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  served_t *served = user;
  const char *const names[] = {"/alive"};
  tb_ros2_parameter_t parameter = {"use_sim_time", tb_ros2_parameter_bool(true)};
  tb_ros2_parameter_outcome_t outcome;
  served->status = tb_ros2_parameter_set_on_nodes(
      context, names, 1, &parameter, WITHIN((tb_duration_t){TB_NS_PER_S / 10}), &outcome, NULL);
  tb_ros2_service_reply(service, &request->id, request->cdr, request->size, NULL);
}

/* The answers come on the thread that would wait for them. */
static void test_J5_a_callback_of_the_context_cannot_set_on_nodes(void **state)
{
  (void)state;
  static const uint8_t empty[] = {0, 1, 0, 0, 0};
  served_t served = {.status = TB_OK};
  tb_ros2_service_t *service;
  tb_ros2_client_t *client;
  tb_ros2_response_t response;
  assert_ok(tb_ros2_node_create_service(node, "s", TRIGGER_TYPE, NULL, set_others, &served,
                                        &service, NULL));
  assert_ok(tb_ros2_node_create_client(node, "s", TRIGGER_TYPE, NULL, &client, NULL));
  assert_ok(tb_ros2_client_call(client, empty, sizeof empty, WITHIN(LIMIT), &response, NULL));
  assert_status(served.status, TB_ERR_DEADLOCK);
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(client);
  tb_ros2_service_destroy(service);
}

/* ---- sources of the program's own ---- */

static pthread_t setter;
static atomic_bool setting;
static _Atomic uint32_t sets;

static void *set_often(void *user)
{
  tb_ros2_clock_source_status_t status;
  (void)user;
  for (int i = 0; atomic_load(&setting); i++) {
    tb_ros2_parameter_value_t value = tb_ros2_parameter_integer(i);
    assert_ok(tb_ros2_node_set_parameter(node, "count", &value, NULL));
    assert_status(tb_ros2_node_clock_source_status(node, &status), TB_ERR_NOT_FOUND);
    atomic_fetch_add(&sets, 1);
  }
  return NULL;
}

static tb_status_t busy_start(void *self, tb_timeline_t *timeline)
{
  tb_ros2_clock_source_status_t status;
  (void)self, (void)timeline;
  assert_status(tb_ros2_node_clock_source_status(node, &status), TB_ERR_NOT_FOUND);
  atomic_store(&setting, true);
  return pthread_create(&setter, NULL, set_often, NULL) == 0 ? TB_OK : TB_ERR_SYSTEM;
}

static void busy_stop(void *self)
{
  (void)self;
  uint32_t seen = atomic_load(&sets);
  while (atomic_load(&sets) == seen) /* it gets on while this waits */
    sched_yield();
  atomic_store(&setting, false);
  pthread_join(setter, NULL);
}

static tb_status_t busy_make(const char *rest, void *user, tb_source_t **out, tb_error_t *error)
{
  static const tb_source_ops_t ops = {.name = "busy", .start = busy_start, .stop = busy_stop};
  (void)rest, (void)user, (void)error;
  return tb_source_create(&ops, NULL, out);
}

static void test_X1_a_source_starts_and_stops_without_locks_of_the_node(void **state)
{
  (void)state;
  tb_ros2_parameter_value_t count = tb_ros2_parameter_integer(0);
  tb_ros2_parameter_value_t name = tb_ros2_parameter_string("busy");
  assert_ok(tb_source_register("busy", busy_make, NULL));
  assert_ok(tb_ros2_node_declare_parameter(node, "count", &count, NULL, NULL));
  assert_ok(tb_ros2_node_set_parameter(node, "time_source", &name, NULL));
  for (int i = 0; i < 5; i++) {
    assert_ok(set_sim_time(true));
    assert_ok(set_sim_time(false));
    assert_false(atomic_load(&setting));
  }
  assert_ok(tb_source_register("busy", NULL, NULL));
}

/* ---- forks ---- */

static atomic_bool asking;

/* So that DDS holds its locks at the fork. */
static void *request_loop(void *user)
{
  while (atomic_load(&asking))
    tb_ros2_publisher_matched(user);
  return NULL;
}

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)service, (void)request, (void)user;
}

/* The line of what is not refused. */
static int child_run(void)
{
  tb_ros2_node_t *made;
  tb_ros2_graph_t *graph;
  tb_ros2_client_t *client;
  tb_ros2_service_t *service;
  tb_ros2_subscription_t *subscription;
  tb_ros2_publisher_t *publisher;
  alarm(CHILD_LIMIT);
  if (tb_ros2_node_create(context, "child", "", NULL, &made, NULL) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_graph_create(context, &graph, NULL) != TB_ERR_FORKED) return __LINE__;
  if (tb_ros2_node_create_client(node, "s", TRIGGER_TYPE, NULL, &client, NULL) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_node_create_service(node, "s", TRIGGER_TYPE, NULL, on_request, NULL, &service,
                                  NULL) != TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_node_create_publisher(node, "t", STRING_TYPE, NULL, &publisher, NULL) !=
      TB_ERR_FORKED)
    return __LINE__;
  if (tb_ros2_node_create_subscription(node, "t", STRING_TYPE, NULL, NULL, &subscription, NULL) !=
      TB_ERR_FORKED)
    return __LINE__;
  if (set_sim_time(true) != TB_ERR_FORKED) return __LINE__;
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return 0;
}

static void test_C7_a_child_is_refused_whatever_dds_does_at_the_fork(void **state)
{
  (void)state;
  pthread_t threads[ASKERS];
  tb_ros2_publisher_t *publisher = publisher_create("asked");
  atomic_store(&asking, true);
  for (int i = 0; i < ASKERS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, request_loop, publisher), 0);
  int result = 0;
  for (int i = 0; i < CHILDREN && result == 0; i++) {
    pid_t pid = fork();
    if (pid == 0) _exit(child_run() ? 1 : 0);
    assert_int_equal(waitpid(pid, &result, 0), pid);
  }
  atomic_store(&asking, false);
  for (int i = 0; i < ASKERS; i++)
    pthread_join(threads[i], NULL);
  assert_int_equal(result, 0);
  tb_ros2_publisher_destroy(publisher);
}

/* ---- long lives ---- */

/* The library leaves pages where they are: they may have other readers. */
static void remove_page(const char *source)
{
  char path[64];
  snprintf(path, sizeof path, "/dev/shm/timebase.%s", source + strlen("shm:"));
  assert_int_equal(unlink(path), 0);
}

/* A clock keeps each timeline that it ever followed. */
static void shares_again(const char *name)
{
  static const tb_qos_t qos = TB_QOS_INIT_CLOCK;
  tb__shared_sources_t *sources = tb__ros2_context_sources(context);
  tb__shared_source_t *shared;
  assert_ok(tb__shared_source_acquire(sources, name, "/clock", &qos, &shared, NULL));
  const tb_source_t *first = shared->source;
  tb__shared_source_release(sources, shared);
  assert_ok(tb__shared_source_acquire(sources, name, "/clock", &qos, &shared, NULL));
  assert_ptr_equal(shared->source, first);
  tb__shared_source_release(sources, shared);
}

static void test_C3_a_node_that_is_switched_for_years_follows_few_timelines(void **state)
{
  (void)state;
  shares_again("clock_topic");
  shares_again("extrapolating");
  shares_again("shm:tb_node_life_test");
  remove_page("shm:tb_node_life_test");
  for (int i = 0; i < 100; i++)
    assert_ok(set_sim_time(i % 2 == 0));
  shares_again("clock_topic");
}

static unsigned kept_count(void)
{
  unsigned count = 0;
  const tb__shared_source_t *shared = tb__ros2_context_sources(context)->first;
  for (; shared; shared = shared->next)
    count++;
  return count;
}

static void test_C3_unused_sources_are_kept_up_to_a_number(void **state)
{
  (void)state;
  static const tb_qos_t qos = TB_QOS_INIT_CLOCK;
  tb__shared_sources_t *sources = tb__ros2_context_sources(context);
  for (int i = 0; i < 100; i++) {
    char name[32];
    tb__shared_source_t *shared;
    snprintf(name, sizeof name, "shm:tb_node_life_%d", i);
    assert_ok(tb__shared_source_acquire(sources, name, "/clock", &qos, &shared, NULL));
    tb__shared_source_release(sources, shared);
    remove_page(name);
  }
  assert_in_range(kept_count(), 1, TB__SHARED_SOURCES_KEPT);
}

static void count_mismatches(tb_log_level_t level, const char *message, void *user)
{
  (void)level;
  if (strstr(message, "QoS does not match")) atomic_fetch_add((_Atomic uint32_t *)user, 1);
}

/* Also of a source that is used again. */
static void test_X5_a_mismatch_is_reported_each_time_that_clock_is_followed(void **state)
{
  (void)state;
  static _Atomic uint32_t mismatches;
  tb_error_t error = TB_ERROR_INIT;
  const tb_ros2_parameter_t reliable = {"qos_overrides./clock.subscription.reliability",
                                        tb_ros2_parameter_string("reliable")};
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  tb_ros2_clock_publisher_t *publisher = NULL; /* best effort */
  options.parameter_overrides = &reliable;
  options.parameter_override_count = 1;
  tb_ros2_node_destroy(node);
  node = NULL;
  if (tb_ros2_node_create(context, "strict", "", &options, &node, &error) != TB_OK ||
      tb_ros2_node_create_clock_publisher(node, NULL, NULL, &publisher, &error) != TB_OK)
    fail_msg("%s", error.text);
  tb_log_set_hook(count_mismatches, &mismatches);
  for (uint32_t i = 1; i <= 3; i++) {
    assert_ok(set_sim_time(true));
    while (atomic_load(&mismatches) < i)
      sched_yield();
    assert_ok(set_sim_time(false));
  }
  assert_int_equal(atomic_load(&mismatches), 3);
  tb_ros2_clock_publisher_destroy(publisher);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
  unsetenv("TIMEBASE_SOURCE");
  const struct CMUnitTest tests[] = {
      TEST(test_J5_a_jump_handler_cannot_make_a_node),
      TEST(test_J5_the_log_hook_runs_without_locks),
      TEST(test_J5_a_callback_of_the_context_cannot_set_on_nodes),
      TEST(test_X1_a_source_starts_and_stops_without_locks_of_the_node),
      TEST(test_C7_a_child_is_refused_whatever_dds_does_at_the_fork),
      TEST(test_X5_a_mismatch_is_reported_each_time_that_clock_is_followed),
      TEST(test_C3_a_node_that_is_switched_for_years_follows_few_timelines),
      TEST(test_C3_unused_sources_are_kept_up_to_a_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
