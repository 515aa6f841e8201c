/* `timebase play` as its users meet it: arguments, output, exit statuses, signals. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

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
 * the output says `text`. */
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
}

static void test_clock_takes_a_number_behind_it_only(void **state)
{
  (void)state;
  assert_play("--clock 100 $BAG -r 1000", 0, "ticks of /clock");
  assert_play("-r 1000 --clock $BAG", 0, "ticks of /clock");
  assert_play("-r 1000 $BAG --clock=0.5", 0, "ticks of /clock");
  assert_play("$BAG --clock 0", 2, "--clock 0: must be a number from 0.001 to");
  assert_play("--clock x $BAG", 2, "unexpected argument");
}

static void test_topics_take_words_up_to_the_next_option(void **state)
{
  (void)state;
  assert_play("$BAG --topics /chatter map_name -r 1000", 0, ": 62 messages\n");
  assert_play("-r 1000 --topics /map_name -- $BAG", 0, ": 1 message\n");
  assert_play("$BAG --topics /chatter /nope", 2,
              "has no topic /nope; it has /chatter, /stamped, /map_name");
}

static void test_start_offset(void **state)
{
  (void)state;
  assert_play("$BAG -r 1000 --start-offset 29.95", 0, ": 2 messages\n");
  assert_play("$BAG --start-offset 31s", 2,
              "start offset 31.000000000 s is beyond the end of what is played, at most 30.0");
  assert_play("$BAG --start-offset -1", 2, "must not be negative");
}

static void test_wrong_usage(void **state)
{
  (void)state;
  assert_play("", 2, "usage: ");
  assert_play("$BAG $BAG", 2, "unexpected argument");
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
  assert_play("$BAG/metadata.yaml", 3, "metadata.yaml");
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole_recording),
      cmocka_unit_test(test_clock_takes_a_number_behind_it_only),
      cmocka_unit_test(test_topics_take_words_up_to_the_next_option),
      cmocka_unit_test(test_start_offset),
      cmocka_unit_test(test_wrong_usage),
      cmocka_unit_test(test_what_the_machine_refuses),
      cmocka_unit_test(test_signals_are_a_normal_end),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
