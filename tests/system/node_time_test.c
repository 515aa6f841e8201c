/* The time of nodes: use_sim_time and time_source, one subscription of /clock for all of them. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_service.h>
#include <timebase/shm_publisher.h>
#include <timebase/source.h>
#include <unistd.h>

#include "system/loopback.h"
#include "test.h"
#include "within.h"

#define DOMAIN 11
#define S      TB_NS_PER_S
#define LIMIT  ((tb_duration_t){60 * S})
#define NODES  50

static tb_ros2_context_t *context, *elsewhere;
static tb_ros2_clock_publisher_t *publisher;
static tb_ros2_node_t *node;
static tb_source_t *registered;

static void publisher_create(const char *topic)
{
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_clock_publisher_create(elsewhere, topic, NULL, &publisher, &error) != TB_OK)
    fail_msg("%s", error.text);
}

static int setup(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_context_create(NULL, &elsewhere, &error) != TB_OK)
    fail_msg("%s", error.text);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_node_destroy(node);
  tb_ros2_clock_publisher_destroy(publisher);
  tb_ros2_context_destroy(context);
  tb_ros2_context_destroy(elsewhere);
  node = NULL;
  publisher = NULL;
  return 0;
}

static tb_ros2_node_t *create_with(const char *name, const tb_ros2_parameter_t *overrides,
                                   size_t count)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  tb_ros2_node_t *made;
  options.parameter_overrides = overrides;
  options.parameter_override_count = count;
  if (tb_ros2_node_create(context, name, "", &options, &made, &error) != TB_OK)
    fail_msg("%s", error.text);
  return made;
}

static tb_ros2_node_t *create_in_sim_time(const char *name)
{
  const tb_ros2_parameter_t sim_time = {"use_sim_time", tb_ros2_parameter_bool(true)};
  return create_with(name, &sim_time, 1);
}

static int64_t now_of(const tb_ros2_node_t *of)
{
  tb_time_t now;
  assert_ok(tb_clock_now(tb_ros2_node_clock(of), &now));
  return now.ns;
}

static bool reads_system_time(const tb_ros2_node_t *of)
{
  return now_of(of) > INT64_C(1500000000) * S;
}

static tb_status_t set_sim_time(tb_ros2_node_t *of, bool on)
{
  tb_ros2_parameter_value_t value = tb_ros2_parameter_bool(on);
  return tb_ros2_node_set_parameter(of, "use_sim_time", &value, NULL);
}

static tb_status_t set_source(tb_ros2_node_t *of, const char *name, tb_error_t *error)
{
  tb_ros2_parameter_value_t value = tb_ros2_parameter_string(name);
  return tb_ros2_node_set_parameter(of, "time_source", &value, error);
}

/* /clock is best effort: until it has arrived. */
static void tick_until(const tb_ros2_node_t *of, int64_t time_ns)
{
  while (now_of(of) != time_ns) {
    assert_ok(tb_ros2_clock_publisher_publish(publisher, time_ns, NULL));
    sched_yield();
  }
}

static void test_X7_a_set_takes_effect_before_it_returns(void **state)
{
  (void)state;
  node = create_with("plain", NULL, 0);
  publisher_create(NULL);
  assert_true(reads_system_time(node));
  assert_ok(set_sim_time(node, true));
  assert_false(reads_system_time(node));
  assert_ok(tb_ros2_clock_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  tick_until(node, 5 * S);
  assert_ok(set_sim_time(node, false));
  assert_true(reads_system_time(node));
  assert_ok(set_sim_time(node, true)); /* a new subscription, which has seen no tick */
  assert_int_equal(now_of(node), 0);
}

static void test_X7_set_at_start_the_clock_never_reads_system_time(void **state)
{
  (void)state;
  node = create_in_sim_time("sim");
  assert_int_equal(now_of(node), 0);
  publisher_create(NULL);
  tick_until(node, 7 * S);
}

/* Threads of this process, or those of one name. */
static int thread_count(const char *name)
{
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (struct dirent *entry; (entry = readdir(tasks));) {
    char path[300], found[32] = "";
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE *file = fopen(path, "r");
    if (file && fgets(found, sizeof found, file)) found[strcspn(found, "\n")] = '\0';
    if (file) fclose(file);
    count += !name || strcmp(found, name) == 0;
  }
  closedir(tasks);
  return count;
}

static void test_X5_many_nodes_cost_one_reader_and_one_thread(void **state)
{
  (void)state;
  tb_ros2_node_t *nodes[NODES];
  publisher_create(NULL);
  node = create_in_sim_time("first");
  int threads = thread_count(NULL);
  for (int i = 0; i < NODES; i++) {
    char name[32];
    snprintf(name, sizeof name, "node_%d", i);
    nodes[i] = create_in_sim_time(name);
  }
  assert_int_equal(thread_count(NULL), threads);
  assert_int_equal(thread_count("tb-clock"), 1); /* runs what ticks make due */
  assert_int_equal(thread_count("tb-ros2"), 1);  /* answers requests */
  assert_ok(tb_ros2_clock_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  tick_until(nodes[NODES - 1], 3 * S);
  assert_int_equal(tb_ros2_clock_publisher_matched(publisher), 1);
  for (int i = 0; i < NODES; i++) {
    assert_int_equal(now_of(nodes[i]), 3 * S); /* one timeline: all have it at once */
    tb_ros2_node_destroy(nodes[i]);
  }
  tick_until(node, 4 * S);
}

static tb_status_t registered_make(const char *rest, void *user, tb_source_t **out,
                                   tb_error_t *error)
{
  (void)user, (void)error;
  tb_status_t status = tb_manual_source_create(&registered);
  if (status != TB_OK) return status;
  tb_manual_source_set(registered, strtol(rest, NULL, 10) * S);
  *out = registered;
  return TB_OK;
}

static void test_X7_time_source_picks_another_source_at_run_time(void **state)
{
  (void)state;
  assert_ok(tb_source_register("mine", registered_make, NULL));
  node = create_in_sim_time("picky");
  publisher_create(NULL);
  tick_until(node, 5 * S);
  assert_ok(set_source(node, "mine:20", NULL));
  assert_int_equal(now_of(node), 20 * S);
  assert_ok(tb_manual_source_set(registered, 21 * S));
  assert_int_equal(now_of(node), 21 * S);
  assert_ok(set_source(node, "clock_topic", NULL));
  tick_until(node, 6 * S);
  assert_ok(set_source(node, "extrapolating", NULL));
  tick_until(node, 7 * S);
  assert_ok(tb_source_register("mine", NULL, NULL));
}

static void test_X7_a_page_of_shared_memory_is_a_time_source(void **state)
{
  (void)state;
  char name[64], source[80];
  tb_shm_publisher_t *page;
  snprintf(name, sizeof name, "tb_node_test_%d", (int)getpid());
  snprintf(source, sizeof source, "shm:%s", name);
  assert_ok(tb_shm_publisher_open(name, NULL, &page, NULL));
  assert_ok(tb_shm_publisher_tick(page, 30 * S, TB_JUMP_REASON_TICK));
  const tb_ros2_parameter_t overrides[] = {{"use_sim_time", tb_ros2_parameter_bool(true)},
                                           {"time_source", tb_ros2_parameter_string(source)}};
  node = create_with("on_page", overrides, 2);
  assert_int_equal(now_of(node), 30 * S);
  assert_ok(tb_shm_publisher_tick(page, 31 * S, TB_JUMP_REASON_TICK));
  assert_int_equal(now_of(node), 31 * S);
  tb_shm_publisher_close(page);
  char path[128];
  snprintf(path, sizeof path, "/dev/shm/timebase.%s", name);
  unlink(path);
}

static void test_X7_a_set_that_is_refused_changes_nothing(void **state)
{
  (void)state;
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_parameter_value_t value;
  node = create_in_sim_time("strict");
  publisher_create(NULL);
  tick_until(node, 5 * S);
  assert_status(set_source(node, "no_such_source", &error), TB_ERR_NOT_FOUND);
  assert_string_equal(
      error.text, "time_source is clock_topic or extrapolating, which follow /clock, or another "
                  "source: source \"no_such_source\": unknown kind of source "
                  "\"no_such_source\"; known are manual, shm, extrapolating");
  assert_int_equal(now_of(node), 5 * S);
  assert_ok(tb_ros2_node_get_parameter(node, "time_source", &value));
  assert_string_equal(value.string_value, "clock_topic");
  tb_ros2_parameter_value_release(&value);
  tick_until(node, 6 * S);
  tb_ros2_parameter_value_t number = tb_ros2_parameter_integer(1);
  assert_status(tb_ros2_node_set_parameter(node, "use_sim_time", &number, &error), TB_ERR_INVALID);
  assert_int_equal(now_of(node), 6 * S);
}

/* Whatever sources are called among nodes that share them. */
static void test_X7_a_name_like_that_of_a_shared_source_is_refused(void **state)
{
  (void)state;
  static const tb_qos_t qos = TB_QOS_INIT_CLOCK;
  char name[64];
  node = create_in_sim_time("sharing");
  snprintf(name, sizeof name, "clock_topic /clock %d %d %d %d", (int)qos.reliability,
           (int)qos.durability, (int)qos.history, (int)qos.depth);
  assert_status(set_source(node, name, NULL), TB_ERR_NOT_FOUND);
}

static void test_attached_clocks_go_where_the_nodes_clock_goes(void **state)
{
  (void)state;
  const tb_clock_options_t inactive = {TB_TIME_ROS, NULL};
  tb_clock_t *clock;
  tb_time_t now;
  assert_ok(tb_clock_create(&inactive, &clock));
  node = create_in_sim_time("with_more");
  publisher_create(NULL);
  tick_until(node, 5 * S);
  assert_ok(tb_ros2_node_attach_clock(node, clock));
  assert_ok(tb_clock_now(clock, &now));
  assert_int_equal(now.ns, 5 * S);
  assert_status(tb_ros2_node_attach_clock(node, clock), TB_ERR_INVALID);
  assert_ok(set_sim_time(node, false));
  assert_false(tb_clock_is_active(clock));
  assert_ok(set_sim_time(node, true));
  assert_true(tb_clock_is_active(clock));
  assert_ok(tb_ros2_node_detach_clock(node, clock));
  assert_false(tb_clock_is_active(clock));
  assert_status(tb_ros2_node_detach_clock(node, clock), TB_ERR_INVALID);
  assert_status(tb_ros2_node_detach_clock(node, tb_ros2_node_clock(node)), TB_ERR_INVALID);
  tb_clock_destroy(clock);
}

/* With one node: rclcpp test_time_source.cpp: reattach, ROS_time_valid_attach_detach. */
static void test_a_clock_follows_one_node_at_a_time(void **state)
{
  (void)state;
  const tb_clock_options_t inactive = {TB_TIME_ROS, NULL};
  tb_ros2_node_t *other;
  tb_clock_t *clock;
  assert_ok(tb_clock_create(&inactive, &clock));
  node = create_in_sim_time("first");
  other = create_with("second", NULL, 0);
  assert_ok(tb_ros2_node_attach_clock(node, clock));
  assert_status(tb_ros2_node_attach_clock(other, clock), TB_ERR_BUSY);
  assert_true(tb_clock_is_active(clock));
  assert_status(tb_ros2_node_attach_clock(other, tb_ros2_node_clock(node)), TB_ERR_BUSY);
  assert_true(tb_clock_is_active(tb_ros2_node_clock(node)));
  assert_ok(tb_ros2_node_detach_clock(node, clock));
  assert_ok(tb_ros2_node_attach_clock(other, clock));
  assert_false(tb_clock_is_active(clock));
  tb_ros2_node_destroy(other); /* ends what clocks were attached to it */
  assert_ok(tb_ros2_node_attach_clock(node, clock));
  assert_true(tb_clock_is_active(clock));
  assert_ok(tb_ros2_node_detach_clock(node, clock));
  tb_clock_destroy(clock);
}

static void test_a_clock_of_a_node_is_not_moved_or_destroyed(void **state)
{
  (void)state;
  const tb_clock_options_t inactive = {TB_TIME_ROS, NULL};
  tb_clock_t *clock, *clocks[2];
  assert_ok(tb_clock_create(&inactive, &clock));
  node = create_in_sim_time("owner");
  assert_ok(tb_ros2_node_attach_clock(node, clock));
  clocks[0] = clock;
  clocks[1] = tb_ros2_node_clock(node);
  for (int i = 0; i < 2; i++) {
    assert_status(tb_clock_set_source(clocks[i], NULL), TB_ERR_BUSY);
    assert_status(tb_clock_set_source_within(clocks[i], NULL, TB_SECONDS(1)), TB_ERR_BUSY);
    assert_status(tb_clock_destroy(clocks[i]), TB_ERR_BUSY);
    assert_status(tb_clock_destroy_within(clocks[i], TB_SECONDS(1)), TB_ERR_BUSY);
    assert_true(tb_clock_is_active(clocks[i]));
  }
  assert_ok(tb_ros2_node_detach_clock(node, clock));
  assert_ok(tb_clock_set_source(clock, NULL));
  assert_ok(tb_clock_destroy(clock));
}

typedef struct seen {
  int changes;
  tb_status_t set;
} seen_t;

static void after_jump(const tb_jump_t *jump, void *user)
{
  seen_t *seen = user;
  if (jump->kind == TB_JUMP_CLOCK_CHANGE) seen->changes++;
  seen->set = set_sim_time(node, false);
  tb_ros2_parameter_value_t value;
  assert_ok(tb_ros2_node_get_parameter(node, "use_sim_time", &value));
}

static void test_J5_handlers_hear_of_the_change_and_cannot_set(void **state)
{
  (void)state;
  seen_t seen = {0};
  tb_jump_handler_t *handler;
  node = create_with("handled", NULL, 0);
  tb_jump_handler_options_t options = {
      .name = "test", .threshold = {{0}, {0}, true}, .after = after_jump, .user = &seen};
  assert_ok(tb_jump_handler_create(tb_ros2_node_clock(node), &options, &handler));
  assert_ok(set_sim_time(node, true));
  assert_int_equal(seen.changes, 1);
  assert_int_equal(seen.set, TB_ERR_DEADLOCK);
  assert_ok(set_sim_time(node, true)); /* no change */
  assert_int_equal(seen.changes, 1);
  tb_jump_handler_destroy(handler);
}

static void *switch_often(void *user)
{
  for (int i = 0; i < 50; i++)
    assert_ok(set_sim_time(user, i % 2 == 0));
  return NULL;
}

static void test_nodes_that_switch_at_a_time_share_what_they_follow(void **state)
{
  (void)state;
  tb_ros2_node_t *nodes[4];
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    nodes[i] = create_with(name, NULL, 0);
  }
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, switch_often, nodes[i]);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    assert_true(reads_system_time(nodes[i]));
  }
  publisher_create(NULL);
  assert_ok(set_sim_time(nodes[0], true));
  tick_until(nodes[0], 9 * S);
  assert_int_equal(tb_ros2_clock_publisher_matched(publisher), 1);
  for (int i = 0; i < 4; i++)
    tb_ros2_node_destroy(nodes[i]);
}

static void test_X5_the_subscription_has_the_qos_of_its_parameters(void **state)
{
  (void)state;
  const char *policy = NULL;
  const tb_ros2_parameter_t overrides[] = {
      {"use_sim_time", tb_ros2_parameter_bool(true)},
      {"qos_overrides./clock.subscription.reliability", tb_ros2_parameter_string("reliable")},
  };
  node = create_with("reliable", overrides, 2);
  publisher_create(NULL); /* best effort */
  tb_ros2_clock_source_status_t status;
  do {
    assert_ok(tb_ros2_node_clock_source_status(node, &status));
    sched_yield();
  } while (status.incompatible == 0);
  policy = status.policy;
  assert_string_equal(policy, "reliability");
  assert_int_equal(status.matched, 0);
  tb_ros2_parameter_value_t value = tb_ros2_parameter_string("best_effort");
  assert_status(tb_ros2_node_set_parameter(node, overrides[1].name, &value, NULL), TB_ERR_INVALID);
}

static tb_ros2_node_t *create_automatic(int64_t limit_ns)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  tb_ros2_node_t *made;
  options.clock_activation = TB_ROS2_CLOCK_BY_PUBLISHER;
  options.deactivation_limit.ns = limit_ns;
  if (tb_ros2_node_create(context, "automatic", "", &options, &made, &error) != TB_OK)
    fail_msg("%s", error.text);
  return made;
}

static void wait_until_active(const tb_ros2_node_t *of, bool active)
{
  while (tb_clock_is_active(tb_ros2_node_clock(of)) != active)
    sched_yield();
}

static void test_X7_a_publisher_activates_and_losing_it_does_not_deactivate(void **state)
{
  (void)state;
  tb_ros2_parameter_value_t value;
  node = create_automatic(0);
  assert_true(reads_system_time(node));
  publisher_create(NULL);
  wait_until_active(node, true);
  tick_until(node, 5 * S);
  do /* it is committed when the clocks have moved */
    assert_ok(tb_ros2_node_get_parameter(node, "use_sim_time", &value));
  while (!value.bool_value);
  tb_ros2_clock_publisher_destroy(publisher);
  publisher = NULL;
  tb_clock_reading_t reading;
  do /* the state is lost, and time does not advance */
    assert_ok(tb_clock_read(tb_ros2_node_clock(node), &reading));
  while (reading.state != TB_CLOCK_LOST);
  assert_int_equal(reading.time.ns, 5 * S);
  assert_ok(set_sim_time(node, false)); /* set by hand: until the next publisher comes */
  assert_true(reads_system_time(node));
  publisher_create(NULL);
  wait_until_active(node, true);
}

static void test_X7_without_a_wait_losing_the_publisher_deactivates_at_once(void **state)
{
  (void)state;
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  options.clock_activation = TB_ROS2_CLOCK_BY_PUBLISHER;
  options.deactivation_limit = TB_NS(-5);
  assert_status(tb_ros2_node_create(context, "refused", "", &options, &node, NULL), TB_ERR_INVALID);
  node = create_automatic(TB_NO_WAIT.ns);
  publisher_create(NULL);
  wait_until_active(node, true);
  tick_until(node, 5 * S);
  tb_ros2_clock_publisher_destroy(publisher);
  publisher = NULL;
  wait_until_active(node, false);
  publisher_create(NULL);
  wait_until_active(node, true);
}

static sem_t held, release;

static void hold(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)service, (void)request, (void)user;
  sem_post(&held);
  while (sem_wait(&release))
    continue;
}

static void answered(tb_status_t status, const tb_ros2_response_t *response, void *user)
{
  (void)status, (void)response, (void)user;
}

/* The thread that switches the clock on is held from before the first publisher is destroyed until
 * the next one is there. */
static void test_X7_a_publisher_that_comes_back_unseen_activates_again(void **state)
{
  (void)state;
  static const char name[] = "/hold", type[] = "std_srvs/srv/Trigger";
  static const uint8_t request[] = {0, 1, 0, 0, 0, 0, 0, 0};
  tb_ros2_service_t *service;
  tb_ros2_client_t *client;
  node = create_automatic(0);
  publisher_create(NULL);
  wait_until_active(node, true);
  tick_until(node, 5 * S);
  sem_init(&held, 0, 0);
  sem_init(&release, 0, 0);
  assert_ok(tb_ros2_service_create(context, name, type, NULL, hold, NULL, &service, NULL));
  assert_ok(tb_ros2_client_create(elsewhere, name, type, NULL, &client, NULL));
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  assert_ok(
      tb_ros2_client_call_async(client, request, sizeof request, LIMIT, answered, NULL, NULL));
  while (sem_wait(&held))
    continue;
  tb_ros2_clock_publisher_destroy(publisher);
  tb_clock_reading_t reading;
  do
    assert_ok(tb_clock_read(tb_ros2_node_clock(node), &reading));
  while (reading.state != TB_CLOCK_LOST);
  assert_ok(set_sim_time(node, false));
  publisher_create(NULL);
  assert_ok(tb_ros2_clock_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  sem_post(&release);
  wait_until_active(node, true);
  tb_ros2_client_destroy(client);
  tb_ros2_service_destroy(service);
  sem_destroy(&held);
  sem_destroy(&release);
}

static void test_X7_an_automatic_clock_may_go_off_after_a_limit(void **state)
{
  (void)state;
  publisher_create(NULL);
  node = create_automatic(1);
  wait_until_active(node, true);
  tb_ros2_clock_publisher_destroy(publisher);
  publisher = NULL;
  wait_until_active(node, false);
  publisher_create(NULL);
  wait_until_active(node, true);
}

static void test_bad_overrides_refuse_the_node(void **state)
{
  (void)state;
  static const char qos[] = "qos_overrides./clock.subscription.";
  char names[2][64];
  snprintf(names[0], sizeof names[0], "%sreliability", qos);
  snprintf(names[1], sizeof names[1], "%sdepth", qos);
  const tb_ros2_parameter_t bad[] = {
      {"use_sim_time", tb_ros2_parameter_string("true")},
      {"time_source", tb_ros2_parameter_bool(true)},
      {names[0], tb_ros2_parameter_string("sometimes")},
      {names[1], tb_ros2_parameter_integer(0)},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tb_error_t error = TB_ERROR_INIT;
    tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
    options.parameter_overrides = &bad[i];
    options.parameter_override_count = 1;
    tb_status_t status = tb_ros2_node_create(context, "bad", "", &options, &node, &error);
    assert_true(status == TB_ERR_INVALID || status == TB_ERR_RANGE);
    assert_non_null(strstr(error.text, bad[i].name));
    assert_null(node);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
  unsetenv("TIMEBASE_SOURCE");
  const struct CMUnitTest tests[] = {
      TEST(test_X7_a_set_takes_effect_before_it_returns),
      TEST(test_X7_set_at_start_the_clock_never_reads_system_time),
      TEST(test_X5_many_nodes_cost_one_reader_and_one_thread),
      TEST(test_X7_time_source_picks_another_source_at_run_time),
      TEST(test_X7_a_page_of_shared_memory_is_a_time_source),
      TEST(test_X7_a_name_like_that_of_a_shared_source_is_refused),
      TEST(test_X7_a_set_that_is_refused_changes_nothing),
      TEST(test_attached_clocks_go_where_the_nodes_clock_goes),
      TEST(test_a_clock_follows_one_node_at_a_time),
      TEST(test_a_clock_of_a_node_is_not_moved_or_destroyed),
      TEST(test_J5_handlers_hear_of_the_change_and_cannot_set),
      TEST(test_nodes_that_switch_at_a_time_share_what_they_follow),
      TEST(test_X5_the_subscription_has_the_qos_of_its_parameters),
      TEST(test_X7_a_publisher_activates_and_losing_it_does_not_deactivate),
      TEST(test_X7_without_a_wait_losing_the_publisher_deactivates_at_once),
      TEST(test_X7_a_publisher_that_comes_back_unseen_activates_again),
      TEST(test_X7_an_automatic_clock_may_go_off_after_a_limit),
      TEST(test_bad_overrides_refuse_the_node),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
