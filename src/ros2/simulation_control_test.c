#include "ros2/simulation_control.h"

#include <stdlib.h>
#include <string.h>

#include "server/server_fixture.h"
#include "wire/type_hash.h"

/* One at a time. */
static fixture_t fixture;
static tb__simulation_control_t control;
static tb__simulation_answer_t answer;
static tb__step_waiter_t waiter;
static int done_calls;

static void on_done(tb__step_waiter_t *step)
{
  assert_true(step->done);
  done_calls++;
}

static int setup(void **state)
{
  (void)state;
  fixture_init(&fixture);
  fixture.options.start_paused = true;
  fixture.options.end_ns = 2 * S;
  fixture_create(&fixture);
  control = (tb__simulation_control_t){.server = fixture.server, .can_quit = true};
  waiter = (tb__step_waiter_t){.on_done = on_done};
  done_calls = 0;
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  fixture_fini(&fixture);
  return 0;
}

static tb__simulation_next_t call_service(int service, const void *request)
{
  memset(&answer, 0x5a, sizeof answer);
  return tb__simulation_services[service].carry_out(&control, request, &waiter, &answer);
}

static const char *result_text(uint8_t result)
{
  const tb__simulation_result_t *got = &answer.message.response.result;
  if (got->result != result) fail_msg("result %u (%s)", got->result, got->error_message);
  assert_true((result == TB__RESULT_OK) == (got->error_message[0] == '\0'));
  return got->error_message;
}

static uint8_t state_now(void)
{
  tb__empty_message_t nothing = {0};
  assert_int_equal(call_service(TB__GET_SIMULATION_STATE, &nothing), TB__SIMULATION_ANSWER);
  assert_int_equal(answer.message.state.result.result, TB__RESULT_OK);
  assert_string_equal(answer.message.state.result.error_message, "");
  return answer.message.state.state.state;
}

static tb__simulation_next_t set_state(uint8_t state)
{
  return call_service(TB__SET_SIMULATION_STATE, &(tb__set_simulation_state_request_t){{state}});
}

static tb__simulation_next_t step(uint64_t steps)
{
  return call_service(TB__STEP_SIMULATION, &(tb__step_simulation_request_t){steps});
}

static tb__simulation_next_t reset(uint8_t scope)
{
  return call_service(TB__RESET_SIMULATION, &(tb__reset_simulation_request_t){scope});
}

static void test_services_have_the_names_and_types_of_the_standard(void **state)
{
  (void)state;
  for (int i = 0; i < TB__SIMULATION_SERVICE_COUNT; i++) {
    const tb__simulation_service_t *service = &tb__simulation_services[i];
    char expected[100], snake[100], hash[TB__TYPE_HASH_SIZE];
    snprintf(expected, sizeof expected, "%s_Request", service->type);
    assert_string_equal(service->request->name, expected);
    snprintf(expected, sizeof expected, "%s_Response", service->type);
    assert_string_equal(service->response->name, expected);
    assert_true(tb__type_hash_find(service->request->name, hash));
    assert_true(tb__type_hash_find(service->response->name, hash));
    const char *from = strrchr(service->type, '/') + 1;
    size_t size = 0;
    for (; *from; from++) {
      if (*from < 'a' && size > 0) snake[size++] = '_';
      snake[size++] = (char)(*from | 32);
    }
    snake[size] = '\0';
    assert_string_equal(service->name, snake);
  }
}

static void test_features(void **state)
{
  (void)state;
  static const uint16_t expected[] = {20, 21, 24, 25, 26, 31, 32};
  tb__empty_message_t nothing = {0};
  assert_int_equal(call_service(TB__GET_SIMULATOR_FEATURES, &nothing), TB__SIMULATION_ANSWER);
  const tb__simulator_features_t *got = &answer.message.features.features;
  assert_int_equal(got->features.count, COUNT(expected));
  assert_memory_equal(got->features.items, expected, sizeof expected);
  assert_int_equal(got->spawn_formats.count, 0);
  uint8_t *bytes;
  size_t size;
  assert_ok(tb__cdr_encode(tb__simulation_services[TB__GET_SIMULATOR_FEATURES].response,
                           &answer.message, false, &bytes, &size));
  free(bytes);
}

/* ---- where it is at first ---- */

static void stopped(void) {}

static void playing(void)
{
  assert_ok(tb_clock_server_set_time(fixture.server, 1100 * MS));
  tb_clock_server_resume(fixture.server);
}

static void paused(void)
{
  assert_ok(tb_clock_server_set_time(fixture.server, 1100 * MS));
}

static void held(void)
{
  set_state(TB__SIMULATION_PAUSED);
}

static void held_and_gone_on(void)
{
  held();
  playing();
  state_now();
  assert_ok(tb_clock_server_reset(fixture.server));
  tb_clock_server_pause(fixture.server);
}

static void stepping(void)
{
  paused();
  assert_ok(tb_clock_server_begin_step(fixture.server, (tb_duration_t){50 * MS}));
}

static void ended(void)
{
  assert_ok(tb_clock_server_set_time(fixture.server, 2 * S));
  tb_clock_server_resume(fixture.server);
  assert_ok(tb_clock_server_run(fixture.server, NULL));
}

static void unable_to_quit(void)
{
  control.can_quit = false;
}

static void quitting(void)
{
  playing();
  assert_int_equal(set_state(TB__SIMULATION_QUITTING), TB__SIMULATION_QUIT);
}

enum { Z = TB__SIMULATION_STOPPED, P, H, Q, NO_WORLD, LOADING, UNKNOWN = 77 };

typedef struct row {
  void (*arrange)(void);
  uint8_t before, wanted, result, after;
  int64_t time_ms;
} row_t;

static const row_t transitions[] = {
    {stopped, Z, Z, 101, Z, 1000},
    {stopped, Z, P, 1, P, 1000},
    {stopped, Z, H, 1, H, 1000},
    {stopped, Z, Q, 1, Q, 1000},
    {playing, P, Z, 1, Z, 1000},
    {playing, P, P, 101, P, 1100},
    {playing, P, H, 1, H, 1100},
    {playing, P, Q, 1, Q, 1100},
    {paused, H, Z, 1, Z, 1000},
    {paused, H, P, 1, P, 1100},
    {paused, H, H, 101, H, 1100},
    {held, H, Z, 1, Z, 1000},
    {held, H, H, 101, H, 1000},
    {held, H, P, 1, P, 1000},
    {held_and_gone_on, Z, H, 1, H, 1000},
    {stepping, P, P, 1, P, 1100},
    {stepping, P, H, 1, H, 1100},
    {stepping, P, Z, 1, Z, 1000},
    {ended, H, P, 102, H, 2000},
    {ended, H, H, 101, H, 2000},
    {ended, H, Z, 1, Z, 1000},
    {unable_to_quit, Z, Q, 0, Z, 1000},
    {quitting, Q, Q, 101, Q, 1100},
    {quitting, Q, P, 103, Q, 1100},
    {quitting, Q, Z, 103, Q, 1100},
    {playing, P, NO_WORLD, 0, P, 1100},
    {playing, P, LOADING, 0, P, 1100},
    {paused, H, UNKNOWN, 103, H, 1100},
    {quitting, Q, UNKNOWN, 103, Q, 1100},
};

static void test_states(void **state)
{
  for (size_t i = 0; i < COUNT(transitions); i++) {
    const row_t *row = &transitions[i];
    if (i > 0) {
      teardown(state);
      setup(state);
    }
    row->arrange();
    uint8_t before = state_now();
    tb__simulation_next_t next = set_state(row->wanted);
    uint8_t result = answer.message.response.result.result;
    bool quits = row->wanted == Q && row->result == TB__RESULT_OK;
    assert_int_equal(next, quits ? TB__SIMULATION_QUIT : TB__SIMULATION_ANSWER);
    result_text(result);
    uint8_t after = state_now();
    int64_t time_ms = fixture_status(&fixture).time_ns / MS;
    if (before != row->before || result != row->result || after != row->after ||
        time_ms != row->time_ms)
      fail_msg("row %zu: %u -> %u: result %u, then state %u at %lld ms", i, before, row->wanted,
               result, after, (long long)time_ms);
    assert_false(fixture_status(&fixture).stepping);
    assert_true(fixture_status(&fixture).paused == (after != P) || row->arrange == ended);
  }
}

static void test_resets(void **state)
{
  static const struct {
    uint8_t scope, result;
    const char *text;
  } rows[] = {{0, 1, ""},
              {1, 1, ""},
              {255, 1, ""},
              {2, 0, "no states or spawned entities"},
              {4, 0, "no states"},
              {3, 0, "no states"},
              {7, 0, "no states"},
              {8, 0, "unknown reset scope 8"},
              {254, 0, "unknown reset scope 254"}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (int plays = 0; plays < 2; plays++) {
      teardown(state);
      setup(state);
      (plays ? playing : paused)();
      assert_int_equal(reset(rows[i].scope), TB__SIMULATION_ANSWER);
      assert_non_null(strstr(result_text(rows[i].result), rows[i].text));
      bool went_back = fixture_status(&fixture).time_ns == S;
      assert_true(went_back == (rows[i].result == 1));
      assert_true(fixture_status(&fixture).paused == !plays);
    }
  }
  quitting();
  assert_int_equal(reset(0), TB__SIMULATION_ANSWER);
  result_text(TB__RESULT_INCORRECT_STATE);
}

/* ---- steps ---- */

static uint64_t wanted_steps;

static void begin_steps(void *user)
{
  (void)user;
  assert_int_equal(step(wanted_steps), TB__SIMULATION_WAIT);
  assert_int_equal(done_calls, 0);
}

static void stop_serving(void *user)
{
  fixture_t *f = user;
  tb_clock_server_stop(f->server);
}

static void assert_steps(uint64_t steps, const char *expected)
{
  wanted_steps = steps;
  ACTS(&fixture, {5 * MS, begin_steps}, {58 * MS, stop_serving});
  assert_serves(&fixture, expected);
  assert_int_equal(done_calls, 1);
  tb__simulation_step_done(waiter.status, &answer);
  result_text(TB__RESULT_OK);
  assert_int_equal(state_now(), TB__SIMULATION_PAUSED);
}

static void test_a_step_is_a_tick(void **state)
{
  (void)state;
  assert_steps(1, "0=1000 15=1010 25=1010 35=1010 45=1010 55=1010");
}

static void test_several_steps_are_converted_to_ticks(void **state)
{
  (void)state;
  assert_steps(3, "0=1000 15=1010 25=1020 35=1030 45=1030 55=1030");
}

static void test_steps_of_a_tick_at_another_speed(void **state)
{
  (void)state;
  assert_ok(tb_clock_server_set_factor(fixture.server, 2.5));
  assert_steps(2, "0=1000 15=1025 25=1050 35=1050 45=1050 55=1050");
}

static void test_steps_of_a_given_size(void **state)
{
  (void)state;
  control.step_ns = 4 * MS;
  assert_steps(3, "0=1000 15=1010 17=1012 27=1012 37=1012 47=1012 57=1012");
}

static void test_a_million_steps_are_one_way(void **state)
{
  (void)state;
  control.step_ns = 10;
  assert_steps(1000000, "0=1000 15=1010 25=1010 35=1010 45=1010 55=1010");
}

static void test_steps_while_time_runs_are_refused(void **state)
{
  (void)state;
  playing();
  assert_int_equal(step(1), TB__SIMULATION_ANSWER);
  assert_non_null(strstr(result_text(TB__RESULT_OPERATION_FAILED), "pause"));
  assert_false(fixture_status(&fixture).stepping);
  tb_clock_server_pause(fixture.server);
  assert_int_equal(step(1), TB__SIMULATION_WAIT);
  assert_int_equal(step(1), TB__SIMULATION_ANSWER); /* the first one continues */
  result_text(TB__RESULT_OPERATION_FAILED);
  assert_true(fixture_status(&fixture).stepping);
  assert_int_equal(done_calls, 0);
}

static void test_steps_that_cannot_be_made_are_refused(void **state)
{
  (void)state;
  static const uint64_t counts[] = {101, UINT64_MAX, UINT64_C(1) << 63, INT64_MAX / (10 * MS)};
  for (size_t i = 0; i < COUNT(counts); i++) {
    assert_int_equal(step(counts[i]), TB__SIMULATION_ANSWER);
    assert_non_null(strstr(result_text(TB__RESULT_OPERATION_FAILED), "exceed the end of time"));
  }
  assert_int_equal(step(0), TB__SIMULATION_ANSWER);
  result_text(TB__RESULT_OPERATION_FAILED);
  assert_int_equal(state_now(), TB__SIMULATION_STOPPED);
  ended();
  assert_int_equal(step(1), TB__SIMULATION_ANSWER);
  result_text(TB__RESULT_OPERATION_FAILED);
  quitting();
  assert_int_equal(step(1), TB__SIMULATION_ANSWER);
  result_text(TB__RESULT_INCORRECT_STATE);
}

static void test_a_step_up_to_the_end_is_reported_before_serving_ends(void **state)
{
  (void)state;
  assert_int_equal(step(100), TB__SIMULATION_WAIT);
  assert_ok(tb_clock_server_run(fixture.server, NULL));
  assert_int_equal(done_calls, 1);
  assert_ok(waiter.status);
  assert_int_equal(fixture.last_ns, 2 * S);
}

static void test_other_controls_cancel_a_step_and_report_it(void **state)
{
  for (int wanted = Z; wanted <= Q; wanted++) {
    teardown(state);
    setup(state);
    assert_int_equal(step(10), TB__SIMULATION_WAIT);
    set_state((uint8_t)wanted);
    assert_int_equal(done_calls, 1);
    tb__simulation_step_done(waiter.status, &answer);
    assert_non_null(strstr(result_text(TB__RESULT_OPERATION_FAILED), "cancelled"));
  }
  teardown(state);
  setup(state);
  assert_int_equal(step(10), TB__SIMULATION_WAIT);
  reset(0);
  assert_int_equal(done_calls, 1);
}

static void test_a_withdrawn_waiter_is_not_notified(void **state)
{
  (void)state;
  assert_int_equal(step(10), TB__SIMULATION_WAIT);
  assert_true(tb__clock_server_take_back(fixture.server, &waiter));
  tb_clock_server_pause(fixture.server);
  assert_int_equal(done_calls, 0);
  assert_int_equal(step(10), TB__SIMULATION_WAIT);
  tb_clock_server_pause(fixture.server);
  assert_int_equal(done_calls, 1);
  assert_false(tb__clock_server_take_back(fixture.server, &waiter));
  assert_status(waiter.status, TB_ERR_CANCELLED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(services_have_the_names_and_types_of_the_standard),
      TEST(features),
      TEST(states),
      TEST(resets),
      TEST(a_step_is_a_tick),
      TEST(several_steps_are_converted_to_ticks),
      TEST(steps_of_a_tick_at_another_speed),
      TEST(steps_of_a_given_size),
      TEST(a_million_steps_are_one_way),
      TEST(steps_while_time_runs_are_refused),
      TEST(steps_that_cannot_be_made_are_refused),
      TEST(a_step_up_to_the_end_is_reported_before_serving_ends),
      TEST(other_controls_cancel_a_step_and_report_it),
      TEST(a_withdrawn_waiter_is_not_notified),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
