/* A page as releases without a wake area have it, written and read by code that knows nothing of
 * the present headers: these programs and the present ones work together on one page. */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <timebase/sleep.h>

#include "platform/time.h"
#include "source/on_page.h"
#include "source/wake_area.h"

/* Format 2, as first released. */
typedef struct old_slot {
  _Alignas(64) int64_t time_ns;
  uint64_t epoch;
  int64_t steady_ns;
  double rate;
  int64_t until_ns;
  int64_t before_ns;
  uint64_t publishers;
  uint32_t state;
  uint16_t reason;
  uint16_t jump_reason;
} old_slot_t;

typedef struct old_page {
  _Atomic uint64_t magic, format, time_namespace;
  _Alignas(64) _Atomic uint64_t version;
  _Atomic int64_t alive_ns;
  _Alignas(64) _Atomic uint32_t tick_word;
  _Alignas(64) _Atomic uint32_t epoch_word;
  old_slot_t slots[2];
  _Alignas(64) _Atomic uint64_t ended_epoch;
  _Atomic int64_t end_ns[256];
} old_page_t;

_Static_assert(sizeof(old_slot_t) == 64 && sizeof(old_page_t) == 2496, "as it was");

typedef struct old_program {
  int fd;
  old_page_t *page;
} old_program_t;

static old_program_t old_open(const shared_t *f, bool writes)
{
  char path[128];
  path_of(f, path, sizeof path);
  old_program_t old = {.fd = open(path, writes ? O_RDWR : O_RDONLY)};
  assert_true(old.fd >= 0);
  old.page = mmap(NULL, 4096, writes ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, old.fd, 0);
  assert_true(old.page != MAP_FAILED);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (writes) assert_int_equal(fcntl(old.fd, F_OFD_SETLK, &lock), 0);
  return old;
}

static void old_close(old_program_t *old)
{
  munmap(old->page, 4096);
  close(old->fd);
}

static old_slot_t *old_current(const old_program_t *old)
{
  return &old->page->slots[atomic_load(&old->page->version) & 1];
}

static void old_wake(_Atomic uint32_t *word)
{
  atomic_fetch_add(word, 1);
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void old_publish(const old_program_t *old, old_slot_t slot)
{
  bool jumps = slot.epoch != old_current(old)->epoch;
  uint64_t next = atomic_load(&old->page->version) + 1;
  old->page->slots[next & 1] = slot;
  atomic_store(&old->page->alive_ns, tb__steady_coarse_now_ns());
  atomic_store(&old->page->version, next);
  old_wake(&old->page->tick_word);
  if (jumps) old_wake(&old->page->epoch_word);
}

static void old_end_epoch(const old_program_t *old, old_slot_t *slot)
{
  atomic_store(&old->page->ended_epoch, slot->epoch);
  atomic_store(&old->page->end_ns[slot->epoch % 256], slot->time_ns);
  slot->before_ns = slot->time_ns;
  slot->epoch++;
}

static void old_take_over(const old_program_t *old)
{
  old_slot_t slot = *old_current(old);
  old_end_epoch(old, &slot);
  slot.publishers++;
  slot.time_ns = slot.steady_ns = slot.until_ns = 0;
  slot.rate = 0;
  slot.state = TB_CLOCK_WAITING;
  slot.reason = slot.jump_reason = TB_JUMP_REASON_SOURCE_REPLACED;
  old_publish(old, slot);
}

static void old_tick(const old_program_t *old, int64_t time_ns)
{
  old_slot_t slot = *old_current(old);
  if ((slot.time_ns == 0) != (time_ns == 0) || time_ns < slot.time_ns) old_end_epoch(old, &slot);
  slot.time_ns = slot.until_ns = time_ns;
  slot.state = TB_CLOCK_RUNNING;
  slot.reason = TB_JUMP_REASON_NONE;
  old_publish(old, slot);
}

static bool is_woken_when_due(const shared_t *f)
{
  tb_shm_status_t status;
  assert_ok(tb_shm_source_status(f->source, &status));
  return status.is_woken_when_due;
}

static _Atomic int rounds_slept;

static void *sleep_each_second(void *argument)
{
  const shared_t *f = argument;
  for (int64_t i = 21; i < 30; i++) {
    assert_ok(tb_clock_sleep_until(f->clock, (tb_time_t){i * S, TB_TIME_ROS}, NULL));
    atomic_fetch_add(&rounds_slept, 1);
  }
  return NULL;
}

/* The present publisher has told of its area, and what it told is still there. */
static void test_X10_a_publisher_of_an_earlier_release_is_followed(void **state)
{
  shared_t *f = *state;
  pthread_t thread;
  open_first_publisher(f);
  tick(f, 10 * S);
  while (!is_woken_when_due(f))
    sched_yield();
  tb_shm_publisher_close(f->publisher);
  f->publisher = NULL;
  old_program_t old = old_open(f, true);
  old_take_over(&old);
  old_tick(&old, 20 * S);
  while (is_woken_when_due(f))
    sched_yield();
  assert_int_equal(now_of(f->clock), 20 * S);
  assert_int_equal(pthread_create(&thread, NULL, sleep_each_second, f), 0);
  for (int i = 1; i < 10; i++) {
    old_tick(&old, (20 + i) * S);
    while (atomic_load(&rounds_slept) < i)
      sched_yield();
  }
  pthread_join(thread, NULL);
  old_tick(&old, 5 * S);
  assert_int_equal(now_of(f->clock), 5 * S);
  old_close(&old);
  open_publisher(f); /* and the present one after that */
  tick(f, 7 * S);
  while (!is_woken_when_due(f))
    sched_yield();
  assert_int_equal(now_of(f->clock), 7 * S);
}

typedef struct old_reader {
  old_program_t program;
  _Atomic int64_t seen_ns;
  _Atomic bool ends;
} old_reader_t;

static void *old_follow(void *argument)
{
  old_reader_t *reader = argument;
  const old_page_t *page = reader->program.page;
  while (!atomic_load(&reader->ends)) {
    uint32_t seen = atomic_load(&page->tick_word);
    assert_int_equal(atomic_load(&page->format), 2);
    atomic_store(&reader->seen_ns, old_current(&reader->program)->time_ns);
    syscall(SYS_futex, &page->tick_word, FUTEX_WAIT, seen, NULL, NULL, 0);
  }
  return NULL;
}

static void test_X10_readers_of_an_earlier_release_follow_each_tick(void **state)
{
  shared_t *f = *state;
  pthread_t thread;
  open_first_publisher(f);
  tick(f, 10 * S);
  old_reader_t reader = {.program = old_open(f, false)};
  assert_int_equal(atomic_load(&reader.program.page->format), 2);
  assert_int_equal(pthread_create(&thread, NULL, old_follow, &reader), 0);
  for (int64_t i = 11; i < 100; i++) {
    tick(f, i * S);
    while (atomic_load(&reader.seen_ns) != i * S)
      sched_yield();
  }
  atomic_store(&reader.ends, true);
  tick(f, 100 * S);
  pthread_join(thread, NULL);
  old_close(&reader.program);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      ON_PAGE(test_X10_a_publisher_of_an_earlier_release_is_followed),
      ON_PAGE(test_X10_readers_of_an_earlier_release_follow_each_tick),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
