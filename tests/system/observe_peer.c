/* A node "peer" whose topics have what `timebase observe` is to see. It reads commands from
 * standard input, and prints "done" after each.
 *
 *   open TOPIC [TYPE [latched|keyed]]
 *       a publisher of std_msgs/msg/Header, or of my_msgs/msg/Own: "float64 x, Header header";
 * keyed: as if that had a key
 *   forge TOPIC OFFSET_NS
 *       a plain DDS writer of Headers, whose source timestamps are off by this
 *   wait TOPIC
 *       until a reader is matched
 *   alone TOPIC
 *       until none is
 *   send TOPIC COUNT BASE OFFSET_NS STEP_NS [GAP_MS]
 *       messages with the stamps OFFSET, OFFSET + STEP, ... after BASE: "zero" (1970), "now"
 * (system time of each message), "start" (of the first one), "tick" (the last tick) cut TOPIC COUNT
 *       messages that end in their stamp
 *   clock
 *       a publisher of /clock, until a reader is matched
 *   tick NS
 *       publishes it
 *   race TOPIC COUNT STEP_NS
 *       messages stamped so long after the last tick, each followed by the tick of its stamp
 *   path IN OUT COUNT PERIOD_MS LATENCY_MS GROWTH_MS [FACTOR]
 *       inputs, and outputs that repeat their stamps so much later; in ROS time of this factor,
 * with a tick before each message
 *   work IN OUT MS
 *       from now on a node that takes so long for each message of IN, one by one, and repeats it on
 *       OUT; reads no more commands
 *   listen TOPIC
 *       a subscription of the node to a topic of Headers
 *   diagnostics
 *       a subscription to /diagnostics
 *   reports COUNT
 *       the next reports on it, as "report STAMP_NS", "status LEVEL NAME|MESSAGE|HARDWARE_ID" and
 *       "value KEY VALUE" */
#include <dds/dds.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_node.h>
#include <timebase/ros2_publisher.h>

#include "dds/raw_type.h"
#include "wire/messages.h"

#define OUTLETS_MAX 1100
#define MS          1000000

typedef struct outlet {
  char topic[128], type[64];
  tb_ros2_publisher_t *publisher; /* NULL: a plain writer */
  dds_entity_t writer;
  const struct ddsi_sertype *raw_type;
  int64_t offset_ns;
} outlet_t;

static tb_ros2_context_t *context;
static tb_ros2_node_t *node;
static tb_ros2_clock_publisher_t *clock_publisher;
static dds_entity_t participant;
static outlet_t outlets[OUTLETS_MAX];
static size_t outlet_count;
static int64_t last_tick_ns;
static tb_ros2_subscription_t *diagnostics;

static void check(tb_status_t status, const char *what)
{
  if (!status) return;
  fprintf(stderr, "observe_peer: %s: %s\n", what, tb_status_name(status));
  exit(1);
}

static void check_dds(dds_return_t code, const char *what)
{
  if (code >= 0) return;
  fprintf(stderr, "observe_peer: %s: %s\n", what, dds_strretcode(code));
  exit(1);
}

static outlet_t *find(const char *topic)
{
  for (size_t i = 0; i < outlet_count; i++)
    if (strcmp(outlets[i].topic, topic) == 0) return &outlets[i];
  fprintf(stderr, "observe_peer: no topic %s\n", topic);
  exit(1);
}

static outlet_t *add(const char *topic, const char *type)
{
  if (outlet_count == OUTLETS_MAX) exit(1);
  outlet_t *outlet = &outlets[outlet_count++];
  snprintf(outlet->topic, sizeof outlet->topic, "%s", topic);
  snprintf(outlet->type, sizeof outlet->type, "%s", type);
  return outlet;
}

static void open_topic(const char *topic, const char *type, const char *qos_name)
{
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.depth = 1000;
  qos.has_key = strcmp(qos_name, "keyed") == 0;
  if (strcmp(qos_name, "latched") == 0) qos.durability = TB_QOS_TRANSIENT_LOCAL;
  check(tb_ros2_node_create_publisher(node, topic, type, &qos, &add(topic, type)->publisher, NULL),
        topic);
}

static void forge_topic(const char *topic, int64_t offset_ns)
{
  char name[140];
  struct ddsi_sertype *type = tb__raw_type_create("std_msgs::msg::dds_::Header_", false);
  snprintf(name, sizeof name, "rt%s", topic);
  if (!type) exit(1);
  if (!participant) participant = dds_create_participant(DDS_DOMAIN_DEFAULT, NULL, NULL);
  check_dds(participant, "participant");
  dds_entity_t dds_topic = dds_create_topic_sertype(participant, name, &type, NULL, NULL, NULL);
  check_dds(dds_topic, name);
  dds_qos_t *qos = dds_create_qos();
  const dds_data_representation_id_t form = DDS_DATA_REPRESENTATION_XCDR1;
  dds_qset_data_representation(qos, 1, &form);
  outlet_t *outlet = add(topic, "std_msgs/msg/Header");
  outlet->writer = dds_create_writer(participant, dds_topic, qos, NULL);
  check_dds(outlet->writer, "writer");
  dds_delete_qos(qos);
  outlet->raw_type = type;
  outlet->offset_ns = offset_ns;
}

static void sleep_ns(int64_t ns)
{
  struct timespec left = {ns / 1000000000, ns % 1000000000};
  while (nanosleep(&left, &left) != 0)
    ;
}

static void wait_for(const outlet_t *outlet)
{
  for (;;) {
    dds_publication_matched_status_t status = {0};
    if (outlet->publisher && tb_ros2_publisher_matched(outlet->publisher) > 0) return;
    if (!outlet->publisher) {
      check_dds(dds_get_publication_matched_status(outlet->writer, &status), "matched");
      if (status.current_count > 0) return;
    }
    sleep_ns(MS);
  }
}

/* --- messages --- */

static size_t put(uint8_t *bytes, size_t at, uint32_t value)
{
  for (int i = 0; i < 4; i++)
    bytes[at++] = (uint8_t)(value >> (8 * i));
  return at;
}

static void emit(const outlet_t *outlet, int64_t stamp_ns, size_t size_max)
{
  uint8_t bytes[64] = {0, 1, 0, 0};
  size_t size = 4;
  if (strcmp(outlet->type, "my_msgs/msg/Own") == 0) size += 8;
  size = put(bytes, size, (uint32_t)(int32_t)(stamp_ns / 1000000000));
  size = put(bytes, size, (uint32_t)(stamp_ns % 1000000000));
  size = put(bytes, size, 1);
  size = put(bytes, size, 0);
  if (size > size_max) size = size_max;
  if (outlet->publisher) {
    check(tb_ros2_publisher_publish(outlet->publisher, bytes, size, NULL), outlet->topic);
    return;
  }
  struct ddsi_serdata *sample = tb__raw_sample_create(outlet->raw_type, bytes, size);
  if (!sample) exit(1);
  sample->statusinfo = 0;
  sample->timestamp.v = dds_time() + outlet->offset_ns;
  check_dds(dds_forwardcdr(outlet->writer, sample), "write");
}

static void emit_all(const outlet_t *outlet, long count, const char *base, int64_t offset_ns,
                     int64_t step_ns, long gap_ms)
{
  int64_t start_ns = dds_time();
  for (long i = 0; i < count; i++) {
    int64_t from_ns = strcmp(base, "now") == 0     ? dds_time()
                      : strcmp(base, "start") == 0 ? start_ns
                      : strcmp(base, "tick") == 0  ? last_tick_ns
                                                   : 0;
    emit(outlet, from_ns + offset_ns + i * step_ns, 64);
    sleep_ns(gap_ms * MS);
  }
}

static void open_clock(void)
{
  check(tb_ros2_node_create_clock_publisher(node, NULL, NULL, &clock_publisher, NULL), "/clock");
  while (tb_ros2_clock_publisher_matched(clock_publisher) == 0)
    sleep_ns(MS);
}

static void tick(int64_t tick_ns)
{
  last_tick_ns = tick_ns;
  check(tb_ros2_clock_publisher_publish(clock_publisher, tick_ns, NULL), "/clock");
}

static void run_race(const outlet_t *outlet, long count, int64_t step_ns)
{
  for (long i = 0; i < count; i++) {
    int64_t next_ns = last_tick_ns + step_ns;
    emit(outlet, next_ns, 64);
    tick(next_ns);
  }
}

/* In order of time: inputs on their period, outputs when they are due. */
static void run_path(const outlet_t *in, const outlet_t *out, long count, int64_t period_ns,
                     int64_t latency_ns, int64_t growth_ns, long factor)
{
  int64_t begin_ns = dds_time(), first_ns = factor ? 1000000000000 : begin_ns;
  int64_t step_ns = factor ? period_ns * factor : period_ns; /* of stamps */
  for (long sent = 0, answered = 0; answered < count;) {
    int64_t in_ns = begin_ns + sent * period_ns;
    int64_t out_ns = begin_ns + answered * (period_ns + growth_ns) + latency_ns;
    bool is_input = sent < count && in_ns <= out_ns;
    int64_t left_ns = (is_input ? in_ns : out_ns) - dds_time();
    if (left_ns > 0) sleep_ns(left_ns);
    if (factor) tick(first_ns + (dds_time() - begin_ns) * factor);
    if (is_input)
      emit(in, first_ns + sent++ * step_ns, 64);
    else
      emit(out, first_ns + answered++ * step_ns, 64);
  }
}

/* Returns never. */
static void work(const char *in, const outlet_t *out, int64_t work_ns)
{
  tb_ros2_subscription_t *inputs = NULL;
  tb_qos_t qos = TB_QOS_INIT_DEFAULT;
  qos.depth = 10000;
  check(
      tb_ros2_node_create_subscription(node, in, "std_msgs/msg/Header", &qos, NULL, &inputs, NULL),
      in);
  puts("done");
  fflush(stdout);
  for (;;) {
    tb_ros2_sample_t sample;
    if (tb_ros2_subscription_take(inputs, &sample) != TB_OK) {
      sleep_ns(MS / 4);
      continue;
    }
    sleep_ns(work_ns);
    check(tb_ros2_publisher_publish(out->publisher, sample.cdr, sample.size, NULL), out->topic);
    tb_ros2_sample_release(&sample);
  }
}

static void listen_to(const char *topic)
{
  static tb_ros2_subscription_t *subscription; /* of the process */
  check(tb_ros2_node_create_subscription(node, topic, "std_msgs/msg/Header", NULL, NULL,
                                         &subscription, NULL),
        topic);
}

static void listen_to_diagnostics(void)
{
  check(tb_ros2_node_create_subscription(node, "/diagnostics", tb__diagnostic_array_type.name, NULL,
                                         NULL, &diagnostics, NULL),
        "/diagnostics");
}

static void print_report(const tb__diagnostic_array_t *report)
{
  printf("report %" PRId64 "\n",
         (int64_t)report->header.stamp.sec * 1000000000 + (int64_t)report->header.stamp.nanosec);
  for (size_t i = 0; i < report->status.count; i++) {
    const tb__diagnostic_status_t *status = &report->status.items[i];
    printf("status %d %s|%s|%s\n", status->level, status->name, status->message,
           status->hardware_id);
    for (size_t k = 0; k < status->values.count; k++)
      printf("value %s %s\n", status->values.items[k].key, status->values.items[k].value);
  }
}

static void take_reports(long count)
{
  while (count > 0) {
    tb_ros2_sample_t sample;
    tb__diagnostic_array_t *report = NULL;
    if (tb_ros2_subscription_take(diagnostics, &sample) != TB_OK) {
      sleep_ns(MS);
      continue;
    }
    check(tb__cdr_decode(&tb__diagnostic_array_type, sample.cdr, sample.size, &report), "decode");
    tb_ros2_sample_release(&sample);
    print_report(report);
    free(report);
    count--;
  }
}

static void obey(char *line)
{
  char command[16] = "", a[128] = "", b[128] = "", c[16] = "";
  int64_t x = 0, y = 0;
  long count = 0, gap_ms = 1;
  int words = sscanf(line, "%15s %127s", command, a);
  if (strcmp(command, "open") == 0) {
    words = sscanf(line, "%*s %*s %127s %15s", b, c);
    open_topic(a, words >= 1 ? b : "std_msgs/msg/Header", words >= 2 ? c : "");
  } else if (strcmp(command, "forge") == 0) {
    sscanf(line, "%*s %*s %" SCNd64, &x);
    forge_topic(a, x);
  } else if (strcmp(command, "wait") == 0) {
    wait_for(find(a));
  } else if (strcmp(command, "alone") == 0) {
    while (tb_ros2_publisher_matched(find(a)->publisher) > 0)
      sleep_ns(MS);
  } else if (strcmp(command, "send") == 0) {
    sscanf(line, "%*s %*s %ld %15s %" SCNd64 " %" SCNd64 " %ld", &count, c, &x, &y, &gap_ms);
    emit_all(find(a), count, c, x, y, gap_ms);
  } else if (strcmp(command, "cut") == 0) {
    sscanf(line, "%*s %*s %ld", &count);
    for (; count > 0; count--)
      emit(find(a), 0, 8);
  } else if (strcmp(command, "clock") == 0) {
    open_clock();
  } else if (strcmp(command, "tick") == 0) {
    tick(strtoll(a, NULL, 10));
  } else if (strcmp(command, "work") == 0) {
    sscanf(line, "%*s %*s %127s %ld", b, &count);
    work(a, find(b), count * MS);
  } else if (strcmp(command, "race") == 0) {
    sscanf(line, "%*s %*s %ld %" SCNd64, &count, &x);
    run_race(find(a), count, x);
  } else if (strcmp(command, "path") == 0) {
    long period_ms = 0, latency_ms = 0, growth_ms = 0, factor = 0;
    sscanf(line, "%*s %*s %127s %ld %ld %ld %ld %ld", b, &count, &period_ms, &latency_ms,
           &growth_ms, &factor);
    run_path(find(a), find(b), count, period_ms * MS, latency_ms * MS, growth_ms * MS, factor);
  } else if (strcmp(command, "diagnostics") == 0) {
    listen_to_diagnostics();
  } else if (strcmp(command, "reports") == 0) {
    take_reports(strtol(a, NULL, 10));
  } else if (strcmp(command, "listen") == 0) {
    listen_to(a);
  } else {
    fprintf(stderr, "observe_peer: %d words, not a command: %s", words, line);
    exit(1);
  }
  puts("done");
  fflush(stdout);
}

int main(int argc, char **argv)
{
  char line[512];
  check(tb_ros2_context_create(NULL, &context, NULL), "context");
  check(tb_ros2_node_create(context, argc > 1 ? argv[1] : "peer", "/", NULL, &node, NULL), "node");
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin))
    obey(line);
  for (size_t i = 0; i < outlet_count; i++)
    tb_ros2_publisher_destroy(outlets[i].publisher);
  tb_ros2_subscription_destroy(diagnostics);
  tb_ros2_clock_publisher_destroy(clock_publisher);
  tb_ros2_node_destroy(node);
  tb_ros2_context_destroy(context);
  return 0;
}
