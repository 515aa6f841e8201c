/* The calls of player services that a `ros2 bag play` was given (captures/player_services.json),
 * put to a player of the same recording: 100 messages on each of two topics, 0.1 s apart from
 * 1000 s on. The same answers to the byte, except that
 *
 *   - a seek before or after the recording is refused: rosbag2 reports success and does otherwise
 *   - a negative time in play is refused: rosbag2's process crashes without an answer */
#include <pthread.h>
#include <sched.h>

#include "bag/fake_bag.h"
#include "captures.h"
#include "play/fake_transport.h"
#include "play/player.h"
#include "rosbag2/player_requests.h"
#include "wire/service_header.h"
#include "within.h"

#define BYTES 4096
#define COUNT 200
#define LIMIT ((tb_duration_t){60 * TB_NS_PER_S})

typedef struct stage {
  tb__fake_bag_t bag;
  tb_bag_reader_t *reader;
  tb__manual_pacer_t pacer; /* of the transport's trace */
  tb__fake_transport_t fake;
  tb_player_t *player;
  pthread_t thread;
} stage_t;

static tb__fake_message_t messages[COUNT];
static const tb__fake_topic_t topics[] = {{"/chatter", "std_msgs/msg/String", NULL, NULL},
                                          {"/stamped", "std_msgs/msg/Header", NULL, NULL}};

static void *play(void *user)
{
  assert_ok(tb_player_run(((stage_t *)user)->player, NULL, NULL));
  return NULL;
}

static void stage_open(stage_t *stage, bool paused, bool on_demand)
{
  tb_player_options_t options = TB_PLAYER_OPTIONS_INIT;
  options.start_paused = paused;
  options.on_demand = on_demand;
  for (size_t i = 0; i < COUNT; i++)
    messages[i] = (tb__fake_message_t){
        .topic = i % 2, .log_time_ns = 1000 * TB_NS_PER_S + (int64_t)(i / 2) * 100 * TB_NS_PER_MS};
  *stage = (stage_t){
      .bag = {.topics = topics, .topic_count = 2, .messages = messages, .message_count = COUNT}};
  assert_ok(tb__fake_bag_open(&stage->bag, NULL, &stage->reader, NULL));
  tb__manual_pacer_init(&stage->pacer);
  tb_play_transport_t transport = tb__fake_transport_init(&stage->fake, &stage->pacer);
  assert_ok(tb_player_create(stage->reader, &transport, &options, &stage->player, NULL));
  assert_int_equal(pthread_create(&stage->thread, NULL, play, stage), 0);
  for (tb_player_status_t status = {0}; !status.running; tb_player_status(stage->player, &status))
    sched_yield();
}

static void stage_close(stage_t *stage)
{
  if (!stage->player) return;
  tb_player_stop(stage->player);
  pthread_join(stage->thread, NULL);
  tb_player_destroy(stage->player);
  tb__fake_transport_fini(&stage->fake);
  tb_bag_reader_close(stage->reader);
  stage->player = NULL;
}

static bool is_halted(stage_t *stage)
{
  tb_player_status_t status;
  tb_player_status(stage->player, &status);
  return status.halted;
}

static const tb__player_service_t *service_of(const char *topic)
{
  for (size_t i = 0; i < TB__PLAYER_SERVICE_COUNT; i++) {
    char name[80];
    snprintf(name, sizeof name, "/rosbag2_player%sRe", tb__player_services[i].name + 1);
    if (strncmp(topic + strlen("\"rq"), name, strlen(name)) == 0) return &tb__player_services[i];
  }
  fail_msg("no service for %.60s", topic);
  return NULL;
}

/* The captured bytes without the header of services; how many. */
static size_t body_of(const char *object, const char *end, tb__service_header_t *header,
                      uint8_t *out)
{
  uint8_t cdr[BYTES];
  size_t size = captures_hex(captures_member(object, end, "cdr_hex") + 1, cdr, sizeof cdr);
  assert_ok(tb__service_header_read(cdr, size, header));
  tb__service_header_remove(cdr, size, out);
  return size - TB__SERVICE_HEADER_SIZE;
}

/* The table reads what ROS wrote, and writes it again. */
static void *decode(const tb__cdr_type_t *type, const uint8_t *body, size_t size)
{
  void *message;
  uint8_t *again;
  size_t again_size;
  assert_ok(tb__cdr_decode(type, body, size, &message));
  assert_ok(tb__cdr_encode(type, message, false, &again, &again_size));
  assert_true(again_size <= size && size - again_size < 4);
  assert_memory_equal(again, body, again_size);
  free(again);
  return message;
}

static void carry_out(stage_t *stage, const tb__player_service_t *kind, const void *request,
                      tb__player_answer_t *out)
{
  memset(out, 0, sizeof *out);
  if (kind->carry_out) {
    kind->carry_out(stage->player, request, out);
    return;
  }
  uint64_t sent = 0;
  if (tb_player_burst(stage->player, kind->steps(request), WITHIN(LIMIT), &sent)) sent = 0;
  kind->stepped(sent, out);
}

static bool begins_with(const char *what, const char *text)
{
  return strncmp(what + 1, text, strlen(text)) == 0;
}

/* Another player at some places of the recorded calls. */
static void change_stage(stage_t *stage, const char *what)
{
  bool first = begins_with(what, "started with --start-paused");
  bool burst = begins_with(what, "burst of 0");
  bool demand = begins_with(what, "player node that is not playing");
  if (!first && !burst && !demand) return;
  stage_close(stage);
  stage_open(stage, !demand, demand);
}

static bool differs(const char *what)
{
  return begins_with(what, "seek before the start") || begins_with(what, "seek past the end");
}

static void check_reply(const char *object, const char *end, const tb__player_service_t *kind,
                        const tb__service_header_t *asked, const tb__player_answer_t *answer)
{
  uint8_t body[BYTES], *ours;
  size_t ours_size;
  tb__service_header_t header;
  size_t size = body_of(object, end, &header, body);
  assert_true(header.client == asked->client && header.sequence == asked->sequence);
  free(decode(kind->response, body, size));
  const char *what = captures_member(object, end, "what");
  assert_ok(tb__cdr_encode(kind->response, answer, false, &ours, &ours_size));
  if (differs(what))
    assert_false(answer->success.success);
  else if (memcmp(ours, body, ours_size) != 0)
    fail_msg("another answer to %.80s", what);
  free(ours);
}

static void test_services(void **state)
{
  (void)state;
  char *text = captures_read("player_services.json");
  const char *end = text, *object;
  const tb__player_service_t *kind = NULL;
  tb__service_header_t header;
  tb__player_answer_t answer = {0};
  stage_t stage = {0};
  int replies = 0;
  while ((object = captures_object(end, &end))) {
    const char *type = captures_member(object, end, "kind");
    if (strncmp(type, "\"reply", 6) == 0) {
      check_reply(object, end, kind, &header, &answer);
      replies++;
    }
    if (strncmp(type, "\"request", 8) != 0) continue;
    uint8_t body[BYTES];
    const char *what = captures_member(object, end, "what");
    if (replies == 0 || !begins_with(what, "is_paused")) change_stage(&stage, what);
    kind = service_of(captures_member(object, end, "topic"));
    size_t size = body_of(object, end, &header, body);
    void *request = decode(kind->request, body, size);
    while ((begins_with(what, "play:") || begins_with(what, "play until")) && !is_halted(&stage))
      sched_yield(); /* until what was asked for before has been played */
    carry_out(&stage, kind, request, &answer);
    if (kind->response == &tb__player_empty_type) answer = (tb__player_answer_t){0};
    free(request);
  }
  assert_int_equal(replies, 40);
  assert_false(answer.success.success); /* of the request that was not answered */
  stage_close(&stage);
  free(text);
}

static void test_split_events(void **state)
{
  (void)state;
  char *text = captures_read("split_events.json");
  const char *end = text, *object;
  int events = 0;
  while ((object = captures_object(end, &end))) {
    uint8_t cdr[BYTES];
    const char *hex = captures_member(object, end, "cdr_hex");
    if (!hex) continue;
    tb__split_event_t *event =
        decode(&tb__split_event_type, cdr, captures_hex(hex + 1, cdr, sizeof cdr));
    assert_memory_equal(event->node_name, "/rosbag2_", 9);
    free(event);
    events++;
  }
  assert_true(events >= 6);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_services),
      cmocka_unit_test(test_split_events),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
