/* The other side of the recorder's test: it publishes, keeps a list of what it has published, calls
 * the recorder's services, and takes commands on stdin, a line at a time, with a line in return:
 *
 *   pub TOPIC rel|be|latched|keyed SIZE  "ok": a publisher of std_msgs/msg/String; keyed: as if
 *                                  that had a key
 *   drop TOPIC                     "ok": that one is destroyed
 *   match TOPIC                    "ok": it has a subscription
 *   send TOPIC COUNT               "sent LAST SLOWEST_NS" once all is acknowledged
 *   stream LIST PERIOD_US          all topics in turns, until the next line: "streamed SLOWEST_NS".
 *                                  LIST gets "TOPIC NUMBER WALL_NS" for what was acknowledged
 *   clock NS                       "ok": a tick, acknowledged by reliable subscriptions; two
 *                                  subscriptions are waited for
 *   call SERVICE TYPE [SEC,MODE]   "reply HEX"
 *   events                         "ok", and then "event CLOSED OPENED NODE" as they come
 *
 * A message is "TOPIC NUMBER " and stars up to SIZE. */
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/ros2_client.h>
#include <timebase/ros2_publisher.h>
#include <timebase/ros2_subscription.h>
#include <unistd.h>

#define TOPICS   8
#define ACKS     ((tb_duration_t){100 * TB_NS_PER_S})
#define SIZE_MIN 64

typedef struct topic {
  char name[64];
  tb_ros2_publisher_t *publisher;
  size_t size;
  long sent;
  int64_t slowest_ns;
} topic_t;

static tb_ros2_context_t *context;
static tb_ros2_publisher_t *clock_publisher;
static topic_t topics[TOPICS];
static char line[256];

static void check(tb_status_t status, const tb_error_t *error)
{
  if (status == TB_OK) return;
  fprintf(stderr, "record_peer: %s: %s\n", line,
          error->text[0] ? error->text : tb_status_message(status));
  exit(1);
}

static int64_t now_ns(clockid_t id)
{
  struct timespec now;
  clock_gettime(id, &now);
  return (int64_t)now.tv_sec * TB_NS_PER_S + now.tv_nsec;
}

static topic_t *topic_of(const char *name)
{
  for (size_t i = 0; i < TOPICS; i++)
    if (strcmp(topics[i].name, name) == 0) return &topics[i];
  fprintf(stderr, "record_peer: no topic %s\n", name);
  exit(1);
}

static void make(const char *name, const char *qos_name, size_t size)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  topic_t *topic = topic_of("");
  if (strcmp(qos_name, "be") == 0) qos.reliability = TB_QOS_BEST_EFFORT;
  if (strcmp(qos_name, "latched") == 0) qos.durability = TB_QOS_TRANSIENT_LOCAL;
  qos.has_key = strcmp(qos_name, "keyed") == 0;
  snprintf(topic->name, sizeof topic->name, "%s", name);
  topic->size = size < SIZE_MIN ? SIZE_MIN : size;
  check(tb_ros2_publisher_create(context, name, "std_msgs/msg/String", &qos, &topic->publisher,
                                 &error),
        &error);
  puts("ok");
}

static void publish(topic_t *topic)
{
  tb_error_t error = TB_ERROR_INIT;
  uint32_t length = (uint32_t)topic->size + 1;
  uint8_t *message = calloc(1, topic->size + 9);
  char *text = (char *)message + 8;
  message[1] = 1;
  memcpy(message + 4, &length, sizeof length); /* little endian, as is this machine */
  memset(text, '*', topic->size);
  int written = snprintf(text, topic->size, "%s %ld ", topic->name, topic->sent++);
  text[written] = '*';
  int64_t began_ns = now_ns(CLOCK_MONOTONIC);
  check(tb_ros2_publisher_publish(topic->publisher, message, topic->size + 9, &error), &error);
  int64_t took_ns = now_ns(CLOCK_MONOTONIC) - began_ns;
  if (took_ns > topic->slowest_ns) topic->slowest_ns = took_ns;
  free(message);
}

static void acknowledge(topic_t *topic)
{
  tb_error_t error = TB_ERROR_INIT;
  check(tb_ros2_publisher_wait_for_acks(topic->publisher, &(tb_wait_options_t){.limit = ACKS}),
        &error);
}

static void send_many(topic_t *topic, long count)
{
  for (long i = 0; i < count; i++) {
    publish(topic);
    if (i % 8 == 7) acknowledge(topic); /* fewer than the depth: none is overwritten */
  }
  acknowledge(topic);
  printf("sent %ld %" PRId64 "\n", topic->sent - 1, topic->slowest_ns);
}

static bool has_input(long period_us)
{
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  struct timespec period = {period_us / 1000000, period_us % 1000000 * 1000};
  return ppoll(&input, 1, &period, NULL) > 0;
}

/* With a list every message is acknowledged; without one ("-") nothing is waited for. */
static void stream(const char *path, long period_us)
{
  FILE *list = strcmp(path, "-") != 0 ? fopen(path, "w") : NULL;
  int64_t slowest_ns = 0;
  if (list) setvbuf(list, NULL, _IOLBF, 0);
  puts("streaming");
  while (!has_input(period_us)) {
    for (size_t i = 0; i < TOPICS; i++) {
      if (!topics[i].publisher) continue;
      publish(&topics[i]);
      if (!list) continue;
      tb_status_t status =
          tb_ros2_publisher_wait_for_acks(topics[i].publisher, &(tb_wait_options_t){.limit = ACKS});
      if (status == TB_OK && tb_ros2_publisher_matched(topics[i].publisher) > 0)
        fprintf(list, "%s %ld %" PRId64 "\n", topics[i].name, topics[i].sent - 1,
                now_ns(CLOCK_REALTIME));
    }
  }
  for (size_t i = 0; i < TOPICS; i++) {
    if (topics[i].slowest_ns > slowest_ns) slowest_ns = topics[i].slowest_ns;
    topics[i].slowest_ns = 0;
  }
  if (list) fclose(list);
  printf("streamed %" PRId64 "\n", slowest_ns);
}

static void tick(int64_t time_ns)
{
  tb_error_t error = TB_ERROR_INIT;
  uint8_t message[12] = {0, 1, 0, 0};
  int32_t sec = (int32_t)(time_ns / TB_NS_PER_S);
  uint32_t nanosec = (uint32_t)(time_ns % TB_NS_PER_S);
  memcpy(message + 4, &sec, sizeof sec);
  memcpy(message + 8, &nanosec, sizeof nanosec);
  if (!clock_publisher)
    check(tb_ros2_publisher_create(context, "/clock", "rosgraph_msgs/msg/Clock", NULL,
                                   &clock_publisher, &error),
          &error);
  check(tb_ros2_publisher_wait_for_matched(clock_publisher, 2, &(tb_wait_options_t){.limit = ACKS}),
        &error);
  check(tb_ros2_publisher_publish(clock_publisher, message, sizeof message, &error), &error);
  check(tb_ros2_publisher_wait_for_acks(clock_publisher, &(tb_wait_options_t){.limit = ACKS}),
        &error);
  puts("ok");
}

static void print_hex(const uint8_t *bytes, size_t size)
{
  printf("reply ");
  for (size_t i = 0; i < size; i++)
    printf("%02x", bytes[i]);
  putchar('\n');
}

/* `fields`: "SEC,MODE" of a time in the form that Resume and SplitBagfile have in rolling, else
 * empty. */
static void call(const char *service, const char *type, const char *fields)
{
  uint8_t request[24] = {0, 1, 0, 0, [16] = 1};
  size_t size = *fields ? sizeof request : 8;
  int32_t sec = 0, mode = 0;
  if (*fields && sscanf(fields, "%" SCNd32 ",%" SCNd32, &sec, &mode) != 2) exit(2);
  memcpy(request + 4, &sec, sizeof sec);
  memcpy(request + 12, &mode, sizeof mode);
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_client_t *client = NULL;
  tb_ros2_response_t response;
  check(tb_ros2_client_create(context, service, type, NULL, &client, &error), &error);
  check(tb_ros2_client_wait_for_service(client, &(tb_wait_options_t){.limit = ACKS}), &error);
  check(tb_ros2_client_call(client, request, size, &(tb_wait_options_t){.limit = ACKS}, &response,
                            &error),
        &error);
  print_hex(response.cdr, response.size);
  tb_ros2_response_release(&response);
  tb_ros2_client_destroy(client);
}

static void on_event(const tb_ros2_sample_t *sample, void *user)
{
  const uint8_t *bytes = sample->cdr;
  size_t at = 4;
  (void)user;
  printf("event");
  for (int i = 0; i < 3; i++) {
    uint32_t length;
    at = (at + 3) & ~(size_t)3;
    memcpy(&length, bytes + at, sizeof length);
    printf(" '%s'", (const char *)bytes + at + 4);
    at += 4 + length;
  }
  putchar('\n');
}

static void watch_events(void)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_subscription_t *subscription;
  tb_ros2_subscription_options_t options = {on_event, NULL};
  check(tb_ros2_subscription_create(context, "/events/write_split",
                                    "rosbag2_interfaces/msg/WriteSplitEvent", NULL, &options,
                                    &subscription, &error),
        &error);
  check(tb_ros2_subscription_wait_for_matched(subscription, 1, &(tb_wait_options_t){.limit = ACKS}),
        &error);
  puts("ok");
}

static void carry_out(void)
{
  char word[64] = "", a[128] = "", b[128] = "", c[32] = "";
  tb_error_t error = TB_ERROR_INIT;
  sscanf(line, "%63s %127s %127s %31s", word, a, b, c);
  if (strcmp(word, "pub") == 0) {
    make(a, b, (size_t)atol(c));
  } else if (strcmp(word, "drop") == 0) {
    topic_t *topic = topic_of(a);
    tb_ros2_publisher_destroy(topic->publisher);
    *topic = (topic_t){0};
    puts("ok");
  } else if (strcmp(word, "match") == 0) {
    check(tb_ros2_publisher_wait_for_matched(topic_of(a)->publisher, 1,
                                             &(tb_wait_options_t){.limit = ACKS}),
          &error);
    puts("ok");
  } else if (strcmp(word, "send") == 0) {
    send_many(topic_of(a), atol(b));
  } else if (strcmp(word, "stream") == 0) {
    stream(a, atol(b));
  } else if (strcmp(word, "clock") == 0) {
    tick(atoll(a));
  } else if (strcmp(word, "call") == 0) {
    call(a, b, c);
  } else if (strcmp(word, "events") == 0) {
    watch_events();
  }
}

int main(void)
{
  tb_error_t error = TB_ERROR_INIT;
  setvbuf(stdout, NULL, _IOLBF, 0);
  setvbuf(stdin, NULL, _IONBF, 0); /* what is not read yet must be seen by poll */
  check(tb_ros2_context_create(NULL, &context, &error), &error);
  puts("ready");
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    carry_out();
  }
  return 0;
}
