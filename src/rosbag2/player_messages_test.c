#include "rosbag2/player_messages.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

/* Decodes the bytes of a request: the type of the response. */
static const tb__cdr_type_t *decode(const tb__service_form_t *forms, const uint8_t *cdr,
                                    size_t size, tb__timed_request_t *out)
{
  const tb__cdr_type_t *response = NULL;
  void *request;
  if (tb__service_form_decode(forms, cdr, size, &request, &response)) return NULL;
  if (forms == tb__timed_forms) memcpy(out, request, sizeof *out);
  free(request);
  return response;
}

/* rosbag2_transport test_record_services.cpp: pause_resume, split_bagfile, and their forms of
 * rolling: resume_by_receive_time_immediate_due, split_bagfile_with_default_parameters. */
static void test_resume_and_split_are_read_in_every_form(void **state)
{
  (void)state;
  tb__timed_request_t request;
  static const uint8_t oldest[8] = {0, 1, 0, 0, 0}, odd[8] = {0, 1, 0, 0, 7};
  static const uint8_t time_alone[12] = {0, 1, 0, 0, 5, 0, 0, 0, 6};
  static const uint8_t newest[28] = {0, 1, 0, 0, 5, 0, 0, 0, 6,   0,   0, 0,
                                     2, 0, 0, 0, 3, 0, 0, 0, '/', 'a', 0};
  static const uint8_t big_endian[28] = {0, 0, 0, 0, 0, 0, 0, 5, 0,   0,   0, 6,
                                         0, 0, 0, 2, 0, 0, 0, 3, '/', 'a', 0};
  assert_ptr_equal(decode(tb__timed_forms, oldest, 8, &request), &tb__player_empty_type);
  assert_int_equal(request.time.sec, 0);
  assert_int_equal(request.mode, 0);
  assert_null(request.tracking_topic_name);
  assert_ptr_equal(decode(tb__timed_forms, oldest, 5, &request), &tb__player_empty_type);
  assert_ptr_equal(decode(tb__timed_forms, odd, 8, &request), &tb__player_empty_type);
  assert_int_equal(request.mode, 0);
  assert_ptr_equal(decode(tb__timed_forms, time_alone, 12, &request), &tb__result_response_type);
  assert_int_equal(request.time.sec, 5);
  assert_int_equal(request.time.nanosec, 6);
  assert_int_equal(request.mode, 0);
  for (int i = 0; i < 2; i++) {
    request = (tb__timed_request_t){0};
    assert_ptr_equal(decode(tb__timed_forms, i ? big_endian : newest, 24, &request),
                     &tb__result_response_type);
    assert_int_equal(request.time.sec, 5);
    assert_int_equal(request.time.nanosec, 6);
    assert_int_equal(request.mode, 2);
  }
  for (size_t size = 0; size < sizeof newest; size++) {
    bool valid = size == 5 || size == 6 || size == 7 || size == 8 || (size >= 12 && size <= 15) ||
                 (size >= 23 && size <= 26);
    assert_int_equal(decode(tb__timed_forms, newest, size, &request) != NULL, valid);
  }
}

/* Clients of jazzy read one byte of it. rosbag2_transport test_play_services.cpp: stop_in_pause. */
static void test_a_response_of_stop_begins_with_the_older_one(void **state)
{
  (void)state;
  tb__timed_request_t request;
  static const uint8_t cdr[8] = {0, 1, 0, 0};
  const tb__cdr_type_t *type = decode(tb__stop_forms, cdr, sizeof cdr, &request);
  const tb__result_response_t result = {0, ""};
  uint8_t *response;
  size_t size;
  void *older;
  assert_ptr_equal(type, &tb__result_response_type);
  assert_ok(tb__cdr_encode(type, &result, false, &response, &size));
  assert_true(size > 8);
  assert_ok(tb__cdr_decode(&tb__player_empty_type, response, 8, &older));
  free(older);
  free(response);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_resume_and_split_are_read_in_every_form),
      cmocka_unit_test(test_a_response_of_stop_begins_with_the_older_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
