#include "storage/clean.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_SIZE 4 /* of "\x1b" */

/* Bytes of the character at the front of a text; 0: none that YAML can hold. */
static size_t character_size(const char *at)
{
  const unsigned char *text = (const unsigned char *)at;
  if (*text < 0x80) return *text >= 0x20 || *text == '\t' || *text == '\n' ? *text != 0x7f : 0;
  size_t size = *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2;
  if (*text < 0xc2 || *text > 0xf4) return 0;
  uint32_t code = *text & (0xffU >> (size + 1));
  for (size_t i = 1; i < size; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (text[i] & 0x3fU);
  }
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  bool usable = code >= 0xa0 && (code < 0xd800 || code > 0xdfff) && code < 0x110000 &&
                (code & 0xfffe) != 0xfffe;
  return usable && code >= least[size] ? size : 0;
}

bool tb__yaml_can_hold(const char *text)
{
  for (const char *c = text; *c;) {
    size_t size = character_size(c);
    if (size == 0) return false;
    c += size;
  }
  return true;
}

char *tb__bag_clean(const void *bytes, size_t size, bool *changed)
{
  if (size > (SIZE_MAX - 1) / (ESCAPE_SIZE + 1)) return NULL;
  char *copy = malloc(size + 1); /* with an end, so that no character goes past it */
  char *clean = malloc(ESCAPE_SIZE * size + 1);
  if (copy && clean) {
    if (size) memcpy(copy, bytes, size);
    copy[size] = '\0';
    char *out = clean;
    for (size_t at = 0; at < size;) {
      size_t length = character_size(copy + at);
      if (length == 0) {
        out += snprintf(out, ESCAPE_SIZE + 1, "\\x%02x", (unsigned char)copy[at++]);
        if (changed) *changed = true;
        continue;
      }
      memcpy(out, copy + at, length);
      out += length;
      at += length;
    }
    *out = '\0';
  } else {
    free(clean);
    clean = NULL;
  }
  free(copy);
  return clean;
}

void tb__bag_name_as_ros(char *topic, char *type)
{
  static const char inner[] = "::msg::dds_::";
  char *found = strstr(type, inner);
  size_t length = strlen(type);
  bool is_type = found && found > type && type[length - 1] == '_' &&
                 length > (size_t)(found - type) + sizeof inner; /* with a name after it */
  if (is_type) {
    type[length - 1] = '\0';
    memcpy(found, "/msg/", 5);
    memmove(found + 5, found + sizeof inner - 1, strlen(found + sizeof inner - 1) + 1);
  }
  if (strncmp(topic, "rt/", 3) == 0 && topic[3] && strstr(type, "/msg/"))
    memmove(topic, topic + 2, strlen(topic + 2) + 1);
}
