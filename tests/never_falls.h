/* For stress and model tests: in one epoch time never falls (C6), for any reader. All readers of
 * a clock share one of these; a reading is compared with what had been read when it began. */
#ifndef TB_TEST_NEVER_FALLS_H
#define TB_TEST_NEVER_FALLS_H

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <timebase/clock.h>

#include "test.h"

typedef struct never_falls {
  pthread_mutex_t mutex;
  uint64_t epoch;
  int64_t time_ns; /* the highest of the epoch */
} never_falls_t;

#define NEVER_FALLS_INIT                                                                           \
  {                                                                                                \
    .mutex = PTHREAD_MUTEX_INITIALIZER                                                             \
  }

/* System time may be set (J9). */
static inline bool is_wall_time(const tb_clock_reading_t *reading)
{
  return reading->state == TB_CLOCK_INACTIVE || reading->state == TB_CLOCK_NO_SOURCE;
}

typedef struct never_falls_floor {
  uint64_t epoch;
  int64_t time_ns;
} never_falls_floor_t;

static inline never_falls_floor_t never_falls_begin(never_falls_t *self)
{
  pthread_mutex_lock(&self->mutex);
  never_falls_floor_t floor = {self->epoch, self->time_ns};
  pthread_mutex_unlock(&self->mutex);
  return floor;
}

/* What a read after never_falls_begin gave. */
static inline bool never_falls_end(never_falls_t *self, const never_falls_floor_t *floor,
                                   uint64_t epoch, int64_t time_ns)
{
  bool good = epoch > floor->epoch || (epoch == floor->epoch && time_ns >= floor->time_ns);
  if (!good)
    fprintf(stderr, "epoch %" PRIu64 ": %" PRId64 " ns, after epoch %" PRIu64 ": %" PRId64 " ns\n",
            epoch, time_ns, floor->epoch, floor->time_ns);
  pthread_mutex_lock(&self->mutex);
  if (epoch > self->epoch || (epoch == self->epoch && time_ns > self->time_ns)) {
    self->epoch = epoch;
    self->time_ns = time_ns;
  }
  pthread_mutex_unlock(&self->mutex);
  return good;
}

static inline bool never_falls_read(never_falls_t *self, const tb_clock_t *clock,
                                    tb_clock_reading_t *out)
{
  never_falls_floor_t floor = never_falls_begin(self);
  if (tb_clock_read(clock, out)) return false;
  return never_falls_end(self, &floor, out->epoch, is_wall_time(out) ? INT64_MAX : out->time.ns);
}

/* The time without its epoch, which is known if it does not change meanwhile. */
static inline bool never_falls_now(never_falls_t *self, const tb_clock_t *clock, bool may_wait)
{
  never_falls_floor_t floor = never_falls_begin(self);
  tb_time_t now;
  uint64_t before = tb_clock_epoch(clock);
  if (before < floor.epoch) return never_falls_end(self, &floor, before, INT64_MAX);
  tb_status_t status = may_wait ? tb_clock_now(clock, &now) : tb_clock_try_now(clock, &now);
  if (status) return status == TB_ERR_BUSY && !may_wait;
  if (before != floor.epoch || tb_clock_epoch(clock) != before) return true;
  return never_falls_end(self, &floor, before, floor.time_ns == INT64_MAX ? INT64_MAX : now.ns);
}

/* Every way of reading, once. */
static inline bool never_falls_check(never_falls_t *self, const tb_clock_t *clock)
{
  tb_clock_reading_t reading;
  return never_falls_read(self, clock, &reading) && never_falls_now(self, clock, true) &&
         never_falls_now(self, clock, false);
}

/* ---- a thread that only reads ---- */

typedef struct never_falls_reader {
  never_falls_t seen;
  const tb_clock_t *clock;
  pthread_t thread;
  _Atomic bool stop, fell;
} never_falls_reader_t;

static inline void *never_falls_run(void *argument)
{
  never_falls_reader_t *self = argument;
  while (!atomic_load(&self->stop) && !atomic_load(&self->fell))
    if (!never_falls_check(&self->seen, self->clock)) atomic_store(&self->fell, true);
  return NULL;
}

static inline void never_falls_start(never_falls_reader_t *self, const tb_clock_t *clock)
{
  *self = (never_falls_reader_t){.seen = NEVER_FALLS_INIT, .clock = clock};
  assert_int_equal(pthread_create(&self->thread, NULL, never_falls_run, self), 0);
}

/* Before the clock is destroyed. */
static inline void never_falls_stop(never_falls_reader_t *self)
{
  atomic_store(&self->stop, true);
  pthread_join(self->thread, NULL);
  assert_false(atomic_load(&self->fell));
}

#endif
