/* Objects that measure, in a forked child: none of its calls blocks, and all are freed. */
#include <stdlib.h>
#include <sys/wait.h>
#include <timebase/histogram.h>
#include <timebase/publish_guard.h>
#include <timebase/ready.h>
#include <timebase/reset.h>
#include <timebase/stamper.h>
#include <timebase/statistics.h>
#include <timebase/watchdog.h>
#include <unistd.h>

#include "forking.h"
#include "on_manual_source.h"

/* In the child: prints where it failed, and ends it. */
#define CHECK(expression)                                                                          \
  do {                                                                                             \
    if (!(expression)) {                                                                           \
      fprintf(stderr, "child: line %d: %s\n", __LINE__, #expression);                              \
      _exit(1);                                                                                    \
    }                                                                                              \
  } while (0)
#define CHECK_FORKED(expression) CHECK((expression) == TB_ERR_FORKED)

typedef struct objects {
  tb_clock_t *clock;
  tb_histogram_t *histogram;
  tb_histogram_writer_t *writer;
  tb_ready_t *ready;
  tb_watchdog_t *watchdog;
  tb_publish_guard_t *guard;
  tb_stamper_t *stamper;
  tb_reset_t *reset;
  tb_statistics_t *statistics;
  tb_topic_statistics_t *topic;
  tb_timer_statistics_t *timer;
} objects_t;

static void on_ready(tb_ready_t *ready, const tb_ready_result_t *result, void *user)
{
  (void)ready, (void)result, (void)user;
}

static void on_expired(tb_watchdog_t *watchdog, const tb_watchdog_info_t *info, void *user)
{
  (void)watchdog, (void)info, (void)user;
}

static const tb_watchdog_options_t watched = {.limit = {3600 * S}, .on_expired = on_expired};

static void use_in_child(objects_t *o)
{
  tb_histogram_stats_t stats;
  tb_ready_result_t result;
  tb_watchdog_info_t info;
  tb_stamp_t stamp;
  void *made;
  tb_histogram_record(o->writer, (tb_duration_t){S});
  CHECK_FORKED(tb_histogram_create(NULL, (tb_histogram_t **)&made));
  CHECK_FORKED(tb_histogram_writer_create(o->histogram, (tb_histogram_writer_t **)&made));
  CHECK_FORKED(tb_histogram_snapshot(o->histogram));
  CHECK_FORKED(tb_histogram_stats(o->histogram, TB_HISTOGRAM_INTERVAL, &stats));
  CHECK_FORKED(tb_ready_wait(o->clock, NULL, NULL, &result, NULL));
  CHECK_FORKED(tb_ready_on(o->clock, NULL, on_ready, NULL, (tb_ready_t **)&made));
  CHECK_FORKED(tb_ready_read(o->ready, &result));
  CHECK_FORKED(tb_watchdog_create(&watched, (tb_watchdog_t **)&made));
  CHECK_FORKED(tb_watchdog_start(o->watchdog));
  CHECK_FORKED(tb_watchdog_stop(o->watchdog));
  CHECK_FORKED(tb_watchdog_read(o->watchdog, &info));
  tb_watchdog_kick(o->watchdog);
  CHECK_FORKED(tb_publish_guard_create(o->clock, (tb_publish_guard_t **)&made));
  CHECK(!tb_publish_guard_check(o->guard, NULL)); /* reading never blocks */
  CHECK_FORKED(tb_publish_guard_wait(o->guard, NULL, NULL));
  CHECK_FORKED(tb_reset_create(o->clock, NULL, (tb_reset_t **)&made));
  CHECK(tb_reset_generation(o->reset) != 0); /* reading never blocks */
  CHECK_FORKED(tb_stamper_create(o->clock, NULL, (tb_stamper_t **)&made));
  CHECK_FORKED(tb_stamper_note(o->stamper));
  CHECK_FORKED(tb_stamp_from_steady(o->stamper, (tb_steady_time_t){1}, &stamp));
  CHECK_FORKED(tb_stamp_from_system(o->stamper, (tb_time_t){1, TB_TIME_SYSTEM}, &stamp));
}

static const tb_topic_statistics_options_t of_topic = {.topic = "/image"};

static void use_statistics_in_child(objects_t *o)
{
  const tb_statistics_options_t options = {.node = "/node", .clock = o->clock};
  const tb_topic_message_t message = {.stamp_ns = S, .has_stamp = true};
  tb_clock_summary_t clock;
  tb_topic_summary_t summary;
  size_t size;
  void *made;
  tb_topic_statistics_begin(o->topic, &message);
  tb_topic_statistics_end(o->topic);
  CHECK_FORKED(tb_statistics_create(&options, (tb_statistics_t **)&made));
  CHECK_FORKED(
      tb_topic_statistics_create(o->statistics, &of_topic, (tb_topic_statistics_t **)&made));
  CHECK_FORKED(tb_timer_statistics_create(o->statistics, "a", (tb_timer_statistics_t **)&made));
  CHECK_FORKED(tb_statistics_snapshot(o->statistics));
  CHECK_FORKED(tb_statistics_clock(o->statistics, &clock));
  CHECK_FORKED(tb_topic_statistics_summary(o->topic, &summary));
  CHECK_FORKED(tb_statistics_openmetrics(o->statistics, 0, NULL, &size));
  CHECK_FORKED(tb_statistics_save_openmetrics(o->statistics, "/tmp/never", NULL));
}

static void destroy(objects_t *o)
{
  tb_timer_statistics_destroy(o->timer);
  tb_statistics_destroy(o->statistics);
  tb_histogram_writer_destroy(o->writer);
  tb_histogram_destroy(o->histogram);
  tb_ready_destroy(o->ready);
  tb_watchdog_destroy(o->watchdog);
  tb_publish_guard_destroy(o->guard);
  tb_stamper_destroy(o->stamper);
  tb_reset_destroy(o->reset);
}

static void test_C7_a_child_uses_nothing_and_frees_all(void **state)
{
  fixture_t *f = *state;
  objects_t o = {.clock = f->clock};
  assert_ok(tb_histogram_create(NULL, &o.histogram));
  assert_ok(tb_histogram_writer_create(o.histogram, &o.writer));
  assert_ok(tb_ready_on(f->clock, NULL, on_ready, NULL, &o.ready));
  assert_ok(tb_watchdog_create(&watched, &o.watchdog));
  assert_ok(tb_watchdog_start(o.watchdog));
  assert_ok(tb_publish_guard_create(f->clock, &o.guard));
  assert_ok(tb_stamper_create(f->clock, NULL, &o.stamper));
  assert_ok(tb_reset_create(f->clock, NULL, &o.reset));
  const tb_statistics_options_t of_node = {.node = "/node", .clock = o.clock};
  assert_ok(tb_statistics_create(&of_node, &o.statistics));
  assert_ok(tb_topic_statistics_create(o.statistics, &of_topic, &o.topic));
  assert_ok(tb_timer_statistics_create(o.statistics, "control", &o.timer));
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    use_in_child(&o);
    use_statistics_in_child(&o);
    destroy(&o);
    exit(0); /* with the destructors of the library */
  }
  assert_true(pid > 0);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  tb_histogram_record(o.writer, (tb_duration_t){S}); /* nothing has changed in the parent */
  assert_ok(tb_watchdog_stop(o.watchdog));
  destroy(&o);
}

int main(void)
{
  const struct CMUnitTest tests[] = {WITH_CLOCK(test_C7_a_child_uses_nothing_and_frees_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
