/* For tests that go by chance: a seed, and what follows from it. */
#ifndef TB_TEST_SEED_H
#define TB_TEST_SEED_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

/* Of TB_TEST_SEED, else another one for each run; printed, never 0. */
static inline uint64_t test_seed(void)
{
  const char *text = getenv("TB_TEST_SEED");
  uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32;
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

#endif
