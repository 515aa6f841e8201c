#include "ros2/service_clients.h"

#include <string.h>

#include "test.h"

/* GUIDs of one participant of Fast DDS, one of Cyclone DDS, and others. */
static const tb__guid_t fast_writer = {{1, 0x0f, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0x13, 0x03}};
static const tb__guid_t fast_reader = {{1, 0x0f, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0x14, 0x04}};
static const tb__guid_t other_reader = {
    {1, 0x0f, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 0, 0, 0x14, 0x04}};
static const tb__guid_t cyclone_writer = {
    {1, 0x10, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0x13, 0x03}};
static const tb__guid_t cyclone_reader = {
    {1, 0x10, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0x14, 0x07}};
static const tb__guid_t unknown = {{0}};

/* NULL: the request has no related identity. */
static bool id_of(const tb__guid_t *writer, const tb__guid_t *related, tb_ros2_request_id_t *out)
{
  tb__sample_origin_t origin = {.sequence = 17, .has_related = related};
  if (related) origin.related = (tb__related_identity_t){*related, TB__RELATED_SEQUENCE_UNKNOWN};
  return tb__client_plain_id(writer, &origin, out);
}

static void assert_plain(const tb__guid_t *writer, const tb__guid_t *related,
                         const tb__guid_t *expected)
{
  tb_ros2_request_id_t id;
  assert_true(id_of(writer, related, &id));
  assert_memory_equal(id.writer_guid, expected->bytes, TB__GUID_SIZE);
  assert_true(id.sequence == 17);
  assert_memory_equal(&id.client, expected->bytes + 8, 8);
  assert_true(tb__client_is_plain(expected));
}

static void test_the_answer_goes_to_the_reader_that_the_request_names(void **state)
{
  (void)state;
  assert_plain(&fast_writer, &fast_reader, &fast_reader);
  assert_plain(&cyclone_writer, &cyclone_reader, &cyclone_reader);
}

static void test_without_a_reader_it_goes_to_the_writer_of_fast_dds(void **state)
{
  (void)state;
  assert_plain(&fast_writer, NULL, &fast_writer);
  assert_plain(&fast_writer, &unknown, &fast_writer);
  assert_plain(&fast_writer, &fast_writer, &fast_writer);
}

static void test_the_reader_of_another_participant_does_not_count(void **state)
{
  (void)state;
  tb_ros2_request_id_t id;
  assert_plain(&fast_writer, &other_reader, &fast_writer);
  assert_plain(&fast_writer, &cyclone_reader, &fast_writer);
  assert_false(id_of(&cyclone_writer, &fast_reader, &id));
  assert_false(id_of(&unknown, &fast_reader, &id)); /* its writer is gone */
  assert_false(id_of(&unknown, &unknown, &id));
}

static void test_other_requests_have_a_header(void **state)
{
  (void)state;
  tb_ros2_request_id_t id;
  assert_false(id_of(&cyclone_writer, NULL, &id));
  assert_false(id_of(&cyclone_writer, &unknown, &id));
  assert_false(id_of(&cyclone_writer, &cyclone_writer, &id));
  assert_false(tb__client_is_plain(&cyclone_writer));
  assert_false(tb__client_is_plain(&unknown));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_answer_goes_to_the_reader_that_the_request_names),
      cmocka_unit_test(test_without_a_reader_it_goes_to_the_writer_of_fast_dds),
      cmocka_unit_test(test_the_reader_of_another_participant_does_not_count),
      cmocka_unit_test(test_other_requests_have_a_header),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
