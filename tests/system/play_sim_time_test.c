/* `timebase play --use-sim-time`: the messages come as /clock flows. The master is a clock server
 * of this process, which also receives them. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timebase/clock_server.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_clock_source.h>
#include <timebase/ros2_subscription.h>
#include <timebase/sleep.h>
#include <timebase/source.h>
#include <unistd.h>

#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "wire/clock_message.h"

#define DOMAIN    4
#define MESSAGES  31
#define PERIOD_NS (100 * TB_NS_PER_MS)       /* of /stamped in the recording */
#define BAG_NS    (1700000000 * TB_NS_PER_S) /* the first one, ... */
#define MASTER_NS (100 * TB_NS_PER_S)        /* ... and where the master is then */

typedef struct stage {
  tb_ros2_context_t *context, *master_context;
  tb_ros2_subscription_t *subscription;
  tb_ros2_clock_publisher_t *publisher;
  tb_clock_server_t *master;
  peer_t play;
  char profile[32];
  _Atomic int64_t sent_ns; /* the master's last tick, as it goes out */
  atomic_int received, early;
} stage_t;

/* --- the receiver --- */

static void on_stamped(const tb_ros2_sample_t *sample, void *user)
{
  stage_t *stage = user;
  int64_t stamp_ns = INT64_MAX, sent_ns = atomic_load(&stage->sent_ns);
  /* std_msgs/Header begins like rosgraph_msgs/Clock. */
  size_t size = sample->size < TB__CLOCK_MESSAGE_SIZE ? sample->size : TB__CLOCK_MESSAGE_SIZE;
  if (tb__clock_message_decode(sample->cdr, size, &stamp_ns)) stamp_ns = INT64_MAX;
  int64_t due_ns = MASTER_NS + (stamp_ns - BAG_NS);
  if (sent_ns < due_ns) atomic_fetch_add(&stage->early, 1);
  atomic_fetch_add(&stage->received, 1);
}

static void open_receiver(stage_t *stage)
{
  tb_ros2_subscription_options_t options = TB_ROS2_SUBSCRIPTION_OPTIONS_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.depth = 1000;
  options.callback = on_stamped;
  options.user = stage;
  assert_ok(tb_ros2_context_create(NULL, &stage->context, NULL));
  assert_ok(tb_ros2_subscription_create(stage->context, "/stamped", "std_msgs/msg/Header", &qos,
                                        &options, &stage->subscription, NULL));
}

static void wait_for(const stage_t *stage, int count)
{
  while (atomic_load(&stage->received) < count)
    usleep(1000);
}

/* --- the master --- */

static tb_status_t send_tick(void *self, int64_t time_ns, tb_jump_reason_t reason,
                             tb_error_t *error)
{
  stage_t *stage = self;
  atomic_store(&stage->sent_ns, time_ns);
  tb_tick_sink_t sink = tb_ros2_clock_publisher_sink(stage->publisher);
  return sink.tick(sink.self, time_ns, reason, error);
}

/* Time is stopped at first. */
static void start_master(stage_t *stage)
{
  tb_clock_server_options_t options = TB_CLOCK_SERVER_OPTIONS_INIT;
  tb_tick_sink_t sink = {send_tick, stage};
  options.start_ns = MASTER_NS;
  options.factor = 0.5;
  options.start_paused = true;
  assert_ok(tb_ros2_context_create(NULL, &stage->master_context, NULL));
  assert_ok(
      tb_ros2_clock_publisher_create(stage->master_context, NULL, NULL, &stage->publisher, NULL));
  assert_ok(tb_clock_server_create(&options, &sink, 1, &stage->master, NULL));
  assert_ok(tb_clock_server_start(stage->master));
}

static int64_t master_ns(const stage_t *stage)
{
  tb_clock_server_status_t status;
  tb_clock_server_status(stage->master, &status);
  return status.time_ns;
}

/* --- the player --- */

/* Nothing is lost on the way. */
static void write_profile(stage_t *stage)
{
  static const char text[] =
      "/stamped:\n  reliability: reliable\n  durability: transient_local\n  depth: 1000\n";
  strcpy(stage->profile, "/tmp/timebase-profile-XXXXXX");
  int fd = mkstemp(stage->profile);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
  close(fd);
}

static void start_player(stage_t *stage)
{
  write_profile(stage);
  const char *const argv[] = {TB_COMMAND,
                              "play",
                              TB_DEMO_BAG,
                              "--use-sim-time",
                              "--playback-duration=3",
                              "--qos-profile-overrides-path",
                              stage->profile,
                              "--topics",
                              "/stamped",
                              NULL};
  peer_start(&stage->play, argv);
}

/* The first line that does not print the time. */
static void read_end(peer_t *play, char *line, size_t size)
{
  do
    peer_read_line(play, line, size);
  while (strncmp(line, "time ", 5) == 0);
}

static void stage_close(stage_t *stage)
{
  tb_clock_server_destroy(stage->master);
  tb_ros2_clock_publisher_destroy(stage->publisher);
  tb_ros2_context_destroy(stage->master_context);
  tb_ros2_subscription_destroy(stage->subscription);
  tb_ros2_context_destroy(stage->context);
  unlink(stage->profile);
}

/* --- tests --- */

/* Time is stopped after some messages. A player that is delayed holds time back, so fewer may have
 * come than are due. */
static void pause_in_between(stage_t *stage)
{
  wait_for(stage, 8);
  tb_clock_server_pause(stage->master);
  int due = (int)((master_ns(stage) - MASTER_NS) / PERIOD_NS) + 1;
  usleep(300000);
  assert_in_range(atomic_load(&stage->received), 8, due);
}

/* The player gets a tick when its other receivers do, so a message may overtake it on the way
 * to one: what counts is the time of the clock's server. */
static void test_messages_come_as_the_clock_flows(void **state)
{
  (void)state;
  stage_t stage = {0};
  char line[256];
  open_receiver(&stage);
  start_player(&stage);
  peer_read_line(&stage.play, line, sizeof line);
  assert_string_equal(line, "time 0.00 s  0 %  rate 1  messages 0  waiting for /clock: it has no "
                            "publisher");
  loopback_check(stage.play.pid);
  assert_int_equal(atomic_load(&stage.received), 0);
  start_master(&stage);
  wait_for(&stage, 1); /* with the first tick; 100 s are the start of the recording */
  tb_clock_server_resume(stage.master);
  pause_in_between(&stage);
  assert_ok(tb_clock_server_set_factor(stage.master, 4));
  tb_clock_server_resume(stage.master);
  read_end(&stage.play, line, sizeof line);
  static const char end[] = "played to the end at 3.00 s of 3.00 s: 31 messages";
  assert_memory_equal(line, end, sizeof end - 1);
  wait_for(&stage, MESSAGES);
  assert_int_equal(atomic_load(&stage.early), 0);
  peer_stop(&stage.play);
  stage_close(&stage);
}

static void test_signals_end_it_before_the_first_tick(void **state)
{
  (void)state;
  static const char *const argv[] = {TB_COMMAND, "play", TB_DEMO_BAG, "--use-sim-time", NULL};
  peer_t play;
  char line[256];
  peer_start(&play, argv);
  peer_read_line(&play, line, sizeof line);
  assert_int_equal(kill(play.pid, SIGINT), 0);
  read_end(&play, line, sizeof line);
  assert_string_equal(line, "stopped at 0.00 s of 30.00 s: 0 messages");
  peer_stop(&play);
}

/* `timebase play` with --use-sim-time and `arguments` ends at once. */
static void assert_refused(const char *arguments, const char *text)
{
  static char command[1024], output[4096];
  snprintf(command, sizeof command, "timeout 60 %s play %s --use-sim-time %s 2>&1 </dev/null",
           TB_COMMAND, TB_DEMO_BAG, arguments);
  FILE *stream = popen(command, "r");
  assert_non_null(stream);
  size_t size = fread(output, 1, sizeof output - 1, stream);
  output[size] = '\0';
  int result = pclose(stream);
  if (!WIFEXITED(result) || WEXITSTATUS(result) != 2 || !strstr(output, text))
    fail_msg("%s: status 0x%x and\n%s", arguments, (unsigned)result, output);
}

static void test_it_does_not_publish_the_clock_that_it_follows(void **state)
{
  (void)state;
  assert_refused("--clock", "published on /clock, which --use-sim-time follows");
  assert_refused("--clock-topics /stamped", "published on /clock, ");
  assert_refused("--clock-topics-all -m rosbag2_player:/clock:=/x", "published on /x, ");
  assert_refused("--clock -m /clock:=clock", "published on /clock, ");
  assert_refused("--clock -m clock:=", "--remap: ");
  assert_refused("--rate max", "--rate max cannot be used with --use-sim-time");
}

/* Its own clock comes under another name, and is stopped with the one that it follows. */
static void test_its_own_clock_has_another_name(void **state)
{
  (void)state;
  static const char *const argv[] = {TB_COMMAND, "play",    TB_DEMO_BAG,       "--use-sim-time",
                                     "--clock",  "--remap", "/clock:=/replay", NULL};
  stage_t stage = {0};
  tb_source_t *source = NULL;
  tb_clock_t *replay = NULL;
  tb_ros2_clock_source_options_t options = TB_ROS2_CLOCK_SOURCE_OPTIONS_INIT;
  options.topic = "/replay";
  start_master(&stage);
  assert_ok(tb_ros2_clock_source_create(stage.master_context, &options, &source, NULL));
  tb_clock_options_t clock_options = {TB_TIME_ROS, source};
  assert_ok(tb_clock_create(&clock_options, &replay));
  peer_start(&stage.play, argv);
  tb_clock_server_resume(stage.master);
  tb_time_t second = {BAG_NS + TB_NS_PER_S, TB_TIME_ROS};
  tb_wait_options_t limit = {.limit = {60 * TB_NS_PER_S}};
  assert_ok(tb_clock_sleep_until(replay, second, &limit));
  assert_int_equal(kill(stage.play.pid, SIGINT), 0);
  peer_stop(&stage.play);
  assert_ok(tb_clock_destroy(replay));
  assert_ok(tb_source_destroy(source));
  stage_close(&stage);
}

static int setup(void **state)
{
  (void)state;
  loopback_setup(DOMAIN);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_messages_come_as_the_clock_flows),
      cmocka_unit_test(test_signals_end_it_before_the_first_tick),
      cmocka_unit_test(test_it_does_not_publish_the_clock_that_it_follows),
      cmocka_unit_test(test_its_own_clock_has_another_name),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
