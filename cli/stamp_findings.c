#include "stamp_findings.h"

#include <inttypes.h>
#include <string.h>
#include <timebase/duration.h>

#define SECONDS(ns) ((double)(ns) / (double)TB_NS_PER_S)

static tb__finding_input_t finding_of(const judged_stamps_t *judged, tb__rule_id_t rule)
{
  return (tb__finding_input_t){
      .rule = rule, .kind = TB__SUBJECT_TOPIC, .subject = judged->topic, .cause = judged->owner};
}

/* The same of a rule that a wrong time base breaks. */
static tb__finding_input_t finding_of_base(const judged_stamps_t *judged, tb__rule_id_t rule)
{
  tb__finding_input_t input = finding_of(judged, rule);
  if (judged->base_cause) input.cause = judged->base_cause;
  return input;
}

/* After each such finding: its text has the cause in place of the owner. */
static void add_owner(const judged_stamps_t *judged)
{
  if (judged->base_cause && judged->owner)
    tb__findings_add_evidence(judged->findings, "published by %s", judged->owner);
}

static void find_zero(const judged_stamps_t *judged)
{
  tb__finding_input_t input = finding_of(judged, TB__RULE_STAMP_ZERO);
  uint64_t count = judged->stamps->kinds[TB__STAMP_ZERO];
  if (!count || judged->base == TB__TIME_NONE) return;
  tb__findings_add(judged->findings, &input, "%" PRIu64 " of %" PRIu64 " stamps are 0", count,
                   judged->stamps->arrivals);
}

static void find_invalid(const judged_stamps_t *judged)
{
  tb__finding_input_t input = finding_of(judged, TB__RULE_STAMP_INVALID);
  char text[TB__FINDING_LINE_SIZE];
  if (judged->base != TB__TIME_NONE && tb__stamps_invalid_text(judged->stamps, text, sizeof text))
    tb__findings_add(judged->findings, &input, "%s", text);
}

static void find_other(const judged_stamps_t *judged)
{
  tb__finding_input_t input = finding_of_base(judged, TB__RULE_STAMP_OTHER_DOMAIN);
  const tb__stamps_t *stamps = judged->stamps;
  const tb__stamp_excess_t *system = &stamps->excess[TB__STAMP_SYSTEM];
  const tb__stamp_excess_t *far = &stamps->excess[TB__STAMP_FAR];
  if (stamps->kinds[TB__STAMP_SYSTEM] && judged->base != TB__TIME_SYSTEM) {
    tb__findings_add(judged->findings, &input,
                     "%" PRIu64 " of %" PRIu64 " stamps are of system time (%.3f s at %.3f s of "
                     "/clock)",
                     stamps->kinds[TB__STAMP_SYSTEM], stamps->arrivals, SECONDS(system->stamp_ns),
                     SECONDS(system->at_ns));
    add_owner(judged);
  }
  if (stamps->kinds[TB__STAMP_FAR]) {
    tb__findings_add(judged->findings, &input,
                     "%" PRIu64 " of %" PRIu64 " stamps are more than a year off (%.3f s at "
                     "%.3f s)",
                     stamps->kinds[TB__STAMP_FAR], stamps->arrivals, SECONDS(far->stamp_ns),
                     SECONDS(far->at_ns));
    add_owner(judged);
  }
}

/* True: there is one, and it says all of the ages. */
static bool find_offset(const judged_stamps_t *judged)
{
  tb__finding_input_t input = finding_of_base(judged, TB__RULE_STAMP_OFFSET);
  tb__stamp_offset_t offset;
  char text[TB__FINDING_LINE_SIZE];
  if (!tb__stamps_offset(judged->stamps, &offset)) return false;
  input.detail = offset.remedy;
  tb__stamps_offset_text(judged->stamps, &offset, text, sizeof text);
  tb__findings_add(judged->findings, &input, "%s", text);
  add_owner(judged);
  return true;
}

static void find_texture(const judged_stamps_t *judged)
{
  tb__finding_input_t whole = finding_of(judged, TB__RULE_STAMP_WHOLE_SECONDS);
  tb__finding_input_t repeated = finding_of(judged, TB__RULE_STAMP_REPEATED);
  char text[TB__FINDING_LINE_SIZE];
  if (tb__stamps_whole_text(judged->stamps, text, sizeof text))
    tb__findings_add(judged->findings, &whole, "%s", text);
  else if (tb__stamps_repeated_text(judged->stamps, judged->limits->repeated, text, sizeof text))
    tb__findings_add(judged->findings, &repeated, "%s", text);
}

static void find_off(const judged_stamps_t *judged)
{
  const tb__stamps_t *stamps = judged->stamps;
  tb__finding_input_t future = finding_of_base(judged, TB__RULE_STAMP_FUTURE);
  tb__finding_input_t old = finding_of_base(judged, TB__RULE_STAMP_OLD);
  int64_t ahead_ns = stamps->excess[TB__STAMP_FUTURE].greatest_ns;
  if (ahead_ns > -judged->limits->age_min_ns) future.severity = TB__SEVERITY_ERROR;
  if (stamps->kinds[TB__STAMP_FUTURE]) {
    tb__findings_add(judged->findings, &future,
                     "%" PRIu64 " of %" PRIu64 " stamps are in the future, by up to %.3f s",
                     stamps->kinds[TB__STAMP_FUTURE], stamps->arrivals, SECONDS(ahead_ns));
    add_owner(judged);
  }
  if (stamps->kinds[TB__STAMP_OLD]) {
    tb__findings_add(judged->findings, &old,
                     "%" PRIu64 " of %" PRIu64 " stamps are old, by up to %.3f s",
                     stamps->kinds[TB__STAMP_OLD], stamps->arrivals,
                     SECONDS(stamps->excess[TB__STAMP_OLD].greatest_ns));
    add_owner(judged);
  }
}

static void find_order(const judged_stamps_t *judged)
{
  const tb__stamps_t *stamps = judged->stamps;
  tb__finding_input_t backward = finding_of(judged, TB__RULE_STAMP_BACKWARD);
  tb__finding_input_t stale = finding_of(judged, TB__RULE_STALE_EPOCH);
  if (stamps->backward)
    tb__findings_add(judged->findings, &backward,
                     "%" PRIu64 " of %" PRIu64 " stamps are before the one before, by up to %.3f s",
                     stamps->backward, stamps->arrivals, SECONDS(stamps->backward_ns));
  if (stamps->kinds[TB__STAMP_STALE_EPOCH] && strcmp(judged->topic, "/tf") != 0)
    tb__findings_add(judged->findings, &stale,
                     "%" PRIu64 " of %" PRIu64 " stamps are of the time before the jump of /clock",
                     stamps->kinds[TB__STAMP_STALE_EPOCH], stamps->arrivals);
}

void stamp_findings_add(const judged_stamps_t *judged)
{
  find_zero(judged);
  find_invalid(judged);
  if (!judged->has_other_clock) {
    find_other(judged);
    if (!find_offset(judged)) find_off(judged);
  }
  find_order(judged);
  find_texture(judged);
}
