#include "ros2/dispatch.h"

#include <semaphore.h>

#include "platform/time.h"
#include "test.h"

typedef struct worker {
  tb__dispatch_member_t member; /* first */
  tb__dispatch_t *dispatch;
  sem_t ran, go_on;
  _Atomic int runs;
  int again; /* posts itself so often */
  bool held; /* waits for go_on */
} worker_t;

static void work(tb__dispatch_member_t *member)
{
  worker_t *worker = (worker_t *)(void *)member;
  atomic_fetch_add(&worker->runs, 1);
  if (worker->again > 0) {
    worker->again--;
    tb__dispatch_post(worker->dispatch, member);
  }
  sem_post(&worker->ran);
  while (worker->held && sem_wait(&worker->go_on) != 0)
    ;
}

static void worker_add(worker_t *worker, tb__dispatch_t *dispatch)
{
  *worker = (worker_t){.dispatch = dispatch};
  sem_init(&worker->ran, 0, 0);
  sem_init(&worker->go_on, 0, 0);
  assert_ok(tb__dispatch_add(dispatch, &worker->member, work));
}

static void wait_for(sem_t *semaphore)
{
  while (sem_wait(semaphore) != 0)
    ;
}

static void test_posted_members_run(void **state)
{
  (void)state;
  tb__dispatch_t dispatch;
  worker_t workers[3];
  tb__dispatch_init(&dispatch);
  for (int i = 0; i < 3; i++)
    worker_add(&workers[i], &dispatch);
  workers[1].again = 5;
  for (int i = 0; i < 3; i++)
    tb__dispatch_post(&dispatch, &workers[i].member);
  for (int i = 0; i < 3; i++)
    for (int n = 0; n < (i == 1 ? 6 : 1); n++)
      wait_for(&workers[i].ran);
  for (int i = 0; i < 3; i++)
    tb__dispatch_remove(&dispatch, &workers[(i + 1) % 3].member);
  assert_int_equal(workers[0].runs + workers[2].runs, 2);
  assert_int_equal(workers[1].runs, 6);
  tb__dispatch_fini(&dispatch);
}

static void test_posts_before_a_run_count_once_and_removal_takes_them_back(void **state)
{
  (void)state;
  tb__dispatch_t dispatch;
  worker_t first, second, third;
  tb__dispatch_init(&dispatch);
  worker_add(&first, &dispatch);
  worker_add(&second, &dispatch);
  worker_add(&third, &dispatch);
  first.held = true;
  tb__dispatch_post(&dispatch, &first.member);
  wait_for(&first.ran); /* and holds the thread */
  for (int i = 0; i < 5; i++) {
    tb__dispatch_post(&dispatch, &second.member);
    tb__dispatch_post(&dispatch, &third.member);
  }
  tb__dispatch_remove(&dispatch, &second.member);
  sem_post(&first.go_on);
  wait_for(&third.ran);
  tb__dispatch_remove(&dispatch, &third.member);
  tb__dispatch_remove(&dispatch, &first.member);
  assert_int_equal(first.runs, 1);
  assert_int_equal(second.runs, 0);
  assert_int_equal(third.runs, 1);
  tb__dispatch_fini(&dispatch);
}

static void test_due_members_run_once_however_busy_others_are(void **state)
{
  (void)state;
  tb__dispatch_t dispatch;
  worker_t due, busy, never;
  tb__dispatch_init(&dispatch);
  worker_add(&due, &dispatch);
  worker_add(&busy, &dispatch);
  worker_add(&never, &dispatch);
  busy.again = 1 << 30;
  tb__dispatch_post(&dispatch, &busy.member);
  tb__dispatch_set_due(&dispatch, &never.member, tb__steady_now_ns() + INT64_C(3600000000000));
  tb__dispatch_set_due(&dispatch, &due.member, tb__steady_now_ns() + 1000000);
  wait_for(&due.ran);
  tb__dispatch_remove(&dispatch, &busy.member);
  tb__dispatch_set_due(&dispatch, &due.member, 0);
  wait_for(&due.ran);
  tb__dispatch_remove(&dispatch, &due.member);
  assert_int_equal(due.runs, 2);
  assert_int_equal(never.runs, 0);
  tb__dispatch_remove(&dispatch, &never.member);
  tb__dispatch_fini(&dispatch);
}

typedef struct leaver {
  tb__dispatch_member_t member; /* first */
  tb__dispatch_t *dispatch;
  sem_t finished;
  _Atomic int runs, runs_when_finished;
} leaver_t;

static void leaver_finish(tb__dispatch_member_t *member)
{
  leaver_t *leaver = (leaver_t *)(void *)member;
  atomic_store(&leaver->runs_when_finished, atomic_load(&leaver->runs));
  sem_post(&leaver->finished);
}

static void leave(tb__dispatch_member_t *member)
{
  leaver_t *leaver = (leaver_t *)(void *)member;
  tb__dispatch_post(leaver->dispatch, member); /* taken back by leaving */
  assert_true(tb__dispatch_leave(leaver->dispatch, member, leaver_finish));
  tb__dispatch_post(leaver->dispatch, member); /* of one that is no member */
  atomic_fetch_add(&leaver->runs, 1);
}

static void test_what_leaves_in_its_run_is_finished_after_it(void **state)
{
  (void)state;
  tb__dispatch_t dispatch;
  worker_t other;
  leaver_t leaver = {.dispatch = &dispatch};
  tb__dispatch_init(&dispatch);
  sem_init(&leaver.finished, 0, 0);
  worker_add(&other, &dispatch);
  assert_ok(tb__dispatch_add(&dispatch, &leaver.member, leave));
  assert_false(tb__dispatch_leave(&dispatch, &leaver.member, leaver_finish)); /* not here */
  tb__dispatch_post(&dispatch, &leaver.member);
  wait_for(&leaver.finished);
  tb__dispatch_post(&dispatch, &other.member);
  wait_for(&other.ran);
  assert_int_equal(leaver.runs, 1);
  assert_int_equal(leaver.runs_when_finished, 1);
  tb__dispatch_remove(&dispatch, &other.member);
  tb__dispatch_fini(&dispatch);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_leaves_in_its_run_is_finished_after_it),
      cmocka_unit_test(test_posted_members_run),
      cmocka_unit_test(test_posts_before_a_run_count_once_and_removal_takes_them_back),
      cmocka_unit_test(test_due_members_run_once_however_busy_others_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
