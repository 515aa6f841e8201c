/* Calls of every public function that takes pointers, with NULL where that is not allowed
 * (docs/errors.md). The other pointers must not be used: a call checks all before it uses
 * one. scripts/check-null-arguments finds functions that are missing. */
#ifndef TB_TEST_NULL_ARGUMENTS_H
#define TB_TEST_NULL_ARGUMENTS_H

#include <stdint.h>

#include "test.h"

static inline void any_function(void) {}

#define ANY          ((void *)(uintptr_t)4096) /* never mapped */
#define ANY_FUNCTION any_function
#define NS           ((tb_duration_t){1})
#define TIME         ((tb_time_t){1, TB_TIME_ROS})
#define STEADY       ((tb_steady_time_t){1})
#define SPEC         ((struct timespec){1, 0})

/* Returns a status. */
#define REFUSED(call)                                                                              \
  do {                                                                                             \
    tb_status_t status_ = (call);                                                                  \
    if (status_ != TB_ERR_INVALID) fail_msg("%s: %s", #call, tb_status_name(status_));             \
  } while (0)

/* Returns a status, and accepts NULL. */
#define ACCEPTED(call)                                                                             \
  do {                                                                                             \
    tb_status_t status_ = (call);                                                                  \
    if (status_) fail_msg("%s: %s", #call, tb_status_name(status_));                               \
  } while (0)

/* Returns a number, bool or pointer, which is 0. */
#define ZERO(call)                                                                                 \
  do {                                                                                             \
    if (call) fail_msg("%s: not 0", #call);                                                        \
  } while (0)

/* Returns nothing, and does nothing. */
#define NOTHING(call) call

#endif
