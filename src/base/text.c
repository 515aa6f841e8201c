#include <timebase/text.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The length of the UTF-8 character at `text`, with its number in *out; 0: it is not one. */
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
    if ((bytes[i] & 0xC0) != 0x80) return 0; /* this includes the end of the text */
    number = number << 6 | (bytes[i] & 0x3F);
  }
  if (number < least[length] || number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF))
    return 0;
  *out = number;
  return length;
}

/* Controls, line separators, and characters that change the direction of text or are invisible. */
static bool is_harmful(uint32_t number)
{
  return number < 0x20 || (number >= 0x7F && number < 0xA0) || number == 0xAD || number == 0x061C ||
         number == 0x180E || (number >= 0x200B && number <= 0x200F) ||
         (number >= 0x2028 && number <= 0x202E) || (number >= 0x2060 && number <= 0x206F) ||
         (number >= 0xFFF9 && number <= 0xFFFB) || number == 0xFEFF ||
         (number >= 0xE0000 && number <= 0xE007F);
}

/* No snprintf: it is not async-signal-safe. */
static void write_escape(char *out, char kind, uint32_t number, int digits)
{
  *out++ = '\\';
  *out++ = kind;
  while (digits-- > 0)
    *out++ = "0123456789abcdef"[number >> 4 * digits & 0xF];
  *out = '\0';
}

size_t tb_text_escape_character(const char *text, char out[TB_TEXT_CHARACTER_SIZE])
{
  uint32_t number = 0;
  if (!out) return 0;
  out[0] = '\0';
  if (!text || !*text) return 0;
  size_t length = character_at(text, &number);
  if (length == 0)
    write_escape(out, 'x', (unsigned char)*text, 2);
  else if (!is_harmful(number)) {
    memcpy(out, text, length);
    out[length] = '\0';
  } else
    write_escape(out,
                 number < 0x80      ? 'x'
                 : number <= 0xFFFF ? 'u'
                                    : 'U',
                 number,
                 number < 0x80      ? 2
                 : number <= 0xFFFF ? 4
                                    : 8);
  return length ? length : 1;
}

size_t tb_text_escape(const char *text, char *buffer, size_t size)
{
  char one[TB_TEXT_CHARACTER_SIZE];
  size_t used = 0, length = 0;
  if (!buffer) size = 0;
  for (size_t taken; (taken = tb_text_escape_character(text, one)) > 0; text += taken) {
    size_t more = strlen(one);
    if (used == length && length + more < size) {
      memcpy(buffer + used, one, more);
      used += more;
    }
    length += more;
  }
  if (size > 0) buffer[used] = '\0';
  return length;
}
