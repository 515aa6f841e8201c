/* The level of a topic: rises at once, falls after some good intervals. */
#include "measure/statistics.h"

#define RATE_WARN  0.1
#define RATE_ERROR 0.5
#define EXPECTED_LEAST                                                                             \
  5.0 /* messages by which a rate is judged: slow topics take several intervals */

static void raise(tb__verdict_t *verdict, tb_level_t level, const char *reason)
{
  if (level > verdict->level) *verdict = (tb__verdict_t){level, reason};
}

/* One message more or less is no fault, wherever an interval begins. */
static tb__verdict_t judge_rate(double expected, double received)
{
  double off = received - expected, size = off < 0 ? -off : off;
  if (received <= 0) return (tb__verdict_t){TB_LEVEL_ERROR, "no messages"};
  if (size <= 1 || size <= expected * RATE_WARN) return (tb__verdict_t){TB_LEVEL_OK, ""};
  tb_level_t level = size > expected * RATE_ERROR ? TB_LEVEL_ERROR : TB_LEVEL_WARN;
  return (tb__verdict_t){level, off < 0 ? "the rate is too low" : "the rate is too high"};
}

/* Time that is stopped expects nothing; after a jump it is counted from scratch. */
static void add_to_rate(tb__level_state_t *state, const tb_topic_summary_t *summary,
                        double expected_rate_hz, int64_t clock_ns)
{
  if (expected_rate_hz <= 0) return;
  if (clock_ns < 0) {
    state->expected = state->received = 0;
    return;
  }
  state->expected += expected_rate_hz * (double)clock_ns / 1e9;
  state->received += (double)summary->interval.messages;
  if (state->expected < EXPECTED_LEAST) return;
  state->rate = judge_rate(state->expected, state->received);
  state->expected = state->received = 0;
}

static tb__verdict_t judge(const tb__level_state_t *state, const tb_topic_summary_t *summary,
                           const tb_topic_statistics_options_t *options,
                           const tb_histogram_stats_t *age)
{
  tb__verdict_t verdict = {TB_LEVEL_OK, ""};
  bool aged = age->count > 0;
  if (aged && age->greatest.ns > options->max_age.ns)
    raise(&verdict, TB_LEVEL_ERROR, "messages are too old");
  if (aged && age->least.ns < options->min_age.ns)
    raise(&verdict, TB_LEVEL_ERROR, "stamps are too far in the future");
  raise(&verdict, state->rate.level, state->rate.reason);
  if (summary->interval.zero_stamps) raise(&verdict, TB_LEVEL_WARN, "stamps are zero");
  if (summary->interval.future) raise(&verdict, TB_LEVEL_WARN, "stamps are in the future");
  return verdict;
}

void tb__level_settle(tb__level_state_t *state, tb__verdict_t verdict, uint32_t good_windows)
{
  if (verdict.level >= state->now.level) {
    state->now = verdict;
    state->good = 0;
    return;
  }
  if (state->good == 0 || verdict.level >= state->highest.level) state->highest = verdict;
  if (++state->good < good_windows) return;
  state->now = state->highest;
  state->good = 0;
}

void tb__topic_judge(tb__level_state_t *state, tb_topic_summary_t *summary,
                     const tb_topic_statistics_options_t *options, const tb_histogram_stats_t *age,
                     int64_t clock_ns, uint32_t good_windows)
{
  add_to_rate(state, summary, options->expected_rate_hz, clock_ns);
  tb__level_settle(state, judge(state, summary, options, age), good_windows);
  summary->level = state->now.level;
  summary->reason = state->now.reason;
}
