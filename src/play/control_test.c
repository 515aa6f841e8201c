/* Pause, stop, loop, start paused, and readers and transports that are slow. */
#include <timebase/log.h>

#include "play/play_fixture.h"

static void act_toggle(void *user)
{
  tb_player_toggle_paused(((fixture_t *)user)->player);
}

static const tb__fake_message_t four[] = {AT(1000), AT(1010), AT(1040), ON(1, 1070)};

static void test_pause_repeats_the_time_and_resume_catches_nothing_up(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {
      {15 * MS, act_pause}, {110 * MS, act_toggle}, {120 * MS, act_resume}};
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  assert_plays(&f, "settle @0 c1000 /a @10 c1010 /a @25 c1015 @50 c1015 @75 c1015 @100 c1015 "
                   "@125 c1030 @135 c1040 /a @150 c1055 @165 c1070 /b flush");
  fixture_fini(&f);
}

static void test_pause_without_clock_waits_silently(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{15 * MS, act_pause}, {5000 * MS, act_resume}};
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  assert_plays(&f, "settle @0 /a @10 /a @5025 /a @5055 /b flush");
  assert_int_equal(fixture_status(&f).ticks, 0);
  fixture_fini(&f);
}

static void test_start_paused_shows_the_start(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{60 * MS, act_resume}};
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  f.options.start_paused = true;
  fixture_create(&f);
  assert_true(tb_player_is_paused(f.player));
  assert_plays(&f, "settle @0 c1000 @25 c1000 @50 c1000 @60 /a @70 c1010 /a @75 c1015 @100 c1040 "
                   "/a @125 c1065 @130 c1070 /b flush");
  assert_false(tb_player_is_paused(f.player));
  fixture_fini(&f);
}

static void test_loop_jumps_back_once_a_round(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{165 * MS, act_stop}};
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  f.options.loop = true;
  assert_plays(&f, "settle @0 c1000 /a @10 c1010 /a @25 c1025 @40 c1040 /a @50 c1050 @70 c1070 /b "
                   "L1000 /a @80 c1010 /a @95 c1025 @110 c1040 /a @120 c1050 @140 c1070 /b "
                   "L1000 /a @150 c1010 /a flush");
  tb_player_status_t status = fixture_status(&f);
  assert_int_equal(status.loops, 2);
  assert_int_equal(status.messages, 10);
  assert_int_equal(status.position_ns, 1025 * MS);
  fixture_fini(&f);
}

static void test_start_offset_applies_to_every_round(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{70 * MS, act_stop}};
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_act(&f, acts, COUNT(acts));
  f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  f.options.loop = true;
  f.options.start_offset.ns = 30 * MS;
  assert_plays(&f, "settle @0 c1030 @10 c1040 /a @25 c1055 @40 c1070 /b L1030 @50 c1040 /a "
                   "@65 c1055 flush");
  fixture_fini(&f);
}

static void test_a_loop_over_one_message_does_not_spin(void **state)
{
  (void)state;
  static const tb__manual_act_t acts[] = {{25 * MS, act_stop}};
  static const tb__fake_message_t one[] = {AT(3)};
  fixture_t f;
  fixture_init(&f, one, 1);
  fixture_act(&f, acts, COUNT(acts));
  f.options.loop = true;
  f.options.clock_hz = 1;
  assert_plays(&f, "settle @0 c3 /a @10 L3 /a @20 L3 /a flush");
  fixture_fini(&f);
}

static void test_stop_before_run_plays_nothing(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.options.clock_hz = 1;
  fixture_create(&f);
  tb_player_stop(f.player);
  assert_ok(tb_player_run(f.player, NULL, NULL));
  assert_int_equal(f.fake.messages + f.fake.ticks, 0);
  assert_int_equal(f.fake.interrupts, 1);
  assert_status(tb_player_run(f.player, NULL, NULL), TB_ERR_INVALID);
  fixture_fini(&f);
}

/* Stopped in the n-th wait, for every n: what came out is the beginning of the whole. */
static void test_stop_at_any_point(void **state)
{
  (void)state;
  fixture_t whole;
  fixture_init(&whole, four, COUNT(four));
  whole.options.clock_hz = 1000;
  fixture_create(&whole);
  assert_ok(tb_player_run(whole.player, NULL, NULL));
  for (int64_t at_ns = 0; at_ns <= 70 * MS; at_ns += MS / 2) {
    const tb__manual_act_t acts[] = {{at_ns, act_stop}};
    fixture_t f;
    fixture_init(&f, four, COUNT(four));
    fixture_act(&f, acts, 1);
    f.options.clock_hz = 1000;
    fixture_create(&f);
    assert_ok(tb_player_run(f.player, NULL, NULL));
    size_t common = strlen(f.fake.trace) - strlen("flush");
    assert_memory_equal(f.fake.trace, whole.fake.trace, common);
    fixture_fini(&f);
  }
  fixture_fini(&whole);
}

/* --- slow readers and transports --- */

static char log_text[2048];

static void collect(tb_log_level_t level, const char *message, void *user)
{
  (void)user;
  assert_int_equal(level, TB_LOG_WARN);
  if (strlen(log_text) + strlen(message) + 2 < sizeof log_text)
    strcat(strcat(log_text, message), "\n");
}

static int log_setup(void **state)
{
  (void)state;
  *log_text = '\0';
  tb_log_set_hook(collect, NULL);
  return 0;
}

static int log_teardown(void **state)
{
  (void)state;
  tb_log_set_hook(NULL, NULL);
  return 0;
}

static tb_status_t (*quick_read)(tb__bag_file_t *file, tb__bag_row_t *row, tb_error_t *error);
static tb__manual_pacer_t *slow_pacer;
static int64_t slow_row, slow_ns;

static tb_status_t slow_read(tb__bag_file_t *file, tb__bag_row_t *row, tb_error_t *error)
{
  if (row->id == slow_row) slow_pacer->steady_ns += slow_ns;
  return quick_read(file, row, error);
}

static void fixture_slow(fixture_t *f, int64_t row, int64_t ns)
{
  quick_read = f->bag.storage.read_data;
  f->bag.storage.read_data = slow_read;
  slow_pacer = &f->pacer;
  slow_row = row;
  slow_ns = ns;
}

static void test_time_is_held_back_for_a_slow_reader(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_slow(&f, 3, 500 * MS); /* ready at 510, was due at 40 */
  f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  assert_plays(&f, "settle @0 c1000 /a @10 c1010 /a @510 c1040 /a @525 c1055 @540 c1070 /b flush");
  assert_int_equal(fixture_status(&f).late, 1);
  assert_non_null(strstr(log_text, "fell 470 ms behind"));
  fixture_fini(&f);
}

static void test_a_little_late_is_caught_up_without_a_word(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_slow(&f, 3, 130 * MS); /* ready at 140, was due at 40: just within the limit */
  assert_plays(&f, "settle @0 /a @10 /a @140 /a /b flush");
  assert_int_equal(fixture_status(&f).late, 0);
  assert_string_equal(log_text, "");
  fixture_fini(&f);
}

static void test_a_slow_first_message_starts_time_when_it_is_there(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  fixture_slow(&f, 1, 2000 * MS);
  f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  assert_plays(&f, "settle @2000 c1000 /a @2010 c1010 /a @2025 c1025 @2040 c1040 /a @2050 c1050 "
                   "@2070 c1070 /b flush");
  assert_string_equal(log_text, "");
  fixture_fini(&f);
}

static void test_a_slow_transport_holds_time_too(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.fake.publish_cost_ns = 150 * MS;
  f.options.clock_hz = TB_PLAYER_CLOCK_HZ;
  assert_plays(&f, "settle @0 c1000 /a @150 c1010 /a @300 c1040 /a @450 c1070 /b flush");
  assert_int_equal(fixture_status(&f).late, 3);
  assert_null(strstr(strstr(log_text, "playback fell") + 1, "playback fell")); /* reported once */
  fixture_fini(&f);
}

/* --- rows and sends that fail --- */

static void test_bad_rows_are_skipped_and_counted(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {
      {.log_time_ns = 990 * MS, .fault = TB_ERR_CORRUPT},
      AT(1000),
      {.log_time_ns = 1005 * MS, .fault = TB_ERR_CORRUPT},
      {.log_time_ns = 1006 * MS, .data = "\0\1", .size = 2},
      AT(1010),
      {.log_time_ns = 1020 * MS, .fault = TB_ERR_CORRUPT},
  };
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  f.options.clock_hz = 1;
  assert_plays(&f, "settle @0 c990 @10 c1000 /a @20 c1010 /a flush");
  tb_player_status_t status = fixture_status(&f);
  assert_int_equal(status.bad_rows, 4);
  assert_int_equal(status.messages, 2);
  assert_int_equal(status.end_ns, 1010 * MS);
  size_t lines = 0;
  for (const char *c = log_text; *c; c++)
    lines += *c == '\n';
  assert_int_equal(lines, 2); /* one of each kind */
  fixture_fini(&f);
}

/* A recording may have them, and is whole: they are left out and counted. */
static void test_payloads_too_short_for_cdr_are_left_out(void **state)
{
  (void)state;
  static const tb__fake_message_t messages[] = {
      {.log_time_ns = 1000 * MS, .data = "", .size = 0},
      AT(1001),
      {.log_time_ns = 1005 * MS, .data = "\0\1", .size = 2},
      AT(1010),
  };
  static const tb_bag_reader_options_t any = {.content = TB_BAG_CONTENT_ANY};
  fixture_t f;
  fixture_init(&f, messages, COUNT(messages));
  tb_bag_reader_close(f.reader);
  assert_ok(tb__fake_bag_open(&f.bag, &any, &f.reader, NULL));
  assert_plays(&f, "settle @1 /a @10 /a flush");
  assert_int_equal(fixture_status(&f).bad_rows, 0);
  tb_player_destroy(f.player);
  f.player = NULL;
  assert_non_null(strstr(log_text, "2 messages were left out: shorter than the 4 bytes"));
  fixture_fini(&f);
}

static void test_a_message_that_cannot_be_sent_is_a_bad_row(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.fake.fault_topic = "/b";
  f.fake.fault = TB_ERR_INVALID;
  assert_plays(&f, "settle @0 /a @10 /a @40 /a flush");
  assert_int_equal(fixture_status(&f).bad_rows, 1);
  assert_non_null(strstr(log_text, "topic /b: fault"));
  fixture_fini(&f);
}

static void assert_run_fails(fixture_t *f, tb_status_t expected, const char *text)
{
  tb_error_t error = TB_ERROR_INIT;
  fixture_create(f);
  assert_status(tb_player_run(f->player, NULL, &error), expected);
  assert_int_equal(error.status, expected);
  if (!strstr(error.text, text)) fail_msg("'%s' does not say '%s'", error.text, text);
  assert_true(fixture_status(f).finished);
  fixture_fini(f);
}

static void test_failing_sends_end_the_playing_by_name(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.fake.fault_topic = "/b";
  f.fake.fault = TB_ERR_TRANSPORT;
  assert_run_fails(&f, TB_ERR_TRANSPORT, "topic /b: fault");
  fixture_init(&f, four, COUNT(four));
  f.options.clock_hz = 1;
  f.fake.tick_fault = TB_ERR_RANGE;
  assert_run_fails(&f, TB_ERR_RANGE, "/clock: value out of range");
}

static void test_missing_acknowledgements_are_a_warning(void **state)
{
  (void)state;
  fixture_t f;
  fixture_init(&f, four, COUNT(four));
  f.fake.flush_fault = TB_ERR_TIMEOUT;
  assert_plays(&f, "settle @0 /a @10 /a @40 /a @70 /b flush");
  assert_string_equal(log_text,
                      "player: not everything was acknowledged in time: /a by\\x0a/slow\n");
  fixture_fini(&f);
}

#define WITH_LOG(test) cmocka_unit_test_setup_teardown(test, log_setup, log_teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pause_repeats_the_time_and_resume_catches_nothing_up),
      cmocka_unit_test(test_pause_without_clock_waits_silently),
      cmocka_unit_test(test_start_paused_shows_the_start),
      cmocka_unit_test(test_loop_jumps_back_once_a_round),
      cmocka_unit_test(test_start_offset_applies_to_every_round),
      cmocka_unit_test(test_a_loop_over_one_message_does_not_spin),
      cmocka_unit_test(test_stop_before_run_plays_nothing),
      cmocka_unit_test(test_stop_at_any_point),
      WITH_LOG(test_time_is_held_back_for_a_slow_reader),
      WITH_LOG(test_a_little_late_is_caught_up_without_a_word),
      WITH_LOG(test_a_slow_first_message_starts_time_when_it_is_there),
      WITH_LOG(test_a_slow_transport_holds_time_too),
      WITH_LOG(test_bad_rows_are_skipped_and_counted),
      WITH_LOG(test_payloads_too_short_for_cdr_are_left_out),
      WITH_LOG(test_a_message_that_cannot_be_sent_is_a_bad_row),
      WITH_LOG(test_failing_sends_end_the_playing_by_name),
      WITH_LOG(test_missing_acknowledgements_are_a_warning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
