/* For tests of libtimebase-rcl: a shared time that the test moves, which this process's ROS clocks
 * follow. */
#ifndef TB_TEST_RCL_FOLLOWING_H
#define TB_TEST_RCL_FOLLOWING_H

#include <sched.h>
#include <stdlib.h>
#include <timebase/shm_publisher.h>
#include <timebase/shm_readers.h>
#include <unistd.h>

#include "standin.h"
#include "test.h"

#define S (INT64_C(1000000000))

static tb_shm_publisher_t *publisher;

/* Before the first call of librcl. */
static inline void following_begin(void)
{
  char name[64], source[80];
  snprintf(name, sizeof name, "rcl-test-%ld", (long)getpid());
  snprintf(source, sizeof source, "shm:%s", name);
  assert_ok(tb_shm_publisher_open(name, NULL, &publisher, NULL));
  setenv("TIMEBASE_SOURCE", source, 1);
}

static inline void following_end(void)
{
  static const char *const files[] = {"timebase", "timebase-wake1"};
  tb_shm_publisher_close(publisher);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[80];
    snprintf(path, sizeof path, "/dev/shm/%s.rcl-test-%ld", files[i], (long)getpid());
    unlink(path);
  }
}

static inline void publish(int64_t time_ns)
{
  assert_ok(tb_shm_publisher_tick(publisher, time_ns, TB_JUMP_REASON_NONE));
}

/* Until the thread that follows has its wake slot: clocks can be read before. */
static inline void wait_for_slot(void)
{
  char name[64];
  size_t count;
  snprintf(name, sizeof name, "rcl-test-%ld", (long)getpid());
  do {
    tb_shm_readers_t *readers;
    assert_ok(tb_shm_readers_create(name, NULL, &readers, NULL));
    count = readers->count;
    tb_shm_readers_destroy(readers);
    sched_yield();
  } while (count == 0);
}

static inline int64_t now_of(rcl_clock_t *clock)
{
  int64_t now_ns;
  assert_int_equal(rcl_clock_get_now(clock, &now_ns), RCL_RET_OK);
  return now_ns;
}

/* Until this process has dispatched it. */
static inline void wait_for_time(rcl_clock_t *clock, int64_t time_ns)
{
  while (now_of(clock) != time_ns)
    sched_yield();
}

static inline void publish_and_wait(rcl_clock_t *clock, int64_t time_ns)
{
  publish(time_ns);
  wait_for_time(clock, time_ns);
}

static inline rcl_clock_t ros_clock(void)
{
  rcl_clock_t clock;
  rcl_allocator_t allocator = standin_allocator();
  assert_int_equal(rcl_clock_init(RCL_ROS_TIME, &clock, &allocator), RCL_RET_OK);
  return clock;
}

#endif
