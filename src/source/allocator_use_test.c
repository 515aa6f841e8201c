/* Every object of the core on an allocator of the program: nothing is left at the end. Sanitizers
 * find what is given back to another allocator than it came from: a block begins 16 bytes earlier.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <timebase/allocator.h>
#include <timebase/cancel_token.h>
#include <timebase/condition.h>
#include <timebase/extrapolating_source.h>
#include <timebase/generic.h>
#include <timebase/jump.h>
#include <timebase/rate.h>

#include "on_page.h"

static _Atomic int blocks, taken;

static void *on_allocate(size_t size, void *state)
{
  (void)state;
  atomic_fetch_add(&blocks, 1);
  atomic_fetch_add(&taken, 1);
  return malloc(size);
}

static void on_deallocate(void *memory, void *state)
{
  (void)state;
  atomic_fetch_sub(&blocks, 1);
  free(memory);
}

static void *on_reallocate(void *memory, size_t size, void *state)
{
  (void)state;
  if (!memory) atomic_fetch_add(&blocks, 1);
  return realloc(memory, size);
}

static void *on_zero_allocate(size_t count, size_t size, void *state)
{
  (void)state;
  atomic_fetch_add(&blocks, 1);
  atomic_fetch_add(&taken, 1);
  return calloc(count, size);
}

static void use_timers(fixture_t *f)
{
  tb_timer_t *timer = NULL;
  for (int i = 0; i < 1000; i++) {
    tb_timer_options_t options = TB_TIMER_OPTIONS_INIT;
    options.period.ns = 10 * S;
    options.passive = i % 2;
    options.callback = i % 2 ? NULL : on_timer;
    options.user = (void *)"";
    assert_ok(tb_timer_create(f->queue, f->clock, &options, &timer));
    assert_ok(tb_timer_start(timer));
  }
}

static void test_every_object_gives_back_what_it_took(void **state)
{
  (void)state;
  static const tb_allocator_t allocator = {on_allocate, on_deallocate, on_reallocate,
                                           on_zero_allocate, NULL};
  void *user = NULL;
  assert_ok(tb_allocator_set(&allocator));
  for (int round = 0; round < 2; round++) {
    setup_with_queue(&user);
    fixture_t *f = user;
    tb_cancel_token_t *token = NULL;
    tb_rate_t *rate = NULL;
    tb_cond_t *condition = NULL;
    assert_ok(tb_manual_source_set(f->source, 100 * S));
    use_timers(f);
    assert_ok(tb_cancel_token_create_on_signals(&token));
    assert_ok(tb_rate_create(f->clock, TB_SECONDS(1), &rate));
    assert_ok(tb_cond_create(f->clock, &condition));
    tb_rate_destroy(rate);
    assert_ok(tb_cond_destroy(condition));
    assert_ok(tb_cancel_token_destroy(token));
    teardown_with_queue(&user);
    setup_shared(&user);
    open_first_publisher(user);
    tick(user, 100 * S);
    teardown_shared(&user);
  }
  assert_true(atomic_load(&taken) > 20);
  int left = atomic_load(&blocks);
  if (left > 2)
    fail_msg("%d blocks are left", left); /* entries that are used again: guarded maps */
  assert_status(tb_allocator_set(&allocator), TB_ERR_BUSY);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_object_gives_back_what_it_took),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
