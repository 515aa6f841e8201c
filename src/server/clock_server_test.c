#include "server/server_fixture.h"

ACT(stop, tb_clock_server_stop(f->server))
ACT(pause, tb_clock_server_pause(f->server))
ACT(resume, tb_clock_server_resume(f->server))
ACT(toggle, tb_clock_server_toggle_paused(f->server))
ACT(reset, assert_ok(tb_clock_server_reset(f->server)))
ACT(seek, assert_ok(tb_clock_server_set_time(f->server, 500 * MS)))
ACT(double_factor, assert_ok(tb_clock_server_set_factor(f->server, 2)))
ACT(half_hz, assert_ok(tb_clock_server_set_hz(f->server, 50)))
ACT(seek_and_half_hz, seek(f), half_hz(f))
ACT(reaches_4, assert_true(fixture_status(f).factor_reached == 4))
ACT(step_25_ms, assert_ok(tb_clock_server_begin_step(f->server, (tb_duration_t){25 * MS})))
ACT(step_to_1020_ms, assert_ok(tb_clock_server_begin_step_to(f->server, 1020 * MS)))
ACT(sleep_35_ms, f->pacer.steady_ns += 35 * MS)

static void test_X9_ticks_are_on_the_grid(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  ACTS(&f, {35 * MS, stop});
  assert_serves(&f, "0=1000 10=1010 20=1020 30=1030");
  assert_int_equal(fixture_status(&f).ticks, 4);
  assert_int_equal(fixture_status(&f).time_ns, 1030 * MS);
  fixture_fini(&f);
}

static void test_C2_the_earliest_time_is_1_ns(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.options.start_ns = 0;
  ACTS(&f, {5 * MS, stop});
  assert_serves(&f, "0=1e-06");
  assert_int_equal(fixture_status(&f).start_ns, 1);
  assert_ok(tb_clock_server_set_time(f.server, 0));
  assert_int_equal(fixture_status(&f).time_ns, 1);
  assert_status(tb_clock_server_set_time(f.server, -1), TB_ERR_RANGE);
  f.pacer.next_act = 0;
  ACTS(&f, {8 * MS, stop});
  assert_serves(&f, "5=1e-06s");
  fixture_fini(&f);
}

/* The time of a tick is that of its instant on the grid, whenever it goes out. */
static void
test_X9_a_late_tick_tells_the_time_of_its_grid_and_missed_ones_are_left_out(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.options.factor = 3;
  ACTS(&f, {8 * MS, sleep_35_ms}, {65 * MS, stop});
  assert_serves(&f, "0=1000 43=1120 50=1150 60=1180");
  fixture_fini(&f);
}

static void test_X9_a_slow_sink_skips_ticks_but_no_time(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.delay_ns = 25 * MS;
  f.options.end_ns = 1050 * MS;
  assert_serves(&f, "0=1000 25=1020 50=1050");
  fixture_fini(&f);
}

/* A factor and a period that no sum of rounded steps would meet. */
static void test_X9_a_million_ticks_do_not_drift(void **state)
{
  (void)state;
  fixture_t f;
  tb_steady_time_t next = {0};
  fixture_init(&f);
  f.options.factor = 1.0 / 3;
  f.options.hz = 60;
  fixture_create(&f);
  for (int64_t k = 0; k < 1000000; k++) {
    f.trace[0] = '\0';
    assert_ok(tb_clock_server_run_due(f.server, 1, NULL, NULL, NULL));
    __extension__ __int128 steady_ns = k * 16666667;
    int64_t expected_ns = S + (int64_t)(steady_ns * 6004799503160661 >> 54); /* the double 1/3 */
    if (f.last_ns != expected_ns) fail_msg("tick %lld: %lld", (long long)k, (long long)f.last_ns);
    f.pacer.steady_ns += 16666667;
  }
  assert_ok(tb_clock_server_run_due(f.server, 9, NULL, &next, NULL));
  assert_int_equal(next.ns, TB__MANUAL_PACER_START + INT64_C(1000001) * 16666667);
  fixture_fini(&f);
}

static void test_X9_a_new_factor_counts_from_the_last_tick(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  ACTS(&f, {17 * MS, double_factor}, {35 * MS, stop});
  assert_serves(&f, "0=1000 10=1010 20=1030 30=1050");
  fixture_fini(&f);
}

static void test_X9_a_new_hz_begins_a_grid(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  ACTS(&f, {17 * MS, half_hz}, {60 * MS, stop});
  assert_serves(&f, "0=1000 10=1010 37=1030 57=1050");
  fixture_fini(&f);
}

static void test_X9_a_paused_server_repeats_its_time(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  ACTS(&f, {17 * MS, pause}, {18 * MS, pause}, {41 * MS, resume}, {42 * MS, resume},
       {65 * MS, stop});
  assert_serves(&f, "0=1000 10=1010 17=1010 27=1010 37=1010 51=1020 61=1030");
  fixture_fini(&f);
}

static void test_X9_start_paused_shows_the_start_and_waits(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.options.start_paused = true;
  ACTS(&f, {15 * MS, toggle}, {28 * MS, toggle}, {35 * MS, stop});
  assert_serves(&f, "0=1000 10=1000 25=1010 28=1010");
  assert_true(fixture_status(&f).paused);
  fixture_fini(&f);
}

static void test_X9_jumps_have_their_reason_once(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  ACTS(&f, {15 * MS, seek}, {27 * MS, pause}, {28 * MS, reset}, {40 * MS, stop});
  assert_serves(&f, "0=1000 10=1010 15=500s 25=510 27=510 28=1000r 38=1000");
  fixture_fini(&f);
}

/* The tick of a jump is the time that was set, whatever else is called before it is sent. */
static void test_X9_a_jump_is_sent_before_anything_that_follows(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  ACTS(&f, {17 * MS, seek_and_half_hz}, {41 * MS, stop});
  assert_serves(&f, "0=1000 10=1010 17=500s 37=520");
  fixture_fini(&f);
}

static void test_X9_a_step_sends_every_tick_and_ends_exactly(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.options.start_paused = true;
  ACTS(&f, {5 * MS, step_25_ms}, {16 * MS, sleep_35_ms}, {60 * MS, stop});
  assert_serves(&f, "0=1000 15=1010 51=1020 51=1025");
  assert_true(fixture_status(&f).paused);
  assert_false(fixture_status(&f).stepping);
  fixture_fini(&f);
}

static void test_X9_a_step_is_as_fast_as_its_factor(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.options.start_paused = true;
  f.options.factor = 0.5;
  ACTS(&f, {5 * MS, step_to_1020_ms}, {60 * MS, stop});
  assert_serves(&f, "0=1000 15=1005 25=1010 35=1015 45=1020 55=1020");
  fixture_fini(&f);
}

static void test_X9_a_step_of_a_running_server_begins_with_its_last_tick(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  ACTS(&f, {15 * MS, step_25_ms}, {60 * MS, stop});
  assert_serves(&f, "0=1000 10=1010 25=1020 35=1030 40=1035 50=1035");
  fixture_fini(&f);
}

static void test_X9_a_cancelled_step_leaves_time_stopped_unless_it_is_resumed(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.options.start_paused = true;
  ACTS(&f, {5 * MS, step_25_ms}, {17 * MS, pause}, {30 * MS, step_25_ms}, {42 * MS, resume},
       {75 * MS, stop});
  assert_serves(&f, "0=1000 15=1010 17=1010 27=1010 40=1020 52=1030 62=1040 72=1050");
  fixture_fini(&f);
}

static void test_X9_steps_without_a_valid_target_are_refused(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.options.end_ns = 3 * S;
  fixture_create(&f);
  assert_status(tb_clock_server_begin_step(f.server, (tb_duration_t){0}), TB_ERR_RANGE);
  assert_status(tb_clock_server_begin_step(f.server, (tb_duration_t){-1}), TB_ERR_RANGE);
  assert_status(tb_clock_server_begin_step_to(f.server, S), TB_ERR_RANGE);
  assert_status(tb_clock_server_begin_step_to(f.server, 3 * S + 1), TB_ERR_END);
  assert_status(tb_clock_server_begin_step(f.server, (tb_duration_t){INT64_MAX}), TB_ERR_OVERFLOW);
  assert_status(tb_clock_server_set_time(f.server, 3 * S + 1), TB_ERR_RANGE);
  assert_status(tb_clock_server_set_factor(f.server, 0), TB_ERR_RANGE);
  assert_status(tb_clock_server_set_hz(f.server, 0), TB_ERR_RANGE);
  assert_false(fixture_status(&f).stepping);
  fixture_fini(&f);
}

static void test_X9_the_end_is_the_last_tick(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.options.end_ns = 1025 * MS;
  assert_serves(&f, "0=1000 10=1010 20=1020 25=1025");
  assert_true(fixture_status(&f).ended);
  assert_serves(&f, "");
  assert_ok(tb_clock_server_reset(f.server));
  assert_serves(&f, "25=1000r 35=1010 45=1020 50=1025");
  fixture_fini(&f);
}

static void test_X9_served_again_it_continues_from_where_it_stopped(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  ACTS(&f, {15 * MS, stop}, {45 * MS, stop});
  assert_serves(&f, "0=1000 10=1010");
  f.pacer.steady_ns += 20 * MS;
  assert_serves(&f, "35=1010");
  fixture_fini(&f);
}

static void test_X9_as_fast_as_possible_does_not_wait(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.options.as_fast_as_possible = true;
  f.options.factor = 2;
  f.options.end_ns = 1050 * MS;
  assert_serves(&f, "0=1000 0=1020 0=1040 0=1050");
  fixture_fini(&f);
}

static void test_X9_as_fast_as_possible_is_bounded_per_call_and_paused_it_waits(void **state)
{
  (void)state;
  fixture_t f;
  uint64_t ticks = 0;
  tb_steady_time_t next = {0};
  fixture_init(&f);
  f.options.as_fast_as_possible = true;
  fixture_create(&f);
  assert_ok(tb_clock_server_run_due(f.server, 3, &ticks, &next, NULL));
  assert_int_equal(ticks, 3);
  assert_int_equal(next.ns, f.pacer.steady_ns);
  tb_clock_server_pause(f.server);
  assert_ok(tb_clock_server_run_due(f.server, 3, &ticks, &next, NULL));
  assert_int_equal(ticks, 1);
  assert_int_equal(next.ns, f.pacer.steady_ns + 10 * MS);
  assert_trace(&f, "0=1000 0=1010 0=1020 0=1020");
  assert_ok(tb_clock_server_begin_step(f.server, (tb_duration_t){15 * MS}));
  assert_ok(tb_clock_server_run_due(f.server, 9, &ticks, &next, NULL));
  assert_trace(&f, "0=1030 0=1035");
  assert_ok(tb_clock_server_set_as_fast_as_possible(f.server, false));
  tb_clock_server_resume(f.server);
  assert_ok(tb_clock_server_run_due(f.server, 9, &ticks, &next, NULL));
  assert_int_equal(ticks, 0);
  f.pacer.steady_ns = next.ns;
  assert_ok(tb_clock_server_run_due(f.server, 9, &ticks, &next, NULL));
  assert_trace(&f, "10=1045");
  fixture_fini(&f);
}

static void test_X9_after_as_fast_as_possible_a_grid_begins(void **state)
{
  (void)state;
  fixture_t f;
  tb_steady_time_t next = {0};
  fixture_init(&f);
  f.options.as_fast_as_possible = true;
  fixture_create(&f);
  assert_ok(tb_clock_server_run_due(f.server, 3, NULL, NULL, NULL));
  f.pacer.steady_ns += 3 * MS;
  assert_ok(tb_clock_server_set_as_fast_as_possible(f.server, false));
  assert_ok(tb_clock_server_run_due(f.server, 9, NULL, &next, NULL));
  f.pacer.steady_ns = next.ns;
  assert_ok(tb_clock_server_run_due(f.server, 9, NULL, NULL, NULL));
  assert_trace(&f, "0=1000 0=1010 0=1020 13=1030");
  fixture_fini(&f);
}

static void test_X9_as_fast_as_possible_ends_with_the_last_time_there_is(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.options.as_fast_as_possible = true;
  f.options.factor = 1000;
  f.options.hz = 0.001;
  fixture_create(&f);
  while (!fixture_status(&f).ended) {
    int64_t before_ns = f.last_ns;
    f.trace[0] = '\0';
    assert_ok(tb_clock_server_run_due(f.server, 1, NULL, NULL, NULL));
    if (f.last_ns <= before_ns) fail_msg("back from %lld", (long long)before_ns);
  }
  assert_int_equal(f.last_ns, INT64_MAX);
  assert_status(tb_clock_server_run_due(f.server, 10, NULL, NULL, NULL), TB_ERR_END);
  fixture_fini(&f);
}

static void test_X9_steady_time_that_does_not_wait_cannot_overflow(void **state)
{
  (void)state;
  const int64_t far_ns = INT64_MAX / 2, period_ns = 1000 * S;
  fixture_t f;
  fixture_init(&f);
  f.pacer.steady_ns = far_ns - 3 * period_ns;
  f.options.as_fast_as_possible = true;
  f.options.hz = 0.001;
  fixture_create(&f);
  for (int64_t k = 0; k < 10; k++) {
    assert_ok(tb_clock_server_run_due(f.server, 1, NULL, NULL, NULL));
    assert_int_equal(f.last_ns, S + k * period_ns);
    assert_true(f.server->at_ns <= far_ns + period_ns);
  }
  fixture_fini(&f);
}

static void test_X9_the_factor_reached_is_measured(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  f.options.factor = 4;
  ACTS(&f, {94 * MS, reaches_4}, {95 * MS, double_factor}, {195 * MS, stop});
  fixture_create(&f);
  assert_true(fixture_status(&f).factor_reached == 0);
  assert_ok(tb_clock_server_run(f.server, NULL));
  double reached = fixture_status(&f).factor_reached;
  assert_true(reached > 1.8 && reached < 2.2);
  tb_clock_server_pause(f.server);
  assert_true(fixture_status(&f).factor_reached == 0);
  fixture_fini(&f);
}

static void test_X9_an_error_of_a_sink_ends_it(void **state)
{
  (void)state;
  fixture_t f;
  tb_error_t error = TB_ERROR_INIT;
  fixture_init(&f);
  f.fail_at = 3;
  fixture_create(&f);
  assert_status(tb_clock_server_run(f.server, &error), TB_ERR_TRANSPORT);
  assert_string_equal(error.text, "no way out");
  assert_int_equal(fixture_status(&f).ticks, 2);
  assert_false(fixture_status(&f).serving);
  fixture_fini(&f);
}

static tb_status_t count_tick(void *self, int64_t time_ns, tb_jump_reason_t reason,
                              tb_error_t *error)
{
  (void)time_ns, (void)reason, (void)error;
  ++*(int *)self;
  return TB_OK;
}

static void test_X9_every_sink_gets_every_tick(void **state)
{
  (void)state;
  fixture_t f;
  int first = 0, last = 0;
  fixture_init(&f);
  f.options.end_ns = 1020 * MS;
  tb_tick_sink_t sinks[] = {{count_tick, &first}, {fixture_tick, &f}, {count_tick, &last}};
  assert_ok(tb__clock_server_create(&f.options, sinks, 3, &f.pacer.base, &f.server, NULL));
  assert_serves(&f, "0=1000 10=1010 20=1020");
  assert_int_equal(first, 3);
  assert_int_equal(last, 3);
  fixture_fini(&f);
}

static tb_status_t call_back(void *self, int64_t time_ns, tb_jump_reason_t reason,
                             tb_error_t *error)
{
  fixture_t *f = self;
  assert_status(tb_clock_server_run(f->server, NULL), TB_ERR_BUSY);
  assert_status(tb_clock_server_run_due(f->server, 1, NULL, NULL, NULL), TB_ERR_BUSY);
  assert_status(tb_clock_server_start(f->server), TB_ERR_BUSY);
  assert_status(tb_clock_server_wait(f->server, NULL, NULL), TB_ERR_DEADLOCK);
  assert_status(tb_clock_server_step(f->server, (tb_duration_t){1}, TB_NO_LIMIT), TB_ERR_DEADLOCK);
  if (time_ns == 1010 * MS && reason == TB_JUMP_REASON_TICK) seek(f);
  return fixture_tick(self, time_ns, reason, error);
}

static void test_X9_sinks_may_use_the_controls(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f);
  tb_tick_sink_t sink = {call_back, &f};
  assert_ok(tb__clock_server_create(&f.options, &sink, 1, &f.pacer.base, &f.server, NULL));
  ACTS(&f, {25 * MS, stop});
  assert_serves(&f, "0=1000 10=1010 10=500s 20=510");
  fixture_fini(&f);
}

static void refuses(tb_clock_server_options_t options, tb_status_t status)
{
  int ticks = 0;
  tb_tick_sink_t sink = {count_tick, &ticks};
  tb_clock_server_t *server = NULL;
  tb_error_t error = TB_ERROR_INIT;
  assert_status(tb_clock_server_create(&options, &sink, 1, &server, &error), status);
  assert_null(server);
  assert_true(error.text[0]);
}

static void test_X9_bad_options_are_refused(void **state)
{
  (void)state;
  tb_clock_server_options_t good = TB_CLOCK_SERVER_OPTIONS_INIT, bad = good;
  tb_clock_server_t *server = NULL;
  bad.factor = 0;
  refuses(bad, TB_ERR_RANGE);
  bad = good, bad.hz = 0;
  refuses(bad, TB_ERR_RANGE);
  bad = good, bad.hz = 1e5;
  refuses(bad, TB_ERR_RANGE);
  bad = good, bad.start_ns = -1;
  refuses(bad, TB_ERR_RANGE);
  bad = good, bad.start_ns = 5, bad.end_ns = 4;
  refuses(bad, TB_ERR_RANGE);
  assert_status(tb_clock_server_create(NULL, NULL, 0, &server, NULL), TB_ERR_INVALID);
  assert_status(tb_clock_server_create(NULL, &(tb_tick_sink_t){NULL, NULL}, 1, &server, NULL),
                TB_ERR_INVALID);
}

#define TEST(name) cmocka_unit_test(test_##name)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(X9_ticks_are_on_the_grid),
      TEST(C2_the_earliest_time_is_1_ns),
      TEST(X9_a_late_tick_tells_the_time_of_its_grid_and_missed_ones_are_left_out),
      TEST(X9_a_slow_sink_skips_ticks_but_no_time),
      TEST(X9_a_million_ticks_do_not_drift),
      TEST(X9_a_new_factor_counts_from_the_last_tick),
      TEST(X9_a_new_hz_begins_a_grid),
      TEST(X9_a_paused_server_repeats_its_time),
      TEST(X9_start_paused_shows_the_start_and_waits),
      TEST(X9_jumps_have_their_reason_once),
      TEST(X9_a_jump_is_sent_before_anything_that_follows),
      TEST(X9_a_step_sends_every_tick_and_ends_exactly),
      TEST(X9_a_step_is_as_fast_as_its_factor),
      TEST(X9_a_step_of_a_running_server_begins_with_its_last_tick),
      TEST(X9_a_cancelled_step_leaves_time_stopped_unless_it_is_resumed),
      TEST(X9_steps_without_a_valid_target_are_refused),
      TEST(X9_the_end_is_the_last_tick),
      TEST(X9_served_again_it_continues_from_where_it_stopped),
      TEST(X9_as_fast_as_possible_does_not_wait),
      TEST(X9_as_fast_as_possible_is_bounded_per_call_and_paused_it_waits),
      TEST(X9_after_as_fast_as_possible_a_grid_begins),
      TEST(X9_as_fast_as_possible_ends_with_the_last_time_there_is),
      TEST(X9_steady_time_that_does_not_wait_cannot_overflow),
      TEST(X9_the_factor_reached_is_measured),
      TEST(X9_an_error_of_a_sink_ends_it),
      TEST(X9_every_sink_gets_every_tick),
      TEST(X9_sinks_may_use_the_controls),
      TEST(X9_bad_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
