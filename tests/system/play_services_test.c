/* `timebase play`, controlled through the services of rosbag2_interfaces by another process. */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_context.h>
#include <timebase/ros2_graph.h>
#include <timebase/ros2_type_hash.h>
#include <unistd.h>

#include "rosbag2/player_requests.h"
#include "system/loopback.h"
#include "system/peer_process.h"
#include "test.h"
#include "within.h"

#define DOMAIN   1
#define LIMIT    ((tb_duration_t){60 * TB_NS_PER_S})
#define START_S  1700000000
#define MESSAGES 363

static tb_ros2_context_t *context;
static tb_ros2_client_t *clients[TB__PLAYER_SERVICE_COUNT];
static tb_ros2_client_t *stop_of_rolling;
static peer_t player;

static void start_player(const char *option)
{
  const char *const argv[] = {TB_COMMAND, "play", TB_DEMO_BAG, "-p", "--clock", option, NULL};
  char line[256];
  peer_start(&player, argv);
  peer_read_line(&player, line, sizeof line);
}

static int setup(void **state)
{
  tb_error_t error = TB_ERROR_INIT;
  (void)state;
  loopback_setup(DOMAIN);
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK) fail_msg("%s", error.text);
  for (size_t i = 0; i < TB__PLAYER_SERVICE_COUNT; i++) {
    char name[80];
    snprintf(name, sizeof name, "/rosbag2_player%s", tb__player_services[i].name + 1);
    assert_ok(
        tb_ros2_client_create(context, name, tb__player_services[i].type, NULL, &clients[i], NULL));
  }
  assert_ok(tb_ros2_type_hash_register("rosbag2_interfaces/srv/Stop_Response",
                                       tb__stop_forms[0].response_hash, NULL));
  assert_ok(tb_ros2_client_create(context, "/rosbag2_player/stop", "rosbag2_interfaces/srv/Stop",
                                  NULL, &stop_of_rolling, NULL));
  start_player("--keep-alive");
  loopback_check(player.pid);
  return 0;
}

static int teardown(void **state)
{
  (void)state;
  for (size_t i = 0; i < TB__PLAYER_SERVICE_COUNT; i++)
    tb_ros2_client_destroy(clients[i]);
  tb_ros2_client_destroy(stop_of_rolling);
  tb_ros2_context_destroy(context);
  return 0;
}

static size_t service_of(const char *name)
{
  size_t i = 0;
  while (strcmp(tb__player_services[i].name + 2, name) != 0)
    i++;
  return i;
}

/* The response to a request of one of the types a service has had, to be freed. */
static void *call_as(const char *name, tb_ros2_client_t *client, const tb__cdr_type_t *request_type,
                     const void *request, const tb__cdr_type_t *response_type)
{
  tb_ros2_response_t response;
  tb_error_t error = TB_ERROR_INIT;
  uint8_t *cdr;
  size_t size;
  void *decoded;
  assert_ok(tb__cdr_encode(request_type, request, false, &cdr, &size));
  assert_ok(tb_ros2_client_wait_for_service(client, WITHIN(LIMIT)));
  if (tb_ros2_client_call(client, cdr, size, WITHIN(LIMIT), &response, &error) != TB_OK)
    fail_msg("%s: %s", name, error.text);
  assert_ok(tb__cdr_decode(response_type, response.cdr, response.size, &decoded));
  tb_ros2_response_release(&response);
  free(cdr);
  return decoded;
}

/* As clients of jazzy do. The answer, which is the beginning of the union. */
static tb__player_answer_t call(const char *name, const void *request)
{
  static const tb__timed_request_t empty;
  tb__player_answer_t answer = {0};
  size_t i = service_of(name);
  const tb__player_service_t *kind = &tb__player_services[i];
  void *decoded =
      call_as(name, clients[i], kind->request, request ? request : &empty, kind->response);
  memcpy(&answer, decoded, kind->response->size);
  free(decoded);
  return answer;
}

/* As clients of rolling do: the code of the result. */
static int32_t newer_call(const char *name, tb__timed_request_t request)
{
  bool is_stop = strcmp(name, "stop") == 0;
  const tb__service_form_t *form = is_stop ? tb__stop_forms : tb__timed_forms;
  tb_ros2_client_t *client = is_stop ? stop_of_rolling : clients[service_of(name)];
  tb__result_response_t *result = call_as(name, client, form->request, &request, form->response);
  int32_t code = result->return_code;
  assert_int_equal(result->error_string[0] != '\0', code != 0);
  free(result);
  return code;
}

static bool seek(int32_t sec, uint32_t nanosec)
{
  return call("seek", &(tb__seek_request_t){{sec, nanosec}}).success.success;
}

static bool play(tb__time_message_t offset, tb__time_message_t duration, tb__time_message_t until)
{
  return call("play", &(tb__play_request_t){offset, duration, until, {0, 0}}).success.success;
}

static bool set_rate(double rate)
{
  return call("set_rate", &(tb__rate_message_t){rate}).success.success;
}

/* rosbag2_transport test_play_services.cpp: play_next. */
static void test_steps_and_seeks_while_paused(void **state)
{
  (void)state;
  assert_true(call("is_paused", NULL).is_paused.paused);
  assert_true(call("play_next", NULL).success.success);
  assert_int_equal(call("burst", &(tb__burst_request_t){5}).burst.actually_burst, 5);
  assert_true(seek(START_S + 29, 0));
  assert_false(seek(START_S - 1, 0));
  assert_false(seek(START_S + 31, 0));
  assert_false(seek(-5, 0));
  assert_true(call("burst", &(tb__burst_request_t){0}).burst.actually_burst > 5);
  assert_false(call("play_next", NULL).success.success); /* at the end */
  assert_true(seek(START_S, 0));
  assert_int_equal(call("burst", &(tb__burst_request_t){0}).burst.actually_burst, MESSAGES);
}

static void test_rates(void **state)
{
  (void)state;
  assert_true(call("get_rate", NULL).rate.rate == 1);
  assert_true(set_rate(0.001));
  assert_false(set_rate(0));
  assert_false(set_rate(-1));
  assert_false(set_rate(1e9));
  assert_true(call("get_rate", NULL).rate.rate == 0.001);
}

static void test_pauses(void **state)
{
  (void)state;
  assert_true(seek(START_S, 0));
  call("resume", NULL);
  assert_false(call("is_paused", NULL).is_paused.paused);
  assert_false(call("play_next", NULL).success.success); /* time runs */
  assert_int_equal(call("burst", &(tb__burst_request_t){5}).burst.actually_burst, 0);
  call("toggle_paused", NULL);
  assert_true(call("is_paused", NULL).is_paused.paused);
  call("toggle_paused", NULL);
  call("pause", NULL);
  assert_true(call("is_paused", NULL).is_paused.paused);
}

static tb__time_message_t soon(void)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (tb__time_message_t){(int32_t)now.tv_sec + 2, (uint32_t)now.tv_nsec};
}

static void wait_until_it_plays(void)
{
  for (int i = 0; i < 10000 && call("is_paused", NULL).is_paused.paused; i++)
    usleep(10000);
  assert_false(call("is_paused", NULL).is_paused.paused);
}

/* rosbag2_transport test_play_services.cpp: pause_resume and
 * resume_can_be_scheduled_in_future_sim_time; test_record_services.cpp:
 * resume_returns_invalid_mode_for_bad_request. */
static void test_clients_of_rolling_resume(void **state)
{
  (void)state;
  assert_true(seek(START_S, 0));
  call("pause", NULL);
  assert_int_equal(newer_call("resume", (tb__timed_request_t){.mode = 3}), TB__RESUME_INVALID_MODE);
  assert_int_equal(newer_call("resume", (tb__timed_request_t){.mode = -1}),
                   TB__RESUME_INVALID_MODE);
  assert_true(call("is_paused", NULL).is_paused.paused);
  assert_int_equal(
      newer_call("resume", (tb__timed_request_t){.mode = 2, .tracking_topic_name = "/a"}), 0);
  assert_false(call("is_paused", NULL).is_paused.paused);
  call("pause", NULL);
  assert_int_equal(newer_call("resume", (tb__timed_request_t){0}), 0);
  assert_false(call("is_paused", NULL).is_paused.paused);
  call("pause", NULL);
  assert_int_equal(newer_call("resume", (tb__timed_request_t){.time = {START_S, 0}}), 0);
  assert_false(call("is_paused", NULL).is_paused.paused); /* that has passed */
  call("pause", NULL);
  assert_int_equal(newer_call("resume", (tb__timed_request_t){.time = {INT32_MAX, 0}}), 0);
  assert_int_equal(newer_call("resume", (tb__timed_request_t){.time = soon()}), 0); /* instead */
  assert_true(call("is_paused", NULL).is_paused.paused);
  wait_until_it_plays();
  call("pause", NULL);
}

/* As rolling has it: a code, and a text. */
static int32_t newer_play(tb__time_message_t at, tb__time_message_t offset)
{
  const tb__play_request_t request = {
      .start_offset = offset, .playback_duration = {-1, 0}, .start_time = at};
  tb__result_response_t *result =
      call_as("play", clients[service_of("play")], tb__play_forms[0].request, &request,
              tb__play_forms[0].response);
  int32_t code = result->return_code;
  assert_int_equal(result->error_string[0] != '\0', code != 0);
  free(result);
  return code;
}

/* rosbag2_transport test_play_services.cpp: stop_in_active_play (a second stop fails),
 * play_can_be_scheduled_in_future_sim_time (it plays already). */
static void test_stop_and_play(void **state)
{
  (void)state;
  const tb__time_message_t zero = {0, 0}, none = {-1, 0};
  assert_false(play(zero, none, zero)); /* it plays already */
  assert_int_equal(newer_call("stop", (tb__timed_request_t){0}), 0);
  assert_int_equal(newer_call("stop", (tb__timed_request_t){0}), TB__STOP_FAILED);
  call("stop", NULL); /* in the older form */
  assert_true(call("is_paused", NULL).is_paused.paused);
  assert_int_equal(newer_call("resume", (tb__timed_request_t){0}), TB__RESUME_FAILED);
  assert_false(seek(START_S, 0));
  assert_false(play(none, none, zero));
  assert_false(play(zero, none, none));
  assert_false(play((tb__time_message_t){31, 0}, none, zero));
  assert_true(play((tb__time_message_t){20, 0}, (tb__time_message_t){1, 0}, zero));
  assert_false(play(zero, none, zero));
  uint64_t burst = call("burst", &(tb__burst_request_t){0}).burst.actually_burst;
  assert_in_range(burst, 10, 20); /* of one second; it had 12 in each */
  assert_int_equal(newer_play((tb__time_message_t){0}, zero), TB__PLAY_FAILED); /* it plays */
  assert_int_equal(newer_call("stop", (tb__timed_request_t){0}), 0);
  assert_int_equal(newer_play((tb__time_message_t){0}, (tb__time_message_t){31, 0}),
                   TB__PLAY_FAILED);
  assert_int_equal(newer_play(soon(), zero), 0);
  assert_false(call("play_next", NULL).success.success);
  for (int i = 0; i < 10000 && !call("play_next", NULL).success.success; i++)
    usleep(10000);
  assert_true(call("play_next", NULL).success.success);
  assert_int_equal(kill(player.pid, SIGINT), 0);
  peer_stop(&player);
}

static void assert_ends(const char *text)
{
  char line[256];
  do
    peer_read_line(&player, line, sizeof line);
  while (strncmp(line, "time ", 5) == 0);
  assert_memory_equal(line, text, strlen(text));
  peer_stop(&player);
}

static void test_the_end(void **state)
{
  (void)state;
  start_player(NULL);
  assert_true(seek(START_S + 29, 900000000));
  call("resume", NULL);
  assert_ends("played to the end");
}

/* rosbag2_transport test_play_services.cpp: stop_in_pause, stop_in_active_play. */
static void test_it_ends_when_it_is_stopped(void **state)
{
  (void)state;
  start_player(NULL);
  assert_int_equal(newer_call("stop", (tb__timed_request_t){0}), 0);
  assert_ends("stopped at ");
  start_player("--loop");
  call("resume", NULL);
  call("stop", NULL);
  assert_ends("stopped at ");
}

static void test_one_that_stays_ends_by_a_signal(void **state)
{
  (void)state;
  static const int signals[] = {SIGINT, SIGTERM};
  for (size_t i = 0; i < 2; i++) {
    start_player("--hold");
    call("resume", NULL);
    assert_int_equal(newer_call("stop", (tb__timed_request_t){0}), 0);
    assert_false(seek(START_S, 0));
    assert_false(call("is_paused", NULL).is_paused.paused); /* as rosbag2 answers */
    assert_int_equal(kill(player.pid, signals[i]), 0);
    assert_ends("stopped at ");
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps_and_seeks_while_paused),
      cmocka_unit_test(test_rates),
      cmocka_unit_test(test_pauses),
      cmocka_unit_test(test_clients_of_rolling_resume),
      cmocka_unit_test(test_stop_and_play),
      cmocka_unit_test(test_the_end),
      cmocka_unit_test(test_it_ends_when_it_is_stopped),
      cmocka_unit_test(test_one_that_stays_ends_by_a_signal),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
