/* Known sentences are found in whole messages of the programs that log them, and not in others. */
#include "contract/log_sentence.h"

#include <string.h>

#include "test.h"

static const tb__log_sentence_t *find(const char *text)
{
  return tb__log_sentence_find(text, strlen(text));
}

static void assert_found(const char *text, const char *fragment)
{
  const tb__log_sentence_t *found = find(text);
  if (!found) fail_msg("not found: %s", text);
  assert_string_equal(found->fragment, fragment);
}

static void test_messages_of_programs(void **state)
{
  (void)state;
  assert_found("Warning: TF_OLD_DATA ignoring data from the past for frame base_link at time "
               "1600000000.1 according to authority default_authority",
               "TF_OLD_DATA");
  assert_found("Lookup would require extrapolation into the future.  Requested time 2.5 but the "
               "latest data is at time 2.4, when looking up transform from frame [a] to frame [b]",
               "extrapolation into the future");
  assert_found("Lookup would require extrapolation into the past.  Requested time 1 but the "
               "earliest data is at time 2",
               "extrapolation into the past");
  assert_found("Message Filter dropping message: frame 'laser' at time 1600000000.000 for reason "
               "'the timestamp on the message is earlier than all the data in the transform cache'",
               "earlier than all the data in the transform cache");
  assert_found("Message Filter dropping message: frame 'laser' at time 5.0 for reason 'discarding "
               "message because the queue is full'",
               "the queue is full");
  assert_found("Detected jump back in time. Clearing TF buffer.", "jump back in time");
  assert_found("Moved backwards in time, re-publishing joint transforms!",
               "oved backwards in time");
  assert_found("No clock received, using time argument instead!", "No clock received");
}

static void test_other_messages(void **state)
{
  (void)state;
  assert_null(find(""));
  assert_null(find("the queue is nearly full"));
  assert_null(find("TF_NEW_DATA"));
  assert_null(tb__log_sentence_find("TF_OLD_DATA", 10)); /* not beyond the end */
  assert_null(tb__log_sentence_find("TF_OLD\0_DATA", 12));
}

static void test_rows_are_whole(void **state)
{
  (void)state;
  size_t count = 0;
  for (const tb__log_sentence_t *row; (row = tb__log_sentence_at(count)); count++) {
    assert_true(strlen(row->fragment) > 8);
    assert_true(strlen(row->meaning) > 8);
    assert_ptr_equal(find(row->fragment), row); /* no earlier row hides it */
  }
  assert_true(count > 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages_of_programs),
      cmocka_unit_test(test_other_messages),
      cmocka_unit_test(test_rows_are_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
