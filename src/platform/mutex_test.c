#include "platform/mutex.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "test.h"

#define THREADS 4
#define TURNS   5000

static tb__mutex_t mutex = TB__MUTEX_INIT;
static int inside, turns; /* by `mutex` */
static _Atomic int intruders, changed_errno;

/* Yields while it holds the mutex, so that the other threads have to wait. */
static void *take_turns(void *argument)
{
  (void)argument;
  errno = 0;
  for (int i = 0; i < TURNS; i++) {
    tb__mutex_lock(&mutex);
    intruders += inside++ != 0;
    if (i % 4 == 0) sched_yield();
    turns++;
    inside--;
    tb__mutex_unlock(&mutex);
    if (i % 64 == 0) sched_yield();
  }
  changed_errno += errno != 0;
  return NULL;
}

/* A lost wake-up would leave a thread blocked: the test would not end. */
static void test_one_thread_at_a_time_and_no_lost_wakeup(void **state)
{
  (void)state;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, take_turns, NULL), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  assert_int_equal(intruders, 0);
  assert_int_equal(turns, THREADS * TURNS);
  assert_int_equal(changed_errno, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_thread_at_a_time_and_no_lost_wakeup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
