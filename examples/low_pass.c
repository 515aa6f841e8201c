/* A filter that survives jumps of time: a low-pass over samples with stamps.
 *
 *   low_pass
 *
 * A filter has two problems when a recording loops or a simulation is reset: its state belongs to
 * the time before, and samples that were stamped before the jump are still in the queue. The epoch
 * of the clock solves both: it rises at every backward jump and change of source, so state and
 * samples carry it, and those of an older epoch are dropped. No lock is held while time is read,
 * and no jump handler has to wait. */
#include <math.h>
#include <stdio.h>
#include <timebase/timebase.h>

typedef struct sample {
  tb_time_t stamp;
  uint64_t epoch; /* of the clock when it was stamped */
  double value;
} sample_t;

typedef struct low_pass {
  double cutoff_s; /* time constant */
  double value;
  tb_time_t last;
  uint64_t epoch;
  bool started;
  unsigned resets, dropped;
} low_pass_t;

/* Reads both at one moment: a stamp and an epoch that are read separately might not match. */
static tb_status_t sample_take(const tb_clock_t *clock, double value, sample_t *out)
{
  tb_clock_reading_t now;
  tb_status_t status = tb_clock_read(clock, &now);
  if (status) return status;
  *out = (sample_t){now.time, now.epoch, value};
  return TB_OK;
}

/* `epoch` is the current one of the clock. */
static void low_pass_add(low_pass_t *filter, const sample_t *sample, uint64_t epoch)
{
  tb_duration_t step;
  if (sample->epoch != epoch) {
    filter->dropped++; /* stamped before the jump */
    return;
  }
  if (filter->started && filter->epoch != sample->epoch) {
    filter->started = false;
    filter->resets++;
  }
  if (!filter->started) {
    filter->value = sample->value;
    filter->started = true;
  } else if (!tb_diff(sample->stamp, filter->last, &step) && step.ns > 0) {
    double share = 1 - exp(-tb_duration_to_seconds(step) / filter->cutoff_s);
    filter->value += share * (sample->value - filter->value);
  }
  filter->last = sample->stamp;
  filter->epoch = sample->epoch;
}

static tb_status_t feed(tb_source_t *source, const tb_clock_t *clock, low_pass_t *filter,
                        double value, int count)
{
  for (int i = 0; i < count; i++) {
    sample_t sample;
    tb_status_t status = tb_manual_source_advance(source, TB_MS(100));
    if (!status) status = sample_take(clock, value, &sample);
    if (status) return status;
    low_pass_add(filter, &sample, tb_clock_epoch(clock));
  }
  printf("low_pass: at %.1f s: %.3f\n", tb_time_to_seconds(filter->last), filter->value);
  return TB_OK;
}

static tb_status_t demonstrate(tb_source_t *source, const tb_clock_t *clock, low_pass_t *filter)
{
  sample_t on_its_way;
  tb_status_t status = tb_manual_source_set(source, 100 * TB_NS_PER_S);
  if (!status) status = feed(source, clock, filter, 1, 1);
  if (!status) status = feed(source, clock, filter, 3, 10); /* towards 3 */
  if (!status) status = sample_take(clock, 1e6, &on_its_way);
  if (!status) status = tb_manual_source_set(source, 50 * TB_NS_PER_S); /* the recording loops */
  if (status) return status;
  low_pass_add(filter, &on_its_way, tb_clock_epoch(clock));
  return feed(source, clock, filter, -1, 1); /* starts from scratch: exactly -1 */
}

int main(void)
{
  tb_source_t *source = NULL;
  tb_clock_t *clock = NULL;
  low_pass_t filter = {.cutoff_s = 0.5};
  tb_clock_options_t ros = TB_CLOCK_OPTIONS_INIT;
  tb_status_t status = tb_manual_source_create(&source);
  ros.source = source;
  if (!status) status = tb_clock_create(&ros, &clock);
  if (!status) status = demonstrate(source, clock, &filter);
  if (status) fprintf(stderr, "low_pass: %s\n", tb_status_message(status));
  printf("low_pass: %u reset, %u sample dropped\n", filter.resets, filter.dropped);
  tb_clock_destroy(clock);
  tb_source_destroy(source);
  return status != TB_OK;
}
