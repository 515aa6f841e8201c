#include "audit_clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "audit.h"
#include "clock_gauge.h"
#include "contract/durations.h"
#include "publishers.h"

#define DEPTH       50 /* ticks come faster than a busy machine takes them */
#define ASK_NS      (TB_NS_PER_S)
#define PAUSED_BYTE 1

/* States of simulation_interfaces/msg/SimulationState. */
enum { SIMULATION_STOPPED = 0, SIMULATION_PAUSED = 2 };

#define SECONDS(ns) ((double)(ns) / (double)TB_NS_PER_S)

/* --- gathering --- */

static void on_tick(const tb_ros2_sample_t *sample, void *user)
{
  audit_clock_t *clock = user;
  tb_steady_time_t now = {0};
  int64_t tick_ns = 0;
  uint64_t id = clock_publisher_id(sample->writer_guid);
  bool is_good = clock_tick_read(sample, &tick_ns);
  tb_steady_clock_now(clock->steady, &now);
  pthread_mutex_lock(&clock->mutex);
  if (is_good) {
    tb__ticks_feed(&clock->ticks, id, tick_ns, now.ns);
    if (clock->ticks.all.usual_step_ns) clock->step_ns = clock->ticks.all.usual_step_ns;
    if (tick_ns > 0)
      tb__tick_history_add(&clock->recent, tick_ns, sample->source_timestamp_ns, now.ns);
    clock_latency_add(&clock->latency, sample);
    for (uint32_t i = 0; i < clock->ticks.publisher_count; i++)
      if (clock->ticks.publishers[i].id == id) memcpy(clock->guids[i], sample->writer_guid, 16);
  }
  pthread_mutex_unlock(&clock->mutex);
}

int audit_clock_open(audit_t *audit)
{
  audit_clock_t *clock = &audit->clock;
  tb_error_t error = TB_ERROR_INIT;
  tb_qos_t qos = TB_QOS_INIT_CLOCK;
  tb_ros2_subscription_options_t options = {on_tick, clock};
  tb_steady_time_t now = {0};
  memset(clock, 0, sizeof *clock);
  clock->steady = audit->view.steady;
  pthread_mutex_init(&clock->mutex, NULL);
  tb_steady_clock_now(clock->steady, &now);
  clock->begin_ns = now.ns;
  tb__ticks_init(&clock->ticks, &audit->limits, true);
  qos.depth = DEPTH;
  tb_status_t status =
      tb_ros2_subscription_create(audit->view.context, audit->clock_topic, CLOCK_TYPE, &qos,
                                  &options, &clock->subscription, &error);
  return status ? command_failed(audit->command, status, &error) : EXIT_OK;
}

void audit_clock_close(audit_clock_t *clock)
{
  if (!clock->steady) return;
  tb_ros2_subscription_destroy(clock->subscription);
  pthread_mutex_destroy(&clock->mutex);
  clock->steady = NULL;
}

static void restart_locked(audit_clock_t *clock)
{
  const tb__ticks_t *before = &clock->cut.ticks;
  tb__ticks_init_after(&clock->ticks, before);
  memset(&clock->latency, 0, sizeof clock->latency);
  clock->begin_ns = clock->cut.end_ns;
  if (clock->ticks.publisher_count)
    for (uint32_t i = 0; i < before->publisher_count; i++)
      if (before->publishers[i].id == clock->ticks.publishers[0].id)
        memcpy(clock->guids[0], clock->cut.guids[i], 16);
}

void audit_clock_cut(audit_t *audit)
{
  audit_clock_t *clock = &audit->clock;
  tb_steady_time_t now = {0};
  pthread_mutex_lock(&clock->mutex);
  tb_steady_clock_now(clock->steady, &now);
  clock->cut.begin_ns = clock->begin_ns;
  clock->cut.end_ns = now.ns;
  clock->cut.ticks = clock->ticks;
  clock->cut.latency = clock->latency;
  memcpy(clock->cut.guids, clock->guids, sizeof clock->guids);
  restart_locked(clock);
  pthread_mutex_unlock(&clock->mutex);
  tb__ticks_end(&clock->cut.ticks, now.ns);
}

void audit_clock_now(audit_clock_t *clock, stamp_now_t *out)
{
  tb_steady_time_t now = {0};
  tb_steady_clock_now(clock->steady, &now);
  pthread_mutex_lock(&clock->mutex);
  const tb__tick_stream_t *all = &clock->ticks.all;
  *out = (stamp_now_t){
      .steady_ns = now.ns,
      .clock_ns = all->first_ns ? all->last_ns : 0,
      .step_ns = clock->step_ns,
      .epoch = all->epoch,
  };
  pthread_mutex_unlock(&clock->mutex);
}

tb__ahead_state_t audit_clock_settle(audit_clock_t *clock, const tb__ahead_t *ahead, int64_t now_ns)
{
  pthread_mutex_lock(&clock->mutex);
  tb__ahead_state_t state = tb__tick_history_settle(&clock->recent, ahead, now_ns);
  pthread_mutex_unlock(&clock->mutex);
  return state;
}

/* Two times at once. */
static bool is_double(const tb__ticks_t *ticks)
{
  for (uint32_t i = 0; i < ticks->publisher_count; i++)
    if (tb__tick_stream_is_double(&ticks->publishers[i].stream)) return true;
  return tb__ticks_simultaneous(ticks) > 1;
}

bool audit_clock_jumps(const audit_clock_t *clock)
{
  return clock->cut.ticks.all.kinds[TB__TICK_BACKWARD] || is_double(&clock->cut.ticks);
}

/* --- judging --- */

/* What was gathered, and who publishes. */
typedef struct judged {
  audit_t *audit;
  const tb__ticks_t *ticks;
  int64_t begin_ns, end_ns;
  const uint8_t (*guids)[16];
  const tb_ros2_graph_endpoint_t *publishers;
  size_t publisher_count;
} judged_t;

static const char *publisher_name(const judged_t *judged, uint32_t index)
{
  const char *name = audit_node_of(judged->audit->view.snapshot, judged->guids[index]);
  return name ? name : "a program without a node";
}

/* The one that ticks; NULL: none, or several. */
static const char *only_publisher(const judged_t *judged)
{
  const tb_ros2_graph_snapshot_t *snapshot = judged->audit->view.snapshot;
  if (judged->ticks->publisher_count == 1) return audit_node_of(snapshot, judged->guids[0]);
  if (judged->ticks->publisher_count == 0 && judged->publisher_count == 1)
    return audit_owner_of(snapshot, &judged->publishers[0]);
  return NULL;
}

static tb__finding_input_t finding_of(const judged_t *judged, tb__rule_id_t rule)
{
  return (tb__finding_input_t){.rule = rule,
                               .kind = TB__SUBJECT_CLOCK,
                               .subject = judged->audit->clock_topic,
                               .cause = only_publisher(judged)};
}

static void find_several(const judged_t *judged)
{
  const tb__ticks_t *ticks = judged->ticks;
  uint32_t count = tb__ticks_simultaneous(ticks);
  tb__finding_input_t input = finding_of(judged, TB__RULE_CLOCK_TWO_PUBLISHERS);
  char detail[16];
  if (count < 2) return;
  snprintf(detail, sizeof detail, "%u", count);
  input.detail = detail;
  input.cause = NULL;
  for (uint32_t i = 0; i < ticks->publisher_count; i++) {
    const tb__tick_stream_t *stream = &ticks->publishers[i].stream;
    tb__findings_add(judged->audit->findings, &input,
                     "%s ticks at %.1f Hz; its last time is %.3f s", publisher_name(judged, i),
                     tb__tick_stream_rate(stream), SECONDS(stream->last_ns));
  }
}

static void find_double(const judged_t *judged)
{
  for (uint32_t i = 0; i < judged->ticks->publisher_count; i++) {
    const tb__tick_stream_t *stream = &judged->ticks->publishers[i].stream;
    tb__finding_input_t input = finding_of(judged, TB__RULE_CLOCK_TWO_STREAMS);
    if (!tb__tick_stream_is_double(stream)) continue;
    input.cause = audit_node_of(judged->audit->view.snapshot, judged->guids[i]);
    tb__findings_add(judged->audit->findings, &input,
                     "%s jumps back and forth between two times that are %.3f s apart",
                     publisher_name(judged, i), SECONDS(stream->apart_ns));
  }
}

/* The service of that type that a node of the graph has; NULL: none has. */
static const char *service_of(const audit_t *audit, const char *type)
{
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    if (endpoint->kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST && !endpoint->is_publisher &&
        strcmp(endpoint->type, type) == 0)
      return endpoint->name;
  }
  return NULL;
}

/* Whether the clock's server says that it is paused. */
static bool is_paused(const audit_t *audit)
{
  static const char simulation[] = "simulation_interfaces/srv/GetSimulationState";
  static const char player[] = "rosbag2_interfaces/srv/IsPaused";
  tb_duration_t limit = {ASK_NS};
  uint8_t state;
  const char *service = service_of(audit, simulation);
  if (service && audit_ask(audit, service, simulation, limit, &state))
    return state == SIMULATION_PAUSED || state == SIMULATION_STOPPED;
  const tb_ros2_graph_snapshot_t *snapshot = audit->view.snapshot;
  for (size_t i = 0; i < snapshot->endpoint_count; i++) {
    const tb_ros2_graph_endpoint_t *endpoint = &snapshot->endpoints[i];
    if (endpoint->kind == TB_ROS2_ENDPOINT_SERVICE_REQUEST && !endpoint->is_publisher &&
        strcmp(endpoint->type, player) == 0 && endpoint->node >= 0 &&
        audit->nodes[endpoint->node].role == AUDIT_ROLE_CLOCK &&
        audit_ask(audit, endpoint->name, player, limit, &state) && state == PAUSED_BYTE)
      return true;
  }
  return false;
}

static void find_stall(const judged_t *judged)
{
  const tb__tick_stream_t *all = &judged->ticks->all;
  tb__finding_input_t input = finding_of(judged, TB__RULE_CLOCK_STALL);
  int64_t limit_ns = tb__tick_stream_stall_limit(all, &judged->audit->limits);
  int64_t since_ns = all->first_ns ? all->last_arrival_ns : judged->begin_ns;
  int64_t silence_ns = judged->end_ns - since_ns;
  bool is_repeated = all->first_ns && judged->end_ns - all->heard_ns <= limit_ns;
  if (!judged->publisher_count || silence_ns <= limit_ns || is_repeated) return;
  if (all->ticks && !all->first_ns) return; /* clock-zero, clock-invalid */
  if (!tb_ros2_subscription_matched(judged->audit->clock.subscription)) return;
  if (is_paused(judged->audit)) return;
  if (all->first_ns)
    tb__findings_add(judged->audit->findings, &input, "no tick for %.1f s; the last one was %.3f s",
                     SECONDS(silence_ns), SECONDS(all->last_ns));
  else
    tb__findings_add(judged->audit->findings, &input,
                     "there is a publisher, and no tick came in %.1f s", SECONDS(silence_ns));
}

static void find_steps(const judged_t *judged)
{
  const tb__tick_stream_t *all = &judged->ticks->all;
  tb__findings_t *findings = judged->audit->findings;
  tb__finding_input_t backward = finding_of(judged, TB__RULE_CLOCK_BACKWARDS);
  tb__finding_input_t zero = finding_of(judged, TB__RULE_CLOCK_ZERO);
  tb__finding_input_t invalid = finding_of(judged, TB__RULE_CLOCK_INVALID);
  tb__finding_input_t gap = finding_of(judged, TB__RULE_CLOCK_GAP);
  if (all->kinds[TB__TICK_BACKWARD] && !is_double(judged->ticks))
    tb__findings_add(findings, &backward, "%" PRIu64 " times, by up to %.3f s; first at %.3f s",
                     all->kinds[TB__TICK_BACKWARD], SECONDS(all->backward_ns),
                     SECONDS(all->backward_at_ns));
  if (all->kinds[TB__TICK_ZERO])
    tb__findings_add(findings, &zero, "%" PRIu64 " of %" PRIu64 " ticks are 0",
                     all->kinds[TB__TICK_ZERO], all->ticks);
  if (all->kinds[TB__TICK_INVALID])
    tb__findings_add(
        findings, &invalid, "%" PRIu64 " of %" PRIu64 " ticks are no valid time, first %s",
        all->kinds[TB__TICK_INVALID], all->ticks, tb__invalid_time_text(all->invalid_ns).text);
  if (all->kinds[TB__TICK_GAP])
    tb__findings_add(findings, &gap, "%" PRIu64 " gaps, the longest of %.3f s after %.3f s",
                     all->kinds[TB__TICK_GAP], SECONDS(all->gap_ns), SECONDS(all->gap_at_ns));
}

audit_needed_rate_t audit_clock_needed_rate(const audit_t *audit)
{
  audit_needed_rate_t needed;
  double declared_hz = audit->has_manifest ? audit->manifest.clock.rate_hz : 0;
  double factor = tb__tick_stream_factor(&audit->clock.cut.ticks.all);
  snprintf(needed.text, sizeof needed.text, "%.10g", tb__contract_clock_rate(factor, declared_hz));
  return needed;
}

static void find_coarse(const judged_t *judged)
{
  const tb__tick_stream_t *all = &judged->ticks->all;
  tb__findings_t *findings = judged->audit->findings;
  tb__finding_input_t input = finding_of(judged, TB__RULE_CLOCK_RATE);
  audit_needed_rate_t needed = audit_clock_needed_rate(judged->audit);
  double rate_hz = tb__tick_stream_rate(all);
  if (all->usual_step_ns <= TB__CLOCK_COARSE_NS) return;
  input.detail = needed.text;
  tb__findings_add(findings, &input, "its steps are of %.3f s, at %.1f Hz and a factor of %.3f",
                   SECONDS(all->usual_step_ns), rate_hz, tb__tick_stream_factor(all));
  tb__findings_add_evidence(findings, "enough at this factor: %s Hz", needed.text);
  tb__findings_add_evidence(findings, "enough at this rate: a factor of %.3f",
                            rate_hz * SECONDS(TB__CLOCK_COARSE_NS));
}

clock_error_t audit_clock_error(const audit_t *audit)
{
  return clock_error_make(&audit->clock.cut.ticks.all, &audit->clock.cut.latency);
}

static void find_error(const judged_t *judged)
{
  const audit_t *audit = judged->audit;
  tb__finding_input_t input = finding_of(judged, TB__RULE_CLOCK_ERROR);
  int64_t allowed_ns = audit->manifest.max_error_ns;
  clock_error_t error = audit_clock_error(audit);
  if (!audit->has_manifest || !allowed_ns || error.rate_hz <= 0 || error.error_ns <= allowed_ns)
    return;
  tb__findings_add(audit->findings, &input,
                   "wrong by up to %.1f ms (factor %.3f x latency %.1f ms + one tick of %.1f ms), "
                   "allowed are %.1f ms",
                   1e3 * SECONDS(error.error_ns), error.factor, 1e3 * SECONDS(error.latency_ns),
                   1e3 * SECONDS(error.step_ns), 1e3 * SECONDS(allowed_ns));
  double rate_hz = clock_error_rate(&error, allowed_ns);
  if (rate_hz > 0)
    tb__findings_add_evidence(audit->findings, "enough at this factor: %.0f Hz", rate_hz);
  tb__findings_add_evidence(audit->findings, "enough at this rate: a factor of %.3f",
                            clock_error_factor(&error, allowed_ns));
}

void audit_clock_find(audit_t *audit)
{
  const struct audit_clock_cut *cut = &audit->clock.cut;
  judged_t judged = {.audit = audit,
                     .ticks = &cut->ticks,
                     .begin_ns = cut->begin_ns,
                     .end_ns = cut->end_ns,
                     .guids = cut->guids};
  judged.publisher_count =
      tb_ros2_graph_publishers(audit->view.snapshot, audit->clock_topic, &judged.publishers);
  find_several(&judged);
  find_double(&judged);
  find_stall(&judged);
  find_steps(&judged);
  find_coarse(&judged);
  find_error(&judged);
}
