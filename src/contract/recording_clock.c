/* What the statistics of /clock say is wrong. */
#include <stdio.h>

#include "contract/durations.h"
#include "contract/recording_judge.h"

static tb__finding_input_t of_clock(tb__rule_id_t rule)
{
  return (tb__finding_input_t){.rule = rule, .kind = TB__SUBJECT_CLOCK, .subject = "/clock"};
}

static void judge_streams_of_clock(tb__recording_judge_t *judge, const tb__tick_stream_t *all)
{
  const tb__recorded_topic_t *clock = tb__recording_topic(judge->recording, "/clock");
  char count[16];
  bool are_two = clock && clock->offer_count > 1;
  tb__finding_input_t input =
      of_clock(are_two ? TB__RULE_CLOCK_TWO_PUBLISHERS : TB__RULE_CLOCK_TWO_STREAMS);
  if (are_two) {
    snprintf(count, sizeof count, "%u", clock->offer_count);
    input.detail = count;
  }
  if (all->kinds[TB__TICK_SWITCH])
    tb__recording_judge_add(judge, &input,
                            "%llu of %llu ticks go on with another time than the tick before, "
                            "up to %s away",
                            (unsigned long long)all->kinds[TB__TICK_SWITCH],
                            (unsigned long long)all->ticks, tb__duration_text(all->apart_ns).text);
  else
    tb__recording_judge_add(
        judge, &input, "%llu of %llu ticks are before the tick before, by up to %s",
        (unsigned long long)all->kinds[TB__TICK_REORDERED], (unsigned long long)all->ticks,
        tb__duration_text(all->reordered_ns).text);
}

static void judge_jumps(tb__recording_judge_t *judge, const tb__tick_stream_t *all)
{
  tb__finding_input_t input = of_clock(TB__RULE_CLOCK_BACKWARDS);
  if (all->kinds[TB__TICK_BACKWARD])
    tb__recording_judge_add(judge, &input, "%llu jumps back, by up to %s, first at %s",
                            (unsigned long long)all->kinds[TB__TICK_BACKWARD],
                            tb__duration_text(all->backward_ns).text,
                            tb__moment_text(all->backward_at_ns).text);
  input = of_clock(TB__RULE_CLOCK_GAP);
  if (all->kinds[TB__TICK_SKIP])
    tb__recording_judge_add(judge, &input, "%llu jumps forward, by up to %s, the greatest at %s",
                            (unsigned long long)all->kinds[TB__TICK_SKIP],
                            tb__duration_text(all->skip_ns).text,
                            tb__moment_text(all->skip_at_ns).text);
  if (all->kinds[TB__TICK_GAP])
    tb__recording_judge_add(
        judge, &input, "%llu gaps, up to %s, the longest at %s; a usual step is %s",
        (unsigned long long)all->kinds[TB__TICK_GAP], tb__duration_text(all->gap_ns).text,
        tb__moment_text(all->gap_at_ns).text, tb__duration_text(all->usual_step_ns).text);
}

/* Against what the manifest declares. */
static void judge_rate(tb__recording_judge_t *judge, const tb__tick_stream_t *all)
{
  const tb__manifest_t *manifest = judge->recording->manifest;
  double rate = tb__tick_stream_rate(all), factor = tb__tick_stream_factor(all);
  tb__finding_input_t input = of_clock(TB__RULE_CLOCK_RATE);
  char needed[32];
  if (!manifest || rate <= 0) return;
  snprintf(needed, sizeof needed, "%.10g",
           tb__contract_clock_rate(factor, manifest->clock.rate_hz));
  input.detail = needed;
  double off = tb__manifest_rate_off(manifest, rate);
  if (off > manifest->limits.rate_error) input.severity = TB__SEVERITY_ERROR;
  if (off > manifest->limits.rate_warn)
    tb__recording_judge_add(judge, &input, "%.4g Hz, declared are %.4g Hz", rate,
                            manifest->clock.rate_hz);
  input.severity = 0;
  if (!tb__manifest_factor_fits(&manifest->clock, &manifest->limits, factor))
    tb__recording_judge_add(judge, &input,
                            "time advances by a factor of %.3f, declared is %.3f to %.3f", factor,
                            manifest->clock.factor_min, manifest->clock.factor_max);
}

void tb__recording_judge_clock(tb__recording_judge_t *judge)
{
  const tb__recording_t *recording = judge->recording;
  bool is_steady;
  const tb__tick_stream_t *all = &tb__recording_ticks(recording, &is_steady)->all;
  uint64_t zeros = all->kinds[TB__TICK_ZERO];
  tb__finding_input_t input = of_clock(TB__RULE_CLOCK_ZERO);
  /* A simulation may begin at 0. */
  if (recording->late_zeros || (zeros > 1 && !recording->has_clock))
    tb__recording_judge_add(judge, &input, "%llu of %llu ticks are 0%s", (unsigned long long)zeros,
                            (unsigned long long)all->ticks,
                            recording->has_clock ? ", also after others" : "");
  input = of_clock(TB__RULE_CLOCK_INVALID);
  if (all->kinds[TB__TICK_INVALID])
    tb__recording_judge_add(judge, &input, "%llu of %llu ticks are no valid time, first %s",
                            (unsigned long long)all->kinds[TB__TICK_INVALID],
                            (unsigned long long)all->ticks,
                            tb__invalid_time_text(all->invalid_ns).text);
  if (tb__tick_stream_is_double(all))
    judge_streams_of_clock(judge, all);
  else
    judge_jumps(judge, all);
  if (is_steady) judge_rate(judge, all);
  input = of_clock(TB__RULE_CLOCK_STALL);
  if (is_steady && all->stalls)
    tb__recording_judge_add(judge, &input, "%llu times without a tick, up to %s, the longest at %s",
                            (unsigned long long)all->stalls, tb__duration_text(all->stall_ns).text,
                            tb__moment_text(all->stall_at_ns).text);
}
