/* The fixture of each test of a program: a folder; and `path`, that of a file in it, where
 * FIXTURE_FILE was defined as its name before this is included. */
#ifndef TB_BAG_FILE_FIXTURE_H
#define TB_BAG_FILE_FIXTURE_H

#include <stdlib.h>

#include "bag/test_bag.h"

static char *folder;
#ifdef FIXTURE_FILE
static char *path;
#endif

static inline int make_folder(void **state)
{
  (void)state;
  folder = tb__test_folder_make();
#ifdef FIXTURE_FILE
  path = tb__test_path(folder, FIXTURE_FILE);
#endif
  return 0;
}

static inline int remove_folder(void **state)
{
  (void)state;
#ifdef FIXTURE_FILE
  free(path);
#endif
  tb__test_folder_remove(folder);
  return 0;
}

#endif
