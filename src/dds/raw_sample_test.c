#include <dds/ddsi/q_misc.h>
#include <dds/ddsi/q_protocol.h>
#include <dds/ddsi/q_radmin.h>
#include <stdlib.h>
#include <string.h>

#include "base/loan.h"
#include "dds/raw_type.h"
#include "platform/time.h"
#include "test.h"

static struct ddsi_sertype *type;

static int type_setup(void **state)
{
  (void)state;
  type = tb__raw_type_create("std_msgs::msg::dds_::String_", false);
  return type ? 0 : -1;
}

static int type_teardown(void **state)
{
  (void)state;
  ddsi_sertype_unref(type);
  return 0;
}

/* A received packet that is all payload. */
static struct nn_rmsg *packet_create(const void *bytes, size_t size)
{
  struct nn_rmsg *packet = malloc(sizeof *packet + size);
  assert_non_null(packet);
  memset(packet, 0, sizeof *packet);
  memcpy(NN_RMSG_PAYLOAD(packet), bytes, size);
  return packet;
}

/* The bytes [min, maxp1) of the sample, at `offset` in the packet. */
static struct nn_rdata fragment(struct nn_rmsg *packet, uint32_t min, uint32_t maxp1,
                                uint16_t offset, struct nn_rdata *next)
{
  struct nn_rdata data;
  memset(&data, 0, sizeof data);
  data.rmsg = packet;
  data.min = min;
  data.maxp1 = maxp1;
  data.payload_zoff = offset;
  data.nextfrag = next;
  return data;
}

static void assert_bytes(struct ddsi_serdata *sample, const char *expected, size_t size)
{
  size_t actual = 0;
  assert_non_null(sample);
  const void *bytes = tb__raw_sample_bytes(sample, &actual);
  assert_int_equal(actual, size);
  assert_memory_equal(bytes, expected, size);
  assert_int_equal(ddsi_serdata_size(sample), size);
  ddsi_serdata_unref(sample);
}

static void test_type_is_keyless_xcdr1_and_off_shared_memory(void **state)
{
  (void)state;
  assert_true(type->typekind_no_key);
  assert_false(type->fixed_size);
  assert_int_equal(type->allowed_data_representation, DDS_DATA_REPRESENTATION_FLAG_XCDR1);
  assert_null(type->ops->get_serialized_size);
  struct ddsi_sertype *same = tb__raw_type_create("std_msgs::msg::dds_::String_", false);
  struct ddsi_sertype *other = tb__raw_type_create("std_msgs::msg::dds_::Empty_", false);
  assert_true(ddsi_sertype_equal(type, same));
  assert_int_equal(ddsi_sertype_hash(type), ddsi_sertype_hash(same));
  assert_false(ddsi_sertype_equal(type, other));
  ddsi_sertype_unref(same);
  ddsi_sertype_unref(other);
}

static void test_fragments_are_assembled(void **state)
{
  (void)state;
  struct nn_rmsg *packet = packet_create("\0\1\0\0abcdefgh", 12);
  struct nn_rdata c = fragment(packet, 9, 12, 9, NULL);
  struct nn_rdata b = fragment(packet, 4, 9, 4, &c);
  struct nn_rdata a = fragment(packet, 0, 5, 0, &b); /* overlaps b by one */
  assert_bytes(ddsi_serdata_from_ser(type, SDK_DATA, &a, 12), "\0\1\0\0abcdefgh", 12);
  struct nn_rdata inside = fragment(packet, 2, 4, 2, &b); /* adds nothing */
  struct nn_rdata first = fragment(packet, 0, 5, 0, &inside);
  assert_bytes(ddsi_serdata_from_ser(type, SDK_DATA, &first, 12), "\0\1\0\0abcdefgh", 12);
  free(packet);
}

static void test_samples_have_their_time_of_receipt(void **state)
{
  (void)state;
  struct nn_rmsg *packet = packet_create("\0\1\0\0", 4);
  struct nn_rdata all = fragment(packet, 0, 4, 0, NULL);
  int64_t before_ns = tb__system_now_ns(), before_steady_ns = tb__steady_now_ns();
  struct ddsi_serdata *sample = ddsi_serdata_from_ser(type, SDK_DATA, &all, 4);
  int64_t after_ns = tb__system_now_ns(), after_steady_ns = tb__steady_now_ns();
  assert_in_range(tb__raw_sample_received_ns(sample), before_ns, after_ns);
  assert_in_range(tb__raw_sample_received_steady_ns(sample), before_steady_ns, after_steady_ns);
  assert_int_equal(tb__raw_sample_sequence(sample), 0); /* of a packet without a submessage */
  ddsi_serdata_unref(sample);
  free(packet);
}

/* The packet begins with 4 bytes of something else; then the header, `qos_size` bytes of inline QoS
 * and the payload. The fragment is in host byte order, as Cyclone leaves it; `flags` are of the
 * submessage. */
static struct nn_rmsg *submessage_create(struct nn_rdata *out, uint8_t flags, uint16_t to_qos,
                                         const void *qos, size_t qos_size)
{
  static const uint8_t cdr[] = {0, 1, 0, 0, 'a', 'b', 'c', 'd'};
  uint8_t bytes[4 + sizeof(DataFrag_t) + 128] = {0};
  DataFrag_t header = {.x = {.smhdr = {.submessageId = SMID_DATA_FRAG, .flags = flags},
                             .octetsToInlineQos = to_qos,
                             .writerSN = toSN(INT64_C(0x700000005))}};
  size_t payload = 4 + sizeof header + qos_size;
  memcpy(bytes + 4, &header, sizeof header);
  memcpy(bytes + 4 + sizeof header, qos, qos_size);
  memcpy(bytes + payload, cdr, sizeof cdr);
  struct nn_rmsg *packet = packet_create(bytes, payload + 8);
  *out = fragment(packet, 0, 8, (uint16_t)payload, NULL);
  out->submsg_zoff = 4;
  return packet;
}

#define TO_QOS (sizeof(DataFrag_t) - 8)

static void test_related_identity_comes_with_the_sample(void **state)
{
  (void)state;
  static const uint8_t little[] = {0x0f, 0x80, 24, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
                                   9,    9,    9,  9, 0, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0};
  static const uint8_t big[] = {0, 0x83, 0, 24, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
                                9, 9,    9, 9,  0, 0, 0, 0, 0, 0, 0, 6, 0, 1, 0, 0};
  static const uint8_t *const lists[] = {big, little};
  for (uint8_t flags = DATA_FLAG_INLINE_QOS; flags <= (DATA_FLAG_INLINE_QOS | 1); flags++) {
    struct nn_rdata tail, all;
    struct nn_rmsg *packet =
        submessage_create(&all, flags, TO_QOS, lists[flags & SMFLAG_ENDIANNESS], sizeof little);
    tail = fragment(packet, 8, 12, 0, NULL); /* of a later fragment */
    all.nextfrag = &tail;
    struct ddsi_serdata *sample = ddsi_serdata_from_ser(type, SDK_DATA, &all, 12);
    tb__sample_origin_t origin;
    assert_true(tb__raw_sample_origin(sample, &origin));
    assert_true(origin.sequence == INT64_C(0x700000005));
    assert_true(origin.has_related && origin.related.sequence == 6);
    assert_memory_equal(origin.related.guid.bytes, big + 4, TB__GUID_SIZE);
    size_t size;
    assert_memory_equal(tb__raw_sample_bytes(sample, &size), "\0\1\0\0abcd", 8);
    assert_int_equal(size, 12);
    ddsi_serdata_unref(sample);
    free(packet);
  }
}

static void test_samples_without_a_related_identity_have_none(void **state)
{
  (void)state;
  static const uint8_t list[] = {0x0f, 0x80, 24, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
                                 9,    9,    9,  9, 0, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0};
  static const struct {
    uint8_t flags;
    uint16_t to_qos;
    size_t size;
  } rows[] = {
      {SMFLAG_ENDIANNESS, TO_QOS, sizeof list},                          /* no inline QoS */
      {DATA_FLAG_INLINE_QOS | 1, TO_QOS, sizeof list - 4},               /* no end */
      {DATA_FLAG_INLINE_QOS | 1, TO_QOS, 0},                             /* nothing */
      {DATA_FLAG_INLINE_QOS | 1, TO_QOS + sizeof list + 4, sizeof list}, /* begins in the payload */
      {DATA_FLAG_INLINE_QOS | 1, TO_QOS + sizeof list, sizeof list},     /* ... at the payload */
      {DATA_FLAG_INLINE_QOS | 1, UINT16_MAX, sizeof list},               /* ... beyond the packet */
      {DATA_FLAG_INLINE_QOS, TO_QOS, sizeof list},                       /* the other byte order */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct nn_rdata all;
    struct nn_rmsg *packet =
        submessage_create(&all, rows[i].flags, rows[i].to_qos, list, rows[i].size);
    struct ddsi_serdata *sample = ddsi_serdata_from_ser(type, SDK_DATA, &all, 8);
    tb__sample_origin_t origin;
    assert_true(tb__raw_sample_origin(sample, &origin));
    assert_false(origin.has_related);
    assert_bytes(sample, "\0\1\0\0abcd", 8);
    free(packet);
  }
  struct ddsi_serdata *own = tb__raw_sample_create(type, "\0\1\0\0", 4);
  tb__sample_origin_t origin;
  assert_false(tb__raw_sample_origin(own, &origin)); /* not from the network */
  ddsi_serdata_unref(own);
}

static void test_odd_sizes_are_padded_with_zeros(void **state)
{
  (void)state;
  struct nn_rmsg *packet = packet_create("\0\0\0\0abcd!", 9);
  struct nn_rdata all = fragment(packet, 0, 9, 0, NULL);
  assert_bytes(ddsi_serdata_from_ser(type, SDK_DATA, &all, 9), "\0\0\0\0abcd!\0\0\0", 12);
  free(packet);
}

static void count_kept(void *owner)
{
  ++*(int *)owner;
}

static void count_returned(void *owner)
{
  --*(int *)owner;
}

static void test_lent_bytes_are_kept_until_the_sample_ends(void **state)
{
  (void)state;
  static _Alignas(8) uint8_t bytes[100000] = {0, 1, 0, 0};
  int references = 0;
  tb__loan_t loan = {bytes, 99998, 100000, &references, count_kept, count_returned};
  tb__loan_set(&loan);
  struct ddsi_serdata *lent = tb__raw_sample_create(type, bytes, 99998);
  struct ddsi_serdata *other = tb__raw_sample_create(type, bytes, 99994); /* not what was lent */
  loan.size = 98; /* too small to be worth it */
  struct ddsi_serdata *small = tb__raw_sample_create(type, bytes, 98);
  tb__loan_set(NULL);
  loan.size = 99998;
  struct ddsi_serdata *late = tb__raw_sample_create(type, bytes, 99998);
  size_t size = 0;
  assert_int_equal(references, 1);
  assert_ptr_equal(tb__raw_sample_bytes(lent, &size), bytes);
  assert_int_equal(size, 100000);
  assert_ptr_not_equal(tb__raw_sample_bytes(other, &size), bytes);
  assert_ptr_not_equal(tb__raw_sample_bytes(small, &size), bytes);
  assert_ptr_not_equal(tb__raw_sample_bytes(late, &size), bytes);
  struct ddsi_serdata *again = ddsi_serdata_ref(lent);
  ddsi_serdata_unref(lent);
  assert_int_equal(references, 1);
  ddsi_serdata_unref(again);
  assert_int_equal(references, 0);
  ddsi_serdata_unref(other);
  ddsi_serdata_unref(small);
  ddsi_serdata_unref(late);
}

static void test_broken_chains_are_refused(void **state)
{
  (void)state;
  struct nn_rmsg *packet = packet_create("\0\1\0\0abcdefgh", 12);
  struct nn_rdata all = fragment(packet, 0, 12, 0, NULL);
  struct nn_rdata late = fragment(packet, 1, 12, 1, NULL);
  struct nn_rdata tail = fragment(packet, 8, 12, 8, NULL);
  struct nn_rdata hole = fragment(packet, 0, 6, 0, &tail);
  assert_null(ddsi_serdata_from_ser(type, SDK_DATA, &all, 11));  /* reaches past the end */
  assert_null(ddsi_serdata_from_ser(type, SDK_DATA, &all, 16));  /* too short */
  assert_null(ddsi_serdata_from_ser(type, SDK_DATA, &late, 12)); /* no beginning */
  assert_null(ddsi_serdata_from_ser(type, SDK_DATA, &hole, 12)); /* a hole */
  assert_null(ddsi_serdata_from_ser(type, SDK_DATA, NULL, 0));
  assert_null(ddsi_serdata_from_ser(type, SDK_DATA, NULL, 12));
  assert_null(ddsi_serdata_from_ser(type, SDK_DATA, &all, SIZE_MAX));
  assert_null(ddsi_serdata_from_ser(type, SDK_DATA, &all, UINT32_MAX));
  free(packet);
}

static void test_other_encapsulations_are_refused(void **state)
{
  (void)state;
  static const char *const headers[] = {"\0\2\0\0",   "\0\3\0\0", "\0\6\0\0",        "\0\7\0\0",
                                        "\0\x0a\0\0", "\1\1\0\0", "\xff\xff\xff\xff"};
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
    struct nn_rmsg *packet = packet_create(headers[i], 4);
    struct nn_rdata all = fragment(packet, 0, 4, 0, NULL);
    assert_null(ddsi_serdata_from_ser(type, SDK_DATA, &all, 4));
    free(packet);
    assert_false(tb__cdr_is_valid(headers[i], 4));
  }
  struct nn_rmsg *packet = packet_create("\0\1\0", 3);
  struct nn_rdata all = fragment(packet, 0, 3, 0, NULL);
  assert_null(ddsi_serdata_from_ser(type, SDK_DATA, &all, 3));
  free(packet);
}

static void test_vectors_are_gathered_within_bounds(void **state)
{
  (void)state;
  char head[] = "\0\1\0\0ab", body[] = "cdefghijkl";
  ddsrt_iovec_t parts[3] = {{head, 6}, {NULL, 0}, {body, 10}};
  assert_bytes(ddsi_serdata_from_ser_iov(type, SDK_DATA, 3, parts, 16), "\0\1\0\0abcdefghijkl", 16);
  assert_bytes(ddsi_serdata_from_ser_iov(type, SDK_DATA, 3, parts, 8), "\0\1\0\0abcd", 8);
  assert_null(ddsi_serdata_from_ser_iov(type, SDK_DATA, 3, parts, 17));
  assert_null(ddsi_serdata_from_ser_iov(type, SDK_DATA, 0, parts, 4));
  assert_null(ddsi_serdata_from_ser_iov(type, SDK_DATA, 3, parts, 3));
}

static void test_serialized_bytes_are_read_back(void **state)
{
  (void)state;
  struct ddsi_serdata *sample = tb__raw_sample_create(type, "\0\1\0\0abcde", 9);
  char out[16];
  ddsi_serdata_to_ser(sample, 0, 12, out);
  assert_memory_equal(out, "\0\1\0\0abcde\0\0\0", 12);
  ddsi_serdata_to_ser(sample, 4, 3, out);
  assert_memory_equal(out, "abc", 3);
  ddsi_serdata_to_ser(sample, 10, 6, out); /* past the end: zeros */
  assert_memory_equal(out, "\0\0\0\0\0\0", 6);
  ddsrt_iovec_t part;
  struct ddsi_serdata *reference = ddsi_serdata_to_ser_ref(sample, 4, 8, &part);
  ddsi_serdata_unref(sample);
  assert_int_equal(part.iov_len, 8);
  assert_memory_equal(part.iov_base, "abcde\0\0\0", 8);
  ddsi_serdata_to_ser_unref(reference, &part);
}

static void test_keys_are_all_equal_and_carry_nothing(void **state)
{
  (void)state;
  struct ddsi_serdata *sample = tb__raw_sample_create(type, "\0\1\0\0abcd", 8);
  struct ddsi_serdata *untyped = ddsi_serdata_to_untyped(sample);
  struct ddsi_keyhash hash = {{0}};
  struct ddsi_serdata *key = ddsi_serdata_from_keyhash(type, &hash);
  assert_null(untyped->type);
  assert_int_equal(untyped->kind, SDK_KEY);
  assert_int_equal(untyped->hash, sample->hash);
  assert_true(ddsi_serdata_eqkey(sample, untyped));
  assert_bytes(ddsi_serdata_ref(untyped), "\0\1\0\0", 4);
  assert_ptr_equal(ddsi_serdata_to_untyped(sample), untyped); /* so it needs no memory */
  ddsi_serdata_unref(untyped);
  assert_int_equal(key->kind, SDK_KEY);
  assert_int_equal(key->hash, sample->hash);
  ddsi_serdata_get_keyhash(sample, &hash, true);
  ddsi_serdata_unref(key);
  assert_bytes(ddsi_serdata_from_ser(type, SDK_KEY, NULL, 0), "\0\1\0\0", 4);
  assert_bytes(ddsi_serdata_from_sample(type, SDK_KEY, NULL), "\0\1\0\0", 4);
  assert_null(ddsi_serdata_from_sample(type, SDK_DATA, "x"));
  assert_false(ddsi_serdata_to_sample(sample, &hash, NULL, NULL));
  ddsi_serdata_unref(untyped);
  ddsi_serdata_unref(sample);
}

static void test_print_is_cut_to_the_buffer(void **state)
{
  (void)state;
  struct ddsi_serdata *sample = tb__raw_sample_create(type, "\0\1\0\0abcd", 8);
  char text[64];
  ddsi_serdata_print(sample, text, sizeof text);
  assert_string_equal(text, ":cdr:{8 bytes}");
  assert_int_equal(type->serdata_ops->print(type, sample, text, 5), 14);
  assert_string_equal(text, ":cdr");
  ddsi_serdata_unref(sample);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_type_is_keyless_xcdr1_and_off_shared_memory),
      cmocka_unit_test(test_fragments_are_assembled),
      cmocka_unit_test(test_samples_have_their_time_of_receipt),
      cmocka_unit_test(test_related_identity_comes_with_the_sample),
      cmocka_unit_test(test_samples_without_a_related_identity_have_none),
      cmocka_unit_test(test_odd_sizes_are_padded_with_zeros),
      cmocka_unit_test(test_lent_bytes_are_kept_until_the_sample_ends),
      cmocka_unit_test(test_broken_chains_are_refused),
      cmocka_unit_test(test_other_encapsulations_are_refused),
      cmocka_unit_test(test_vectors_are_gathered_within_bounds),
      cmocka_unit_test(test_serialized_bytes_are_read_back),
      cmocka_unit_test(test_keys_are_all_equal_and_carry_nothing),
      cmocka_unit_test(test_print_is_cut_to_the_buffer),
  };
  return cmocka_run_group_tests(tests, type_setup, type_teardown);
}
