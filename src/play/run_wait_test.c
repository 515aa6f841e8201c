/* What ends tb_player_run early: its wait options. */
#include <timebase/cancel_token.h>

#include "play/on_clock_fixture.h"

typedef struct waiting {
  stage_t stage; /* first */
  tb_wait_options_t options;
  tb_status_t status;
  tb_error_t error;
} waiting_t;

static void *run(void *user)
{
  waiting_t *w = user;
  w->status = tb_player_run(w->stage.f.player, &w->options, &w->error);
  return NULL;
}

/* On a clock: the player and its options wait on it. */
static void waiting_start(waiting_t *w, tb_wait_options_t options)
{
  *w = (waiting_t){.options = options};
  stage_init(&w->stage, four, COUNT(four));
  fixture_create(&w->stage.f);
  assert_ok(tb_manual_source_set(w->stage.source, BEGIN_NS));
  assert_int_equal(pthread_create(&w->stage.thread, NULL, run, w), 0);
  assert_ok(tb_manual_source_wait_for_sleepers(w->stage.source, 2, NULL));
}

static void waiting_end(waiting_t *w, tb_status_t expected)
{
  assert_int_equal(pthread_join(w->stage.thread, NULL), 0);
  assert_status(w->status, expected);
  tb_player_status_t status = fixture_status(&w->stage.f);
  assert_true(status.finished && !status.running);
  assert_int_equal(status.messages, 1);
  if (!strstr(w->error.text, tb_status_message(expected))) fail_msg("%s", w->error.text);
  stage_close(&w->stage);
}

static void test_S5_a_token_ends_it(void **state)
{
  (void)state;
  waiting_t w;
  tb_cancel_token_t *token;
  assert_ok(tb_cancel_token_create(&token));
  waiting_start(&w, (tb_wait_options_t){.token = token});
  tb_cancel_token_cancel(token);
  waiting_end(&w, TB_ERR_CANCELLED);
  tb_cancel_token_reset(token);
  waiting_start(&w, (tb_wait_options_t){.token = token});
  assert_ok(tb_cancel_token_destroy(token));
  waiting_end(&w, TB_ERR_CLOSED);
}

static void test_S5_a_limit_ends_it(void **state)
{
  (void)state;
  waiting_t w;
  waiting_start(&w, (tb_wait_options_t){.limit = {5 * MS}});
  pass_steady_ms(5);
  waiting_end(&w, TB_ERR_TIMEOUT);
}

static void test_S3_jumps_of_its_clock_end_it(void **state)
{
  (void)state;
  waiting_t w;
  waiting_start(&w, (tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_BACKWARD});
  assert_ok(tb_manual_source_set(w.stage.source, BEGIN_NS - S));
  waiting_end(&w, TB_ERR_JUMP_BACKWARD);
  waiting_start(&w, (tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_CLOCK_CHANGE});
  assert_ok(tb_clock_set_source(w.stage.clock, NULL));
  waiting_end(&w, TB_ERR_CLOCK_CHANGED);
}

/* The watching thread may not have run by then. */
static void cancel_and_reset(void *token)
{
  tb_cancel_token_cancel(token);
  tb_cancel_token_reset(token);
}

static void jump_back_and_forth(void *source)
{
  assert_ok(tb_manual_source_set(source, BEGIN_NS - S));
  assert_ok(tb_manual_source_set(source, BEGIN_NS));
}

static void expect_end_at_settle(tb_wait_options_t options, void (*on_settle)(void *user),
                                 void *user, tb_status_t expected)
{
  waiting_t w = {.options = options};
  fixture_t *f = &w.stage.f;
  fixture_init(f, four, COUNT(four));
  f->options.start_paused = true;
  f->fake.user = user;
  f->fake.on_settle = on_settle;
  assert_ok(tb_player_create(f->reader, &f->transport, &f->options, &f->player, NULL));
  run(&w);
  assert_status(w.status, expected);
  assert_int_equal(f->fake.messages, 0);
  fixture_fini(f);
}

static void test_S5_what_happens_at_the_very_start_ends_it(void **state)
{
  (void)state;
  tb_cancel_token_t *token;
  tb_source_t *source;
  tb_clock_t *clock;
  assert_ok(tb_cancel_token_create(&token));
  assert_ok(tb_manual_source_create(&source));
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &clock));
  assert_ok(tb_manual_source_set(source, BEGIN_NS));
  for (int i = 0; i < 200; i++) {
    expect_end_at_settle((tb_wait_options_t){.token = token}, cancel_and_reset, token,
                         TB_ERR_CANCELLED);
    expect_end_at_settle((tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_BACKWARD, .clock = clock},
                         jump_back_and_forth, source, TB_ERR_JUMP_BACKWARD);
  }
  assert_ok(tb_cancel_token_destroy(token));
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
}

/* On steady time. */
static void test_it_may_come_to_its_end(void **state)
{
  (void)state;
  static const tb__fake_message_t one[] = {AT(1000)};
  tb_cancel_token_t *token;
  fixture_t f;
  fixture_init(&f, one, COUNT(one));
  fixture_create(&f);
  assert_ok(tb_cancel_token_create(&token));
  const tb_wait_options_t options = {
      .flags = TB_WAIT_FAIL_ON_ANY, .forward_min = {1}, .limit = {INT64_MAX}, .token = token};
  assert_ok(tb_player_run(f.player, &options, NULL));
  assert_string_equal(f.fake.trace, "settle @0 /a flush");
  assert_ok(tb_cancel_token_destroy(token));
  fixture_fini(&f);
}

static void test_what_cannot_begin_plays_nothing(void **state)
{
  (void)state;
  tb_cancel_token_t *token;
  tb_error_t error = TB_ERROR_INIT;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_create(&f);
  const tb_wait_options_t bad = {.flags = 1u << 31};
  assert_status(tb_player_run(f.player, &bad, &error), TB_ERR_INVALID);
  assert_ok(tb_cancel_token_create(&token));
  tb_cancel_token_cancel(token);
  const tb_wait_options_t cancelled = {.token = token};
  assert_status(tb_player_run(f.player, &cancelled, &error), TB_ERR_CANCELLED);
  const tb_wait_options_t at_once = {.limit = TB_NO_WAIT};
  assert_status(tb_player_run(f.player, &at_once, &error), TB_ERR_TIMEOUT);
  assert_null(f.fake.trace);
  tb_cancel_token_reset(token);
  assert_ok(tb_player_run(f.player, &cancelled, &error)); /* it has not played yet */
  assert_status(tb_player_run(f.player, &cancelled, &error), TB_ERR_INVALID);
  assert_ok(tb_cancel_token_destroy(token));
  fixture_fini(&f);
}

/* The system's steady clock, which runs. */
static void test_a_limit_without_a_clock(void **state)
{
  (void)state;
  waiting_t w = {.options = {.limit = {MS}}};
  fixture_t *f = &w.stage.f;
  fixture_init(f, four, COUNT(four));
  f->options.start_paused = true;
  assert_ok(tb_player_create(f->reader, &f->transport, &f->options, &f->player, NULL));
  run(&w);
  assert_status(w.status, TB_ERR_TIMEOUT);
  assert_int_equal(f->fake.messages, 0);
  fixture_fini(f);
}

/* The player is on steady time, or on another clock. */
static void test_S3_the_options_may_name_a_clock(void **state)
{
  (void)state;
  waiting_t w = {0};
  fixture_t *f = &w.stage.f;
  fixture_init(f, four, COUNT(four));
  f->options.start_paused = true;
  assert_ok(tb_manual_source_create(&w.stage.source));
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, w.stage.source}, &w.stage.clock));
  assert_ok(tb_manual_source_set(w.stage.source, BEGIN_NS));
  w.options = (tb_wait_options_t){.flags = TB_WAIT_FAIL_ON_BACKWARD, .clock = w.stage.clock};
  assert_ok(tb_player_create(f->reader, &f->transport, &f->options, &f->player, NULL));
  assert_int_equal(pthread_create(&w.stage.thread, NULL, run, &w), 0);
  assert_ok(tb_manual_source_wait_for_sleepers(w.stage.source, 1, NULL));
  assert_ok(tb_manual_source_set(w.stage.source, BEGIN_NS - S));
  assert_int_equal(pthread_join(w.stage.thread, NULL), 0);
  assert_status(w.status, TB_ERR_JUMP_BACKWARD);
  fixture_fini(f);
  assert_ok(tb_clock_destroy(w.stage.clock));
  assert_ok(tb_source_destroy(w.stage.source));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_S5_a_token_ends_it),
      cmocka_unit_test(test_S5_a_limit_ends_it),
      cmocka_unit_test(test_S3_jumps_of_its_clock_end_it),
      cmocka_unit_test(test_S5_what_happens_at_the_very_start_ends_it),
      cmocka_unit_test(test_it_may_come_to_its_end),
      cmocka_unit_test(test_what_cannot_begin_plays_nothing),
      cmocka_unit_test(test_a_limit_without_a_clock),
      cmocka_unit_test(test_S3_the_options_may_name_a_clock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
