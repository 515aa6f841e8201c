/* Playing in the time of a clock, to the nanosecond of that time. */
#include "play/on_clock_fixture.h"

/* --- time that flows --- */

static void test_nothing_before_the_first_tick(void **state)
{
  (void)state;
  stage_t stage;
  stage_init(&stage, four, COUNT(four));
  stage_run(&stage);
  assert_true(fixture_status(&stage.f).waits_for_clock);
  assert_at(&stage, 1000);
  assert_trace(&stage, "");
  set_ms(&stage, 0);
  assert_false(fixture_status(&stage.f).waits_for_clock);
  assert_trace(&stage, "/a@0 ");
  flow_ms(&stage, 1000);
  assert_trace(&stage, "/b@10 /a@40 /a@1000 ");
  stage_end(&stage, 4);
}

static void test_it_goes_at_the_speed_of_the_clock_times_the_rate(void **state)
{
  (void)state;
  stage_t stage;
  stage_init(&stage, four, COUNT(four));
  stage.f.options.rate = 0.5;
  stage_start(&stage);
  set_ms(&stage, 18);
  assert_trace(&stage, "/a@0 ");
  assert_at(&stage, 1009);
  flow_ms(&stage, 2000 - 18);
  assert_trace(&stage, "/b@20 /a@80 /a@2000 ");
  stage_end(&stage, 4);
}

static void test_its_own_clock_ticks_in_that_time(void **state)
{
  (void)state;
  stage_t stage;
  stage_init(&stage, four, 3);
  stage.f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  stage_start(&stage);
  flow_ms(&stage, 40);
  assert_trace(&stage, "c1000@0 /a@0 c1010@10 /b@10 c1025@25 c1040@40 /a@40 ");
  stage_end(&stage, 3);
}

static void test_pauses_of_the_player_are_not_caught_up(void **state)
{
  (void)state;
  stage_t stage;
  stage_init(&stage, four, COUNT(four));
  stage_start(&stage);
  set_ms(&stage, 20);
  tb_player_pause(stage.f.player);
  set_ms(&stage, 600);
  tb_player_resume(stage.f.player);
  assert_at(&stage, 1020);
  set_ms(&stage, 619);
  assert_trace(&stage, "/a@0 /b@20 ");
  set_ms(&stage, 620);
  await_trace(&stage, "/a@620 ");
  stage_stop(&stage);
}

static void test_a_recorded_clock_is_left_out(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {AT(1000), ON(2, 1010), AT(1040)};
  stage_t stage;
  stage_init(&stage, messages, COUNT(messages));
  stage_start(&stage);
  flow_ms(&stage, 40);
  assert_trace(&stage, "/a@0 /a@40 ");
  stage_end(&stage, 2);
}

static void test_rounds(void **state)
{
  (void)state;
  stage_t stage;
  stage_init(&stage, four, 2);
  stage.f.options.loop = true;
  stage_start(&stage);
  pass_steady_ms(10);
  flow_ms(&stage, 10);
  pass_steady_ms(10);
  flow_ms(&stage, 15);
  assert_trace(&stage, "/a@0 /b@10 /a@10 /b@20 /a@20 ");
  stage_stop(&stage);
}

static void test_a_round_takes_10_ms_of_either_time(void **state)
{
  (void)state;
  stage_t stage;
  stage_init(&stage, four, 1);
  stage.f.options.loop = true;
  stage_start(&stage);
  set_ms(&stage, 1000);
  assert_trace(&stage, "/a@0 ");
  await_limit();
  pass_steady_ms(9);
  assert_trace(&stage, "");
  pass_steady_ms(1);
  assert_trace(&stage, "/a@1000 ");
  pass_steady_ms(1000);
  assert_trace(&stage, "");
  set_ms(&stage, 1009);
  assert_trace(&stage, "");
  set_ms(&stage, 1010);
  assert_trace(&stage, "/a@1010 ");
  stage_stop(&stage);
}

/* --- steps and jumps --- */

static void test_large_steps_are_time_that_passes(void **state)
{
  (void)state;
  tb__fake_message_t messages[100];
  for (int64_t i = 0; i < 100; i++)
    messages[i] = (tb__fake_message_t){.log_time_ns = (1000 + 10 * i) * MS};
  stage_t stage;
  stage_init(&stage, messages, 100);
  stage_start(&stage);
  for (int64_t ms = 250; ms <= 990; ms += 250) {
    set_ms(&stage, ms);
    assert_int_equal(fixture_status(&stage.f).messages, ms / 10 + 1);
  }
  assert_int_equal(fixture_status(&stage.f).late, 0);
  stage_stop(&stage);
}

/* While the clock is stopped no time passes: a transport that blocks at each message for so long
 * does not slow playback down. */
static void test_holds_within_a_step_cost_no_time(void **state)
{
  (void)state;
  tb__fake_message_t messages[100];
  for (int64_t i = 0; i < 100; i++)
    messages[i] = (tb__fake_message_t){.log_time_ns = (1000 + 10 * i) * MS};
  stage_t stage;
  stage_init(&stage, messages, 100);
  stage.f.fake.pends_messages = true;
  stage_start(&stage);
  for (int64_t ms = 250; ms <= 990; ms += 250) {
    set_ms(&stage, ms);
    assert_int_equal(fixture_status(&stage.f).messages, ms / 10 + 1);
  }
  stage_stop(&stage);
}

static void test_a_forward_jump_makes_no_burst(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {AT(1000), ON(1, 1050), AT(1060), ON(1, 1170)};
  stage_t stage;
  stage_init(&stage, messages, COUNT(messages));
  stage_start(&stage);
  set_ms(&stage, 3600000);
  assert_trace(&stage, "/a@0 /b@3.6e+06 ");
  assert_int_equal(fixture_status(&stage.f).late, 1);
  assert_at(&stage, 1050);
  set_ms(&stage, 3600010);
  set_ms(&stage, 3600119);
  assert_trace(&stage, "/a@3.60001e+06 ");
  set_ms(&stage, 3600120);
  assert_int_equal(fixture_status(&stage.f).late, 1);
  stage_end(&stage, 4);
}

static void test_it_continues_from_its_own_position_at_jumps_back(void **state)
{
  (void)state;
  stage_t stage;
  stage_init(&stage, four, 3);
  stage.f.options.clock_hz = 10;
  stage_start(&stage);
  set_ms(&stage, 5);
  set_ms(&stage, -90000);
  assert_at(&stage, 1005);
  set_ms(&stage, -89996);
  assert_at(&stage, 1009);
  assert_trace(&stage, "c1000@0 /a@0 ");
  flow_ms(&stage, 31);
  assert_trace(&stage, "c1010@-89995 /b@-89995 c1040@-89965 /a@-89965 ");
  stage_end(&stage, 3);
}

static void test_it_continues_at_changes_of_the_clock(void **state)
{
  (void)state;
  stage_t stage;
  tb_source_t *other;
  assert_ok(tb_manual_source_create(&other));
  stage_init(&stage, four, 3);
  stage_start(&stage);
  set_ms(&stage, 5);
  assert_ok(tb_clock_set_source(stage.clock, other));
  assert_true(fixture_status(&stage.f).waits_for_clock);
  assert_ok(tb_manual_source_wait_for_sleepers(other, 1, NULL));
  assert_ok(tb_manual_source_set_and_run(other, 900 * S, NULL));
  assert_at(&stage, 1005);
  assert_ok(tb_manual_source_advance_and_run(other, (tb_duration_t){4 * MS}, NULL));
  assert_trace(&stage, "/a@0 ");
  tb_duration_t rest = {31 * MS};
  assert_ok(tb_manual_source_advance_stepped(other, rest, 100));
  stage_end(&stage, 3);
  assert_ok(tb_source_destroy(other));
}

/* The player's lock is held by others while they read the time: that must not wait for the jump.
 */
static void pause_and_resume(const tb_jump_t *jump, void *user)
{
  (void)jump;
  stage_t *stage = user;
  tb_player_pause(stage->f.player);
  fixture_status(&stage->f);
  tb_player_resume(stage->f.player);
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_player_run(stage->f.player, NULL, &error), TB_ERR_DEADLOCK);
}

static void test_controls_from_jump_handlers(void **state)
{
  (void)state;
  stage_t stage;
  tb_jump_handler_t *handler = NULL;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold = (tb_jump_threshold_t){{1}, {-1}, true};
  options.before = pause_and_resume;
  options.after = pause_and_resume;
  options.user = &stage;
  stage_init(&stage, four, 3);
  assert_ok(tb_jump_handler_create(stage.clock, &options, &handler));
  stage_run(&stage);
  for (int i = 0; i < 200; i++)
    set_ms(&stage, -i);
  assert_at(&stage, 1000);
  for (int64_t ms = -198; !fixture_status(&stage.f).finished; ms++)
    set_ms(&stage, ms);
  tb_jump_handler_destroy(handler);
  stage_end(&stage, 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_before_the_first_tick),
      cmocka_unit_test(test_it_goes_at_the_speed_of_the_clock_times_the_rate),
      cmocka_unit_test(test_its_own_clock_ticks_in_that_time),
      cmocka_unit_test(test_pauses_of_the_player_are_not_caught_up),
      cmocka_unit_test(test_a_recorded_clock_is_left_out),
      cmocka_unit_test(test_rounds),
      cmocka_unit_test(test_a_round_takes_10_ms_of_either_time),
      cmocka_unit_test(test_large_steps_are_time_that_passes),
      cmocka_unit_test(test_holds_within_a_step_cost_no_time),
      cmocka_unit_test(test_a_forward_jump_makes_no_burst),
      cmocka_unit_test(test_it_continues_from_its_own_position_at_jumps_back),
      cmocka_unit_test(test_it_continues_at_changes_of_the_clock),
      cmocka_unit_test(test_controls_from_jump_handlers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
