/* A player on a clock, with that clock and steady time in the test's hand. */
#ifndef TB_PLAY_ON_CLOCK_FIXTURE_H
#define TB_PLAY_ON_CLOCK_FIXTURE_H

#include <pthread.h>
#include <sched.h>
#include <timebase/clock.h>
#include <timebase/jump.h>
#include <timebase/manual_source.h>
#include <timebase/testing.h>

#include "play/play_fixture.h"

#define S        TB_NS_PER_S
#define BEGIN_NS (100 * S) /* the first tick */

static const tb__fake_message_t four[] = {AT(1000), ON(1, 1010), AT(1040), AT(2000)};

typedef struct stage {
  fixture_t f;
  tb_source_t *source;
  tb_clock_t *clock;
  pthread_t thread;
  pthread_mutex_t mutex;
  char trace[2048]; /* "/a@10 ": at 10 ms of the clock since its first tick; "c1010@10 " */
} stage_t;

/* --- a player on a thread of its own --- */

static inline void note(stage_t *stage, const char *what)
{
  tb_time_t now;
  assert_ok(tb_clock_now(stage->clock, &now));
  pthread_mutex_lock(&stage->mutex);
  size_t length = strlen(stage->trace);
  snprintf(stage->trace + length, sizeof stage->trace - length, "%s@%g ", what,
           (double)(now.ns - BEGIN_NS) / 1e6);
  pthread_mutex_unlock(&stage->mutex);
}

static inline void on_message(void *user, int64_t steady_ns, const char *topic, const void *data,
                              size_t size)
{
  (void)steady_ns, (void)data, (void)size;
  note(user, topic);
}

static inline const char *mark_of(tb_jump_reason_t reason)
{
  return reason == TB_JUMP_REASON_SEEK ? "S" : reason == TB_JUMP_REASON_LOOP ? "L" : "c";
}

static inline void on_tick(void *user, int64_t steady_ns, int64_t time_ns, tb_jump_reason_t reason)
{
  (void)steady_ns;
  char text[48];
  snprintf(text, sizeof text, "%s%g", mark_of(reason), (double)time_ns / 1e6);
  note(user, text);
}

static inline void stage_init(stage_t *stage, const tb__fake_message_t *messages, size_t count)
{
  *stage = (stage_t){.mutex = PTHREAD_MUTEX_INITIALIZER};
  fixture_init(&stage->f, messages, count);
  stage->f.fake.on_message = on_message;
  stage->f.fake.on_tick = on_tick;
  stage->f.fake.user = stage;
  assert_ok(tb_testing_hold_os_time()); /* for the rates that are observed */
  assert_ok(tb_manual_source_create(&stage->source));
  tb_clock_options_t options = {TB_TIME_ROS, stage->source};
  assert_ok(tb_clock_create(&options, &stage->clock));
  stage->f.options.clock = stage->clock;
}

static inline void *play(void *user)
{
  tb_error_t error = TB_ERROR_INIT;
  if (tb_player_run(((stage_t *)user)->f.player, NULL, &error) != TB_OK) fail_msg("%s", error.text);
  return NULL;
}

/* It waits for the first tick then. */
static inline void stage_run(stage_t *stage)
{
  fixture_create(&stage->f);
  assert_int_equal(pthread_create(&stage->thread, NULL, play, stage), 0);
  assert_ok(tb_manual_source_wait_for_sleepers(stage->source, 1, NULL));
}

static inline void stage_close(stage_t *stage)
{
  fixture_fini(&stage->f);
  assert_ok(tb_clock_destroy(stage->clock));
  assert_ok(tb_source_destroy(stage->source));
  assert_ok(tb_testing_release_os_time());
}

/* When so many messages have gone out. */
static inline void stage_end(stage_t *stage, uint64_t messages)
{
  assert_int_equal(pthread_join(stage->thread, NULL), 0);
  assert_int_equal(fixture_status(&stage->f).messages, messages);
  stage_close(stage);
}

static inline void stage_stop(stage_t *stage)
{
  tb_player_stop(stage->f.player);
  assert_int_equal(pthread_join(stage->thread, NULL), 0);
  stage_close(stage);
}

static inline bool has_traced(stage_t *stage, const char *expected)
{
  pthread_mutex_lock(&stage->mutex);
  bool same = strcmp(stage->trace, expected) == 0;
  pthread_mutex_unlock(&stage->mutex);
  return same;
}

/* What went out since the last time. */
static inline void assert_trace(stage_t *stage, const char *expected)
{
  char played[sizeof stage->trace];
  pthread_mutex_lock(&stage->mutex);
  memcpy(played, stage->trace, sizeof played);
  stage->trace[0] = '\0';
  pthread_mutex_unlock(&stage->mutex);
  if (strcmp(played, expected) != 0) fail_msg("played\n  %s\nexpected\n  %s", played, expected);
}

/* For what is not made by the clock. */
static inline void await_trace(stage_t *stage, const char *expected)
{
  while (!has_traced(stage, expected))
    sched_yield();
  assert_trace(stage, expected);
}

static inline void set_ms(stage_t *stage, int64_t ms)
{
  assert_ok(tb_manual_source_set_and_run(stage->source, BEGIN_NS + ms * MS, NULL));
}

/* With the first tick. */
static inline void stage_start(stage_t *stage)
{
  stage_run(stage);
  set_ms(stage, 0);
}

/* Time stops at each deadline on the way. */
static inline void flow_ms(stage_t *stage, int64_t ms)
{
  tb_duration_t step = {ms * MS};
  assert_ok(tb_manual_source_advance_stepped_and_run(stage->source, step, 1000, NULL));
}

/* The player waits for steady time as well. */
static inline void await_limit(void)
{
  assert_ok(tb_testing_wait_for_sleepers(1, NULL));
}

/* And no time of the clock. */
static inline void pass_steady_ms(int64_t ms)
{
  assert_ok(tb_testing_advance_and_run(TB_TESTING_STEADY, (tb_duration_t){ms * MS}, NULL));
}

static inline void assert_at(stage_t *stage, int64_t position_ms)
{
  assert_int_equal(fixture_status(&stage->f).position_ns, position_ms * MS);
}

#endif
