#include "contract/limits.h"

#include <math.h>

#define MS INT64_C(1000000)
#define S  (1000 * MS)

tb__contract_limits_t tb__contract_limits_default(void)
{
  return (tb__contract_limits_t){
      .age_min_ns = -1 * S,
      .age_max_ns = 5 * S,
      .future_ns = 5 * MS,
      .rate_warn = 0.1,
      .rate_error = 0.5,
      .stall_ns = 1 * S,
      .stall_periods = 5,
      .other_domain_ns = 2 * S,
      .other_domain_budgets = 4,
      .other_domain_sure_ns = 365 * 24 * 3600 * S,
      .repeated = 0.1,
      .host_offset_ns = 5 * MS,
      .system_step_ns = 100 * MS,
      .silence_ns = 1 * S,
      .diagnostics_stale_ns = 5 * S,
  };
}

/* The larger of `ns` and `factor` times `unit_ns`. */
static int64_t at_least(int64_t ns, double factor, int64_t unit_ns)
{
  double other = factor * (double)unit_ns;
  if (!(other > (double)ns)) return ns;
  return other < (double)INT64_MAX ? (int64_t)other : INT64_MAX;
}

int64_t tb__contract_stall_ns(const tb__contract_limits_t *limits, int64_t period_ns)
{
  return at_least(limits->stall_ns, limits->stall_periods, period_ns);
}

double tb__contract_clock_rate(double factor, double declared_hz)
{
  double rate_hz = 10 * ceil(factor * 1e9 / (double)TB__CLOCK_COARSE_NS / 10);
  if (!(rate_hz > 100)) rate_hz = 100;
  return declared_hz > rate_hz ? declared_hz : rate_hz;
}

int64_t tb__contract_other_domain_ns(const tb__contract_limits_t *limits, int64_t budget_ns)
{
  return at_least(limits->other_domain_ns, limits->other_domain_budgets, budget_ns);
}

int64_t tb__contract_future_ns(const tb__contract_limits_t *limits, int64_t tick_ns)
{
  return tick_ns > limits->future_ns ? tick_ns : limits->future_ns;
}
