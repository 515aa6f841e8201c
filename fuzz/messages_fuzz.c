/* Any bytes as a message that nodes exchange. The first byte of the input chooses the type; one
 * more than the last is the header of requests. An accepted message must be encoded to the same
 * bytes, in either byte order. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "wire/messages.h"
#include "wire/service_header.h"

static const tb__cdr_type_t *const types[] = {
#define TYPE(name, ros_name, struct_type) &tb__##name##_type,
    TB__MESSAGE_LIST(TYPE)
#undef TYPE
};
#define TYPE_COUNT (sizeof types / sizeof types[0])

static void check_again(const tb__cdr_type_t *type, const void *value, bool big_endian)
{
  uint8_t *bytes, *bytes_again;
  size_t size, size_again;
  void *again;
  if (tb__cdr_encode(type, value, big_endian, &bytes, &size) != TB_OK) abort();
  if (size % 4 != 0 || tb__cdr_decode(type, bytes, size, &again) != TB_OK) abort();
  if (tb__cdr_encode(type, again, big_endian, &bytes_again, &size_again) != TB_OK) abort();
  if (size != size_again || memcmp(bytes, bytes_again, size) != 0) abort();
  free(bytes_again);
  free(again);
  free(bytes);
}

static void check_message(const tb__cdr_type_t *type, const uint8_t *data, size_t size)
{
  void *value = &value;
  if (tb__cdr_decode(type, data, size, &value) != TB_OK) {
    if (value != &value) abort();
    return;
  }
  check_again(type, value, false);
  check_again(type, value, true);
  free(value);
}

static void check_discovery_info(const uint8_t *data, size_t size)
{
  tb__participant_entities_info_t *info;
  bool humble;
  if (tb__participant_entities_info_decode(data, size, &info, &humble) != TB_OK) return;
  check_again(humble ? &tb__participant_entities_info_humble_type
                     : &tb__participant_entities_info_type,
              info, false);
  free(info);
}

static void check_header(const uint8_t *data, size_t size)
{
  tb__service_header_t header;
  if (tb__service_header_read(data, size, &header) != TB_OK) return;
  uint8_t *bytes = malloc(size);
  if (!bytes) return;
  tb__service_header_remove(data, size, bytes);
  if (tb__service_header_insert(&header, bytes, size - TB__SERVICE_HEADER_SIZE, bytes) != TB_OK ||
      memcmp(bytes, data, size) != 0)
    abort();
  free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size == 0) return 0;
  size_t choice = data[0] % (TYPE_COUNT + 1);
  if (choice == TYPE_COUNT)
    check_header(data + 1, size - 1);
  else
    check_message(types[choice], data + 1, size - 1);
  check_discovery_info(data + 1, size - 1);
  return 0;
}
