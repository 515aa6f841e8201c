#include "dds/related_identity.h"

#define PARAMETER_HEADER 4
#define SENTINEL         0x0001u
#define STANDARD         0x0083u /* PID_RELATED_SAMPLE_IDENTITY */
#define FAST_DDS         0x800fu /* the same in Fast DDS before 2.10 */
#define VALUE_SIZE       24

static uint32_t number_read(const uint8_t *at, size_t size, bool big_endian)
{
  uint32_t value = 0;
  for (size_t i = 0; i < size; i++)
    value = value << 8 | at[big_endian ? i : size - 1 - i];
  return value;
}

static tb__related_identity_t value_read(const uint8_t *at, bool big_endian)
{
  uint64_t high = number_read(at + TB__GUID_SIZE, 4, big_endian);
  uint64_t sequence = high << 32 | number_read(at + TB__GUID_SIZE + 4, 4, big_endian);
  tb__related_identity_t identity = {.guid = tb__guid_of(at)};
  memcpy(&identity.sequence, &sequence, sizeof sequence);
  return identity;
}

bool tb__related_identity_read(const void *list, size_t size, bool big_endian,
                               tb__related_identity_t *out)
{
  const uint8_t *at = list;
  tb__related_identity_t found = {.sequence = 0};
  uint32_t found_id = 0;
  while (size >= PARAMETER_HEADER) {
    uint32_t id = number_read(at, 2, big_endian), length = number_read(at + 2, 2, big_endian);
    at += PARAMETER_HEADER;
    size -= PARAMETER_HEADER;
    if (id == SENTINEL) {
      if (found_id) *out = found;
      return found_id != 0;
    }
    if (length > size || length % 4 != 0) return false;
    bool counts = id == STANDARD ? found_id != STANDARD : id == FAST_DDS && !found_id;
    if (counts && length >= VALUE_SIZE) {
      found = value_read(at, big_endian);
      found_id = id;
    }
    at += length;
    size -= length;
  }
  return false;
}

static uint8_t *parameter_write(const tb__related_identity_t *identity, uint16_t id, uint8_t *out)
{
  const uint16_t header[2] = {id, VALUE_SIZE};
  uint64_t sequence = (uint64_t)identity->sequence;
  const uint32_t numbers[2] = {(uint32_t)(sequence >> 32), (uint32_t)sequence};
  memcpy(out, header, PARAMETER_HEADER);
  memcpy(out + PARAMETER_HEADER, identity->guid.bytes, TB__GUID_SIZE);
  memcpy(out + PARAMETER_HEADER + TB__GUID_SIZE, numbers, sizeof numbers);
  return out + PARAMETER_HEADER + VALUE_SIZE;
}

void tb__related_identity_write(const tb__related_identity_t *identity,
                                uint8_t out[TB__RELATED_IDENTITY_SIZE])
{
  parameter_write(identity, STANDARD, parameter_write(identity, FAST_DDS, out));
}
