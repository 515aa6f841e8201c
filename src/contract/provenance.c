/* What log times are: declared by the recorder, or inferred. */
#include <stdio.h>
#include <string.h>

#include "contract/durations.h"
#include "contract/recording.h"

#define S            INT64_C(1000000000)
#define NEAR_NS      (10 * S) /* clocks of one graph are not further apart */
#define TICK_NEAR_NS (S / 10)
#define TEN_YEARS_NS (INT64_C(315360000) * S)

const char *tb__log_time_text(tb__log_time_t log_time)
{
  static const char *const texts[] = {"unknown", "system time at reception",
                                      "system time at sending", "system time", "ROS time"};
  return texts[(unsigned)log_time <= TB__LOG_TIME_ROS ? log_time : 0];
}

static int64_t size_of(int64_t ns)
{
  return ns < 0 ? -ns : ns;
}

static void infer(tb__provenance_t *out, tb__log_time_t log_time, double confidence,
                  const char *why, int64_t by_ns)
{
  out->log_time = log_time;
  out->confidence = confidence;
  snprintf(out->why, sizeof out->why, why, tb__duration_text(by_ns).text);
}

/* How far publish times are from log times. */
static int64_t usual_travel(const tb__recording_t *recording, bool *out_is_known)
{
  const tb__spread_t *most = NULL;
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    const tb__spread_t *travel = recording->topics[i].travel;
    if (travel && (!most || travel->moments.count > most->moments.count)) most = travel;
  }
  *out_is_known = most != NULL;
  return most ? tb__spread_quantile(most, 0.5) : 0;
}

static void infer_by_ticks(const tb__recording_t *recording, tb__provenance_t *out,
                           bool knows_travel, int64_t travel_ns)
{
  int64_t step_ns = recording->ticks.all.usual_step_ns;
  int64_t near_ns = 2 * step_ns > TICK_NEAR_NS ? 2 * step_ns : TICK_NEAR_NS;
  int64_t off_ns = tb__spread_quantile(&recording->tick_off, 0.5);
  if (size_of(off_ns) > near_ns)
    infer(out, recording->sent_known ? TB__LOG_TIME_RECEIVED : TB__LOG_TIME_SYSTEM, 0.95,
          "log times are %s off the ticks of /clock that were received at them", off_ns);
  else if (knows_travel && size_of(travel_ns) > NEAR_NS)
    infer(out, TB__LOG_TIME_ROS, 0.99,
          "log times are those of the ticks of /clock, and %s off the publish times", travel_ns);
  else if (knows_travel)
    infer(out, TB__LOG_TIME_RECEIVED, 0.6,
          "log times fit the ticks of /clock (to %s) and the publish times: ROS time was system "
          "time",
          off_ns);
  else
    infer(out, TB__LOG_TIME_ROS, 0.8, "log times are those of the ticks of /clock, to %s", off_ns);
}

static void infer_without_ticks(const tb__recording_t *recording, tb__provenance_t *out,
                                bool knows_travel, int64_t travel_ns)
{
  bool is_of_our_days = recording->start_ns > TEN_YEARS_NS;
  if (recording->run_count)
    infer(out, TB__LOG_TIME_ROS, 0.95, "log times start again in a further run", 0);
  else if (knows_travel && size_of(travel_ns) > NEAR_NS)
    infer(out, TB__LOG_TIME_ROS, 0.9, "log times are %s off the publish times", travel_ns);
  else if (knows_travel && recording->sent_same < recording->sent_known)
    infer(out, TB__LOG_TIME_RECEIVED, 0.9, "log times are %s after the publish times", travel_ns);
  else if (is_of_our_days)
    infer(out, TB__LOG_TIME_SYSTEM, 0.7,
          knows_travel ? "log times and publish times are the same, and begin %s after 1970"
                       : "log times begin %s after 1970, and there is no /clock",
          recording->start_ns);
  else
    infer(out, TB__LOG_TIME_ROS, 0.6, "log times begin %s after 1970", recording->start_ns);
}

void tb__recording_finish(tb__recording_t *recording)
{
  tb__provenance_t *out = &recording->provenance;
  bool knows_travel;
  int64_t travel_ns = usual_travel(recording, &knows_travel);
  const tb__recorded_topic_t *jumps = tb__recording_topic(recording, "/timebase/jumps");
  tb__ticks_end(&recording->ticks, recording->end_ns);
  if (recording->sent_ticks.all.ticks)
    tb__ticks_end(&recording->sent_ticks, recording->sent_ticks.all.heard_ns);
  tb__tf_cover_end(&recording->cover);
  memset(out, 0, sizeof *out);
  if (recording->messages == 0) {
    snprintf(out->why, sizeof out->why, "there are no messages");
  } else if (recording->declares_ros_time || (jumps && jumps->messages)) {
    infer(out, TB__LOG_TIME_ROS, 1, "the recorder noted the jumps of its clock", 0);
    out->is_declared = true;
  } else if (recording->by_points) {
    infer(out, recording->by_points, 1, "the recorder read all clocks beside them", 0);
    out->is_declared = true;
  } else if (recording->made.is_system_time) {
    infer(out, recording->made.is_of_sending ? TB__LOG_TIME_SENT : TB__LOG_TIME_RECEIVED, 1,
          "the recorder noted it", 0);
    out->is_declared = true;
  } else if (recording->has_clock) {
    infer_by_ticks(recording, out, knows_travel, travel_ns);
  } else {
    infer_without_ticks(recording, out, knows_travel, travel_ns);
  }
}

const tb__ticks_t *tb__recording_ticks(const tb__recording_t *recording, bool *out_is_steady)
{
  bool is_ros = recording->provenance.log_time == TB__LOG_TIME_ROS;
  bool has_sent = recording->sent_ticks.all.ticks > 0 &&
                  recording->sent_ticks.all.ticks == recording->ticks.all.ticks &&
                  recording->sent_same < recording->sent_known;
  *out_is_steady = !is_ros || has_sent;
  return is_ros && has_sent ? &recording->sent_ticks : &recording->ticks;
}
