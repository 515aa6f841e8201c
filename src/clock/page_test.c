/* What a reader makes of a copy of a page. */
#include "clock/page.h"

#include "test.h"

static const tb__page_copy_t runs = {
    .course = {.time_ns = 100, .steady_ns = 1, .until_ns = 1000, .rate = 1e-3},
    .epoch = 3,
    .version = 8,
};

static void test_S1_a_copy_that_is_out_of_date_does_not_run_on(void **state)
{
  (void)state;
  static tb__page_t page;
  static tb__page_view_t view;
  int64_t now_ns = 0;
  atomic_store(&page.version, 8);
  tb__page_mark_reset(&view, 3);
  assert_true(tb__page_time(&view, &page, &runs, &now_ns));
  assert_in_range(now_ns, 100, 1000);
  assert_int_equal(tb__page_mark_of(&view, 3), now_ns);
  tb__page_mark_reset(&view, 3);
  atomic_store(&page.version, 9);
  assert_false(tb__page_time(&view, &page, &runs, &now_ns));
  assert_int_equal(tb__page_mark_of(&view, 3), 0); /* and leaves no mark */
}

static void test_C6_a_late_reader_marks_no_other_epoch(void **state)
{
  (void)state;
  static tb__page_view_t view;
  const tb__page_mark_t *mark = &view.marks[3];
  tb__page_mark_reset(&view, 3);
  int64_t unmarked = atomic_load(&mark->time_ns); /* what a reader expects to replace */
  tb__page_mark_reset(&view, 3 + TB__PAGE_MARKS);
  assert_int_not_equal(atomic_load(&mark->time_ns), unmarked);
  assert_int_equal(tb__page_mark_of(&view, 3 + TB__PAGE_MARKS), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_S1_a_copy_that_is_out_of_date_does_not_run_on),
      cmocka_unit_test(test_C6_a_late_reader_marks_no_other_epoch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
