#include "ros2/request_queue.h"

#include <stdlib.h>

#include "test.h"

#define MIB ((size_t)1 << 20)

/* The queue counts sizes and reads no bytes. */
static tb__request_t *request_of(int64_t number, size_t size)
{
  tb__request_t *request = calloc(1, sizeof *request);
  assert_non_null(request);
  request->request.size = size;
  request->request.id.sequence = number;
  return request;
}

/* How many it pushes out. */
static size_t put(tb__request_queue_t *queue, int64_t number, size_t size)
{
  size_t count = 0;
  tb__request_t *pushed_out = tb__request_queue_put(queue, request_of(number, size));
  for (const tb__request_t *one = pushed_out; one; one = one->next)
    count++;
  tb__requests_free(pushed_out);
  return count;
}

static void assert_next(tb__request_queue_t *queue, int64_t number)
{
  tb__request_t *request = tb__request_queue_take(queue);
  assert_non_null(request);
  assert_true(request->request.id.sequence == number);
  tb__requests_free(request);
}

static void test_requests_leave_in_order(void **state)
{
  (void)state;
  tb__request_queue_t queue;
  tb__request_queue_init(&queue, 10);
  assert_null(tb__request_queue_take(&queue));
  for (int64_t i = 1; i <= 3; i++)
    assert_int_equal(put(&queue, i, 100), 0);
  assert_next(&queue, 1);
  assert_int_equal(put(&queue, 4, 100), 0);
  for (int64_t i = 2; i <= 4; i++)
    assert_next(&queue, i);
  assert_null(tb__request_queue_take(&queue));
  assert_int_equal(put(&queue, 5, 100), 0);
  assert_next(&queue, 5);
}

static void test_more_than_the_depth_push_out_the_oldest(void **state)
{
  (void)state;
  tb__request_queue_t queue;
  tb__request_queue_init(&queue, 2);
  assert_int_equal(put(&queue, 1, 4), 0);
  assert_int_equal(put(&queue, 2, 4), 0);
  assert_int_equal(put(&queue, 3, 4), 1);
  assert_int_equal(queue.count, 2);
  assert_next(&queue, 2);
  assert_next(&queue, 3);
}

static void test_more_than_256_mib_push_out_the_oldest(void **state)
{
  (void)state;
  tb__request_queue_t queue;
  tb__request_queue_init(&queue, SIZE_MAX);
  assert_int_equal(put(&queue, 1, 100 * MIB), 0);
  assert_int_equal(put(&queue, 2, 100 * MIB), 0);
  assert_int_equal(put(&queue, 3, 56 * MIB), 0); /* all of it */
  assert_int_equal(put(&queue, 4, 1), 1);
  assert_true(queue.bytes == 156 * MIB + 1);
  assert_int_equal(put(&queue, 5, 150 * MIB), 1);
  assert_next(&queue, 3);
  assert_int_equal(put(&queue, 6, 106 * MIB), 1); /* one byte too many */
  assert_next(&queue, 5);
  assert_next(&queue, 6);
  assert_true(queue.bytes == 0);
}

static void test_one_that_is_too_large_waits_alone(void **state)
{
  (void)state;
  tb__request_queue_t queue;
  tb__request_queue_init(&queue, 10);
  assert_int_equal(put(&queue, 1, 8), 0);
  assert_int_equal(put(&queue, 2, 8), 0);
  assert_int_equal(put(&queue, 3, 300 * MIB), 2);
  assert_int_equal(queue.count, 1);
  assert_int_equal(put(&queue, 4, 8), 1);
  assert_next(&queue, 4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_requests_leave_in_order),
      cmocka_unit_test(test_more_than_the_depth_push_out_the_oldest),
      cmocka_unit_test(test_more_than_256_mib_push_out_the_oldest),
      cmocka_unit_test(test_one_that_is_too_large_waits_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
