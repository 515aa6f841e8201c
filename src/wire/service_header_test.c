#include "wire/service_header.h"

#include <string.h>

#include "test.h"

/* A request of rclcpp (GetRate, jazzy), and its body alone. */
static const uint8_t request[] = {0,    1,    0,    0,    0x24, 0xfc, 0x90, 0x1e,
                                  0x81, 0x9d, 0x7a, 0x32, 0x02, 0x00, 0x00, 0,
                                  0,    0,    0,    0,    9,    8,    7,    6};
static const uint8_t body[] = {0, 1, 0, 0, 9, 8, 7, 6};

static void test_header_goes_in_and_out(void **state)
{
  (void)state;
  tb__service_header_t header;
  uint8_t out[sizeof request];
  assert_ok(tb__service_header_read(request, sizeof request, &header));
  assert_true(header.client == UINT64_C(0x327a9d811e90fc24));
  assert_true(header.sequence == 2);
  assert_ok(tb__service_header_insert(&header, body, sizeof body, out));
  assert_memory_equal(out, request, sizeof request);
  memcpy(out, body, sizeof body); /* in place */
  assert_ok(tb__service_header_insert(&header, out, sizeof body, out));
  assert_memory_equal(out, request, sizeof request);
  tb__service_header_remove(out, sizeof out, out);
  assert_memory_equal(out, body, sizeof body);
}

static void test_header_takes_the_byte_order_of_the_body(void **state)
{
  (void)state;
  static const uint8_t big[] = {0, 0, 0,    3,    1,    2,    3,    4,    5,    6,
                                7, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe};
  tb__service_header_t header;
  uint8_t out[sizeof big];
  assert_ok(tb__service_header_read(big, sizeof big, &header));
  assert_true(header.client == UINT64_C(0x0102030405060708));
  assert_true(header.sequence == -2);
  assert_ok(tb__service_header_insert(&header, big, 4, out)); /* options stay */
  assert_memory_equal(out, big, sizeof big);
}

static void test_invalid_requests_are_refused(void **state)
{
  (void)state;
  tb__service_header_t header = {5, 6};
  uint8_t out[64];
  for (size_t size = 0; size < 20; size++)
    assert_status(tb__service_header_read(request, size, &header), TB_ERR_TRUNCATED);
  uint8_t xcdr2[sizeof request];
  memcpy(xcdr2, request, sizeof request);
  xcdr2[1] = 7;
  assert_status(tb__service_header_read(xcdr2, sizeof xcdr2, &header), TB_ERR_CORRUPT);
  assert_true(header.client == 5 && header.sequence == 6);
  assert_status(tb__service_header_insert(&header, body, 3, out), TB_ERR_TRUNCATED);
  assert_status(tb__service_header_insert(&header, xcdr2, 8, out), TB_ERR_CORRUPT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_header_goes_in_and_out),
      cmocka_unit_test(test_header_takes_the_byte_order_of_the_body),
      cmocka_unit_test(test_invalid_requests_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
