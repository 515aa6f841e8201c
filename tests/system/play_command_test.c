/* `timebase play` as users run it: arguments, output, exit statuses, signals. */
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"

#define DOMAIN 89

static int setup(void **state)
{
  (void)state;
  loopback_setup(DOMAIN);
  return 0;
}

/* Runs `timebase play ARGUMENTS` in a shell where $BAG is the demo; checks the exit status and that
 * the output contains `text`. */
static void assert_play(const char *arguments, int status, const char *text)
{
  static char command[1024], output[16384];
  setenv("BAG", TB_DEMO_BAG, 1);
  snprintf(command, sizeof command, "%s play %s 2>&1 </dev/null", TB_COMMAND, arguments);
  FILE *stream = popen(command, "r");
  assert_non_null(stream);
  size_t size = fread(output, 1, sizeof output - 1, stream);
  output[size] = '\0';
  int result = pclose(stream);
  if (!WIFEXITED(result) || WEXITSTATUS(result) != status || !strstr(output, text))
    fail_msg("play %s: status 0x%x, expected %d and '%s' in\n%s", arguments, (unsigned)result,
             status, text, output);
}

static void test_whole_recording(void **state)
{
  (void)state;
  assert_play("$BAG -r 1000", 0, "played to the end at 30.00 s of 30.00 s: 363 messages\n");
  assert_play("$BAG/demo_0.db3 --rate=1000 --clock", 0, ": 363 messages, ");
  assert_play("--help", 0, "usage: timebase play BAG");
  assert_play("$BAG $BAG -r 1000", 0, ": 726 messages\n"); /* merged */
}

static void test_clock_takes_a_number_after_it_only(void **state)
{
  (void)state;
  assert_play("--clock 100 $BAG -r 1000", 0, "ticks of /clock");
  assert_play("-r 1000 --clock $BAG", 0, "ticks of /clock");
  assert_play("-r 1000 $BAG --clock=0.5", 0, "ticks of /clock");
  assert_play("$BAG --clock 0", 2, "--clock 0: must be from 0.001 to");
  assert_play("--clock x $BAG", 3, "x: ");
}

static void test_topics_take_words_up_to_the_next_option(void **state)
{
  (void)state;
  assert_play("$BAG --topics /chatter map_name -r 1000", 0, ": 62 messages\n");
  assert_play("-r 1000 --topics /map_name -- $BAG", 0, ": 1 message\n");
  assert_play("$BAG -r max --topics /chatter /nope", 0,
              "has no topic /nope; it has /chatter, /stamped, /map_name\n");
  assert_play("$BAG --topics /nope", 2, "has no topic /nope; it has /chatter, /stamped, /map_name");
  assert_play("$BAG -r max --exclude-topics nope", 0, "warning: --exclude-topics: ");
}

static void test_topics_by_expressions(void **state)
{
  (void)state;
  assert_play("$BAG -r max -e 'chat|^/map'", 0, ": 62 messages\n");
  assert_play("$BAG -r max -e chat --topics map_name", 0, ": 62 messages\n");
  assert_play("$BAG -r max -x 'chat|^/map'", 0, ": 301 messages\n");
  assert_play("$BAG -r max -e chat -x tter", 2, "no topic of ");
  assert_play("$BAG -r max --exclude-topics /chatter map_name", 0, ": 301 messages\n");
  assert_play("$BAG -r max -e '^/cha\\w{2}(?:er|x)\\b'", 0, ": 61 messages\n");
  assert_play("$BAG -r max -x '/chatter\\d'", 0, ": 363 messages\n");
  assert_play("$BAG -r max -x '/chatter\\d'", 0,
              "warning: --exclude-regex '/chatter\\d' matches no topic of ");
  assert_play("$BAG -r max -e '\\d'", 2, "no topic of ");
  assert_play("$BAG -r max -e '\\d' --topics chatter", 0,
              "; it has /chatter, /stamped, /map_name\n");
  assert_play(
      "$BAG -r max -x '^/((((((((\\w+)+)+)+)+)+)+)+)+(!|@)'", 2,
      "--exclude-regex: expression '^/((((((((\\w+)+)+)+)+)+)+)+)+(!|@)': gave up at topic '/");
  assert_play("$BAG -r max -e ''", 2, "it is empty");
  assert_play("$BAG -r max -e /chatter -e /tf", 2, "--regex: given twice");
  assert_play("$BAG -r max -x /chatter -x /tf", 2, "--exclude-regex: given twice");
  assert_play("$BAG -r max -e '('", 2, "--regex: expression '(', character 1: ");
  assert_play("$BAG -r max -x '('", 2, "--exclude-regex: expression '(', character 1: ");
}

static void test_ends(void **state)
{
  (void)state;
  assert_play("$BAG -r max --playback-duration 0", 0, "at 0.00 s of 0.00 s: 0 messages\n");
  assert_play("$BAG -r max --playback-duration 0 --start-offset 5 --loop", 0, ": 0 messages\n");
  assert_play("$BAG -r max --playback-duration 1ns", 0, ": 2 messages\n");
  assert_play("$BAG -r max --playback-duration -1", 0, ": 363 messages\n");
  assert_play("$BAG -r max --playback-until-sec 1700000001.5", 0, "at 1.50 s of 1.50 s");
  assert_play("$BAG -r max --playback-until-nsec 1700000001500000000", 0, "at 1.50 s of 1.50 s");
  assert_play("$BAG -r max --playback-until-sec 1", 2,
              "playback ends at 1.000000000 s, before it starts at 1700000000.0");
  assert_play("$BAG -r max --playback-until-nsec 1x", 2, "must be a whole number");
  assert_play("$BAG -r max -d 10ms --wait-for-all-acked 0", 0, ": 363 messages\n");
  assert_play("$BAG --delay -1", 2, "must not be negative");
}

static void test_clocks_before_messages(void **state)
{
  (void)state;
  assert_play("$BAG -r max --clock-topics chatter /map_name --rate 1000", 0, " 62 ticks of /clock");
  assert_play("$BAG -r max --clock-topics-all", 0, " 302 ticks of /clock");
  assert_play("$BAG --clock --clock-topics-all", 2, "cannot be used together");
  assert_play("$BAG --clock-topics nope", 2, "topic nope, for the clock, is not played");
}

static void test_names_and_policies(void **state)
{
  (void)state;
  assert_play("$BAG -r max --remap chatter:=talk /stamped:=/s", 0, ": 363 messages\n");
  assert_play("$BAG -r max --remap chatter=talk", 2, "must be from:=to");
  assert_play("$BAG -r max --qos-profile-overrides-path /no/file", 3, "/no/file");
  assert_play("$BAG -r max --qos-profile-overrides-path $BAG/metadata.yaml", 3, "unknown policy");
  assert_play("$BAG -r max --read-ahead-queue-size 1 --clock", 0, ": 363 messages, ");
  assert_play("$BAG --read-ahead-queue-size 0", 2, "--read-ahead-queue-size 0");
  assert_play("$BAG -r max --disable-keyboard-controls", 0, ": 363 messages\n");
  assert_play("$BAG/metadata.yaml -r max", 0, ": 363 messages\n"); /* as tab completes it */
}

/* Types `keys` on a terminal of the player; its output, up to its end, is put into `out`. */
static void play_keys(const char *keys, char *out, size_t size)
{
  int output[2], terminal = -1;
  assert_int_equal(pipe(output), 0);
  pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
  assert_true(pid >= 0);
  if (pid == 0) {
    dup2(output[1], STDOUT_FILENO);
    execl(TB_COMMAND, TB_COMMAND, "play", TB_DEMO_BAG, "-p", "--clock", (char *)NULL);
    _exit(99);
  }
  close(output[1]);
  FILE *stream = fdopen(output[0], "r");
  assert_non_null(stream);
  assert_non_null(fgets(out, (int)size, stream)); /* it reads keys now */
  assert_int_equal(write(terminal, keys, strlen(keys)), strlen(keys));
  size_t length = fread(out, 1, size - 1, stream);
  out[length] = '\0';
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  fclose(stream);
  close(terminal);
}

static void test_keys(void **state)
{
  (void)state;
  char out[16384];
  play_keys("\033[C\033[C\033[D\033[1;2Cq", out, sizeof out);
  if (!strstr(out, "stopped at 6.00 s of 30.00 s")) fail_msg("%s", out);
  play_keys("\033[1;3C\033[1;2D][{}\177q", out, sizeof out);
  if (!strstr(out, "stopped at 29.00 s of 30.00 s")) fail_msg("%s", out);
  play_keys("\033[1;3D\033[Dq", out, sizeof out);
  if (!strstr(out, "stopped at 0.00 s of 30.00 s")) fail_msg("%s", out);
  play_keys("\033[1;3C}}}}}}}}}}}} ", out, sizeof out); /* continues, to the end */
  if (!strstr(out, "played to the end at 30.00 s of 30.00 s: 3 messages")) fail_msg("%s", out);
}

static void test_start_offset(void **state)
{
  (void)state;
  assert_play("$BAG -r 1000 --start-offset 29.95", 0, ": 3 messages\n");
  assert_play("$BAG --start-offset 31s", 2,
              "start offset 31.000000000 s is beyond the end of the recording, at most 30.0");
  assert_play("$BAG --start-offset -1", 2, "must not be negative");
}

static void test_wrong_usage(void **state)
{
  (void)state;
  assert_play("", 2, "usage: ");
  assert_play("$BAG --bogus", 2, "unknown option --bogus");
  assert_play("$BAG --rate", 2, "needs a value");
  assert_play("$BAG -r 0.0001", 2, "from 0.001 to");
  assert_play("$BAG -r fast", 2, "--rate fast");
  assert_play("$BAG --domain 500", 2, "--domain 500");
}

static void test_what_the_machine_refuses(void **state)
{
  (void)state;
  assert_play("/no/such/bag", 3, "/no/such/bag");
  assert_play("/dev/null", 3, "/dev/null: neither a folder nor a file");
}

static void test_signals_are_a_normal_end(void **state)
{
  (void)state;
  static const int signals[] = {SIGINT, SIGTERM};
  static const char *const argv[] = {TB_COMMAND, "play", TB_DEMO_BAG, "--clock", "--loop", NULL};
  for (size_t i = 0; i < 2; i++) {
    peer_t play;
    char line[256];
    peer_start(&play, argv);
    peer_read_line(&play, line, sizeof line);
    assert_memory_equal(line, "time ", 5);
    loopback_check(play.pid);
    assert_int_equal(kill(play.pid, signals[i]), 0);
    do
      peer_read_line(&play, line, sizeof line);
    while (strncmp(line, "time ", 5) == 0);
    assert_memory_equal(line, "stopped at ", 11);
    peer_stop(&play);
  }
}

static void test_orders_of_messages(void **state)
{
  (void)state;
  assert_play("$BAG -r 1000 --message-order sent", 0, ": 363 messages\n");
  assert_play("$BAG -r 1000 --message-order=received", 0, ": 363 messages\n");
  assert_play("$BAG --message-order x", 2, "--message-order: 'x' is neither sent nor received");
}

/* Time is reported again and again at the end. */
static void test_kept_alive_it_stays_at_the_end(void **state)
{
  (void)state;
  static const char *const argv[] = {TB_COMMAND, "play",         TB_DEMO_BAG, "-r",
                                     "1000",     "--keep-alive", "--clock",   NULL};
  peer_t play;
  char line[256];
  peer_start(&play, argv);
  for (int at_end = 0; at_end < 3;) {
    peer_read_line(&play, line, sizeof line);
    at_end += !strncmp(line, "time 30.00 s", 12);
  }
  assert_int_equal(kill(play.pid, SIGINT), 0);
  do
    peer_read_line(&play, line, sizeof line);
  while (strncmp(line, "time ", 5) == 0);
  assert_memory_equal(line, "stopped at 30.00 s of 30.00 s: 363 messages", 43);
  peer_stop(&play);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_recording),
      cmocka_unit_test(test_clock_takes_a_number_after_it_only),
      cmocka_unit_test(test_topics_take_words_up_to_the_next_option),
      cmocka_unit_test(test_topics_by_expressions),
      cmocka_unit_test(test_ends),
      cmocka_unit_test(test_clocks_before_messages),
      cmocka_unit_test(test_names_and_policies),
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_start_offset),
      cmocka_unit_test(test_wrong_usage),
      cmocka_unit_test(test_what_the_machine_refuses),
      cmocka_unit_test(test_signals_are_a_normal_end),
      cmocka_unit_test(test_orders_of_messages),
      cmocka_unit_test(test_kept_alive_it_stays_at_the_end),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
