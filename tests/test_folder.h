/* A folder of one test program, that goes with all that is in it. */
#ifndef TB_TEST_FOLDER_H
#define TB_TEST_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

static char test_folder[] = "/tmp/timebase-test-XXXXXX";

static inline int test_folder_remove_one(const char *path, const struct stat *info, int type,
                                         struct FTW *where)
{
  (void)info;
  (void)type;
  (void)where;
  return remove(path);
}

/* Of a group of tests. */
static inline int test_folder_setup(void **state)
{
  (void)state;
  return mkdtemp(test_folder) ? 0 : -1;
}

static inline int test_folder_teardown(void **state)
{
  (void)state;
  return nftw(test_folder, test_folder_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
