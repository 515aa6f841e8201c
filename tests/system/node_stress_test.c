/* Threads that make and destroy nodes and endpoints of one context, set parameters in it and from
 * another, and switch the source of time, while /clock ticks and jumps. At the end the graph as
 * another context sees it is what there is. The process and its threads are stopped meanwhile. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/jump.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter_client.h>

#include "never_falls.h"
#include "stopping.h"
#include "system/loopback.h"
#include "test.h"
#include "within.h"

#define DOMAIN  48
#define S       TB_NS_PER_S
#define LIMIT   ((tb_duration_t){60 * S})
#define MAKERS  3
#define SLOTS   3   /* of a maker */
#define STEPS   500 /* of a maker */
#define PER_SET 13u /* endpoints that each node has: six services, /parameter_events */

/* A node and what is on it; NULL where there is none. */
typedef struct slot {
  char name[16];
  tb_ros2_node_t *node;
  tb_ros2_publisher_t *publisher;
  tb_ros2_subscription_t *subscription;
  tb_ros2_client_t *client;
  tb_ros2_service_t *service;
  tb_jump_handler_t *handler;
  never_falls_t seen; /* of the node's clock */
} slot_t;

typedef struct maker {
  unsigned seed;
  slot_t slots[SLOTS];
} maker_t;

static tb_ros2_context_t *context, *elsewhere;
static tb_ros2_clock_publisher_t *publisher;
static maker_t makers[MAKERS];
static atomic_bool done;
static _Atomic uint64_t jumps;
static unsigned seed;

static void ok(tb_status_t status, const tb_error_t *error)
{
  if (status == TB_OK) return;
  fprintf(stderr, "seed %u: %s %s\n", seed, tb_status_name(status), error->text);
  abort(); /* on any thread */
}

static void check_time(slot_t *slot)
{
  if (never_falls_check(&slot->seen, tb_ros2_node_clock(slot->node))) return;
  fprintf(stderr, "seed %u: time falls\n", seed);
  abort();
}

/* ---- what makers do ---- */

static void on_request(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)service, (void)request, (void)user;
}

static void after_jump(const tb_jump_t *jump, void *user)
{
  slot_t *slot = user;
  tb_ros2_parameter_value_t value;
  tb_time_t now;
  tb_error_t error = TB_ERROR_INIT;
  (void)jump;
  atomic_fetch_add(&jumps, 1);
  ok(tb_clock_now(tb_ros2_node_clock(slot->node), &now), &error);
  check_time(slot);
  ok(tb_ros2_node_get_parameter(slot->node, "use_sim_time", &value), &error);
  value = tb_ros2_parameter_bool(false);
  if (tb_ros2_node_set_parameter(slot->node, "use_sim_time", &value, NULL) != TB_ERR_DEADLOCK)
    ok(TB_ERR_INVALID, &error);
}

static void slot_create(slot_t *slot, unsigned choice)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  const tb_ros2_parameter_t sim_time = {"use_sim_time", tb_ros2_parameter_bool(true)};
  if (choice % 2) {
    options.parameter_overrides = &sim_time;
    options.parameter_override_count = 1;
  }
  if (choice % 3 == 0) options.clock_activation = TB_ROS2_CLOCK_BY_PUBLISHER;
  slot->seen = (never_falls_t)NEVER_FALLS_INIT;
  ok(tb_ros2_node_create(context, slot->name, "", &options, &slot->node, &error), &error);
}

static void slot_destroy(slot_t *slot)
{
  tb_jump_handler_destroy(slot->handler);
  tb_ros2_publisher_destroy(slot->publisher);
  tb_ros2_subscription_destroy(slot->subscription);
  tb_ros2_client_destroy(slot->client);
  tb_ros2_service_destroy(slot->service);
  tb_ros2_node_destroy(slot->node);
  memset(&slot->node, 0, sizeof *slot - offsetof(slot_t, node)); /* others read the name */
}

static void topic_toggle(slot_t *slot, bool publishes)
{
  static const char type[] = "std_msgs/msg/String";
  tb_error_t error = TB_ERROR_INIT;
  if (publishes && slot->publisher) {
    tb_ros2_publisher_destroy(slot->publisher);
    slot->publisher = NULL;
  } else if (publishes) {
    ok(tb_ros2_node_create_publisher(slot->node, "~/out", type, NULL, &slot->publisher, &error),
       &error);
  } else if (slot->subscription) {
    tb_ros2_subscription_destroy(slot->subscription);
    slot->subscription = NULL;
  } else {
    ok(tb_ros2_node_create_subscription(slot->node, "/m0s0/out", type, NULL, NULL,
                                        &slot->subscription, &error),
       &error);
  }
}

static void service_toggle(slot_t *slot, bool serves)
{
  static const char type[] = "std_srvs/srv/Empty";
  tb_error_t error = TB_ERROR_INIT;
  if (serves && slot->service) {
    tb_ros2_service_destroy(slot->service);
    slot->service = NULL;
  } else if (serves) {
    ok(tb_ros2_node_create_service(slot->node, "~/do", type, NULL, on_request, NULL, &slot->service,
                                   &error),
       &error);
  } else if (slot->client) {
    tb_ros2_client_destroy(slot->client);
    slot->client = NULL;
  } else {
    ok(tb_ros2_node_create_client(slot->node, "/m0s0/do", type, NULL, &slot->client, &error),
       &error);
  }
}

static void handler_toggle(slot_t *slot)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_jump_handler_options_t options = {
      .name = "stress", .threshold = {{S}, {-1}, true}, .after = after_jump, .user = slot};
  if (slot->handler) {
    tb_jump_handler_destroy(slot->handler);
    slot->handler = NULL;
  } else {
    ok(tb_jump_handler_create(tb_ros2_node_clock(slot->node), &options, &slot->handler), &error);
  }
}

static void parameter_set(slot_t *slot, unsigned choice)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_time_t now;
  tb_ros2_parameter_t batch[] = {
      {"use_sim_time", tb_ros2_parameter_bool(choice % 2)},
      {"time_source", tb_ros2_parameter_string(choice % 4 < 2 ? "clock_topic" : "extrapolating")}};
  ok(tb_ros2_node_set_parameters_atomically(slot->node, batch, 1 + choice % 3 / 2, &error), &error);
  ok(tb_clock_now(tb_ros2_node_clock(slot->node), &now), &error);
}

static void *make(void *user)
{
  maker_t *maker = user;
  for (int i = 0; i < STEPS; i++) {
    slot_t *slot = &maker->slots[(unsigned)rand_r(&maker->seed) % SLOTS];
    unsigned choice = (unsigned)rand_r(&maker->seed);
    if (!slot->node)
      slot_create(slot, choice);
    else if (choice % 16 < 3)
      slot_destroy(slot);
    else if (choice % 16 < 6)
      topic_toggle(slot, choice / 16 % 2);
    else if (choice % 16 < 9)
      service_toggle(slot, choice / 16 % 2);
    else if (choice % 16 < 11)
      handler_toggle(slot);
    else
      parameter_set(slot, choice / 16);
    for (int k = 0; k < SLOTS; k++)
      if (maker->slots[k].node) check_time(&maker->slots[k]);
  }
  return NULL;
}

/* ---- what runs meanwhile ---- */

/* Nodes come and go: an answer, or a reason why there is none. */
static void *set_remotely(void *user)
{
  unsigned own_seed = seed + 100;
  (void)user;
  while (!atomic_load(&done)) {
    const slot_t *slot =
        &makers[(unsigned)rand_r(&own_seed) % MAKERS].slots[(unsigned)rand_r(&own_seed) % SLOTS];
    const tb_ros2_parameter_t parameter = {"use_sim_time",
                                           tb_ros2_parameter_bool(rand_r(&own_seed) % 2)};
    tb_ros2_parameter_client_t *client;
    tb_ros2_parameter_result_t result;
    tb_error_t error = TB_ERROR_INIT;
    char name[32];
    snprintf(name, sizeof name, "/%s", slot->name); /* which does not change */
    ok(tb_ros2_parameter_client_create(elsewhere, name, &client, &error), &error);
    tb_status_t status = tb_ros2_parameter_client_set(
        client, &parameter, 1, WITHIN((tb_duration_t){S / 20}), &result, &error);
    if (status != TB_ERR_NOT_FOUND && status != TB_ERR_TIMEOUT && status != TB_ERR_CLOSED)
      ok(status, &error);
    if (status == TB_OK && !result.successful) ok(TB_ERR_INVALID, &error);
    tb_ros2_parameter_client_destroy(client);
  }
  return NULL;
}

static void *tick(void *user)
{
  unsigned own_seed = seed + 200;
  int64_t time_ns = 100 * S;
  tb_error_t error = TB_ERROR_INIT;
  (void)user;
  while (!atomic_load(&done)) {
    int choice = rand_r(&own_seed) % 100;
    time_ns += choice < 2 ? -S : choice < 4 ? 10 * S : TB_NS_PER_MS;
    ok(tb_ros2_clock_publisher_publish(publisher, time_ns, &error), &error);
    if (choice < 98) {
      nanosleep(&(struct timespec){0, 1000000}, NULL); /* 1 kHz: no test hangs on this */
      continue;
    }
    tb_ros2_clock_publisher_destroy(publisher);
    ok(tb_ros2_clock_publisher_create(elsewhere, NULL, NULL, &publisher, &error), &error);
  }
  return NULL;
}

/* ---- what there is at the end ---- */

static bool flag_of(const slot_t *slot)
{
  tb_ros2_parameter_value_t value;
  assert_ok(tb_ros2_node_get_parameter(slot->node, "use_sim_time", &value));
  return value.bool_value;
}

static size_t count_of(const slot_t *slot)
{
  return PER_SET + (size_t)flag_of(slot) + (slot->publisher ? 1u : 0) +
         (slot->subscription ? 1u : 0) + (slot->client ? 2u : 0) + (slot->service ? 2u : 0);
}

static bool lists(const tb_ros2_graph_snapshot_t *snapshot, const tb_ros2_graph_node_t *node,
                  tb_ros2_endpoint_kind_t kind, bool is_publisher, const char *name)
{
  for (size_t i = 0; i < node->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[node->endpoints[i]];
    if (endpoint->kind == kind && endpoint->is_publisher == is_publisher &&
        strcmp(endpoint->name, name) == 0)
      return true;
  }
  return false;
}

static bool is_seen(const tb_ros2_graph_snapshot_t *snapshot, const slot_t *slot)
{
  char full[32], out[48], service[48];
  snprintf(full, sizeof full, "/%s", slot->name);
  snprintf(out, sizeof out, "%s/out", full);
  snprintf(service, sizeof service, "%s/do", full);
  const tb_ros2_graph_node_t *node = tb_ros2_graph_find_node(snapshot, full);
  if (!slot->node) return !node;
  return node && !node->is_duplicate && node->endpoint_count == count_of(slot) &&
         lists(snapshot, node, TB_ROS2_ENDPOINT_TOPIC, false, "/clock") == flag_of(slot) &&
         lists(snapshot, node, TB_ROS2_ENDPOINT_TOPIC, true, out) == (slot->publisher != NULL) &&
         lists(snapshot, node, TB_ROS2_ENDPOINT_SERVICE_REPLY, true, service) ==
             (slot->service != NULL) &&
         lists(snapshot, node, TB_ROS2_ENDPOINT_SERVICE_REQUEST, true, "/m0s0/do") ==
             (slot->client != NULL);
}

static bool all_is_seen(const tb_ros2_graph_snapshot_t *snapshot)
{
  size_t nodes = 0;
  for (int i = 0; i < MAKERS * SLOTS; i++) {
    const slot_t *slot = &makers[i / SLOTS].slots[i % SLOTS];
    if (!is_seen(snapshot, slot)) return false;
    nodes += slot->node != NULL;
  }
  return snapshot->node_count == nodes && snapshot->malformed == 0 && snapshot->foreign == 0;
}

static void wait_until_seen(tb_ros2_graph_t *graph)
{
  for (bool seen = false; !seen;) {
    uint32_t change = tb_ros2_graph_changes(graph);
    const tb_ros2_graph_snapshot_t *snapshot;
    assert_ok(tb_ros2_graph_snapshot(graph, &snapshot, NULL));
    seen = all_is_seen(snapshot);
    tb_ros2_graph_snapshot_release(snapshot);
    if (!seen) assert_ok(tb_ros2_graph_wait_for_change(graph, change, WITHIN(LIMIT)));
  }
}

/* Nodes that use simulated time have it, or what follows from it; the others do not. */
static void wait_until_all_read(int64_t time_ns)
{
  for (int i = 0; i < MAKERS * SLOTS; i++) {
    const slot_t *slot = &makers[i / SLOTS].slots[i % SLOTS];
    tb_time_t now = {0, TB_TIME_ROS};
    if (!slot->node) continue;
    while (flag_of(slot) && now.ns < time_ns) {
      assert_ok(tb_ros2_clock_publisher_publish(publisher, time_ns, NULL));
      sched_yield();
      assert_ok(tb_clock_now(tb_ros2_node_clock(slot->node), &now));
    }
    if (!flag_of(slot)) assert_false(tb_clock_is_active(tb_ros2_node_clock(slot->node)));
  }
}

static void set_up(void)
{
  tb_error_t error = TB_ERROR_INIT;
  loopback_setup(DOMAIN);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK ||
      tb_ros2_context_create(NULL, &elsewhere, &error) != TB_OK ||
      tb_ros2_clock_publisher_create(elsewhere, NULL, NULL, &publisher, &error) != TB_OK)
    fail_msg("%s", error.text);
  for (int i = 0; i < MAKERS * SLOTS; i++)
    snprintf(makers[i / SLOTS].slots[i % SLOTS].name, sizeof makers[0].slots[0].name, "m%ds%d",
             i / SLOTS, i % SLOTS);
}

static void tear_down(void)
{
  loopback_check(0);
  tb_ros2_clock_publisher_destroy(publisher);
  tb_ros2_context_destroy(context);
  tb_ros2_context_destroy(elsewhere);
}

static void run_all(void)
{
  pthread_t threads[MAKERS], others[2];
  tb_ros2_graph_t *graph, *late;
  set_up();
  assert_ok(tb_ros2_graph_create(elsewhere, &graph, NULL));
  assert_int_equal(pthread_create(&others[0], NULL, tick, NULL), 0);
  assert_int_equal(pthread_create(&others[1], NULL, set_remotely, NULL), 0);
  for (unsigned i = 0; i < MAKERS; i++) {
    makers[i].seed = seed + i;
    assert_int_equal(pthread_create(&threads[i], NULL, make, &makers[i]), 0);
  }
  for (int i = 0; i < MAKERS; i++)
    pthread_join(threads[i], NULL);
  atomic_store(&done, true);
  pthread_join(others[0], NULL);
  pthread_join(others[1], NULL);
  wait_until_seen(graph);
  assert_ok(tb_ros2_graph_create(elsewhere, &late, NULL)); /* which has seen nothing of it */
  wait_until_seen(late);
  wait_until_all_read(100000 * S);
  assert_true(atomic_load(&jumps) > 0);
  for (int i = 0; i < MAKERS * SLOTS; i++)
    slot_destroy(&makers[i / SLOTS].slots[i % SLOTS]);
  wait_until_seen(graph);
  tb_ros2_graph_destroy(late);
  tb_ros2_graph_destroy(graph);
  tear_down();
}

static void test_all_at_once(void **state)
{
  (void)state;
  seed = (unsigned)test_seed();
  stopping_run(run_all, seed);
}

int main(void)
{
  unsetenv("TIMEBASE_SOURCE");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_at_once),
  };
  int failed;
  do
    failed = cmocka_run_group_tests(tests, NULL, NULL);
  while (!failed && test_goes_on());
  return failed;
}
