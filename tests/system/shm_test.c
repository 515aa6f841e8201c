/* A time shared through memory (X3) with real processes: shm_peer.c on both sides. */
#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <timebase/clock.h>
#include <timebase/jump.h>
#include <timebase/shm_readers.h>
#include <unistd.h>

#include "stopping.h"
#include "system/peer_process.h"
#include "system/shm_pattern.h"
#include "test.h"

#define S     INT64_C(1000000000)
#define KILLS 100

static char directory[64], other_directory[64];
static char global_name[64]; /* in /dev/shm */

static void remove_file(const char *in, const char *name)
{
  char path[128];
  snprintf(path, sizeof path, "%s/timebase.%s", in, name);
  unlink(path);
  snprintf(path, sizeof path, "%s/timebase-wake1.%s", in,
           name); /* of a publisher that was killed */
  unlink(path);
}

static int make_directories(void **state)
{
  (void)state;
  strcpy(directory, "/tmp/timebase-shm-XXXXXX");
  strcpy(other_directory, "/tmp/timebase-shm-XXXXXX");
  assert_non_null(mkdtemp(directory));
  assert_non_null(mkdtemp(other_directory));
  return 0;
}

static int remove_directories(void **state)
{
  (void)state;
  remove_file(directory, "test");
  remove_file(other_directory, "test");
  if (global_name[0]) remove_file("/dev/shm", global_name);
  assert_int_equal(rmdir(directory), 0);
  assert_int_equal(rmdir(other_directory), 0);
  return 0;
}

/* ---- peers ---- */

static void start_in(peer_t *peer, const char *in, const char *name, const char *option)
{
  peer_start(peer, (const char *const[]){TB_SHM_PEER, in, name, option, NULL});
}

static void start(peer_t *peer)
{
  start_in(peer, directory, "test", NULL);
  peer_expect_line(peer, "ready");
}

/* Sends a command and expects a line of its first word and `answer`. */
static void send_command(peer_t *peer, const char *command, const char *answer)
{
  char expected[256];
  int word = (int)strcspn(command, " ");
  snprintf(expected, sizeof expected, "%.*s %s", word, command, answer);
  peer_say(peer, "%s", command);
  peer_expect_line(peer, expected);
}

static void send_command_ok(peer_t *peer, const char *command)
{
  send_command(peer, command, "TB_OK");
}

static void tick(peer_t *peer, int64_t time_ns)
{
  char command[64];
  snprintf(command, sizeof command, "tick %" PRId64, time_ns);
  send_command_ok(peer, command);
}

/* Whether `line` is `prefix` and a number. */
static bool read_number(const char *line, const char *prefix, int64_t *out, char **out_end)
{
  size_t length = strlen(prefix);
  if (strncmp(line, prefix, length) != 0) return false;
  *out = strtoll(line + length, out_end, 10);
  return *out_end != line + length;
}

static int64_t now_of(peer_t *peer, tb_clock_state_t *out_state)
{
  char line[128], *end = line;
  int64_t time_ns = -1;
  peer_say(peer, "now");
  peer_read_line(peer, line, sizeof line);
  if (!read_number(line, "now ", &time_ns, &end)) fail_msg("%s", line);
  *out_state = (tb_clock_state_t)strtol(end, NULL, 10);
  return time_ns;
}

static void expect_now(peer_t *peer, int64_t time_ns)
{
  tb_clock_state_t state;
  assert_int_equal(now_of(peer, &state), time_ns);
}

/* The publisher of the page has ended or is silent: sooner or later the state shows it. */
static void await_end(peer_t *peer)
{
  tb_clock_state_t state;
  while (now_of(peer, &state) > 0 && state != TB_CLOCK_STALLED && state != TB_CLOCK_LOST)
    sched_yield();
}

static void start_follower(peer_t *peer)
{
  start(peer);
  send_command_ok(peer, "follow 1");
}

/* The first publisher after them is found a moment later; then its ticks are seen at once. */
static void await_publisher(peer_t *peer)
{
  tb_clock_state_t state;
  do
    now_of(peer, &state);
  while (state == TB_CLOCK_NO_PUBLISHER);
}

static void start_publisher(peer_t *peer)
{
  start(peer);
  send_command_ok(peer, "publish");
}

static void kill_peer(peer_t *peer)
{
  assert_int_equal(kill(peer->pid, SIGKILL), 0);
  peer_wait_killed(peer);
}

/* ---- a time for several processes ---- */

static void test_X3_other_processes_see_each_tick_at_once(void **state)
{
  (void)state;
  peer_t publisher, followers[2];
  start_follower(&followers[0]); /* before there is a publisher */
  start_publisher(&publisher);
  start_follower(&followers[1]);
  await_publisher(&followers[0]);
  for (int i = 0; i < 50; i++) {
    tick(&publisher, (10 + i) * S + i);
    expect_now(&followers[0], (10 + i) * S + i);
    expect_now(&followers[1], (10 + i) * S + i);
  }
  tick(&publisher, 3 * S);
  expect_now(&followers[0], 3 * S);
  tick(&publisher, 0);
  expect_now(&followers[1], 0);
  send_command(&followers[1], "status", "1 1 0 0");
  send_command_ok(&publisher, "unpublish");
  send_command(&followers[1], "status", "0 1 0 0");
  peer_stop(&followers[0]);
  peer_stop(&followers[1]);
  peer_stop(&publisher);
}

/* What both handlers print of a jump. */
static void expect_jump(peer_t *peer, tb_jump_kind_t kind, tb_jump_reason_t reason, int64_t from_ns,
                        int64_t to_ns)
{
  static const char *const calls[] = {"one before", "two before", "one after", "two after"};
  for (int i = 0; i < 4; i++) {
    char line[256];
    snprintf(line, sizeof line, "%s %d %d %" PRId64 " %" PRId64 " %" PRId64, calls[i], (int)kind,
             (int)reason, from_ns, to_ns, i < 2 ? from_ns : to_ns);
    peer_expect_line(peer, line);
  }
}

static void test_J3_readers_wait_for_the_handlers_of_their_own_process(void **state)
{
  (void)state;
  peer_t publisher, slow, quick;
  peer_t *const followers[] = {&slow, &quick};
  start_publisher(&publisher);
  for (int i = 0; i < 2; i++) {
    start_follower(followers[i]);
    send_command_ok(followers[i], "handle one");
    send_command_ok(followers[i], "handle two");
  }
  tick(&publisher, 10 * S);
  expect_jump(&slow, TB_JUMP_STARTED, TB_JUMP_REASON_NONE, 0, 10 * S);
  expect_jump(&quick, TB_JUMP_STARTED, TB_JUMP_REASON_NONE, 0, 10 * S);
  send_command_ok(&slow, "hold");
  tick(&publisher, 4 * S);
  expect_jump(&quick, TB_JUMP_BACKWARD, TB_JUMP_REASON_NONE, 10 * S, 4 * S);
  expect_jump(&slow, TB_JUMP_BACKWARD, TB_JUMP_REASON_NONE, 10 * S, 4 * S);
  send_command(&slow, "try_now", "TB_ERR_BUSY");
  send_command_ok(&slow, "read_blocked");
  tick(&publisher, 5 * S); /* the publisher and other processes are not blocked */
  expect_now(&quick, 5 * S);
  send_command(&slow, "try_now", "TB_ERR_BUSY");
  peer_say(&slow, "release");
  peer_expect_line(&slow, "released");
  peer_expect_line(&slow, "read 5000000000");
  expect_now(&slow, 5 * S);
  peer_stop(&slow);
  peer_stop(&quick);
  peer_stop(&publisher);
}

static void test_S1_sleepers_of_other_processes_are_woken(void **state)
{
  (void)state;
  peer_t publisher, followers[2];
  start_publisher(&publisher);
  tick(&publisher, S);
  for (int i = 0; i < 2; i++) {
    start_follower(&followers[i]);
    send_command_ok(&followers[i], "sleep_until 10000000000");
  }
  tick(&publisher, 10 * S - 1);
  for (int i = 0; i < 2; i++)
    send_command_ok(&followers[i],
                    "sleep_until 11000000000"); /* the first ones sleep on: an answer comes */
  tick(&publisher, 10 * S);
  for (int i = 0; i < 2; i++)
    peer_expect_line(&followers[i], "slept TB_OK 10000000000");
  tick(&publisher, 12 * S);
  for (int i = 0; i < 2; i++) {
    peer_expect_line(&followers[i], "slept TB_OK 12000000000");
    peer_stop(&followers[i]);
  }
  peer_stop(&publisher);
}

static void test_T1_timers_of_other_processes_are_called(void **state)
{
  (void)state;
  peer_t publisher, follower;
  start_publisher(&publisher);
  tick(&publisher, S);
  start_follower(&follower);
  send_command_ok(&follower, "timer_of 1000000000");
  for (int64_t i = 2; i < 20; i++) {
    char line[128];
    tick(&publisher, i * S - 1);
    tick(&publisher, i * S);
    snprintf(line, sizeof line, "timer %" PRId64 " %" PRId64 " 0", i * S, i * S);
    peer_expect_line(&follower, line);
  }
  peer_stop(&follower);
  peer_stop(&publisher);
}

/* ---- ends of publishers ---- */

static void test_X3_a_second_publisher_waits_for_the_end_of_the_first(void **state)
{
  (void)state;
  peer_t first, second, follower;
  char line[512];
  start_publisher(&first);
  tick(&first, 10 * S);
  start(&second);
  peer_say(&second, "publish");
  peer_read_line(&second, line, sizeof line);
  assert_non_null(strstr(line, "TB_ERR_BUSY: shared-memory name \"test\": another publisher"));
  start_follower(&follower);
  send_command_ok(&follower, "handle one");
  send_command_ok(&follower, "handle two");
  expect_now(&follower, 10 * S);
  kill_peer(&first);
  await_end(&follower);
  expect_now(&follower, 10 * S);
  send_command(&follower, "status", "0 1 0 0");
  send_command_ok(&second, "publish");
  expect_jump(&follower, TB_JUMP_CLOCK_CHANGE, TB_JUMP_REASON_SOURCE_REPLACED, 10 * S, 0);
  tick(&second, 7 * S);
  expect_jump(&follower, TB_JUMP_STARTED, TB_JUMP_REASON_NONE, 0, 7 * S);
  expect_now(&follower, 7 * S);
  send_command(&follower, "status", "1 2 0 0");
  peer_stop(&second);
  peer_stop(&follower);
}

/* Between a new time and each of the two words that wake others. */
static void test_X3_a_publisher_that_dies_before_it_wakes_others(void **state)
{
  (void)state;
  for (int wake = 1; wake <= 2; wake++) {
    peer_t publisher, reader, sleeper;
    start_publisher(&publisher);
    tick(&publisher, 10 * S);
    start_follower(&reader);
    start_follower(&sleeper);
    expect_now(&reader, 10 * S);
    send_command_ok(&sleeper, "sleep_until 20000000000");
    send_command_ok(&publisher, wake == 1 ? "die_at_wake 1" : "die_at_wake 2");
    peer_say(&publisher, wake == 1 ? "tick 30000000000" : "tick 4000000000");
    peer_wait_killed(&publisher);
    expect_now(&reader, wake == 1 ? 30 * S : 4 * S);
    if (wake == 1) peer_expect_line(&sleeper, "slept TB_OK 30000000000");
    expect_now(&sleeper, wake == 1 ? 30 * S : 4 * S);
    await_end(&reader);
    await_end(&sleeper);
    kill_peer(&sleeper); /* the one that sleeps on for 20 s is in no hurry */
    peer_stop(&reader);
  }
}

static int64_t changes_of(peer_t *peer)
{
  char line[128], *end = line;
  int64_t count = -1;
  peer_say(peer, "count_changes");
  peer_read_line(peer, line, sizeof line);
  if (!read_number(line, "count_changes ", &count, &end)) fail_msg("%s", line);
  return count;
}

/* The next publisher is found by all, and as a change for the clocks that had a time. */
static void replace_publisher(peer_t *next, peer_t followers[2], int round)
{
  int64_t changes[2];
  for (int i = 0; i < 2; i++) {
    tb_clock_state_t unused;
    int64_t time_ns = now_of(&followers[i], &unused);
    assert_true(shm_pattern_has(time_ns));
    await_end(&followers[i]);
    expect_now(&followers[i], time_ns);
    changes[i] = changes_of(&followers[i]) + (time_ns > 0);
  }
  send_command_ok(next, "publish");
  tick(next, (500 + round) * SHM_STEP_NS);
  for (int i = 0; i < 2; i++) {
    await_publisher(&followers[i]);
    expect_now(&followers[i], (500 + round) * SHM_STEP_NS);
    assert_int_equal(changes_of(&followers[i]), changes[i]);
  }
  send_command_ok(next, "unpublish");
}

static void test_X3_a_publisher_may_be_killed_at_any_moment(void **state)
{
  (void)state;
  uint64_t seed = test_seed();
  peer_t next, followers[2], storm;
  start(&next);
  for (int i = 0; i < 2; i++) {
    start_follower(&followers[i]);
    send_command_ok(&followers[i], "check");
  }
  for (int round = 0; round < KILLS; round++) {
    char command[64];
    uint64_t longest_ns = round % 2 ? 3000000 : 100000;
    snprintf(command, sizeof command, "storm %d %" PRIu64, round,
             1 + shm_random(&seed) % longest_ns);
    start(&storm);
    send_command_ok(&storm, command);
    peer_wait_killed(&storm);
    replace_publisher(&next, followers, round);
  }
  send_command_ok(&next, "publish");
  peer_stop(&followers[0]);
  peer_stop(&followers[1]);
  peer_stop(&next);
}

static void test_X3_a_killed_reader_does_not_disturb_others(void **state)
{
  (void)state;
  peer_t publisher, killed, other;
  start_publisher(&publisher);
  start_follower(&other);
  send_command_ok(&other, "check");
  for (int i = 1; i < 10; i++) {
    start_follower(&killed);
    send_command_ok(&killed, "check");
    tick(&publisher, (100 + i) * SHM_STEP_NS);
    if (i % 2) tick(&publisher, (90 + i) * SHM_STEP_NS);
    kill_peer(&killed);
    tick(&publisher, (200 + i) * SHM_STEP_NS);
    expect_now(&other, (200 + i) * SHM_STEP_NS);
    assert_int_equal(changes_of(&other), 0);
  }
  peer_stop(&other);
  peer_stop(&publisher);
}

/* ---- followers that are stopped ---- */

static void test_X3_a_stopped_follower_learns_of_missed_jumps(void **state)
{
  (void)state;
  peer_t publisher, follower;
  start_publisher(&publisher);
  start_follower(&follower);
  tick(&publisher, S);
  expect_now(&follower, S);
  send_command_ok(&follower, "handle one");
  send_command_ok(&follower, "handle two");
  send_command_ok(&publisher, "ticks 99999999999 2"); /* no process follows these */
  expect_now(&follower, 100 * S);
  for (int resets = 1; resets <= 3; resets++) {
    stop_process(follower.pid);
    for (int i = 0; i < resets; i++)
      send_command_ok(&publisher, i % 2 ? "ticks 1000000000 50" : "ticks 2000000000 50");
    send_command_ok(&publisher, "ticks 49999999999 2");
    assert_int_equal(kill(follower.pid, SIGCONT), 0);
    expect_jump(&follower, TB_JUMP_BACKWARD, TB_JUMP_REASON_TICK, 100 * S, 50 * S);
    expect_now(&follower, 50 * S);
    send_command_ok(&publisher, "ticks 99999999999 2");
    expect_now(&follower, 100 * S);
  }
  peer_stop(&follower);
  peer_stop(&publisher);
}

static void test_C6_time_never_falls_in_a_follower_that_is_stopped(void **state)
{
  (void)state;
  peer_t publisher, follower;
  char command[64];
  uint64_t seed = test_seed();
  struct timespec begin, now;
  start_publisher(&publisher);
  tick(&publisher, S);
  start_follower(&follower);
  send_command_ok(&follower, "follow_all");
  snprintf(command, sizeof command, "flood %" PRIu64, seed);
  send_command_ok(&publisher, command);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    stop_once(follower.pid, &seed);
    if (test_random(&seed) % 8 == 0) stop_once(publisher.pid, &seed);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
           test_duration_ms(1000));
  send_command_ok(&follower, "end_all");
  peer_stop(&follower);
  peer_stop(&publisher);
}

/* ---- permissions and names ---- */

static void test_X3_only_its_user_has_the_file_unless_the_mode_allows_others(void **state)
{
  (void)state;
  if (geteuid() != 0) skip();
  peer_t publisher, stranger;
  char line[512];
  assert_int_equal(chmod(directory, 0755), 0);
  start_publisher(&publisher);
  tick(&publisher, 5 * S);
  start(&stranger);
  send_command_ok(&stranger, "be_user 65534");
  peer_say(&stranger, "follow");
  peer_read_line(&stranger, line, sizeof line);
  assert_non_null(strstr(line, "TB_ERR_SYSTEM"));
  assert_non_null(strstr(line, "timebase.test"));
  assert_non_null(strstr(line, "Permission denied"));
  peer_stop(&publisher);
  remove_file(directory, "test");
  start(&publisher);
  send_command_ok(&publisher, "publish 0644");
  tick(&publisher, 6 * S);
  send_command_ok(&stranger, "follow");
  expect_now(&stranger, 6 * S);
  tick(&publisher, 3 * S);
  expect_now(&stranger, 3 * S);
  send_command_ok(&stranger, "sleep_until 4000000000");
  tick(&publisher, 4 * S);
  peer_expect_line(&stranger, "slept TB_OK 4000000000");
  peer_say(&stranger, "publish"); /* a reader cannot publish */
  peer_read_line(&stranger, line, sizeof line);
  assert_non_null(strstr(line, "publish TB_ERR_SYSTEM"));
  peer_stop(&stranger);
  peer_stop(&publisher);
}

static void expect_refused(peer_t *peer, const char *command, const char *owner)
{
  char line[512];
  peer_say(peer, "%s", command);
  peer_read_line(peer, line, sizeof line);
  assert_non_null(strstr(line, "TB_ERR_SYSTEM"));
  assert_non_null(strstr(line, "timebase.test"));
  if (!strstr(line, owner)) fail_msg("%s", line);
}

/* Whoever makes the file first could otherwise set the time of all that use its name. */
static void test_X3_a_file_that_others_can_set_is_refused_by_both_sides(void **state)
{
  (void)state;
  if (geteuid() != 0) skip();
  peer_t mine, stranger;
  assert_int_equal(chmod(directory, 01777), 0);
  start(&stranger);
  send_command_ok(&stranger, "be_user 65534");
  send_command_ok(&stranger, "publish");
  start(&mine);
  expect_refused(
      &mine, "follow",
      "belongs to user 65534, who could change its content, and this process runs as user 0");
  expect_refused(
      &mine, "publish",
      "belongs to user 65534, who could change its content, and this process runs as user 0");
  remove_file(directory, "test");
  send_command_ok(&mine, "publish 0666");
  send_command_ok(&mine, "unpublish");
  expect_refused(&mine, "publish", "other users may write to it (owner 0, mode 0666)");
  expect_refused(&mine, "publish 0644", "other users may write to it (owner 0, mode 0666)");
  expect_refused(&mine, "follow", "other users may write to it (owner 0, mode 0666)");
  expect_refused(&stranger, "follow", "other users may write to it (owner 0, mode 0666)");
  send_command_ok(&stranger, "set_mode 0666");
  send_command_ok(&stranger, "follow");
  send_command_ok(&mine, "publish 0666");
  tick(&mine, 6 * S);
  tb_clock_state_t seen;
  while (now_of(&stranger, &seen) != 6 * S)
    sched_yield(); /* until it has met the new publisher */
  peer_stop(&stranger);
  peer_stop(&mine);
}

static void test_X3_another_directory_is_another_time(void **state)
{
  (void)state;
  peer_t publishers[2], followers[2];
  const char *const directories[] = {directory, other_directory};
  for (int i = 0; i < 2; i++) {
    start_in(&publishers[i], directories[i], "test", NULL);
    start_in(&followers[i], directories[i], "test", NULL);
    peer_expect_line(&publishers[i], "ready");
    peer_expect_line(&followers[i], "ready");
    send_command_ok(&publishers[i], "publish");
    send_command_ok(&followers[i], "follow");
  }
  tick(&publishers[0], 5 * S);
  tick(&publishers[1], 6 * S);
  expect_now(&followers[0], 5 * S);
  expect_now(&followers[1], 6 * S);
  for (int i = 0; i < 2; i++) {
    peer_stop(&followers[i]);
    peer_stop(&publishers[i]);
  }
}

static void test_X3_a_name_in_the_environment_is_the_source_of_all_clocks(void **state)
{
  (void)state;
  peer_t publisher, follower;
  char variable[80];
  snprintf(global_name, sizeof global_name, "system-test-%d", (int)getpid());
  snprintf(variable, sizeof variable, "shm:%s", global_name);
  start_in(&publisher, "/dev/shm", global_name, NULL);
  peer_expect_line(&publisher, "ready");
  send_command_ok(&publisher, "publish");
  tick(&publisher, 77 * S);
  setenv("TIMEBASE_SOURCE", variable, 1);
  start(&follower);
  unsetenv("TIMEBASE_SOURCE");
  send_command_ok(&follower, "follow_default");
  expect_now(&follower, 77 * S);
  send_command_ok(&follower, "sleep_until 78000000000");
  tick(&publisher, 78 * S);
  peer_expect_line(&follower, "slept TB_OK 78000000000");
  peer_stop(&follower);
  peer_stop(&publisher);
}

/* The time of an anchor at 50 s passes 60 s with no tick. */
static void await_running(peer_t *peer)
{
  tb_clock_state_t state;
  while (now_of(peer, &state) < 60 * S)
    sched_yield();
}

/* Its steady time is a day ahead: with it the time would be at the bound at once. */
static void test_X3_in_another_time_namespace_an_anchor_is_a_tick(void **state)
{
  (void)state;
  peer_t publisher, near, far;
  char line[128];
  start_publisher(&publisher);
  start_in(&far, directory, "test", "--time-namespace");
  peer_read_line(&far, line, sizeof line);
  if (strcmp(line, "ready") != 0) {
    print_message("no time namespace for us: skipped\n");
    peer_stop(&far);
    peer_stop(&publisher);
    skip();
  }
  send_command_ok(&far, "follow");
  start_follower(&near);
  for (int64_t i = 10; i < 20; i++) {
    tick(&publisher, i * S);
    expect_now(&far, i * S);
  }
  send_command_ok(&publisher, "anchor 50000000000 1000 1000000000000");
  send_command(&far, "status", "1 1 1 0");
  send_command(&near, "status", "1 1 0 0");
  await_running(&near); /* there it runs on */
  expect_now(&far, 50 * S);
  send_command_ok(&far, "sleep_until 2000000000000");
  tick(&publisher, 2000 * S);
  peer_expect_line(&far, "slept TB_OK 2000000000000");
  tick(&publisher, 40 * S);
  expect_now(&far, 40 * S);
  peer_stop(&far);
  peer_stop(&near);
  peer_stop(&publisher);
}

/* ---- cost ---- */

static int64_t switches_of_task(pid_t process, const char *task)
{
  char path[128], line[128], *end;
  bool ours = strtol(task, NULL, 10) == process;
  int64_t switches = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%.20s/status", (int)process, task);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  while (fgets(line, sizeof line, file)) {
    if (!strncmp(line, "Name:	tb-", 9)) ours = true; /* sanitizers have threads too */
    read_number(line, "voluntary_ctxt_switches:", &switches, &end);
  }
  fclose(file);
  return ours ? switches : 0;
}

/* How often the process has fallen asleep, so far. */
static int64_t switches_of(pid_t process)
{
  char path[64];
  int64_t sum = 0;
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  DIR *tasks = opendir(path);
  assert_non_null(tasks);
  for (const struct dirent *task; (task = readdir(tasks));)
    if (task->d_name[0] != '.') sum += switches_of_task(process, task->d_name);
  closedir(tasks);
  return sum;
}

static void test_X3_a_process_without_waiters_is_not_woken_by_ticks(void **state)
{
  (void)state;
  peer_t publisher, follower;
  start_publisher(&publisher);
  tick(&publisher, S);
  start_follower(&follower);
  expect_now(&follower, S);
  int64_t before = switches_of(follower.pid);
  send_command_ok(&publisher, "ticks 1000000001 10000");
  assert_true(switches_of(follower.pid) - before <= 4);
  expect_now(&follower, S + 10000);
  send_command_ok(&follower, "sleep_until 1000000000000");
  before = switches_of(follower.pid);
  send_command_ok(&publisher, "ticks 2000000000 10000"); /* none makes it due */
  assert_true(switches_of(follower.pid) - before <= 6);
  kill_peer(&follower);
  peer_stop(&publisher);
}

static size_t readers_listed(void)
{
  tb_shm_options_t options = TB_SHM_OPTIONS_INIT;
  tb_shm_readers_t *readers;
  options.directory = directory;
  assert_ok(tb_shm_readers_create("test", &options, &readers, NULL));
  size_t count = readers->count;
  tb_shm_readers_destroy(readers);
  return count;
}

static void test_X10_a_killed_reader_leaves_its_slot(void **state)
{
  (void)state;
  peer_t publisher, followers[3];
  start_publisher(&publisher);
  tick(&publisher, S);
  for (size_t i = 0; i < 3; i++) {
    start_follower(&followers[i]);
    send_command_ok(&followers[i], "sleep_until 1000000000000");
    while (readers_listed() != i + 1)
      sched_yield();
  }
  for (size_t i = 0; i < 3; i++) {
    kill_peer(&followers[i]);
    while (readers_listed() != 2 - i)
      sched_yield();
    tick(&publisher, 2 * S + (int64_t)i);
  }
  start_follower(&followers[0]);
  while (readers_listed() != 1)
    sched_yield();
  kill_peer(&followers[0]);
  peer_stop(&publisher);
}

#define IN_DIRECTORIES(test)                                                                       \
  cmocka_unit_test_setup_teardown(test, make_directories, remove_directories)

int main(void)
{
  const struct CMUnitTest tests[] = {
      IN_DIRECTORIES(test_X3_other_processes_see_each_tick_at_once),
      IN_DIRECTORIES(test_J3_readers_wait_for_the_handlers_of_their_own_process),
      IN_DIRECTORIES(test_S1_sleepers_of_other_processes_are_woken),
      IN_DIRECTORIES(test_T1_timers_of_other_processes_are_called),
      IN_DIRECTORIES(test_X3_a_second_publisher_waits_for_the_end_of_the_first),
      IN_DIRECTORIES(test_X3_a_publisher_that_dies_before_it_wakes_others),
      IN_DIRECTORIES(test_X3_a_publisher_may_be_killed_at_any_moment),
      IN_DIRECTORIES(test_X3_a_killed_reader_does_not_disturb_others),
      IN_DIRECTORIES(test_X3_a_stopped_follower_learns_of_missed_jumps),
      IN_DIRECTORIES(test_C6_time_never_falls_in_a_follower_that_is_stopped),
      IN_DIRECTORIES(test_X3_only_its_user_has_the_file_unless_the_mode_allows_others),
      IN_DIRECTORIES(test_X3_a_file_that_others_can_set_is_refused_by_both_sides),
      IN_DIRECTORIES(test_X3_another_directory_is_another_time),
      IN_DIRECTORIES(test_X3_a_name_in_the_environment_is_the_source_of_all_clocks),
      IN_DIRECTORIES(test_X3_in_another_time_namespace_an_anchor_is_a_tick),
      IN_DIRECTORIES(test_X3_a_process_without_waiters_is_not_woken_by_ticks),
      IN_DIRECTORIES(test_X10_a_killed_reader_leaves_its_slot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
