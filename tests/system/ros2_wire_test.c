/* Our publishers and subscriptions against a process that knows Cyclone DDS and types from IDL. */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_subscription.h>

#include "system/loopback.h"
#include "system/pattern.h"
#include "system/peer_process.h"
#include "test.h"
#include "wire/clock_message.h"
#include "within.h"

#define LIMIT        ((tb_duration_t){120 * TB_NS_PER_S})
#define STRING_TYPE  "std_msgs/msg/String"
#define FIRST_DOMAIN 60

static int next_domain = FIRST_DOMAIN;
static tb_ros2_context_t *context;

static int context_setup(void **state)
{
  (void)state;
  loopback_setup(next_domain++);
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_context_create(NULL, &context, &error) != TB_OK) fail_msg("%s", error.text);
  return 0;
}

static int context_teardown(void **state)
{
  (void)state;
  loopback_check(0);
  tb_ros2_context_destroy(context);
  context = NULL;
  return 0;
}

/* --- messages --- */

static uint8_t *string_message(size_t length, uint32_t seed, bool big_endian, size_t *out_size)
{
  uint32_t counted = (uint32_t)length + 1;
  *out_size = 8 + length + 1;
  uint8_t *message = calloc(1, *out_size);
  assert_non_null(message);
  message[1] = big_endian ? 0 : 1;
  for (int i = 0; i < 4; i++)
    message[4 + i] = (uint8_t)(counted >> (8 * (big_endian ? 3 - i : i)));
  pattern_fill((char *)message + 8, length, seed);
  return message;
}

static void publish_string(tb_ros2_publisher_t *publisher, size_t length, uint32_t seed,
                           bool big_endian)
{
  size_t size;
  uint8_t *message = string_message(length, seed, big_endian, &size);
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_publisher_publish(publisher, message, size, &error) != TB_OK)
    fail_msg("%s", error.text);
  free(message);
}

static void peer_expect_string(peer_t *peer, size_t length, uint32_t seed)
{
  char expected[64];
  char *text = malloc(length);
  assert_non_null(text);
  pattern_fill(text, length, seed);
  snprintf(expected, sizeof expected, "string %zu %08x", length,
           (unsigned)pattern_hash(text, length));
  free(text);
  peer_expect_line(peer, expected);
}

/* --- what subscriptions get --- */

typedef struct inbox {
  pthread_mutex_t mutex;
  sem_t arrived;
  uint8_t *messages[64];
  size_t sizes[64];
  tb_ros2_sample_t infos[64];
  int count, next;
} inbox_t;

static void inbox_init(inbox_t *inbox)
{
  memset(inbox, 0, sizeof *inbox);
  pthread_mutex_init(&inbox->mutex, NULL);
  sem_init(&inbox->arrived, 0, 0);
}

static void inbox_fini(inbox_t *inbox)
{
  for (int i = 0; i < inbox->count; i++)
    free(inbox->messages[i]);
  sem_destroy(&inbox->arrived);
  pthread_mutex_destroy(&inbox->mutex);
}

static void inbox_put(const tb_ros2_sample_t *sample, void *user)
{
  inbox_t *inbox = user;
  pthread_mutex_lock(&inbox->mutex);
  if (inbox->count < 64) {
    inbox->messages[inbox->count] = malloc(sample->size);
    memcpy(inbox->messages[inbox->count], sample->cdr, sample->size);
    inbox->sizes[inbox->count] = sample->size;
    inbox->infos[inbox->count++] = *sample;
  }
  pthread_mutex_unlock(&inbox->mutex);
  sem_post(&inbox->arrived);
}

static int inbox_wait(inbox_t *inbox)
{
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += 30;
  if (sem_clockwait(&inbox->arrived, CLOCK_MONOTONIC, &until) != 0)
    fail_msg("no message came in time");
  return inbox->next++;
}

static void inbox_expect_string(inbox_t *inbox, size_t length, uint32_t seed)
{
  size_t size;
  uint8_t *expected = string_message(length, seed, false, &size);
  int i = inbox_wait(inbox);
  assert_int_equal(inbox->sizes[i], (size + 3) / 4 * 4);
  assert_memory_equal(inbox->messages[i], expected, 3); /* the fourth byte may count the padding */
  assert_memory_equal(inbox->messages[i] + 4, expected + 4, size - 4);
  free(expected);
}

static tb_ros2_publisher_t *publisher_of(const char *topic, tb_qos_t qos)
{
  tb_ros2_publisher_t *publisher = NULL;
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_publisher_create(context, topic, STRING_TYPE, &qos, &publisher, &error) != TB_OK)
    fail_msg("%s", error.text);
  return publisher;
}

static tb_ros2_subscription_t *subscription_of(const char *topic, const char *type, tb_qos_t qos,
                                               inbox_t *inbox)
{
  tb_ros2_subscription_t *subscription = NULL;
  tb_ros2_subscription_options_t options = {inbox ? inbox_put : NULL, inbox};
  tb_error_t error = TB_ERROR_INIT;
  if (tb_ros2_subscription_create(context, topic, type, &qos, &options, &subscription, &error) !=
      TB_OK)
    fail_msg("%s", error.text);
  return subscription;
}

static tb_qos_t latched(int32_t depth)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.depth = depth;
  return qos;
}

static void start(peer_t *peer, const char *command, const char *topic, const char *qos,
                  const char *a, const char *b)
{
  const char *const argv[] = {TB_ROS2_PEER, command, topic, qos, a, b, NULL};
  peer_start(peer, argv);
}

/* --- tests --- */

static void test_our_publisher_to_typed_reader(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_publisher_t *publisher = publisher_of("chatter", (tb_qos_t)TB_QOS_INIT_DEFAULT);
  start(&peer, "read", "rt/chatter", "rel", "4", NULL);
  peer_expect_line(&peer, "ready");
  peer_expect_line(&peer, "matched rt/chatter std_msgs::msg::dds_::String_");
  peer_expect_line(&peer, "endpoint typehash=RIHS01_"
                          "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18;");
  peer_expect_line(&peer, "participant enclave=/;");
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  loopback_check(peer.pid);
  publish_string(publisher, 0, 1, false);
  publish_string(publisher, 5, 2, false); /* 14 bytes: padded on the wire */
  publish_string(publisher, 6, 3, true);
  publish_string(publisher, 7, 4, false);
  assert_ok(tb_ros2_publisher_wait_for_acks(publisher, WITHIN(LIMIT)));
  peer_expect_string(&peer, 0, 1);
  peer_expect_string(&peer, 5, 2);
  peer_expect_string(&peer, 6, 3);
  peer_expect_string(&peer, 7, 4);
  peer_stop(&peer);
  tb_ros2_publisher_destroy(publisher);
}

static void test_typed_writer_to_our_subscription(void **state)
{
  (void)state;
  peer_t peer;
  inbox_t inbox;
  inbox_init(&inbox);
  tb_ros2_subscription_t *subscription =
      subscription_of("/chatter", STRING_TYPE, (tb_qos_t)TB_QOS_INIT_DEFAULT, &inbox);
  start(&peer, "write", "rt/chatter", "rel", "9", "3");
  peer_expect_line(&peer, "ready");
  for (uint32_t seed = 1; seed <= 3; seed++)
    inbox_expect_string(&inbox, 9, seed);
  static const uint8_t no_writer[16];
  assert_memory_not_equal(inbox.infos[0].writer_guid, no_writer, 16);
  assert_memory_equal(inbox.infos[0].writer_guid, inbox.infos[2].writer_guid, 16);
  assert_true(inbox.infos[0].source_timestamp_ns > INT64_C(1500000000) * TB_NS_PER_S);
  assert_true(inbox.infos[0].source_timestamp_ns <= inbox.infos[2].source_timestamp_ns);
  assert_true(inbox.infos[0].receive_timestamp_ns >= inbox.infos[0].source_timestamp_ns);
  assert_true(inbox.infos[0].receive_timestamp_ns <= inbox.infos[2].receive_timestamp_ns);
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(inbox.infos[i].sequence, i + 1);
  assert_int_equal(tb_ros2_subscription_matched(subscription), 1);
  peer_stop(&peer);
  tb_ros2_subscription_destroy(subscription);
  inbox_fini(&inbox);
}

static void test_late_joiners_get_the_history(void **state)
{
  (void)state;
  peer_t peer;
  inbox_t inbox;
  inbox_init(&inbox);
  tb_ros2_publisher_t *publisher = publisher_of("/ours", latched(3));
  for (uint32_t seed = 1; seed <= 5; seed++)
    publish_string(publisher, 20, seed, false);
  start(&peer, "read", "rt/ours", "tl", "3", NULL);
  char line[256];
  do
    peer_read_line(&peer, line, sizeof line);
  while (strncmp(line, "participant", 11) != 0);
  for (uint32_t seed = 3; seed <= 5; seed++)
    peer_expect_string(&peer, 20, seed);
  peer_stop(&peer);
  start(&peer, "write", "rt/theirs", "tl", "30", "4");
  peer_expect_line(&peer, "ready");
  tb_ros2_subscription_t *subscription =
      subscription_of("/theirs", STRING_TYPE, latched(100), &inbox);
  for (uint32_t seed = 1; seed <= 4; seed++)
    inbox_expect_string(&inbox, 30, seed);
  peer_stop(&peer);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_publisher_destroy(publisher);
  inbox_fini(&inbox);
}

static void test_a_megabyte_goes_in_fragments(void **state)
{
  (void)state;
  peer_t peer;
  inbox_t inbox;
  inbox_init(&inbox);
  tb_ros2_publisher_t *publisher = publisher_of("/ours", latched(10));
  publish_string(publisher, 1000000, 1, false);
  publish_string(publisher, 1000001, 2, false);
  start(&peer, "read", "rt/ours", "tl", "2", NULL);
  char line[256];
  do
    peer_read_line(&peer, line, sizeof line);
  while (strncmp(line, "participant", 11) != 0);
  peer_expect_string(&peer, 1000000, 1);
  peer_expect_string(&peer, 1000001, 2);
  peer_stop(&peer);
  tb_ros2_subscription_t *subscription =
      subscription_of("/theirs", STRING_TYPE, (tb_qos_t)TB_QOS_INIT_DEFAULT, &inbox);
  start(&peer, "write", "rt/theirs", "rel", "1000003", "2");
  inbox_expect_string(&inbox, 1000003, 1);
  inbox_expect_string(&inbox, 1000003, 2);
  peer_stop(&peer);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_publisher_destroy(publisher);
  inbox_fini(&inbox);
}

static void test_another_type_on_the_topic_is_not_matched(void **state)
{
  (void)state;
  peer_t peer;
  inbox_t inbox;
  int64_t time_ns = 0;
  inbox_init(&inbox);
  tb_qos_t qos = TB_QOS_INIT_DEFAULT; /* reliable: one message must arrive */
  tb_ros2_subscription_t *subscription =
      subscription_of("/clock", "rosgraph_msgs/msg/Clock", qos, &inbox);
  start(&peer, "write-clock", "rt/clock", "rel", "1700000000", "123456789");
  peer_expect_line(&peer, "matched");
  assert_ok(tb_ros2_subscription_wait_for_matched(subscription, 1, WITHIN(LIMIT)));
  peer_go_on(&peer);
  int i = inbox_wait(&inbox);
  assert_ok(tb__clock_message_decode(inbox.messages[i], inbox.sizes[i], &time_ns));
  assert_true(time_ns == INT64_C(1700000000123456789));
  assert_int_equal(tb_ros2_subscription_matched(subscription), 1);
  peer_stop(&peer);
  tb_ros2_subscription_destroy(subscription);
  inbox_fini(&inbox);
}

static void test_garbage_of_ours_is_dropped_by_typed_readers(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_publisher_t *publisher = publisher_of("/ours", latched(10));
  assert_ok(tb_ros2_publisher_publish(publisher, "\0\1\0\0", 4, NULL));
  assert_ok(tb_ros2_publisher_publish(publisher, "\0\1\0\0\xff\xff\xff\x7f!", 9, NULL));
  publish_string(publisher, 3, 1, false);
  assert_status(tb_ros2_publisher_publish(publisher, "\0\1\0", 3, NULL), TB_ERR_INVALID);
  assert_status(tb_ros2_publisher_publish(publisher, "\0\7\0\0\0\0\0\0", 8, NULL), TB_ERR_INVALID);
  start(&peer, "read", "rt/ours", "tl", "1", NULL);
  char line[256];
  do
    peer_read_line(&peer, line, sizeof line);
  while (strncmp(line, "participant", 11) != 0);
  peer_expect_string(&peer, 3, 1);
  peer_stop(&peer);
  tb_ros2_publisher_destroy(publisher);
}

static void test_garbage_reaches_subscriptions_as_bytes(void **state)
{
  (void)state;
  inbox_t inbox;
  int64_t time_ns = 0;
  inbox_init(&inbox);
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  tb_ros2_publisher_t *publisher = NULL;
  assert_ok(
      tb_ros2_publisher_create(context, "/clock", "rosgraph_msgs/Clock", &qos, &publisher, NULL));
  tb_ros2_subscription_t *subscription =
      subscription_of("/clock", "rosgraph_msgs/msg/Clock", qos, &inbox);
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  assert_ok(tb_ros2_publisher_publish(publisher, "\0\1\0\0abcd", 8, NULL));
  int i = inbox_wait(&inbox);
  assert_int_equal(inbox.sizes[i], 8);
  assert_status(tb__clock_message_decode(inbox.messages[i], inbox.sizes[i], &time_ns),
                TB_ERR_TRUNCATED);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_publisher_destroy(publisher);
  inbox_fini(&inbox);
}

/* It is best effort: until one has arrived. */
static void publish_clock(tb_ros2_clock_publisher_t *publisher, int64_t time_ns, const peer_t *peer)
{
  struct pollfd answer = {peer->out, POLLIN, 0};
  do
    assert_ok(tb_ros2_clock_publisher_publish(publisher, time_ns, NULL));
  while (poll(&answer, 1, 1000) == 0);
}

static void test_clock_publisher_to_typed_reader(void **state)
{
  (void)state;
  peer_t peer;
  tb_ros2_clock_publisher_t *publisher = NULL;
  assert_ok(tb_ros2_clock_publisher_create(context, NULL, NULL, &publisher, NULL));
  start(&peer, "read-clock", "rt/clock", "be", "1", NULL);
  peer_expect_line(&peer, "ready");
  peer_expect_line(&peer, "matched rt/clock rosgraph_msgs::msg::dds_::Clock_");
  peer_expect_line(&peer, "endpoint typehash=RIHS01_"
                          "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564;");
  peer_expect_line(&peer, "participant enclave=/;");
  assert_ok(tb_ros2_clock_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  assert_int_equal(tb_ros2_clock_publisher_matched(publisher), 1);
  assert_status(tb_ros2_clock_publisher_publish(publisher, 0, NULL), TB_ERR_NOT_SET);
  assert_status(tb_ros2_clock_publisher_publish(publisher, -1, NULL), TB_ERR_RANGE);
  publish_clock(publisher, INT64_C(10500000000), &peer);
  peer_expect_line(&peer, "clock 10 500000000");
  peer_stop(&peer);
  tb_ros2_clock_publisher_destroy(publisher);
}

static void test_polled_take(void **state)
{
  (void)state;
  tb_ros2_sample_t sample = {0}, other = {0};
  tb_ros2_publisher_t *publisher = publisher_of("/a", (tb_qos_t)TB_QOS_INIT_DEFAULT);
  tb_ros2_subscription_t *subscription =
      subscription_of("/a", STRING_TYPE, (tb_qos_t)TB_QOS_INIT_DEFAULT, NULL);
  assert_status(tb_ros2_subscription_take(subscription, &sample), TB_ERR_NOT_FOUND);
  assert_ok(tb_ros2_subscription_wait_for_matched(subscription, 1, WITHIN(LIMIT)));
  assert_ok(tb_ros2_publisher_wait_for_matched(publisher, 1, WITHIN(LIMIT)));
  publish_string(publisher, 4, 1, false); /* within a process delivery is part of publishing */
  publish_string(publisher, 4, 2, false);
  assert_ok(tb_ros2_subscription_take(subscription, &sample));
  assert_ok(tb_ros2_subscription_take(subscription, &other));
  assert_int_equal(sample.size, 16);
  assert_memory_equal(sample.cdr, "\0\1\0\0\5\0\0\0", 8);
  assert_memory_not_equal(sample.cdr, other.cdr, 16);
  tb_ros2_sample_release(&other);
  tb_ros2_sample_release(&other);
  tb_ros2_subscription_destroy(subscription);
  assert_memory_equal(sample.cdr, "\0\1\0\0\5\0\0\0", 8);
  tb_ros2_sample_release(&sample);
  tb_ros2_publisher_destroy(publisher);
}

static void test_incompatible_qos_is_reported(void **state)
{
  (void)state;
  const char *wanted = NULL, *offered = NULL;
  tb_qos_t best_effort = TB_QOS_INIT_CLOCK;
  tb_ros2_publisher_t *publisher = publisher_of("/a", best_effort);
  tb_ros2_subscription_t *subscription =
      subscription_of("/a", STRING_TYPE, (tb_qos_t)TB_QOS_INIT_DEFAULT, NULL);
  /* In one process discovery is part of creation. */
  assert_int_equal(tb_ros2_subscription_incompatible(subscription, &wanted), 1);
  assert_int_equal(tb_ros2_publisher_incompatible(publisher, &offered), 1);
  assert_string_equal(wanted, "reliability");
  assert_string_equal(offered, "reliability");
  assert_int_equal(tb_ros2_subscription_matched(subscription), 0);
  assert_status(tb_ros2_subscription_wait_for_matched(subscription, 1, WITHIN(TB_NO_WAIT)),
                TB_ERR_TIMEOUT);
  tb_ros2_subscription_destroy(subscription);
  tb_ros2_publisher_destroy(publisher);
}

#define WIRE_TEST(test) cmocka_unit_test_setup_teardown(test, context_setup, context_teardown)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WIRE_TEST(test_our_publisher_to_typed_reader),
      WIRE_TEST(test_typed_writer_to_our_subscription),
      WIRE_TEST(test_late_joiners_get_the_history),
      WIRE_TEST(test_a_megabyte_goes_in_fragments),
      WIRE_TEST(test_another_type_on_the_topic_is_not_matched),
      WIRE_TEST(test_garbage_of_ours_is_dropped_by_typed_readers),
      WIRE_TEST(test_garbage_reaches_subscriptions_as_bytes),
      WIRE_TEST(test_clock_publisher_to_typed_reader),
      WIRE_TEST(test_polled_take),
      WIRE_TEST(test_incompatible_qos_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
