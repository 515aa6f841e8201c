/* A page whose file is truncated by a process that may write it (X3): all that have it mapped
 * survive. With real processes, shm_peer.c on both sides. */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <timebase/clock.h>
#include <unistd.h>

#include "system/peer_process.h"
#include "system/shm_pattern.h"
#include "test.h"

#define LAST_NS (7 * SHM_STEP_NS) /* the time when the file is cut */
#define NEXT_NS (3 * SHM_STEP_NS) /* of the next publisher */

static char directory[64], path[128];

static int make_directory(void **state)
{
  (void)state;
  strcpy(directory, "/tmp/timebase-shm-XXXXXX");
  assert_non_null(mkdtemp(directory));
  assert_int_equal(chmod(directory, 0755), 0);
  snprintf(path, sizeof path, "%s/timebase.test", directory);
  return 0;
}

static int remove_directory(void **state)
{
  (void)state;
  unlink(path);
  assert_int_equal(rmdir(directory), 0);
  return 0;
}

/* ---- peers ---- */

static void start(peer_t *peer)
{
  peer_start(peer, (const char *const[]){TB_SHM_PEER, directory, "test", NULL});
  peer_expect_line(peer, "ready");
}

static void send_command(peer_t *peer, const char *command, const char *answer)
{
  char expected[256];
  snprintf(expected, sizeof expected, "%.*s %s", (int)strcspn(command, " "), command, answer);
  peer_say(peer, "%s", command);
  peer_expect_line(peer, expected);
}

static void tick(peer_t *peer, int64_t time_ns, const char *answer)
{
  char command[64];
  snprintf(command, sizeof command, "tick %" PRId64, time_ns);
  send_command(peer, command, answer);
}

static int slept, found_lost; /* what was printed between the answers */

static bool note(const char *line)
{
  char expected[64];
  snprintf(expected, sizeof expected, "slept TB_OK %" PRId64, LAST_NS);
  bool has_slept = !strcmp(line, expected), is_lost = !strcmp(line, "lost TB_OK");
  slept += has_slept;
  found_lost += is_lost;
  return has_slept || is_lost;
}

static int64_t now_of(peer_t *peer, tb_clock_state_t *out_state)
{
  char line[128], *end = line;
  peer_say(peer, "now");
  do
    peer_read_line(peer, line, sizeof line);
  while (note(line));
  if (strncmp(line, "now ", 4) != 0) fail_msg("%s", line);
  int64_t time_ns = strtoll(line + 4, &end, 10);
  *out_state = (tb_clock_state_t)strtol(end, NULL, 10);
  return time_ns;
}

static void await_time(peer_t *peer, int64_t time_ns)
{
  tb_clock_state_t state;
  while (now_of(peer, &state) != time_ns)
    sched_yield();
}

static void expect_lost(peer_t *peer)
{
  tb_clock_state_t state;
  for (int i = 0; i < 100; i++) {
    assert_int_equal(now_of(peer, &state), LAST_NS);
    assert_int_equal(state, TB_CLOCK_LOST);
  }
}

static void cut_to(off_t size)
{
  assert_int_equal(truncate(path, size), 0);
}

static void start_publisher(peer_t *peer, const char *command)
{
  start(peer);
  send_command(peer, command, "TB_OK");
  tick(peer, LAST_NS - SHM_STEP_NS, "TB_OK");
}

static void start_follower(peer_t *peer)
{
  start(peer);
  send_command(peer, "follow", "TB_OK");
  await_time(peer, LAST_NS - SHM_STEP_NS);
}

/* One with threads that read without a pause, one that also sleeps and waits, one that does
 * neither.
 */
static void start_followers(peer_t followers[3])
{
  for (int i = 0; i < 3; i++)
    start_follower(&followers[i]);
  send_command(&followers[0], "check", "TB_OK");
  send_command(&followers[1], "sleep_until 7000000040", "TB_OK"); /* over with the last tick */
  send_command(&followers[1], "sleep_until 7000000045", "TB_OK");
  send_command(&followers[1], "wait_lost", "TB_OK");
}

/* Whether the last tick was followed before the cut or not: it was seen there. */
static void expect_woken(peer_t *sleeper)
{
  while (slept < 2 || found_lost < 1) {
    char line[128];
    peer_read_line(sleeper, line, sizeof line);
    if (!note(line)) fail_msg("%s", line);
  }
}

/* The file's size, then what happens to its publisher. */
typedef struct disaster {
  off_t size;
  int signal; /* to the publisher before; 0: it lives and ticks */
} disaster_t;

static const disaster_t disasters[] = {{0, SIGSTOP}, {0, SIGKILL}, {0, 0}, {100, SIGKILL}};

static void end_publisher(peer_t *publisher, int signal)
{
  if (signal == SIGKILL) {
    peer_wait_killed(publisher);
    return;
  }
  if (signal == SIGSTOP) assert_int_equal(kill(publisher->pid, SIGCONT), 0);
  tick(publisher, LAST_NS + SHM_STEP_NS, "TB_ERR_SYSTEM");
  tick(publisher, LAST_NS + SHM_STEP_NS, "TB_ERR_SYSTEM");
  send_command(publisher, "unpublish", "TB_OK");
  peer_stop(publisher);
}

/* All see the next one under the name, as a change of their source. */
static void expect_next_publisher(peer_t followers[3])
{
  peer_t next;
  start(&next);
  send_command(&next, "publish", "TB_OK");
  for (int i = 0; i < 3; i++)
    await_time(&followers[i], 0);
  tick(&next, NEXT_NS, "TB_OK");
  for (int i = 0; i < 3; i++) {
    tb_clock_state_t state;
    assert_int_equal(now_of(&followers[i], &state), NEXT_NS);
    assert_int_equal(state, TB_CLOCK_RUNNING);
  }
  send_command(&followers[0], "count_changes", "1");
  peer_stop(&next);
}

static void run_disaster(const disaster_t *disaster)
{
  peer_t publisher, followers[3];
  slept = found_lost = 0;
  unlink(path);
  start_publisher(&publisher, "publish");
  start_followers(followers);
  tick(&publisher, LAST_NS, "TB_OK");
  for (int i = 0; i < 3; i++)
    await_time(&followers[i], LAST_NS);
  if (disaster->signal) assert_int_equal(kill(publisher.pid, disaster->signal), 0);
  cut_to(disaster->size);
  if (disaster->signal == 0) tick(&publisher, LAST_NS + SHM_STEP_NS, "TB_ERR_SYSTEM");
  expect_woken(&followers[1]);
  for (int i = 0; i < 3; i++)
    expect_lost(&followers[i]);
  char forked[64];
  snprintf(forked, sizeof forked, "TB_OK %" PRId64 " %d", LAST_NS, (int)TB_CLOCK_STALLED);
  send_command(&followers[2], "now_forked", forked);
  end_publisher(&publisher, disaster->signal);
  for (int i = 0; i < 3; i++)
    expect_lost(&followers[i]);
  if (disaster->size == 0) expect_next_publisher(followers);
  for (int i = 0; i < 3; i++)
    peer_stop(&followers[i]);
}

static void test_X3_readers_of_a_page_that_is_cut_short_live(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof disasters / sizeof *disasters; i++)
    run_disaster(&disasters[i]);
}

/* It died before it woke any waiter, and only the reader beside the sleeper has seen the tick. */
static void test_S1_sleepers_due_when_the_page_was_cut_are_woken(void **state)
{
  (void)state;
  peer_t publisher, follower;
  slept = found_lost = 0;
  unlink(path);
  start_publisher(&publisher, "publish");
  start_follower(&follower);
  send_command(&follower, "sleep_until 7000000040", "TB_OK");
  send_command(&follower, "sleep_until 7000000045", "TB_OK");
  send_command(&follower, "wait_lost", "TB_OK");
  send_command(&publisher, "die_at_wake 1", "TB_OK");
  peer_say(&publisher, "tick 7000000049");
  peer_wait_killed(&publisher);
  await_time(&follower, LAST_NS);
  cut_to(0);
  expect_woken(&follower);
  expect_lost(&follower);
  peer_stop(&follower);
}

/* Truncated and grown again before any read: there are zeros, and no fault. */
static void test_X3_a_page_that_was_emptied_is_lost(void **state)
{
  (void)state;
  peer_t publisher, follower;
  unlink(path);
  start_publisher(&publisher, "publish");
  start_follower(&follower);
  tick(&publisher, LAST_NS, "TB_OK");
  await_time(&follower, LAST_NS);
  cut_to(0);
  cut_to(4096);
  expect_lost(&follower);
  tick(&publisher, LAST_NS + SHM_STEP_NS, "TB_ERR_SYSTEM");
  expect_lost(&follower);
  send_command(&publisher, "unpublish", "TB_OK");
  send_command(&publisher, "publish", "TB_OK");
  await_time(&follower, 0);
  tick(&publisher, NEXT_NS, "TB_OK");
  await_time(&follower, NEXT_NS);
  peer_stop(&follower);
  peer_stop(&publisher);
}

/* A child that has only read before, and one whose page was not read since. */
static void test_C7_a_forked_child_reads_a_page_that_is_cut_short(void **state)
{
  (void)state;
  peer_t publisher, follower;
  char forked[64];
  unlink(path);
  start_publisher(&publisher, "publish");
  start_follower(&follower);
  tick(&publisher, LAST_NS, "TB_OK");
  await_time(&follower, LAST_NS);
  cut_to(0);
  snprintf(forked, sizeof forked, "TB_OK %" PRId64 " %d", LAST_NS, (int)TB_CLOCK_STALLED);
  send_command(&follower, "now_forked", forked);
  expect_lost(&follower);
  peer_stop(&follower);
  peer_stop(&publisher);
}

/* In a folder that several users, or containers, share. */
static void test_X3_another_user_with_write_access_ends_no_process(void **state)
{
  (void)state;
  if (geteuid() != 0) skip();
  peer_t publisher, follower, stranger, reader;
  unlink(path);
  assert_int_equal(setenv("TIMEBASE_SHM_MODE", "0666", 1), 0);
  start_publisher(&publisher, "publish");
  start_follower(&follower);
  start(&stranger);
  send_command(&stranger, "be_user 65534", "TB_OK");
  start(&reader);
  unsetenv("TIMEBASE_SHM_MODE");
  send_command(&reader, "be_user 65533", "TB_OK");
  send_command(&reader, "follow", "TB_OK");
  tick(&publisher, LAST_NS, "TB_OK");
  await_time(&follower, LAST_NS);
  await_time(&reader, LAST_NS);
  send_command(&stranger, "cut 0", "TB_OK");
  expect_lost(&follower);
  expect_lost(&reader);
  tick(&publisher, LAST_NS + SHM_STEP_NS, "TB_ERR_SYSTEM");
  peer_stop(&stranger);
  peer_stop(&publisher);
  peer_stop(&reader);
  peer_stop(&follower);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_X3_readers_of_a_page_that_is_cut_short_live),
      cmocka_unit_test(test_S1_sleepers_due_when_the_page_was_cut_are_woken),
      cmocka_unit_test(test_X3_a_page_that_was_emptied_is_lost),
      cmocka_unit_test(test_C7_a_forked_child_reads_a_page_that_is_cut_short),
      cmocka_unit_test(test_X3_another_user_with_write_access_ends_no_process),
  };
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
