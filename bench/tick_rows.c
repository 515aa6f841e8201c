/* Ticks that concern no waiter and match no handler. */
#include <stdlib.h>
#include <timebase/clock.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>

#include "bench.h"

#define TICKS  INT64_C(10000)
#define CROWD  10000
#define ROUNDS 101

/* A source with one clock, and one with many objects that a tick does not concern. */
typedef struct subject {
  tb_source_t *source, *crowded_source;
  tb_clock_t *clock, *clocks[CROWD];
  tb_jump_handler_t *handlers[CROWD];
  int64_t tick_ns, crowded_tick_ns;
} subject_t;

static void tick(void *context, int64_t times)
{
  subject_t *subject = context;
  for (int64_t i = 0; i < times; i++)
    tb_manual_source_set(subject->source, ++subject->tick_ns);
}

static void tick_crowded(void *context, int64_t times)
{
  subject_t *subject = context;
  for (int64_t i = 0; i < times; i++)
    tb_manual_source_set(subject->crowded_source, ++subject->crowded_tick_ns);
}

static void subject_destroy(subject_t *subject)
{
  if (!subject) return;
  for (int i = 0; i < CROWD; i++)
    tb_jump_handler_destroy(subject->handlers[i]);
  for (int i = 0; i < CROWD; i++)
    tb_clock_destroy(subject->clocks[i]);
  tb_clock_destroy(subject->clock);
  tb_source_destroy(subject->source);
  tb_source_destroy(subject->crowded_source);
  free(subject);
}

/* Both started; so many clocks are on the crowded source. */
static subject_t *subject_create(const row_t *row, int clocks)
{
  subject_t *subject = calloc(1, sizeof *subject);
  if (!subject || tb_manual_source_create(&subject->source) ||
      tb_manual_source_create(&subject->crowded_source))
    goto fail;
  tb_clock_options_t options = {TB_TIME_ROS, subject->source};
  if (tb_clock_create(&options, &subject->clock)) goto fail;
  options.source = subject->crowded_source;
  for (int i = 0; i < clocks; i++)
    if (tb_clock_create(&options, &subject->clocks[i])) goto fail;
  tick(subject, 1);
  tick_crowded(subject, 1);
  return subject;

fail:
  subject_destroy(subject);
  bench_fail(row, "no source, or no clock");
  return NULL;
}

static bool tick_idle(const row_t *row, result_t *out)
{
  subject_t *subject = subject_create(row, 1);
  if (!subject) return false;
  *out = bench_compare(tick, tick_crowded, subject, TICKS);
  subject_destroy(subject);
  return true;
}

static bool tick_10000_clocks(const row_t *row, result_t *out)
{
  subject_t *subject = subject_create(row, CROWD);
  if (!subject) return false;
  *out = bench_compare(tick_crowded, tick, subject, TICKS);
  subject_destroy(subject);
  return true;
}

static void on_jump(const tb_jump_t *jump, void *user)
{
  (void)jump;
  ++*(int64_t *)user;
}

static bool handlers_create(subject_t *subject, int64_t *calls)
{
  tb_jump_handler_options_t options = {
      .name = "bench", .threshold.min_forward = {TB_NS_PER_S}, .after = on_jump, .user = calls};
  for (int i = 0; i < CROWD; i++)
    if (tb_jump_handler_create(subject->clocks[0], &options, &subject->handlers[i])) return false;
  return true;
}

static bool tick_10000_handlers(const row_t *row, result_t *out)
{
  int64_t calls = 0;
  subject_t *subject = subject_create(row, 1);
  if (!subject) return false;
  bool done = handlers_create(subject, &calls);
  if (done) *out = bench_compare(tick_crowded, tick, subject, TICKS);
  bool quiet = calls == 0;
  tb_manual_source_set(subject->crowded_source, subject->crowded_tick_ns + TB_NS_PER_S);
  bool called = calls == CROWD;
  subject_destroy(subject);
  return (done && quiet && called) || bench_fail(row, "no handlers, or the wrong calls");
}

static bool register_10000_handlers(const row_t *row, result_t *out)
{
  double rounds[ROUNDS];
  int64_t calls = 0;
  bool done = true;
  subject_t *subject = subject_create(row, 1);
  if (!subject) return false;
  for (int round = 0; done && round < ROUNDS; round++) {
    int64_t start = bench_now_ns();
    done = handlers_create(subject, &calls);
    rounds[round] = (double)(bench_now_ns() - start) / 1e6;
    for (int i = 0; i < CROWD; i++) {
      tb_jump_handler_destroy(subject->handlers[i]);
      subject->handlers[i] = NULL;
    }
  }
  if (done) out->value = bench_median(rounds, ROUNDS);
  subject_destroy(subject);
  return done || bench_fail(row, "no handlers");
}

const row_t tick_rows[] = {
    {"tick_idle", "ns", "limit", 1, tick_idle, 20},
    {"tick_10000_clocks", "ns", "tick_idle", 1.1, tick_10000_clocks, 0},
    {"tick_10000_handlers_below_threshold", "ns", "tick_idle", 1.5, tick_10000_handlers, 0},
    {"register_10000_handlers", "ms", "limit", 1, register_10000_handlers, 2},
};
const int tick_row_count = sizeof tick_rows / sizeof *tick_rows;
