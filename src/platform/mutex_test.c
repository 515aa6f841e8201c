#include "platform/mutex.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "test.h"

#define THREADS 4
#define TURNS   5000

static tb__mutex_t mutex = TB__MUTEX_INIT;
static int inside, turns; /* by `mutex` */
static _Atomic int strangers, spoilt_errno;

/* Gives the processor away while it holds the mutex, so that the others come to wait. */
static void *take_turns(void *argument)
{
  (void)argument;
  errno = 0;
  for (int i = 0; i < TURNS; i++) {
    tb__mutex_lock(&mutex);
    strangers += inside++ != 0;
    if (i % 4 == 0) sched_yield();
    turns++;
    inside--;
    tb__mutex_unlock(&mutex);
    if (i % 64 == 0) sched_yield();
  }
  spoilt_errno += errno != 0;
  return NULL;
}

/* A wake-up that is lost would leave a thread behind: this would never end. */
static void one_at_a_time_and_nobody_left_behind(void **state)
{
  (void)state;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, take_turns, NULL), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  assert_int_equal(strangers, 0);
  assert_int_equal(turns, THREADS * TURNS);
  assert_int_equal(spoilt_errno, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_at_a_time_and_nobody_left_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
