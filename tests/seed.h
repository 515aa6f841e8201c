/* For random tests: a seed, the choices that follow from it, and how long a test runs. All of them
 * are run in one way: TB_TEST_SEED=n repeats the choices of a run, but not what threads make of
 * them; TB_TEST_MS=n runs for that long, in rounds or as one, with a seed higher by one in each
 * round. */
#ifndef TB_TEST_SEED_H
#define TB_TEST_SEED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static uint64_t test_round;
static time_t test_begin; /* when the first seed was asked for */

/* Of TB_TEST_SEED, else another one for each run; printed, never 0. */
static inline uint64_t test_seed(void)
{
  const char *text = getenv("TB_TEST_SEED");
  static uint64_t first;
  if (!test_begin) test_begin = time(NULL);
  if (!first)
    first = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32;
  uint64_t seed = first + test_round;
  print_message("TB_TEST_SEED=%llu\n", (unsigned long long)seed);
  return seed ? seed : 1;
}

static inline uint64_t test_random(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Of TB_TEST_MS, else the time that the suite has. */
static inline int64_t test_duration_ms(int64_t usual_ms)
{
  const char *text = getenv("TB_TEST_MS");
  return text ? strtoll(text, NULL, 10) : usual_ms;
}

/* For tests with any number of steps: whether there is time for another round. */
static inline bool test_goes_on(void)
{
  test_round++;
  return (time(NULL) - test_begin) * 1000 < test_duration_ms(0);
}

#endif
