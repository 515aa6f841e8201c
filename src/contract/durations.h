/* Durations and times as evidence has them. Pure. */
#ifndef TB_CONTRACT_DURATIONS_H
#define TB_CONTRACT_DURATIONS_H

#include <stdint.h>

#include "base/private_api.h"

typedef struct tb__time_text {
  char text[40];
} tb__time_text_t;

/* "1.500 ms", "-12.000 s", "3.2 days": three digits, or what is short. */
TB_PRIVATE_API tb__time_text_t tb__duration_text(int64_t ns);
/* Seconds since 1970: "1700000000.123". */
TB_PRIVATE_API tb__time_text_t tb__moment_text(int64_t ns);
/* What is wrong with a time that is not valid: "nanosec 1500000000", "sec -5". */
TB_PRIVATE_API tb__time_text_t tb__invalid_time_text(int64_t ns);

#endif
