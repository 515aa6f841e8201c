#include "text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool failed; /* some JSON could not be made */

/* The length of the UTF-8 character at `text`, with its number in *out; 0: it is none. */
static size_t character_at(const char *text, uint32_t *out)
{
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *bytes = (const unsigned char *)text;
  size_t length = bytes[0] < 0x80             ? 1
                  : (bytes[0] & 0xE0) == 0xC0 ? 2
                  : (bytes[0] & 0xF0) == 0xE0 ? 3
                  : (bytes[0] & 0xF8) == 0xF0 ? 4
                                              : 0;
  if (length == 0) return 0;
  uint32_t number = length == 1 ? bytes[0] : bytes[0] & (0x7Fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((bytes[i] & 0xC0) != 0x80) return 0; /* the end of the text is none either */
    number = number << 6 | (bytes[i] & 0x3F);
  }
  if (number < least[length] || number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF))
    return 0;
  *out = number;
  return length;
}

/* Controls, line separators, and what changes the direction of text or is not seen. */
static bool is_harmful(uint32_t number)
{
  return number < 0x20 || (number >= 0x7F && number < 0xA0) || number == 0x061C ||
         (number >= 0x200B && number <= 0x200F) || (number >= 0x2028 && number <= 0x202E) ||
         (number >= 0x2060 && number <= 0x206F) || number == 0xFEFF;
}

int text_print(FILE *out, const char *text)
{
  int columns = 0;
  uint32_t number = 0;
  while (*text) {
    size_t length = character_at(text, &number);
    char escaped[16] = "";
    if (length == 0)
      snprintf(escaped, sizeof escaped, "\\x%02x", (unsigned char)*text);
    else if (is_harmful(number))
      snprintf(escaped, sizeof escaped, number < 0x80 ? "\\x%02x" : "\\u%04x", number);
    if (out && escaped[0])
      fputs(escaped, out);
    else if (out)
      fwrite(text, 1, length, out);
    columns += escaped[0] ? (int)strlen(escaped) : 1;
    text += length ? length : 1;
  }
  return columns;
}

char *text_harmless(const char *text)
{
  char *result = NULL;
  size_t size;
  FILE *out = open_memstream(&result, &size);
  if (!out) return NULL;
  text_print(out, text);
  return fclose(out) == 0 ? result : NULL;
}

int text_columns(const char *text)
{
  return text_print(NULL, text);
}

void text_print_padded(const char *text, int columns)
{
  int used = text_print(stdout, text);
  printf("%*s", columns > used ? columns - used : 0, "");
}

json_t *text_json(const char *text)
{
  static const char replacement[] = "\xEF\xBF\xBD";
  char *valid = malloc(strlen(text) * (sizeof replacement - 1) + 1);
  size_t size = 0;
  uint32_t number;
  if (!valid) return NULL;
  while (*text) {
    size_t length = character_at(text, &number);
    if (length)
      memcpy(valid + size, text, length);
    else
      memcpy(valid + size, replacement, sizeof replacement - 1);
    size += length ? length : sizeof replacement - 1;
    text += length ? length : 1;
  }
  json_t *string = json_stringn(valid, size);
  free(valid);
  return string;
}

void json_put(json_t *object, const char *key, json_t *value)
{
  failed |= json_object_set_new(object, key, value) != 0;
}

void json_push(json_t *array, json_t *value)
{
  failed |= json_array_append_new(array, value) != 0;
}

/* The fewest digits that tell all numbers apart from their neighbours: 0.1, not
 * 0.10000000000000001.
 */
static char *dump(const json_t *root)
{
  for (size_t digits = 15;; digits++) {
    char *text = json_dumps(root, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(digits));
    json_t *again = text && digits < 17 ? json_loads(text, 0, NULL) : NULL;
    bool is_exact = !text || digits >= 17 || json_equal(root, again);
    json_decref(again);
    if (is_exact) return text;
    free(text);
  }
}

int json_finish(const command_t *command, json_t *root, int status)
{
  char *text = failed || !root ? NULL : dump(root);
  json_decref(root);
  if (!text) return command_failed(command, TB_ERR_NO_MEMORY, NULL);
  puts(text);
  free(text);
  return status;
}
