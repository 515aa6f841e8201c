#include "dds/related_identity.h"

#include <stdlib.h>

#include "test.h"

#define GUID_A                                                                                     \
  0x01, 0x0f, 0xc2, 0x74, 0x21, 0x3a, 0xdf, 0x3d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x12, 0x04
#define GUID_B 1, 16, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 3

#define SEQUENCE_LE 0x01, 0x00, 0x00, 0x00, 0x04, 0x03, 0x02, 0x81
#define SEQUENCE_BE 0x00, 0x00, 0x00, 0x01, 0x81, 0x02, 0x03, 0x04
#define SEQUENCE    INT64_C(0x181020304)

#define FAST_LE     0x0f, 0x80, 24, 0
#define FAST_BE     0x80, 0x0f, 0, 24
#define STANDARD_LE 0x83, 0x00, 24, 0
#define STANDARD_BE 0x00, 0x83, 0, 24
#define END_LE      1, 0, 0, 0
#define END_BE      0, 1, 0, 0

static const uint8_t guid_a[] = {GUID_A}, guid_b[] = {GUID_B};

/* From a block of exactly this size, for the sanitizers. */
static bool read_exact(const uint8_t *list, size_t size, bool big_endian,
                       tb__related_identity_t *out)
{
  uint8_t *copy = malloc(size ? size : 1);
  assert_non_null(copy);
  memcpy(copy, list, size);
  bool found = tb__related_identity_read(copy, size, big_endian, out);
  free(copy);
  return found;
}

static void assert_reads(const uint8_t *list, size_t size, bool big_endian, const uint8_t *guid,
                         int64_t sequence)
{
  tb__related_identity_t identity;
  assert_true(read_exact(list, size, big_endian, &identity));
  assert_memory_equal(identity.guid.bytes, guid, TB__GUID_SIZE);
  assert_true(identity.sequence == sequence);
}

static void assert_none(const uint8_t *list, size_t size, bool big_endian)
{
  tb__related_identity_t identity = {.sequence = 77}, before = identity;
  assert_false(read_exact(list, size, big_endian, &identity));
  assert_memory_equal(&identity, &before, sizeof before);
}

static void test_either_parameter_is_read_in_both_byte_orders(void **state)
{
  (void)state;
  static const uint8_t fast_le[] = {FAST_LE, GUID_A, SEQUENCE_LE, END_LE};
  static const uint8_t fast_be[] = {FAST_BE, GUID_A, SEQUENCE_BE, END_BE};
  static const uint8_t standard_le[] = {STANDARD_LE, GUID_A, SEQUENCE_LE, END_LE};
  static const uint8_t standard_be[] = {STANDARD_BE, GUID_A, SEQUENCE_BE, END_BE};
  assert_reads(fast_le, sizeof fast_le, false, guid_a, SEQUENCE);
  assert_reads(fast_be, sizeof fast_be, true, guid_a, SEQUENCE);
  assert_reads(standard_le, sizeof standard_le, false, guid_a, SEQUENCE);
  assert_reads(standard_be, sizeof standard_be, true, guid_a, SEQUENCE);
  assert_none(fast_le, sizeof fast_le, true);
  assert_none(standard_be, sizeof standard_be, false);
}

static void test_an_unknown_sequence_is_that_of_fast_dds(void **state)
{
  (void)state;
  static const uint8_t list[] = {FAST_LE, GUID_A, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, END_LE};
  assert_reads(list, sizeof list, false, guid_a, TB__RELATED_SEQUENCE_UNKNOWN);
}

static void test_other_parameters_are_skipped(void **state)
{
  (void)state;
  static const uint8_t list[] = {
      0x70, 0, 16, 0, GUID_B, 0x71, 0,    4,    0, 0, 0,       0,      0,           0,      0,
      0,    0, 0,  0, 0,      4,    0,    1,    2, 3, 4,       0x83,   0x40,        4,      0,
      9,    9, 9,  9, 0,      0x80, 0xff, 0xbf, 0, 0, FAST_LE, GUID_A, SEQUENCE_LE, END_LE, 0x83};
  static const uint8_t ahead[] = {
      0x70, 0,       16,     0,           GUID_B, 0x83, 0x40, 24,   0,   GUID_B, SEQUENCE_LE,
      0,    0,       0,      0,           0,      0,    4,    0,    1,   2,      3,
      4,    FAST_LE, GUID_A, SEQUENCE_LE, END_LE, 0x83, 0,    0xff, 0xff};
  assert_reads(ahead, sizeof ahead, false, guid_a, SEQUENCE); /* nothing after the end is read */
  assert_none(list, sizeof list, false); /* 0x8000 with a length that reaches past the end */
}

static void test_the_standard_parameter_and_the_first_one_count(void **state)
{
  (void)state;
  static const uint8_t both[] = {FAST_LE,     GUID_B,      SEQUENCE_LE, STANDARD_LE, GUID_A,
                                 SEQUENCE_LE, STANDARD_LE, GUID_B,      SEQUENCE_LE, END_LE};
  static const uint8_t twice[] = {FAST_LE, GUID_A,      SEQUENCE_LE, FAST_LE,
                                  GUID_B,  SEQUENCE_LE, END_LE};
  static const uint8_t second[] = {STANDARD_LE, GUID_A,      SEQUENCE_LE, FAST_LE,
                                   GUID_B,      SEQUENCE_LE, END_LE};
  assert_reads(both, sizeof both, false, guid_a, SEQUENCE);
  assert_reads(twice, sizeof twice, false, guid_a, SEQUENCE);
  assert_reads(second, sizeof second, false, guid_a, SEQUENCE);
}

static void test_wrong_lengths_are_no_identity(void **state)
{
  (void)state;
  static const uint8_t short_one[] = {0x0f, 0x80, 20, 0, GUID_A, 1, 2, 3, 4, END_LE};
  static const uint8_t odd[] = {0x0f, 0x80, 25, 0, GUID_A, SEQUENCE_LE, 0, END_LE};
  static const uint8_t empty[] = {0x0f, 0x80, 0, 0, 0x83, 0, 0, 0, END_LE};
  static const uint8_t longer[] = {0x0f, 0x80, 28, 0, GUID_A, SEQUENCE_LE, 1, 2, 3, 4, END_LE};
  assert_none(short_one, sizeof short_one, false);
  assert_none(odd, sizeof odd, false);
  assert_none(empty, sizeof empty, false);
  assert_reads(longer, sizeof longer, false, guid_a, SEQUENCE);
}

static void test_cut_lists_are_no_identity(void **state)
{
  (void)state;
  static const uint8_t list[] = {0x70, 0, 4, 0, 1, 2, 3, 4, FAST_LE, GUID_A, SEQUENCE_LE, END_LE};
  for (size_t size = 0; size < sizeof list; size++)
    assert_none(list, size, false);
  assert_reads(list, sizeof list, false, guid_a, SEQUENCE);
  uint8_t claims[sizeof list];
  memcpy(claims, list, sizeof list);
  claims[11] = 0xff; /* 65304 bytes */
  assert_none(claims, sizeof claims, false);
}

static void test_a_packet_of_empty_parameters_is_read_to_its_end(void **state)
{
  (void)state;
  static uint8_t list[65536];
  static const uint8_t identity[] = {FAST_LE, GUID_A, SEQUENCE_LE, END_LE};
  assert_none(list, sizeof list, false); /* all padding */
  memcpy(list + sizeof list - sizeof identity, identity, sizeof identity);
  assert_reads(list, sizeof list, false, guid_a, SEQUENCE);
}

static void test_what_is_written_is_read(void **state)
{
  (void)state;
  static const int64_t sequences[] = {1,         0,         TB__RELATED_SEQUENCE_UNKNOWN,
                                      INT64_MAX, INT64_MIN, SEQUENCE};
  uint8_t list[TB__RELATED_IDENTITY_SIZE + 4];
  const uint16_t one = 1;
  bool big_endian = *(const uint8_t *)&one == 0;
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
    tb__related_identity_t identity = {tb__guid_of(guid_b), sequences[i]};
    tb__related_identity_write(&identity, list);
    memcpy(list + TB__RELATED_IDENTITY_SIZE, (const uint16_t[2]){1, 0}, 4);
    assert_reads(list, sizeof list, big_endian, guid_b, sequences[i]);
    assert_reads(list + 28, sizeof list - 28, big_endian, guid_b, sequences[i]);
    memset(list + 28, 0, 28); /* the first alone */
    assert_reads(list, sizeof list, big_endian, guid_b, sequences[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_either_parameter_is_read_in_both_byte_orders),
      cmocka_unit_test(test_an_unknown_sequence_is_that_of_fast_dds),
      cmocka_unit_test(test_other_parameters_are_skipped),
      cmocka_unit_test(test_the_standard_parameter_and_the_first_one_count),
      cmocka_unit_test(test_wrong_lengths_are_no_identity),
      cmocka_unit_test(test_cut_lists_are_no_identity),
      cmocka_unit_test(test_a_packet_of_empty_parameters_is_read_to_its_end),
      cmocka_unit_test(test_what_is_written_is_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
