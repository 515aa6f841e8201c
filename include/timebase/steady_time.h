/* Points in steady time (CLOCK_MONOTONIC). A type of its own: it never mixes with tb_time_t. */
#ifndef TIMEBASE_STEADY_TIME_H
#define TIMEBASE_STEADY_TIME_H

#include <stdint.h>
#include <time.h>
#include <timebase/duration.h>
#include <timebase/status.h>

typedef struct tb_steady_time {
  int64_t ns; /* since an arbitrary point (boot), not counted while the machine is suspended */
} tb_steady_time_t;

TB_BEGIN_DECLS

/* As the functions of tb_time_t, but kinds cannot be mixed: that does not compile. */

TB_API tb_status_t tb_steady_time_add(tb_steady_time_t time, tb_duration_t duration,
                                      tb_steady_time_t *out);
TB_API tb_status_t tb_steady_time_sub(tb_steady_time_t time, tb_duration_t duration,
                                      tb_steady_time_t *out);
TB_API tb_steady_time_t tb_steady_time_add_sat(tb_steady_time_t time, tb_duration_t duration);
TB_API tb_steady_time_t tb_steady_time_sub_sat(tb_steady_time_t time, tb_duration_t duration);
TB_API tb_status_t tb_steady_time_diff(tb_steady_time_t later, tb_steady_time_t earlier,
                                       tb_duration_t *out);
TB_API tb_status_t tb_steady_time_diff_sat(tb_steady_time_t later, tb_steady_time_t earlier,
                                           tb_duration_t *out);
TB_API tb_status_t tb_steady_time_compare(tb_steady_time_t a, tb_steady_time_t b, int *out);
TB_API tb_status_t tb_steady_time_from_timespec(struct timespec value, tb_steady_time_t *out);
TB_API struct timespec tb_steady_time_to_timespec(tb_steady_time_t time);
TB_API tb_status_t tb_steady_time_from_seconds(double seconds, tb_steady_time_t *out);
TB_API double tb_steady_time_to_seconds(tb_steady_time_t time);

TB_END_DECLS

#endif
