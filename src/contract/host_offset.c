#include "contract/host_offset.h"

#include <inttypes.h>
#include <stdio.h>

#include "contract/durations.h"

/* Times of others may be anything. */
static bool subtract(int64_t a, int64_t b, int64_t *out)
{
  return !__builtin_sub_overflow(a, b, out) && *out > INT64_MIN / 2 && *out < INT64_MAX / 2;
}

void tb__host_offset_exchange(tb__host_offset_t *offset, int64_t asked_ns, int64_t replied_ns,
                              int64_t received_ns)
{
  int64_t trip_ns, ahead_ns;
  if (asked_ns <= 0 || replied_ns <= 0 || !subtract(received_ns, asked_ns, &trip_ns) ||
      trip_ns < 0 || !subtract(replied_ns, asked_ns + trip_ns / 2, &ahead_ns))
    return;
  int64_t bound_ns = trip_ns - trip_ns / 2;
  if (offset->exchanges++ > 0 && bound_ns >= offset->bound_ns) return;
  offset->offset_ns = ahead_ns;
  offset->bound_ns = bound_ns;
}

void tb__host_offset_sample(tb__host_offset_t *offset, int64_t sent_ns, int64_t received_ns)
{
  int64_t way_ns;
  if (sent_ns <= 0 || received_ns <= 0 || !subtract(received_ns, sent_ns, &way_ns)) return;
  if (offset->samples++ == 0 || way_ns < offset->one_way_ns) offset->one_way_ns = way_ns;
}

tb__host_evidence_t tb__host_offset_best(const tb__host_offset_t *offset, int64_t *out_ns,
                                         int64_t *out_bound_ns)
{
  if (offset->exchanges) {
    *out_ns = offset->offset_ns;
    *out_bound_ns = offset->bound_ns;
    return TB__HOST_BY_REQUESTS;
  }
  if (offset->samples < TB__HOST_SAMPLES) return TB__HOST_UNKNOWN;
  *out_ns = -offset->one_way_ns;
  *out_bound_ns = 0;
  return TB__HOST_ONE_WAY;
}

bool tb__host_offset_is_off(const tb__host_offset_t *offset, int64_t limit_ns)
{
  int64_t ahead_ns, bound_ns;
  tb__host_evidence_t by = tb__host_offset_best(offset, &ahead_ns, &bound_ns);
  if (by == TB__HOST_UNKNOWN) return false;
  int64_t behind_by_way_ns = by == TB__HOST_ONE_WAY ? TB__HOST_TRANSPORT_NS : 0;
  if (limit_ns > INT64_MAX - TB__HOST_TRANSPORT_NS) return false;
  return ahead_ns - bound_ns > limit_ns || -ahead_ns - bound_ns > limit_ns + behind_by_way_ns;
}

void tb__host_offset_text(const tb__host_offset_t *offset, char *out, size_t size)
{
  int64_t ahead_ns = 0, bound_ns = 0;
  tb__host_evidence_t by = tb__host_offset_best(offset, &ahead_ns, &bound_ns);
  const char *side = ahead_ns < 0 ? "behind" : "ahead of";
  int64_t size_ns = ahead_ns < 0 ? -ahead_ns : ahead_ns;
  if (by == TB__HOST_BY_REQUESTS)
    snprintf(out, size,
             "its system clock is %s %s this host's, give or take %s (best of %" PRIu32
             " request%s)",
             tb__duration_text(size_ns).text, side, tb__duration_text(bound_ns).text,
             offset->exchanges, offset->exchanges == 1 ? "" : "s");
  else if (by == TB__HOST_ONE_WAY)
    snprintf(out, size,
             "its system clock is %s %s %s this host's (one-way minimum of %" PRIu64
             " messages: includes transport latency)",
             ahead_ns < 0 ? "at most" : "at least", tb__duration_text(size_ns).text, side,
             offset->samples);
  else
    snprintf(out, size, "its system clock was not compared with this host's");
}
