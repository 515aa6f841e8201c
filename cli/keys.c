#include "keys.h"

#include <stdbool.h>

enum { PLAIN, ESCAPE, SEQUENCE };

static int arrow_of(char byte)
{
  return byte == 'A' ? KEY_UP : byte == 'B' ? KEY_DOWN : byte == 'C' ? KEY_RIGHT : KEY_LEFT;
}

/* As xterm sends them: 2 is Shift, 3 is Alt, 4 both. */
static int modifiers_of(int parameter)
{
  int bits = parameter > 1 && parameter <= 16 ? parameter - 1 : 0;
  return (bits & 1 ? KEY_SHIFT : 0) | (bits & 2 ? KEY_ALT : 0);
}

/* As xterm sends them in mode 1006: M is pressed or moved, m is released; 32 is moved. */
static int end_mouse(const keys_t *keys, char byte)
{
  return byte == 'M' && (keys->first & ~32) == 0 ? KEY_MOUSE : KEY_NONE;
}

static int end_sequence(keys_t *keys, char byte)
{
  keys->state = PLAIN;
  if (keys->is_mouse) return end_mouse(keys, byte);
  if (byte == '~' && keys->first == 5) return KEY_PAGE_UP;
  if (byte == '~' && keys->first == 6) return KEY_PAGE_DOWN;
  return byte >= 'A' && byte <= 'D' ? arrow_of(byte) | modifiers_of(keys->parameter) : KEY_NONE;
}

static int in_sequence(keys_t *keys, char byte)
{
  if (byte == ';') {
    keys->separators++;
  } else if (byte == '<' && keys->separators == 0 && keys->first == 0) {
    keys->is_mouse = true;
  } else if (byte >= '0' && byte <= '9') {
    int *parameter = keys->is_mouse && keys->separators == 1   ? &keys->column
                     : keys->is_mouse && keys->separators == 2 ? &keys->row
                     : keys->separators == 0                   ? &keys->first
                                                               : &keys->parameter;
    if (keys->separators < (keys->is_mouse ? 3 : 2) && *parameter < 100)
      *parameter = 10 * *parameter + (byte - '0');
  } else {
    return end_sequence(keys, byte);
  }
  return KEY_NONE;
}

int keys_take(keys_t *keys, char byte)
{
  if (byte == '\033') {
    *keys = (keys_t){.state = ESCAPE};
    return KEY_NONE;
  }
  if (keys->state == SEQUENCE) return in_sequence(keys, byte);
  if (keys->state == ESCAPE && (byte == '[' || byte == 'O')) {
    keys->state = SEQUENCE;
    return KEY_NONE;
  }
  if (keys->state == ESCAPE) { /* Alt and a key, which has no meaning */
    keys->state = PLAIN;
    return KEY_NONE;
  }
  return byte == '\b' ? KEY_BACKSPACE : (unsigned char)byte;
}

int keys_pause(keys_t *keys)
{
  bool alone = keys->state == ESCAPE;
  *keys = (keys_t){.state = PLAIN};
  return alone ? KEY_ESCAPE : KEY_NONE;
}
