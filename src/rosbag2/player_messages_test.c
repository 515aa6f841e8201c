#include "rosbag2/player_messages.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

/* Decodes the bytes of a request: the type of the response. */
static const tb__cdr_type_t *decode(const tb__service_form_t *forms, const uint8_t *cdr,
                                    size_t size, tb__timed_request_t *out)
{
  const tb__cdr_type_t *response = NULL;
  const tb_ros2_request_t raw = {.cdr = cdr, .size = size};
  void *request;
  if (tb__service_form_decode(forms, &raw, &request, &response)) return NULL;
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

/* Fast DDS refuses a response that is larger than the client's form of it. rosbag2_transport
 * test_play_services.cpp: stop_in_pause. */
static void test_the_hash_of_a_client_chooses_the_response_of_stop(void **state)
{
  (void)state;
  static const uint8_t cdr[8] = {0, 1, 0, 0};
  const char *const hashes[] = {NULL, "RIHS01_0", tb__stop_forms[0].response_hash};
  for (size_t i = 0; i < 3; i++) {
    const tb_ros2_request_t raw = {.cdr = cdr, .size = 8, .response_type_hash = hashes[i]};
    const tb__cdr_type_t *type = NULL;
    void *request;
    assert_ok(tb__service_form_decode(tb__stop_forms, &raw, &request, &type));
    assert_ptr_equal(type, i == 2 ? &tb__result_response_type : &tb__player_empty_type);
    free(request);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_resume_and_split_are_read_in_every_form),
      cmocka_unit_test(test_the_hash_of_a_client_chooses_the_response_of_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
