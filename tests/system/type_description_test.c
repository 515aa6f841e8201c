/* The definition of a type that is installed nowhere, from a node that publishes it: a node of ours
 * that answers as one of jazzy does. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/arithmetic.h>
#include <timebase/generic.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_service.h>
#include <timebase/ros2_type_hash.h>

#include "../../cli/definition_requests.h"
#include "definition/type_description.h"
#include "described_type.h"
#include "system/loopback.h"
#include "test.h"

#define DOMAIN 9
#define TYPE   "my_msgs/msg/Scan"
#define HASH   "RIHS01_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const uint8_t message[] = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 128, 63, 7,
                                  0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0,   0};
static tb_ros2_context_t *asking, *answering;

static int setup(void **state)
{
  (void)state;
  loopback_setup(DOMAIN);
  unsetenv("AMENT_PREFIX_PATH");
  assert_ok(tb_ros2_type_hash_register(TYPE, HASH, NULL));
  assert_ok(tb_ros2_context_create(NULL, &asking, NULL));
  assert_ok(tb_ros2_context_create(NULL, &answering, NULL));
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  tb_ros2_context_destroy(asking);
  tb_ros2_context_destroy(answering);
  return 0;
}

static void refuse(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  description_t reply;
  (void)user;
  description_begin(&reply, 0, "unknown type");
  description_type(&reply, "", 0);
  description_put(&reply, 0, 4);
  description_end(&reply, "");
  (void)tb_ros2_service_reply(service, &request->id, reply.bytes, reply.size, NULL);
}

/* Only what was asked as a node of jazzy wants it. */
static void answer(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  const uint8_t *bytes = request->cdr;
  description_t reply, expected = {.size = 4};
  (void)user;
  expected.bytes[1] = 1;
  description_text(&expected, TYPE);
  description_text(&expected, HASH);
  description_put(&expected, 0, 1);
  if (request->size >= expected.size && memcmp(bytes, expected.bytes, expected.size) == 0) {
    description_of_scan(&reply);
    (void)tb_ros2_service_reply(service, &request->id, reply.bytes, reply.size, NULL);
  } else {
    refuse(service, request, NULL);
  }
}

static atomic_int ignored;

static void ignore(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  (void)service;
  (void)request;
  (void)user;
  atomic_fetch_add(&ignored, 1);
}

/* A definition that is asked for, as a command does it. */
typedef struct asking {
  tb_ros2_graph_t *graph;
  tb__definitions_t *definitions;
  definition_requests_t *requests;
} asking_t;

static void asking_begin(asking_t *of)
{
  *of = (asking_t){.graph = NULL};
  assert_ok(tb_ros2_graph_create(asking, &of->graph, NULL));
  assert_ok(tb__definitions_create(&(tb__definition_places_t){.prefixes = NULL}, &of->definitions));
  of->requests = definition_requests_create(asking, of->definitions);
  assert_non_null(of->requests);
}

static void asking_end(asking_t *of)
{
  definition_requests_destroy(of->requests);
  tb__definitions_destroy(of->definitions);
  tb_ros2_graph_destroy(of->graph);
}

/* NULL until there is a publisher of /scan with its node. */
static tb__definition_entry_t *step(asking_t *of)
{
  tb_steady_clock_t *steady = NULL;
  tb_steady_time_t now;
  tb__definition_entry_t *entry = NULL;
  const tb_ros2_graph_snapshot_t *snapshot = NULL;
  const tb_ros2_graph_endpoint_t *publishers = NULL;
  assert_ok(tb_steady_clock_create(&steady));
  assert_ok(tb_ros2_graph_snapshot(of->graph, &snapshot, NULL));
  assert_ok(tb_now(steady, &now));
  if (tb_ros2_graph_publishers(snapshot, "/scan", &publishers) > 0 && publishers[0].node >= 0)
    assert_ok(definition_requests_get(of->requests, &publishers[0], &entry));
  definition_requests_step(of->requests, snapshot, now.ns);
  tb_ros2_graph_snapshot_release(snapshot);
  assert_ok(tb_sleep_for(steady, (tb_duration_t){10 * TB_NS_PER_MS}, NULL));
  tb_steady_clock_destroy(steady);
  return entry;
}

/* Until the type is known, or known to be unknown. */
static tb__definition_entry_t *ask(asking_t *of)
{
  tb__definition_entry_t *entry = NULL;
  while (!entry || tb__definition_entry_state(entry) == TB__DEFINITION_IS_AWAITED) {
    tb__definition_entry_t *found = step(of);
    if (found) entry = found;
  }
  return entry;
}

/* A node that publishes /scan; with the service if it has a callback. */
typedef struct scanner {
  tb_ros2_node_t *node;
  tb_ros2_publisher_t *publisher;
  tb_ros2_service_t *service;
} scanner_t;

static void scanner_begin(scanner_t *of, const char *name, const char *type,
                          tb_ros2_service_callback_t callback)
{
  *of = (scanner_t){.node = NULL};
  assert_ok(tb_ros2_node_create(answering, name, "/", NULL, &of->node, NULL));
  if (callback)
    assert_ok(tb_ros2_node_create_service(of->node, "~/get_type_description",
                                          TB__TYPE_DESCRIPTION_SERVICE, NULL, callback, NULL,
                                          &of->service, NULL));
  assert_ok(tb_ros2_node_create_publisher(of->node, "/scan", type, NULL, &of->publisher, NULL));
}

static void scanner_end(scanner_t *of)
{
  tb_ros2_publisher_destroy(of->publisher);
  tb_ros2_service_destroy(of->service);
  tb_ros2_node_destroy(of->node);
}

static void test_a_node_that_answers(void **state)
{
  (void)state;
  asking_t of;
  scanner_t scanner;
  tb__message_t opened;
  int64_t stamp_ns = 0;
  scanner_begin(&scanner, "scanner", TYPE, answer);
  asking_begin(&of);
  tb__definition_entry_t *entry = ask(&of);
  const tb__known_definition_t *known = tb__definition_entry_known(entry);
  assert_non_null(known);
  assert_int_equal(known->origin, TB__DEFINITION_NODE);
  assert_int_equal(definition_requests_awaited(of.requests), 0);
  assert_true(tb__known_definition_fits(known, message, sizeof message, NULL));
  assert_ok(tb__message_open(&opened, known->schema, message, sizeof message));
  assert_ok(tb__message_head_stamp(&known->head, &opened, &stamp_ns));
  assert_int_equal(stamp_ns, 7000000009);
  asking_end(&of);
  scanner_end(&scanner);
}

/* One that reports a failure, and one that has no such service. */
static void test_nodes_that_do_not_answer(void **state)
{
  (void)state;
  asking_t of;
  scanner_t scanner, mute;
  scanner_begin(&scanner, "scanner", TYPE, refuse);
  scanner_begin(&mute, "mute", TYPE, NULL);
  asking_begin(&of);
  assert_int_equal(tb__definition_entry_state(ask(&of)), TB__DEFINITION_IS_UNKNOWN);
  asking_end(&of);
  scanner_end(&mute);
  scanner_end(&scanner);
}

/* Its request is open when the requests end. */
static void test_a_node_that_never_answers(void **state)
{
  (void)state;
  asking_t of;
  scanner_t scanner;
  int requests = atomic_load(&ignored);
  scanner_begin(&scanner, "scanner", TYPE, ignore);
  asking_begin(&of);
  while (atomic_load(&ignored) == requests)
    step(&of);
  asking_end(&of);
  scanner_end(&scanner);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_node_that_answers, setup, teardown),
      cmocka_unit_test_setup_teardown(test_nodes_that_do_not_answer, setup, teardown),
      cmocka_unit_test_setup_teardown(test_a_node_that_never_answers, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
