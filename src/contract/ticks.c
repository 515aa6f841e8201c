#include "contract/ticks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
  LATE_PERIODS = 5,      /* a late tick is within so many periods */
  LATE_AT_MOST = 3,      /* so many late ticks in a row are not late: time was set back */
  STEPS_TO_BE_USUAL = 4, /* before there are so many, medians say nothing */
  SWITCHES_OF_TWO = 4,   /* there and back, twice */
  REORDERED_OF_TWO = 20,
  REORDERED_SHARE = 10,
  HANDOVERS_OF_TWO = 3,
};

static int64_t minus(int64_t a, int64_t b)
{
  int64_t result;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return a < b ? INT64_MIN : INT64_MAX;
}

static int64_t plus(int64_t a, int64_t b)
{
  int64_t result;
  return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}

static int64_t longer(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static int64_t times(int64_t value, int64_t count)
{
  int64_t result;
  return __builtin_mul_overflow(value, count, &result) ? INT64_MAX : result;
}

void tb__ticks_init(tb__ticks_t *ticks, const tb__contract_limits_t *limits, bool has_steady)
{
  memset(ticks, 0, sizeof *ticks);
  ticks->limits = limits ? *limits : tb__contract_limits_default();
  ticks->has_steady = has_steady;
}

void tb__ticks_init_after(tb__ticks_t *ticks, const tb__ticks_t *before)
{
  tb__ticks_init(ticks, &before->limits, before->has_steady);
  for (uint32_t i = 0; i < before->publisher_count; i++) {
    const tb__tick_publisher_t *publisher = &before->publishers[i];
    if (publisher->id != before->last_publisher || !publisher->stream.first_ns) continue;
    tb__ticks_feed(ticks, publisher->id, publisher->stream.last_ns,
                   publisher->stream.last_arrival_ns);
    ticks->publishers[0].stream.heard_ns = publisher->stream.heard_ns;
    ticks->all.heard_ns = before->all.heard_ns; /* repeats, while it is paused, are no silence */
  }
  ticks->all.epoch = before->all.epoch;
}

int64_t tb__tick_stream_stall_limit(const tb__tick_stream_t *stream,
                                    const tb__contract_limits_t *limits)
{
  return tb__contract_stall_ns(limits, stream->usual_wait_ns);
}

/* Of simulated time. */
static int64_t gap_limit(const tb__tick_stream_t *stream, const tb__contract_limits_t *limits)
{
  return tb__contract_stall_ns(limits, stream->usual_step_ns);
}

/* A step back is small within a few periods: what a best-effort reader gets out of order. */
static int64_t reorder_limit(const tb__tick_stream_t *stream)
{
  return times(stream->usual_step_ns, LATE_PERIODS);
}

static int compare_ns(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t middle_of(const int64_t *values, size_t count)
{
  int64_t sorted[TB__TICK_STEPS];
  memcpy(sorted, values, count * sizeof *values);
  qsort(sorted, count, sizeof *sorted, compare_ns);
  return sorted[count / 2];
}

static void count_stall(tb__tick_stream_t *stream, int64_t silence_ns, int64_t at_ns)
{
  stream->stalls++;
  if (silence_ns <= stream->stall_ns) return;
  stream->stall_ns = silence_ns;
  stream->stall_at_ns = at_ns;
}

static void note_step(tb__tick_stream_t *stream, const tb__contract_limits_t *limits,
                      int64_t step_ns, int64_t wait_ns)
{
  stream->run_ns = plus(stream->run_ns, step_ns);
  stream->run_arrival_ns = plus(stream->run_arrival_ns, wait_ns);
  stream->run_steps++;
  tb__moments_add(&stream->wait, wait_ns);
  stream->steps[stream->next_step % TB__TICK_STEPS] = step_ns;
  stream->waits[stream->next_step % TB__TICK_STEPS] = wait_ns;
  stream->next_step++;
  if (stream->next_step == 2 * TB__TICK_STEPS) stream->next_step = TB__TICK_STEPS;
  if (stream->next_step < STEPS_TO_BE_USUAL || stream->next_step % STEPS_TO_BE_USUAL) return;
  size_t count = stream->next_step < TB__TICK_STEPS ? stream->next_step : TB__TICK_STEPS;
  stream->usual_step_ns = middle_of(stream->steps, count);
  stream->usual_wait_ns = middle_of(stream->waits, count);
  if (stream->early_ns > tb__tick_stream_stall_limit(stream, limits))
    count_stall(stream, stream->early_ns, stream->early_at_ns);
  stream->early_ns = 0;
}

static void move_to(tb__tick_stream_t *stream, int64_t tick_ns, int64_t arrival_ns)
{
  stream->last_ns = tick_ns;
  stream->last_arrival_ns = arrival_ns;
  stream->silence_ns = 0;
  stream->late_count = 0;
}

/* The track that a tick continues, unless it is an ordinary step from the last tick: it comes a
 * short time after where that one was left, and is nearer to it than to the last tick. */
static tb__tick_track_t *track_of(tb__tick_stream_t *stream, const tb__contract_limits_t *limits,
                                  int64_t tick_ns, int64_t arrival_ns)
{
  int64_t off_ns = minus(tick_ns, stream->last_ns);
  if (off_ns >= 0 && off_ns <= reorder_limit(stream)) return NULL;
  if (off_ns < 0) off_ns = off_ns == INT64_MIN ? INT64_MAX : -off_ns;
  for (int i = 0; i < TB__TICK_TRACKS; i++) {
    tb__tick_track_t *track = &stream->tracks[i];
    int64_t step_ns = minus(tick_ns, track->tick_ns);
    if (track->is_set && step_ns >= 0 && step_ns < off_ns / 2 &&
        step_ns <= gap_limit(stream, limits) &&
        minus(arrival_ns, track->arrival_ns) <= tb__tick_stream_stall_limit(stream, limits))
      return track;
  }
  return NULL;
}

/* Where the ticks were until now; the oldest such place is forgotten. */
static void leave_track(tb__tick_stream_t *stream, tb__tick_kind_t left_by)
{
  tb__tick_track_t *track = &stream->tracks[0];
  for (int i = 1; i < TB__TICK_TRACKS && track->is_set; i++)
    if (!stream->tracks[i].is_set || stream->tracks[i].arrival_ns < track->arrival_ns)
      track = &stream->tracks[i];
  *track = (tb__tick_track_t){.is_set = true,
                              .tick_ns = stream->last_ns,
                              .arrival_ns = stream->last_arrival_ns,
                              .left_by = left_by};
}

/* The jump that left the track was the first switch. */
static void switch_to(tb__tick_stream_t *stream, tb__tick_track_t *track, int64_t tick_ns,
                      int64_t arrival_ns)
{
  if (!track->was_switched && stream->kinds[track->left_by] > 0) {
    stream->kinds[track->left_by]--;
    stream->kinds[TB__TICK_SWITCH]++;
  }
  int64_t off_ns = minus(longer(tick_ns, stream->last_ns),
                         tick_ns < stream->last_ns ? tick_ns : stream->last_ns);
  stream->apart_ns = longer(stream->apart_ns, off_ns);
  *track = (tb__tick_track_t){.is_set = true,
                              .was_switched = true,
                              .tick_ns = stream->last_ns,
                              .arrival_ns = stream->last_arrival_ns,
                              .left_by = track->left_by};
  move_to(stream, tick_ns, arrival_ns);
}

static tb__tick_kind_t jump_back(tb__tick_stream_t *stream, int64_t tick_ns, int64_t arrival_ns)
{
  int64_t back_ns = minus(stream->last_ns, tick_ns);
  if (stream->kinds[TB__TICK_BACKWARD] == 0) stream->backward_at_ns = stream->last_ns;
  stream->backward_ns = longer(stream->backward_ns, back_ns);
  stream->epoch = (tb__epoch_t){stream->epoch.number + 1, stream->last_ns, tick_ns};
  leave_track(stream, TB__TICK_BACKWARD);
  move_to(stream, tick_ns, arrival_ns);
  return TB__TICK_BACKWARD;
}

/* A late tick is followed by higher ones. If instead those that follow go on from it, time was set
 * back by a little. */
static tb__tick_kind_t step_back(tb__tick_stream_t *stream, int64_t tick_ns, int64_t arrival_ns)
{
  int64_t back_ns = minus(stream->last_ns, tick_ns);
  if (back_ns > reorder_limit(stream)) return jump_back(stream, tick_ns, arrival_ns);
  bool goes_on = stream->late_count > 0 && tick_ns > stream->late_ns;
  if (goes_on || stream->late_count == LATE_AT_MOST) {
    uint64_t late = stream->late_count;
    stream->kinds[TB__TICK_REORDERED] -=
        late < stream->kinds[TB__TICK_REORDERED] ? late : stream->kinds[TB__TICK_REORDERED];
    return jump_back(stream, tick_ns, arrival_ns);
  }
  stream->late_count++;
  stream->late_ns = tick_ns;
  stream->late_arrival_ns = arrival_ns;
  stream->reordered_ns = longer(stream->reordered_ns, back_ns);
  return TB__TICK_REORDERED;
}

/* No distinct tick for `wait_ns`: a pause if repeats came all the time. True if it was either. */
static bool note_wait(tb__tick_stream_t *stream, const tb__contract_limits_t *limits,
                      int64_t wait_ns, int64_t arrival_ns)
{
  int64_t limit_ns = tb__tick_stream_stall_limit(stream, limits);
  if (wait_ns <= limit_ns) return false;
  int64_t silence_ns = longer(stream->silence_ns, minus(arrival_ns, stream->heard_ns));
  if (silence_ns <= limit_ns) {
    stream->pauses++;
    stream->pause_ns = plus(stream->pause_ns, wait_ns);
    return true;
  }
  if (stream->usual_wait_ns) {
    count_stall(stream, silence_ns, stream->last_ns);
    return true;
  }
  if (silence_ns > stream->early_ns) { /* the clock may be as slow as that */
    stream->early_ns = silence_ns;
    stream->early_at_ns = stream->last_ns;
  }
  return false;
}

static tb__tick_kind_t step_forward(tb__tick_stream_t *stream, const tb__ticks_t *ticks,
                                    int64_t tick_ns, int64_t arrival_ns)
{
  int64_t step_ns = minus(tick_ns, stream->last_ns);
  int64_t wait_ns = minus(arrival_ns, stream->last_arrival_ns);
  tb__tick_kind_t kind = TB__TICK_FORWARD;
  bool may_be_slow = ticks->has_steady && !stream->usual_step_ns && wait_ns >= step_ns / 2;
  if (step_ns > gap_limit(stream, &ticks->limits) && !may_be_slow) {
    /* At the usual factor the step takes step * wait / usual step. */
    double due_ns = stream->usual_step_ns > 0 ? (double)step_ns / (double)stream->usual_step_ns *
                                                    (double)stream->usual_wait_ns
                                              : (double)step_ns;
    bool was_sudden = ticks->has_steady && (double)wait_ns < due_ns / 2;
    if (was_sudden) note_wait(stream, &ticks->limits, wait_ns, arrival_ns);
    kind = was_sudden ? TB__TICK_SKIP : TB__TICK_GAP;
    int64_t *greatest_ns = was_sudden ? &stream->skip_ns : &stream->gap_ns;
    int64_t *at_ns = was_sudden ? &stream->skip_at_ns : &stream->gap_at_ns;
    if (step_ns > *greatest_ns) {
      *greatest_ns = step_ns;
      *at_ns = stream->last_ns;
    }
    leave_track(stream, TB__TICK_SKIP);
  } else if (!ticks->has_steady || !note_wait(stream, &ticks->limits, wait_ns, arrival_ns)) {
    note_step(stream, &ticks->limits, step_ns, wait_ns);
  }
  if (kind != TB__TICK_SKIP && step_ns > stream->longest_step_ns) stream->longest_step_ns = step_ns;
  move_to(stream, tick_ns, arrival_ns);
  return kind;
}

static tb__tick_kind_t kind_of(tb__tick_stream_t *stream, const tb__ticks_t *ticks, int64_t tick_ns,
                               int64_t arrival_ns)
{
  if (tick_ns == 0) return TB__TICK_ZERO;
  if (tick_ns < 0) {
    if (stream->invalid_ns == 0) stream->invalid_ns = tick_ns;
    return TB__TICK_INVALID;
  }
  if (stream->first_ns == 0) {
    stream->first_ns = tick_ns;
    stream->first_arrival_ns = arrival_ns;
    move_to(stream, tick_ns, arrival_ns);
    return TB__TICK_FIRST;
  }
  if (tick_ns == stream->last_ns) return TB__TICK_REPEAT;
  tb__tick_track_t *track = track_of(stream, &ticks->limits, tick_ns, arrival_ns);
  if (track) {
    switch_to(stream, track, tick_ns, arrival_ns);
    return TB__TICK_SWITCH;
  }
  if (tick_ns < stream->last_ns) return step_back(stream, tick_ns, arrival_ns);
  return step_forward(stream, ticks, tick_ns, arrival_ns);
}

static tb__tick_kind_t feed(tb__tick_stream_t *stream, const tb__ticks_t *ticks, int64_t tick_ns,
                            int64_t arrival_ns)
{
  tb__tick_kind_t kind = kind_of(stream, ticks, tick_ns, arrival_ns);
  stream->kinds[kind]++;
  if (stream->ticks++ > 0 && kind == TB__TICK_REPEAT)
    stream->silence_ns = longer(stream->silence_ns, minus(arrival_ns, stream->heard_ns));
  stream->heard_ns = arrival_ns;
  return kind;
}

static tb__tick_stream_t *stream_of(tb__ticks_t *ticks, uint64_t id)
{
  for (uint32_t i = 0; i < ticks->publisher_count; i++)
    if (ticks->publishers[i].id == id) return &ticks->publishers[i].stream;
  if (ticks->publisher_count == TB__TICK_PUBLISHERS) return NULL;
  ticks->publishers[ticks->publisher_count].id = id;
  return &ticks->publishers[ticks->publisher_count++].stream;
}

tb__tick_kind_t tb__ticks_feed(tb__ticks_t *ticks, uint64_t publisher, int64_t tick_ns,
                               int64_t arrival_ns)
{
  if (publisher != 0) {
    if (ticks->last_publisher != 0 && ticks->last_publisher != publisher) ticks->handovers++;
    ticks->last_publisher = publisher;
    tb__tick_stream_t *stream = stream_of(ticks, publisher);
    if (stream)
      feed(stream, ticks, tick_ns, arrival_ns);
    else
      ticks->unattributed++;
  }
  return feed(&ticks->all, ticks, tick_ns, arrival_ns);
}

void tb__ticks_end(tb__ticks_t *ticks, int64_t arrival_ns)
{
  if (!ticks->has_steady) return;
  for (uint32_t i = 0; i <= ticks->publisher_count; i++) {
    tb__tick_stream_t *stream = i ? &ticks->publishers[i - 1].stream : &ticks->all;
    if (!stream->first_ns) continue;
    if (!stream->usual_wait_ns) stream->usual_wait_ns = longer(stream->early_ns, 1);
    note_wait(stream, &ticks->limits, minus(arrival_ns, stream->last_arrival_ns), arrival_ns);
  }
}

double tb__tick_stream_rate(const tb__tick_stream_t *stream)
{
  if (stream->run_arrival_ns <= 0) return 0.0;
  return (double)stream->run_steps * 1e9 / (double)stream->run_arrival_ns;
}

double tb__tick_stream_factor(const tb__tick_stream_t *stream)
{
  if (stream->run_arrival_ns <= 0) return 0.0;
  return (double)stream->run_ns / (double)stream->run_arrival_ns;
}

bool tb__tick_stream_is_double(const tb__tick_stream_t *stream)
{
  uint64_t late = stream->kinds[TB__TICK_REORDERED];
  return stream->kinds[TB__TICK_SWITCH] >= SWITCHES_OF_TWO ||
         (late >= REORDERED_OF_TWO && late >= stream->ticks / REORDERED_SHARE);
}

uint32_t tb__ticks_simultaneous(const tb__ticks_t *ticks)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < ticks->publisher_count; i++)
    if (ticks->publishers[i].stream.ticks > 1) count++;
  if (count < 2) return count;
  return ticks->handovers >= HANDOVERS_OF_TWO ? count : 1;
}
