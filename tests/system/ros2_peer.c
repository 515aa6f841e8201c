/* The other end of the system tests: a program that uses Cyclone DDS with types from IDL and
 * nothing of ours. It prints to stdout, and ends when its stdin does.
 *
 *   read TOPIC QOS COUNT            std_msgs String: "string LENGTH HASH" each
 *   write TOPIC QOS LENGTH COUNT    std_msgs String of a pattern, seeds 1 to COUNT
 *   read-clock TOPIC QOS COUNT      "clock SEC NANOSEC" each
 *   write-clock TOPIC QOS SEC NSEC  once, after "matched" and a line on stdin; beside a writer of
 *                                   String on the same topic
 *   repeat-clock TOPIC QOS SEC NSEC the same three times: readers of best effort may miss one
 *   serve-add SERVICE COUNT         "ready" when there is a client; AddTwoInts requests, without a
 *                                   serviceid: "add A B" each
 *   call-add SERVICE A B            the other side of it, without a clientid: "sum S"
 *
 * QOS is be (best effort), rel (reliable) or tl (reliable, transient local), with history depth
 * 1000. TOPIC is a DDS name. */
#include <dds/dds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ros2_messages.h"
#include "system/pattern.h"

#define LIMIT DDS_SECS(120)

static dds_entity_t participant;

static void check(dds_return_t code, const char *what)
{
  if (code >= 0) return;
  fprintf(stderr, "ros2_peer: %s: %s\n", what, dds_strretcode(code));
  exit(1);
}

static dds_qos_t *qos_create(const char *name)
{
  dds_qos_t *qos = dds_create_qos();
  bool best_effort = strcmp(name, "be") == 0;
  dds_qset_reliability(qos, best_effort ? DDS_RELIABILITY_BEST_EFFORT : DDS_RELIABILITY_RELIABLE,
                       DDS_INFINITY);
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 1000);
  if (strcmp(name, "tl") == 0) {
    dds_qset_durability(qos, DDS_DURABILITY_TRANSIENT_LOCAL);
    dds_qset_durability_service(qos, 0, DDS_HISTORY_KEEP_LAST, 1000, -1, -1, -1);
  }
  return qos;
}

static bool comes_within(dds_entity_t entity, uint32_t status, dds_duration_t limit)
{
  dds_entity_t waitset = dds_create_waitset(participant);
  check(dds_set_status_mask(entity, status), "status mask");
  check(dds_waitset_attach(waitset, entity, 0), "attach");
  dds_return_t count = dds_waitset_wait(waitset, NULL, 0, limit);
  dds_delete(waitset);
  return count > 0;
}

static void wait_for(dds_entity_t entity, uint32_t status)
{
  if (comes_within(entity, status, LIMIT)) return;
  fprintf(stderr, "ros2_peer: nothing happened in time\n");
  exit(1);
}

static void wait_for_end(void)
{
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0)
    ;
}

static void wait_for_line(void)
{
  char byte = 0;
  while (byte != '\n' && read(STDIN_FILENO, &byte, 1) > 0)
    ;
}

static void print_user_data(const char *what, const dds_qos_t *qos)
{
  void *value = NULL;
  size_t size = 0;
  if (dds_qget_userdata(qos, &value, &size) && size > 0)
    printf("%s %.*s\n", what, (int)size, (const char *)value);
  else
    printf("%s -\n", what);
  dds_free(value);
}

static void print_participants(void)
{
  dds_entity_t reader =
      dds_create_reader(participant, DDS_BUILTIN_TOPIC_DCPSPARTICIPANT, NULL, NULL);
  void *samples[8] = {NULL};
  dds_sample_info_t info[8];
  check(reader, "participant reader");
  dds_return_t count = dds_read(reader, samples, info, 8, 8);
  dds_guid_t self;
  dds_get_guid(participant, &self);
  for (dds_return_t i = 0; i < count; i++) {
    const dds_builtintopic_participant_t *other = samples[i];
    if (info[i].valid_data && memcmp(&other->key, &self, sizeof self) != 0)
      print_user_data("participant", other->qos);
  }
  dds_return_loan(reader, samples, count);
}

static void print_match(dds_entity_t reader)
{
  dds_instance_handle_t writer;
  check(dds_get_matched_publications(reader, &writer, 1), "matched publications");
  dds_builtintopic_endpoint_t *endpoint = dds_get_matched_publication_data(reader, writer);
  if (!endpoint) {
    printf("gone\n");
    return;
  }
  printf("matched %s %s\n", endpoint->topic_name, endpoint->type_name);
  print_user_data("endpoint", endpoint->qos);
  dds_builtintopic_free_endpoint(endpoint);
  print_participants();
}

static void print_sample(const void *sample, bool is_clock)
{
  if (is_clock) {
    const rosgraph_msgs_msg_dds__Clock_ *clock = sample;
    printf("clock %d %u\n", (int)clock->sec, (unsigned)clock->nanosec);
  } else {
    const std_msgs_msg_dds__String_ *string = sample;
    size_t length = strlen(string->data);
    printf("string %zu %08x\n", length, (unsigned)pattern_hash(string->data, length));
  }
}

static void read_all(const char *topic_name, const char *qos_name, int wanted, bool is_clock)
{
  const dds_topic_descriptor_t *type =
      is_clock ? &rosgraph_msgs_msg_dds__Clock__desc : &std_msgs_msg_dds__String__desc;
  dds_qos_t *qos = qos_create(qos_name);
  dds_entity_t topic = dds_create_topic(participant, type, topic_name, NULL, NULL);
  dds_entity_t reader = dds_create_reader(participant, topic, qos, NULL);
  check(reader, "reader");
  dds_delete_qos(qos);
  printf("ready\n");
  wait_for(reader, DDS_SUBSCRIPTION_MATCHED_STATUS);
  print_match(reader);
  for (int seen = 0; seen < wanted;) {
    void *sample = NULL;
    dds_sample_info_t info;
    dds_return_t count = dds_take(reader, &sample, &info, 1, 1);
    check(count, "take");
    if (count == 0) {
      wait_for(reader, DDS_DATA_AVAILABLE_STATUS);
      continue;
    }
    if (info.valid_data) {
      print_sample(sample, is_clock);
      seen++;
    }
    dds_return_loan(reader, &sample, count);
  }
}

static dds_entity_t writer_create(const char *topic_name, const char *qos_name, bool is_clock)
{
  const dds_topic_descriptor_t *type =
      is_clock ? &rosgraph_msgs_msg_dds__Clock__desc : &std_msgs_msg_dds__String__desc;
  dds_qos_t *qos = qos_create(qos_name);
  dds_entity_t topic = dds_create_topic(participant, type, topic_name, NULL, NULL);
  dds_entity_t writer = dds_create_writer(participant, topic, qos, NULL);
  check(writer, "writer");
  dds_delete_qos(qos);
  return writer;
}

static void write_strings(const char *topic, const char *qos, size_t length, uint32_t count)
{
  dds_entity_t writer = writer_create(topic, qos, false);
  if (strcmp(qos, "tl") != 0) wait_for(writer, DDS_PUBLICATION_MATCHED_STATUS);
  std_msgs_msg_dds__String_ message = {.data = calloc(1, length + 1)};
  for (uint32_t seed = 1; seed <= count; seed++) {
    pattern_fill(message.data, length, seed);
    check(dds_write(writer, &message), "write");
  }
  free(message.data);
  printf("ready\n");
}

static void write_clock(const char *topic, const char *qos, int32_t sec, uint32_t nanosec,
                        int times)
{
  writer_create(topic, qos, false);
  dds_entity_t writer = writer_create(topic, qos, true);
  wait_for(writer, DDS_PUBLICATION_MATCHED_STATUS);
  printf("matched\n");
  wait_for_line();
  rosgraph_msgs_msg_dds__Clock_ message = {sec, nanosec};
  for (int i = 0; i < times; i++) {
    if (i) dds_sleepfor(DDS_MSECS(20));
    check(dds_write(writer, &message), "write");
  }
  printf("ready\n");
}

/* Topics "rq/xRequest" and "rr/xReply" of service "x". */
static dds_entity_t service_topic(const char *format, const char *service,
                                  const dds_topic_descriptor_t *type)
{
  char name[256];
  snprintf(name, sizeof name, format, service);
  dds_entity_t topic = dds_create_topic(participant, type, name, NULL, NULL);
  check(topic, "topic");
  return topic;
}

static void serve_add(const char *service, int count)
{
  dds_qos_t *qos = qos_create("rel");
  dds_entity_t requests =
      service_topic("rq/%sRequest", service, &example_interfaces_srv_dds__AddTwoInts_Request__desc);
  dds_entity_t replies =
      service_topic("rr/%sReply", service, &example_interfaces_srv_dds__AddTwoInts_Response__desc);
  dds_entity_t writer = dds_create_writer(participant, replies, qos, NULL);
  dds_entity_t reader = dds_create_reader(participant, requests, qos, NULL);
  check(writer, "writer");
  check(reader, "reader");
  dds_delete_qos(qos);
  wait_for(reader, DDS_SUBSCRIPTION_MATCHED_STATUS); /* else what comes is lost, */
  wait_for(writer, DDS_PUBLICATION_MATCHED_STATUS);  /* or the answer is */
  printf("ready\n");
  while (count > 0) {
    example_interfaces_srv_dds__AddTwoInts_Request_ request;
    void *sample = &request;
    dds_sample_info_t info;
    wait_for(reader, DDS_DATA_AVAILABLE_STATUS);
    while (dds_take(reader, &sample, &info, 1, 1) == 1) {
      if (!info.valid_data) continue;
      printf("add %lld %lld\n", (long long)request.a, (long long)request.b);
      example_interfaces_srv_dds__AddTwoInts_Response_ reply = {request.client, request.number,
                                                                request.a + request.b};
      check(dds_write(writer, &reply), "write");
      count--;
    }
  }
}

static void call_add(const char *service, int64_t a, int64_t b)
{
  dds_qos_t *qos = qos_create("rel");
  dds_entity_t requests =
      service_topic("rq/%sRequest", service, &example_interfaces_srv_dds__AddTwoInts_Request__desc);
  dds_entity_t replies =
      service_topic("rr/%sReply", service, &example_interfaces_srv_dds__AddTwoInts_Response__desc);
  dds_entity_t reader = dds_create_reader(participant, replies, qos, NULL);
  dds_entity_t writer = dds_create_writer(participant, requests, qos, NULL);
  check(writer, "writer");
  check(reader, "reader");
  dds_delete_qos(qos);
  wait_for(writer, DDS_PUBLICATION_MATCHED_STATUS);
  wait_for(reader, DDS_SUBSCRIPTION_MATCHED_STATUS);
  printf("matched\n");
  wait_for_line();
  example_interfaces_srv_dds__AddTwoInts_Request_ request = {77, 5, a, b};
  do { /* the other side may know the writer before the reader, and send no answer */
    check(dds_write(writer, &request), "write");
  } while (!comes_within(reader, DDS_DATA_AVAILABLE_STATUS, DDS_SECS(1)));
  example_interfaces_srv_dds__AddTwoInts_Response_ reply;
  void *sample = &reply;
  dds_sample_info_t info;
  if (dds_take(reader, &sample, &info, 1, 1) != 1 || reply.client != 77 || reply.number != 5)
    exit(1);
  printf("sum %lld\n", (long long)reply.sum);
}

int main(int argc, char **argv)
{
  const char *domain = getenv("ROS_DOMAIN_ID");
  if (argc < 4 || !domain || !getenv("CYCLONEDDS_URI")) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  participant = dds_create_participant((dds_domainid_t)atoi(domain), NULL, NULL);
  check(participant, "participant");
  if (argc == 4 && strcmp(argv[1], "serve-add") == 0)
    serve_add(argv[2], atoi(argv[3]));
  else if (argc < 5)
    return 2;
  else if (strcmp(argv[1], "call-add") == 0)
    call_add(argv[2], atoll(argv[3]), atoll(argv[4]));
  else if (strcmp(argv[1], "read") == 0)
    read_all(argv[2], argv[3], atoi(argv[4]), false);
  else if (strcmp(argv[1], "read-clock") == 0)
    read_all(argv[2], argv[3], atoi(argv[4]), true);
  else if (argc == 6 && strcmp(argv[1], "write") == 0)
    write_strings(argv[2], argv[3], (size_t)atol(argv[4]), (uint32_t)atoi(argv[5]));
  else if (argc == 6 && strcmp(argv[1], "write-clock") == 0)
    write_clock(argv[2], argv[3], atoi(argv[4]), (uint32_t)strtoul(argv[5], NULL, 10), 1);
  else if (argc == 6 && strcmp(argv[1], "repeat-clock") == 0)
    write_clock(argv[2], argv[3], atoi(argv[4]), (uint32_t)strtoul(argv[5], NULL, 10), 3);
  else
    return 2;
  wait_for_end();
  dds_delete(participant);
  return 0;
}
