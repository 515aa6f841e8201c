/* Any bytes as the inline QoS of a sample. The first byte is its byte order. What is found must be
 * within the input, and must be read again from what is written of it. */
#include <stdlib.h>
#include <string.h>

#include "dds/related_identity.h"

#include "fuzz.h"

static bool is_within(const tb__related_identity_t *identity, const uint8_t *list, size_t size)
{
  for (size_t i = 0; i + TB__GUID_SIZE <= size; i += 4)
    if (tb__guid_is(&identity->guid, list + i)) return true;
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const uint16_t one = 1;
  tb__related_identity_t found = {.sequence = 77}, again;
  uint8_t list[TB__RELATED_IDENTITY_SIZE + 4];
  if (size < 1) return 0;
  if (!tb__related_identity_read(data + 1, size - 1, data[0] & 1, &found)) {
    if (found.sequence != 77) abort();
    return 0;
  }
  if (!is_within(&found, data + 1, size - 1)) abort();
  tb__related_identity_write(&found, list);
  memcpy(list + TB__RELATED_IDENTITY_SIZE, (const uint16_t[2]){1, 0}, 4);
  if (!tb__related_identity_read(list, sizeof list, *(const uint8_t *)&one == 0, &again) ||
      !tb__guid_equal(&again.guid, &found.guid) || again.sequence != found.sequence)
    abort();
  return 0;
}
