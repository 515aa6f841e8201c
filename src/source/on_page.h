/* Fixture for tests of a time on a page: a clock on a page without a publisher yet, and how a test
 * makes publisher and readers in one process interfere. */
#ifndef TB_SOURCE_ON_PAGE_H
#define TB_SOURCE_ON_PAGE_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/shm_publisher.h>
#include <timebase/shm_source.h>
#include <unistd.h>

#include "clock/clock.h"
#include "clock/page.h"
#include "clock/source.h"
#include "on_manual_source.h"
#include "platform/guarded_map.h"
#include "platform/shared_file.h"

typedef struct shared {
  char directory[64];
  tb_shm_options_t options;
  tb_shm_publisher_t *publisher;
  tb_source_t *source;
  tb_clock_t *clock;
} shared_t;

static inline void path_of(const shared_t *f, char *out, size_t size)
{
  snprintf(out, size, "%s/timebase.test", f->directory);
}

static inline void set_stall_limit(const shared_t *f, int64_t limit_ns)
{
  tb_timeline_options_t options = TB_TIMELINE_OPTIONS_INIT;
  options.stall_limit.ns = limit_ns;
  assert_ok(tb_timeline_set_options(tb_source_timeline(f->source), &options));
}

/* No stall limit: a thread may be stopped between a tick and reading the state. */
static inline int setup_shared(void **state)
{
  static shared_t f;
  f = (shared_t){.directory = "/tmp/timebase-shm-test-XXXXXX", .options = TB_SHM_OPTIONS_INIT};
  trace[0] = '\0';
  assert_non_null(mkdtemp(f.directory));
  f.options.directory = f.directory;
  assert_ok(tb_shm_source_create("test", &f.options, &f.source, NULL));
  set_stall_limit(&f, 0);
  tb_clock_options_t clock = {TB_TIME_ROS, f.source};
  assert_ok(tb_clock_create(&clock, &f.clock));
  *state = &f;
  return 0;
}

static inline int teardown_shared(void **state)
{
  shared_t *f = *state;
  char path[128];
  assert_ok(tb_clock_destroy(f->clock));
  assert_ok(tb_source_destroy(f->source));
  tb_shm_publisher_close(f->publisher);
  path_of(f, path, sizeof path);
  unlink(path);
  assert_int_equal(rmdir(f->directory), 0);
  return 0;
}

static inline void open_publisher(shared_t *f)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_shm_publisher_open("test", &f->options, &f->publisher, &error);
  if (status) fail_msg("%s", error.text);
}

/* For the first publisher: readers notice it a moment later. */
static inline void open_first_publisher(shared_t *f)
{
  open_publisher(f);
  const tb__page_view_t *view = tb_source_timeline(f->source)->view;
  while (!atomic_load(&view->page))
    sched_yield();
}

static inline void tick(const shared_t *f, int64_t time_ns)
{
  assert_ok(tb_shm_publisher_tick(f->publisher, time_ns, TB_JUMP_REASON_NONE));
}

static inline int64_t now_of(const tb_clock_t *clock)
{
  tb_time_t now;
  assert_ok(tb_clock_now(clock, &now));
  return now.ns;
}

/* Thread sanitizer does not know that the two mappings of the page are the same memory. */
static pthread_mutex_t trace_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int jumps_noted __attribute__((unused));

static inline void take_trace(const char *expected)
{
  pthread_mutex_lock(&trace_mutex);
  assert_string_equal(trace, expected);
  trace[0] = '\0';
  pthread_mutex_unlock(&trace_mutex);
}

static inline void note_before(const tb_jump_t *jump, void *user)
{
  pthread_mutex_lock(&trace_mutex);
  TRACE("before %d %lld->%lld now %lld; ", (int)jump->kind, (long long)(jump->before.ns / S),
        (long long)(jump->after.ns / S), (long long)(now_of(user) / S));
  pthread_mutex_unlock(&trace_mutex);
}

static inline void note_after(const tb_jump_t *jump, void *user)
{
  pthread_mutex_lock(&trace_mutex);
  TRACE("after %d now %lld; ", (int)jump->kind, (long long)(now_of(user) / S));
  pthread_mutex_unlock(&trace_mutex);
  atomic_fetch_add(&jumps_noted, 1);
}

static inline void watch(const shared_t *f, int64_t min_forward_ns)
{
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  tb_jump_handler_t *handler;
  options.threshold = (tb_jump_threshold_t){{min_forward_ns}, {-1}, true};
  options.before = note_before;
  options.after = note_after;
  options.user = f->clock;
  assert_ok(tb_jump_handler_create(f->clock, &options, &handler));
}

/* Blocks the threads that follow the page. */
static inline void take_turn(tb_source_t *source)
{
  tb_timeline_t *timeline = tb_source_timeline(source);
  tb__mutex_lock(&timeline->mutex);
  tb__timeline_take_turn_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
}

static inline void end_turn(tb_source_t *source)
{
  tb_timeline_t *timeline = tb_source_timeline(source);
  tb__mutex_lock(&timeline->mutex);
  tb__timeline_end_turn_locked(timeline);
  tb__mutex_unlock(&timeline->mutex);
}

/* Waits until the tick has been followed, while each one is. */
static inline void wait_until_followed(const shared_t *f, int64_t time_ns)
{
  tb_timeline_t *timeline = tb_source_timeline(f->source);
  for (int64_t seen_ns = -1; seen_ns != time_ns; sched_yield()) {
    tb__mutex_lock(&timeline->mutex);
    seen_ns = timeline->time_ns;
    tb__mutex_unlock(&timeline->mutex);
  }
}

static inline tb__page_t *map_page(const shared_t *f, tb__shared_file_t *file)
{
  char path[128];
  path_of(f, path, sizeof path);
  assert_ok(tb__shared_file_open(file, path, TB__PAGE_SIZE, true, 0600, NULL));
  return file->map;
}

/* What the library does at SIGBUS. cmocka sets its own handler at the start of each test, so
 * that the library's, which is set once, is not in place when a reader touches the page just while
 * it is cut. Find it before the tests. */
static struct sigaction guard_action __attribute__((unused));

static inline void find_guard_action(void)
{
  tb__guarded_map_t *map;
  int fd = memfd_create("page", 0);
  if (fd < 0 || ftruncate(fd, TB__PAGE_SIZE) ||
      tb__guarded_map_create(fd, TB__PAGE_SIZE, false, &map))
    return; /* a test that truncates ends by the signal */
  sigaction(SIGBUS, NULL, &guard_action);
  tb__guarded_map_destroy(map);
  close(fd);
}

static inline void restore_guard(void)
{
  assert_int_equal(sigaction(SIGBUS, &guard_action, NULL), 0);
}

#define ON_PAGE(test) cmocka_unit_test_setup_teardown(test, setup_shared, teardown_shared)

#endif
