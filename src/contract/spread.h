/* How a duration is distributed: count, extremes, mean, deviation and quantiles, of whatever sign.
 * Fixed memory, no allocation. One thread at a time. */
#ifndef TB_CONTRACT_SPREAD_H
#define TB_CONTRACT_SPREAD_H

#include <stdint.h>

#include "base/private_api.h"

/* All zero: empty. */
typedef struct tb__moments {
  uint64_t count;
  int64_t min_ns, max_ns; /* 0 while empty */
  double mean_ns;
  double square_sum; /* of the differences from the mean */
} tb__moments_t;

TB_PRIVATE_API void tb__moments_add(tb__moments_t *moments, int64_t value_ns);
/* Of the population; 0 while empty. */
TB_PRIVATE_API double tb__moments_deviation(const tb__moments_t *moments);

enum {
  TB__SPREAD_STEPS = 32,   /* bins of an octave: a quantile is wrong by 1.6 % at most, or by 1 us */
  TB__SPREAD_OCTAVES = 26, /* above 64 us: to 4294 s */
  TB__SPREAD_BINS = 2 * TB__SPREAD_STEPS + TB__SPREAD_OCTAVES * TB__SPREAD_STEPS,
};

/* All zero: empty. Values beyond 4294 s are counted in the last bin, and a bin that is full stays
 * full. */
typedef struct tb__spread {
  tb__moments_t moments;
  uint32_t above[TB__SPREAD_BINS]; /* of values from 0 on, by microseconds */
  uint32_t below[TB__SPREAD_BINS]; /* of values below 0 */
} tb__spread_t;

TB_PRIVATE_API void tb__spread_add(tb__spread_t *spread, int64_t value_ns);
/* `share` from 0 to 1. Within the extremes; 0 while empty. */
TB_PRIVATE_API int64_t tb__spread_quantile(const tb__spread_t *spread, double share);
/* How many of the values are at most `limit_ns`, each taken as the middle of its bin. */
TB_PRIVATE_API uint64_t tb__spread_at_most(const tb__spread_t *spread, int64_t limit_ns);
/* The sum of the values below 0, without the sign, each taken as the middle of its bin. */
TB_PRIVATE_API double tb__spread_sum_below(const tb__spread_t *spread);
/* As if all values of `from` had been added to `into`. */
TB_PRIVATE_API void tb__spread_merge(tb__spread_t *into, const tb__spread_t *from);

#endif
