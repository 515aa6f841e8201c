/* Nodes: the cost of following a /clock of 1 kHz while nothing happens, the time that others wait
 * for a parameter, and the time to create a node. Next to bare Cyclone DDS, in separate processes.
 */
#include <dds/dds.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_node.h>
#include <unistd.h>

#include "ros2_messages.h"
#include "tick_peers.h"

#define LIMIT       ((tb_duration_t){30 * TB_NS_PER_S})
#define CALLS       4000
#define WARM_CALLS  200
#define NODES       100
#define NAME        "bench_parameter"
#define BARE_ASK    "rt/bare/ask"
#define BARE_ANSWER "rt/bare/answer"
/* So many characters make a request and an answer as long as those of the parameter service. */
#define ASK_TEXT    35
#define ANSWER_TEXT 139

/* ---- the other process ---- */

static void on_clock(dds_entity_t reader, void *user)
{
  (void)user;
  void *samples[1] = {NULL};
  dds_sample_info_t info;
  while (dds_take(reader, samples, &info, 1, 1) > 0)
    dds_return_loan(reader, samples, 1);
}

static dds_qos_t *qos_make(bool reliable)
{
  dds_qos_t *qos = dds_create_qos();
  if (reliable)
    dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_INFINITY);
  else
    dds_qset_reliability(qos, DDS_RELIABILITY_BEST_EFFORT, 0);
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, reliable ? 1000 : 1);
  return qos;
}

static bool bare_clock(void)
{
  dds_entity_t participant = peer_participant();
  dds_entity_t topic =
      dds_create_topic(participant, &rosgraph_msgs_msg_dds__Clock__desc, "rt/clock", NULL, NULL);
  dds_qos_t *qos = qos_make(false);
  dds_listener_t *listener = dds_create_listener(NULL);
  dds_lset_data_available(listener, on_clock);
  return dds_create_reader(participant, topic, qos, listener) > 0;
}

static bool nodes(int count)
{
  tb_ros2_context_t *context;
  tb_ros2_node_options_t options = TB_ROS2_NODE_OPTIONS_INIT;
  const tb_ros2_parameter_t sim_time = {"use_sim_time", tb_ros2_parameter_bool(true)};
  options.parameter_overrides = &sim_time;
  options.parameter_override_count = 1;
  if (tb_ros2_context_create(NULL, &context, NULL)) return false;
  for (int i = 0; i < count; i++) {
    char name[32];
    tb_ros2_node_t *node;
    snprintf(name, sizeof name, "node_%d", i);
    if (tb_ros2_node_create(context, name, "", &options, &node, NULL)) return false;
  }
  return true;
}

static bool parameter_server(void)
{
  tb_ros2_context_t *context;
  tb_ros2_node_t *node;
  tb_ros2_parameter_value_t value = tb_ros2_parameter_double(0.5);
  return !tb_ros2_context_create(NULL, &context, NULL) &&
         !tb_ros2_node_create(context, "bench", "", NULL, &node, NULL) &&
         !tb_ros2_node_declare_parameter(node, NAME, &value, NULL, NULL);
}

static void text_fill(char *text, size_t length)
{
  memset(text, 'x', length);
  text[length] = '\0';
}

static void on_ask(dds_entity_t reader, void *user)
{
  void *samples[1] = {NULL};
  dds_sample_info_t info;
  while (dds_take(reader, samples, &info, 1, 1) > 0) {
    char text[ANSWER_TEXT + 1];
    std_msgs_msg_dds__String_ answer = {text};
    text_fill(text, ANSWER_TEXT);
    if (info.valid_data) dds_write(*(const dds_entity_t *)user, &answer);
    dds_return_loan(reader, samples, 1);
  }
}

typedef struct bare_pair {
  dds_entity_t reader, writer;
} bare_pair_t;

static bool bare_open(dds_entity_t participant, const char *read, const char *written,
                      void (*on_data)(dds_entity_t, void *), void *user, bare_pair_t *out)
{
  dds_qos_t *qos = qos_make(true);
  dds_listener_t *listener = dds_create_listener(user);
  dds_lset_data_available(listener, on_data);
  dds_entity_t from =
      dds_create_topic(participant, &std_msgs_msg_dds__String__desc, read, NULL, NULL);
  dds_entity_t to =
      dds_create_topic(participant, &std_msgs_msg_dds__String__desc, written, NULL, NULL);
  out->writer = dds_create_writer(participant, to, qos, NULL);
  out->reader = dds_create_reader(participant, from, qos, listener);
  dds_delete_listener(listener);
  dds_delete_qos(qos);
  return out->writer > 0 && out->reader > 0;
}

static bool bare_server(void)
{
  static bare_pair_t pair;
  return bare_open(peer_participant(), BARE_ASK, BARE_ANSWER, on_ask, &pair.writer, &pair);
}

int bench_node_peer(const char *role, const char *count)
{
  bool ready = !strcmp(role, "bare_clock")    ? bare_clock()
               : !strcmp(role, "nodes")       ? nodes(atoi(count))
               : !strcmp(role, "bare_server") ? bare_server()
                                              : parameter_server();
  return peer_serve(ready);
}

/* ---- /clock at 1 kHz ---- */

static void tick(void *publisher, int64_t time_ns)
{
  tb_ros2_clock_publisher_publish(publisher, time_ns, NULL);
}

static bool follow(const peer_t *value, const peer_t *against, result_t *out)
{
  tb_ros2_context_t *context = NULL;
  tb_ros2_clock_publisher_t *publisher = NULL;
  bool done =
      !tb_ros2_context_create(NULL, &context, NULL) &&
      !tb_ros2_clock_publisher_create(context, NULL, NULL, &publisher, NULL) &&
      !tb_ros2_clock_publisher_wait_for_matched(publisher, 2, &(tb_wait_options_t){.limit = LIMIT});
  done = done && tick_cpu_measure(value, against, tick, publisher, out);
  tb_ros2_clock_publisher_destroy(publisher);
  tb_ros2_context_destroy(context);
  return done;
}

static bool clock_cpu(const row_t *row, const char *count, const char *against_role, result_t *out)
{
  peer_t value, against = PEER_NONE;
  bool done = peer_start(&value, BENCH_NODE_PEER, "nodes", count) &&
              peer_start(&against, BENCH_NODE_PEER, against_role, "1") &&
              follow(&value, &against, out);
  peer_end(&value);
  peer_end(&against);
  return done ? true : bench_fail(row, "the processes did not meet");
}

static bool clock_1khz_cpu_1_node(const row_t *row, result_t *out)
{
  return clock_cpu(row, "1", "bare_clock", out);
}

static bool clock_1khz_cpu_100_nodes(const row_t *row, result_t *out)
{
  return clock_cpu(row, "100", "nodes", out);
}

/* ---- a parameter from another process ---- */

typedef struct bare_client {
  bare_pair_t pair;
  pthread_mutex_t mutex;
  pthread_cond_t came;
  int answers;
} bare_client_t;

static void on_answer(dds_entity_t reader, void *user)
{
  bare_client_t *client = user;
  void *samples[1] = {NULL};
  dds_sample_info_t info;
  while (dds_take(reader, samples, &info, 1, 1) > 0) {
    dds_return_loan(reader, samples, 1);
    pthread_mutex_lock(&client->mutex);
    client->answers++;
    pthread_cond_signal(&client->came);
    pthread_mutex_unlock(&client->mutex);
  }
}

/* Repeated when there is no answer: neither side knows whether the other's reader is matched. */
static void bare_call(bare_client_t *client)
{
  char text[ASK_TEXT + 1];
  std_msgs_msg_dds__String_ ask = {text};
  text_fill(text, ASK_TEXT);
  pthread_mutex_lock(&client->mutex);
  for (int before = client->answers; client->answers == before;) {
    struct timespec until;
    int late = 0;
    pthread_mutex_unlock(&client->mutex);
    dds_write(client->pair.writer, &ask);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&client->mutex);
    while (client->answers == before && !late)
      late = pthread_cond_timedwait(&client->came, &client->mutex, &until);
  }
  pthread_mutex_unlock(&client->mutex);
}

static bool bare_client_open(dds_entity_t participant, bare_client_t *out)
{
  pthread_mutex_init(&out->mutex, NULL);
  pthread_cond_init(&out->came, NULL);
  if (!bare_open(participant, BARE_ANSWER, BARE_ASK, on_answer, out, &out->pair)) return false;
  int64_t give_up = bench_now_ns() + LIMIT.ns;
  dds_publication_matched_status_t writer = {0};
  dds_subscription_matched_status_t reader = {0};
  do {
    usleep(1000);
    dds_get_publication_matched_status(out->pair.writer, &writer);
    dds_get_subscription_matched_status(out->pair.reader, &reader);
  } while ((!writer.current_count || !reader.current_count) && bench_now_ns() < give_up);
  return writer.current_count && reader.current_count;
}

/* A request for one name: one string of 15 characters. */
static const uint8_t request[] = "\0\1\0\0\1\0\0\0\x10\0\0\0" NAME;

static bool call_ours(tb_ros2_client_t *client)
{
  tb_ros2_response_t response;
  tb_status_t status = tb_ros2_client_call(client, request, sizeof request,
                                           &(tb_wait_options_t){.limit = LIMIT}, &response, NULL);
  if (status == TB_OK) tb_ros2_response_release(&response);
  return status == TB_OK;
}

static bool call_in_turns(tb_ros2_client_t *ours, bare_client_t *bare, result_t *out)
{
  double *took[2] = {calloc(CALLS, sizeof(double)), calloc(CALLS, sizeof(double))};
  bool done = took[0] && took[1];
  for (int i = -WARM_CALLS; done && i < CALLS; i++) {
    int64_t start = bench_now_ns();
    done = call_ours(ours);
    int64_t middle = bench_now_ns();
    bare_call(bare);
    int64_t end = bench_now_ns();
    if (i < 0) continue;
    took[0][i] = (double)(middle - start) / 1000;
    took[1][i] = (double)(end - middle) / 1000;
  }
  if (done) *out = (result_t){bench_median(took[0], CALLS), bench_median(took[1], CALLS)};
  free(took[0]);
  free(took[1]);
  return done;
}

static bool param_get_round_trip(const row_t *row, result_t *out)
{
  peer_t ours, bare = PEER_NONE;
  tb_ros2_context_t *context = NULL;
  tb_ros2_client_t *client = NULL;
  bare_client_t bare_client = {0};
  dds_entity_t participant = peer_participant();
  bool done = peer_start(&ours, BENCH_NODE_PEER, "parameter_server", "1") &&
              peer_start(&bare, BENCH_NODE_PEER, "bare_server", "1") &&
              !tb_ros2_context_create(NULL, &context, NULL) &&
              !tb_ros2_client_create(context, "/bench/get_parameters",
                                     "rcl_interfaces/srv/GetParameters", NULL, &client, NULL) &&
              !tb_ros2_client_wait_for_service(client, &(tb_wait_options_t){.limit = LIMIT}) &&
              bare_client_open(participant, &bare_client) &&
              call_in_turns(client, &bare_client, out);
  tb_ros2_client_destroy(client);
  tb_ros2_context_destroy(context);
  dds_delete(participant);
  peer_end(&ours);
  peer_end(&bare);
  return done ? true : bench_fail(row, "the processes did not meet");
}

/* ---- creating nodes ---- */

static bool node_create(const row_t *row, result_t *out)
{
  tb_ros2_context_t *context;
  tb_ros2_node_t *made[NODES] = {NULL};
  int count = 0;
  if (tb_ros2_context_create(NULL, &context, NULL)) return bench_fail(row, "no context");
  int64_t start = bench_now_ns();
  for (char name[32]; count < NODES; count++) {
    snprintf(name, sizeof name, "node_%d", count);
    if (tb_ros2_node_create(context, name, "", NULL, &made[count], NULL)) break;
  }
  *out = (result_t){(double)(bench_now_ns() - start) / 1e6 / NODES, 0};
  for (int i = 0; i < NODES; i++)
    tb_ros2_node_destroy(made[i]);
  tb_ros2_context_destroy(context);
  return count == NODES ? true : bench_fail(row, "no node");
}

const row_t node_rows[] = {
    {"clock_1khz_cpu_1_node", "us", "bare Cyclone DDS listener, a tick", 1.2, clock_1khz_cpu_1_node,
     0},
    {"clock_1khz_cpu_100_nodes", "us", "the same with 1 node", 1.2, clock_1khz_cpu_100_nodes, 0},
    {"param_get_round_trip", "us", "bare Cyclone DDS ask and answer", 1.3, param_get_round_trip, 0},
    {"node_create", "ms", "limit", 1, node_create, 2},
};
const int node_row_count = sizeof node_rows / sizeof *node_rows;
