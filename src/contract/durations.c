#include "contract/durations.h"

#include <stdio.h>

#include "definition/message.h"

#define NS_PER_S INT64_C(1000000000)

tb__time_text_t tb__duration_text(int64_t ns)
{
  tb__time_text_t out;
  double value = (double)ns, size = value < 0 ? -value : value;
  const char *unit = "ns";
  double divisor = 1;
  if (size >= 2 * 365.25 * 86400e9) {
    unit = "years";
    divisor = 365.25 * 86400e9;
  } else if (size >= 2 * 86400e9) {
    unit = "days";
    divisor = 86400e9;
  } else if (size >= 1e9) {
    unit = "s";
    divisor = 1e9;
  } else if (size >= 1e6) {
    unit = "ms";
    divisor = 1e6;
  } else if (size >= 1e3) {
    unit = "us";
    divisor = 1e3;
  }
  value /= divisor;
  size /= divisor;
  int digits = divisor <= 1 ? 0 : size >= 100 ? 0 : size >= 10 ? 1 : 3;
  if (divisor == 1e9 && size < 100) digits = 3;
  snprintf(out.text, sizeof out.text, "%.*f %s", digits, value, unit);
  return out;
}

tb__time_text_t tb__moment_text(int64_t ns)
{
  tb__time_text_t out;
  int64_t s = ns / NS_PER_S, rest = ns % NS_PER_S;
  int64_t ms = (rest < 0 ? -rest : rest) / 1000000;
  snprintf(out.text, sizeof out.text, "%s%lld.%03lld", ns < 0 && s == 0 ? "-" : "", (long long)s,
           (long long)ms);
  return out;
}

tb__time_text_t tb__invalid_time_text(int64_t ns)
{
  tb__time_text_t out;
  if (tb__is_no_time(ns))
    snprintf(out.text, sizeof out.text, "nanosec %lld", (long long)(ns - TB__NO_TIME_NS));
  else
    snprintf(out.text, sizeof out.text, "sec %lld", (long long)((ns - NS_PER_S + 1) / NS_PER_S));
  return out;
}
