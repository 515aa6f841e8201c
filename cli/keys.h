/* What keys mean that a terminal sends: bytes, and sequences of them for arrows. */
#ifndef TB_CLI_KEYS_H
#define TB_CLI_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum {
  KEY_NONE = 0,
  KEY_BACKSPACE = 127, /* others that have a byte of their own are that byte */
  KEY_LEFT = 256,
  KEY_RIGHT,
  KEY_UP,
  KEY_DOWN,
  KEY_PAGE_UP,
  KEY_PAGE_DOWN,
  KEY_ESCAPE,
  KEY_MOUSE,        /* the left button is pressed, or moved while it is: keys_t.column and row */
  KEY_SHIFT = 1024, /* together with an arrow */
  KEY_ALT = 2048,
};

/* Where in a sequence a byte is the next one. Zeroed at first; bytes may come one by one. */
typedef struct keys {
  int state;
  int first; /* parameter, which decides the key where the last byte does not; of a mouse the button
              */
  int parameter; /* the second parameter: Shift and Alt */
  int separators;
  bool is_mouse;
  int column, row; /* of KEY_MOUSE, counted from 1 */
} keys_t;

/* The key that is complete with this byte, or KEY_NONE. */
int keys_take(keys_t *keys, char byte);

/* Nothing has come for a while: KEY_ESCAPE if that was all of the sequence, else KEY_NONE. */
int keys_pause(keys_t *keys);

#endif
