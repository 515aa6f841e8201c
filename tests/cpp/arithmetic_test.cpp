/* The generic names as overloads: each calls the function of its type, and links. */
#include <cstdio>
#include <timebase/arithmetic.h>

static int failures;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                         \
      failures++;                                                                                  \
    }                                                                                              \
  } while (0)

static void test_T1_overloads_are_those_of_each_type()
{
  const tb_duration_t two{2}, max{INT64_MAX};
  const tb_steady_time_t steady{5};
  tb_duration_t duration{40};
  tb_time_t time{5, TB_TIME_ROS};
  tb_steady_time_t steady_out{0};
  int order = 77;
  CHECK(tb_add(two, two, &duration) == TB_OK && duration.ns == 4);
  CHECK(tb_add(time, two, &time) == TB_OK && time.ns == 7);
  CHECK(tb_add(steady, two, &steady_out) == TB_OK && steady_out.ns == 7);
  CHECK(tb_sub(duration, two, &duration) == TB_OK && duration.ns == 2);
  CHECK(tb_sub(time, two, &time) == TB_OK && time.ns == 5);
  CHECK(tb_sub(steady, two, &steady_out) == TB_OK && steady_out.ns == 3);
  CHECK(tb_diff(time, time, &duration) == TB_OK && duration.ns == 0);
  CHECK(tb_diff(steady, steady_out, &duration) == TB_OK && duration.ns == 2);
  CHECK(tb_diff_sat(time, time, &duration) == TB_OK && duration.ns == 0);
  CHECK(tb_diff_sat(steady_out, steady, &duration) == TB_OK && duration.ns == -2);
  CHECK(tb_add_sat(max, two).ns == INT64_MAX);
  CHECK(tb_add_sat(time, max).ns == INT64_MAX);
  CHECK(tb_add_sat(steady, two).ns == 7);
  CHECK(tb_sub_sat(two, max).ns == 2 - INT64_MAX);
  CHECK(tb_sub_sat(time, two).ns == 3);
  CHECK(tb_sub_sat(steady, two).ns == 3);
  CHECK(tb_compare(two, max, &order) == TB_OK && order == -1);
  CHECK(tb_compare(steady, steady_out, &order) == TB_OK && order == 1);
  CHECK(tb_compare(time, time, &order) == TB_OK && order == 0);
}

static void test_T3_overloads_distinguish_the_ends()
{
  const tb_duration_t one{1}, first{INT64_MIN}, last{INT64_MAX};
  const tb_steady_time_t begin{INT64_MIN};
  tb_duration_t duration{77};
  tb_steady_time_t steady{77};
  CHECK(tb_add(last, one, &duration) == TB_ERR_OVERFLOW && duration.ns == 77);
  CHECK(tb_sub(first, one, &duration) == TB_ERR_UNDERFLOW && duration.ns == 77);
  CHECK(tb_sub(begin, one, &steady) == TB_ERR_UNDERFLOW && steady.ns == 77);
}

static void test_T2_overloads_check_kinds()
{
  tb_duration_t duration{77};
  const tb_time_t ros{5, TB_TIME_ROS}, wall{5, TB_TIME_SYSTEM};
  CHECK(tb_diff(ros, wall, &duration) == TB_ERR_CLOCK_MISMATCH && duration.ns == 77);
}

static const tb_duration_t soon = TB_MS(5), limits[] = {TB_NO_LIMIT, TB_NO_WAIT};
static const tb_time_t times[] = {tb_ros_time_ns(5), tb_system_time_ns(-1)};
static const tb_steady_time_t steady_start = tb_steady_time_ns(7);

static void test_constructors()
{
  CHECK(soon.ns == 5000000);
  CHECK(limits[0].ns == 0 && limits[1].ns == INT64_MIN && TB_NO_WAIT.ns < 0);
  CHECK(TB_SECONDS(2.5).ns == 2500000000);
  CHECK(times[0].ns == 5 && times[0].kind == TB_TIME_ROS);
  CHECK(times[1].ns == -1 && times[1].kind == TB_TIME_SYSTEM);
  CHECK(steady_start.ns == 7);
  int order = 77;
  CHECK(tb_compare(tb_ros_time_ns(5), times[0], &order) == TB_OK && order == 0);
}

int main()
{
  test_constructors();
  test_T1_overloads_are_those_of_each_type();
  test_T2_overloads_check_kinds();
  test_T3_overloads_distinguish_the_ends();
  return failures != 0;
}
