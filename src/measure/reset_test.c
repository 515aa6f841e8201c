/* Resets of caches at jumps, on manual sources. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <timebase/reset.h>

#include "on_manual_source.h"
#include "seed.h"

#define MS INT64_C(1000000)

static tb_reset_t *make(tb_clock_t *clock, tb_reset_options_t options)
{
  tb_reset_t *reset;
  assert_ok(tb_reset_create(clock, &options, &reset));
  return reset;
}

static tb_status_t accept_at(const tb_reset_t *reset, int64_t stamp_ns)
{
  uint64_t generation = 77;
  tb_status_t status = tb_reset_accept(reset, (tb_time_t){stamp_ns, TB_TIME_ROS}, &generation);
  assert_int_equal(generation, status ? 77 : tb_reset_generation(reset));
  assert_int_not_equal(generation, 0);
  return status;
}

static void test_a_jump_back_ends_a_generation(void **state)
{
  fixture_t *f = *state;
  tb_reset_t *reset = make(f->clock, (tb_reset_options_t)TB_RESET_OPTIONS_INIT);
  uint64_t cache = 0, on_its_way, made;
  tb_time_t time;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_true(tb_reset_poll(reset, &cache)); /* a new cache is cleared once */
  assert_false(tb_reset_poll(reset, &cache));
  assert_ok(tb_reset_read(reset, &time, &on_its_way));
  assert_int_equal(on_its_way, cache);
  assert_ok(accept_at(reset, 105 * S)); /* in the future, but nothing has jumped */
  assert_ok(tb_manual_source_set(f->source, 200 * S));
  assert_false(tb_reset_poll(reset, &cache)); /* time passes */
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_true(tb_reset_poll(reset, &cache));
  assert_false(tb_reset_poll(reset, &cache));
  assert_int_not_equal(on_its_way, cache); /* so it is not accepted */
  assert_ok(tb_reset_read(reset, &time, &made));
  assert_int_equal(time.ns, 50 * S);
  assert_int_equal(made, cache);
  tb_reset_destroy(reset);
}

static void test_stamps_of_before_a_jump_back_are_refused(void **state)
{
  fixture_t *f = *state;
  tb_reset_t *reset = make(f->clock, (tb_reset_options_t){.future = {10 * MS}});
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_ok(tb_manual_source_set(f->source, 99 * S));
  assert_status(accept_at(reset, 100 * S), TB_ERR_JUMP_BACKWARD);
  assert_status(accept_at(reset, 99 * S + 11 * MS), TB_ERR_JUMP_BACKWARD);
  assert_ok(accept_at(reset, 99 * S + 10 * MS)); /* its publisher has received the tick already */
  assert_ok(accept_at(reset, 98 * S));
  assert_ok(accept_at(reset, 100 * S + 1)); /* the clock was never there */
  /* the greatest time of all jumps counts */
  assert_ok(tb_manual_source_set(f->source, 10 * S));
  assert_ok(tb_manual_source_set(f->source, 80 * S));
  assert_ok(tb_manual_source_set(f->source, 79 * S));
  assert_status(accept_at(reset, 100 * S), TB_ERR_JUMP_BACKWARD);
  tb_reset_destroy(reset);
}

static void test_steps_forward_reset_if_asked_for(void **state)
{
  fixture_t *f = *state;
  tb_reset_t *reset = make(f->clock, (tb_reset_options_t){.min_forward = {5 * S}});
  uint64_t cache = 0;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_true(tb_reset_poll(reset, &cache));
  assert_ok(tb_manual_source_set(f->source, 105 * S - 1));
  assert_false(tb_reset_poll(reset, &cache));
  assert_ok(accept_at(reset, 99 * S));
  assert_ok(tb_manual_source_set(f->source, 205 * S));
  assert_true(tb_reset_poll(reset, &cache));
  assert_status(accept_at(reset, 99 * S), TB_ERR_JUMP_FORWARD);
  assert_status(accept_at(reset, 105 * S - 1), TB_ERR_JUMP_FORWARD);
  assert_ok(accept_at(reset, 105 * S));
  assert_ok(accept_at(reset, 205 * S));
  assert_ok(tb_manual_source_set(f->source, 150 * S)); /* still past the step's beginning */
  assert_status(accept_at(reset, 99 * S), TB_ERR_JUMP_FORWARD);
  assert_ok(tb_manual_source_set(f->source, 104 * S)); /* those times are to come again */
  assert_ok(accept_at(reset, 99 * S));
  assert_status(accept_at(reset, 205 * S), TB_ERR_JUMP_BACKWARD);
  assert_ok(tb_manual_source_set(f->source, 300 * S)); /* past all that was before */
  assert_status(accept_at(reset, 205 * S), TB_ERR_JUMP_FORWARD);
  assert_ok(accept_at(reset, 205 * S + 1));
  tb_reset_destroy(reset);
}

static void test_steps_forward_reset_nothing_by_themselves(void **state)
{
  fixture_t *f = *state;
  tb_reset_t *reset = make(f->clock, (tb_reset_options_t)TB_RESET_OPTIONS_INIT);
  uint64_t cache = 0;
  assert_ok(tb_manual_source_set(f->source, S));
  assert_true(tb_reset_poll(reset, &cache));
  assert_ok(tb_manual_source_jump(f->source, 1000 * S, TB_JUMP_REASON_SEEK));
  assert_false(tb_reset_poll(reset, &cache));
  assert_ok(accept_at(reset, S));
  tb_reset_destroy(reset);
}

static void test_the_first_tick_is_no_reset(void **state)
{
  fixture_t *f = *state;
  tb_reset_t *reset = make(f->clock, (tb_reset_options_t)TB_RESET_OPTIONS_INIT);
  uint64_t cache = 0, generation;
  tb_time_t time = {77, TB_TIME_SYSTEM};
  assert_true(tb_reset_poll(reset, &cache));
  assert_status(accept_at(reset, S), TB_ERR_NOT_SET);
  assert_status(tb_reset_read(reset, &time, &generation), TB_ERR_NOT_SET);
  assert_int_equal(time.ns, 77);
  assert_ok(tb_manual_source_set(f->source, 5 * S));
  assert_false(tb_reset_poll(reset, &cache));
  assert_ok(accept_at(reset, S));
  assert_status(accept_at(reset, 0), TB_ERR_NOT_SET);
  const tb_time_t of_system_time = {S, TB_TIME_SYSTEM};
  assert_status(tb_reset_accept(reset, of_system_time, &generation), TB_ERR_CLOCK_MISMATCH);
  tb_reset_destroy(reset);
}

static void test_a_clock_that_starts_again_keeps_what_it_left(void **state)
{
  fixture_t *f = *state;
  tb_reset_t *reset = make(f->clock, (tb_reset_options_t)TB_RESET_OPTIONS_INIT);
  uint64_t cache = 0;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_true(tb_reset_poll(reset, &cache));
  assert_ok(tb_manual_source_set(f->source, 0)); /* "not started" */
  assert_true(tb_reset_poll(reset, &cache));
  assert_status(accept_at(reset, 99 * S), TB_ERR_NOT_SET);
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_false(tb_reset_poll(reset, &cache)); /* nothing was accepted meanwhile */
  assert_status(accept_at(reset, 99 * S), TB_ERR_JUMP_BACKWARD);
  assert_ok(accept_at(reset, 49 * S));
  assert_ok(tb_manual_source_set(f->source, 0));
  assert_ok(tb_manual_source_set(f->source, 500 * S));
  assert_status(accept_at(reset, 49 * S), TB_ERR_JUMP_FORWARD);
  assert_ok(accept_at(reset, 500 * S));
  tb_reset_destroy(reset);
}

static void test_a_change_of_source_resets(void **state)
{
  fixture_t *f = *state;
  tb_reset_t *reset = make(f->clock, (tb_reset_options_t)TB_RESET_OPTIONS_INIT);
  uint64_t cache = 0;
  tb_time_t system;
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_true(tb_reset_poll(reset, &cache));
  assert_ok(tb_clock_set_source(f->clock, NULL));
  assert_true(tb_reset_poll(reset, &cache));
  assert_status(accept_at(reset, 100 * S), TB_ERR_JUMP_FORWARD); /* of simulated time */
  assert_ok(tb_clock_now(f->clock, &system));
  assert_ok(accept_at(reset, system.ns));
  assert_ok(tb_clock_set_source(f->clock, f->source));
  assert_true(tb_reset_poll(reset, &cache));
  assert_status(accept_at(reset, system.ns), TB_ERR_JUMP_BACKWARD);
  assert_ok(accept_at(reset, 100 * S));
  tb_reset_destroy(reset);
}

/* ---- the order in a jump ---- */

typedef struct ordered {
  tb_clock_t *clock;
  tb_reset_t *reset;
  uint64_t cache, in_before;
  int cleared_in_after, calls;
  tb_time_t time;
} ordered_t;

static void note_before(const tb_jump_t *jump, void *user)
{
  ordered_t *ordered = user;
  (void)jump;
  assert_ok(tb_reset_read(ordered->reset, &ordered->time, &ordered->in_before));
}

static void note_after(const tb_jump_t *jump, void *user)
{
  ordered_t *ordered = user;
  (void)jump;
  ordered->cleared_in_after += tb_reset_poll(ordered->reset, &ordered->cache);
}

static void on_reset(const tb_jump_t *jump, void *user)
{
  ordered_t *ordered = user;
  assert_int_equal(jump->kind, TB_JUMP_BACKWARD);
  assert_int_equal(jump->before.ns, 100 * S);
  assert_int_equal(jump->after.ns, 50 * S);
  ordered->calls++;
}

static tb_jump_handler_t *handle(ordered_t *ordered, bool in_after)
{
  tb_jump_handler_t *handler;
  tb_jump_handler_options_t options = TB_JUMP_HANDLER_OPTIONS_INIT;
  options.threshold.min_backward.ns = -1;
  options.before = in_after ? NULL : note_before;
  options.after = in_after ? note_after : NULL;
  options.user = ordered;
  assert_ok(tb_jump_handler_create(ordered->clock, &options, &handler));
  return handler;
}

/* J3: a handler that was made before the reset finds the cache empty in its "after"; what one that
 * was made later reads in its "before", the old time, is of no generation. */
static void test_J3_no_handler_sees_or_leaves_the_time_before(void **state)
{
  fixture_t *f = *state;
  ordered_t ordered = {.clock = f->clock, .in_before = 77};
  tb_jump_handler_t *earlier = handle(&ordered, true);
  ordered.reset = make(f->clock, (tb_reset_options_t){.on_reset = on_reset, .user = &ordered});
  tb_jump_handler_t *later = handle(&ordered, false);
  assert_ok(tb_manual_source_set(f->source, 100 * S));
  assert_true(tb_reset_poll(ordered.reset, &ordered.cache));
  assert_ok(tb_manual_source_set(f->source, 50 * S));
  assert_int_equal(ordered.cleared_in_after, 1);
  assert_int_equal(ordered.calls, 1);
  assert_int_equal(ordered.time.ns, 100 * S);
  assert_int_equal(ordered.in_before, 0);
  tb_jump_handler_destroy(later);
  tb_reset_destroy(ordered.reset);
  tb_jump_handler_destroy(earlier);
}

static void test_durations_below_zero_are_refused(void **state)
{
  fixture_t *f = *state;
  tb_reset_t *reset = NULL;
  assert_status(tb_reset_create(f->clock, &(tb_reset_options_t){.min_forward = {-1}}, &reset),
                TB_ERR_INVALID);
  assert_status(tb_reset_create(f->clock, &(tb_reset_options_t){.future = {-1}}, &reset),
                TB_ERR_INVALID);
  assert_null(reset);
  assert_ok(tb_reset_create(f->clock, NULL, &reset));
  tb_reset_destroy(reset);
}

/* ---- threads ----
 *
 * Eras of time, whose times do not overlap: each jump leads to another, backward or forward, and
 * `jumps` of it have been before. So the time of a sample tells its era without the generation. */

#define ERA_NS       (10 * S)
#define ERAS         64
#define SAMPLES      16
#define INSERTED_MIN 40

typedef struct sample {
  tb_time_t stamp;
  uint64_t generation;
} sample_t;

typedef struct shared {
  tb_source_t *source;
  tb_reset_t *reset;
  _Atomic int rank[ERAS]; /* of an era that time has been in: how many were before; 0: none yet */
  _Atomic bool stop;
  _Atomic uint64_t inserted, refused, looked_up;
  pthread_mutex_t mutex; /* of the cache: */
  uint64_t generation;
  int count;
  sample_t samples[SAMPLES];
} shared_t;

static int rank_of(shared_t *shared, tb_time_t time)
{
  return atomic_load(&shared->rank[time.ns / ERA_NS]);
}

static void clear_old_locked(shared_t *shared)
{
  if (tb_reset_poll(shared->reset, &shared->generation)) shared->count = 0;
}

static void insert(shared_t *shared, sample_t sample)
{
  pthread_mutex_lock(&shared->mutex);
  clear_old_locked(shared);
  bool fits = sample.generation == shared->generation;
  if (fits) shared->samples[shared->count++ % SAMPLES] = sample;
  pthread_mutex_unlock(&shared->mutex);
  atomic_fetch_add(fits ? &shared->inserted : &shared->refused, 1);
}

/* Samples that are made here, and wait in a queue of one until the next is made. */
static void *produce(void *argument)
{
  shared_t *shared = argument;
  sample_t queued, next;
  assert_ok(tb_reset_read(shared->reset, &queued.stamp, &queued.generation));
  while (!atomic_load(&shared->stop)) {
    assert_ok(tb_reset_read(shared->reset, &next.stamp, &next.generation));
    insert(shared, queued);
    queued = next;
  }
  return NULL;
}

/* Samples that arrive with their stamp only, some of them after a jump. */
static void *receive(void *argument)
{
  shared_t *shared = argument;
  sample_t late, next;
  assert_ok(tb_reset_read(shared->reset, &late.stamp, &late.generation));
  while (!atomic_load(&shared->stop)) {
    assert_ok(tb_reset_read(shared->reset, &next.stamp, &next.generation));
    if (tb_reset_accept(shared->reset, late.stamp, &late.generation) == TB_OK)
      insert(shared, late);
    else
      atomic_fetch_add(&shared->refused, 1);
    late = next;
  }
  return NULL;
}

/* What it reads back is of no era before the one that it has seen already. */
static void *look_up(void *argument)
{
  shared_t *shared = argument;
  tb_time_t now;
  uint64_t generation;
  while (!atomic_load(&shared->stop)) {
    assert_ok(tb_reset_read(shared->reset, &now, &generation));
    int rank = rank_of(shared, now);
    sample_t samples[SAMPLES];
    pthread_mutex_lock(&shared->mutex);
    clear_old_locked(shared);
    int count = shared->count < SAMPLES ? shared->count : SAMPLES;
    memcpy(samples, shared->samples, (size_t)count * sizeof *samples);
    pthread_mutex_unlock(&shared->mutex);
    for (int i = 0; i < count; i++)
      assert_true(rank_of(shared, samples[i].stamp) >= rank);
    if (count) atomic_fetch_add(&shared->looked_up, 1);
  }
  return NULL;
}

/* Back by one era or by several; where there is none left below, far forward. */
static int next_era(int era, int *top, uint64_t *seed)
{
  int down = 1 + (int)(test_random(seed) % 3);
  if (era - down > *top - 8 && era > down) return era - down;
  *top += 8;
  return *top;
}

/* Time advances until the other threads have done something in its era. */
static void stay(shared_t *shared, uint64_t *seed)
{
  uint64_t inserted = atomic_load(&shared->inserted), looked_up = atomic_load(&shared->looked_up);
  while (atomic_load(&shared->inserted) < inserted + INSERTED_MIN ||
         atomic_load(&shared->looked_up) == looked_up) {
    int64_t step_ns = 1 + (int64_t)(test_random(seed) % 1000);
    assert_ok(tb_manual_source_advance(shared->source, (tb_duration_t){step_ns}));
  }
}

static void jump_around(shared_t *shared, uint64_t *seed)
{
  int top = 8, era = top;
  stay(shared, seed);
  for (int jumps = 2; top < ERAS - 8; jumps++) {
    era = next_era(era, &top, seed);
    atomic_store(&shared->rank[era], jumps);
    assert_ok(tb_manual_source_set(shared->source, era * ERA_NS + 5 * S));
    stay(shared, seed);
  }
}

static void test_nothing_of_before_a_jump_is_read_back(void **state)
{
  fixture_t *f = *state;
  static void *(*const work[])(void *) = {produce, receive, look_up, look_up};
  uint64_t seed = test_seed();
  do {
    pthread_t threads[4];
    shared_t shared = {.source = f->source, .mutex = PTHREAD_MUTEX_INITIALIZER};
    assert_ok(tb_manual_source_set(f->source, 8 * ERA_NS + 5 * S));
    shared.rank[8] = 1;
    shared.reset = make(f->clock, (tb_reset_options_t){.min_forward = {S}});
    for (int i = 0; i < 4; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, work[i], &shared), 0);
    jump_around(&shared, &seed);
    atomic_store(&shared.stop, true);
    for (int i = 0; i < 4; i++)
      pthread_join(threads[i], NULL);
    assert_true(shared.refused > 0);
    tb_reset_destroy(shared.reset);
  } while (test_goes_on());
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLOCK(test_a_jump_back_ends_a_generation),
      WITH_CLOCK(test_stamps_of_before_a_jump_back_are_refused),
      WITH_CLOCK(test_steps_forward_reset_if_asked_for),
      WITH_CLOCK(test_steps_forward_reset_nothing_by_themselves),
      WITH_CLOCK(test_the_first_tick_is_no_reset),
      WITH_CLOCK(test_a_clock_that_starts_again_keeps_what_it_left),
      WITH_CLOCK(test_a_change_of_source_resets),
      WITH_CLOCK(test_J3_no_handler_sees_or_leaves_the_time_before),
      WITH_CLOCK(test_durations_below_zero_are_refused),
      WITH_CLOCK(test_nothing_of_before_a_jump_is_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
