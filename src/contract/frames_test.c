/* Numbers of frames, within their limits. */
#include "contract/frames.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

static void test_each_text_of_a_topic_has_one_number(void **state)
{
  (void)state;
  tb__frames_t frames = {.most = 1000, .most_of_topic = 1000};
  uint32_t counts[2] = {0, 0}, number;
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 0; i < 500; i++) {
      char text[16];
      int length = snprintf(text, sizeof text, "frame%u", i);
      assert_ok(tb__frames_find(&frames, i % 2, &counts[i % 2], text, (size_t)length, &number));
      assert_int_equal(number, i);
    }
  assert_int_equal(counts[0] + counts[1], 500);
  assert_ok(tb__frames_find(&frames, 1, &counts[1], "frame0", 6, &number)); /* of another topic */
  assert_int_equal(number, 500);
  assert_string_equal(frames.frames[7].text, "frame7");
  tb__frames_fini(&frames);
}

static void test_limits(void **state)
{
  (void)state;
  tb__frames_t frames = {.most = 3, .most_of_topic = 2};
  uint32_t counts[2] = {0, 0}, number;
  assert_ok(tb__frames_find(&frames, 0, &counts[0], "a", 1, &number));
  assert_ok(tb__frames_find(&frames, 0, &counts[0], "", 0, &number));
  assert_status(tb__frames_find(&frames, 0, &counts[0], "c", 1, &number), TB_ERR_LIMIT);
  assert_ok(tb__frames_find(&frames, 1, &counts[1], "c", 1, &number));
  assert_status(tb__frames_find(&frames, 1, &counts[1], "d", 1, &number), TB_ERR_LIMIT);
  assert_ok(tb__frames_find(&frames, 0, &counts[0], "", 0, &number)); /* known ones still are */
  assert_int_equal(number, 1);
  tb__frames_fini(&frames);
}

static void test_long_texts_are_cut(void **state)
{
  (void)state;
  char text[2 * TB__FRAME_TEXT_MAX];
  tb__frames_t frames = {.most = 10, .most_of_topic = 10};
  uint32_t count = 0, number;
  memset(text, 'x', sizeof text);
  assert_ok(tb__frames_find(&frames, 0, &count, text, sizeof text, &number));
  assert_ok(tb__frames_find(&frames, 0, &count, text, TB__FRAME_TEXT_MAX, &number));
  assert_int_equal(count, 1);
  assert_int_equal(strlen(frames.frames[0].text), TB__FRAME_TEXT_MAX);
  tb__frames_fini(&frames);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_text_of_a_topic_has_one_number),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_long_texts_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
