#include "dds/resend.h"

#include <dds/ddsi/ddsi_serdata.h>

#include "dds/raw_type.h"
#include "test.h"

static void test_what_was_written_before_the_match_is_not_due(void **state)
{
  (void)state;
  assert_true(tb__resend_is_due(TB__RESEND_ALL, 1, 5));
  assert_false(tb__resend_is_due(TB__RESEND_SINCE_MATCH, 4, 5));
  assert_false(tb__resend_is_due(TB__RESEND_SINCE_MATCH, 5, 5));
  assert_true(tb__resend_is_due(TB__RESEND_SINCE_MATCH, 6, 5));
  assert_true(tb__resend_is_due(TB__RESEND_SINCE_MATCH, 1, 0)); /* matched when it was created */
  assert_true(tb__resend_is_due(TB__RESEND_SINCE_MATCH, 0, 5)); /* unknown: rather twice */
  assert_false(tb__resend_is_due(TB__RESEND_NOTHING, 6, 5));
  assert_false(tb__resend_is_due(TB__RESEND_NOTHING, 0, 0));
}

static void test_a_sample_has_its_own_limit(void **state)
{
  static const uint8_t cdr[] = {0, 1, 0, 0};
  (void)state;
  struct ddsi_sertype *type = tb__raw_type_create("a::dds_::B_", false);
  assert_non_null(type);
  struct ddsi_serdata *sample = tb__raw_sample_create(type, cdr, sizeof cdr);
  assert_non_null(sample);
  assert_true(tb__raw_sample_is_due(sample, INT64_MAX)); /* by default all is */
  tb__raw_sample_limit(sample, TB__RESEND_SINCE_MATCH, 7);
  assert_true(tb__raw_sample_is_due(sample, 6));
  assert_false(tb__raw_sample_is_due(sample, 7));
  tb__raw_sample_limit(sample, TB__RESEND_SINCE_MATCH, 8); /* the number was another one */
  assert_true(tb__raw_sample_is_due(sample, 7));
  ddsi_serdata_unref(sample);
  ddsi_sertype_unref(type);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_was_written_before_the_match_is_not_due),
      cmocka_unit_test(test_a_sample_has_its_own_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
