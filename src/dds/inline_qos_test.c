#include "dds/inline_qos.h"

#include <dds/ddsi/q_misc.h>
#include <dds/ddsi/q_protocol.h>
#include <stdlib.h>
#include <string.h>

#include "dds/raw_type.h"
#include "test.h"

#define NATIVE (DDSRT_ENDIAN == DDSRT_LITTLE_ENDIAN ? SMFLAG_ENDIANNESS : 0)

static const uint8_t parameters[] = {0x0f, 0x80, 4, 0, 1, 2, 3, 4};
static const uint16_t sentinel[] = {PID_SENTINEL, 0};

/* A message under construction, and the one that is expected of it. */
typedef struct message {
  uint8_t bytes[70000], expected[70000];
  size_t size, expected_size;
  struct iovec parts[16];
  size_t count;
} message_t;

static message_t *message_create(void)
{
  message_t *message = calloc(1, sizeof *message);
  assert_non_null(message);
  return message;
}

static void append(message_t *message, const void *bytes, size_t size, bool new_part)
{
  if (size) memcpy(message->bytes + message->size, bytes, size);
  if (new_part)
    message->parts[message->count++] = (struct iovec){message->bytes + message->size, 0};
  message->parts[message->count - 1].iov_len += size;
  message->size += size;
}

static void expect(message_t *message, const void *bytes, size_t size)
{
  if (size) memcpy(message->expected + message->expected_size, bytes, size);
  message->expected_size += size;
}

static void append_header(message_t *message)
{
  append(message, "RTPS\2\1\1\20............", sizeof(Header_t), true);
  expect(message, message->bytes, sizeof(Header_t));
}

static void append_submessage(message_t *message, uint8_t id, const void *body, uint16_t size,
                              bool new_part)
{
  SubmessageHeader_t header = {.submessageId = id, .flags = NATIVE, .octetsToNextHeader = size};
  append(message, &header, sizeof header, new_part);
  append(message, body, size, false);
  expect(message, message->bytes + message->size - size - sizeof header, size + sizeof header);
}

/* DATA (fragment 0) or DATA_FRAG with `payload`, which is a part of its own; `there` are parameters
 * that it has already, `added` those that are expected. */
typedef struct data {
  uint32_t fragment, fragment_size;
  const void *payload;
  size_t payload_size;
  const uint8_t *there;
  size_t there_size;
  bool is_last; /* with length 0 */
  const uint8_t *added;
  size_t added_size;
} data_t;

static void append_data(message_t *message, const data_t *data)
{
  DataFrag_t header;
  memset(&header, 0, sizeof header);
  size_t header_size = data->fragment ? sizeof header : sizeof header.x;
  size_t qos_size = data->there ? data->there_size + 4 : 0;
  size_t size = header_size + qos_size + data->payload_size;
  header.x.smhdr = (SubmessageHeader_t){
      .submessageId = data->fragment ? SMID_DATA_FRAG : SMID_DATA,
      .flags = NATIVE | (data->there ? DATA_FLAG_INLINE_QOS : 0),
      .octetsToNextHeader = (uint16_t)(data->is_last ? 0 : size - sizeof header.x.smhdr)};
  header.x.octetsToInlineQos = (uint16_t)(header_size - 8);
  header.x.writerSN = toSN(7);
  header.fragmentStartingNum = data->fragment;
  header.fragmentsInSubmessage = 1;
  header.fragmentSize = (uint16_t)data->fragment_size;
  append(message, &header, header_size, true);
  append(message, data->there, data->there_size, false);
  if (data->there) append(message, sentinel, sizeof sentinel, false);
  message->parts[message->count++] =
      (struct iovec){(void *)(uintptr_t)data->payload, data->payload_size};
  message->size += data->payload_size; /* the buffer has a hole there */

  size_t expected_qos = data->there_size + data->added_size;
  if (data->added_size) header.x.smhdr.flags |= DATA_FLAG_INLINE_QOS;
  if (!data->is_last)
    header.x.smhdr.octetsToNextHeader =
        (uint16_t)(header_size - 4 + (expected_qos ? expected_qos + 4 : 0) + data->payload_size);
  expect(message, &header, header_size);
  expect(message, data->there, data->there_size);
  expect(message, data->added, data->added_size);
  if (expected_qos) expect(message, sentinel, sizeof sentinel);
  expect(message, data->payload, data->payload_size);
}

static void assert_parts(const struct iovec *parts, size_t count, const message_t *message)
{
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    assert_true(at + parts[i].iov_len <= message->expected_size);
    assert_memory_equal(parts[i].iov_base, message->expected + at, parts[i].iov_len);
    at += parts[i].iov_len;
  }
  assert_int_equal(at, message->expected_size);
}

static void assert_result(message_t *message, tb__packet_result_t expected)
{
  uint8_t *before = malloc(message->size);
  assert_non_null(before);
  memcpy(before, message->bytes, message->size);
  tb__packet_t packet;
  assert_int_equal(tb__packet_insert(message->parts, message->count, &packet), expected);
  assert_memory_equal(message->bytes, before, message->size); /* it may be sent again */
  if (expected == TB__PACKET_CHANGED)
    assert_parts(packet.parts, packet.count, message);
  else
    assert_null(packet.parts);
  if (expected == TB__PACKET_UNCHANGED) assert_parts(message->parts, message->count, message);
  tb__packet_free(&packet);
  free(before);
  free(message);
}

typedef struct sample {
  tb__inline_qos_t qos;
  uint8_t bytes[66000];
} sample_t;

static sample_t *sample_create(void)
{
  sample_t *sample = calloc(1, sizeof *sample);
  assert_non_null(sample);
  for (size_t i = 0; i < sizeof sample->bytes; i++)
    sample->bytes[i] = (uint8_t)(i * 7);
  tb__inline_qos_add(&sample->qos, sample->bytes, parameters, sizeof parameters);
  return sample;
}

static void sample_destroy(sample_t *sample)
{
  tb__inline_qos_remove(&sample->qos);
  free(sample);
}

static data_t whole(const sample_t *sample, size_t size)
{
  return (data_t){.payload = sample->bytes,
                  .payload_size = size,
                  .added = parameters,
                  .added_size = sizeof parameters};
}

static void test_data_gets_its_parameters(void **state)
{
  (void)state;
  assert_false(tb__inline_qos_is_used());
  sample_t *sample = sample_create();
  assert_true(tb__inline_qos_is_used());
  message_t *message = message_create();
  append_header(message);
  append_submessage(message, SMID_INFO_TS, "12345678", 8, true);
  data_t data = whole(sample, 20);
  append_data(message, &data);
  append_submessage(message, SMID_HEARTBEAT, "1234567812345678123456781234", 28, true);
  assert_result(message, TB__PACKET_CHANGED);
  sample_destroy(sample);
  assert_false(tb__inline_qos_is_used());
}

static void test_the_header_may_share_its_part_with_others(void **state)
{
  (void)state;
  sample_t *sample = sample_create();
  message_t *message = message_create();
  append_header(message);
  append_submessage(message, SMID_INFO_DST, "123456789012", 12, false); /* merged with the header */
  append_submessage(message, SMID_INFO_TS, "12345678", 8, false);
  append_submessage(message, SMID_INFO_TS, "", 0, false); /* length 0 is no end there */
  data_t data = whole(sample, 8);
  append_data(message, &data);
  struct iovec *parts = message->parts; /* all before the payload is one part */
  parts[0].iov_len += parts[1].iov_len;
  parts[1] = parts[2];
  message->count = 2;
  assert_result(message, TB__PACKET_CHANGED);
  sample_destroy(sample);
}

static void test_the_last_submessage_may_have_length_0(void **state)
{
  (void)state;
  sample_t *sample = sample_create();
  message_t *message = message_create();
  append_header(message);
  data_t data = whole(sample, 8);
  append_data(message, &data);
  data.is_last = true;
  append_data(message, &data);
  assert_result(message, TB__PACKET_CHANGED);
  sample_destroy(sample);
}

static void test_parameters_follow_those_that_are_there(void **state)
{
  (void)state;
  static const uint16_t there[] = {PID_STATUSINFO, 4, 0, 0x100, PID_PAD, 0};
  sample_t *sample = sample_create();
  message_t *message = message_create();
  append_header(message);
  data_t data = whole(sample, 8);
  data.there = (const uint8_t *)there;
  data.there_size = sizeof there;
  append_data(message, &data);
  data.there_size = 0; /* a list that is empty */
  append_data(message, &data);
  assert_result(message, TB__PACKET_CHANGED);
  sample_destroy(sample);
}

static void test_every_fragment_gets_them(void **state)
{
  (void)state;
  sample_t *sample = sample_create();
  message_t *message = message_create();
  append_header(message);
  for (uint32_t i = 0; i < 3; i++) {
    data_t data = whole(sample, i < 2 ? 1344 : 100);
    data.fragment = i + 1;
    data.fragment_size = 1344;
    data.payload = sample->bytes + i * 1344;
    append_data(message, &data);
  }
  assert_result(message, TB__PACKET_CHANGED);
  sample_destroy(sample);
}

static void test_other_samples_are_sent_as_they_are(void **state)
{
  (void)state;
  sample_t *sample = sample_create();
  uint8_t other[64] = {0};
  message_t *message = message_create();
  append_header(message);
  data_t data = {.payload = other, .payload_size = sizeof other};
  append_data(message, &data);
  data = (data_t){.payload = sample->bytes + 4, .payload_size = 8}; /* not its beginning */
  append_data(message, &data);
  data = (data_t){.payload = sample->bytes, .payload_size = 8, .fragment = 2, .fragment_size = 8};
  append_data(message, &data);
  assert_result(message, TB__PACKET_UNCHANGED);
  sample_destroy(sample);
}

static void test_several_samples_keep_their_own(void **state)
{
  (void)state;
  static const uint8_t mine[] = {9, 0x80, 8, 0, 8, 7, 6, 5, 4, 3, 2, 1};
  enum { COUNT = 200 }; /* more than there are buckets */
  sample_t *samples[COUNT];
  for (size_t i = 0; i < COUNT; i++)
    samples[i] = sample_create();
  tb__inline_qos_remove(&samples[7]->qos);
  tb__inline_qos_add(&samples[7]->qos, samples[7]->bytes, mine, sizeof mine);
  message_t *message = message_create();
  append_header(message);
  data_t data = whole(samples[7], 8);
  data.added = mine;
  data.added_size = sizeof mine;
  append_data(message, &data);
  data = whole(samples[199], 8);
  append_data(message, &data);
  sample_destroy(samples[100]);
  assert_result(message, TB__PACKET_CHANGED);
  for (size_t i = 0; i < COUNT; i++)
    if (i != 100) sample_destroy(samples[i]);
  assert_false(tb__inline_qos_is_used());
}

/* Each library of a process inserts its own: what one has changed is what the other gets. */
static void test_another_library_inserts_its_own(void **state)
{
  (void)state;
  sample_t *samples[2] = {sample_create(), sample_create()};
  message_t *message = message_create();
  append_header(message);
  data_t data = whole(samples[0], 8);
  append_data(message, &data);
  data = whole(samples[1], 8);
  append_data(message, &data);
  tb__packet_t first, second;
  tb__inline_qos_remove(&samples[1]->qos); /* which the first library does not know */
  assert_int_equal(tb__packet_insert(message->parts, message->count, &first), TB__PACKET_CHANGED);
  tb__inline_qos_add(&samples[1]->qos, samples[1]->bytes, parameters, sizeof parameters);
  tb__inline_qos_remove(&samples[0]->qos);
  assert_int_equal(tb__packet_insert(first.parts, first.count, &second), TB__PACKET_CHANGED);
  assert_parts(second.parts, second.count, message);
  tb__packet_free(&second);
  tb__packet_free(&first);
  free(message);
  free(samples[0]);
  sample_destroy(samples[1]);
}

/* What follows the first insertion counts too. */
static void test_a_packet_that_would_be_too_large_ends_before(void **state)
{
  (void)state;
  sample_t *sample = sample_create();
  for (size_t left = 0; left < 24; left += 4) { /* bytes to spare before anything is inserted */
    size_t size = TB__PACKET_SIZE_MAX - 3 - sizeof(Header_t) - 2 * sizeof(Data_t) - 8 - left;
    message_t *message = message_create();
    append_header(message);
    data_t data = whole(sample, size);
    append_data(message, &data);
    size_t before = message->expected_size;
    data_t other = {.payload = sample->bytes + 4, .payload_size = 8};
    append_data(message, &other);
    if (message->expected_size > TB__PACKET_SIZE_MAX) message->expected_size = before;
    assert_result(message, TB__PACKET_CHANGED);
  }
  sample_destroy(sample);
}

static void test_a_cut_may_be_within_a_part(void **state)
{
  (void)state;
  sample_t *sample = sample_create();
  message_t *message = message_create();
  append_header(message);
  append_submessage(message, SMID_INFO_TS, "12345678", 8, true);
  size_t before = message->expected_size, first = message->parts[1].iov_len;
  data_t data = whole(sample, TB__PACKET_SIZE_MAX - 3 - sizeof(Header_t) - first - sizeof(Data_t));
  append_data(message, &data);
  message->parts[1].iov_len += message->parts[2].iov_len; /* INFO_TS and header in one part */
  message->parts[2] = message->parts[3];
  message->count = 3;
  message->expected_size = before;
  assert_result(message, TB__PACKET_CHANGED);
  sample_destroy(sample);
}

static void test_a_sample_that_never_fits_is_not_sent(void **state)
{
  (void)state;
  sample_t *sample = sample_create();
  message_t *message = message_create();
  append_header(message);
  data_t data = whole(sample, TB__PACKET_SIZE_MAX - 3 - sizeof(Header_t) - sizeof(Data_t));
  append_data(message, &data);
  assert_result(message, TB__PACKET_LOST);
  sample_destroy(sample);
}

/* Not what Cyclone makes; nothing may be read outside it. */
static void test_what_cannot_be_read_is_sent_as_it_is(void **state)
{
  (void)state;
  sample_t *sample = sample_create();
  for (int i = 0; i < 7; i++) {
    message_t *message = message_create();
    append_header(message);
    size_t at = message->size;
    data_t data = whole(sample, 8);
    data.added_size = 0;
    if (i == 6) data.fragment_size = 1344, data.fragment = 1;
    append_data(message, &data);
    Data_DataFrag_common_t header;
    memcpy(&header, message->bytes + at, sizeof header);
    if (i == 0) header.octetsToInlineQos = UINT16_MAX;
    if (i == 1) header.octetsToInlineQos = 12;
    if (i == 2) header.smhdr.flags ^= SMFLAG_ENDIANNESS;
    if (i == 3) header.smhdr.octetsToNextHeader = 200;
    if (i == 4) header.smhdr.submessageId = SMID_SRTPS_PREFIX;
    if (i == 5) header.smhdr.flags |= DATA_FLAG_INLINE_QOS; /* which is not there */
    memcpy(message->bytes + at, &header, sizeof header);
    memcpy(message->expected + at, &header, sizeof header);
    if (i == 6) memset(message->bytes + at + 24, 0, 4), memset(message->expected + at + 24, 0, 4);
    assert_result(message, TB__PACKET_UNCHANGED);
  }
  tb__packet_t packet;
  assert_int_equal(tb__packet_insert(NULL, 0, &packet), TB__PACKET_UNCHANGED);
  struct iovec tiny[2] = {{sample->bytes, 3}, {NULL, 0}};
  assert_int_equal(tb__packet_insert(tiny, 2, &packet), TB__PACKET_UNCHANGED);
  sample_destroy(sample);
}

static void test_raw_samples_have_theirs_until_they_are_freed(void **state)
{
  (void)state;
  struct ddsi_sertype *type = tb__raw_type_create("std_msgs::msg::dds_::String_", false);
  for (size_t size = 4; size < 24; size++) { /* any alignment of what follows */
    char cdr[24] = "\0\1\0\0abcdefghijklmnopqrs";
    struct ddsi_serdata *sample =
        tb__raw_sample_create_with(type, cdr, size, parameters, sizeof parameters);
    assert_true(tb__raw_sample_has_inline_qos(sample));
    struct iovec part;
    size_t padded = (size + 3) / 4 * 4;
    struct ddsi_serdata *reference = ddsi_serdata_to_ser_ref(sample, 0, padded, &part);
    ddsi_serdata_unref(sample);
    message_t *message = message_create();
    append_header(message);
    data_t data = {.payload = part.iov_base,
                   .payload_size = padded,
                   .added = parameters,
                   .added_size = sizeof parameters};
    append_data(message, &data);
    assert_result(message, TB__PACKET_CHANGED);
    assert_true(tb__inline_qos_is_used());
    ddsi_serdata_to_ser_unref(reference, &part);
    assert_false(tb__inline_qos_is_used());
  }
  struct ddsi_serdata *plain = tb__raw_sample_create(type, "\0\1\0\0", 4);
  assert_false(tb__raw_sample_has_inline_qos(plain));
  ddsi_serdata_unref(plain);
  ddsi_sertype_unref(type);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_data_gets_its_parameters),
      cmocka_unit_test(test_the_header_may_share_its_part_with_others),
      cmocka_unit_test(test_the_last_submessage_may_have_length_0),
      cmocka_unit_test(test_parameters_follow_those_that_are_there),
      cmocka_unit_test(test_every_fragment_gets_them),
      cmocka_unit_test(test_other_samples_are_sent_as_they_are),
      cmocka_unit_test(test_several_samples_keep_their_own),
      cmocka_unit_test(test_another_library_inserts_its_own),
      cmocka_unit_test(test_a_packet_that_would_be_too_large_ends_before),
      cmocka_unit_test(test_a_cut_may_be_within_a_part),
      cmocka_unit_test(test_a_sample_that_never_fits_is_not_sent),
      cmocka_unit_test(test_what_cannot_be_read_is_sent_as_it_is),
      cmocka_unit_test(test_raw_samples_have_theirs_until_they_are_freed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
