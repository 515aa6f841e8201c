/* Every allocation and every platform call of the core made to fail in turn. A scenario makes one
 * kind of object, works with it and destroys it; a new one is a function and a line in main. */
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <timebase/testing.h>
#include <timebase/timebase.h>
#include <unistd.h>

#include "base/heap.h"
#include "faults.h"
#include "source/wake_area.h"
#include "wall_clock.h"

#define S       TB_NS_PER_S
#define MANY    40 /* timers: more than one chunk of memory for them */
#define A_WHILE ((tb_duration_t){1000})

/* What is there before, and must continue to work. */
static struct bystander {
  tb_source_t *source;
  tb_clock_t *clock;
  tb_steady_clock_t *steady;
  tb_timer_queue_t *queue;
  tb_timer_t *timer;
  tb_jump_handler_t *handler;
  int calls, jumps;
} by;

static void count_call(tb_timer_t *timer, const tb_timer_info_t *info, void *user)
{
  (void)timer, (void)info;
  ++*(int *)user;
}

static void count_steady_call(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer, (void)info;
  ++*(int *)user;
}

static void count_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  ++*(int *)user;
}

static tb_timer_options_t each_second(int *calls)
{
  return (tb_timer_options_t){.period = {S}, .callback = count_call, .user = calls};
}

static tb_jump_handler_options_t at_backward_jumps(int *jumps)
{
  return (tb_jump_handler_options_t){
      .threshold.min_backward.ns = -1, .after = count_jump, .user = jumps};
}

static int make_bystander(void **state)
{
  (void)state;
  tb_timer_options_t timer = each_second(&by.calls);
  tb_jump_handler_options_t handler = at_backward_jumps(&by.jumps);
  assert_ok(tb_manual_source_create(&by.source));
  assert_ok(tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, by.source}, &by.clock));
  assert_ok(tb_steady_clock_create(&by.steady));
  assert_ok(tb_timer_queue_create(&by.queue));
  assert_ok(tb_clock_timer_create(by.queue, by.clock, &timer, &by.timer));
  assert_ok(tb_jump_handler_create(by.clock, &handler, &by.handler));
  assert_ok(tb_manual_source_set(by.source, 100 * S));
  assert_ok(tb_timer_start(by.timer));
  return 0;
}

static int destroy_bystander(void **state)
{
  (void)state;
  assert_ok(tb_timer_queue_destroy(by.queue));
  assert_ok(tb_clock_destroy(by.clock));
  assert_ok(tb_steady_clock_destroy(by.steady));
  assert_ok(tb_source_destroy(by.source));
  return 0;
}

static void bystander_works(void)
{
  tb_time_t now;
  by.calls = by.jumps = 0;
  assert_ok(tb_clock_now(by.clock, &now));
  assert_ok(tb_manual_source_set(by.source, now.ns - 1));
  assert_int_equal(by.jumps, 1);
  assert_ok(tb_manual_source_advance(by.source, (tb_duration_t){2 * S}));
  assert_ok(tb_timer_queue_run_due(by.queue, NULL));
  assert_int_equal(by.calls, 1);
  tb_time_t later;
  assert_ok(tb_clock_now(by.clock, &later));
  assert_int_equal(later.ns, now.ns - 1 + 2 * S);
}

/* ---- scenarios ---- */

static tb_status_t clocks(void)
{
  tb_status_t status;
  tb_clock_t *plain = NULL, *active = NULL, *second = NULL;
  tb_steady_clock_t *steady = NULL;
  tb_source_t *source = NULL;
  TRY_MAKE(plain, tb_clock_create(NULL, &plain));
  TRY_MAKE(steady, tb_steady_clock_create(&steady));
  TRY_MAKE(source, tb_manual_source_create(&source));
  TRY_MAKE(active, tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &active));
  TRY_MAKE(second, tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, by.source}, &second));
  TRY(tb_manual_source_set(source, 5 * S));
  TRY(tb_clock_set_source(plain, source));
  TRY(tb_clock_set_source(active, NULL));
  TRY(tb_clock_set_source(second, source));
end:
  assert_ok(tb_clock_destroy(second));
  assert_ok(tb_clock_destroy(active));
  assert_ok(tb_source_destroy(source));
  assert_ok(tb_steady_clock_destroy(steady));
  assert_ok(tb_clock_destroy(plain));
  return status;
}

static int starts; /* less the stops */

static tb_status_t counted_start(void *self, tb_timeline_t *timeline)
{
  (void)self;
  starts++;
  return tb_timeline_tick(timeline, S, TB_JUMP_REASON_NONE);
}

static void counted_stop(void *self)
{
  (void)self;
  starts--;
}

static const tb_source_ops_t counted_ops = {"counted", counted_start, counted_stop, NULL};

/* A clock that fails to move to a source stops it again, and reads the same time as before. */
static tb_status_t a_move_to_a_source(void)
{
  tb_status_t status;
  tb_clock_t *clock = NULL;
  tb_source_t *source = NULL;
  bool moved = false;
  TRY_MAKE(source, tb_source_create(&counted_ops, NULL, &source));
  TRY_MAKE(clock, tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, by.source}, &clock));
  uint64_t epoch = tb_clock_epoch(clock);
  TRY(tb_clock_set_source(clock, source));
  moved = true;
end:
  assert_int_equal(starts, moved ? 1 : 0);
  if (clock && !moved) {
    tb_time_t reading, expected;
    assert_ok(tb_clock_now(clock, &reading));
    assert_ok(tb_clock_now(by.clock, &expected));
    assert_int_equal(reading.ns, expected.ns);
    assert_int_equal(tb_clock_epoch(clock), epoch);
  }
  assert_ok(tb_source_destroy(source));
  assert_ok(tb_clock_destroy(clock));
  assert_int_equal(starts, 0);
  return status;
}

static tb_status_t handlers(void)
{
  tb_status_t status;
  int jumps = 0;
  tb_jump_handler_t *first = NULL, *second = NULL;
  tb_jump_handler_options_t options = at_backward_jumps(&jumps);
  TRY_MAKE(first, tb_jump_handler_create(by.clock, &options, &first));
  TRY_MAKE(second, tb_jump_handler_create(by.clock, &options, &second));
  TRY(tb_manual_source_advance(by.source, (tb_duration_t){-1}));
  assert_int_equal(jumps, 2);
end:
  tb_jump_handler_destroy(first);
  tb_jump_handler_destroy(second);
  return status;
}

static tb_status_t a_histogram(void)
{
  tb_status_t status;
  tb_histogram_stats_t stats;
  tb_histogram_t *histogram = NULL;
  tb_histogram_writer_t *first = NULL, *second = NULL;
  TRY_MAKE(histogram, tb_histogram_create(NULL, &histogram));
  TRY_MAKE(first, tb_histogram_writer_create(histogram, &first));
  tb_histogram_record(first, (tb_duration_t){S});
  TRY_MAKE(second, tb_histogram_writer_create(histogram, &second));
  tb_histogram_record(second, (tb_duration_t){2 * S});
  TRY(tb_histogram_snapshot(histogram));
  TRY(tb_histogram_stats(histogram, TB_HISTOGRAM_INTERVAL, &stats));
  assert_int_equal(stats.count, 2);
end:
  tb_histogram_destroy(histogram);
  return status;
}

static void count_ready(tb_ready_t *ready, const tb_ready_result_t *result, void *user)
{
  (void)ready, (void)result;
  ++*(_Atomic int *)user;
}

static tb_status_t readiness(void)
{
  tb_status_t status;
  _Atomic int calls = 0;
  tb_ready_t *ready = NULL;
  tb_publish_guard_t *guard = NULL;
  TRY_MAKE(guard, tb_publish_guard_create(by.clock, &guard));
  TRY(tb_publish_guard_wait(guard, NULL, NULL));
  TRY(tb_ready_wait(by.clock, NULL, NULL, NULL, NULL));
  TRY_MAKE(ready, tb_ready_on(by.clock, NULL, count_ready, &calls, &ready));
  while (!calls)
    sched_yield();
end:
  tb_ready_destroy(ready);
  tb_publish_guard_destroy(guard);
  return status;
}

static tb_status_t a_reset(void)
{
  tb_status_t status;
  tb_time_t now;
  uint64_t generation;
  tb_reset_t *reset = NULL;
  TRY_MAKE(reset, tb_reset_create(by.clock, NULL, &reset));
  TRY(tb_reset_read(reset, &now, &generation));
  TRY(tb_reset_accept(reset, now, &generation));
end:
  tb_reset_destroy(reset);
  return status;
}

static tb_status_t a_stamper(void)
{
  tb_status_t status;
  tb_stamp_t stamp;
  tb_steady_time_t now;
  tb_stamper_t *stamper = NULL;
  TRY_MAKE(stamper, tb_stamper_create(by.clock, NULL, &stamper));
  TRY(tb_stamper_note(stamper));
  TRY(tb_steady_clock_now(by.steady, &now));
  TRY(tb_stamp_from_steady(stamper, now, &stamp));
end:
  tb_stamper_destroy(stamper);
  return status;
}

static tb_status_t statistics_of_a_node(void)
{
  tb_status_t status;
  tb_topic_statistics_t *topic = NULL;
  tb_timer_statistics_t *timer = NULL;
  tb_statistics_t *statistics = NULL;
  const tb_statistics_options_t options = {.node = "/node", .clock = by.clock};
  const tb_topic_statistics_options_t of_topic = {.topic = "/image"};
  char path[] = "/tmp/timebase-metrics-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  TRY_MAKE(statistics, tb_statistics_create(&options, &statistics));
  TRY_MAKE(topic, tb_topic_statistics_create(statistics, &of_topic, &topic));
  TRY_MAKE(timer, tb_timer_statistics_create(statistics, "timer", &timer));
  TRY(tb_timer_statistics_set_period(timer, (tb_duration_t){S}));
  tb_topic_statistics_begin(topic, &(tb_topic_message_t){.stamp_ns = S, .has_stamp = true});
  tb_topic_statistics_end(topic);
  TRY(tb_statistics_snapshot(statistics));
  TRY(tb_statistics_save_openmetrics(statistics, path, NULL));
end:
  tb_statistics_destroy(statistics);
  unlink(path);
  return status;
}

static void count_expired(tb_watchdog_t *watchdog, const tb_watchdog_info_t *info, void *user)
{
  (void)watchdog, (void)info;
  ++*(_Atomic int *)user;
}

static tb_status_t a_watchdog(void)
{
  tb_status_t status;
  _Atomic int calls = 0;
  tb_watchdog_t *watchdog = NULL;
  const tb_watchdog_options_t options = {
      .limit = {1}, .on_expired = count_expired, .user = &calls, .clock = by.clock};
  TRY_MAKE(watchdog, tb_watchdog_create(&options, &watchdog));
  TRY(tb_watchdog_start(watchdog));
  while (!calls)
    sched_yield();
end:
  tb_watchdog_destroy(watchdog);
  return status;
}

static tb_status_t waits(void)
{
  tb_status_t status;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  tb_cancel_token_t *token = NULL;
  tb_cond_t *cond = NULL;
  tb_steady_cond_t *steady_cond = NULL;
  tb_rate_t *rate = NULL, *steady_rate = NULL;
  bool signalled;
  pthread_mutex_lock(&mutex);
  TRY_MAKE(token, tb_cancel_token_create(&token));
  TRY_MAKE(cond, tb_cond_create(by.clock, &cond));
  TRY_MAKE(steady_cond, tb_steady_cond_create(by.steady, &steady_cond));
  TRY_MAKE(rate, tb_clock_rate_create(by.clock, (tb_duration_t){S}, &rate));
  TRY_MAKE(steady_rate, tb_steady_clock_rate_create(by.steady, A_WHILE, &steady_rate));
  tb_wait_options_t options = TB_WAIT_OPTIONS_INIT;
  options.token = token;
  TRY(tb_steady_clock_sleep_for(by.steady, A_WHILE, &options));
  TRY(tb_steady_cond_wait_for(steady_cond, &mutex, A_WHILE, &options, &signalled));
  TRY(tb_rate_sleep(steady_rate, &options, NULL));
  options.limit = A_WHILE;
  assert_status(tb_clock_sleep_for(by.clock, (tb_duration_t){S}, &options), TB_ERR_TIMEOUT);
  assert_status(tb_cond_wait_for(cond, &mutex, (tb_duration_t){S}, &options, NULL), TB_ERR_TIMEOUT);
  assert_status(tb_rate_sleep(rate, &options, NULL), TB_ERR_TIMEOUT);
  tb_cancel_token_cancel(token);
  assert_status(tb_clock_sleep_for(by.clock, (tb_duration_t){S}, &options), TB_ERR_CANCELLED);
end:
  pthread_mutex_unlock(&mutex);
  tb_rate_destroy(rate);
  tb_rate_destroy(steady_rate);
  assert_ok(tb_cond_destroy(cond));
  assert_ok(tb_steady_cond_destroy(steady_cond));
  assert_ok(tb_cancel_token_destroy(token));
  return status;
}

static tb_status_t timers(void)
{
  tb_status_t status;
  int calls = 0;
  tb_timer_queue_t *queue = NULL;
  tb_timer_t *timer;
  tb_timer_options_t options = each_second(&calls);
  tb_steady_timer_options_t steady_options = {
      .period = {S}, .callback = count_steady_call, .user = &calls};
  TRY_MAKE(queue, tb_timer_queue_create(&queue));
  for (int i = 0; i < MANY; i++) {
    TRY_MAKE(timer, tb_clock_timer_create(queue, by.clock, &options, &timer));
    TRY(tb_timer_start(timer));
  }
  TRY_MAKE(timer, tb_steady_clock_timer_create(queue, by.steady, &steady_options, &timer));
  TRY(tb_timer_start(timer));
end:
  assert_ok(tb_manual_source_advance(by.source, (tb_duration_t){S}));
  assert_ok(tb_timer_queue_run_due(by.queue, NULL));
  if (!status) status = tb_timer_queue_run_due(queue, NULL);
  if (!status) assert_int_equal(calls, MANY);
  assert_ok(tb_timer_queue_destroy(queue));
  return status;
}

static void on_timer(tb_timer_t *timer, const tb_steady_timer_info_t *info, void *user)
{
  (void)timer, (void)info;
  assert_ok(tb_steady_cond_signal(user));
}

static tb_status_t a_queue_with_a_thread(void)
{
  tb_status_t status;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  tb_steady_cond_t *cond = NULL;
  tb_timer_queue_t *queue = NULL;
  tb_timer_t *timer = NULL;
  bool called = false;
  pthread_mutex_lock(&mutex);
  TRY_MAKE(cond, tb_steady_cond_create(by.steady, &cond));
  TRY_MAKE(queue, tb_timer_queue_create(&queue));
  tb_steady_timer_options_t options = {.period = A_WHILE, .callback = on_timer, .user = cond};
  TRY_MAKE(timer, tb_steady_clock_timer_create(queue, by.steady, &options, &timer));
  TRY(tb_timer_start(timer));
  TRY(tb_timer_queue_start_thread(queue));
  TRY(tb_steady_cond_wait_for(cond, &mutex, (tb_duration_t){INT64_MAX}, NULL, &called));
  assert_true(called);
  TRY(tb_timer_queue_stop_thread(queue, TB_NO_LIMIT));
end:
  pthread_mutex_unlock(&mutex);
  assert_ok(tb_timer_queue_destroy(queue));
  assert_ok(tb_steady_cond_destroy(cond));
  return status;
}

/* Time that runs by itself needs a thread; without one it does not advance. */
static tb_status_t a_source_that_runs(void)
{
  tb_status_t status;
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  tb_steady_time_t now;
  tb_time_t reading;
  TRY_MAKE(source, tb_manual_source_create(&source));
  TRY_MAKE(clock, tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &clock));
  TRY(tb_manual_source_set(source, 5 * S));
  TRY(tb_steady_clock_now(by.steady, &now));
  const tb_anchor_t anchor = {7 * S, now, 1000, {INT64_MAX}, TB_CLOCK_RUNNING, 0};
  status = tb_timeline_anchor(tb_source_timeline(source), &anchor, TB_JUMP_REASON_NONE);
  assert_ok(tb_clock_now(clock, &reading));
  assert_true(status ? reading.ns == 5 * S : reading.ns >= 7 * S);
  TRY(status);
  TRY(tb_clock_sleep_for(clock, (tb_duration_t){S}, NULL));
end:
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source));
  return status;
}

/* On failure the inner source stays the caller's. */
static tb_status_t an_extrapolating_source(void)
{
  tb_status_t status;
  tb_source_t *inner = NULL, *source = NULL;
  tb_clock_t *clock = NULL;
  TRY_MAKE(inner, tb_manual_source_create(&inner));
  TRY_MAKE(source, tb_extrapolating_source_create(inner, NULL, &source));
  TRY_MAKE(clock, tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, source}, &clock));
  for (int i = 1; i < 5; i++)
    TRY(tb_manual_source_set(inner, i * S));
end:
  assert_ok(tb_clock_destroy(clock));
  assert_ok(tb_source_destroy(source ? source : inner));
  return status;
}

static tb_status_t take_tick(void *self, int64_t time_ns, tb_jump_reason_t reason,
                             tb_error_t *error)
{
  (void)reason, (void)error;
  *(int64_t *)self = time_ns;
  return TB_OK;
}

static tb_status_t a_clock_server(void)
{
  tb_status_t status;
  int64_t last_ns = 0;
  tb_clock_server_t *server = NULL;
  tb_clock_server_options_t options = TB_CLOCK_SERVER_OPTIONS_INIT;
  options.start_paused = options.as_fast_as_possible = true;
  TRY_MAKE(server, tb_clock_server_create(&options, &(tb_tick_sink_t){take_tick, &last_ns}, 1,
                                          &server, NULL));
  TRY(tb_clock_server_run_due(server, 1, NULL, NULL, NULL));
  TRY(tb_clock_server_start(server));
  TRY(tb_clock_server_step_to(server, S, TB_NO_LIMIT));
  assert_int_equal(last_ns, S);
end:
  tb_clock_server_destroy(server);
  return status;
}

/* ---- shared memory ---- */

static char shm_folder[64];
static tb_shm_options_t shm_options = TB_SHM_OPTIONS_INIT;

static int make_folder(void **state)
{
  strcpy(shm_folder, "/tmp/timebase-faults-XXXXXX");
  assert_non_null(mkdtemp(shm_folder));
  shm_options.directory = shm_folder;
  return make_bystander(state);
}

static void remove_page(void)
{
  char path[128];
  snprintf(path, sizeof path, "%s/timebase.faults", shm_folder);
  unlink(path);
}

static int remove_folder(void **state)
{
  assert_int_equal(rmdir(shm_folder), 0);
  return destroy_bystander(state);
}

static void assert_told(const tb_error_t *error, tb_status_t status)
{
  if (!status) return;
  assert_int_equal(error->status, status);
  assert_int_not_equal(error->text[0], 0);
}

typedef struct shared {
  tb_shm_publisher_t *publisher;
  tb_source_t *source;
} shared_t;

/* A reader that gets no slot is woken by each tick: whatever fails there is harmless. */
bool __real_tb__wake_slot_take(tb__wake_slot_t *slot, const char *path, uint64_t inode);
bool __wrap_tb__wake_slot_take(tb__wake_slot_t *slot, const char *path, uint64_t inode);
bool __wrap_tb__wake_slot_take(tb__wake_slot_t *slot, const char *path, uint64_t inode)
{
  *slot = (tb__wake_slot_t)TB__WAKE_SLOT_NONE;
  if (fault_strikes(FAULT_HARMLESS, "tb__wake_slot_take")) return false;
  fault_suspend(true);
  bool is_taken = __real_tb__wake_slot_take(slot, path, inode);
  fault_suspend(false);
  return is_taken;
}

static tb_status_t make_publisher(shared_t *shared)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = MAKES(
      shared->publisher, tb_shm_publisher_open("faults", &shm_options, &shared->publisher, &error));
  assert_told(&error, status);
  return status;
}

static tb_status_t make_shared_source(shared_t *shared)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status =
      MAKES(shared->source, tb_shm_source_create("faults", &shm_options, &shared->source, &error));
  assert_told(&error, status);
  return status;
}

static tb_status_t share(shared_t *shared)
{
  tb_status_t status;
  tb_clock_t *clock = NULL;
  TRY_MAKE(clock, tb_clock_create(&(tb_clock_options_t){TB_TIME_ROS, shared->source}, &clock));
  TRY(tb_shm_publisher_tick(shared->publisher, 5 * S, TB_JUMP_REASON_NONE));
  TRY(tb_clock_wait_until_started(clock, NULL));
  tb_time_t now;
  assert_ok(tb_clock_now(clock, &now));
  assert_int_equal(now.ns, 5 * S);
  TRY(tb_shm_publisher_tick(shared->publisher, 9 * S, TB_JUMP_REASON_NONE));
  TRY(tb_clock_sleep_until(clock, (tb_time_t){9 * S, TB_TIME_ROS}, NULL));
end:
  assert_ok(tb_clock_destroy(clock));
  return status;
}

static tb_status_t unshare_time(shared_t *shared, tb_status_t status)
{
  assert_ok(tb_source_destroy(shared->source));
  tb_shm_publisher_close(shared->publisher);
  remove_page();
  return status;
}

static tb_status_t a_time_that_is_shared(void)
{
  shared_t shared = {0};
  tb_status_t status = make_publisher(&shared);
  if (!status) status = make_shared_source(&shared);
  if (!status) status = share(&shared);
  return unshare_time(&shared, status);
}

static tb_status_t a_page_that_waits_for_its_publisher(void)
{
  shared_t shared = {0};
  tb_status_t status = make_shared_source(&shared);
  if (!status) status = make_publisher(&shared);
  if (!status) status = share(&shared);
  return unshare_time(&shared, status);
}

/* ---- sources of the process ---- */

/* Before anything has decided on the default. */
static tb_status_t the_source_of_the_environment(void)
{
  tb_clock_t *clock = NULL;
  tb_status_t status = MAKES(clock, tb_clock_create(NULL, &clock));
  assert_ok(tb_clock_destroy(clock));
  tb_source_t *source = tb_source_get_default();
  assert_true(!status || !source);
  assert_ok(tb_source_destroy(source));
  return status;
}

static tb_status_t a_default_source(void)
{
  tb_status_t status;
  tb_source_t *source = NULL;
  tb_clock_t *clocks[3] = {NULL};
  TRY_MAKE(source, tb_manual_source_create(&source));
  TRY(tb_manual_source_set(source, 7 * S));
  for (int i = 0; i < 3; i++)
    TRY_MAKE(clocks[i], tb_clock_create(NULL, &clocks[i]));
  status = tb_source_set_default(source);
  for (int i = 0; i < 3; i++)
    assert_int_equal(tb_clock_is_active(clocks[i]), !status);
  TRY(status);
  TRY(tb_source_set_default(by.source));
end:
  for (int i = 0; i < 3; i++)
    assert_ok(tb_clock_destroy(clocks[i]));
  assert_ok(tb_source_destroy(source));
  assert_ok(tb_source_set_default(NULL));
  return status;
}

static tb_status_t make_named(const char *rest, void *user, tb_source_t **out, tb_error_t *error)
{
  (void)user, (void)error;
  assert_string_equal(rest, "rest");
  return tb_manual_source_create(out);
}

static tb_status_t names_of_sources(void)
{
  tb_source_t *source = NULL;
  tb_error_t error = TB_ERROR_INIT;
  tb_status_t status = tb_source_register("named", make_named, NULL);
  if (status) return status;
  status = MAKES(source, tb_source_create_from_name("extrapolating:named:rest", &source, &error));
  assert_told(&error, status);
  assert_ok(tb_source_destroy(source));
  assert_ok(tb_source_register("named", NULL, NULL));
  return status;
}

/* ---- the times of the system ---- */

static int tasks(void)
{
  int count = 0;
  DIR *folder = opendir("/proc/self/task");
  while (readdir(folder))
    count++;
  closedir(folder);
  return count;
}

/* Without a thread or a descriptor steps are not noticed, which the log reports. */
static tb_status_t steps_of_system_time(void)
{
  tb_status_t status;
  int jumps = 0, tasks_before = tasks();
  tb_clock_t *clock = NULL;
  tb_jump_handler_t *handler = NULL;
  tb_jump_handler_options_t options = at_backward_jumps(&jumps);
  TRY_MAKE(clock, tb_clock_create(&(tb_clock_options_t){TB_TIME_SYSTEM, NULL}, &clock));
  TRY_MAKE(handler, tb_jump_handler_create(clock, &options, &handler));
  uint32_t before = wall_jumps();
  wall_set_by(-S);
  while (wall_jumps() == before && !(fault_status() && tasks() <= tasks_before))
    sched_yield();
  status = fault_status();
  assert_true(status || wall_jumps() > before);
end:
  tb_jump_handler_destroy(handler);
  assert_true(status || jumps == 1);
  assert_ok(tb_clock_destroy(clock));
  while (tasks() > tasks_before) /* it lingers */
    sched_yield();
  return status;
}

static tb_status_t time_in_the_hand_of_a_test(void)
{
  tb_status_t status;
  int calls = 0;
  bool holds = false;
  tb_timer_queue_t *queue = NULL;
  tb_timer_t *timer = NULL;
  tb_steady_timer_options_t options = {
      .period = {S}, .callback = count_steady_call, .user = &calls};
  TRY_MAKE(queue, tb_timer_queue_create(&queue));
  TRY(tb_testing_hold_os_time());
  holds = true;
  TRY_MAKE(timer, tb_steady_clock_timer_create(queue, by.steady, &options, &timer));
  TRY(tb_timer_start(timer));
  TRY(tb_testing_advance_stepped(TB_TESTING_STEADY, (tb_duration_t){S}, 10));
  TRY(tb_timer_queue_run_due(queue, NULL));
  assert_int_equal(calls, 1);
  TRY(tb_testing_advance_to_next(TB_TESTING_STEADY));
  TRY(tb_timer_queue_run_due(queue, NULL));
  assert_int_equal(calls, 2);
end:
  if (holds) assert_ok(tb_testing_release_os_time());
  assert_ok(tb_timer_queue_destroy(queue));
  return status;
}

/* ---- the insides ---- */

/* The first object of the process. */
static tb_status_t the_watch_for_forks(void)
{
  tb_source_t *source = NULL;
  tb_status_t status = MAKES(source, tb_manual_source_create(&source));
  assert_ok(tb_source_destroy(source));
  return status;
}

static tb_status_t a_heap_that_grows(void)
{
  tb_status_t status = TB_OK;
  tb__heap_t heap = {0};
  for (uint32_t id = 0; !status && id < 100; id++) {
    status = tb__heap_reserve(&heap, id + 1);
    assert_int_equal(heap.size, id);
    if (!status)
      tb__heap_insert(&heap, (tb__heap_entry_t){100 - id, tb__heap_make_rank(&heap, id)});
    assert_true(!heap.size || tb__heap_min(&heap)->key == 101 - (int64_t)heap.size);
  }
  tb__heap_fini(&heap);
  return status;
}

static tb_status_t a_large_heap(void)
{
  tb__heap_t heap = {0};
  tb_status_t status = tb__heap_reserve(&heap, 1 << 20);
  tb__heap_fini(&heap);
  return status;
}

static void test_faults_in_the_watch_for_forks(void **state)
{
  (void)state;
  fault_sweep(the_watch_for_forks, NULL);
}

#define SWEEP(scenario)                                                                            \
  static void test_faults_in_##scenario(void **state)                                              \
  {                                                                                                \
    (void)state;                                                                                   \
    fault_sweep(scenario, bystander_works);                                                        \
  }
#define SHARED_SCENARIOS(X)                                                                        \
  X(a_time_that_is_shared)                                                                         \
  X(a_page_that_waits_for_its_publisher)
#define SCENARIOS(X)                                                                               \
  X(the_source_of_the_environment)                                                                 \
  X(a_default_source)                                                                              \
  X(names_of_sources)                                                                              \
  X(steps_of_system_time)                                                                          \
  X(time_in_the_hand_of_a_test)                                                                    \
  X(clocks)                                                                                        \
  X(a_move_to_a_source)                                                                            \
  X(handlers)                                                                                      \
  X(a_histogram)                                                                                   \
  X(readiness)                                                                                     \
  X(a_watchdog)                                                                                    \
  X(a_reset)                                                                                       \
  X(a_stamper)                                                                                     \
  X(statistics_of_a_node)                                                                          \
  X(waits)                                                                                         \
  X(timers)                                                                                        \
  X(a_queue_with_a_thread)                                                                         \
  X(a_source_that_runs)                                                                            \
  X(an_extrapolating_source)                                                                       \
  X(a_clock_server)                                                                                \
  X(a_heap_that_grows)                                                                             \
  X(a_large_heap)

SCENARIOS(SWEEP)
SHARED_SCENARIOS(SWEEP)

#define TEST(scenario)                                                                             \
  cmocka_unit_test_setup_teardown(test_faults_in_##scenario, make_bystander, destroy_bystander),

#define SHARED_TEST(scenario)                                                                      \
  cmocka_unit_test_setup_teardown(test_faults_in_##scenario, make_folder, remove_folder),

static void *do_nothing(void *unused)
{
  return unused;
}

int main(void)
{
  pthread_t first; /* with which sanitizers start one of their own */
  pthread_create(&first, NULL, do_nothing, NULL);
  pthread_join(first, NULL);
  wall_begin();
  setenv("TIMEBASE_SOURCE", "manual", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults_in_the_watch_for_forks),
                                     SCENARIOS(TEST) SHARED_SCENARIOS(SHARED_TEST)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
