/* Other forms of a number of nanoseconds, for all three value types. */
#ifndef TB_VALUE_NANOSECONDS_H
#define TB_VALUE_NANOSECONDS_H

#include <stdint.h>
#include <time.h>
#include <timebase/duration.h>
#include <timebase/status.h>

/* Nearest, halves away from zero. TB_ERR_INVALID: not a number; TB_ERR_RANGE. */
tb_status_t tb__ns_from_double(double ns, int64_t *out_ns);
tb_status_t tb__ns_from_timespec(struct timespec value, int64_t *out_ns);
struct timespec tb__ns_to_timespec(int64_t ns);
/* Seconds as the sum of whole and part, each exact. */
double tb__ns_to_seconds(int64_t ns);
tb_status_t tb__ns_from_wire(tb_wire_time_t wire, int64_t *out_ns);
tb_status_t tb__ns_to_wire(int64_t ns, tb_wire_time_t *out);

#endif
