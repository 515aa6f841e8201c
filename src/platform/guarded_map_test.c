/* A mapping whose file is truncated, and other cases of SIGBUS. What may end a process is done in a
 * child. */
#include "platform/guarded_map.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/thread.h"
#include "test.h"

#define SIZE 4096

static int file_of(size_t size)
{
  char path[] = "/tmp/timebase-map-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  unlink(path);
  assert_int_equal(ftruncate(fd, (off_t)size), 0);
  return fd;
}

static tb__guarded_map_t *map_of(int fd, bool writable)
{
  tb__guarded_map_t *map = NULL;
  assert_ok(tb__guarded_map_create(fd, SIZE, writable, &map));
  return map;
}

/* A page that is not guarded and faults. */
static volatile char *foreign_page(void)
{
  int fd = file_of(0);
  char *page = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
  assert_ptr_not_equal(page, MAP_FAILED);
  close(fd);
  return page;
}

static void test_what_is_cut_reads_as_zeros(void **state)
{
  (void)state;
  int fd = file_of(SIZE);
  assert_int_equal(pwrite(fd, "abc", 3, 1000), 3);
  tb__guarded_map_t *map = map_of(fd, false);
  volatile const char *bytes = tb__guarded_map_memory(map);
  assert_int_equal(bytes[1001], 'b');
  assert_int_equal(ftruncate(fd, 0), 0);
  errno = 77;
  assert_int_equal(bytes[1001], 0);
  assert_int_equal(errno, 77);
  assert_true(tb__guarded_map_is_cut(map));
  assert_false(tb__guarded_map_restore(map, fd));
  assert_int_equal(ftruncate(fd, SIZE), 0);
  assert_int_equal(pwrite(fd, "xyz", 3, 1000), 3);
  assert_true(tb__guarded_map_restore(map, fd));
  assert_int_equal(bytes[1001], 'y');
  assert_false(tb__guarded_map_is_cut(map));
  tb__guarded_map_destroy(map);
  close(fd);
}

static void test_what_is_cut_can_be_written_and_goes_nowhere(void **state)
{
  (void)state;
  int fd = file_of(SIZE);
  tb__guarded_map_t *map = map_of(fd, true), *other = map_of(fd, false);
  volatile char *bytes = tb__guarded_map_memory(map);
  assert_int_equal(ftruncate(fd, 0), 0);
  bytes[0] = 'a';
  assert_int_equal(bytes[0], 'a');
  assert_true(tb__guarded_map_is_cut(map));
  assert_false(tb__guarded_map_is_cut(other));
  assert_int_equal(*(volatile char *)tb__guarded_map_memory(other), 0);
  assert_true(tb__guarded_map_is_cut(other));
  tb__guarded_map_destroy(map);
  tb__guarded_map_destroy(other);
  close(fd);
}

static void *read_byte(void *address)
{
  return *(volatile char *)address ? address : NULL;
}

/* The threads are started with signals blocked. */
static void test_threads_of_the_library_survive(void **state)
{
  (void)state;
  int fd = file_of(SIZE);
  tb__guarded_map_t *map = map_of(fd, false);
  assert_int_equal(ftruncate(fd, 0), 0);
  tb__thread_t thread;
  assert_ok(tb__thread_start(&thread, "reader", read_byte, tb__guarded_map_memory(map)));
  tb__thread_join(&thread);
  assert_true(tb__guarded_map_is_cut(map));
  tb__guarded_map_destroy(map);
  close(fd);
}

/* As those of Cyclone DDS are. */
static void *enter_and_read(void *address)
{
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  tb__guarded_map_enter_thread();
  return read_byte(address);
}

static void test_a_foreign_thread_that_enters_survives(void **state)
{
  (void)state;
  int fd = file_of(SIZE);
  tb__guarded_map_t *map = map_of(fd, false);
  assert_int_equal(ftruncate(fd, 0), 0);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, enter_and_read, tb__guarded_map_memory(map)), 0);
  pthread_join(thread, NULL);
  assert_true(tb__guarded_map_is_cut(map));
  tb__guarded_map_destroy(map);
  close(fd);
}

/* ---- foreign faults and signals ---- */

static volatile sig_atomic_t calls;
static void *volatile fault;

static void note_plain(int signal)
{
  calls += signal == SIGBUS;
}

static void note_and_exit(int signal, siginfo_t *info, void *context)
{
  (void)context;
  _exit(signal == SIGBUS && info->si_code == BUS_ADRERR && info->si_addr == fault ? 7 : 8);
}

static void handle(void (*handler)(int), void (*action)(int, siginfo_t *, void *), int flags)
{
  struct sigaction own = {.sa_flags = flags};
  own.sa_handler = handler;
  if (action) own.sa_sigaction = action;
  assert_int_equal(sigaction(SIGBUS, &own, NULL), 0);
}

/* The exit status of a child that does this with its own guarded mapping. */
static int ends(void (*run)(void))
{
  int status = 0;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    handle(SIG_DFL, NULL, 0); /* without a sanitizer's handler */
    run();
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static tb__guarded_map_t *own_map(void)
{
  return map_of(file_of(SIZE), false);
}

static void touch_foreign(void)
{
  volatile char *page = foreign_page();
  own_map();
  (void)*page;
}

static void ignore_and_touch_foreign(void)
{
  handle(SIG_IGN, NULL, 0);
  touch_foreign();
}

static void handle_and_touch_foreign(void)
{
  handle(NULL, note_and_exit, SA_SIGINFO);
  volatile char *page = foreign_page();
  fault = (void *)page;
  own_map();
  (void)*page;
}

static void be_sent_one(void)
{
  own_map();
  raise(SIGBUS);
}

static void ignore_and_be_sent_one(void)
{
  handle(SIG_IGN, NULL, 0);
  be_sent_one();
  be_sent_one();
}

static void handle_one_sent(void)
{
  handle(note_plain, NULL, 0);
  be_sent_one();
  be_sent_one();
  _exit(calls == 2 ? 7 : 8);
}

static void handle_only_one_sent(void)
{
  handle(note_plain, NULL, (int)SA_RESETHAND);
  own_map();
  raise(SIGBUS);
  raise(SIGBUS);
}

static void assert_killed(int status)
{
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGBUS);
}

static void assert_exit(int status, int code)
{
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), code);
}

static void test_other_faults_and_signals_are_as_before(void **state)
{
  (void)state;
  assert_killed(ends(touch_foreign));
  assert_killed(ends(ignore_and_touch_foreign));
  assert_exit(ends(handle_and_touch_foreign), 7);
  assert_killed(ends(be_sent_one));
  assert_exit(ends(ignore_and_be_sent_one), 0);
  assert_exit(ends(handle_one_sent), 7);
  assert_killed(ends(handle_only_one_sent));
}

static bool handler_is(void (*handler)(int))
{
  struct sigaction now;
  assert_int_equal(sigaction(SIGBUS, NULL, &now), 0);
  return now.sa_handler == handler;
}

static void test_the_handler_before_is_back_after_the_last_mapping(void **state)
{
  (void)state;
  struct sigaction before;
  assert_int_equal(sigaction(SIGBUS, NULL, &before), 0);
  handle(note_plain, NULL, 0);
  for (int i = 0; i < 3; i++) {
    tb__guarded_map_t *first = own_map(), *second = own_map();
    assert_false(handler_is(note_plain));
    tb__guarded_map_destroy(first);
    assert_false(handler_is(note_plain));
    tb__guarded_map_destroy(second);
    assert_true(handler_is(note_plain));
  }
  assert_int_equal(sigaction(SIGBUS, &before, NULL), 0);
}

static struct sigaction ours;

static void chain(int signal, siginfo_t *info, void *context)
{
  calls++;
  ours.sa_sigaction(signal, info, context);
}

/* A handler of the program that is installed later stays installed and calls ours. */
static void test_a_handler_that_comes_later_calls_ours(void **state)
{
  (void)state;
  struct sigaction before, later = {.sa_flags = SA_SIGINFO};
  assert_int_equal(sigaction(SIGBUS, NULL, &before), 0);
  int fd = file_of(SIZE);
  tb__guarded_map_t *map = map_of(fd, false);
  later.sa_sigaction = chain;
  calls = 0;
  assert_int_equal(sigaction(SIGBUS, &later, &ours), 0);
  for (int i = 1; i <= 2; i++) {
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(*(volatile char *)tb__guarded_map_memory(map), 0);
    assert_int_equal(calls, i);
    tb__guarded_map_destroy(map);
    assert_int_equal(sigaction(SIGBUS, NULL, &later), 0);
    assert_ptr_equal(later.sa_sigaction, chain);
    assert_int_equal(ftruncate(fd, SIZE), 0);
    map = map_of(fd, false);
  }
  assert_int_equal(sigaction(SIGBUS, &ours, NULL), 0);
  tb__guarded_map_destroy(map);
  assert_int_equal(sigaction(SIGBUS, NULL, &later), 0);
  assert_ptr_equal(later.sa_sigaction, before.sa_sigaction);
  close(fd);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_cut_reads_as_zeros),
      cmocka_unit_test(test_what_is_cut_can_be_written_and_goes_nowhere),
      cmocka_unit_test(test_threads_of_the_library_survive),
      cmocka_unit_test(test_a_foreign_thread_that_enters_survives),
      cmocka_unit_test(test_other_faults_and_signals_are_as_before),
      cmocka_unit_test(test_the_handler_before_is_back_after_the_last_mapping),
      cmocka_unit_test(test_a_handler_that_comes_later_calls_ours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
