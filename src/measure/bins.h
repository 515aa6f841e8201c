/* The bins of a histogram: pure functions. In order of their values they are: one for all below the
 * range, the negative ones, one for 0, the positive ones, one for all above the range. A positive
 * value below 1024 ns is in one of equal bins; each octave from there has as many. */
#ifndef TB_MEASURE_BINS_H
#define TB_MEASURE_BINS_H

#include <stdint.h>
#include <timebase/histogram.h>

#define TB__BINS_LINEAR_BITS 10 /* 2^10 ns, the first value of the first octave */
#define TB__BINS_OCTAVES     32 /* up to 2^42 ns, 73 minutes */

/* Octaves have 2^bits bins: a bin is narrower than 1 % (0.1 %) of its values. */
static inline uint32_t tb__bins_bits(uint32_t digits)
{
  return digits == 3 ? 10 : 7;
}

/* Of positive values, and of negative ones. */
static inline uint32_t tb__bins_of_sign(uint32_t bits)
{
  return (TB__BINS_OCTAVES + 1U) << bits;
}

static inline uint32_t tb__bins_zero(uint32_t bits)
{
  return tb__bins_of_sign(bits) + 1;
}

static inline uint32_t tb__bins_count(uint32_t bits)
{
  return 2 * tb__bins_of_sign(bits) + 3;
}

/* Among those of its sign. 0 < size_ns <= TB_HISTOGRAM_MAX_NS. */
static inline uint32_t tb__bins_of_size(uint64_t size_ns, uint32_t bits)
{
  if (size_ns < UINT64_C(1) << TB__BINS_LINEAR_BITS)
    return (uint32_t)(size_ns >> (TB__BINS_LINEAR_BITS - bits));
  uint32_t exponent = 63U - (uint32_t)__builtin_clzll(size_ns);
  uint32_t octave = exponent - TB__BINS_LINEAR_BITS; /* the bits below its first one count */
  return (octave << bits) + (uint32_t)(size_ns >> (exponent - bits));
}

static inline uint32_t tb__bins_find(int64_t value_ns, uint32_t bits)
{
  uint32_t zero = tb__bins_zero(bits);
  if (value_ns == 0) return zero;
  if (value_ns > TB_HISTOGRAM_MAX_NS) return tb__bins_count(bits) - 1;
  if (value_ns < -TB_HISTOGRAM_MAX_NS) return 0;
  if (value_ns > 0) return zero + 1 + tb__bins_of_size((uint64_t)value_ns, bits);
  return zero - 1 - tb__bins_of_size((uint64_t)-value_ns, bits);
}

/* The least value of a bin, and the greatest. */
int64_t tb__bins_least(uint32_t bin, uint32_t bits);
int64_t tb__bins_greatest(uint32_t bin, uint32_t bits);

#endif
