/* See null_arguments.h. rcl test_graph.cpp: test_rcl_wait_for_publishers. */
#include <timebase/ros2_arguments.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_diagnostics.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_idl.h>
#include <timebase/ros2_lifecycle.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_parameter.h>
#include <timebase/ros2_parameter_client.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_sample.h>
#include <timebase/ros2_service.h>
#include <timebase/ros2_simulation_services.h>
#include <timebase/ros2_statistics.h>
#include <timebase/ros2_subscription.h>
#include <timebase/ros2_type_hash.h>

#include "null_arguments/null_arguments.h"
#include "within.h"

static void test_ros2_arguments(void **state)
{
  (void)state;
  ZERO(tb_ros2_remove_ros_arguments(0, NULL));
}

static void test_ros2_client(void **state)
{
  (void)state;
  REFUSED(tb_ros2_client_create(NULL, "a", "a", NULL, ANY, NULL));
  REFUSED(tb_ros2_client_create(ANY, NULL, "a", NULL, ANY, NULL));
  REFUSED(tb_ros2_client_create(ANY, "a", NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_client_create(ANY, "a", "a", NULL, NULL, NULL));
  NOTHING(tb_ros2_client_destroy(NULL));
  ZERO(tb_ros2_client_is_service_ready(NULL));
  REFUSED(tb_ros2_client_wait_for_service(NULL, WITHIN(NS)));
  REFUSED(tb_ros2_client_call(NULL, ANY, 1, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_client_call(ANY, NULL, 1, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_client_call(ANY, ANY, 1, WITHIN(NS), NULL, NULL));
  REFUSED(tb_ros2_client_call_timed(NULL, ANY, 1, WITHIN(NS), ANY, ANY, NULL));
  REFUSED(tb_ros2_client_call_timed(ANY, NULL, 1, WITHIN(NS), ANY, ANY, NULL));
  REFUSED(tb_ros2_client_call_timed(ANY, ANY, 1, WITHIN(NS), NULL, ANY, NULL));
  REFUSED(tb_ros2_client_call_timed(ANY, ANY, 1, WITHIN(NS), ANY, NULL, NULL));
  REFUSED(tb_ros2_client_call_async(NULL, ANY, 1, NS, (tb_ros2_response_callback_t)ANY_FUNCTION,
                                    NULL, NULL));
  REFUSED(tb_ros2_client_call_async(ANY, NULL, 1, NS, (tb_ros2_response_callback_t)ANY_FUNCTION,
                                    NULL, NULL));
  NOTHING(tb_ros2_response_release(NULL));
}

static void test_ros2_clock_publisher(void **state)
{
  (void)state;
  REFUSED(tb_ros2_clock_publisher_create(NULL, NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_clock_publisher_create(ANY, NULL, NULL, NULL, NULL));
  NOTHING(tb_ros2_clock_publisher_destroy(NULL));
  REFUSED(tb_ros2_clock_publisher_publish(NULL, 1, NULL));
  NOTHING((void)tb_ros2_clock_publisher_sink(NULL));
  ZERO(tb_ros2_clock_publisher_matched(NULL));
  REFUSED(tb_ros2_clock_publisher_wait_for_matched(NULL, 1, WITHIN(NS)));
}

static void test_ros2_clock_source(void **state)
{
  (void)state;
  REFUSED(tb_ros2_clock_source_create(NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_clock_source_create(ANY, NULL, NULL, NULL));
  REFUSED(tb_ros2_clock_source_status(NULL, ANY));
  REFUSED(tb_ros2_clock_source_status(ANY, NULL));
  assert_int_equal(tb_ros2_clock_source_fd(NULL), -1);
  ZERO(tb_ros2_context_token(NULL));
  NOTHING(tb_ros2_context_shutdown(NULL));
  REFUSED(tb_ros2_clock_source_run(NULL, ANY));
  REFUSED(tb_ros2_clock_source_writers(NULL, 1, ANY, ANY));
  REFUSED(tb_ros2_clock_source_writers(ANY, 1, NULL, ANY));
  REFUSED(tb_ros2_clock_source_writers(ANY, 1, ANY, NULL));
}

static void test_ros2_context(void **state)
{
  (void)state;
  REFUSED(tb_ros2_context_create(NULL, NULL, NULL));
  NOTHING(tb_ros2_context_destroy(NULL));
  ZERO(tb_ros2_context_domain_id(NULL) + 1);
}

static void test_ros2_graph(void **state)
{
  (void)state;
  REFUSED(tb_ros2_graph_create(NULL, ANY, NULL));
  REFUSED(tb_ros2_graph_create(ANY, NULL, NULL));
  NOTHING(tb_ros2_graph_destroy(NULL));
  REFUSED(tb_ros2_graph_snapshot(NULL, ANY, NULL));
  REFUSED(tb_ros2_graph_snapshot(ANY, NULL, NULL));
  NOTHING(tb_ros2_graph_snapshot_release(NULL));
  ZERO(tb_ros2_graph_changes(NULL));
  REFUSED(tb_ros2_graph_wait_for_change(NULL, 1, WITHIN(NS)));
  REFUSED(tb_ros2_graph_wait_for_node(NULL, "a", WITHIN(NS)));
  REFUSED(tb_ros2_graph_wait_for_node(ANY, NULL, WITHIN(NS)));
  ZERO(tb_ros2_graph_find_node(NULL, NULL));
  ZERO(tb_ros2_graph_find_participant(NULL, NULL));
  ZERO(tb_ros2_graph_publishers(NULL, NULL, NULL));
  ZERO(tb_ros2_graph_subscriptions(NULL, NULL, NULL));
  ZERO(tb_ros2_graph_mismatches(NULL, NULL));
}

static void test_ros2_idl(void **state)
{
  (void)state;
  REFUSED(tb_ros2_idl_encode(NULL, ANY, ANY, ANY, NULL));
  REFUSED(tb_ros2_idl_encode(ANY, NULL, ANY, ANY, NULL));
  REFUSED(tb_ros2_idl_encode(ANY, ANY, NULL, ANY, NULL));
  REFUSED(tb_ros2_idl_encode(ANY, ANY, ANY, NULL, NULL));
  REFUSED(tb_ros2_idl_decode(NULL, ANY, 1, ANY, NULL));
  REFUSED(tb_ros2_idl_decode(ANY, NULL, 1, ANY, NULL));
  REFUSED(tb_ros2_idl_decode(ANY, ANY, 1, NULL, NULL));
  NOTHING(tb_ros2_idl_free(NULL));
}

static void test_ros2_node(void **state)
{
  (void)state;
  REFUSED(tb_ros2_node_create(NULL, "a", "a", NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create(ANY, NULL, "a", NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create(ANY, "a", NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create(ANY, "a", "a", NULL, NULL, NULL));
  NOTHING(tb_ros2_node_destroy(NULL));
  ZERO(tb_ros2_node_name(NULL));
  ZERO(tb_ros2_node_namespace(NULL));
  ZERO(tb_ros2_node_fully_qualified_name(NULL));
  ZERO(tb_ros2_node_context(NULL));
  REFUSED(tb_ros2_node_resolve_topic_name(NULL, "a", ANY, NULL));
  REFUSED(tb_ros2_node_resolve_topic_name(ANY, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_resolve_topic_name(ANY, "a", NULL, NULL));
  REFUSED(tb_ros2_node_resolve_service_name(NULL, "a", ANY, NULL));
  REFUSED(tb_ros2_node_resolve_service_name(ANY, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_resolve_service_name(ANY, "a", NULL, NULL));
  REFUSED(tb_ros2_node_create_publisher(NULL, "a", "a", NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_publisher(ANY, NULL, "a", NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_publisher(ANY, "a", NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_publisher(ANY, "a", "a", NULL, NULL, NULL));
  REFUSED(tb_ros2_node_create_clock_publisher(NULL, NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_clock_publisher(ANY, NULL, NULL, NULL, NULL));
  REFUSED(tb_ros2_node_create_subscription(NULL, "a", "a", NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_subscription(ANY, NULL, "a", NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_subscription(ANY, "a", NULL, NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_subscription(ANY, "a", "a", NULL, NULL, NULL, NULL));
  REFUSED(tb_ros2_node_create_client(NULL, "a", "a", NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_client(ANY, NULL, "a", NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_client(ANY, "a", NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_client(ANY, "a", "a", NULL, NULL, NULL));
  REFUSED(tb_ros2_node_create_service(NULL, "a", "a", NULL,
                                      (tb_ros2_service_callback_t)ANY_FUNCTION, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_service(ANY, NULL, "a", NULL,
                                      (tb_ros2_service_callback_t)ANY_FUNCTION, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_service(ANY, "a", NULL, NULL,
                                      (tb_ros2_service_callback_t)ANY_FUNCTION, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_create_service(ANY, "a", "a", NULL, (tb_ros2_service_callback_t)ANY_FUNCTION,
                                      NULL, NULL, NULL));
  ZERO(tb_ros2_node_clock(NULL));
  REFUSED(tb_ros2_node_attach_clock(NULL, ANY));
  REFUSED(tb_ros2_node_attach_clock(ANY, NULL));
  REFUSED(tb_ros2_node_detach_clock(NULL, ANY));
  REFUSED(tb_ros2_node_detach_clock(ANY, NULL));
  REFUSED(tb_ros2_node_clock_source_status(NULL, ANY));
  REFUSED(tb_ros2_node_clock_source_status(ANY, NULL));
  REFUSED(tb_ros2_node_declare_parameter(NULL, "a", ANY, NULL, NULL));
  REFUSED(tb_ros2_node_declare_parameter(ANY, NULL, ANY, NULL, NULL));
  REFUSED(tb_ros2_node_declare_parameter(ANY, "a", NULL, NULL, NULL));
  REFUSED(tb_ros2_node_undeclare_parameter(NULL, "a", NULL));
  REFUSED(tb_ros2_node_undeclare_parameter(ANY, NULL, NULL));
  REFUSED(tb_ros2_node_get_parameter(NULL, "a", ANY));
  REFUSED(tb_ros2_node_get_parameter(ANY, NULL, ANY));
  REFUSED(tb_ros2_node_get_parameter(ANY, "a", NULL));
  REFUSED(tb_ros2_node_set_parameter(NULL, "a", ANY, NULL));
  REFUSED(tb_ros2_node_set_parameter(ANY, NULL, ANY, NULL));
  REFUSED(tb_ros2_node_set_parameter(ANY, "a", NULL, NULL));
  REFUSED(tb_ros2_node_set_parameters_atomically(NULL, ANY, 1, NULL));
  REFUSED(tb_ros2_node_set_parameters_atomically(ANY, NULL, 1, NULL));
  REFUSED(tb_ros2_node_set_parameters_callback(
      NULL, (tb_ros2_set_parameters_callback_t)ANY_FUNCTION, NULL));
}

static void test_ros2_parameter(void **state)
{
  (void)state;
  REFUSED(tb_ros2_parameter_value_copy(NULL, ANY));
  REFUSED(tb_ros2_parameter_value_copy(ANY, NULL));
  NOTHING(tb_ros2_parameter_value_release(NULL));
  ZERO(!tb_ros2_parameter_value_equal(NULL, NULL));
  ZERO(tb_ros2_parameter_value_equal(ANY, NULL));
  ZERO(tb_ros2_parameter_value_equal(NULL, ANY));
  REFUSED(tb_ros2_parameter_value_parse(NULL, ANY, NULL));
  REFUSED(tb_ros2_parameter_value_parse("a", NULL, NULL));
  REFUSED(tb_ros2_parameter_value_format(NULL, ANY));
  REFUSED(tb_ros2_parameter_value_format(ANY, NULL));
}

static void test_ros2_parameter_client(void **state)
{
  (void)state;
  REFUSED(tb_ros2_parameter_client_create(NULL, "a", ANY, NULL));
  REFUSED(tb_ros2_parameter_client_create(ANY, NULL, ANY, NULL));
  REFUSED(tb_ros2_parameter_client_create(ANY, "a", NULL, NULL));
  NOTHING(tb_ros2_parameter_client_destroy(NULL));
  REFUSED(tb_ros2_parameter_client_get(NULL, ANY, 1, WITHIN(NS), ANY, ANY, NULL));
  REFUSED(tb_ros2_parameter_client_get(ANY, NULL, 1, WITHIN(NS), ANY, ANY, NULL));
  REFUSED(tb_ros2_parameter_client_get(ANY, ANY, 1, WITHIN(NS), NULL, ANY, NULL));
  REFUSED(tb_ros2_parameter_client_get(ANY, ANY, 1, WITHIN(NS), ANY, NULL, NULL));
  REFUSED(tb_ros2_parameter_client_get_types(NULL, ANY, 1, WITHIN(NS), ANY, ANY, NULL));
  REFUSED(tb_ros2_parameter_client_get_types(ANY, NULL, 1, WITHIN(NS), ANY, ANY, NULL));
  REFUSED(tb_ros2_parameter_client_get_types(ANY, ANY, 1, WITHIN(NS), NULL, ANY, NULL));
  REFUSED(tb_ros2_parameter_client_get_types(ANY, ANY, 1, WITHIN(NS), ANY, NULL, NULL));
  REFUSED(tb_ros2_parameter_client_set(NULL, ANY, 1, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_parameter_client_set(ANY, NULL, 1, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_parameter_client_set(ANY, ANY, 1, WITHIN(NS), NULL, NULL));
  REFUSED(tb_ros2_parameter_client_set_atomically(NULL, ANY, 1, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_parameter_client_set_atomically(ANY, NULL, 1, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_parameter_client_set_atomically(ANY, ANY, 1, WITHIN(NS), NULL, NULL));
  REFUSED(tb_ros2_parameter_client_list(NULL, ANY, 1, 1, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_parameter_client_list(ANY, NULL, 1, 1, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_parameter_client_list(ANY, ANY, 1, 1, WITHIN(NS), NULL, NULL));
  NOTHING(tb_ros2_parameter_list_release(NULL));
  REFUSED(tb_ros2_parameter_client_describe(NULL, ANY, 1, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_parameter_client_describe(ANY, NULL, 1, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_parameter_client_describe(ANY, ANY, 1, WITHIN(NS), NULL, NULL));
  NOTHING(tb_ros2_parameter_descriptions_release(NULL));
  REFUSED(tb_ros2_parameter_set_on_nodes(NULL, ANY, 1, ANY, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_parameter_set_on_nodes(ANY, NULL, 1, ANY, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_parameter_set_on_nodes(ANY, ANY, 1, NULL, WITHIN(NS), ANY, NULL));
  REFUSED(tb_ros2_parameter_set_on_nodes(ANY, ANY, 1, ANY, WITHIN(NS), NULL, NULL));
}

static void test_ros2_publisher(void **state)
{
  (void)state;
  REFUSED(tb_ros2_publisher_create(NULL, "a", "a", NULL, ANY, NULL));
  REFUSED(tb_ros2_publisher_create(ANY, NULL, "a", NULL, ANY, NULL));
  REFUSED(tb_ros2_publisher_create(ANY, "a", NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_publisher_create(ANY, "a", "a", NULL, NULL, NULL));
  NOTHING(tb_ros2_publisher_destroy(NULL));
  REFUSED(tb_ros2_publisher_publish(NULL, ANY, 1, NULL));
  REFUSED(tb_ros2_publisher_publish(ANY, NULL, 1, NULL));
  ZERO(tb_ros2_publisher_matched(NULL));
  REFUSED(tb_ros2_publisher_wait_for_matched(NULL, 1, WITHIN(NS)));
  REFUSED(tb_ros2_publisher_wait_for_acks(NULL, WITHIN(NS)));
  ZERO(tb_ros2_publisher_incompatible(NULL, NULL));
}

static void test_ros2_sample(void **state)
{
  (void)state;
  NOTHING(tb_ros2_sample_release(NULL));
}

static void test_ros2_service(void **state)
{
  (void)state;
  REFUSED(tb_ros2_service_create(NULL, "a", "a", NULL, (tb_ros2_service_callback_t)ANY_FUNCTION,
                                 NULL, ANY, NULL));
  REFUSED(tb_ros2_service_create(ANY, NULL, "a", NULL, (tb_ros2_service_callback_t)ANY_FUNCTION,
                                 NULL, ANY, NULL));
  REFUSED(tb_ros2_service_create(ANY, "a", NULL, NULL, (tb_ros2_service_callback_t)ANY_FUNCTION,
                                 NULL, ANY, NULL));
  REFUSED(tb_ros2_service_create(ANY, "a", "a", NULL, (tb_ros2_service_callback_t)ANY_FUNCTION,
                                 NULL, NULL, NULL));
  NOTHING(tb_ros2_service_destroy(NULL));
  REFUSED(tb_ros2_service_reply(NULL, ANY, ANY, 1, NULL));
  REFUSED(tb_ros2_service_reply(ANY, NULL, ANY, 1, NULL));
  REFUSED(tb_ros2_service_reply(ANY, ANY, NULL, 1, NULL));
}

static void test_ros2_lifecycle(void **state)
{
  (void)state;
  REFUSED(tb_ros2_lifecycle_create(NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_lifecycle_create(ANY, NULL, NULL, NULL));
  NOTHING(tb_ros2_lifecycle_destroy(NULL));
  ZERO(tb_ros2_lifecycle_state(NULL));
  REFUSED(tb_ros2_lifecycle_change_state(NULL, TB_ROS2_LIFECYCLE_CONFIGURE, NULL));
}

static void test_ros2_simulation_services(void **state)
{
  (void)state;
  REFUSED(tb_ros2_simulation_services_create(NULL, ANY, NULL, ANY, NULL));
  REFUSED(tb_ros2_simulation_services_create(ANY, NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_simulation_services_create(ANY, ANY, NULL, NULL, NULL));
  NOTHING(tb_ros2_simulation_services_destroy(NULL));
}

static void test_ros2_subscription(void **state)
{
  (void)state;
  REFUSED(tb_ros2_subscription_create(NULL, "a", "a", NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_subscription_create(ANY, NULL, "a", NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_subscription_create(ANY, "a", NULL, NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_subscription_create(ANY, "a", "a", NULL, NULL, NULL, NULL));
  NOTHING(tb_ros2_subscription_destroy(NULL));
  REFUSED(tb_ros2_subscription_take(NULL, ANY));
  REFUSED(tb_ros2_subscription_take(ANY, NULL));
  ZERO(tb_ros2_subscription_matched(NULL));
  REFUSED(tb_ros2_subscription_wait_for_matched(NULL, 1, WITHIN(NS)));
  ZERO(tb_ros2_subscription_incompatible(NULL, NULL));
}

static void test_ros2_type_hash(void **state)
{
  (void)state;
  REFUSED(tb_ros2_type_hash_register(NULL, "a", NULL));
  REFUSED(tb_ros2_type_hash_register("a", NULL, NULL));
}

static void test_ros2_diagnostics(void **state)
{
  (void)state;
  REFUSED(tb_ros2_diagnostics_create(NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_diagnostics_create(ANY, NULL, NULL, NULL));
  NOTHING(tb_ros2_diagnostics_destroy(NULL));
  NOTHING(tb_ros2_diagnostics_begin(NULL, TB_LEVEL_OK, "task", ""));
  NOTHING(tb_ros2_diagnostics_begin(ANY, TB_LEVEL_OK, NULL, ""));
  NOTHING(tb_ros2_diagnostics_begin(ANY, TB_LEVEL_OK, "task", NULL));
  NOTHING(tb_ros2_diagnostics_add_number(NULL, "key", 1));
  NOTHING(tb_ros2_diagnostics_add_number(ANY, NULL, 1));
  NOTHING(tb_ros2_diagnostics_add_count(NULL, "key", 1));
  NOTHING(tb_ros2_diagnostics_add_count(ANY, NULL, 1));
  NOTHING(tb_ros2_diagnostics_add_text(NULL, "key", ""));
  NOTHING(tb_ros2_diagnostics_add_text(ANY, NULL, ""));
  NOTHING(tb_ros2_diagnostics_add_text(ANY, "key", NULL));
  REFUSED(tb_ros2_diagnostics_publish(NULL, (tb_time_t){1, TB_TIME_ROS}, NULL));
}

static void test_statistics(void **state)
{
  (void)state;
  REFUSED(tb_ros2_statistics_publisher_create(NULL, ANY, NULL, ANY, NULL));
  REFUSED(tb_ros2_statistics_publisher_create(ANY, NULL, NULL, ANY, NULL));
  REFUSED(tb_ros2_statistics_publisher_create(ANY, ANY, NULL, NULL, NULL));
  NOTHING(tb_ros2_statistics_publisher_destroy(NULL));
  NOTHING(tb_ros2_topic_statistics_begin(NULL, ANY, true));
  NOTHING(tb_ros2_topic_statistics_begin(ANY, NULL, true));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ros2_arguments),
      cmocka_unit_test(test_ros2_client),
      cmocka_unit_test(test_ros2_clock_publisher),
      cmocka_unit_test(test_ros2_clock_source),
      cmocka_unit_test(test_ros2_context),
      cmocka_unit_test(test_ros2_diagnostics),
      cmocka_unit_test(test_ros2_graph),
      cmocka_unit_test(test_ros2_idl),
      cmocka_unit_test(test_ros2_node),
      cmocka_unit_test(test_ros2_parameter),
      cmocka_unit_test(test_ros2_parameter_client),
      cmocka_unit_test(test_ros2_publisher),
      cmocka_unit_test(test_ros2_sample),
      cmocka_unit_test(test_ros2_service),
      cmocka_unit_test(test_ros2_lifecycle),
      cmocka_unit_test(test_ros2_simulation_services),
      cmocka_unit_test(test_ros2_subscription),
      cmocka_unit_test(test_ros2_type_hash),
      cmocka_unit_test(test_statistics),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
