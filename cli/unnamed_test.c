#include "unnamed.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static void test_which_addresses_are_of_loopback(void **state)
{
  (void)state;
  static const char *const yes[] = {
      "127.0.0.1",
      "127.0.1.1",
      "::1",
      "127.0.0.1,::1",
      "udp/127.0.0.1:7410@1",
      "udp6/[::1]:7410@1",
      "udp/127.0.0.1:7410@1,udp/127.0.0.1:7411@1",
      "tcp6/[::1]:7400",
  };
  static const char *const no[] = {
      "",
      "10.0.0.1",
      "127.0.0.1,10.0.0.1",
      "udp/10.0.0.1:7410@2",
      "::12",
      "fe80::1",
      "udp6/[::10]:7410@2",
      "udp6/[fe80::1]:7410@2",
      "udp/127.0.0.1:7410@1,udp/10.0.0.1:7410@2",
      "localprocess",
      "x",
      ",",
  };
  for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
    if (!unnamed_is_loopback(yes[i])) fail_msg("%s", yes[i]);
  for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
    if (unnamed_is_loopback(no[i])) fail_msg("%s", no[i]);
}

/* One side uses loopback alone: over IPv6, too. */
static void test_that_interfaces_differ_is_named(void **state)
{
  (void)state;
  static const struct {
    const char *theirs, *ours;
    bool differ;
  } rows[] = {
      {"udp6/[::1]:7410@1", "fe80::7", true},     {"udp6/[fe80::7]:7410@2", "::1", true},
      {"udp6/[::1]:7410@1", "::1", false},        {"udp/127.0.0.1:7410@1", "::1", false},
      {"udp/10.0.0.1:7410@2", "10.0.0.2", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const tb_ros2_graph_participant_t participants[] = {
        {.guid = {1}, .addresses = rows[i].ours, .is_own = true},
        {.guid = {2},
         .middleware = "Fast DDS",
         .enclave = "/",
         .addresses = rows[i].theirs,
         .state = TB_ROS2_PARTICIPANT_AWAITED},
    };
    const tb_ros2_graph_snapshot_t snapshot = {.participants = participants,
                                               .participant_count = 2};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    unnamed_describe(out, &snapshot, &participants[1]);
    fclose(out);
    assert_int_equal(strstr(text, "have both use the same network interface") != NULL,
                     rows[i].differ);
    assert_non_null(strstr(text, rows[i].theirs));
    free(text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_which_addresses_are_of_loopback),
      cmocka_unit_test(test_that_interfaces_differ_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
