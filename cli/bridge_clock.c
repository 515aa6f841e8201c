#include "bridge_clock.h"

#include <string.h>
#include <timebase/generic.h>

#include "clock_gauge.h"

#define ROS1_MD5   "a9c97c1d230cfc112e270351a944ee47"
#define ROS2_TYPE  "rosgraph_msgs/msg/Clock"
#define ROS1_BYTES 8
#define ROS2_DEPTH 1000 /* ticks that came in while one was carried */
#define JUMP_NS    TB_NS_PER_S

/* --- counting --- */

/* A step of a second or more that neither real time nor the last step explains is a jump. */
static void note_step(bridge_clock_t *clock, int64_t time_ns, int64_t steady_ns)
{
  bridge_clock_stats_t *stats = &clock->stats;
  int64_t step_ns = time_ns - stats->time_ns, elapsed_ns = steady_ns - stats->last_steady_ns;
  int64_t usual_ns = 2 * clock->step_ns > elapsed_ns ? 2 * clock->step_ns : elapsed_ns;
  if (step_ns < 0) {
    stats->jumps_backward++;
    if (step_ns < stats->largest_backward_ns) stats->largest_backward_ns = step_ns;
    return;
  }
  if (step_ns == 0)
    stats->repeated++;
  else if (step_ns >= JUMP_NS && step_ns > usual_ns + JUMP_NS)
    stats->jumps_forward++;
  else
    clock->step_ns = step_ns;
}

static void note_tick(bridge_clock_t *clock, int64_t time_ns, int64_t steady_ns)
{
  bridge_clock_stats_t *stats = &clock->stats;
  if (stats->ticks++)
    note_step(clock, time_ns, steady_ns);
  else
    stats->first_steady_ns = steady_ns;
  stats->time_ns = time_ns;
  stats->last_steady_ns = steady_ns;
}

static void note_failure(bridge_clock_t *clock, tb_status_t status, const tb_error_t *error)
{
  bridge_clock_stats_t *stats = &clock->stats;
  uint64_t *count = status == TB_ERR_NOT_SET ? &stats->zero
                    : status == TB_ERR_RANGE ? &stats->beyond
                                             : &stats->failed;
  if (!(*count)++ && !clock->is_failed) {
    clock->failure = *error;
    clock->is_failed = true;
  }
}

/* --- carrying --- */

/* Sends one tick. Neither call blocks, and each side hands over one tick at a time. */
static void carry(bridge_clock_t *clock, int64_t time_ns, int64_t received_ns)
{
  tb_error_t error = TB_ERROR_INIT;
  pthread_mutex_lock(&clock->mutex);
  if (clock->is_carrying) {
    tb_status_t status = clock->from == BRIDGE_ROS1
                             ? tb_ros2_clock_publisher_publish(clock->to_ros2, time_ns, &error)
                             : tb_ros1_clock_publisher_publish(clock->to_ros1, time_ns, &error);
    if (status)
      note_failure(clock, status, &error);
    else
      note_tick(clock, time_ns, received_ns);
    int64_t taken_ns = bridge_now_ns(clock->ends) - received_ns;
    if (!status) tb_histogram_record(clock->writer, (tb_duration_t){taken_ns});
  }
  pthread_mutex_unlock(&clock->mutex);
}

static void drop(bridge_clock_t *clock)
{
  pthread_mutex_lock(&clock->mutex);
  if (clock->is_carrying) clock->stats.invalid++;
  pthread_mutex_unlock(&clock->mutex);
}

static uint32_t word_at(const uint8_t *bytes)
{
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* On the thread of the ROS 1 context. */
static void on_ros1_tick(const tb_ros1_sample_t *sample, void *user)
{
  const uint8_t *bytes = sample->message;
  bool is_clock = sample->size == ROS1_BYTES && strcmp(sample->type.md5sum, ROS1_MD5) == 0;
  uint32_t nanoseconds = is_clock ? word_at(bytes + 4) : UINT32_MAX;
  if (nanoseconds >= TB_NS_PER_S)
    drop(user);
  else
    carry(user, (int64_t)word_at(bytes) * TB_NS_PER_S + nanoseconds, sample->steady_ns);
}

/* On a receive thread of DDS. */
static void on_ros2_tick(const tb_ros2_sample_t *sample, void *user)
{
  int64_t time_ns;
  if (clock_tick_read(sample, &time_ns) && time_ns >= 0)
    carry(user, time_ns, sample->receive_steady_ns);
  else
    drop(user);
}

/* --- the ends --- */

void bridge_clock_set_carrying(bridge_clock_t *clock, bool is_carrying)
{
  pthread_mutex_lock(&clock->mutex);
  clock->is_carrying = is_carrying;
  pthread_mutex_unlock(&clock->mutex);
}

static tb_status_t open_to_ros2(bridge_clock_t *clock, tb_error_t *error)
{
  tb_ros1_subscription_options_t options = {.callback = on_ros1_tick, .user = clock};
  tb_status_t status = tb_ros2_node_create_clock_publisher(clock->ends->node, BRIDGE_CLOCK_TOPIC,
                                                           NULL, &clock->to_ros2, error);
  if (status) return status;
  bridge_clock_set_carrying(clock, true);
  /* Of any type: roslib/Clock, the name in old graphs, is the same. */
  return tb_ros1_subscription_create(clock->ends->ros1, BRIDGE_CLOCK_TOPIC, NULL, &options,
                                     &clock->from_ros1, error);
}

static tb_status_t open_to_ros1(bridge_clock_t *clock, tb_error_t *error)
{
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  tb_ros2_subscription_options_t options = {on_ros2_tick, clock};
  qos.depth = ROS2_DEPTH;
  tb_status_t status =
      tb_ros1_clock_publisher_create(clock->ends->ros1, NULL, &clock->to_ros1, error);
  if (status) return status;
  bridge_clock_set_carrying(clock, true);
  return tb_ros2_node_create_subscription(clock->ends->node, BRIDGE_CLOCK_TOPIC, ROS2_TYPE, &qos,
                                          &options, &clock->from_ros2, error);
}

int bridge_clock_open(const bridge_ends_t *ends, bridge_side_t from, bridge_clock_t *out)
{
  tb_error_t error = TB_ERROR_INIT;
  *out = (bridge_clock_t){.ends = ends, .from = from};
  pthread_mutex_init(&out->mutex, NULL);
  tb_status_t status = tb_histogram_create(NULL, &out->latency);
  if (!status) status = tb_histogram_writer_create(out->latency, &out->writer);
  if (!status) status = from == BRIDGE_ROS1 ? open_to_ros2(out, &error) : open_to_ros1(out, &error);
  return status ? command_failed(ends->command, status, &error) : EXIT_OK;
}

void bridge_clock_close(bridge_clock_t *clock)
{
  if (!clock->ends) return;
  tb_ros1_subscription_destroy(clock->from_ros1);
  tb_ros2_subscription_destroy(clock->from_ros2);
  tb_ros1_clock_publisher_destroy(clock->to_ros1);
  tb_ros2_clock_publisher_destroy(clock->to_ros2);
  tb_histogram_destroy(clock->latency);
  pthread_mutex_destroy(&clock->mutex);
  *clock = (bridge_clock_t){0};
}

/* --- reading --- */

uint32_t bridge_clock_connected(const bridge_clock_t *clock)
{
  return clock->from_ros1 ? tb_ros1_subscription_matched(clock->from_ros1)
                          : tb_ros2_subscription_matched(clock->from_ros2);
}

void bridge_clock_stats(bridge_clock_t *clock, bridge_clock_stats_t *out)
{
  pthread_mutex_lock(&clock->mutex);
  *out = clock->stats;
  pthread_mutex_unlock(&clock->mutex);
}

static int64_t quantile(const tb_histogram_t *histogram, double share)
{
  tb_duration_t value = {0};
  if (tb_histogram_quantile(histogram, TB_HISTOGRAM_SINCE_START, share, &value)) return 0;
  return value.ns;
}

void bridge_clock_latency(bridge_clock_t *clock, bridge_latency_t *out)
{
  tb_histogram_snapshot(clock->latency);
  *out = (bridge_latency_t){quantile(clock->latency, 0.5), quantile(clock->latency, 0.99),
                            quantile(clock->latency, 1)};
}

bool bridge_clock_take_failure(bridge_clock_t *clock, tb_error_t *out)
{
  pthread_mutex_lock(&clock->mutex);
  bool is_failed = clock->is_failed;
  if (is_failed) *out = clock->failure;
  clock->is_failed = false;
  pthread_mutex_unlock(&clock->mutex);
  return is_failed;
}

uint64_t bridge_clock_dropped(const bridge_clock_stats_t *stats)
{
  return stats->zero + stats->invalid + stats->beyond + stats->failed;
}
