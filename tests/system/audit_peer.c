/* Nodes and topics whose time is right or wrong, as a test asks for. Takes a line each on standard
 * input, answers "ok", and ends at the end of standard input:
 *
 *   node NAME ARGUMENT...        a node with arguments of ROS ("-p", "use_sim_time:=true"), which
 *                                later lines are about
 *   bare NAME                    a node without parameters
 *   clock FROM_S STEP_MS MS [rel]  /clock: from FROM_S on, STEP_MS more each MS
 *   clock2 FROM_S APART_S MS     two streams in turn from one publisher, 10 ms more each
 *   pause                        /clock repeats its time
 *   resume                       it goes on, 10 ms more each time
 *   watchdog MS                  two that are never kicked, on steady time and on the node's;
 *                                each prints a line when it expires
 *   stop                         ticks and messages stop; the publishers stay
 *   jump S                       /clock goes on S seconds later (or earlier)
 *   header TOPIC MS MODE [NUMBER [FRAME]]  std_msgs/Header each MS; its stamp is, by MODE:
 *                                ros the last tick, wall system time, zero, plus NUMBER ms after
 *                                the last tick, back NUMBER ms steps back and forth, node the time
 *                                of the node's clock, if it has any, early the same or 0, keep
 *                                that of a clock which no jump sets back, late as ros, but the
 *                                first NUMBER after a jump back are of the time before, same ros
 *                                in steps of NUMBER ms, receipt system time, of MagneticFields
 *                                at irregular times, lagged those of ros NUMBER ms later
 *   latched TOPIC                the same once, of the node's clock, kept for late joiners
 *   tf PARENT CHILD MS [NUMBER]  a transform each MS, NUMBER ms after the node's clock
 *   static PARENT CHILD [volatile]  a static transform, kept for late joiners or not
 *   typed TOPIC MS TYPE HASH     the same of another type that begins with a header, now
 *   hash TOPIC                   "hash HASH DURABILITY", of a subscription of the topic, once there
 *                                is one
 *   string TOPIC                 a publisher of std_msgs/String, which has no header
 *   garbage TOPIC MS TYPE        a few bytes that are no message of the type
 *   log TEXT                     to /rosout, each 50 ms
 *   state NUMBER                 the service ~/get_state of lifecycle nodes
 *   change MODE                  the service ~/change_state: accept, refuse, lie (reports success
 *                                and does nothing), or slow (one answer of get_state in between)
 *   simulation NUMBER            the service /get_simulation_state
 *   set NAME true|false          a parameter of the node
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/generic.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_type_hash.h>
#include <timebase/steady_clock.h>
#include <timebase/watchdog.h>
#include <unistd.h>

#include "first_endpoint.h"

#define NS_PER_MS INT64_C(1000000)
#define WORDS_MAX 16
#define WORKS_MAX 64

typedef enum kind {
  CLOCK,
  CLOCK_TWICE,
  ROS,
  WALL,
  ZERO,
  PLUS,
  BACK,
  NODE,
  EARLY,
  KEEP,
  LATE,
  SAME,
  RECEIPT,
  LAGGED,
  TF,
  LOG,
  GARBAGE,
  WATCHDOG
} kind_t;

#define FIELD_SIZE 120 /* of a MagneticField with the frame "frame", all of it 0 */
#define PAST_MAX   256 /* stamps of "ros" that "lagged" repeats */

typedef struct work {
  kind_t kind;
  tb_ros2_publisher_t *publisher;
  tb_clock_t *clock;
  int64_t period_ns, next_ns, number, value_ns;
  uint64_t count;
  char text[256];
} work_t;

static tb_ros2_context_t *context;
static tb_ros2_node_t *node;
static tb_steady_clock_t *steady;
static tb_clock_t *wall;
static work_t works[WORKS_MAX];
static size_t work_count;
static int64_t ros_ns;
static uint8_t lifecycle_state, simulation_state;
static uint8_t lifecycle_next; /* after the next answer of get_state; 0: none */
static char change_mode;
static struct {
  int64_t at_ns, stamp_ns; /* steady, ROS */
} past[PAST_MAX];
static size_t past_count;

static void check(tb_status_t status, const tb_error_t *error)
{
  if (!status) return;
  fprintf(stderr, "audit_peer: %s: %s\n", tb_status_name(status), error ? error->text : "");
  exit(1);
}

static size_t put_word(uint8_t *out, size_t at, uint32_t word)
{
  memcpy(out + at, &word, sizeof word);
  return at + sizeof word;
}

static size_t put_time(uint8_t *out, size_t at, int64_t time_ns)
{
  at = put_word(out, at, (uint32_t)(time_ns / TB_NS_PER_S));
  return put_word(out, at, (uint32_t)(time_ns % TB_NS_PER_S));
}

static size_t put_text(uint8_t *out, size_t at, const char *text)
{
  size_t size = strlen(text) + 1;
  at = put_word(out, (at + 3) / 4 * 4, (uint32_t)size);
  memcpy(out + at, text, size);
  return at + size;
}

static void publish(const work_t *work, int64_t stamp_ns, const char *text)
{
  uint8_t cdr[1024] = {0, 1, 0, 0};
  size_t size = put_time(cdr, 4, stamp_ns);
  if (work->kind == LOG) {
    cdr[size++] = 30; /* WARN */
    size = put_text(cdr, size, "logger");
    size = put_text(cdr, size, text);
    size = put_text(cdr, size, "file.cpp");
    size = put_text(cdr, size, "function");
    size = put_word(cdr, (size + 3) / 4 * 4, 7);
  } else if (work->kind != CLOCK && work->kind != CLOCK_TWICE) {
    size = put_text(cdr, size, *work->text ? work->text : "frame");
    if (work->kind == RECEIPT) size = 4 + FIELD_SIZE;
  }
  tb_ros2_publisher_publish(work->publisher, cdr, (size + 3) / 4 * 4, NULL);
}

/* "text" is "PARENT CHILD". */
static void publish_transform(const work_t *work, int64_t stamp_ns)
{
  uint8_t cdr[1024] = {0, 1, 0, 0};
  double one = 1;
  char parent[128];
  snprintf(parent, sizeof parent, "%.*s", (int)strcspn(work->text, " "), work->text);
  size_t size = put_time(cdr, put_word(cdr, 4, 1), stamp_ns);
  size = put_text(cdr, size, parent);
  size = put_text(cdr, size, work->text + strlen(parent) + 1);
  size = (size - 4 + 7) / 8 * 8 + 4 + 7 * sizeof one;
  memcpy(cdr + size - sizeof one, &one, sizeof one);
  tb_ros2_publisher_publish(work->publisher, cdr, size, NULL);
}

/* Messages of a node that has no time yet wait. */
static void publish_node_time(work_t *work)
{
  tb_time_t now = {0};
  if (tb_clock_now(work->clock, &now) || now.ns <= 0) return;
  if (work->kind == TF)
    publish_transform(work, now.ns + work->value_ns);
  else
    publish(work, now.ns, NULL);
  if (work->number) work->period_ns = INT64_MAX / 4;
}

static int64_t steady_now(void)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(steady, &now);
  return now.ns;
}

static void publish_ros(const work_t *work)
{
  if (!ros_ns) return;
  publish(work, ros_ns, NULL);
  past[past_count % PAST_MAX].at_ns = steady_now();
  past[past_count++ % PAST_MAX].stamp_ns = ros_ns;
}

/* What has become due, once. */
static void publish_lagged(work_t *work)
{
  int64_t now_ns = steady_now();
  size_t from = past_count > PAST_MAX ? past_count - PAST_MAX : 0;
  if (work->count < from) work->count = from;
  while (work->count < past_count &&
         past[work->count % PAST_MAX].at_ns + work->number * NS_PER_MS <= now_ns)
    publish(work, past[work->count++ % PAST_MAX].stamp_ns, NULL);
}

/* Of the time before a jump back, the first ones after it. */
static void publish_late(work_t *work)
{
  if (!ros_ns) return;
  bool has_jumped = ros_ns < work->value_ns - TB_NS_PER_S;
  if (has_jumped && work->count++ < (uint64_t)work->number) {
    publish(work, work->value_ns + (int64_t)work->count * NS_PER_MS, NULL);
    return;
  }
  work->value_ns = ros_ns;
  work->count = 0;
  publish(work, ros_ns, NULL);
}

static void publish_kept(work_t *work)
{
  int64_t step_ns = ros_ns - work->number; /* since the message before */
  if (!ros_ns) return;
  /* At a jump less than the time that has passed: or the stamps may be ahead by more than the jump.
   */
  work->value_ns += work->number && step_ns < 0 ? NS_PER_MS : step_ns;
  work->number = ros_ns;
  publish(work, work->value_ns, NULL);
}

static void check_ros_watchdog(work_t *work)
{
  tb_time_t now = {0};
  if (tb_clock_now(work->clock, &now) || now.ns <= 0) return;
  if (!work->value_ns) work->value_ns = now.ns;
  if (now.ns - work->value_ns <= work->number * NS_PER_MS) return;
  printf("ROS watchdog expired\n");
  work->period_ns = INT64_MAX / 4;
}

static void do_work(work_t *work)
{
  tb_time_t now = {0};
  tb_clock_now(wall, &now);
  switch (work->kind) {
  case CLOCK:
    ros_ns = work->value_ns;
    publish(work, ros_ns, NULL);
    work->value_ns += work->number;
    break;
  case CLOCK_TWICE:
    ros_ns = work->value_ns + (work->count % 2 ? work->number : 0);
    publish(work, ros_ns, NULL);
    if (work->count % 2) work->value_ns += 10 * NS_PER_MS;
    break;
  case ROS:
    publish_ros(work);
    break;
  case EARLY:
    if (tb_clock_now(work->clock, &now)) now.ns = 0;
    publish(work, now.ns, NULL);
    break;
  case KEEP:
    publish_kept(work);
    break;
  case LATE:
    publish_late(work);
    return;
  case SAME:
    if (ros_ns) publish(work, ros_ns - ros_ns % (work->number * NS_PER_MS), NULL);
    break;
  case RECEIPT:
    publish(work, now.ns, NULL);
    work->period_ns = (work->number / 2 + rand() % work->number) * NS_PER_MS;
    break;
  case LAGGED:
    publish_lagged(work);
    return;
  case WATCHDOG:
    check_ros_watchdog(work);
    break;
  case WALL:
    publish(work, now.ns, NULL);
    break;
  case ZERO:
    publish(work, 0, NULL);
    break;
  case PLUS:
    if (ros_ns) publish(work, ros_ns + work->number * NS_PER_MS, NULL);
    break;
  case BACK:
    if (ros_ns) publish(work, ros_ns - (work->count % 2 ? work->number * NS_PER_MS : 0), NULL);
    break;
  case NODE:
  case TF:
    publish_node_time(work);
    break;
  case LOG:
    publish(work, now.ns, work->text);
    break;
  case GARBAGE:
    tb_ros2_publisher_publish(work->publisher, "\0\1\0\0\1\2\3\4\5\6\7", 12, NULL);
  }
  work->count++;
}

static work_t *add_work(kind_t kind, const char *topic, const char *type, const tb_qos_t *qos,
                        int64_t period_ms)
{
  tb_error_t error = TB_ERROR_INIT;
  if (work_count == WORKS_MAX) exit(2);
  work_t *work = &works[work_count++];
  *work = (work_t){.kind = kind, .period_ns = period_ms * NS_PER_MS};
  work->clock = tb_ros2_node_clock(node);
  check(tb_ros2_node_create_publisher(node, topic, type, qos, &work->publisher, &error), &error);
  return work;
}

static void on_state(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  uint8_t cdr[32] = {0, 1, 0, 0, *(const uint8_t *)user};
  size_t size = put_text(cdr, 8, "active");
  tb_ros2_service_reply(service, &request->id, cdr, (size + 3) / 4 * 4, NULL);
  if (user != &lifecycle_state || !lifecycle_next) return;
  lifecycle_state = lifecycle_next;
  lifecycle_next = 0;
}

/* Configure is 1 and leads to inactive (2), activate is 3 and leads to active (3). */
static void on_change(tb_ros2_service_t *service, const tb_ros2_request_t *request, void *user)
{
  uint8_t transition = ((const uint8_t *)request->cdr)[4];
  bool is_known =
      (transition == 1 && lifecycle_state == 1) || (transition == 3 && lifecycle_state == 2);
  bool is_right = is_known && request->size >= 4 + 9 && change_mode != 'r';
  uint8_t cdr[8] = {0, 1, 0, 3, is_right};
  (void)user;
  printf("transition %d\n", transition);
  uint8_t goal = transition == 1 ? 2 : 3;
  if (is_right && change_mode == 'a') lifecycle_state = goal;
  if (is_right && change_mode == 's') {
    lifecycle_state = transition == 1 ? 10 : 13;
    lifecycle_next = goal;
  }
  tb_ros2_service_reply(service, &request->id, cdr, sizeof cdr, NULL);
}

static void make_change(const char *mode)
{
  static tb_ros2_service_t *service;
  tb_error_t error = TB_ERROR_INIT;
  change_mode = mode[0];
  if (service) return;
  check(tb_ros2_node_create_service(node, "~/change_state", "lifecycle_msgs/srv/ChangeState", NULL,
                                    on_change, NULL, &service, &error),
        &error);
}

static void make_node(char **words, size_t count, bool is_bare)
{
  tb_error_t error = TB_ERROR_INIT;
  const char *argv[WORDS_MAX + 2] = {"peer", "--ros-args"};
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  for (size_t i = 2; i < count; i++)
    argv[i] = words[i];
  options.argc = count > 2 ? (int)count : 0;
  options.argv = argv;
  options.no_parameter_services = options.no_parameter_events = is_bare;
  check(tb_ros2_node_create(context, words[1], "/", &options, &node, &error), &error);
}

static void make_clock(char **words, size_t count, kind_t kind)
{
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  if (count > 4) qos.reliability = TB_QOS_RELIABLE;
  work_t *work = add_work(kind, "/clock", "rosgraph_msgs/msg/Clock", &qos, atoll(words[3]));
  work->value_ns = atoll(words[1]) * TB_NS_PER_S;
  work->number = atoll(words[2]) * (kind == CLOCK ? NS_PER_MS : TB_NS_PER_S);
}

static void make_header(char **words, size_t count)
{
  static const char *const modes[] = {"ros",   "wall", "zero", "plus", "back",    "node",
                                      "early", "keep", "late", "same", "receipt", "lagged"};
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  kind_t kind = ROS;
  for (int i = 0; i < 12; i++)
    if (strcmp(words[3], modes[i]) == 0) kind = (kind_t)(ROS + i);
  const char *type = kind == RECEIPT ? "sensor_msgs/msg/MagneticField" : "std_msgs/msg/Header";
  work_t *work = add_work(kind, words[1], type, &qos, atoll(words[2]));
  work->number = count > 4 ? atoll(words[4]) : 0;
  if (count > 5) snprintf(work->text, sizeof work->text, "%s", words[5]);
}

static void on_expired(tb_watchdog_t *watchdog, const tb_watchdog_info_t *info, void *user)
{
  (void)watchdog;
  (void)user;
  printf("steady watchdog expired: %s\n", info->clock_state == TB_CLOCK_PAUSED    ? "paused"
                                          : info->clock_state == TB_CLOCK_RUNNING ? "running"
                                                                                  : "other");
}

static void make_watchdogs(const char *limit_ms)
{
  tb_watchdog_options_t options = TB_WATCHDOG_OPTIONS_INIT;
  tb_watchdog_t *watchdog;
  if (work_count == WORKS_MAX) exit(2);
  options.name = "input";
  options.limit.ns = atoll(limit_ms) * NS_PER_MS;
  options.on_expired = on_expired;
  options.clock = tb_ros2_node_clock(node);
  check(tb_watchdog_create(&options, &watchdog), NULL);
  check(tb_watchdog_start(watchdog), NULL);
  works[work_count++] = (work_t){.kind = WATCHDOG,
                                 .period_ns = 10 * NS_PER_MS,
                                 .clock = options.clock,
                                 .number = atoll(limit_ms)};
}

static void make_latched(const char *topic)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.durability = TB_QOS_TRANSIENT_LOCAL;
  add_work(NODE, topic, "std_msgs/msg/Header", &qos, 50)->number = 1;
}

static void make_transform(char **words, size_t count)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  work_t *work = add_work(TF, "/tf", "tf2_msgs/msg/TFMessage", &qos, atoll(words[3]));
  snprintf(work->text, sizeof work->text, "%s %s", words[1], words[2]);
  if (count > 4) work->value_ns = atoll(words[4]) * NS_PER_MS;
}

static void make_static_transform(char **words, size_t count)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.durability = count > 3 ? TB_QOS_VOLATILE : TB_QOS_TRANSIENT_LOCAL;
  work_t *work = add_work(TF, "/tf_static", "tf2_msgs/msg/TFMessage", &qos, 50);
  snprintf(work->text, sizeof work->text, "%s %s", words[1], words[2]);
  work->number = 1;
}

static void make_state(const char *name, const char *type, uint8_t *state, const char *number)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_ros2_service_t *service;
  *state = (uint8_t)atoi(number);
  check(tb_ros2_node_create_service(node, name, type, NULL, on_state, state, &service, &error),
        &error);
}

static void make_typed(char **words)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  check(tb_ros2_type_hash_register(words[3], words[4], &error), &error);
  add_work(WALL, words[1], words[3], &qos, atoll(words[2]));
}

static void print_hash(const tb_ros2_graph_endpoint_t *reader)
{
  printf("hash %s %s\n", reader->type_hash ? reader->type_hash : "none",
         reader->qos.durability == TB_QOS_TRANSIENT_LOCAL ? "transient_local" : "volatile");
}

static void obey(char *line)
{
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  char *words[WORDS_MAX], *rest = NULL, text[256];
  size_t count = 0;
  snprintf(text, sizeof text, "%s", strchr(line, ' ') ? strchr(line, ' ') + 1 : "");
  for (char *word = strtok_r(line, " ", &rest); word && count < WORDS_MAX;
       word = strtok_r(NULL, " ", &rest))
    words[count++] = word;
  if (!count) return;
  if (strcmp(words[0], "node") == 0 || strcmp(words[0], "bare") == 0)
    make_node(words, count, words[0][0] == 'b');
  else if (strcmp(words[0], "clock") == 0)
    make_clock(words, count, CLOCK);
  else if (strcmp(words[0], "clock2") == 0)
    make_clock(words, count, CLOCK_TWICE);
  else if (strcmp(words[0], "stop") == 0)
    for (size_t i = 0; i < work_count; i++)
      works[i].next_ns = INT64_MAX;
  else if (strcmp(words[0], "pause") == 0)
    works[0].number = 0;
  else if (strcmp(words[0], "resume") == 0)
    works[0].number = 10 * NS_PER_MS;
  else if (strcmp(words[0], "watchdog") == 0)
    make_watchdogs(words[1]);
  else if (strcmp(words[0], "jump") == 0)
    works[0].value_ns += atoll(words[1]) * TB_NS_PER_S;
  else if (strcmp(words[0], "header") == 0)
    make_header(words, count);
  else if (strcmp(words[0], "latched") == 0)
    make_latched(words[1]);
  else if (strcmp(words[0], "tf") == 0)
    make_transform(words, count);
  else if (strcmp(words[0], "static") == 0)
    make_static_transform(words, count);
  else if (strcmp(words[0], "string") == 0)
    add_work(ROS, words[1], "std_msgs/msg/String", &qos, 3600000)->next_ns = INT64_MAX;
  else if (strcmp(words[0], "typed") == 0)
    make_typed(words);
  else if (strcmp(words[0], "hash") == 0)
    with_first_endpoint(context, words[1], tb_ros2_graph_subscriptions, print_hash);
  else if (strcmp(words[0], "garbage") == 0)
    add_work(GARBAGE, words[1], words[3], &qos, atoll(words[2]));
  else if (strcmp(words[0], "log") == 0)
    snprintf(add_work(LOG, "/rosout", "rcl_interfaces/msg/Log", &qos, 50)->text, 256, "%s", text);
  else if (strcmp(words[0], "state") == 0)
    make_state("~/get_state", "lifecycle_msgs/srv/GetState", &lifecycle_state, words[1]);
  else if (strcmp(words[0], "change") == 0)
    make_change(words[1]);
  else if (strcmp(words[0], "simulation") == 0)
    make_state("/get_simulation_state", "simulation_interfaces/srv/GetSimulationState",
               &simulation_state, words[1]);
  else if (strcmp(words[0], "set") == 0) {
    tb_ros2_parameter_t parameter = {words[1],
                                     tb_ros2_parameter_bool(strcmp(words[2], "true") == 0)};
    check(tb_ros2_node_set_parameter(node, parameter.name, &parameter.value, &error), &error);
  } else
    exit(2);
  printf("ok\n");
}

/* Until the next work is due, or there is input. */
static int wait_ms(int64_t now_ns)
{
  int64_t left_ns = 100 * NS_PER_MS;
  for (size_t i = 0; i < work_count; i++)
    if (works[i].next_ns - now_ns < left_ns) left_ns = works[i].next_ns - now_ns;
  return left_ns > 0 ? (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

int main(void)
{
  static char input[4096];
  size_t used = 0;
  tb_error_t error = TB_ERROR_INIT;
  setvbuf(stdout, NULL, _IOLBF, 0);
  tb_clock_options_t options = TB_CLOCK_OPTIONS_INIT;
  options.kind = TB_TIME_SYSTEM;
  check(tb_steady_clock_create(&steady), NULL);
  check(tb_clock_create(&options, &wall), NULL);
  check(tb_ros2_context_create(NULL, &context, &error), &error);
  printf("ready\n");
  for (;;) {
    tb_steady_time_t now = {0};
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    tb_steady_clock_now(steady, &now);
    if (poll(&fd, 1, wait_ms(now.ns)) > 0) {
      ssize_t got = read(STDIN_FILENO, input + used, sizeof input - used - 1);
      if (got <= 0) break;
      used += (size_t)got;
      input[used] = '\0';
      for (char *end; (end = strchr(input, '\n'));) {
        *end = '\0';
        obey(input);
        used -= (size_t)(end + 1 - input);
        memmove(input, end + 1, used + 1);
      }
    }
    tb_steady_clock_now(steady, &now);
    for (size_t i = 0; i < work_count; i++) {
      if (works[i].next_ns > now.ns) continue;
      do_work(&works[i]);
      works[i].next_ns = now.ns + works[i].period_ns;
    }
  }
  return 0;
}
