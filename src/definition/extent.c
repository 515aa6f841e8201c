#include "definition/extent.h"

#include <string.h>

tb__extent_t tb__extent_of_number(uint32_t width, bool is_packed)
{
  tb__extent_t extent;
  for (uint32_t at = 0; at < 8; at++)
    extent.size[at] = (is_packed ? 0 : (0 - at) & (width - 1)) + width;
  return extent;
}

/* The places modulo 8 repeat after at most 8 elements, and with them the sizes. */
uint64_t tb__extent_times(const tb__extent_t *extent, uint64_t at, uint32_t count)
{
  uint64_t total = 0, total_at[8] = {0};
  uint32_t left = count, left_at[8] = {0};
  while (left > 0) {
    uint32_t place = (uint32_t)(at + total) & 7;
    if (left_at[place] > 0) {
      uint32_t elements = left_at[place] - left;
      total += (total - total_at[place]) * (left / elements);
      left %= elements;
      memset(left_at, 0, sizeof left_at);
      if (left == 0) break;
    }
    total_at[place] = total;
    left_at[place] = left;
    total += extent->size[place];
    left--;
  }
  return total;
}

void tb__extent_append(tb__extent_t *extent, const tb__extent_t *next, uint32_t count)
{
  for (uint32_t at = 0; at < 8; at++) {
    uint64_t size = extent->size[at];
    if (size < TB__EXTENT_MAX) size += tb__extent_times(next, at + size, count);
    extent->size[at] = size < TB__EXTENT_MAX ? (uint32_t)size : TB__EXTENT_MAX;
  }
}
