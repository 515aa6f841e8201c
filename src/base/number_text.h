/* Numbers as text with a point, whatever the locale is. */
#ifndef TB_BASE_NUMBER_TEXT_H
#define TB_BASE_NUMBER_TEXT_H

#include <stdint.h>
#include <stdio.h>

#define TB__NUMBER_TEXT_SIZE 32

/* To a millionth, and at most 1e12; "NaN". */
static inline void tb__number_text(double value, char out[TB__NUMBER_TEXT_SIZE])
{
  double size = value < 0 ? -value : value;
  uint64_t millionths = size < 1e12 ? (uint64_t)(size * 1e6 + 0.5) : UINT64_C(1000000000000000000);
  if (value != value)
    snprintf(out, TB__NUMBER_TEXT_SIZE, "NaN");
  else
    snprintf(out, TB__NUMBER_TEXT_SIZE, "%s%llu.%06llu", value < 0 && millionths ? "-" : "",
             (unsigned long long)(millionths / 1000000),
             (unsigned long long)(millionths % 1000000));
}

#endif
