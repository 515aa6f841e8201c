/* What a recorder reports as recorded is in the file, whichever write fails, and what it took is
 * recorded or lost: each run is a separate process, and what it left is read by another one. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/bag_reader.h>
#include <timebase/bag_writer.h>
#include <timebase/recorder.h>
#include <unistd.h>

#include "bag/test_bag.h"
#include "failing_disk.h"
#include "test.h"

#define MESSAGES 24
#define SIZE     400
#define FOREVER  1000000

static char *folder, *bag;
static const char *storage_id;

typedef struct report {
  bool is_made;
  long calls, failures;
  uint64_t taken, recorded, lost;
  tb_status_t status; /* of ending it */
} report_t;

typedef void (*run_fn)(report_t *report);

typedef struct failure {
  const char *what;
  long count;
  int code, flags;
} failure_t;

static const failure_t failures[] = {
    {"one call fails", 1, EIO, 0},
    {"all calls from there on", FOREVER, ENOSPC, 0},
    {"six calls", 6, ENOSPC, 0},
    {"a short write", 1, ENOSPC, FAILING_DISK_SHORT},
    {"short writes from there on", FOREVER, EIO, FAILING_DISK_SHORT},
    {"one sync", 1, EIO, FAILING_DISK_SYNCS},
    {"all syncs", FOREVER, EIO, FAILING_DISK_SYNCS},
    {"all of the shared index", FOREVER, ENOSPC, FAILING_DISK_SHARED},
};

static int make_folder(void **state)
{
  (void)state;
  if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
  folder = tb__test_folder_make();
  unsetenv("TMPDIR");
  bag = tb__test_path(folder, "bag");
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  free(bag);
  tb__test_folder_remove(folder);
  return 0;
}

/* ---- what is run ---- */

static tb_bag_writer_options_t bag_options(void)
{
  tb_bag_writer_options_t options = TB_BAG_WRITER_OPTIONS_INIT;
  options.storage_id = storage_id;
  options.chunk_size = 1500;
  options.ros_distro = "jazzy";
  return options;
}

static uint8_t data[SIZE] = {0, 1};
static const tb_bag_writer_topic_t topics[] = {{.name = "/a", .type = "t"},
                                               {.name = "/b", .type = "u"}};

static void wait_until_written(tb_recorder_t *recorder)
{
  tb_recorder_status_t status;
  do {
    sched_yield();
    tb_recorder_status(recorder, &status);
  } while (status.waiting_bytes > 0);
}

static void take_messages(tb_recorder_t *recorder, const size_t *indexes, report_t *report)
{
  for (int i = 0; i < MESSAGES; i++) {
    const tb_recorder_message_t message = {
        .data = data, .size = SIZE, .receive_ns = TB_NS_PER_S + i};
    if (!tb_recorder_take(recorder, indexes[i % 2], &message)) report->taken++;
    if (i == MESSAGES / 2) tb_recorder_split(recorder, NULL, NULL);
    if (i % 8 == 0) wait_until_written(recorder);
  }
  wait_until_written(recorder);
}

static void note_counts(tb_recorder_t *recorder, report_t *report)
{
  tb_recorder_status_t status;
  tb_recorder_status(recorder, &status);
  report->recorded = status.written;
  report->lost = status.lost;
}

static tb_recorder_t *start(report_t *report, size_t indexes[2])
{
  tb_recorder_options_t options = TB_RECORDER_OPTIONS_INIT;
  tb_recorder_t *recorder = NULL;
  options.bag = bag_options();
  options.fsync_interval.ns = 1;
  if (tb_recorder_create(bag, &options, &recorder, NULL)) return NULL;
  report->is_made = true;
  for (int i = 0; i < 2; i++)
    assert_ok(tb_recorder_add_topic(recorder, &topics[i], &indexes[i], NULL));
  return recorder;
}

static void record(report_t *report)
{
  size_t indexes[2];
  tb_recorder_t *recorder = start(report, indexes);
  if (!recorder) return;
  take_messages(recorder, indexes, report);
  report->status = tb_recorder_stop(recorder, NULL);
  note_counts(recorder, report);
  tb_recorder_destroy(recorder);
}

/* It is killed right after it has reported the failure; what it reports earlier, of messages that
 * are not flushed yet, is no promise. */
static void record_until_killed(report_t *report)
{
  size_t indexes[2];
  tb_recorder_status_t status;
  tb_recorder_t *recorder = start(report, indexes);
  if (!recorder) return;
  take_messages(recorder, indexes, report);
  tb_recorder_status(recorder, &status);
  if (!status.failing) {
    tb_status_t stopped = tb_recorder_stop(recorder, NULL);
    (void)stopped; /* what is lost is in the status */
    note_counts(recorder, report);
    return;
  }
  note_counts(recorder, report);
}

/* With another file as soon as one has failed. */
static void write_bag(report_t *report)
{
  const tb_bag_writer_options_t options = bag_options();
  tb_bag_writer_t *writer = NULL;
  size_t indexes[2] = {SIZE_MAX, SIZE_MAX};
  tb_bag_writer_info_t info;
  if (tb_bag_writer_create(bag, &options, &writer, NULL)) return;
  report->is_made = true;
  for (int i = 0; i < 2; i++)
    while (tb_bag_writer_add_topic(writer, &topics[i], &indexes[i], NULL))
      if (tb_bag_writer_split(writer, NULL)) goto end;
  for (int i = 0; i < MESSAGES; i++) {
    report->taken++;
    if (tb_bag_writer_write(writer, indexes[i % 2], TB_NS_PER_S + i, 1, data, SIZE, NULL))
      tb_bag_writer_split(writer, NULL);
    if (i % 16 == 15 && tb_bag_writer_flush(writer, TB_BAG_FLUSH_DISK, NULL))
      tb_bag_writer_split(writer, NULL);
  }
end:
  (void)!tb_bag_writer_flush(writer, TB_BAG_FLUSH_KERNEL, NULL);
  tb_bag_writer_get_info(writer, &info);
  report->recorded = info.message_count;
  report->lost = report->taken - info.message_count;
  tb_status_t closed = tb_bag_writer_close(writer, NULL);
  (void)closed; /* the recording itself is checked */
}

/* In a process that is killed after its report. */
static report_t run(run_fn action, const failure_t *failure, long first)
{
  int ends[2];
  report_t report = {0};
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    failing_disk_arm(first, failure->count, failure->code, failure->flags);
    action(&report);
    report.calls = failing_disk_calls();
    report.failures = failing_disk_failures();
    if (write(ends[1], &report, sizeof report) == sizeof report) kill(getpid(), SIGKILL);
    _exit(1);
  }
  close(ends[1]);
  ssize_t size = read(ends[0], &report, sizeof report);
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (size != sizeof report || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
    fail_msg("%s, call %ld: it ended by itself", failure->what, first);
  return report;
}

/* ---- what is left ---- */

static uint64_t count_messages(void)
{
  tb_bag_reader_t *reader = NULL;
  tb_bag_message_t message;
  tb_status_t status;
  uint64_t count = 0;
  const tb_bag_reader_options_t options = {.damage = TB_BAG_DAMAGE_SALVAGE};
  if (tb_bag_reader_open(bag, &options, &reader, NULL)) return 0;
  while ((status = tb_bag_reader_next(reader, &message, NULL)) != TB_ERR_END)
    if (!status) count++;
  tb_bag_reader_close(reader);
  return count;
}

static void remove_bag(void)
{
  char *path = strdup(bag);
  tb__test_folder_remove(path);
}

static void sweep(run_fn action, const failure_t *failure)
{
  uint64_t unsure = 0;
  report_t report = {.failures = 1};
  if (access(bag, F_OK) == 0) remove_bag(); /* of a test that has failed */
  for (long first = 1; report.failures > 0; first++) {
    report = run(action, failure, first);
    uint64_t found = report.is_made ? count_messages() : 0;
    if (report.is_made && report.recorded + report.lost != report.taken)
      fail_msg("%s, call %ld: %llu recorded and %llu lost, of %llu", failure->what, first,
               (unsigned long long)report.recorded, (unsigned long long)report.lost,
               (unsigned long long)report.taken);
    if (report.recorded > found)
      fail_msg("%s, call %ld: %llu recorded, but %llu are there", failure->what, first,
               (unsigned long long)report.recorded, (unsigned long long)found);
    if (report.failures == 0 && (report.recorded != MESSAGES || found != MESSAGES))
      fail_msg("nothing failed: %llu of %llu", (unsigned long long)report.recorded,
               (unsigned long long)found);
    if (found > report.recorded) unsure++;
    if (access(bag, F_OK) == 0) remove_bag();
  }
  printf("%s: %ld calls; the file had more than was reported in %llu runs\n", failure->what,
         report.calls, (unsigned long long)unsure);
}

static void sweep_all(run_fn action)
{
  for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
    sweep(action, &failures[i]);
}

static void test_no_loss_is_hidden_by_the_recorder(void **state)
{
  storage_id = *state;
  sweep_all(record);
}

static void test_no_loss_is_hidden_by_a_recorder_that_is_killed(void **state)
{
  storage_id = *state;
  for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
    if (failures[i].count == FOREVER) sweep(record_until_killed, &failures[i]);
}

static void test_no_loss_is_hidden_by_the_writer(void **state)
{
  storage_id = *state;
  sweep_all(write_bag);
}

static char mcap[] = "mcap", sqlite[] = "sqlite3";
#define OF_BOTH(test) cmocka_unit_test_prestate(test, mcap), cmocka_unit_test_prestate(test, sqlite)

int main(void)
{
  const struct CMUnitTest tests[] = {
      OF_BOTH(test_no_loss_is_hidden_by_the_recorder),
      OF_BOTH(test_no_loss_is_hidden_by_a_recorder_that_is_killed),
      OF_BOTH(test_no_loss_is_hidden_by_the_writer),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
