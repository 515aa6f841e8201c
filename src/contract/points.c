#include "contract/points.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const reasons[] = {"unknown", "start", "clock", "jump", "minute", "end"};

#define REASON_COUNT (sizeof reasons / sizeof *reasons)

const char *tb__point_reason_name(tb__point_reason_t reason)
{
  return reasons[(size_t)reason < REASON_COUNT ? (size_t)reason : 0];
}

void tb__point_format(const tb__point_t *point, char out[TB__POINT_TEXT_SIZE])
{
  char ros[24] = "none", error[24] = "unknown";
  if (point->has_ros) snprintf(ros, sizeof ros, "%" PRId64, point->ros_ns);
  if (point->max_error_ns >= 0) snprintf(error, sizeof error, "%" PRId64, point->max_error_ns);
  snprintf(out, TB__POINT_TEXT_SIZE,
           "reason=%s ros_ns=%s system_ns=%" PRId64 " steady_ns=%" PRId64 " spread_ns=%" PRId64
           " max_error_ns=%s synchronized=%s jumps=%" PRIu64,
           tb__point_reason_name(point->reason), ros, point->system_ns, point->steady_ns,
           point->spread_ns, error, point->is_synchronized ? "yes" : "no", point->jumps);
}

static bool take_number(const char *text, int64_t *out)
{
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (!strchr("-0123456789", *text) || end == text || *end || errno) return false;
  *out = value;
  return true;
}

static bool take_reason(const char *text, tb__point_t *out)
{
  for (size_t i = 1; i < REASON_COUNT; i++)
    if (strcmp(text, reasons[i]) == 0) out->reason = (tb__point_reason_t)i;
  return out->reason != 0;
}

/* False: the value is not one of the key. */
static bool take(const char *key, const char *value, tb__point_t *out)
{
  int64_t jumps = 0;
  if (strcmp(key, "reason") == 0) return take_reason(value, out);
  if (strcmp(key, "ros_ns") == 0) {
    if (strcmp(value, "none") == 0) return true;
    return out->has_ros = take_number(value, &out->ros_ns);
  }
  if (strcmp(key, "system_ns") == 0) return take_number(value, &out->system_ns);
  if (strcmp(key, "steady_ns") == 0) return take_number(value, &out->steady_ns);
  if (strcmp(key, "spread_ns") == 0) return take_number(value, &out->spread_ns);
  if (strcmp(key, "max_error_ns") == 0)
    return strcmp(value, "unknown") == 0 ||
           (take_number(value, &out->max_error_ns) && out->max_error_ns >= 0);
  if (strcmp(key, "synchronized") == 0) {
    out->is_synchronized = strcmp(value, "yes") == 0;
    return out->is_synchronized || strcmp(value, "no") == 0;
  }
  if (strcmp(key, "jumps") == 0) {
    if (!take_number(value, &jumps) || jumps < 0) return false;
    out->jumps = (uint64_t)jumps;
  }
  return true;
}

bool tb__point_parse(const char *text, size_t length, tb__point_t *out)
{
  char copy[TB__POINT_TEXT_SIZE], *rest = NULL;
  tb__point_t point = {.max_error_ns = -1};
  if (length >= sizeof copy || memchr(text, '\0', length)) return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    char *value = strchr(word, '=');
    if (!value) return false;
    *value++ = '\0';
    if (!take(word, value, &point)) return false;
  }
  if (!point.reason || !point.system_ns || !point.steady_ns) return false;
  *out = point;
  return true;
}
