/* The definition of a type that is installed nowhere, from a node that publishes it: a node of ours
 * that answers as one of jazzy does. */
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_service.h>

#include "definition/message_head.h"
#include "described_type.h"
#include "rosbag2/type_description.h"
#include "system/loopback.h"
#include "test.h"

#define DOMAIN  9
#define TYPE    "my_msgs/msg/Scan"
#define HASH    "RIHS01_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SERVICE "type_description_interfaces/srv/GetTypeDescription"
#define LIMIT   ((tb_duration_t){120 * TB_NS_PER_S})

static tb_ros2_context_t *asking, *answering;

static int setup(void **state)
{
  (void)state;
  loopback_setup(DOMAIN);
  unsetenv("AMENT_PREFIX_PATH");
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
  } else {
    description_begin(&reply, 0, "unknown type");
    description_type(&reply, "", 0);
    description_put(&reply, 0, 4);
    description_end(&reply, "");
  }
  (void)tb_ros2_service_reply(service, &request->id, reply.bytes, reply.size, NULL);
}

static tb_status_t resolve(const char *node, const char *hash, tb_duration_t limit,
                           tb__definition_t *out)
{
  tb__type_description_source_t source = {asking, node, hash, limit};
  tb__definition_request_t request = {
      .type = TYPE, .ask = tb__type_description_ask, .user = &source};
  return tb__definition_resolve(&request, out, NULL);
}

static void test_a_node_that_answers(void **state)
{
  (void)state;
  static const uint8_t message[] = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 128, 63, 7,
                                    0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0,   0};
  tb_ros2_service_t *service = NULL;
  tb__definition_t found;
  tb__message_head_t head;
  tb__message_t opened;
  int64_t stamp_ns = 0;
  assert_ok(tb_ros2_service_create(answering, "/scanner/get_type_description", SERVICE, NULL,
                                   answer, NULL, &service, NULL));
  assert_ok(resolve("/scanner", HASH, LIMIT, &found));
  assert_int_equal(found.origin, TB__DEFINITION_NODE);
  assert_ok(tb__message_head_init(&head, found.schema, NULL));
  assert_ok(tb__message_open(&opened, found.schema, message, sizeof message));
  assert_ok(tb__message_head_stamp(&head, &opened, &stamp_ns));
  assert_int_equal(stamp_ns, 7000000009);
  tb__message_head_fini(&head);
  tb__schema_destroy(found.schema);
  assert_status(resolve("/scanner", "RIHS01_other", LIMIT, &found), TB_ERR_NOT_FOUND);
  tb_ros2_service_destroy(service);
}

static void test_nodes_that_cannot_be_asked(void **state)
{
  (void)state;
  tb__definition_t found;
  assert_status(resolve("/nobody", HASH, (tb_duration_t){50 * TB_NS_PER_MS}, &found),
                TB_ERR_NOT_FOUND);
  assert_status(resolve("/nobody", "", LIMIT, &found), TB_ERR_NOT_FOUND);   /* at once, as a node */
  assert_status(resolve("/nobody", NULL, LIMIT, &found), TB_ERR_NOT_FOUND); /* of humble */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_node_that_answers, setup, teardown),
      cmocka_unit_test_setup_teardown(test_nodes_that_cannot_be_asked, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
