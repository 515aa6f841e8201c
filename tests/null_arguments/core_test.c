/* See null_arguments.h. rcl test_time.cpp: test_rcl_ros_time_set_override, clock_validation;
 * rcl test_timer.cpp: test_timer_init_with_invalid_arguments. */
#include <timebase/allocator.h>
#include <timebase/cancel_token.h>
#include <timebase/clock.h>
#include <timebase/clock_server.h>
#include <timebase/condition.h>
#include <timebase/duration.h>
#include <timebase/error.h>
#include <timebase/extrapolating_source.h>
#include <timebase/histogram.h>
#include <timebase/jump.h>
#include <timebase/log.h>
#include <timebase/manual_source.h>
#include <timebase/publish_guard.h>
#include <timebase/qos.h>
#include <timebase/rate.h>
#include <timebase/ready.h>
#include <timebase/reset.h>
#include <timebase/shm_publisher.h>
#include <timebase/shm_readers.h>
#include <timebase/shm_source.h>
#include <timebase/sleep.h>
#include <timebase/source.h>
#include <timebase/stamper.h>
#include <timebase/statistics.h>
#include <timebase/steady_clock.h>
#include <timebase/steady_time.h>
#include <timebase/testing.h>
#include <timebase/text.h>
#include <timebase/time.h>
#include <timebase/timeline.h>
#include <timebase/timer.h>
#include <timebase/watchdog.h>

#include "null_arguments/null_arguments.h"
#include "within.h"

static void test_cancel_token(void **state)
{
  (void)state;
  REFUSED(tb_allocator_set(NULL));
  REFUSED(tb_cancel_token_create(NULL));
  REFUSED(tb_cancel_token_create_on_signals(NULL));
  ACCEPTED(tb_cancel_token_destroy(NULL));
  ACCEPTED(tb_cancel_token_destroy_within(NULL, NS));
  NOTHING(tb_cancel_token_cancel(NULL));
  NOTHING(tb_cancel_token_reset(NULL));
  ZERO(tb_cancel_token_is_cancelled(NULL));
}

static void test_clock(void **state)
{
  (void)state;
  REFUSED(tb_clock_create(NULL, NULL));
  ACCEPTED(tb_clock_destroy(NULL));
  ACCEPTED(tb_clock_destroy_within(NULL, NS));
  REFUSED(tb_clock_now(NULL, ANY));
  REFUSED(tb_clock_now(ANY, NULL));
  REFUSED(tb_clock_try_now(NULL, ANY));
  REFUSED(tb_clock_try_now(ANY, NULL));
  REFUSED(tb_clock_read(NULL, ANY));
  REFUSED(tb_clock_read(ANY, NULL));
  ZERO(tb_clock_epoch(NULL));
  ZERO(tb_clock_is_active(NULL));
  ZERO(tb_clock_kind(NULL));
  REFUSED(tb_clock_set_source(NULL, NULL));
  REFUSED(tb_clock_set_source_within(NULL, NULL, NS));
}

static void test_clock_server(void **state)
{
  (void)state;
  REFUSED(tb_clock_server_create(NULL, NULL, 1, ANY, NULL));
  REFUSED(tb_clock_server_create(NULL, ANY, 1, NULL, NULL));
  NOTHING(tb_clock_server_destroy(NULL));
  REFUSED(tb_clock_server_start(NULL));
  REFUSED(tb_clock_server_run(NULL, NULL));
  REFUSED(tb_clock_server_run_due(NULL, 1, NULL, NULL, NULL));
  NOTHING(tb_clock_server_stop(NULL));
  REFUSED(tb_clock_server_wait(NULL, WITHIN(NS), NULL));
  NOTHING(tb_clock_server_pause(NULL));
  NOTHING(tb_clock_server_resume(NULL));
  NOTHING(tb_clock_server_toggle_paused(NULL));
  REFUSED(tb_clock_server_set_factor(NULL, 1.0));
  REFUSED(tb_clock_server_set_hz(NULL, 1.0));
  REFUSED(tb_clock_server_set_as_fast_as_possible(NULL, true));
  REFUSED(tb_clock_server_set_time(NULL, 1));
  REFUSED(tb_clock_server_reset(NULL));
  REFUSED(tb_clock_server_begin_step(NULL, NS));
  REFUSED(tb_clock_server_begin_step_to(NULL, 1));
  REFUSED(tb_clock_server_step(NULL, NS, NS));
  REFUSED(tb_clock_server_step_to(NULL, 1, NS));
  NOTHING(tb_clock_server_status(NULL, NULL));
}

static void test_condition(void **state)
{
  (void)state;
  REFUSED(tb_cond_create(NULL, ANY));
  REFUSED(tb_cond_create(ANY, NULL));
  ACCEPTED(tb_cond_destroy(NULL));
  ACCEPTED(tb_cond_destroy_within(NULL, NS));
  REFUSED(tb_cond_wait_until(NULL, ANY, TIME, NULL, NULL));
  REFUSED(tb_cond_wait_until(ANY, NULL, TIME, NULL, NULL));
  REFUSED(tb_cond_wait_for(NULL, ANY, NS, NULL, NULL));
  REFUSED(tb_cond_wait_for(ANY, NULL, NS, NULL, NULL));
  REFUSED(tb_cond_signal(NULL));
  REFUSED(tb_cond_broadcast(NULL));
  REFUSED(tb_steady_cond_create(NULL, ANY));
  REFUSED(tb_steady_cond_create(ANY, NULL));
  ACCEPTED(tb_steady_cond_destroy(NULL));
  REFUSED(tb_steady_cond_wait_until(NULL, ANY, STEADY, NULL, NULL));
  REFUSED(tb_steady_cond_wait_until(ANY, NULL, STEADY, NULL, NULL));
  REFUSED(tb_steady_cond_wait_for(NULL, ANY, NS, NULL, NULL));
  REFUSED(tb_steady_cond_wait_for(ANY, NULL, NS, NULL, NULL));
  REFUSED(tb_steady_cond_signal(NULL));
  REFUSED(tb_steady_cond_broadcast(NULL));
}

static void test_duration(void **state)
{
  (void)state;
  REFUSED(tb_duration_add(NS, NS, NULL));
  REFUSED(tb_duration_sub(NS, NS, NULL));
  REFUSED(tb_duration_neg(NS, NULL));
  REFUSED(tb_duration_mul(NS, 1, NULL));
  REFUSED(tb_duration_scale(NS, 1.0, NULL));
  REFUSED(tb_duration_compare(NS, NS, NULL));
  REFUSED(tb_duration_from_seconds(1.0, NULL));
  REFUSED(tb_duration_from_hz(1.0, NULL));
  REFUSED(tb_duration_from_timespec(SPEC, NULL));
  REFUSED(tb_duration_to_timespec(NS, NULL));
  REFUSED(tb_duration_to_wire(NS, NULL, ANY));
  REFUSED(tb_duration_to_wire(NS, ANY, NULL));
  REFUSED(tb_duration_from_wire(1, 1, NULL));
  REFUSED(tb_duration_parse(NULL, ANY));
  REFUSED(tb_duration_parse("a", NULL));
  REFUSED(tb_duration_format(NS, NULL, 1));
}

static void test_error(void **state)
{
  (void)state;
  REFUSED(tb_error_set(NULL, TB_ERR_INVALID, "%s", "a"));
  REFUSED(tb_error_set_errno(NULL, TB_ERR_INVALID, 1, "%s", "a"));
}

static void test_extrapolating_source(void **state)
{
  (void)state;
  REFUSED(tb_extrapolating_source_create(NULL, NULL, ANY));
  REFUSED(tb_extrapolating_source_create(ANY, NULL, NULL));
  REFUSED(tb_extrapolating_source_stats(NULL, ANY));
  REFUSED(tb_extrapolating_source_stats(ANY, NULL));
}

static void test_histogram(void **state)
{
  (void)state;
  REFUSED(tb_histogram_create(NULL, NULL));
  NOTHING(tb_histogram_destroy(NULL));
  REFUSED(tb_histogram_writer_create(NULL, ANY));
  REFUSED(tb_histogram_writer_create(ANY, NULL));
  NOTHING(tb_histogram_writer_destroy(NULL));
  NOTHING(tb_histogram_writer_begin_epoch(NULL));
  NOTHING(tb_histogram_record(NULL, NS));
  REFUSED(tb_histogram_snapshot(NULL));
  REFUSED(tb_histogram_stats(NULL, TB_HISTOGRAM_INTERVAL, ANY));
  REFUSED(tb_histogram_stats(ANY, TB_HISTOGRAM_INTERVAL, NULL));
  REFUSED(tb_histogram_quantile(NULL, TB_HISTOGRAM_INTERVAL, 0.5, ANY));
  REFUSED(tb_histogram_quantile(ANY, TB_HISTOGRAM_INTERVAL, 0.5, NULL));
  REFUSED(tb_histogram_count_at_most(NULL, TB_HISTOGRAM_INTERVAL, NS, ANY));
  REFUSED(tb_histogram_count_at_most(ANY, TB_HISTOGRAM_INTERVAL, NS, NULL));
}

static void test_jump(void **state)
{
  (void)state;
  REFUSED(tb_jump_handler_create(NULL, NULL, ANY));
  REFUSED(tb_jump_handler_create(ANY, NULL, NULL));
  REFUSED(tb_steady_clock_jump_handler_create(NULL, NULL, ANY));
  REFUSED(tb_steady_clock_jump_handler_create(ANY, NULL, NULL));
  NOTHING(tb_jump_handler_destroy(NULL));
  ACCEPTED(tb_jump_handler_destroy_within(NULL, NS));
}

static void test_log(void **state)
{
  (void)state;
  NOTHING(tb_log_set_hook((tb_log_hook_t)ANY_FUNCTION, NULL));
}

static void test_manual_source(void **state)
{
  (void)state;
  REFUSED(tb_manual_source_create(NULL));
  REFUSED(tb_manual_source_set(NULL, 1));
  REFUSED(tb_manual_source_jump(NULL, 1, (tb_jump_reason_t)0));
  REFUSED(tb_manual_source_advance(NULL, NS));
  REFUSED(tb_manual_source_advance_stepped(NULL, NS, 1));
  REFUSED(tb_manual_source_advance_to_next(NULL));
  REFUSED(tb_manual_source_set_and_run(NULL, 1, NULL));
  REFUSED(tb_manual_source_jump_and_run(NULL, 1, (tb_jump_reason_t)0, NULL));
  REFUSED(tb_manual_source_advance_and_run(NULL, NS, NULL));
  REFUSED(tb_manual_source_advance_stepped_and_run(NULL, NS, 1, NULL));
  REFUSED(tb_manual_source_advance_to_next_and_run(NULL, NULL));
  REFUSED(tb_manual_source_wait_for_sleepers(NULL, 1, NULL));
}

static void test_qos(void **state)
{
  (void)state;
  ZERO(tb_qos_mismatches(NULL, NULL));
}

static void test_rate(void **state)
{
  (void)state;
  REFUSED(tb_clock_rate_create_hz(NULL, 1.0, ANY));
  REFUSED(tb_clock_rate_create_hz(ANY, 1.0, NULL));
  REFUSED(tb_steady_clock_rate_create_hz(NULL, 1.0, ANY));
  REFUSED(tb_steady_clock_rate_create_hz(ANY, 1.0, NULL));
  REFUSED(tb_rate_period(NULL, ANY));
  REFUSED(tb_rate_period(ANY, NULL));
  REFUSED(tb_clock_rate_create(NULL, NS, ANY));
  REFUSED(tb_clock_rate_create(ANY, NS, NULL));
  REFUSED(tb_steady_clock_rate_create(NULL, NS, ANY));
  REFUSED(tb_steady_clock_rate_create(ANY, NS, NULL));
  NOTHING(tb_rate_destroy(NULL));
  REFUSED(tb_rate_sleep(NULL, NULL, NULL));
  REFUSED(tb_rate_reset(NULL));
}

static void test_publish_guard(void **state)
{
  (void)state;
  REFUSED(tb_publish_guard_create(NULL, ANY));
  REFUSED(tb_publish_guard_create(ANY, NULL));
  NOTHING(tb_publish_guard_destroy(NULL));
  REFUSED(tb_publish_guard_check(NULL, NULL));
  REFUSED(tb_publish_guard_wait(NULL, NULL, NULL));
  REFUSED(tb_publish_guard_stats(NULL, ANY));
  REFUSED(tb_publish_guard_stats(ANY, NULL));
}

static void test_reset(void **state)
{
  (void)state;
  const tb_time_t stamp = {1, TB_TIME_ROS};
  REFUSED(tb_reset_create(NULL, NULL, ANY));
  REFUSED(tb_reset_create(ANY, NULL, NULL));
  NOTHING(tb_reset_destroy(NULL));
  ZERO(tb_reset_generation(NULL));
  ZERO(tb_reset_poll(NULL, NULL));
  ZERO(tb_reset_poll(ANY, NULL));
  REFUSED(tb_reset_read(NULL, ANY, ANY));
  REFUSED(tb_reset_read(ANY, NULL, ANY));
  REFUSED(tb_reset_read(ANY, ANY, NULL));
  REFUSED(tb_reset_accept(NULL, stamp, ANY));
  REFUSED(tb_reset_accept(ANY, stamp, NULL));
}

static void test_ready(void **state)
{
  (void)state;
  tb_ready_callback_t callback = (tb_ready_callback_t)ANY_FUNCTION;
  REFUSED(tb_ready_wait(NULL, NULL, NULL, NULL, NULL));
  REFUSED(tb_ready_on(NULL, NULL, callback, NULL, ANY));
  REFUSED(tb_ready_on(ANY, NULL, NULL, NULL, ANY));
  REFUSED(tb_ready_on(ANY, NULL, callback, NULL, NULL));
  NOTHING(tb_ready_destroy(NULL));
  REFUSED(tb_ready_read(NULL, ANY));
  REFUSED(tb_ready_read(ANY, NULL));
}

static void test_shm_publisher(void **state)
{
  (void)state;
  REFUSED(tb_shm_publisher_open(NULL, NULL, ANY, NULL));
  REFUSED(tb_shm_publisher_open("a", NULL, NULL, NULL));
  NOTHING(tb_shm_publisher_close(NULL));
  REFUSED(tb_shm_publisher_tick(NULL, 1, (tb_jump_reason_t)0));
  NOTHING((void)tb_shm_publisher_sink(NULL));
  REFUSED(tb_shm_publisher_anchor(NULL, ANY, (tb_jump_reason_t)0));
  REFUSED(tb_shm_publisher_anchor(ANY, NULL, (tb_jump_reason_t)0));
}

static void test_shm_source(void **state)
{
  (void)state;
  REFUSED(tb_shm_source_create(NULL, NULL, ANY, NULL));
  REFUSED(tb_shm_source_create("a", NULL, NULL, NULL));
  REFUSED(tb_shm_source_status(NULL, ANY));
  REFUSED(tb_shm_source_status(ANY, NULL));
  REFUSED(tb_shm_readers_create("a", NULL, NULL, NULL));
  NOTHING(tb_shm_readers_destroy(NULL));
}

static void test_sleep(void **state)
{
  (void)state;
  REFUSED(tb_clock_sleep_until(NULL, TIME, NULL));
  REFUSED(tb_clock_sleep_for(NULL, NS, NULL));
  REFUSED(tb_steady_clock_sleep_until(NULL, STEADY, NULL));
  REFUSED(tb_steady_clock_sleep_for(NULL, NS, NULL));
  REFUSED(tb_clock_wait_until_started(NULL, NULL));
  REFUSED(tb_clock_wait_for_state(NULL, 1, NULL, ANY));
  REFUSED(tb_clock_wait_for_state(ANY, 1, NULL, NULL));
}

static void test_source(void **state)
{
  (void)state;
  REFUSED(tb_source_create(NULL, NULL, ANY));
  REFUSED(tb_source_create(ANY, NULL, NULL));
  ACCEPTED(tb_source_destroy(NULL));
  ACCEPTED(tb_source_destroy_within(NULL, NS));
  ZERO(tb_source_timeline(NULL));
  ACCEPTED(tb_source_set_default(NULL));
  REFUSED(tb_source_create_from_name(NULL, ANY, NULL));
  REFUSED(tb_source_create_from_name("a", NULL, NULL));
  REFUSED(tb_source_register(NULL, (tb_source_factory_t)ANY_FUNCTION, NULL));
}

static void test_steady_clock(void **state)
{
  (void)state;
  REFUSED(tb_steady_clock_create(NULL));
  ACCEPTED(tb_steady_clock_destroy(NULL));
  REFUSED(tb_steady_clock_now(NULL, ANY));
  REFUSED(tb_steady_clock_now(ANY, NULL));
}

static void test_steady_time(void **state)
{
  (void)state;
  REFUSED(tb_steady_time_add(STEADY, NS, NULL));
  REFUSED(tb_steady_time_sub(STEADY, NS, NULL));
  REFUSED(tb_steady_time_diff(STEADY, STEADY, NULL));
  REFUSED(tb_steady_time_compare(STEADY, STEADY, NULL));
  REFUSED(tb_steady_time_diff_sat(STEADY, STEADY, NULL));
  REFUSED(tb_steady_time_from_seconds(1.0, NULL));
  REFUSED(tb_steady_time_from_timespec(SPEC, NULL));
  REFUSED(tb_steady_time_to_timespec(STEADY, NULL));
}

static void test_testing(void **state)
{
  (void)state;
  REFUSED(tb_testing_now((tb_testing_clock_t)0, NULL));
  assert_status(tb_testing_set_and_run((tb_testing_clock_t)0, 1, NULL), TB_ERR_DETACHED);
  assert_status(tb_testing_advance_and_run((tb_testing_clock_t)0, NS, NULL), TB_ERR_DETACHED);
  assert_status(tb_testing_advance_stepped_and_run((tb_testing_clock_t)0, NS, 1, NULL),
                TB_ERR_DETACHED);
  assert_status(tb_testing_advance_to_next_and_run((tb_testing_clock_t)0, NULL), TB_ERR_DETACHED);
  assert_status(tb_testing_wait_for_sleepers(1, NULL), TB_ERR_DETACHED);
}

static void test_text(void **state)
{
  (void)state;
  ZERO(tb_text_escape_character(NULL, NULL));
  ZERO(tb_text_escape(NULL, NULL, 1));
}

static void test_time(void **state)
{
  (void)state;
  REFUSED(tb_time_add(TIME, NS, NULL));
  REFUSED(tb_time_sub(TIME, NS, NULL));
  REFUSED(tb_time_diff(TIME, TIME, NULL));
  REFUSED(tb_time_compare(TIME, TIME, NULL));
  REFUSED(tb_time_diff_sat(TIME, TIME, NULL));
  REFUSED(tb_time_from_seconds(1.0, (tb_time_kind_t)0, NULL));
  REFUSED(tb_time_from_timespec(SPEC, (tb_time_kind_t)0, NULL));
  REFUSED(tb_time_to_timespec(TIME, NULL));
  REFUSED(tb_time_to_wire(TIME, NULL, ANY));
  REFUSED(tb_time_to_wire(TIME, ANY, NULL));
  REFUSED(tb_time_from_wire(1, 1, (tb_time_kind_t)0, NULL));
  REFUSED(tb_time_parse(NULL, (tb_time_kind_t)0, ANY));
  REFUSED(tb_time_parse("a", (tb_time_kind_t)0, NULL));
  REFUSED(tb_time_format(TIME, NULL, 1));
}

static void test_timeline(void **state)
{
  (void)state;
  REFUSED(tb_timeline_tick(NULL, 1, (tb_jump_reason_t)0));
  REFUSED(tb_timeline_anchor(NULL, ANY, (tb_jump_reason_t)0));
  REFUSED(tb_timeline_anchor(ANY, NULL, (tb_jump_reason_t)0));
  REFUSED(tb_timeline_try_tick(NULL, 1));
  NOTHING(tb_timeline_set_state(NULL, (tb_clock_state_t)0));
  REFUSED(tb_timeline_set_options(NULL, NULL));
  NOTHING(tb_timeline_count_dropped(NULL));
  NOTHING(tb_timeline_stats(NULL, NULL));
}

static void test_timer(void **state)
{
  (void)state;
  REFUSED(tb_timer_queue_create(NULL));
  ACCEPTED(tb_timer_queue_destroy(NULL));
  ACCEPTED(tb_timer_queue_destroy_within(NULL, NS));
  ZERO(tb_timer_queue_fd(NULL) + 1);
  REFUSED(tb_timer_queue_run_due(NULL, NULL));
  REFUSED(tb_timer_queue_start_thread(NULL));
  REFUSED(tb_timer_queue_stop_thread(NULL, NS));
  REFUSED(tb_clock_timer_queue_next_deadline(NULL, ANY, ANY));
  REFUSED(tb_clock_timer_queue_next_deadline(ANY, NULL, ANY));
  REFUSED(tb_clock_timer_queue_next_deadline(ANY, ANY, NULL));
  REFUSED(tb_steady_clock_timer_queue_next_deadline(NULL, ANY, ANY));
  REFUSED(tb_steady_clock_timer_queue_next_deadline(ANY, NULL, ANY));
  REFUSED(tb_steady_clock_timer_queue_next_deadline(ANY, ANY, NULL));
  REFUSED(tb_clock_timer_start_at(NULL, TIME));
  REFUSED(tb_steady_clock_timer_start_at(NULL, (tb_steady_time_t){1}));
  REFUSED(tb_timer_call(NULL));
  REFUSED(tb_clock_timer_advance(NULL, ANY));
  REFUSED(tb_steady_clock_timer_advance(NULL, ANY));
  ZERO(tb_timer_is_ready(NULL));
  REFUSED(tb_timer_time_until_next(NULL, ANY));
  REFUSED(tb_timer_time_until_next(ANY, NULL));
  REFUSED(tb_timer_time_since_last_call(NULL, ANY));
  REFUSED(tb_timer_time_since_last_call(ANY, NULL));
  REFUSED(tb_timer_period(NULL, ANY));
  REFUSED(tb_timer_period(ANY, NULL));
  ZERO(tb_timer_clock(NULL));
  ZERO(tb_timer_steady_clock(NULL));
  REFUSED(tb_clock_timer_exchange_callback(NULL, ANY, NULL, NULL, NULL));
  REFUSED(tb_clock_timer_exchange_callback(ANY, NULL, NULL, NULL, NULL));
  REFUSED(tb_steady_clock_timer_exchange_callback(NULL, ANY, NULL, NULL, NULL));
  REFUSED(tb_steady_clock_timer_exchange_callback(ANY, NULL, NULL, NULL, NULL));
  REFUSED(tb_timer_set_reset_hook(NULL, ANY, NULL));
  REFUSED(tb_clock_timer_create(NULL, ANY, NULL, ANY));
  REFUSED(tb_clock_timer_create(ANY, NULL, NULL, ANY));
  REFUSED(tb_clock_timer_create(ANY, ANY, NULL, NULL));
  REFUSED(tb_steady_clock_timer_create(NULL, ANY, NULL, ANY));
  REFUSED(tb_steady_clock_timer_create(ANY, NULL, NULL, ANY));
  REFUSED(tb_steady_clock_timer_create(ANY, ANY, NULL, NULL));
  REFUSED(tb_timer_start(NULL));
  REFUSED(tb_timer_stop(NULL));
  REFUSED(tb_timer_stop_wait(NULL, NS));
  REFUSED(tb_timer_set_period(NULL, NS));
  ZERO(tb_timer_is_running(NULL));
  REFUSED(tb_clock_timer_next_deadline(NULL, ANY));
  REFUSED(tb_clock_timer_next_deadline(ANY, NULL));
  REFUSED(tb_steady_clock_timer_next_deadline(NULL, ANY));
  REFUSED(tb_steady_clock_timer_next_deadline(ANY, NULL));
  NOTHING(tb_timer_destroy(NULL));
}

static void test_stamper(void **state)
{
  (void)state;
  REFUSED(tb_stamper_create(NULL, NULL, ANY));
  REFUSED(tb_stamper_create(ANY, NULL, NULL));
  NOTHING(tb_stamper_destroy(NULL));
  REFUSED(tb_stamper_note(NULL));
  REFUSED(tb_stamp_from_steady(NULL, STEADY, ANY));
  REFUSED(tb_stamp_from_steady(ANY, STEADY, NULL));
  REFUSED(tb_stamp_from_system(NULL, TIME, ANY));
  REFUSED(tb_stamp_from_system(ANY, TIME, NULL));
}

static void test_statistics(void **state)
{
  (void)state;
  size_t size;
  const tb_statistics_options_t no_clock = {.node = "/a"}, no_node = {.clock = ANY};
  const tb_topic_statistics_options_t no_topic = {0};
  REFUSED(tb_statistics_create(NULL, ANY));
  REFUSED(tb_statistics_create(&no_clock, ANY));
  REFUSED(tb_statistics_create(&no_node, ANY));
  REFUSED(tb_statistics_create(&no_clock, NULL));
  NOTHING(tb_statistics_destroy(NULL));
  REFUSED(tb_topic_statistics_create(NULL, &no_topic, ANY));
  REFUSED(tb_topic_statistics_create(ANY, NULL, ANY));
  REFUSED(tb_topic_statistics_create(ANY, &no_topic, ANY));
  REFUSED(tb_topic_statistics_create(ANY, &no_topic, NULL));
  NOTHING(tb_topic_statistics_destroy(NULL));
  NOTHING(tb_topic_statistics_begin(NULL, ANY));
  NOTHING(tb_topic_statistics_begin(ANY, NULL));
  NOTHING(tb_topic_statistics_end(NULL));
  REFUSED(tb_timer_statistics_create(NULL, "a", ANY));
  REFUSED(tb_timer_statistics_create(ANY, NULL, ANY));
  REFUSED(tb_timer_statistics_create(ANY, "a", NULL));
  ACCEPTED(tb_timer_statistics_set_period(NULL, NS));
  ZERO(tb_timer_statistics_corrected_lateness(NULL));
  NOTHING(tb_statistics_set_clock_publishers(NULL, 1));
  NOTHING(tb_timer_statistics_destroy(NULL));
  NOTHING(tb_timer_statistics_note(NULL, TIME, TIME, 0));
  NOTHING(tb_timer_statistics_note_steady(NULL, STEADY, STEADY, 0));
  REFUSED(tb_statistics_snapshot(NULL));
  REFUSED(tb_statistics_clock(NULL, ANY));
  REFUSED(tb_statistics_clock(ANY, NULL));
  REFUSED(tb_topic_statistics_summary(NULL, ANY));
  REFUSED(tb_topic_statistics_summary(ANY, NULL));
  ZERO(tb_topic_statistics_histogram(NULL, TB_TOPIC_MESSAGE_AGE));
  ZERO(tb_timer_statistics_lateness(NULL));
  ZERO(tb_timer_statistics_missed(NULL));
  REFUSED(tb_statistics_openmetrics(NULL, 0, NULL, &size));
  REFUSED(tb_statistics_openmetrics(ANY, 1, NULL, &size));
  REFUSED(tb_statistics_openmetrics(ANY, 1, ANY, NULL));
  REFUSED(tb_statistics_save_openmetrics(NULL, "a", NULL));
  REFUSED(tb_statistics_save_openmetrics(ANY, NULL, NULL));
}

static void test_watchdog(void **state)
{
  (void)state;
  REFUSED(tb_watchdog_create(NULL, ANY));
  REFUSED(tb_watchdog_create(&(tb_watchdog_options_t){.limit = NS}, ANY));
  REFUSED(tb_watchdog_create(&(tb_watchdog_options_t)TB_WATCHDOG_OPTIONS_INIT, NULL));
  NOTHING(tb_watchdog_destroy(NULL));
  REFUSED(tb_watchdog_start(NULL));
  REFUSED(tb_watchdog_stop(NULL));
  NOTHING(tb_watchdog_kick(NULL));
  REFUSED(tb_watchdog_read(NULL, ANY));
  REFUSED(tb_watchdog_read(ANY, NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cancel_token),
      cmocka_unit_test(test_clock),
      cmocka_unit_test(test_clock_server),
      cmocka_unit_test(test_condition),
      cmocka_unit_test(test_duration),
      cmocka_unit_test(test_error),
      cmocka_unit_test(test_extrapolating_source),
      cmocka_unit_test(test_histogram),
      cmocka_unit_test(test_jump),
      cmocka_unit_test(test_log),
      cmocka_unit_test(test_manual_source),
      cmocka_unit_test(test_qos),
      cmocka_unit_test(test_rate),
      cmocka_unit_test(test_publish_guard),
      cmocka_unit_test(test_ready),
      cmocka_unit_test(test_reset),
      cmocka_unit_test(test_shm_publisher),
      cmocka_unit_test(test_shm_source),
      cmocka_unit_test(test_sleep),
      cmocka_unit_test(test_source),
      cmocka_unit_test(test_steady_clock),
      cmocka_unit_test(test_steady_time),
      cmocka_unit_test(test_testing),
      cmocka_unit_test(test_text),
      cmocka_unit_test(test_time),
      cmocka_unit_test(test_timeline),
      cmocka_unit_test(test_timer),
      cmocka_unit_test(test_stamper),
      cmocka_unit_test(test_statistics),
      cmocka_unit_test(test_watchdog),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
