#include "base/sized.h"

#include <stdint.h>

#include "test.h"

typedef struct known {
  int64_t a;
  int64_t b;
} known_t;

typedef struct larger {
  int64_t a, b, c;
} larger_t;

static tb_status_t take(const void *given, size_t given_size, known_t *out)
{
  const known_t *options = given;
  known_t copy;
  if (!TB__SIZED_IN(options, given_size, copy)) return TB_ERR_UNSUPPORTED;
  if (options) *out = *options;
  return options ? TB_OK : TB_ERR_END;
}

static void test_structs_that_are_taken(void **state)
{
  (void)state;
  known_t out = {0, 0};
  const known_t same = {1, 2};
  const int64_t smaller[] = {3, 77}; /* 77 is not of the struct */
  assert_ok(take(&same, sizeof same, &out));
  assert_int_equal(out.b, 2);
  assert_ok(take(smaller, sizeof *smaller, &out));
  assert_int_equal(out.a, 3);
  assert_int_equal(out.b, 0);
  assert_ok(take(&(larger_t){4, 5, 0}, sizeof(larger_t), &out));
  assert_int_equal(out.b, 5);
  assert_status(take(&(larger_t){4, 5, 1}, sizeof(larger_t), &out), TB_ERR_UNSUPPORTED);
  assert_status(take(NULL, sizeof(larger_t), &out), TB_ERR_END);
}

static void fill(void *out, size_t out_size, bool fails)
{
  known_t filled, *full = TB__SIZED_OUT(out, out_size, filled);
  if (full && !fails) *full = (known_t){1, 2};
  TB__SIZED_END(fails ? TB_ERR_INVALID : TB_OK, out, out_size, full);
}

static void test_structs_that_are_filled(void **state)
{
  (void)state;
  known_t same = {8, 8};
  int64_t smaller[] = {8, 77};
  larger_t larger = {8, 8, 8};
  fill(&same, sizeof same, false);
  assert_int_equal(same.b, 2);
  fill(smaller, sizeof *smaller, false);
  assert_int_equal(smaller[0], 1);
  assert_int_equal(smaller[1], 77);
  fill(&larger, sizeof larger, false);
  assert_int_equal(larger.b, 2);
  assert_int_equal(larger.c, 0);
  fill(NULL, sizeof same, false);
  larger = (larger_t){8, 8, 8};
  fill(&larger, sizeof larger, true); /* what a call does not fill stays */
  assert_int_equal(larger.a, 8);
  assert_int_equal(larger.c, 8);
  fill(smaller, sizeof *smaller, true);
  assert_int_equal(smaller[0], 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_structs_that_are_taken),
      cmocka_unit_test(test_structs_that_are_filled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
