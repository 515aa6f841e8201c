#include "ros2/discovery.h"

#include <stdlib.h>
#include <string.h>
#include <timebase/log.h>

#include "test.h"

#define AUTO_INDEX                                                                                 \
  "<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>"
#define NO_MULTICAST "<General><AllowMulticast>false</AllowMulticast></General>"
#define BEGIN        "<CycloneDDS><Domain>"
#define END          "</Domain></CycloneDDS>,"
#define SUBNET       BEGIN "<Discovery>" AUTO_INDEX "</Discovery>" END
#define LOCALHOST                                                                                  \
  BEGIN NO_MULTICAST "<Discovery>" AUTO_INDEX                                                      \
                     "<Peers><Peer address=\"localhost\"/></Peers></Discovery>" END

static void assert_config(tb__ros2_environment_t environment, const char *expected)
{
  char *config = NULL;
  assert_ok(tb__discovery_config(&environment, 4711, &config, NULL));
  assert_string_equal(config, expected);
  free(config);
}

static void count_warning(tb_log_level_t level, const char *message, void *user)
{
  (void)message;
  if (level == TB_LOG_WARN) ++*(int *)user;
}

static void test_ranges(void **state)
{
  (void)state;
  assert_config((tb__ros2_environment_t){0}, SUBNET);
  assert_config((tb__ros2_environment_t){.discovery_range = ""}, SUBNET);
  assert_config((tb__ros2_environment_t){.discovery_range = "SUBNET"}, SUBNET);
  assert_config((tb__ros2_environment_t){.discovery_range = "LOCALHOST"}, LOCALHOST);
  assert_config((tb__ros2_environment_t){.discovery_range = "SYSTEM_DEFAULT"}, "");
  assert_config((tb__ros2_environment_t){.discovery_range = "OFF"},
                BEGIN NO_MULTICAST "<Discovery><ParticipantIndex>none</ParticipantIndex>"
                                   "<Tag>ros_discovery_off_4711</Tag></Discovery>" END);
}

static void test_unknown_range_is_localhost_with_a_warning(void **state)
{
  (void)state;
  int warnings = 0;
  tb_log_set_hook(count_warning, &warnings);
  assert_config((tb__ros2_environment_t){.discovery_range = "subnet"}, LOCALHOST);
  tb_log_set_hook(NULL, NULL);
  assert_int_equal(warnings, 1);
}

static void test_localhost_only_overrides_range_and_peers(void **state)
{
  (void)state;
  assert_config((tb__ros2_environment_t){.localhost_only = "1",
                                         .discovery_range = "SUBNET",
                                         .static_peers = "10.0.0.1"},
                LOCALHOST);
  assert_config((tb__ros2_environment_t){.localhost_only = "0"}, SUBNET);
}

static void test_peers(void **state)
{
  (void)state;
  assert_config((tb__ros2_environment_t){.static_peers = "10.0.0.1;;robot.local;"},
                BEGIN "<Discovery>" AUTO_INDEX "<Peers><Peer address=\"10.0.0.1\"/>"
                      "<Peer address=\"robot.local\"/></Peers></Discovery>" END);
  assert_config((tb__ros2_environment_t){.discovery_range = "LOCALHOST", .static_peers = "[::1]:9"},
                BEGIN NO_MULTICAST "<Discovery>" AUTO_INDEX
                                   "<Peers><Peer address=\"localhost\"/><Peer address=\"[::1]:9\"/>"
                                   "</Peers></Discovery>" END);
  assert_config((tb__ros2_environment_t){.static_peers = ";;"}, SUBNET);
}

static void test_peers_are_escaped(void **state)
{
  (void)state;
  assert_config((tb__ros2_environment_t){.static_peers = "\"/><Evil='&"},
                BEGIN "<Discovery>" AUTO_INDEX "<Peers><Peer address=\"&quot;/&gt;&lt;Evil=&apos;"
                      "&amp;\"/></Peers></Discovery>" END);
}

static void test_bad_peers_are_refused(void **state)
{
  (void)state;
  char big[300];
  memset(big, 'a', sizeof big - 1);
  big[sizeof big - 1] = '\0';
  const char *const bad[] = {"a b", "a\n", "\x7f", "ok;\x01", big};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char *config = NULL;
    tb_error_t error = TB_ERROR_INIT;
    tb__ros2_environment_t environment = {.static_peers = bad[i]};
    assert_status(tb__discovery_config(&environment, 1, &config, &error), TB_ERR_INVALID);
    assert_null(config);
    assert_non_null(strstr(error.text, "ROS_STATIC_PEERS"));
  }
}

static void test_uri_of_the_user_comes_last(void **state)
{
  (void)state;
  assert_config((tb__ros2_environment_t){.cyclonedds_uri = "file:///x.xml"},
                SUBNET "file:///x.xml");
  assert_config((tb__ros2_environment_t){.discovery_range = "SYSTEM_DEFAULT",
                                         .static_peers = "a",
                                         .cyclonedds_uri = "<General/>"},
                "<General/>");
}

static void assert_domain(const char *text, uint32_t expected)
{
  uint32_t id = 999;
  assert_ok(tb__domain_id_parse(text, &id, NULL));
  assert_int_equal(id, expected);
}

static void assert_domain_refused(const char *text, tb_status_t expected)
{
  uint32_t id = 999;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb__domain_id_parse(text, &id, &error), expected);
  assert_int_equal(id, 999);
  assert_non_null(strstr(error.text, "ROS_DOMAIN_ID"));
}

static void test_prompt_acks_give_way_to_the_users_uri(void **state)
{
  (void)state;
  char *config = NULL;
  tb__ros2_environment_t environment = {.cyclonedds_uri = "<Mine/>", .prompt_acks = true};
  assert_ok(tb__discovery_config(&environment, 1, &config, NULL));
  const char *interval = strstr(config, "<HeartbeatInterval "), *mine = strstr(config, ",<Mine/>");
  assert_non_null(interval);
  assert_non_null(mine);
  assert_true(interval < mine);
  free(config);
}

static void test_domain_id(void **state)
{
  (void)state;
  assert_domain(NULL, 0);
  assert_domain("", 0);
  assert_domain("42", 42);
  assert_domain("0x10", 16);
  assert_domain("010", 8);
  assert_domain("232", 232);
  assert_domain_refused("233", TB_ERR_RANGE);
  assert_domain_refused("-1", TB_ERR_RANGE);
  assert_domain_refused("99999999999999999999999", TB_ERR_RANGE);
  assert_domain_refused("seven", TB_ERR_INVALID);
  assert_domain_refused("7x", TB_ERR_INVALID);
  assert_domain_refused(" ", TB_ERR_INVALID);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_unknown_range_is_localhost_with_a_warning),
      cmocka_unit_test(test_localhost_only_overrides_range_and_peers),
      cmocka_unit_test(test_peers),
      cmocka_unit_test(test_peers_are_escaped),
      cmocka_unit_test(test_bad_peers_are_refused),
      cmocka_unit_test(test_uri_of_the_user_comes_last),
      cmocka_unit_test(test_prompt_acks_give_way_to_the_users_uri),
      cmocka_unit_test(test_domain_id),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
