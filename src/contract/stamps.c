#include "contract/stamps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/durations.h"

#define NS_PER_S INT64_C(1000000000)

enum { JUDGED_AT_LEAST = 10 };

/* Stamps may be anything: differences stay within the range. */
static int64_t minus(int64_t a, int64_t b)
{
  int64_t result;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return a < b ? INT64_MIN : INT64_MAX;
}

/* |a - b|, INT64_MAX at most. */
static int64_t apart(int64_t a, int64_t b)
{
  int64_t off = minus(a, b);
  if (off == INT64_MIN) return INT64_MAX;
  return off < 0 ? -off : off;
}

tb__stamp_limits_t tb__stamp_limits(const tb__contract_limits_t *limits, int64_t tick_ns,
                                    int64_t budget_ns)
{
  return (tb__stamp_limits_t){.future_ns = tb__contract_future_ns(limits, tick_ns),
                              .old_ns = limits->age_max_ns,
                              .other_ns = tb__contract_other_domain_ns(limits, budget_ns),
                              .far_ns = limits->other_domain_sure_ns};
}

void tb__stamps_init(tb__stamps_t *stamps, const tb__stamp_limits_t *limits)
{
  memset(stamps, 0, sizeof *stamps);
  tb__contract_limits_t usual = tb__contract_limits_default();
  stamps->limits = limits ? *limits : tb__stamp_limits(&usual, 0, 0);
  stamps->stride = 1;
}

/* After a jump back by J, time that went on as before is J ahead of ROS time: in-flight samples are
 * somewhat below that. What is less than half of it ahead belongs to the new time. */
static bool is_of_stale_epoch(const tb__stamp_limits_t *limits, const tb__stamp_sample_t *sample)
{
  if (sample->epoch.number == 0) return false;
  int64_t jump_ns = minus(sample->epoch.from_ns, sample->epoch.to_ns);
  int64_t ahead_ns = minus(sample->stamp_ns, sample->ros_ns);
  return ahead_ns > limits->future_ns && ahead_ns >= jump_ns / 2 &&
         minus(ahead_ns, jump_ns) <= limits->future_ns;
}

tb__stamp_kind_t tb__stamp_kind(const tb__stamp_limits_t *limits, const tb__stamp_sample_t *sample)
{
  if (!sample->has_stamp) return TB__STAMP_NONE;
  if (sample->stamp_ns == 0) return TB__STAMP_ZERO;
  if (sample->stamp_ns < 0) return TB__STAMP_INVALID;
  if (sample->ros_ns == 0) return TB__STAMP_UNJUDGED;
  if (is_of_stale_epoch(limits, sample)) return TB__STAMP_STALE_EPOCH;
  int64_t age_ns = minus(sample->ros_ns, sample->stamp_ns);
  int64_t off_ns = apart(sample->ros_ns, sample->stamp_ns);
  if (off_ns > limits->other_ns && sample->system_ns != 0) {
    int64_t other_ns = apart(sample->system_ns, sample->stamp_ns);
    if (other_ns <= limits->other_ns && other_ns < off_ns / 2) return TB__STAMP_SYSTEM;
  }
  if (off_ns > limits->far_ns) return TB__STAMP_FAR;
  if (age_ns < 0 && off_ns > limits->future_ns) return TB__STAMP_FUTURE;
  return age_ns > limits->old_ns ? TB__STAMP_OLD : TB__STAMP_GOOD;
}

/* Every stride'th pair is kept; when there is no room, every second of them, and half as many from
 * then on: what is kept is spread over all of the stream. */
static void keep_pair(tb__stamps_t *stamps, int64_t stamp_ns, int64_t arrival_ns)
{
  if (stamps->pairs_seen++ % stamps->stride) return;
  if (stamps->pair_count == TB__STAMP_PAIRS) {
    for (uint32_t i = 0; i < TB__STAMP_PAIRS / 2; i++)
      stamps->pairs[i] = stamps->pairs[2 * i];
    stamps->pair_count = TB__STAMP_PAIRS / 2;
    if (stamps->stride < UINT32_MAX / 2) stamps->stride *= 2;
    if ((stamps->pairs_seen - 1) % stamps->stride) return;
  }
  stamps->pairs[stamps->pair_count].stamp_ns = stamp_ns;
  stamps->pairs[stamps->pair_count++].arrival_ns = arrival_ns;
}

static void note_arrival(tb__stamps_t *stamps, int64_t arrival_ns)
{
  if (stamps->arrivals++ == 0) {
    stamps->first_arrival_ns = arrival_ns;
  } else {
    int64_t gap_ns = minus(arrival_ns, stamps->last_arrival_ns);
    if (stamps->gap.count == 0 || gap_ns > stamps->gap.max_ns)
      stamps->gap_at_ns = stamps->last_arrival_ns;
    tb__moments_add(&stamps->gap, gap_ns);
  }
  stamps->last_arrival_ns = arrival_ns;
}

/* The steps of stamps that belong to ROS time. */
static void note_step(tb__stamps_t *stamps, const tb__stamp_sample_t *sample)
{
  int64_t step_ns = minus(sample->stamp_ns, stamps->last_stamp_ns);
  if (stamps->has_last && stamps->last_epoch == sample->epoch.number) {
    if (step_ns == 0) {
      stamps->equal++;
      stamps->repeated += minus(sample->ros_ns, stamps->last_ros_ns) > stamps->limits.future_ns;
    } else if (step_ns < 0) {
      if (stamps->backward++ == 0) stamps->backward_at_ns = sample->ros_ns;
      step_ns = minus(stamps->last_stamp_ns, sample->stamp_ns);
      if (step_ns > stamps->backward_ns) stamps->backward_ns = step_ns;
    } else {
      tb__moments_add(&stamps->step, step_ns);
      keep_pair(stamps, step_ns, minus(sample->arrival_ns, stamps->last_stamped_arrival_ns));
    }
  }
  stamps->has_last = true;
  stamps->last_epoch = sample->epoch.number;
  stamps->last_stamp_ns = sample->stamp_ns;
  stamps->last_ros_ns = sample->ros_ns;
  stamps->last_stamped_arrival_ns = sample->arrival_ns;
}

static void note_excess(tb__stamp_excess_t *excess, const tb__stamp_sample_t *sample, bool is_first)
{
  int64_t off_ns = apart(sample->ros_ns, sample->stamp_ns);
  if (is_first) {
    excess->at_ns = sample->ros_ns;
    excess->stamp_ns = sample->stamp_ns;
  }
  if (off_ns > excess->greatest_ns) excess->greatest_ns = off_ns;
}

tb__stamp_kind_t tb__stamps_feed(tb__stamps_t *stamps, const tb__stamp_sample_t *sample)
{
  tb__stamp_kind_t kind = tb__stamp_kind(&stamps->limits, sample);
  bool is_first = stamps->kinds[kind]++ == 0;
  note_arrival(stamps, sample->arrival_ns);
  switch (kind) {
  case TB__STAMP_GOOD:
  case TB__STAMP_OLD:
  case TB__STAMP_FUTURE:
    tb__spread_add(&stamps->age, minus(sample->ros_ns, sample->stamp_ns));
    stamps->whole += sample->stamp_ns % NS_PER_S == 0;
    note_step(stamps, sample);
    break;
  default:
    break;
  }
  if (kind != TB__STAMP_NONE && kind != TB__STAMP_GOOD && kind != TB__STAMP_UNJUDGED)
    note_excess(&stamps->excess[kind], sample, is_first);
  return kind;
}

bool tb__stamps_invalid_text(const tb__stamps_t *stamps, char *out, size_t size)
{
  unsigned long long count = stamps->kinds[TB__STAMP_INVALID];
  if (count)
    snprintf(out, size, "%llu of %llu stamps are no valid time, first %s", count,
             (unsigned long long)(stamps->arrivals - stamps->kinds[TB__STAMP_NONE]),
             tb__invalid_time_text(stamps->excess[TB__STAMP_INVALID].stamp_ns).text);
  return count > 0;
}

bool tb__stamps_repeated_text(const tb__stamps_t *stamps, double share, char *out, size_t size)
{
  uint64_t count = stamps->age.moments.count;
  if (stamps->repeated < JUDGED_AT_LEAST || (double)stamps->repeated < share * (double)count)
    return false;
  snprintf(out, size, "%llu of %llu stamps repeat the one before",
           (unsigned long long)stamps->repeated, (unsigned long long)count);
  return true;
}

bool tb__stamps_whole_text(const tb__stamps_t *stamps, char *out, size_t size)
{
  const tb__moments_t *age = &stamps->age.moments;
  if (age->count < JUDGED_AT_LEAST || stamps->whole < age->count ||
      minus(age->max_ns, age->min_ns) <= NS_PER_S / 2 || stamps->limits.future_ns >= NS_PER_S)
    return false;
  snprintf(out, size, "all %llu stamps are whole seconds, and their ages differ by %s",
           (unsigned long long)age->count, tb__duration_text(age->max_ns - age->min_ns).text);
  return true;
}

/* --- offsets --- */

#define OFFSET_SPREAD_NS NS_PER_S /* latencies are within it */
#define OFFSET_AHEAD_NS  (10 * NS_PER_S)
#define ZONE_STEP_NS     (900 * NS_PER_S)
#define ZONE_FIRST_NS    (2 * ZONE_STEP_NS)
#define ZONE_LAST_NS     (14 * 3600 * NS_PER_S)

/* What is known to be off by so much. */
static void find_cause(tb__stamp_offset_t *offset)
{
  int64_t off_ns = offset->by_ns < 0 ? -offset->by_ns : offset->by_ns;
  const char *cause = "";
  char zone[32] = "";
  int64_t zone_ns = (off_ns + ZONE_STEP_NS / 2) / ZONE_STEP_NS * ZONE_STEP_NS;
  bool is_ahead = offset->by_ns > 0;
  offset->remedy = "ExecuteProcess(cmd=['chronyc', 'waitsync', '30', '0.01'])  # on the host that "
                   "stamps, before its nodes";
  if (apart(off_ns, 37 * NS_PER_S) <= OFFSET_SPREAD_NS) {
    cause = is_ahead ? "TAI (PTP), which is 37 s ahead of UTC"
                     : "UTC where the others have TAI (PTP), which is 37 s ahead";
    offset->remedy = "ExecuteProcess(cmd=['phc2sys', '-a', '-r'])  # with ptp4l, which knows the "
                     "37 s between TAI and UTC";
  } else if (apart(off_ns, 18 * NS_PER_S) <= OFFSET_SPREAD_NS) {
    cause = is_ahead ? "GPS time, which is 18 s ahead of UTC"
                     : "leap seconds of GPS time that were taken off twice";
    offset->remedy = "utc = gps_time - 18  # in the driver: the leap seconds that the receiver "
                     "reports";
  } else if (zone_ns >= ZONE_FIRST_NS && zone_ns <= ZONE_LAST_NS &&
             apart(off_ns, zone_ns) <= OFFSET_SPREAD_NS) {
    cause = "the local time of a time zone, taken for UTC";
    int minutes = (int)(zone_ns / (60 * NS_PER_S));
    snprintf(zone, sizeof zone, " (UTC%c%02d:%02d)", is_ahead ? '+' : '-', minutes / 60,
             minutes % 60);
    offset->remedy = "SetEnvironmentVariable('TZ', 'UTC')  # and timegm, not mktime, in the driver";
  }
  snprintf(offset->cause, sizeof offset->cause, "%s%s", cause, zone);
}

bool tb__stamps_offset(const tb__stamps_t *stamps, tb__stamp_offset_t *out)
{
  const tb__moments_t *age = &stamps->age.moments;
  uint64_t count = age->count;
  bool is_ahead = stamps->kinds[TB__STAMP_FUTURE] == count && age->max_ns <= -OFFSET_AHEAD_NS;
  bool is_behind = stamps->kinds[TB__STAMP_OLD] == count;
  if (count < JUDGED_AT_LEAST || (!is_ahead && !is_behind) ||
      minus(age->max_ns, age->min_ns) > OFFSET_SPREAD_NS)
    return false;
  out->by_ns = -(int64_t)age->mean_ns;
  find_cause(out);
  return is_ahead || *out->cause;
}

void tb__stamps_offset_text(const tb__stamps_t *stamps, const tb__stamp_offset_t *offset, char *out,
                            size_t size)
{
  const tb__moments_t *age = &stamps->age.moments;
  bool is_ahead = offset->by_ns > 0;
  const tb__stamp_excess_t *excess = &stamps->excess[is_ahead ? TB__STAMP_FUTURE : TB__STAMP_OLD];
  snprintf(out, size,
           "all %llu stamps are %s %s, always the same to %s, first at %s (stamp %s)%s%s",
           (unsigned long long)age->count,
           tb__duration_text(is_ahead ? offset->by_ns : -offset->by_ns).text,
           is_ahead ? "ahead" : "behind", tb__duration_text(age->max_ns - age->min_ns).text,
           tb__moment_text(excess->at_ns).text, tb__moment_text(excess->stamp_ns).text,
           *offset->cause ? ": " : "", offset->cause);
}

double tb__stamps_rate(const tb__stamps_t *stamps)
{
  int64_t span_ns = minus(stamps->last_arrival_ns, stamps->first_arrival_ns);
  if (stamps->arrivals < 2 || span_ns <= 0) return 0.0;
  return (double)(stamps->arrivals - 1) * 1e9 / (double)span_ns;
}

static int compare_ns(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t middle_arrival_step(const tb__stamps_t *stamps)
{
  int64_t steps[TB__STAMP_PAIRS];
  if (stamps->pair_count == 0) return 0;
  for (uint32_t i = 0; i < stamps->pair_count; i++)
    steps[i] = stamps->pairs[i].arrival_ns;
  qsort(steps, stamps->pair_count, sizeof *steps, compare_ns);
  return steps[stamps->pair_count / 2];
}

/* Gaps are in both steps, whatever made the stamps: pairs beside one are left out. */
static bool is_beside_gap(int64_t step_ns, int64_t middle_ns)
{
  return step_ns > middle_ns + middle_ns / 2;
}

tb__receipt_score_t tb__stamps_receipt_score(const tb__stamps_t *stamps)
{
  tb__receipt_score_t result = {0};
  int64_t middle_ns = middle_arrival_step(stamps);
  double n = 0, mean_a = 0, mean_b = 0, square_a = 0, square_b = 0, product = 0;
  for (uint32_t i = 0; i < stamps->pair_count; i++) {
    int64_t a = stamps->pairs[i].stamp_ns, b = stamps->pairs[i].arrival_ns;
    if (is_beside_gap(a, middle_ns) || is_beside_gap(b, middle_ns)) continue;
    n += 1;
    double off_a = (double)a - mean_a, off_b = (double)b - mean_b;
    mean_a += off_a / n;
    mean_b += off_b / n;
    square_a += off_a * ((double)a - mean_a);
    square_b += off_b * ((double)b - mean_b);
    product += off_a * ((double)b - mean_b);
    result.pair_count++;
  }
  result.age_p01_ns = tb__spread_quantile(&stamps->age, 0.01);
  result.age_p50_ns = tb__spread_quantile(&stamps->age, 0.5);
  if (square_a <= 0 || square_b <= 0) return result;
  result.correlation = product / sqrt(square_a * square_b);
  if (result.pair_count >= TB__RECEIPT_PAIRS && result.correlation > 0 &&
      result.age_p01_ns > -TB__RECEIPT_AGE_NS && result.age_p50_ns < TB__RECEIPT_AGE_NS)
    result.score = result.correlation < 1 ? result.correlation : 1;
  return result;
}
