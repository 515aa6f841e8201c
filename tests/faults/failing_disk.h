/* A disk that fails: calls that change regular files are counted, and some of them fail. As a
 * module for LD_PRELOAD it fails while the file is there that TB_FAIL_DISK names ("ERRNO FLAGS
 * PATH"); in a test, as set by failing_disk_arm. */
#ifndef TB_TEST_FAILING_DISK_H
#define TB_TEST_FAILING_DISK_H

enum {
  FAILING_DISK_SHORT = 1,  /* a write that fails has written half of it */
  FAILING_DISK_SYNCS = 2,  /* only fsync, fdatasync and close fail */
  FAILING_DISK_SHARED = 4, /* only what has -shm in its name */
};

/* The `first`-th call from now on (1: the next one) and the `count` - 1 after it fail with
 * `code`. With `count` 0 none does. */
void failing_disk_arm(long first, long count, int code, int flags);
/* How many calls there were since, and how many of them failed. */
long failing_disk_calls(void);
long failing_disk_failures(void);

#endif
