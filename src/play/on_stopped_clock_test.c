/* What a player does while the clock that it runs on is stopped. */
#include "play/on_clock_fixture.h"

static void test_seeks_and_steps_do_not_wait_for_the_clock(void **state)
{
  (void)state;
  stage_t stage;
  stage_init(&stage, four, COUNT(four));
  stage.f.options.clock_hz = 10;
  stage_start(&stage);
  assert_trace(&stage, "c1000@0 /a@0 ");
  assert_ok(tb_player_seek(stage.f.player, 1010 * MS, NULL));
  await_trace(&stage, "S1010@0 /b@0 ");
  tb_player_pause(stage.f.player);
  assert_ok(tb_player_play_next(stage.f.player));
  await_trace(&stage, "c1040@0 /a@0 ");
  uint64_t sent = 0;
  assert_ok(tb_player_burst(stage.f.player, 1, NULL, &sent));
  assert_int_equal(sent, 1);
  assert_trace(&stage, "c2000@0 /a@0 ");
  assert_ok(tb_player_seek(stage.f.player, 1005 * MS, NULL));
  await_trace(&stage, "S1005@0 ");
  tb_player_resume(stage.f.player);
  assert_ok(tb_manual_source_wait_for_sleepers(stage.source, 1, NULL));
  set_ms(&stage, 4);
  assert_trace(&stage, "");
  stage_stop(&stage);
}

static void test_steps_go_round_while_the_clock_is_stopped(void **state)
{
  (void)state;
  stage_t stage;
  stage_init(&stage, four, COUNT(four));
  stage.f.options.clock_hz = 10;
  stage.f.options.start_paused = true;
  stage_start(&stage);
  assert_ok(tb_player_repeat(stage.f.player, 1000 * MS, 1010 * MS, NULL));
  for (int i = 0; i < 5; i++)
    assert_ok(tb_player_play_next(stage.f.player));
  await_trace(&stage, "c1000@0 /a@0 c1010@0 /b@0 L1000@0 /a@0 c1010@0 /b@0 ");
  await_limit();
  pass_steady_ms(9);
  assert_trace(&stage, "");
  pass_steady_ms(1);
  assert_trace(&stage, "L1000@0 /a@0 ");
  stage_stop(&stage);
}

static void test_the_blocker_is_named_while_the_clock_is_stopped(void **state)
{
  (void)state;
  stage_t stage;
  warnings_t warnings = {0};
  tb_log_set_hook(note_warning, &warnings);
  stage_init(&stage, four, COUNT(four));
  stage.f.fake.limits_messages = true;
  stage_start(&stage);
  assert_trace(&stage, "/a@0 ");
  set_ms(&stage, 900);
  await_limit();
  pass_steady_ms(999);
  assert_string_equal(fixture_status(&stage.f).waits_for, "");
  pass_steady_ms(1);
  assert_string_equal(fixture_status(&stage.f).waits_for, "name\\x0a1");
  for (int i = 0; i < 10; i++) {
    await_limit();
    pass_steady_ms(1000);
  }
  assert_int_equal(warnings.count, 2);
  assert_string_equal(warnings.text, "player: waiting for name\\x0a11");
  stage_stop(&stage);
  tb_log_set_hook(NULL, NULL);
}

static void test_a_seek_between_rounds_does_not_wait_for_the_clock(void **state)
{
  (void)state;
  stage_t stage;
  stage_init(&stage, four, 2);
  stage.f.options.clock_hz = 10;
  stage.f.options.loop = true;
  stage.f.options.rate = TB_PLAYER_FASTEST;
  stage_start(&stage);
  await_trace(&stage, "c1000@0 /a@0 c1010@0 /b@0 ");
  assert_ok(tb_manual_source_wait_for_sleepers(stage.source, 1, NULL));
  assert_ok(tb_player_seek(stage.f.player, 1010 * MS, NULL));
  await_trace(&stage, "L1000@0 S1010@0 /b@0 ");
  stage_stop(&stage);
}

static void test_a_stop_waits_for_no_tick(void **state)
{
  (void)state;
  for (int started = 0; started < 2; started++) {
    stage_t stage;
    stage_init(&stage, four, COUNT(four));
    stage_run(&stage);
    if (started) set_ms(&stage, 0);
    assert_trace(&stage, started ? "/a@0 " : "");
    stage_stop(&stage);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_seeks_and_steps_do_not_wait_for_the_clock),
      cmocka_unit_test(test_steps_go_round_while_the_clock_is_stopped),
      cmocka_unit_test(test_the_blocker_is_named_while_the_clock_is_stopped),
      cmocka_unit_test(test_a_seek_between_rounds_does_not_wait_for_the_clock),
      cmocka_unit_test(test_a_stop_waits_for_no_tick),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
