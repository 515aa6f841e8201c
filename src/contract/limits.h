/* The thresholds of the rules of the runtime contract. A manifest may set each of them. */
#ifndef TB_CONTRACT_LIMITS_H
#define TB_CONTRACT_LIMITS_H

#include <stdint.h>

#include "base/private_api.h"

/* An age is the ROS time at reception minus the stamp: negative where the stamp is in the future.
 * Durations are in ns. Those of stamps and ages are in ROS time, the others in steady time. */
typedef struct tb__contract_limits {
  int64_t age_min_ns; /* an age below it is an error: the stamp is too far in the future */
  int64_t age_max_ns; /* an age above it is an error: the stamp is too old */
  /* A stamp further in the future is a warning on one host, or further than one tick of /clock
   * where that is more. */
  int64_t future_ns;
  double rate_warn;     /* a rate that is off by more than this part of the declared one */
  double rate_error;    /* the same, for an error */
  int64_t stall_ns;     /* a clock or topic without samples for longer than this ... */
  double stall_periods; /* ... and for longer than so many of its periods has stalled */
  /* A stamp that fits another time domain (system time, the time of the recording) better than its
   * own, and is off by more than this ... */
  int64_t other_domain_ns;
  double other_domain_budgets;  /* ... and by more than so many budgets of its topic */
  int64_t other_domain_sure_ns; /* off by more than this it is of another domain in any case */
  double repeated; /* stamps that are repeated, as a part of all, from here on are a warning */
  int64_t host_offset_ns; /* a host whose system clock differs from another's by more is off */
  int64_t system_step_ns; /* system time that steps by more while a recording is made has stepped */
  int64_t silence_ns;     /* no message of any topic for longer than this is a silence */
  int64_t diagnostics_stale_ns; /* diagnostics without an update for longer than this are stale */
} tb__contract_limits_t;

/* Transforms may be further ahead by this: AMCL and others stamp map -> odom ahead by a tolerance,
 * a second unless set otherwise. */
#define TB__TF_FUTURE_NS INT64_C(1000000000)

/* Those that hold where no manifest sets others. */
TB_PRIVATE_API tb__contract_limits_t tb__contract_limits_default(void);

/* When a clock or topic with this period (ns, 0: unknown) counts as stalled: steady ns. */
TB_PRIVATE_API int64_t tb__contract_stall_ns(const tb__contract_limits_t *limits,
                                             int64_t period_ns);

/* Steps of /clock above it are coarse. */
#define TB__CLOCK_COARSE_NS INT64_C(100000000)

/* Hz: a rate of /clock whose steps are not coarse at a factor of real time (0: not known), not
 * below 100 and the declared rate (0: none). */
TB_PRIVATE_API double tb__contract_clock_rate(double factor, double declared_hz);

/* How far off a stamp must be to be of another domain, where it fits one: ns. `budget_ns` of its
 * topic, 0: none. */
TB_PRIVATE_API int64_t tb__contract_other_domain_ns(const tb__contract_limits_t *limits,
                                                    int64_t budget_ns);

/* How far in the future a stamp may be without a warning: ns. `tick_ns` is the step of /clock, 0
 * where time does not come from it. */
TB_PRIVATE_API int64_t tb__contract_future_ns(const tb__contract_limits_t *limits, int64_t tick_ns);

#endif
