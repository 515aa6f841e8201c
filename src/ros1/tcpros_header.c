#include "ros1/tcpros_header.h"

#include <stdlib.h>
#include <string.h>

tb_status_t tb__tcpros_header_parse(const uint8_t *bytes, size_t size, tb__tcpros_header_t *out,
                                    tb_error_t *error)
{
  out->count = 0;
  for (size_t at = 0; at < size;) {
    uint32_t length = size - at >= 4 ? tb__tcpros_read_u32(bytes + at) : UINT32_MAX;
    if (length > size - at - (size - at >= 4 ? 4 : 0))
      return tb_error_set(error, TB_ERR_CORRUPT,
                          "TCPROS header: the field at byte %zu is longer than the header", at);
    const char *field = (const char *)bytes + at + 4;
    const char *equals = length ? memchr(field, '=', length) : NULL;
    if (!equals || equals == field)
      return tb_error_set(error, TB_ERR_CORRUPT,
                          "TCPROS header: the field at byte %zu is not NAME=VALUE", at);
    if (out->count == TB__TCPROS_FIELDS_MAX)
      return tb_error_set(error, TB_ERR_LIMIT, "TCPROS header: more than %d fields",
                          TB__TCPROS_FIELDS_MAX);
    size_t name_size = (size_t)(equals - field);
    out->fields[out->count++] =
        (tb__tcpros_field_t){field, equals + 1, name_size, length - name_size - 1};
    at += 4 + (size_t)length;
  }
  return TB_OK;
}

/* The last field of that name; NULL: there is none. */
static const tb__tcpros_field_t *find(const tb__tcpros_header_t *header, const char *name)
{
  size_t size = strlen(name);
  for (size_t i = header->count; i-- > 0;) {
    const tb__tcpros_field_t *field = &header->fields[i];
    if (field->name_size == size && memcmp(field->name, name, size) == 0) return field;
  }
  return NULL;
}

bool tb__tcpros_header_get(const tb__tcpros_header_t *header, const char *name, char *out,
                           size_t size)
{
  const tb__tcpros_field_t *field = find(header, name);
  out[0] = '\0';
  if (!field) return false;
  size_t length = field->value_size < size ? field->value_size : size - 1;
  memcpy(out, field->value, length);
  out[length] = '\0';
  return true;
}

char *tb__tcpros_header_copy(const tb__tcpros_header_t *header, const char *name)
{
  const tb__tcpros_field_t *field = find(header, name);
  return field ? strndup(field->value, field->value_size) : strdup("");
}

bool tb__tcpros_header_take_name(const tb__tcpros_header_t *header, char *out, size_t size)
{
  static const char allowed[] = "/_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  bool is_there = tb__tcpros_header_get(header, "callerid", out, size);
  if (out[strspn(out, allowed)] != '\0') out[0] = '\0';
  return is_there;
}

uint8_t *tb__tcpros_header_write(const tb__tcpros_pair_t *pairs, size_t count, size_t *out_size)
{
  size_t size = 4;
  for (size_t i = 0; i < count; i++)
    size += 4 + strlen(pairs[i].name) + 1 + strlen(pairs[i].value);
  uint8_t *bytes = malloc(size);
  if (!bytes) return NULL;
  tb__tcpros_write_u32((uint32_t)(size - 4), bytes);
  uint8_t *at = bytes + 4;
  for (size_t i = 0; i < count; i++) {
    size_t name_size = strlen(pairs[i].name), value_size = strlen(pairs[i].value);
    tb__tcpros_write_u32((uint32_t)(name_size + 1 + value_size), at);
    memcpy(at + 4, pairs[i].name, name_size);
    at[4 + name_size] = '=';
    memcpy(at + 5 + name_size, pairs[i].value, value_size);
    at += 5 + name_size + value_size;
  }
  *out_size = size;
  return bytes;
}
