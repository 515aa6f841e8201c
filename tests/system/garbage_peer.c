/* A hostile participant: it publishes on every topic that a node reads.
 *
 *   garbage_peer SEED NODE OTHER    NODE is attacked ("victim"), also as a client of node OTHER
 *
 *   match            until all that can match NODE has: "matched"
 *   garbage COUNT    so many samples of all kinds: "sent" when all of them have been taken
 *   huge COUNT       good requests with names of 1 MB: "sent"
 *   flood COUNT      requests as fast as possible: "sent"
 *   forge COUNT      good answers to NODE's requests of OTHER, but for another client: "sent" */
#include <dds/dds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dds/raw_type.h"
#include "params/parameter_requests.h"
#include "ros2/simulation_control.h"
#include "ros2_messages.h"
#include "wire/messages.h"
#include "wire/names.h"

#define OUTLETS_MAX 64
#define NOISE_MAX   256
#define HUGE_NAME   (1 << 20)

typedef enum use { REQUEST, REPLY, SIMULATION, CLOCK, OTHER_TOPIC } use_t;

/* One of our writers. */
typedef struct outlet {
  use_t use;
  bool is_stranger; /* nothing must match it */
  const struct ddsi_sertype *type;
  dds_entity_t writer;
} outlet_t;

static dds_domainid_t domain_id;
static dds_entity_t participant;
static outlet_t outlets[OUTLETS_MAX];
static size_t outlet_count;
static unsigned seed;

static void check(dds_return_t code, const char *what)
{
  if (code >= 0) return;
  fprintf(stderr, "garbage_peer: %s: %s\n", what, dds_strretcode(code));
  exit(1);
}

static uint32_t noise(void)
{
  return ((uint32_t)rand_r(&seed) << 16) ^ (uint32_t)rand_r(&seed);
}

/* ---- writers ---- */

static dds_entity_t writer_make(dds_entity_t of, dds_entity_t topic, use_t use,
                                const char *user_data)
{
  dds_qos_t *qos = dds_create_qos();
  const dds_data_representation_id_t form = DDS_DATA_REPRESENTATION_XCDR1;
  dds_qset_data_representation(qos, 1, &form);
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(60));
  dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, DDS_LENGTH_UNLIMITED);
  if (use == OTHER_TOPIC) dds_qset_durability(qos, DDS_DURABILITY_TRANSIENT_LOCAL);
  if (user_data) dds_qset_userdata(qos, user_data, strlen(user_data));
  dds_entity_t writer = dds_create_writer(of, topic, qos, NULL);
  check(writer, "writer");
  dds_delete_qos(qos);
  return writer;
}

static void outlet_open(const char *name, const char *type_name, use_t use, bool is_stranger)
{
  static const char *const user_data[] = {NULL, "clientid=1.2.3;typehash=RIHS01_;;;==;serviceid",
                                          "clientid= 1.10.0.0.0.0.0.0.0.0;",
                                          "=;=;typehash=;serviceid=;clientid="};
  struct ddsi_sertype *type = tb__raw_type_create(type_name, false);
  if (!type || outlet_count == OUTLETS_MAX) exit(1);
  dds_entity_t topic = dds_create_topic_sertype(participant, name, &type, NULL, NULL, NULL);
  check(topic, name);
  outlet_t *outlet = &outlets[outlet_count++];
  *outlet = (outlet_t){use, is_stranger, type,
                       writer_make(participant, topic, use, user_data[noise() % 4])};
  dds_delete(topic);
}

static void service_open(const char *service, const char *type, use_t use)
{
  char request[TB__DDS_NAME_SIZE], reply[TB__DDS_NAME_SIZE], full[160], name[TB__DDS_NAME_SIZE];
  if (tb__service_name_to_dds(service, request, reply, NULL) != TB_OK) exit(1);
  snprintf(full, sizeof full, "%s_%s", type, use == REPLY ? "Response" : "Request");
  if (tb__type_name_to_dds(full, name, NULL) != TB_OK) exit(1);
  outlet_open(use == REPLY ? reply : request, name, use, false);
  if (use == REQUEST) outlet_open(request, "std_msgs::msg::dds_::String_", use, true);
}

static void outlets_open(const char *node, const char *other)
{
  char name[160];
  for (int i = 0; i < TB__PARAMETER_SERVICE_COUNT; i++) {
    snprintf(name, sizeof name, "/%s/%s", node, tb__parameter_services[i].name);
    service_open(name, tb__parameter_services[i].type, REQUEST);
    service_open(name, tb__parameter_services[i].type, REPLY); /* of the test's clients */
    snprintf(name, sizeof name, "/%s/%s", other, tb__parameter_services[i].name);
    service_open(name, tb__parameter_services[i].type, REPLY);
  }
  for (int i = 0; i < TB__SIMULATION_SERVICE_COUNT; i++) {
    snprintf(name, sizeof name, "/%s", tb__simulation_services[i].name);
    service_open(name, tb__simulation_services[i].type, SIMULATION);
  }
  outlet_open("rt/clock", "rosgraph_msgs::msg::dds_::Clock_", CLOCK, false);
  outlet_open("rt/clock", "std_msgs::msg::dds_::Header_", CLOCK, true);
  outlet_open("rt/parameter_events", "rcl_interfaces::msg::dds_::ParameterEvent_", REQUEST, true);
  outlet_open("ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
              OTHER_TOPIC, false);
  outlet_open("ros_discovery_info", "std_msgs::msg::dds_::String_", OTHER_TOPIC, true);
}

/* Of a plain DDS program, whose type of that name has other members. */
static void write_other_layout(const char *node)
{
  char name[160];
  snprintf(name, sizeof name, "rq/%s/get_parametersRequest", node);
  /* In one participant a topic has one type. */
  dds_entity_t plain = dds_create_participant(domain_id, NULL, NULL);
  dds_entity_t topic = dds_create_topic(plain, &rcl_interfaces_srv_dds__GetParameters_Request__desc,
                                        name, NULL, NULL);
  check(topic, name);
  char text[] = "not a name";
  dds_entity_t writer = writer_make(plain, topic, REQUEST, NULL);
  rcl_interfaces_srv_dds__GetParameters_Request_ message = {-1.5, text, INT64_MIN};
  dds_publication_matched_status_t status = {0};
  while (status.current_count == 0) {
    check(dds_get_publication_matched_status(writer, &status), "matched");
    dds_sleepfor(DDS_MSECS(1));
  }
  for (int i = 0; i < 20; i++)
    check(dds_write(writer, &message), "write");
  check(dds_wait_for_acks(writer, DDS_SECS(60)), "acks");
  dds_delete(plain);
}

static void wait_for_matches(void)
{
  for (size_t i = 0; i < outlet_count;) {
    dds_publication_matched_status_t status = {0};
    check(dds_get_publication_matched_status(outlets[i].writer, &status), "matched");
    if (status.current_count > 0 || outlets[i].is_stranger || outlets[i].use == REPLY)
      i++; /* clients come and go */
    else
      dds_sleepfor(DDS_MSECS(1));
  }
}

/* ---- samples ---- */

static void emit(const outlet_t *outlet, const uint8_t *bytes, size_t size)
{
  struct ddsi_serdata *sample = tb__raw_sample_create(outlet->type, bytes, size);
  if (!sample) exit(1);
  check(dds_writecdr(outlet->writer, sample), "write");
}

static void put(uint8_t *bytes, size_t at, uint32_t value)
{
  for (int i = 0; i < 4; i++)
    bytes[at + (size_t)i] = (uint8_t)(value >> (8 * i));
}

/* What a message begins with: a sequence and in it a string, or noise. */
static void damage(uint8_t *bytes, size_t at)
{
  static const uint32_t lengths[] = {0xffffffff, 0x80000000, 0x7fffffff, 0x40000001,
                                     0x10000000, 0xfffffff0, 1,          8};
  switch (noise() % 5) {
  case 0: /* lengths of 4 billion */
    memset(bytes + at, 0xff, NOISE_MAX - at);
    break;
  case 1: /* a sequence that is longer than the message, or nearly overflows */
    put(bytes, at, lengths[noise() % 8]);
    break;
  case 2: /* one string, and too long */
    put(bytes, at, 1);
    put(bytes, at + 4, lengths[noise() % 8]);
    break;
  case 3: /* one string without end */
    memset(bytes + at, 'a', NOISE_MAX - at);
    put(bytes, at, 1);
    put(bytes, at + 4, (uint32_t)(NOISE_MAX - at - 8));
    break;
  default:
    break;
  }
}

/* Encapsulations that DDS knows; others, and samples without a byte, it refuses again and again,
 * and this writer would stop at them. The first two are what ROS speaks. */
static void encapsulate(uint8_t bytes[4])
{
  static const uint8_t kinds[] = {0, 1, 2, 3, 6, 7, 8, 9, 10, 11};
  bytes[0] = 0;
  bytes[1] = noise() % 8 ? 1 : kinds[noise() % sizeof kinds];
}

/* Requests of a simulation are one number, and any number is one: none of these may be as long. */
static size_t size_choose(use_t use)
{
  if (noise() % 4 == 0) return 1 + noise() % 19; /* not even the header of a service */
  return use == SIMULATION ? 40 + noise() % (NOISE_MAX - 40) : 1 + noise() % (NOISE_MAX - 1);
}

static void send_garbage(const outlet_t *outlet)
{
  uint8_t bytes[NOISE_MAX];
  size_t size = size_choose(outlet->use);
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)noise();
  damage(bytes, 20); /* after the header of a service, or the gid of ros_discovery_info */
  encapsulate(bytes);
  if (outlet->use == CLOCK) { /* seconds below zero in either byte order */
    bytes[4] |= 0x80;
    bytes[7] |= 0x80;
  }
  emit(outlet, bytes, size);
}

static void wait_for_all(void)
{
  for (size_t i = 0; i < outlet_count; i++)
    check(dds_wait_for_acks(outlets[i].writer, DDS_SECS(60)), "acks");
  printf("sent\n");
}

static const outlet_t *request_of(int service)
{
  const outlet_t *found = outlets;
  for (int i = 0; i < 4 * service; i++) /* request, its stranger, two replies */
    found++;
  return found;
}

/* get_parameters or describe_parameters of a name that no parameter has. */
static void send_huge(void)
{
  char *name = malloc(HUGE_NAME);
  uint8_t *cdr, *bytes;
  size_t size;
  const char *const names[] = {name};
  tb__names_request_t request = {{names, 1}};
  if (!name) exit(1);
  memset(name, 'n', HUGE_NAME - 1);
  name[HUGE_NAME - 1] = '\0';
  if (tb__cdr_encode(&tb__get_parameters_request_type, &request, false, &cdr, &size) != TB_OK ||
      !(bytes = malloc(size + 16)))
    exit(1);
  memcpy(bytes, cdr, 4);
  for (size_t i = 4; i < 20; i++)
    bytes[i] = (uint8_t)noise(); /* of a client that there is not */
  memcpy(bytes + 20, cdr + 4, size - 4);
  emit(request_of((int)(noise() % 2)), bytes, size + 16);
  free(bytes);
  free(cdr);
  free(name);
}

/* An integer for get_parameters; requests are numbered from 1 on in each process. */
static void send_forged(int count)
{
  static const tb__parameter_value_t value = {.type = TB__PARAMETER_INTEGER, .integer_value = 666};
  static const tb__get_parameters_response_t response = {{&value, 1}};
  uint8_t *cdr, bytes[NOISE_MAX] = {0, 1, 0, 0};
  size_t size;
  if (tb__cdr_encode(&tb__get_parameters_response_type, &response, false, &cdr, &size) != TB_OK ||
      size + 16 > sizeof bytes)
    exit(1);
  memcpy(bytes + 20, cdr + 4, size - 4);
  put(bytes, 4, noise());
  for (int i = 0; i < count; i++) {
    put(bytes, 12, 1 + (uint32_t)i % 256);
    emit(request_of(0) + 3, bytes, size + 16);
  }
  free(cdr);
}

static void handle_line(const char *line, const char *node)
{
  int count = 0;
  if (strcmp(line, "match") == 0) {
    wait_for_matches();
    write_other_layout(node);
    printf("matched\n");
  } else if (sscanf(line, "garbage %d", &count) == 1) {
    while (count-- > 0)
      send_garbage(&outlets[noise() % outlet_count]);
    wait_for_all();
  } else if (sscanf(line, "huge %d", &count) == 1) {
    while (count-- > 0)
      send_huge();
    wait_for_all();
  } else if (sscanf(line, "forge %d", &count) == 1) {
    send_forged(count);
    wait_for_all();
  } else if (sscanf(line, "flood %d", &count) == 1) {
    while (count-- > 0)
      send_garbage(request_of((int)(noise() % TB__PARAMETER_SERVICE_COUNT)));
    wait_for_all();
  }
}

int main(int argc, char **argv)
{
  char line[64];
  const char *domain = getenv("ROS_DOMAIN_ID");
  if (argc != 4 || !domain || !getenv("CYCLONEDDS_URI")) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  seed = (unsigned)strtoul(argv[1], NULL, 10);
  dds_qos_t *qos = dds_create_qos();
  dds_qset_userdata(qos, "enclave=/;", 10);
  domain_id = (dds_domainid_t)atoi(domain);
  participant = dds_create_participant(domain_id, qos, NULL);
  dds_delete_qos(qos);
  check(participant, "participant");
  outlets_open(argv[2], argv[3]);
  printf("ready\n");
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    handle_line(line, argv[2]);
  }
  dds_delete(participant);
  return 0;
}
