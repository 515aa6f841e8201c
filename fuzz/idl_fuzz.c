/* Any bytes as a message of a type of idlc. The first byte of the input chooses the type. A
 * message that Cyclone DDS accepts must be accepted, and must be encoded as Cyclone encodes it. */
#include <dds/ddsi/ddsi_cdrstream.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_idl.h>

#include "fuzz.h"
#include "ros2_types.h"

#define ENCAPSULATION 4
#define PADDING_MAX   3

static const dds_topic_descriptor_t *const types[] = {
    &example_interfaces_srv_AddTwoInts_Request_desc,
    &timebase_test_msg_Point_desc,
    &timebase_test_msg_Everything_desc,
    &timebase_test_msg_Based_desc,
    &timebase_test_msg_WithUnion_desc,
};
#define TYPE_COUNT (sizeof types / sizeof types[0])

static void check_written(const dds_topic_descriptor_t *type, const void *sample)
{
  void *cdr;
  size_t size;
  dds_ostream_t stream;
  if (tb_ros2_idl_encode(type, sample, &cdr, &size, NULL) != TB_OK) abort();
  dds_ostream_init(&stream, 64, CDR_ENC_VERSION_1);
  if (!dds_stream_write_with_byte_order(&stream, sample, type->m_ops, DDSRT_BOSEL_LE)) abort();
  size_t padding = size - ENCAPSULATION - stream.m_index;
  if (padding > PADDING_MAX) abort();
  if (memcmp((uint8_t *)cdr + ENCAPSULATION, stream.m_buffer, stream.m_index) != 0) abort();
  dds_ostream_fini(&stream);
  tb_ros2_idl_free(cdr);
}

/* Whether Cyclone accepts it, with at most padding left. */
static bool is_of_cyclone(const dds_topic_descriptor_t *type, const uint8_t *data, size_t size)
{
  uint32_t end = 0;
  bool swap = size >= ENCAPSULATION && data[1] == (DDSRT_ENDIAN == DDSRT_LITTLE_ENDIAN ? 0 : 1);
  if (size < ENCAPSULATION || data[0] != 0 || data[1] > 1) return false;
  size -= ENCAPSULATION;
  char *copy = malloc(size ? size : 1);
  if (!copy) return false;
  memcpy(copy, data + ENCAPSULATION, size);
  bool is_taken = dds_stream_normalize_data(copy, &end, (uint32_t)size, swap, CDR_ENC_VERSION_1,
                                            type->m_ops) != NULL;
  free(copy);
  return is_taken && size - end <= PADDING_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size == 0) return 0;
  const dds_topic_descriptor_t *type = types[*data++ % TYPE_COUNT];
  size--;
  tb_error_t error = TB_ERROR_INIT;
  void *sample = &sample;
  tb_status_t status = tb_ros2_idl_decode(type, data, size, &sample, &error);
  if (status == TB_OK) {
    check_written(type, sample);
    tb_ros2_idl_free(sample);
    return 0;
  }
  if (sample != &sample || error.status != status || error.offset > (int64_t)size) abort();
  /* Cyclone ignores NULs in strings. */
  if (status != TB_ERR_INVALID && status != TB_ERR_UNSUPPORTED && is_of_cyclone(type, data, size))
    abort();
  return 0;
}
