#include "measure/readiness.h"

#include <math.h>

#define OBSERVE_NS       INT64_C(100000000)
#define OBSERVE_RATE_NS  INT64_C(1000000000) /* the ends of an observation are known to a sample */
#define PAUSE_NS         INT64_C(10000000)
#define PAUSE_WAITING_NS INT64_C(50000000) /* a first tick is announced */
#define TICKS            2

static bool is_bounds(double least, double greatest)
{
  return least >= 0 && greatest >= 0 && isfinite(least) && isfinite(greatest) &&
         (greatest <= 0 || least <= greatest);
}

static bool asks_for_rate(const tb_ready_options_t *options)
{
  return options->min_rate_hz > 0 || options->max_rate_hz > 0 || options->min_factor > 0 ||
         options->max_factor > 0;
}

bool tb__readiness_init(tb__readiness_t *readiness, const tb_ready_options_t *options)
{
  *readiness =
      (tb__readiness_t){.result.reason = TB_READY_OBSERVING, .verdict = TB_READY_OBSERVING};
  tb_ready_options_t *own = &readiness->options;
  if (options) *own = *options;
  if (!is_bounds(own->min_rate_hz, own->max_rate_hz) ||
      !is_bounds(own->min_factor, own->max_factor) || own->observe.ns < 0 || own->ticks == 1)
    return false;
  bool rate = asks_for_rate(own);
  own->running = own->running || rate || own->ticks || own->observe.ns;
  if (!own->ticks) own->ticks = TICKS;
  if (!own->observe.ns) own->observe.ns = rate ? OBSERVE_RATE_NS : OBSERVE_NS;
  readiness->result.min_rate_hz = own->min_rate_hz;
  readiness->result.max_rate_hz = own->max_rate_hz;
  readiness->result.min_factor = own->min_factor;
  readiness->result.max_factor = own->max_factor;
  return true;
}

int64_t tb__readiness_pause_ns(const tb__readiness_t *readiness)
{
  return readiness->in_view ? PAUSE_NS : PAUSE_WAITING_NS;
}

/* TB_READY: time has started. */
static tb_ready_reason_t reason_of_state(const tb_clock_reading_t *reading)
{
  switch (reading->state) {
  case TB_CLOCK_RUNNING:
  case TB_CLOCK_PAUSED:
    return reading->time.ns ? TB_READY : TB_READY_ZERO;
  case TB_CLOCK_NO_PUBLISHER:
    return TB_READY_NO_PUBLISHER;
  case TB_CLOCK_QOS_MISMATCH:
    return TB_READY_QOS;
  case TB_CLOCK_WAITING:
    return TB_READY_ZERO;
  case TB_CLOCK_STALLED:
    return reading->time.ns ? TB_READY_STALLED : TB_READY_ZERO;
  case TB_CLOCK_LOST:
    return TB_READY_LOST;
  case TB_CLOCK_INACTIVE:
  case TB_CLOCK_NO_SOURCE:
  case TB_CLOCK_CLOSED:
    break;
  }
  return TB_READY_NO_SOURCE;
}

/* Times since the last sample that the clock had. A tick that did not move time repeated one. Of
 * time that runs by itself only those that were sampled are known. */
static uint64_t moves_to(const tb__ready_sample_t *last, const tb__ready_sample_t *sample)
{
  if (sample->reading.time.ns == last->reading.time.ns) return 0;
  if (sample->counts.runs) return 1;
  uint64_t ticks = sample->counts.ticks - last->counts.ticks;
  uint64_t repeats = sample->counts.repeats - last->counts.repeats;
  return ticks > repeats ? ticks - repeats : 1;
}

/* Ticks of the observation that moved time. Where time runs by itself each of them does, and none
 * may have come. */
static uint64_t ticks_to(const tb__readiness_t *readiness, const tb__ready_sample_t *sample)
{
  const tb__tick_counts_t *first = &readiness->first.counts, *last = &sample->counts;
  return first->runs || last->runs ? last->ticks - first->ticks : readiness->moves;
}

static void begin(tb__readiness_t *readiness, const tb__ready_sample_t *sample, bool anchored)
{
  readiness->in_view = true;
  readiness->anchored = anchored;
  readiness->moves = 0;
  readiness->first = readiness->last = *sample;
}

static bool is_below(double value, double least)
{
  return least > 0 && value < least;
}

static bool is_above(double value, double greatest)
{
  return greatest > 0 && value > greatest;
}

/* Of a complete observation. */
static tb_ready_reason_t judge(const tb_ready_options_t *options, const tb_ready_result_t *result)
{
  if (is_below(result->rate_hz, options->min_rate_hz) ||
      is_below(result->factor, options->min_factor))
    return TB_READY_SLOW;
  if (is_above(result->rate_hz, options->max_rate_hz) ||
      is_above(result->factor, options->max_factor))
    return TB_READY_FAST;
  return TB_READY;
}

/* `first` and the sample are just after ticks, which were seen late by a pause at most. */
static tb_ready_reason_t observe(tb__readiness_t *readiness, const tb__ready_sample_t *sample)
{
  const tb_ready_options_t *options = &readiness->options;
  tb_ready_result_t *result = &readiness->result;
  uint64_t moves = moves_to(&readiness->last, sample);
  readiness->last = *sample;
  if (moves && !readiness->anchored) {
    begin(readiness, sample, true);
    moves = 0;
  }
  readiness->moves += moves;
  int64_t observed_ns = sample->steady_ns - readiness->first.steady_ns;
  bool enough = readiness->moves + 1 >= options->ticks && readiness->anchored;
  if (readiness->verdict == TB_READY_OBSERVING && !enough && observed_ns >= options->observe.ns)
    return TB_READY_SLOW;
  if (!moves || !enough || observed_ns < options->observe.ns) return readiness->verdict;
  double seconds = (double)observed_ns / 1e9;
  int64_t passed_ns = sample->reading.time.ns - readiness->first.reading.time.ns;
  result->ticks = readiness->moves + 1;
  result->observed.ns = observed_ns;
  result->rate_hz = (double)ticks_to(readiness, sample) / seconds;
  result->factor = (double)passed_ns / (double)observed_ns;
  readiness->went_back = false;
  begin(readiness, sample, true); /* if it is not ready, it is observed again */
  readiness->verdict = judge(options, result);
  return readiness->verdict;
}

/* Whether the sample continues the last one. */
static bool continues(tb__readiness_t *readiness, const tb__ready_sample_t *sample)
{
  const tb__ready_sample_t *last = &readiness->last;
  bool same = sample->counts.timeline == last->counts.timeline;
  uint64_t back = same ? sample->counts.jumps_backward - last->counts.jumps_backward : 0;
  bool went_back = back || (same && sample->reading.time.ns < last->reading.time.ns);
  readiness->result.jumps_backward += back ? back : went_back;
  if (went_back) readiness->went_back = true;
  return same && !went_back && sample->reading.epoch == last->reading.epoch;
}

/* Time has started and has to advance. */
static tb_ready_reason_t look_on(tb__readiness_t *readiness, const tb__ready_sample_t *sample,
                                 bool goes_on)
{
  bool paused = sample->reading.state == TB_CLOCK_PAUSED;
  if (!goes_on || paused) {
    begin(readiness, sample, false);
    readiness->verdict = TB_READY_OBSERVING;
  }
  readiness->in_view = true;
  if (paused) return TB_READY_PAUSED;
  tb_ready_reason_t reason = goes_on ? observe(readiness, sample) : TB_READY_OBSERVING;
  return reason && readiness->went_back ? TB_READY_BACKWARDS : reason;
}

static tb_ready_reason_t look(tb__readiness_t *readiness, const tb__ready_sample_t *sample)
{
  tb_ready_reason_t reason = reason_of_state(&sample->reading);
  bool goes_on = readiness->in_view && continues(readiness, sample);
  if (reason == TB_READY_STALLED && goes_on) { /* a slow clock may be so between its ticks */
    observe(readiness, sample);
    return reason;
  }
  readiness->in_view = false;
  if (reason) return reason;
  return readiness->options.running ? look_on(readiness, sample, goes_on) : TB_READY;
}

bool tb__readiness_add(tb__readiness_t *readiness, const tb__ready_sample_t *sample)
{
  tb_ready_result_t *result = &readiness->result;
  result->state = sample->reading.state;
  result->time = sample->reading.time;
  result->epoch = sample->reading.epoch;
  result->reason = look(readiness, sample);
  return result->reason == TB_READY;
}
