/* Tokens that signals cancel. */
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <timebase/cancel_token.h>
#include <timebase/sleep.h>
#include <unistd.h>

#include "forking.h"
#include "on_manual_source.h"
#include "platform/mutex.h"

static _Atomic int handled;

static void on_signal(int signal)
{
  (void)signal;
  atomic_fetch_add(&handled, 1);
}

static tb_status_t sleep_with(fixture_t *f, tb_cancel_token_t *token)
{
  tb_wait_options_t options = {.token = token};
  return tb_clock_sleep_for(f->clock, TB_SECONDS(3600), &options);
}

static void test_S5_a_signal_cancels_the_waits(void **state)
{
  fixture_t *f = *state;
  static const int signals[] = {SIGINT, SIGTERM};
  tb_cancel_token_t *token = NULL, *other = NULL;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_ok(tb_cancel_token_create_on_signals(&token));
  assert_ok(tb_cancel_token_create_on_signals(&other));
  for (int i = 0; i < 2; i++) {
    assert_false(tb_cancel_token_is_cancelled(token));
    assert_int_equal(kill(getpid(), signals[i]), 0);
    assert_status(sleep_with(f, token), TB_ERR_CANCELLED);
    assert_status(sleep_with(f, other), TB_ERR_CANCELLED);
    tb_cancel_token_reset(other);
    tb_cancel_token_reset(token);
  }
  assert_ok(tb_cancel_token_destroy(other));
  assert_int_equal(raise(SIGINT), 0);
  assert_status(sleep_with(f, token), TB_ERR_CANCELLED);
  assert_ok(tb_cancel_token_destroy(token));
}

static void test_S5_the_program_s_own_handlers_are_called_and_come_back(void **state)
{
  fixture_t *f = *state;
  struct sigaction own = {.sa_handler = on_signal}, now;
  struct sigaction before;
  assert_int_equal(sigaction(SIGINT, &own, &before), 0);
  atomic_store(&handled, 0);
  tb_cancel_token_t *token = NULL;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_ok(tb_cancel_token_create_on_signals(&token));
  assert_int_equal(raise(SIGINT), 0);
  assert_int_equal(atomic_load(&handled), 1);
  assert_status(sleep_with(f, token), TB_ERR_CANCELLED);
  assert_int_equal(raise(SIGINT), 0);
  assert_int_equal(atomic_load(&handled), 2);
  assert_ok(tb_cancel_token_destroy_within(token, TB_SECONDS(60)));
  assert_int_equal(sigaction(SIGINT, &before, &now), 0);
  assert_true(now.sa_handler == on_signal);
}

static struct sigaction below;

static void on_signal_first(int signal, siginfo_t *info, void *context)
{
  atomic_fetch_add(&handled, 1);
  below.sa_sigaction(signal, info, context);
}

/* It stays on top when the token ends, so ours stays below it, and is not put on top of it. */
static void test_S5_a_handler_that_calls_the_one_before_is_called_once(void **state)
{
  fixture_t *f = *state;
  struct sigaction own = {.sa_sigaction = on_signal_first, .sa_flags = SA_SIGINFO}, before;
  tb_cancel_token_t *token = NULL;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_int_equal(sigaction(SIGINT, NULL, &before), 0);
  assert_ok(tb_cancel_token_create_on_signals(&token));
  assert_int_equal(sigaction(SIGINT, &own, &below), 0);
  for (int i = 0; i < 2; i++) {
    assert_ok(tb_cancel_token_destroy_within(token, TB_SECONDS(60)));
    assert_ok(tb_cancel_token_create_on_signals(&token));
    atomic_store(&handled, 0);
    assert_int_equal(raise(SIGINT), 0);
    assert_int_equal(atomic_load(&handled), 1);
    assert_status(sleep_with(f, token), TB_ERR_CANCELLED);
  }
  assert_ok(tb_cancel_token_destroy_within(token, TB_SECONDS(60)));
  assert_int_equal(sigaction(SIGINT, &before, NULL), 0);
}

/* In a child, so that this process lives. */
static int status_of_child(int signals_sent, bool destroys)
{
  pid_t child = fork();
  if (child == 0) {
    tb_cancel_token_t *token = NULL;
    if (tb_cancel_token_create_on_signals(&token)) _exit(90);
    if (destroys && tb_cancel_token_destroy(token)) _exit(91);
    for (int i = 0; i < signals_sent; i++)
      raise(SIGTERM);
    _exit(7);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void test_S5_a_second_signal_does_what_it_did_before(void **state)
{
  (void)state;
  int status = status_of_child(1, false);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 7);
  status = status_of_child(2, false);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGTERM);
  status = status_of_child(1, true);
  assert_true(WIFSIGNALED(status));
}

/* The parent's token does not keep a child alive. */
static void test_C7_a_child_ends_by_the_signal(void **state)
{
  (void)state;
#ifdef TB__THREAD_SANITIZER
  skip(); /* it holds signals back, also from a child */
#endif
  tb_cancel_token_t *token = NULL;
  assert_ok(tb_cancel_token_create_on_signals(&token));
  pid_t child = fork();
  if (child == 0) {
    raise(SIGINT);
    _exit(7);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_false(tb_cancel_token_is_cancelled(token));
  assert_ok(tb_cancel_token_destroy(token));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_S5_a_second_signal_does_what_it_did_before), /* before any object */
      WITH_CLOCK(test_S5_a_signal_cancels_the_waits),
      WITH_CLOCK(test_S5_the_program_s_own_handlers_are_called_and_come_back),
      WITH_CLOCK(test_S5_a_handler_that_calls_the_one_before_is_called_once),
      cmocka_unit_test(test_C7_a_child_ends_by_the_signal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
