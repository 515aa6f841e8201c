#include "measure/bins.h"

/* The smallest size in a bin of one sign; of the one after it, the end. */
static int64_t size_from(uint32_t index, uint32_t bits)
{
  uint32_t octave = index >> bits; /* 0: the linear part */
  int64_t within = index & ((1U << bits) - 1);
  if (octave == 0) return within << (TB__BINS_LINEAR_BITS - bits);
  int64_t first = INT64_C(1) << bits;
  return (first + within) << (octave - 1 + TB__BINS_LINEAR_BITS - bits);
}

/* 0 has a bin of its own. */
static int64_t least_size(uint32_t index, uint32_t bits)
{
  int64_t from = size_from(index, bits);
  return from ? from : 1;
}

static int64_t greatest_size(uint32_t index, uint32_t bits)
{
  int64_t last = size_from(index + 1, bits) - 1;
  return last < TB_HISTOGRAM_MAX_NS ? last : TB_HISTOGRAM_MAX_NS;
}

int64_t tb__bins_least(uint32_t bin, uint32_t bits)
{
  uint32_t zero = tb__bins_zero(bits);
  if (bin == 0) return INT64_MIN;
  if (bin == tb__bins_count(bits) - 1) return TB_HISTOGRAM_MAX_NS + 1;
  if (bin < zero) return -greatest_size(zero - 1 - bin, bits);
  return bin == zero ? 0 : least_size(bin - zero - 1, bits);
}

int64_t tb__bins_greatest(uint32_t bin, uint32_t bits)
{
  uint32_t zero = tb__bins_zero(bits);
  if (bin == 0) return -TB_HISTOGRAM_MAX_NS - 1;
  if (bin == tb__bins_count(bits) - 1) return INT64_MAX;
  if (bin < zero) return -least_size(zero - 1 - bin, bits);
  return bin == zero ? 0 : greatest_size(bin - zero - 1, bits);
}
