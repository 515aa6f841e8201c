#include <timebase/qos_overrides.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/log.h>
#include <unistd.h>

#include "test.h"

static const char text[] = "/scan:\n"
                           "  reliability: best_effort\n"
                           "  durability: transient_local\n"
                           "  history: keep_all\n"
                           "  depth: 5\n"
                           "  deadline: {sec: 0, nsec: 500000000}\n"
                           "  lifespan: {sec: 2, nsec: 1}\n"
                           "  liveliness: manual_by_topic\n"
                           "  liveliness_lease_duration: {sec: 3, nsec: 0}\n"
                           "  avoid_ros_namespace_conventions: true\n"
                           "camera:\n"
                           "  history: 1\n"
                           "  reliability: system_default\n";

static void assert_scan(const tb_qos_t *qos)
{
  assert_int_equal(qos->reliability, TB_QOS_BEST_EFFORT);
  assert_int_equal(qos->durability, TB_QOS_TRANSIENT_LOCAL);
  assert_int_equal(qos->history, TB_QOS_KEEP_ALL);
  assert_int_equal(qos->depth, 5);
  assert_int_equal(qos->deadline.ns, 500000000);
  assert_int_equal(qos->lifespan.ns, 2000000001);
  assert_int_equal(qos->liveliness, TB_QOS_LIVELINESS_MANUAL_BY_TOPIC);
  assert_int_equal(qos->liveliness_lease.ns, 3000000000);
  assert_true(qos->avoid_ros_namespace_conventions);
}

static void test_every_policy(void **state)
{
  (void)state;
  tb_qos_overrides_t *overrides = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_qos_overrides_parse(text, strlen(text), &overrides, &error)) fail_msg("%s", error.text);
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  assert_true(tb_qos_overrides_apply(overrides, "scan", &qos));
  assert_scan(&qos);
  assert_true(tb_qos_overrides_apply(overrides, "/camera", &qos));
  assert_int_equal(qos.history, TB_QOS_KEEP_LAST);
  assert_int_equal(qos.reliability, TB_QOS_BEST_EFFORT); /* as it was */
  assert_false(tb_qos_overrides_apply(overrides, "/other", &qos));
  assert_false(tb_qos_overrides_apply(NULL, "/scan", &qos));
  tb_qos_overrides_destroy(overrides);
  tb_qos_overrides_destroy(NULL);
}

static void assert_refused(const char *bad, const char *reason)
{
  tb_qos_overrides_t *overrides = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_qos_overrides_parse(bad, strlen(bad), &overrides, &error), TB_ERR_CORRUPT);
  assert_null(overrides);
  if (!strstr(error.text, reason)) fail_msg("'%s' does not say '%s'", error.text, reason);
}

static void test_what_is_wrong_is_named(void **state)
{
  (void)state;
  assert_refused("- a\n", "line 1: not a mapping of topics");
  assert_refused("/a: best_effort\n", "line 1: topic \"/a\" has no policies");
  assert_refused("/a:\n  reliable: true\n", "line 2: unknown policy \"reliable\"");
  assert_refused("/a:\n  reliability: maybe\n", "bad value \"maybe\" of reliability");
  assert_refused("/a:\n  depth: -1\n", "line 2: bad depth");
  assert_refused("/a: [\n", "line");
}

static void test_files(void **state)
{
  (void)state;
  char path[] = "/tmp/timebase_qos_XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  close(fd);
  tb_qos_overrides_t *overrides = NULL;
  assert_ok(tb_qos_overrides_load(path, &overrides, NULL));
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  assert_true(tb_qos_overrides_apply(overrides, "/scan", &qos));
  tb_qos_overrides_destroy(overrides);
  assert_int_equal(unlink(path), 0);
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_qos_overrides_load(path, &overrides, &error), TB_ERR_NOT_FOUND);
  assert_non_null(strstr(error.text, path));
  assert_status(tb_qos_overrides_load("/tmp", &overrides, &error), TB_ERR_INVALID);
  assert_int_equal(mkfifo(path, 0600), 0); /* without a writer */
  assert_status(tb_qos_overrides_load(path, &overrides, &error), TB_ERR_INVALID);
  assert_non_null(strstr(error.text, "not a regular file but a pipe"));
  assert_int_equal(unlink(path), 0);
}

static char reduction[200];

static void note_log(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  if (level == TB_LOG_WARN) snprintf(reduction, sizeof reduction, "%s", message);
}

static int32_t depth_of(const tb_qos_overrides_t *overrides, const char *topic)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  reduction[0] = '\0';
  assert_true(tb_qos_overrides_apply(overrides, topic, &qos));
  return qos.depth;
}

/* 2147483647 would be 16 GiB of a publisher that is transient local. */
static void test_a_depth_has_a_ceiling(void **state)
{
  (void)state;
  static const char deep[] = "/deep: {depth: 2147483647}\n/less: {depth: 100000}\n";
  tb_qos_overrides_t *overrides = NULL;
  tb_log_set_hook(note_log, NULL);
  assert_ok(tb_qos_overrides_parse(deep, strlen(deep), &overrides, NULL));
  assert_int_equal(depth_of(overrides, "/deep"), TB_QOS_OVERRIDES_DEPTH_MAX);
  assert_non_null(strstr(reduction, "/deep: depth 2147483647 reduced to 100000"));
  assert_int_equal(depth_of(overrides, "/less"), 100000);
  assert_string_equal(reduction, "");
  tb_qos_overrides_set_depth_max(overrides, 7);
  assert_int_equal(depth_of(overrides, "/less"), 7);
  tb_qos_overrides_set_depth_max(overrides, INT32_MAX);
  assert_int_equal(depth_of(overrides, "/deep"), INT32_MAX);
  tb_qos_overrides_set_depth_max(overrides, 0);
  assert_int_equal(depth_of(overrides, "/deep"), TB_QOS_OVERRIDES_DEPTH_MAX);
  tb_qos_overrides_set_depth_max(NULL, 1);
  tb_qos_overrides_destroy(overrides);
  tb_log_set_hook(NULL, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_policy),
      cmocka_unit_test(test_what_is_wrong_is_named),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_a_depth_has_a_ceiling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
