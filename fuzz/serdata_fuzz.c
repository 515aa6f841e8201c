/* A sample from the network in any pieces. The input: the sample's claimed size (2 bytes), the
 * number of fragments, per fragment its first byte and the byte after its last (2 bytes each),
 * then the packet. All numbers are little endian. */
#include <dds/ddsi/q_misc.h>
#include <dds/ddsi/q_protocol.h>
#include <dds/ddsi/q_radmin.h>
#include <stdlib.h>
#include <string.h>

#include "dds/raw_type.h"

#define FRAGMENTS_MAX 16
#define SUBMESSAGE    4 /* its offset in the packet; 0 would be none */

#include "fuzz.h"

typedef struct input {
  const uint8_t *at;
  size_t left;
} input_t;

static uint32_t take_u16(input_t *input)
{
  if (input->left < 2) return 0;
  uint32_t value = input->at[0] | (uint32_t)input->at[1] << 8;
  input->at += 2;
  input->left -= 2;
  return value;
}

static uint32_t take_u8(input_t *input)
{
  if (input->left < 1) return 0;
  input->left--;
  return *input->at++;
}

static void check_sample(struct ddsi_serdata *sample)
{
  size_t size;
  uint8_t copy[8];
  char text[8];
  tb__sample_origin_t origin;
  if (!sample) return;
  tb__raw_sample_origin(sample, &origin);
  const uint8_t *bytes = tb__raw_sample_bytes(sample, &size);
  if (size % 4 != 0 || !tb__cdr_is_valid(bytes, size) || ddsi_serdata_size(sample) != size) abort();
  ddsi_serdata_to_ser(sample, size - 4, sizeof copy, copy);
  if (memcmp(copy, bytes + size - 4, 4) != 0) abort();
  ddsi_serdata_print(sample, text, sizeof text);
  ddsi_serdata_unref(ddsi_serdata_to_untyped(sample));
  ddsi_serdata_unref(sample);
}

/* DDSI never passes a fragment whose bytes are not in its packet, so neither does this. */
static size_t fragments_read(input_t *input, struct nn_rdata *fragments, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    memset(&fragments[i], 0, sizeof fragments[i]);
    fragments[i].min = take_u16(input);
    fragments[i].maxp1 = take_u16(input);
  }
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    struct nn_rdata *fragment = &fragments[i];
    if (fragment->min > fragment->maxp1 || fragment->maxp1 - fragment->min > input->left) continue;
    fragments[kept] = *fragment;
    fragments[kept].payload_zoff = (uint16_t)(input->left - (fragment->maxp1 - fragment->min));
    if (fragments[kept].payload_zoff >= SUBMESSAGE + sizeof(Data_DataFrag_common_t))
      fragments[kept].submsg_zoff = SUBMESSAGE; /* what precedes the payload is its submessage */
    kept++;
  }
  for (size_t i = 1; i < kept; i++)
    fragments[i - 1].nextfrag = &fragments[i];
  return kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static struct ddsi_sertype *type;
  if (!type && !(type = tb__raw_type_create("std_msgs::msg::dds_::String_", false))) return 0;
  input_t input = {data, size};
  struct nn_rdata fragments[FRAGMENTS_MAX];
  size_t claimed = take_u16(&input);
  size_t count = fragments_read(&input, fragments, take_u8(&input) % (FRAGMENTS_MAX + 1));
  struct nn_rmsg *packet = calloc(1, sizeof *packet + input.left);
  if (!packet) return 0;
  memcpy(NN_RMSG_PAYLOAD(packet), input.at, input.left);
  for (size_t i = 0; i < count; i++)
    fragments[i].rmsg = packet;
  check_sample(ddsi_serdata_from_ser(type, SDK_DATA, count ? fragments : NULL, claimed));
  ddsrt_iovec_t parts[2] = {
      {NN_RMSG_PAYLOAD(packet), input.left / 2},
      {NN_RMSG_PAYLOAD(packet) + input.left / 2, input.left - input.left / 2}};
  check_sample(ddsi_serdata_from_ser_iov(type, SDK_DATA, 2, parts, claimed));
  free(packet);
  return 0;
}
