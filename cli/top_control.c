#include "top_control.h"

#include <limits.h>
#include <string.h>

#include "keys.h"

#define CTRL_U 21 /* deletes what is typed, as in a shell */

static void move(top_control_t *control, int rows)
{
  int *at = control->helps ? &control->scrolled : &control->cursor;
  *at = rows < -*at ? 0 : rows > INT_MAX - *at ? INT_MAX : *at + rows;
  control->has_moved = !control->helps;
}

static void sort_by(top_control_t *control, int column)
{
  control->sort = (top_column_t)((column + TOP_COLUMNS) % TOP_COLUMNS);
  control->is_reversed = false;
}

static void take_typed(top_control_t *control, int key)
{
  size_t length = strlen(control->filter);
  if (key == '\r' || key == '\n' || key == KEY_ESCAPE) {
    control->is_typing = false;
    if (key == KEY_ESCAPE) control->filter[0] = '\0';
  } else if (key == KEY_BACKSPACE) {
    if (length)
      control->filter[length - 1] = '\0';
    else
      control->is_typing = false;
  } else if (key == CTRL_U) {
    control->filter[0] = '\0';
  } else if (key > ' ' && key < KEY_BACKSPACE && length + 1 < sizeof control->filter) {
    memcpy(control->filter + length, (char[]){(char)key, '\0'}, 2);
  }
}

static bool take_motion(top_control_t *control, int key)
{
  int page = control->page > 1 ? control->page - 1 : 1;
  switch (key) {
  case KEY_UP:
  case 'k':
    move(control, -1);
    return true;
  case KEY_DOWN:
  case 'j':
    move(control, 1);
    return true;
  case KEY_PAGE_UP:
    move(control, -page);
    return true;
  case KEY_PAGE_DOWN:
    move(control, page);
    return true;
  case 'g':
    move(control, -INT_MAX);
    return true;
  case 'G':
    move(control, INT_MAX);
    return true;
  default:
    return false;
  }
}

top_order_t top_control_take(top_control_t *control, int key)
{
  if (control->is_typing && key != KEY_NONE) {
    take_typed(control, key);
    return TOP_NOTHING;
  }
  if (take_motion(control, key)) return TOP_NOTHING;
  switch (key) {
  case 'q':
    return TOP_QUIT;
  case 'z':
    return TOP_RESTART;
  case ' ':
    control->is_paused = !control->is_paused;
    break;
  case 's':
  case KEY_RIGHT:
    sort_by(control, (int)control->sort + 1);
    break;
  case 'S':
  case KEY_LEFT:
    sort_by(control, (int)control->sort - 1);
    break;
  case 'r':
    control->is_reversed = !control->is_reversed;
    break;
  case 'w':
    control->wrong_only = !control->wrong_only;
    break;
  case '/':
    control->is_typing = true;
    control->helps = false;
    break;
  case '?':
  case 'h':
    control->helps = !control->helps;
    control->scrolled = 0;
    break;
  case KEY_ESCAPE:
    control->helps = false;
    control->filter[0] = '\0';
    control->wrong_only = false;
    break;
  default:
    break;
  }
  return TOP_NOTHING;
}
