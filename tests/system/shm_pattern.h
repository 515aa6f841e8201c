/* Times of which a mixture differs from each of them: k * SHM_STEP_NS and what an anchor adds
 * to it, which is little. */
#ifndef TB_TEST_SHM_PATTERN_H
#define TB_TEST_SHM_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <timebase/timeline.h>

#define SHM_STEP_NS  INT64_C(1000000007)
#define SHM_BOUND_NS INT64_C(1000)

typedef struct shm_pattern {
  uint64_t seed;
  int64_t unit; /* the time published last, in steps */
} shm_pattern_t;

static inline uint64_t shm_random(uint64_t *seed)
{
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 33;
}

static inline bool shm_pattern_has(int64_t time_ns)
{
  return time_ns >= 0 && time_ns % SHM_STEP_NS <= SHM_BOUND_NS;
}

/* Of ten one jumps back, a few run on at a high rate up to a low bound, and in the rest time is
 * stopped. */
static inline tb_anchor_t shm_pattern_next(shm_pattern_t *pattern)
{
  tb_anchor_t next = TB_ANCHOR_INIT;
  struct timespec steady;
  uint64_t dice = shm_random(&pattern->seed) % 10;
  pattern->unit += dice == 0 && pattern->unit > 100 ? -(int64_t)(pattern->unit / 3) : (int64_t)dice;
  next.time_ns = pattern->unit * SHM_STEP_NS;
  if (dice < 7) return next;
  clock_gettime(CLOCK_MONOTONIC, &steady);
  next.steady.ns = (int64_t)steady.tv_sec * 1000000000 + steady.tv_nsec;
  next.rate = (double)(dice * 1000);
  next.bound.ns = SHM_BOUND_NS;
  return next;
}

#endif
