#include "bag/offers.h"

#include <string.h>

#include "test.h"

#define NEVER_TEXT(sec, nsec) "{sec: " sec ", nsec: " nsec "}"
#define OFFER(history, reliability, durability, liveliness, never)                                 \
  "- history: " history "\n  depth: 7\n  reliability: " reliability "\n  durability: " durability  \
  "\n  deadline: " never "\n  lifespan: " never "\n  liveliness: " liveliness                      \
  "\n  liveliness_lease_duration: " never "\n  avoid_ros_namespace_conventions: false\n"

#define NEVER     NEVER_TEXT("9223372036", "854775807")
#define NEVER_OLD NEVER_TEXT("2147483647", "4294967295")

static tb_bag_qos_origin_t adapt(const char *text, tb_qos_t *out)
{
  tb__qos_offers_t offers = {0};
  tb_error_t error = TB_ERROR_INIT;
  if (tb__qos_offers_parse(text, &offers, &error)) fail_msg("%s", error.text);
  tb_bag_qos_origin_t origin = tb__qos_offers_adapt(&offers, out);
  tb__qos_offers_fini(&offers);
  return origin;
}

static void assert_default(const tb_qos_t *qos)
{
  assert_int_equal(qos->reliability, TB_QOS_RELIABLE);
  assert_int_equal(qos->durability, TB_QOS_VOLATILE);
  assert_int_equal(qos->history, TB_QOS_KEEP_LAST);
  assert_int_equal(qos->depth, 10);
  assert_int_equal(qos->liveliness, TB_QOS_LIVELINESS_AUTOMATIC);
  assert_int_equal(qos->deadline.ns, INT64_MAX);
  assert_int_equal(qos->lifespan.ns, INT64_MAX);
  assert_int_equal(qos->liveliness_lease.ns, INT64_MAX);
  assert_false(qos->avoid_ros_namespace_conventions);
}

static void test_no_offer_is_the_default(void **state)
{
  (void)state;
  static const char *const texts[] = {"", "[]", "~", "\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tb_qos_t qos;
    assert_int_equal(adapt(texts[i], &qos), TB_BAG_QOS_DEFAULT);
    assert_default(&qos);
  }
}

static void test_what_publishers_keep(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    uint64_t kept;
  } cases[] = {{"", 1},
               {OFFER("1", "1", "1", "1", NEVER), 7},
               {OFFER("1", "1", "1", "1", NEVER) OFFER("1", "1", "1", "1", NEVER), 14},
               {"- {history: 1, depth: 0}", 1},
               {"- {history: 1, depth: 900}\n- {history: 1, depth: 900}", 1000},
               {OFFER("2", "1", "1", "1", NEVER), 1000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tb__qos_offers_t offers = {0};
    assert_int_equal(tb__qos_offers_parse(cases[i].text, &offers, NULL), TB_OK);
    assert_int_equal(tb__qos_offers_kept(&offers), cases[i].kept);
    tb__qos_offers_fini(&offers);
  }
}

static void test_numbers_and_words_mean_the_same(void **state)
{
  (void)state;
  static const char *const texts[] = {
      OFFER("1", "2", "1", "3", NEVER),
      OFFER("keep_last", "best_effort", "transient_local", "manual_by_topic", NEVER)};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tb_qos_t qos;
    assert_int_equal(adapt(texts[i], &qos), TB_BAG_QOS_RECORDED);
    assert_int_equal(qos.reliability, TB_QOS_BEST_EFFORT);
    assert_int_equal(qos.durability, TB_QOS_TRANSIENT_LOCAL);
    assert_int_equal(qos.liveliness, TB_QOS_LIVELINESS_MANUAL_BY_TOPIC);
  }
}

static void test_unknown_and_system_default_become_defaults(void **state)
{
  (void)state;
  static const char *const texts[] = {
      OFFER("3", "0", "3", "4", NEVER), OFFER("unknown", "unknown", "unknown", "unknown", NEVER),
      OFFER("2", "4", "0", "2", NEVER),
      OFFER("system_default", "system_default", "best_available", "best_available", NEVER)};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tb_qos_t qos;
    assert_int_equal(adapt(texts[i], &qos), TB_BAG_QOS_RECORDED);
    assert_default(&qos);
  }
}

static void test_every_way_to_say_never_is_infinite(void **state)
{
  (void)state;
  static const char *const texts[] = {
      OFFER("1", "1", "2", "1", NEVER), OFFER("1", "1", "2", "1", NEVER_OLD),
      OFFER("1", "1", "2", "1", NEVER_TEXT("2147483647", "2147483647")),
      OFFER("1", "1", "2", "1", NEVER_TEXT("0", "0")),
      OFFER("1", "1", "2", "1", NEVER_TEXT("18446744073709551615", "18446744073709551615"))};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tb_qos_t qos;
    adapt(texts[i], &qos);
    assert_default(&qos);
  }
  tb_qos_t qos;
  adapt(OFFER("1", "1", "2", "1", NEVER_TEXT("10", "5")), &qos);
  assert_int_equal(qos.lifespan.ns, 10 * TB_NS_PER_S + 5);
}

static void test_offers_that_agree_keep_all_but_history(void **state)
{
  (void)state;
  tb_qos_t qos;
  const char *text = OFFER("keep_all", "best_effort", "volatile", "automatic", NEVER)
      OFFER("keep_last", "best_effort", "volatile", "automatic", NEVER_OLD);
  assert_int_equal(adapt(text, &qos), TB_BAG_QOS_RECORDED);
  assert_int_equal(qos.reliability, TB_QOS_BEST_EFFORT);
  assert_int_equal(qos.history, TB_QOS_KEEP_LAST);
  assert_int_equal(qos.depth, 10);
}

static void test_offers_that_differ_in_matching_are_mixed(void **state)
{
  (void)state;
#define BASE OFFER("1", "2", "1", "1", NEVER)
  static const char *const texts[] = {
      BASE OFFER("1", "1", "1", "1", NEVER), BASE OFFER("1", "2", "2", "1", NEVER),
      BASE OFFER("1", "2", "1", "3", NEVER), BASE OFFER("1", "2", "1", "1", NEVER_TEXT("1", "0")),
      BASE "- {reliability: 2, durability: 1, liveliness: 1, deadline: " NEVER "}\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tb_qos_t qos;
    assert_int_equal(adapt(texts[i], &qos), TB_BAG_QOS_MIXED);
    assert_default(&qos);
  }
}

static void test_lifespan_alone_does_not_make_them_differ(void **state)
{
  (void)state;
  tb_qos_t qos;
  const char *text = "- {reliability: 2, lifespan: {sec: 1, nsec: 0}}\n"
                     "- {reliability: 2, lifespan: {sec: 2, nsec: 0}}\n";
  assert_int_equal(adapt(text, &qos), TB_BAG_QOS_RECORDED);
  assert_int_equal(qos.lifespan.ns, TB_NS_PER_S);
}

static void test_bad_text_is_corrupt_and_leaves_out_untouched(void **state)
{
  (void)state;
  static const char *const texts[] = {"- history: sometimes",
                                      "- reliability: [1]",
                                      "- deadline: 5",
                                      "just words",
                                      "- deadline: {sec: -1, nsec: 0}",
                                      "a: b",
                                      "- [1]",
                                      "- avoid_ros_namespace_conventions: maybe",
                                      "- {",
                                      "- &a *a"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tb__qos_offers_t offers = {NULL, 77};
    tb_error_t error = TB_ERROR_INIT;
    assert_status(tb__qos_offers_parse(texts[i], &offers, &error), TB_ERR_CORRUPT);
    assert_int_equal(offers.count, 77);
    assert_non_null(strstr(error.text, "offered QoS"));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_offer_is_the_default),
      cmocka_unit_test(test_what_publishers_keep),
      cmocka_unit_test(test_numbers_and_words_mean_the_same),
      cmocka_unit_test(test_unknown_and_system_default_become_defaults),
      cmocka_unit_test(test_every_way_to_say_never_is_infinite),
      cmocka_unit_test(test_offers_that_agree_keep_all_but_history),
      cmocka_unit_test(test_offers_that_differ_in_matching_are_mixed),
      cmocka_unit_test(test_lifespan_alone_does_not_make_them_differ),
      cmocka_unit_test(test_bad_text_is_corrupt_and_leaves_out_untouched),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
