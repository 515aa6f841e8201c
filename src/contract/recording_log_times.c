/* What log times say is wrong with the clock of the host that recorded. */
#include <stdio.h>

#include "base/saturate.h"
#include "contract/durations.h"
#include "contract/recording_judge.h"

#define S INT64_C(1000000000)

/* Nothing is recorded for so long without an end of the recording: the clock was set. */
#define STEP_SURE_NS (3600 * S)
/* Before it no host with ROS had a right clock. */
#define YEAR_2000_NS (INT64_C(946684800) * S)
/* Stamps of ROS 2 end here. */
#define LAST_STAMP_NS (INT64_C(2147483647) * S)

/* A topic has a rate if it has so many messages, and a silence is as long as so many of its
 * periods.
 */
enum { REGULAR_AT_LEAST = 10, SILENT_PERIODS = 10 };

static bool is_regular(const tb__recorded_topic_t *topic, int64_t silence_ns)
{
  const tb__moments_t *gap = &topic->gap;
  if (topic->is_latched || topic->role == TB__RECORDED_OWN || gap->count < REGULAR_AT_LEAST)
    return false;
  double others_ns = gap->mean_ns * (double)gap->count - (double)gap->max_ns;
  return gap->max_ns >= silence_ns &&
         others_ns * SILENT_PERIODS <= (double)silence_ns * (double)(gap->count - 1);
}

/* Topics that are regular and fell silent together. */
static uint32_t count_silent(const tb__recording_t *recording)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < recording->topic_count; i++)
    count += is_regular(&recording->topics[i], recording->silence_ns);
  return count;
}

/* A start that is early: "1700000012.345". Rounded up, so that nothing of the time before is in it.
 */
static tb__time_text_t start_text(int64_t ns)
{
  return tb__moment_text(tb__add_saturated(ns, 1000000));
}

/* The recorder noted that it was paused: that is recording-paused. */
static bool was_paused(const tb__recording_t *recording)
{
  int64_t begin_ns = recording->silence_at_ns,
          end_ns = tb__add_saturated(begin_ns, recording->silence_ns);
  for (size_t i = 0; recording->made.is_system_time && i < recording->made.count; i++) {
    const tb__made_t *item = &recording->made.items[i];
    if (item->rule == TB__RULE_RECORDING_PAUSED && item->from_ns < end_ns &&
        item->end_ns > begin_ns)
      return true;
  }
  return false;
}

static tb__finding_input_t step_after(const tb__time_text_t *time)
{
  return (tb__finding_input_t){.rule = TB__RULE_SYSTEM_STEP,
                               .kind = TB__SUBJECT_RECORDING,
                               .subject = "log times",
                               .detail = time->text};
}

static void judge_silence(tb__recording_judge_t *judge)
{
  const tb__recording_t *recording = judge->recording;
  int64_t silence_ns = recording->silence_ns, at_ns = recording->silence_at_ns;
  uint32_t count = count_silent(recording);
  tb__time_text_t after = start_text(at_ns);
  if (was_paused(recording)) return;
  if (silence_ns > STEP_SURE_NS && count > 0) {
    tb__finding_input_t input = step_after(&after);
    tb__recording_judge_add(judge, &input,
                            "forward by %s at %s, on all topics: the system clock was set, or "
                            "nothing was recorded for so long",
                            tb__duration_text(silence_ns).text, tb__moment_text(at_ns).text);
  } else if (silence_ns > recording->limits.silence_ns && count > 1 && !recording->has_clock) {
    tb__finding_input_t input = {
        .rule = TB__RULE_RECORDING_SILENT, .kind = TB__SUBJECT_RECORDING, .subject = "all topics"};
    tb__recording_judge_add(judge, &input,
                            "no message for %s after %s, though %u topics are regular: the "
                            "recorder or its host did not run, or the system clock was set forward",
                            tb__duration_text(silence_ns).text, tb__moment_text(at_ns).text, count);
  }
}

static void judge_steps_back(tb__recording_judge_t *judge)
{
  const tb__recording_t *recording = judge->recording;
  const tb__recorded_topic_t *most = NULL;
  uint32_t count = 0, topics = 0;
  for (uint32_t i = 0; i < recording->topic_count; i++) {
    const tb__recorded_topic_t *topic = &recording->topics[i];
    topics += topic->messages > 1;
    if (topic->back_ns <= recording->limits.system_step_ns) continue;
    if (!most || topic->back_ns > most->back_ns) most = topic;
    count++;
  }
  if (!most) return;
  tb__time_text_t after = start_text(most->back_at_ns);
  tb__finding_input_t input = step_after(&after);
  tb__recording_judge_add(judge, &input,
                          "back by %s at %s, on %u of %u topics: the system clock was set, and "
                          "messages from before and after it are between each other",
                          tb__duration_text(most->back_ns).text,
                          tb__moment_text(most->back_at_ns).text, count, topics);
}

static void judge_range(tb__recording_judge_t *judge)
{
  const tb__recording_t *recording = judge->recording;
  tb__finding_input_t input = {
      .rule = TB__RULE_LOG_TIME_RANGE, .kind = TB__SUBJECT_RECORDING, .subject = "log times"};
  if (recording->log_zeros && recording->end_ns > YEAR_2000_NS)
    tb__recording_judge_add(judge, &input, "%llu of %llu are 0",
                            (unsigned long long)recording->log_zeros,
                            (unsigned long long)recording->messages);
  if (recording->end_ns > LAST_STAMP_NS)
    tb__recording_judge_add(judge, &input,
                            "up to %s: after 2147483647 (2038-01-19), where stamps of ROS 2 end",
                            tb__moment_text(recording->end_ns).text);
}

/* Either of two things, and the recording does not show which. */
static void judge_early(tb__recording_judge_t *judge)
{
  const tb__recording_t *recording = judge->recording;
  tb__finding_input_t input = {.rule = TB__RULE_LOG_TIME_RANGE,
                               .severity = TB__SEVERITY_NOTE,
                               .kind = TB__SUBJECT_RECORDING,
                               .subject = "log times"};
  if (recording->end_ns - recording->start_ns < S || recording->provenance.is_declared ||
      recording->has_clock || recording->awaits_clock || recording->run_count ||
      recording->end_ns > YEAR_2000_NS)
    return;
  tb__recording_judge_add(judge, &input,
                          "from %s to %s: of a host whose clock was not set, or of simulated time "
                          "whose /clock is not in the recording",
                          tb__moment_text(recording->start_ns).text,
                          tb__moment_text(recording->end_ns).text);
}

void tb__recording_judge_log_times(tb__recording_judge_t *judge)
{
  if (judge->recording->provenance.log_time == TB__LOG_TIME_ROS) {
    judge_early(judge);
    return;
  }
  judge_silence(judge);
  judge_steps_back(judge);
  judge_range(judge);
}
