#include "source/tick_filter.h"

#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

tb__writer_id_t tb__writer_id(const uint8_t *bytes, uint8_t size)
{
  tb__writer_id_t id = {.size = size};
  memcpy(id.bytes, bytes, size);
  static const uint8_t zeros[TB__WRITER_ID_SIZE];
  if (!memcmp(id.bytes, zeros, sizeof zeros)) id.size = 0;
  return id;
}

static bool is_known(const tb__writer_id_t *id)
{
  return id->size > 0;
}

static bool is_same(const tb__writer_id_t *a, const tb__writer_id_t *b)
{
  return is_known(a) && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

/* later - earlier, of any two numbers */
static uint64_t distance(int64_t later, int64_t earlier)
{
  return (uint64_t)later - (uint64_t)earlier;
}

/* Steady time that seems to go back (threads read it in another order) counts as unchanged. */
static uint64_t age(const tb__writer_sign_t *sign, int64_t steady_ns)
{
  return steady_ns > sign->steady_ns ? distance(steady_ns, sign->steady_ns) : 0;
}

static void sign_set(tb__writer_sign_t *sign, const tb__tick_sample_t *sample)
{
  bool later = !is_same(&sign->writer, &sample->writer) || sample->steady_ns > sign->steady_ns;
  sign->writer = sample->writer;
  if (later) sign->steady_ns = sample->steady_ns;
}

/* Two writers that both ticked within the last second are a fault, until only one does. */
static void watch_writers(tb__tick_filter_t *filter, const tb__tick_sample_t *sample)
{
  /* X8: two writers within a second are a fault */
  if (!is_known(&sample->writer)) return;
  if (is_known(&filter->latest.writer) && !is_same(&filter->latest.writer, &sample->writer)) {
    tb__writer_sign_t before = filter->latest;
    filter->other = before;
  }
  sign_set(&filter->latest, sample);
  bool fault =
      is_known(&filter->other.writer) && age(&filter->other, sample->steady_ns) <= SECOND_NS;
  if (fault && !filter->fault) {
    filter->faults++;
    filter->fault_pair[0] = filter->other.writer;
    filter->fault_pair[1] = sample->writer;
  }
  filter->fault = fault;
}

/* Whether the sample's writer may move time. A holder that has been silent for the limit is
 * replaced by the next writer that ticks. An unknown writer may be any writer: it may only fill a
 * gap. */
static bool may_tick(tb__tick_filter_t *filter, const tb__tick_sample_t *sample)
{
  /* X8: with hold_to_first, the first writer, until it has been silent for a while */
  if (!filter->options.hold_to_first) return true;
  tb__writer_sign_t *holder = &filter->holder;
  bool held = is_known(&holder->writer) &&
              age(holder, sample->steady_ns) < (uint64_t)filter->options.hold_limit_ns;
  if (held && !is_same(&holder->writer, &sample->writer)) return false;
  sign_set(holder, sample);
  return true;
}

/* The same writer as the last tick, and both the value and the writer's stamp are older, the stamp
 * by less than a second. A step of the publisher's wall clock is more. */
static bool is_reordered(const tb__tick_filter_t *filter, const tb__tick_sample_t *sample)
{
  /* X8: of the same writer, and older in both */
  const tb__tick_sample_t *last = &filter->last;
  return filter->has_last && is_same(&last->writer, &sample->writer) &&
         sample->time_ns < last->time_ns && sample->source_stamp_ns < last->source_stamp_ns &&
         distance(last->source_stamp_ns, sample->source_stamp_ns) < SECOND_NS;
}

void tb__tick_filter_init(tb__tick_filter_t *filter, const tb__tick_filter_options_t *options)
{
  *filter = (tb__tick_filter_t){.options = *options};
}

void tb__tick_filter_restart(tb__tick_filter_t *filter)
{
  tb__tick_filter_t before = *filter;
  tb__tick_filter_init(filter, &before.options);
  filter->reordered = before.reordered;
  filter->refused = before.refused;
  filter->faults = before.faults;
  memcpy(filter->fault_pair, before.fault_pair, sizeof before.fault_pair);
}

tb__tick_verdict_t tb__tick_filter_sample(tb__tick_filter_t *filter,
                                          const tb__tick_sample_t *sample)
{
  watch_writers(filter, sample);
  if (!may_tick(filter, sample)) {
    filter->refused++;
    return TB__TICK_REFUSED;
  }
  if (is_reordered(filter, sample)) {
    filter->reordered++;
    return TB__TICK_REORDERED;
  }
  filter->last = *sample;
  filter->has_last = true;
  return TB__TICK_ACCEPT;
}
