/* /clock and a clock on it, next to bare Cyclone DDS with a listener that stores to an atomic. */
#include <dds/dds.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <timebase/clock.h>
#include <timebase/ros2_clock_publisher.h>
#include <timebase/ros2_clock_source.h>
#include <unistd.h>

#include "ros2_messages.h"
#include "tick_peers.h"

#define LIMIT_NS (30 * TB_NS_PER_S)

/* ---- the process that reads ---- */

static _Atomic int64_t bare_latest;

static void on_bare(dds_entity_t reader, void *user)
{
  (void)user;
  void *samples[1] = {NULL};
  dds_sample_info_t info;
  while (dds_take(reader, samples, &info, 1, 1) > 0) {
    const rosgraph_msgs_msg_dds__Clock_ *clock = samples[0];
    if (info.valid_data)
      atomic_store_explicit(&bare_latest, clock->sec * TB_NS_PER_S + clock->nanosec,
                            memory_order_release);
    dds_return_loan(reader, samples, 1);
  }
}

static dds_entity_t bare_topic(dds_entity_t *out_participant, dds_qos_t **out_qos)
{
  const char *domain = getenv("ROS_DOMAIN_ID");
  *out_participant =
      dds_create_participant((dds_domainid_t)atoi(domain ? domain : "0"), NULL, NULL);
  *out_qos = dds_create_qos();
  dds_qset_reliability(*out_qos, DDS_RELIABILITY_BEST_EFFORT, 0);
  dds_qset_history(*out_qos, DDS_HISTORY_KEEP_LAST, 1);
  return dds_create_topic(*out_participant, &rosgraph_msgs_msg_dds__Clock__desc, "rt/bare/clock",
                          NULL, NULL);
}

static tb_clock_t *reader_open(void)
{
  tb_ros2_context_t *context;
  tb_source_t *source;
  tb_clock_t *clock;
  if (tb_ros2_context_create(NULL, &context, NULL) ||
      tb_ros2_clock_source_create(context, NULL, &source, NULL))
    return NULL;
  tb_clock_options_t options = {TB_TIME_ROS, source};
  if (tb_clock_create(&options, &clock)) return NULL;
  dds_entity_t participant;
  dds_qos_t *qos;
  dds_entity_t topic = bare_topic(&participant, &qos);
  dds_listener_t *listener = dds_create_listener(NULL);
  dds_lset_data_available(listener, on_bare);
  dds_entity_t reader = dds_create_reader(participant, topic, qos, listener);
  dds_delete_qos(qos);
  dds_delete_listener(listener);
  return reader < 0 ? NULL : clock;
}

static int64_t latest(void *clock, tick_path_t path)
{
  if (path == TICK_BARE) return atomic_load_explicit(&bare_latest, memory_order_acquire);
  tb_time_t now = {0};
  tb_clock_now(clock, &now);
  return now.ns;
}

int bench_ros2_peer(void)
{
  tb_clock_t *clock = reader_open();
  return clock ? tick_latency_read(latest, clock) : 1;
}

/* ---- the process that publishes ---- */

typedef struct publishers {
  tb_ros2_context_t *context;
  tb_ros2_clock_publisher_t *ours;
  dds_entity_t participant, bare;
} publishers_t;

static bool publishers_open(publishers_t *p)
{
  dds_qos_t *qos;
  if (tb_ros2_context_create(NULL, &p->context, NULL) ||
      tb_ros2_clock_publisher_create(p->context, NULL, NULL, &p->ours, NULL))
    return false;
  dds_entity_t topic = bare_topic(&p->participant, &qos);
  p->bare = dds_create_writer(p->participant, topic, qos, NULL);
  dds_delete_qos(qos);
  if (p->bare < 0 || tb_ros2_clock_publisher_wait_for_matched(
                         p->ours, 1, &(tb_wait_options_t){.limit = {LIMIT_NS}}))
    return false;
  int64_t give_up = bench_now_ns() + LIMIT_NS;
  dds_publication_matched_status_t status = {0};
  while (dds_get_publication_matched_status(p->bare, &status) == 0 && status.current_count == 0)
    if (usleep(1000) || bench_now_ns() > give_up) return false;
  return true;
}

static void publishers_close(publishers_t *p)
{
  dds_delete(p->participant);
  tb_ros2_clock_publisher_destroy(p->ours);
  tb_ros2_context_destroy(p->context);
}

static void publish(void *user, tick_path_t path, int64_t time_ns)
{
  const publishers_t *p = user;
  if (path == TICK_OURS) {
    tb_ros2_clock_publisher_publish(p->ours, time_ns, NULL);
  } else {
    rosgraph_msgs_msg_dds__Clock_ message = {(int32_t)(time_ns / TB_NS_PER_S),
                                             (uint32_t)(time_ns % TB_NS_PER_S)};
    dds_write(p->bare, &message);
  }
}

static bool clock_topic_latency(const row_t *row, result_t *out)
{
  peer_t peer;
  publishers_t publishers = {0};
  if (!getenv("CYCLONEDDS_URI"))
    return bench_fail(row, "CYCLONEDDS_URI must keep the traffic on lo; run scripts/bench");
  bool done = peer_start(&peer, BENCH_ROS2_PEER, NULL, NULL) && publishers_open(&publishers) &&
              tick_latency_measure(&peer, publish, &publishers, out);
  publishers_close(&publishers);
  peer_end(&peer);
  return done ? true : bench_fail(row, "the two processes did not meet, or ticks were lost");
}

const row_t ros2_rows[] = {
    {"clock_topic_latency", "us", "bare Cyclone DDS listener", 1.15, clock_topic_latency, 0},
};
const int ros2_row_count = sizeof ros2_rows / sizeof *ros2_rows;
