/* `timebase play --wait-for-acks` and `--wait-for` as users run them. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"

#define DOMAIN    7
#define AT_ONCE_S 10 /* beside others, under sanitizers */

static char overrides[] = "/tmp/tb_play_wait_XXXXXX";

/* /stamped was recorded with best effort, which is never acknowledged. */
static int setup(void **state)
{
  (void)state;
  static const char text[] = "/stamped:\n  reliability: reliable\n  history: keep_all\n";
  loopback_setup(DOMAIN);
  int fd = mkstemp(overrides);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
  close(fd);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  return unlink(overrides);
}

static void start_node(peer_t *peer, const char *name)
{
  peer_start(peer, (const char *const[]){TB_WAIT_PEER, name, "/stamped", "/out",
                                         "std_msgs/msg/Header", "0", NULL});
  peer_expect_line(peer, "ready");
}

static void start_player(peer_t *peer, const char *option, const char *value)
{
  peer_start(peer,
             (const char *const[]){TB_COMMAND, "play", TB_DEMO_BAG, "--clock",
                                   "--qos-profile-overrides-path", overrides, option, value, NULL});
}

static long messages_in(const char *line)
{
  const char *count = strstr(line, "messages ");
  if (!count || strncmp(line, "time ", 5) != 0) fail_msg("'%s'", line);
  return count ? strtol(count + strlen("messages "), NULL, 10) : -1;
}

/* Reads status lines up to one with `text` in it; how many messages that one counts. */
static long read_until(peer_t *play, const char *text)
{
  char line[512];
  do
    peer_read_line(play, line, sizeof line);
  while (messages_in(line) >= 0 && !strstr(line, text));
  return messages_in(line);
}

static void read_until_more_than(peer_t *play, long messages)
{
  char line[512];
  do
    peer_read_line(play, line, sizeof line);
  while (messages_in(line) <= messages);
}

static int64_t now_s(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

static void assert_stops_at_once(peer_t *play)
{
  char line[512];
  int64_t start_s = now_s();
  assert_int_equal(kill(play->pid, SIGINT), 0);
  do
    peer_read_line(play, line, sizeof line);
  while (strncmp(line, "time ", 5) == 0);
  assert_memory_equal(line, "stopped at ", 11);
  peer_stop(play);
  assert_in_range(now_s() - start_s, 0, AT_ONCE_S);
}

static void test_a_reader_that_stands_is_named(void **state)
{
  (void)state;
  peer_t play, listener, stopped;
  start_node(&listener, "listener");
  start_node(&stopped, "stopped");
  start_player(&play, "--wait-for-acks", NULL);
  read_until_more_than(&play, 0);
  assert_int_equal(kill(stopped.pid, SIGSTOP), 0);
  long held = read_until(&play, "  waiting for /stopped to acknowledge /stamped");
  assert_int_equal(kill(stopped.pid, SIGCONT), 0);
  read_until_more_than(&play, held);
  assert_stops_at_once(&play);
  peer_stop(&listener);
  peer_stop(&stopped);
}

static void test_it_stops_while_a_reader_stands(void **state)
{
  (void)state;
  peer_t play, stopped;
  start_node(&stopped, "stopped");
  start_player(&play, "--wait-for-acks", NULL);
  read_until_more_than(&play, 0);
  assert_int_equal(kill(stopped.pid, SIGSTOP), 0);
  read_until(&play, "  waiting for /stopped to acknowledge ");
  assert_stops_at_once(&play);
  assert_int_equal(kill(stopped.pid, SIGCONT), 0);
  peer_stop(&stopped);
}

static void test_a_node_that_is_killed_is_named(void **state)
{
  (void)state;
  peer_t play, echo;
  start_node(&echo, "echo");
  start_player(&play, "--wait-for", "out=echo:1s");
  read_until_more_than(&play, 0);
  assert_int_equal(kill(echo.pid, SIGKILL), 0);
  peer_wait_killed(&echo);
  long held = read_until(&play, "  waiting for /echo, which was sent 1700000");
  assert_int_equal(read_until(&play, "  waiting for /echo, "), held);
  assert_stops_at_once(&play);
}

static void test_a_node_that_never_comes_is_named(void **state)
{
  (void)state;
  peer_t play;
  start_player(&play, "--wait-for", "/out=/nobody");
  assert_int_equal(read_until(&play, "  waiting for /nobody, to publish /out: no such node"), 0);
  assert_stops_at_once(&play);
}

static void test_wrong_usage(void **state)
{
  (void)state;
  static const struct {
    const char *value, *text;
  } cases[] = {
      {"x", "--wait-for x: no '=': write OUT=NODE or OUT=NODE:LAG, a topic and the node that "
            "publishes it, such as /odom=/slam:100ms\n"},
      {"=b", "--wait-for =b: topic name '': must not be empty: write OUT=NODE"},
      {"a=", "--wait-for a=: node name '': must not be empty: write OUT=NODE"},
      {"'a b=c'", "--wait-for a b=c: topic name 'a b': must have only letters, digits, '_' and "
                  "'/': write OUT=NODE"},
      {"'a=b c'", "node name 'b c': must have only letters, digits and '_': write OUT=NODE"},
      {"a=b:x", "--wait-for a=b:x: LAG 'x' is not a duration: write OUT=NODE or OUT=NODE:LAG"},
      {"a=b:", "--wait-for a=b:: LAG '' is not a duration: write OUT=NODE"},
      {"a=b:-1", "--wait-for a=b:-1: the lag of /a must not be negative: write OUT=NODE"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[512], output[1024];
    snprintf(command, sizeof command, "%s play /no/bag --wait-for %s 2>&1", TB_COMMAND,
             cases[i].value);
    FILE *stream = popen(command, "r");
    assert_non_null(stream);
    output[fread(output, 1, sizeof output - 1, stream)] = '\0';
    int status = pclose(stream);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 2 || !strstr(output, cases[i].text))
      fail_msg("status 0x%x: %s", (unsigned)status, output);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_reader_that_stands_is_named),
      cmocka_unit_test(test_it_stops_while_a_reader_stands),
      cmocka_unit_test(test_a_node_that_is_killed_is_named),
      cmocka_unit_test(test_a_node_that_never_comes_is_named),
      cmocka_unit_test(test_wrong_usage),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
