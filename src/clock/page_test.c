/* How a copy of a page is read, and what is known of an epoch that is over. */
#include "clock/page.h"

#include "test.h"

static const tb__page_copy_t runs = {
    .linear = {.time_ns = 100, .steady_ns = 1, .until_ns = 1000, .rate = 1e-3},
    .epoch = 3,
    .version = 8,
};

/* A copy of a page that has run in its epoch, and is stopped now. */
static tb__page_copy_t halted(uint64_t epoch, int64_t time_ns)
{
  return (tb__page_copy_t){.linear = {.time_ns = time_ns, .steady_ns = 1, .until_ns = time_ns},
                           .epoch = epoch,
                           .version = 8};
}

static void enter(tb__page_view_t *view, uint64_t epoch)
{
  tb__page_mark_prepare(view, epoch);
  tb__page_settle(view, epoch);
}

static void test_S1_a_copy_that_is_out_of_date_does_not_run_on(void **state)
{
  (void)state;
  static tb__page_t page;
  static tb__page_view_t view;
  int64_t now_ns = 0;
  atomic_store(&page.version, 8);
  enter(&view, 3);
  tb__page_end_epoch(&page, 3, 0);
  assert_true(tb__page_time(&view, &page, &runs, &now_ns));
  assert_in_range(now_ns, 100, 1000);
  assert_int_equal(tb__page_epoch_end(&view, &page, 3), now_ns);
  tb__page_mark_prepare(&view, 3);
  tb__page_settle(&view, 4);
  atomic_store(&page.version, 9);
  assert_false(tb__page_time(&view, &page, &runs, &now_ns));
  assert_int_equal(tb__page_epoch_end(&view, &page, 3), 0); /* and leaves no mark */
}

static void test_C6_time_is_not_below_what_others_have_seen(void **state)
{
  (void)state;
  static tb__page_t page;
  static tb__page_view_t view;
  int64_t now_ns = 0;
  enter(&view, 3);
  tb__page_copy_t high = halted(3, 500), low = halted(3, 400);
  assert_true(tb__page_time(&view, &page, &high, &now_ns));
  assert_true(tb__page_time(&view, &page, &low, &now_ns));
  assert_int_equal(now_ns, 500);
}

/* A stopped reader does not find the value that it expects to replace: marks are never equal,
 * neither new ones nor those of the same time. */
static void test_C6_a_late_reader_marks_no_other_epoch(void **state)
{
  (void)state;
  static tb__page_t page;
  static tb__page_view_t view;
  int64_t now_ns = 0;
  enter(&view, 3);
  const tb__page_mark_t *mark = &view.marks[1];
  assert_int_equal(atomic_load(&mark->epoch), 3);
  uint64_t unmarked = atomic_load(&mark->keyed_ns);
  tb__page_copy_t copy = halted(3, 500);
  assert_true(tb__page_time(&view, &page, &copy, &now_ns));
  uint64_t marked = atomic_load(&mark->keyed_ns);
  for (uint64_t epoch = 4; epoch < 4 + TB__PAGE_MARKS; epoch++)
    enter(&view, epoch);
  assert_false(tb__page_time(&view, &page, &copy, &now_ns)); /* its epoch is over */
  assert_int_equal(atomic_load(&mark->epoch), 3 + TB__PAGE_MARKS);
  assert_true(atomic_load(&mark->keyed_ns) != unmarked);
  copy = halted(3 + TB__PAGE_MARKS, 500);
  enter(&view, 3 + TB__PAGE_MARKS - 1); /* so that the mark is the one that is prepared again */
  view.mark -= 2;
  assert_true(tb__page_time(&view, &page, &copy, &now_ns));
  assert_int_equal(now_ns, 500);
  assert_true(atomic_load(&mark->keyed_ns) != marked);
}

/* Many epochs on the page may be one jump here, so marks go by what has been dispatched. */
static void test_J3_what_was_seen_before_a_jump_is_kept_through_it(void **state)
{
  (void)state;
  static tb__page_t page;
  static tb__page_view_t view;
  int64_t now_ns = 0;
  enter(&view, 3);
  tb__page_copy_t copy = halted(3, 500);
  assert_true(tb__page_time(&view, &page, &copy, &now_ns));
  tb__page_end_epoch(&page, 3, 480); /* its publisher was stopped between reading and publishing */
  for (uint64_t epoch = 4; epoch < 4 + 2 * TB__PAGE_MARKS; epoch++) {
    tb__page_mark_prepare(&view, epoch); /* by a thread that is overtaken again and again */
    assert_int_equal(tb__page_epoch_end(&view, &page, 3), 500);
  }
}

static void test_J3_the_ends_of_recent_epochs_are_known_and_of_others_what_was_read(void **state)
{
  (void)state;
  static tb__page_t page;
  static tb__page_view_t view;
  uint64_t last = 3;
  int64_t now_ns = 0;
  enter(&view, 3);
  tb__page_copy_t copy = halted(3, 80);
  assert_true(tb__page_time(&view, &page, &copy, &now_ns));
  tb__page_end_epoch(&page, 3, 100);
  while (last < 3 + TB__PAGE_ENDS - 1) {
    last++;
    tb__page_end_epoch(&page, last, 900);
  }
  assert_int_equal(tb__page_epoch_end(&view, &page, 3), 100);
  last++;
  tb__page_end_epoch(&page, last, 20);
  assert_int_equal(tb__page_epoch_end(&view, &page, 3), 80);
  assert_int_equal(tb__page_epoch_end(&view, &page, 4), 900);
  assert_int_equal(tb__page_epoch_end(&view, &page, last), 20);
  tb__page_end_epoch(&page, last, 30); /* again, by a publisher that takes over */
  assert_int_equal(tb__page_epoch_end(&view, &page, last), 30);
}

/* A writer may take an epoch back, while no other has been dispatched. */
static void test_X3_a_page_that_goes_back_to_the_dispatched_epoch_has_its_mark(void **state)
{
  (void)state;
  static tb__page_t page;
  static tb__page_view_t view;
  int64_t now_ns = 0;
  enter(&view, 3);
  tb__page_copy_t copy = halted(3, 500);
  assert_true(tb__page_time(&view, &page, &copy, &now_ns));
  atomic_store(&view.epoch, TB__PAGE_NO_EPOCH);
  tb__page_mark_prepare(&view, 4);
  tb__page_settle(&view, 3);
  assert_int_equal(tb__page_time_known(&view), 500);
  assert_true(tb__page_time(&view, &page, &copy, &now_ns));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_S1_a_copy_that_is_out_of_date_does_not_run_on),
      cmocka_unit_test(test_C6_time_is_not_below_what_others_have_seen),
      cmocka_unit_test(test_C6_a_late_reader_marks_no_other_epoch),
      cmocka_unit_test(test_J3_what_was_seen_before_a_jump_is_kept_through_it),
      cmocka_unit_test(test_J3_the_ends_of_recent_epochs_are_known_and_of_others_what_was_read),
      cmocka_unit_test(test_X3_a_page_that_goes_back_to_the_dispatched_epoch_has_its_mark),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
