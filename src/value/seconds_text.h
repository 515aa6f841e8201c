/* Times in messages, exact: 1.000000005 where a double has 1.000000000 for a time of today. */
#ifndef TB_VALUE_SECONDS_TEXT_H
#define TB_VALUE_SECONDS_TEXT_H

#include <inttypes.h>
#include <stdio.h>

typedef struct tb__seconds_text {
  char text[32];
} tb__seconds_text_t;

/* Seconds with nine decimals, without a unit. */
static inline tb__seconds_text_t tb__seconds_text(int64_t ns)
{
  tb__seconds_text_t out;
  uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
  snprintf(out.text, sizeof out.text, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "",
           size / 1000000000, size % 1000000000);
  return out;
}

#endif
