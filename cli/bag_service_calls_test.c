#include "bag_service_calls.h"

#include <string.h>

#include "definition/service_event.h"
#include "test.h"

#define CLIENT_AT     16
#define SEQUENCE_AT   36
#define SEQUENCE_AT_2 32
#define SIZE          52 /* with two empty sequences */

static bag_service_calls_t calls;

static void add(uint8_t encoding, int type, char client, uint8_t sequence)
{
  uint8_t event[SIZE] = {0, encoding, 0, 0, (uint8_t)type};
  memset(event + CLIENT_AT, client, 16);
  event[encoding <= 1 ? SEQUENCE_AT : SEQUENCE_AT_2] = sequence;
  assert_true(bag_service_calls_add(&calls, event, sizeof event));
}

static void assert_counts(size_t requests, size_t responses)
{
  assert_int_equal(calls.requests.count, requests);
  assert_int_equal(calls.responses.count, responses);
  bag_service_calls_release(&calls);
}

static void test_what_both_sides_recorded_counts_once(void **state)
{
  (void)state;
  for (uint8_t encoding = 0; encoding < 8; encoding = encoding == 1 ? 6 : encoding + 1) {
    for (int type = TB__SERVICE_REQUEST_SENT; type <= TB__SERVICE_RESPONSE_RECEIVED; type++)
      add(encoding, type, 'a', 1);
    add(encoding, TB__SERVICE_REQUEST_RECEIVED, 'b', 1); /* another client */
    add(encoding, TB__SERVICE_REQUEST_RECEIVED, 'b', 2);
    add(encoding, TB__SERVICE_RESPONSE_SENT, 'b', 2);
    assert_counts(3, 2);
  }
}

static void test_many_calls(void **state)
{
  (void)state;
  for (int i = 0; i < 2000; i++)
    add(1, i % 2 ? TB__SERVICE_RESPONSE_SENT : TB__SERVICE_REQUEST_SENT, (char)('a' + i / 200),
        (uint8_t)(i % 200));
  assert_counts(1000, 1000);
}

static void test_what_is_no_event_is_not_counted(void **state)
{
  (void)state;
  const uint8_t cut[SEQUENCE_AT + 7] = {0, 1};
  for (size_t size = 0; size <= sizeof cut; size++)
    assert_true(bag_service_calls_add(&calls, cut, size));
  add(1, 4, 'a', 1);
  add(2, TB__SERVICE_REQUEST_SENT, 'a', 1);
  assert_counts(0, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_both_sides_recorded_counts_once),
      cmocka_unit_test(test_many_calls),
      cmocka_unit_test(test_what_is_no_event_is_not_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
