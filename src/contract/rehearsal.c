#include "contract/rehearsal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <timebase/duration.h>
#include <timebase/text.h>

#define FACTOR_LEAST 0.98
#define FACTOR_MOST  1.02
#define AGE_SHARE    0.99 /* of the messages within the budget */

static const char *const names[TB__STEP_COUNT] = {
    [TB__STEP_TIME_BASE] = "use-sim-time",
    [TB__STEP_QUIET] = "quiet-start",
    [TB__STEP_RUN] = "run",
    [TB__STEP_SEEK] = "seek-back",
    [TB__STEP_PAUSE] = "pause",
    [TB__STEP_WITHHOLD] = "withheld-input",
    [TB__STEP_RECORDING] = "recording",
};

static const char *const titles[TB__STEP_COUNT] = {
    [TB__STEP_TIME_BASE] = "each node is on the time that it should be on",
    [TB__STEP_QUIET] = "nothing with a stamp before the first tick of /clock",
    [TB__STEP_RUN] = "a run at 1x within the budgets",
    [TB__STEP_SEEK] = "after a seek back outputs resume, with the new time alone",
    [TB__STEP_PAUSE] = "the safety output trips while time is paused",
    [TB__STEP_WITHHOLD] = "the safety output trips when an input is withheld",
    [TB__STEP_RECORDING] = "the recording of the run passes 'timebase check'",
};

const char *tb__rehearsal_step_name(tb__rehearsal_step_t step)
{
  return step < TB__STEP_COUNT ? names[step] : "unknown";
}

const char *tb__rehearsal_step_title(tb__rehearsal_step_t step)
{
  return step < TB__STEP_COUNT ? titles[step] : "unknown";
}

const char *tb__proof_name(tb__proof_t proof)
{
  return proof == TB__PROOF_PASS       ? "PASS"
         : proof == TB__PROOF_FAIL     ? "FAIL"
         : proof == TB__PROOF_NEEDLESS ? "NOT APPLICABLE"
                                       : "NOT PROVEN";
}

/* --- lines --- */

/* A place for a line: a free one, or that of one that weighs less. NULL: there is none. */
static tb__rehearsal_line_t *place_for(tb__rehearsal_line_t *lines, size_t *count,
                                       tb__proof_t proof)
{
  if (*count < TB__REHEARSAL_LINES) return &lines[(*count)++];
  for (size_t i = TB__REHEARSAL_LINES; i > 0; i--)
    if (lines[i - 1].proof < proof) return &lines[i - 1];
  return NULL;
}

void tb__rehearsal_note(tb__rehearsal_t *rehearsal, tb__rehearsal_step_t step, tb__proof_t proof,
                        const char *format, ...)
{
  size_t before = rehearsal->steps[step].count;
  tb__rehearsal_line_t *line =
      place_for(rehearsal->steps[step].lines, &rehearsal->steps[step].count, proof);
  if (proof > rehearsal->steps[step].worst) rehearsal->steps[step].worst = proof;
  if (before == TB__REHEARSAL_LINES) rehearsal->steps[step].dropped++;
  if (!line) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line->text, sizeof line->text, format, arguments);
  va_end(arguments);
  line->proof = proof;
}

void tb__rehearsal_end(tb__rehearsal_t *rehearsal, const char *why)
{
  const char *first = NULL;
  for (int i = 0; i < TB__STEP_COUNT; i++) {
    tb__rehearsal_step_t step = (tb__rehearsal_step_t)i;
    if (rehearsal->steps[step].worst) continue;
    if (first)
      tb__rehearsal_note(rehearsal, step, TB__PROOF_NONE, "not reached, as %s", first);
    else
      tb__rehearsal_note(rehearsal, step, TB__PROOF_NONE, "%s", why);
    if (!first) first = tb__rehearsal_step_name(step);
  }
}

tb__proof_t tb__rehearsal_proof(const tb__rehearsal_t *rehearsal, tb__rehearsal_step_t step)
{
  return rehearsal->steps[step].worst ? rehearsal->steps[step].worst : TB__PROOF_NONE;
}

tb__proof_t tb__rehearsal_verdict(const tb__rehearsal_t *rehearsal)
{
  tb__proof_t worst = TB__PROOF_PASS;
  for (int step = 0; step < TB__STEP_COUNT; step++) {
    tb__proof_t proof = tb__rehearsal_proof(rehearsal, (tb__rehearsal_step_t)step);
    if (proof > worst && proof != TB__PROOF_NEEDLESS) worst = proof;
  }
  return worst;
}

/* --- judging --- */

typedef struct duration_text {
  char text[TB_DURATION_TEXT_SIZE];
} duration_text_t;

/* Rounded to what a reader needs. */
static duration_text_t text_of(int64_t ns)
{
  duration_text_t out;
  int64_t unit = ns >= INT64_C(10000000) ? INT64_C(1000000) : INT64_C(1000);
  tb_duration_format((tb_duration_t){ns / unit * unit}, out.text, sizeof out.text);
  return out;
}

#define TEXT(ns) text_of(ns).text

void tb__rehearsal_judge_base(tb__rehearsal_t *rehearsal, const char *node, bool should_follow,
                              tb__base_verdict_t verdict)
{
  const char *evidence = tb__base_evidence_text(verdict);
  if (verdict.base == TB__BASE_UNKNOWN) {
    tb__rehearsal_note(rehearsal, TB__STEP_TIME_BASE, TB__PROOF_NONE,
                       "%s: its time base is unknown (%s); let it answer parameter requests", node,
                       evidence);
    return;
  }
  bool follows = verdict.base != TB__BASE_WALL;
  if (follows == should_follow)
    tb__rehearsal_note(rehearsal, TB__STEP_TIME_BASE, TB__PROOF_PASS, "%s is on %s: %s", node,
                       follows ? "/clock" : "wall time, as declared", evidence);
  else
    tb__rehearsal_note(rehearsal, TB__STEP_TIME_BASE, TB__PROOF_FAIL,
                       "%s is on %s: %s; the manifest has use_sim_time: %s", node,
                       follows ? "/clock" : "wall time", evidence,
                       should_follow ? "true" : "false");
}

void tb__rehearsal_judge_quiet(tb__rehearsal_t *rehearsal, const tb__quiet_facts_t *facts)
{
  const char *node = facts->node ? facts->node : "a program without a node";
  uint64_t messages = facts->messages + facts->unseen;
  if (!facts->is_known)
    tb__rehearsal_note(rehearsal, TB__STEP_QUIET, TB__PROOF_NONE,
                       "%s of %s: the definition of its type is unknown; name its folder with "
                       "--definitions",
                       facts->topic, node);
  else if (!facts->has_stamp)
    return;
  else if (messages == 0)
    tb__rehearsal_note(rehearsal, TB__STEP_QUIET, TB__PROOF_PASS, "%s of %s: no message",
                       facts->topic, node);
  else if (facts->is_latched)
    tb__rehearsal_note(rehearsal, TB__STEP_QUIET, TB__PROOF_PASS,
                       "%s of %s: %" PRIu64 " message%s, latched, which is not judged",
                       facts->topic, node, messages, messages == 1 ? "" : "s");
  else if (facts->messages)
    tb__rehearsal_note(rehearsal, TB__STEP_QUIET, TB__PROOF_FAIL,
                       "%s of %s: %" PRIu64 " message%s with a stamp before the first tick",
                       facts->topic, node, messages, messages == 1 ? "" : "s");
  else
    tb__rehearsal_note(rehearsal, TB__STEP_QUIET, TB__PROOF_FAIL,
                       "%s of %s: %" PRIu64 " message%s with a stamp before the first tick, by the "
                       "number of the first one that came",
                       facts->topic, node, messages, messages == 1 ? "" : "s");
}

void tb__rehearsal_judge_factor(tb__rehearsal_t *rehearsal, const tb__run_factor_t *run)
{
  tb__factor_range_t range;
  if (!tb__run_factor_range(run, &range)) {
    tb__rehearsal_note(rehearsal, TB__STEP_RUN, TB__PROOF_NONE,
                       "not an acceptance run: %" PRIu64
                       " ticks in less than a second; use a longer recording, or a longer run",
                       run->ticks);
    rehearsal->is_no_acceptance_run = true;
    return;
  }
  bool holds = range.least >= FACTOR_LEAST && range.most <= FACTOR_MOST;
  rehearsal->is_no_acceptance_run = !holds;
  tb__rehearsal_note(rehearsal, TB__STEP_RUN, holds ? TB__PROOF_PASS : TB__PROOF_NONE,
                     "%sthe real-time factor was %.3f to %.3f, %.3f in all, over %s (0.98 to 1.02 "
                     "is needed%s)",
                     holds ? "" : "not an acceptance run: ", range.least, range.most, range.mean,
                     TEXT(range.measured_ns),
                     holds ? "" : "; repeat it on a machine with less load");
}

static tb__proof_t proof_of_budget(const tb__rehearsal_t *rehearsal, bool is_held)
{
  if (is_held) return TB__PROOF_PASS;
  return rehearsal->is_no_acceptance_run ? TB__PROOF_NONE : TB__PROOF_FAIL;
}

void tb__rehearsal_judge_age(tb__rehearsal_t *rehearsal, const char *topic, int64_t budget_ns,
                             const tb__stamps_t *stamps)
{
  const tb__spread_t *ages = &stamps->age;
  uint64_t other = stamps->kinds[TB__STAMP_FAR] + stamps->kinds[TB__STAMP_INVALID];
  uint64_t bad = stamps->kinds[TB__STAMP_ZERO] + stamps->kinds[TB__STAMP_SYSTEM] + other;
  int64_t age_ns = tb__spread_quantile(ages, AGE_SHARE);
  if (bad)
    tb__rehearsal_note(rehearsal, TB__STEP_RUN, TB__PROOF_FAIL,
                       "%s: %" PRIu64 " of %" PRIu64 " stamps are not of ROS time (zero %" PRIu64
                       ", system time %" PRIu64 ", other %" PRIu64 ")",
                       topic, bad, stamps->arrivals, stamps->kinds[TB__STAMP_ZERO],
                       stamps->kinds[TB__STAMP_SYSTEM], other);
  else if (ages->moments.count == 0)
    tb__rehearsal_note(rehearsal, TB__STEP_RUN, TB__PROOF_NONE,
                       "%s: no message with a stamp came; its budget is not proven", topic);
  else
    tb__rehearsal_note(rehearsal, TB__STEP_RUN, proof_of_budget(rehearsal, age_ns <= budget_ns),
                       "%s: 99 %% of %" PRIu64 " messages are at most %s old, budget %s", topic,
                       ages->moments.count, TEXT(age_ns), TEXT(budget_ns));
}

void tb__rehearsal_judge_path(tb__rehearsal_t *rehearsal, const char *from, const char *to,
                              const tb__path_t *path)
{
  int64_t latency_ns = tb__spread_quantile(&path->steady, AGE_SHARE);
  bool is_late = latency_ns > path->budget_ns || path->state == TB__PATH_BACKLOG;
  if (path->inputs == 0)
    tb__rehearsal_note(rehearsal, TB__STEP_RUN, TB__PROOF_NONE,
                       "%s to %s: no input with a stamp was played", from, to);
  else if (path->matched == 0)
    tb__rehearsal_note(rehearsal, TB__STEP_RUN, TB__PROOF_FAIL,
                       "%s to %s: %" PRIu64 " inputs, and no output with a stamp of theirs", from,
                       to, path->inputs);
  else
    tb__rehearsal_note(rehearsal, TB__STEP_RUN, proof_of_budget(rehearsal, !is_late),
                       "%s to %s: 99 %% of %" PRIu64 " outputs within %s of steady time, budget "
                       "%s%s",
                       from, to, path->matched, TEXT(latency_ns), TEXT(path->budget_ns),
                       path->state == TB__PATH_BACKLOG ? "; the latency grows" : "");
}

void tb__rehearsal_judge_resume(tb__rehearsal_t *rehearsal, const tb__resume_facts_t *facts)
{
  char flight[64] = "";
  if (facts->in_flight)
    snprintf(flight, sizeof flight, "; %" PRIu64 " of the old time were on their way",
             facts->in_flight);
  if (facts->stale || facts->wrong)
    tb__rehearsal_note(rehearsal, TB__STEP_SEEK, TB__PROOF_FAIL,
                       "%s: %" PRIu64 " messages of the time before the seek, %" PRIu64
                       " of another, %" PRIu64 " of the new time%s",
                       facts->topic, facts->stale, facts->wrong, facts->good, flight);
  else if (facts->good == 0 && facts->limit_ns)
    tb__rehearsal_note(rehearsal, TB__STEP_SEEK, TB__PROOF_FAIL,
                       "%s: no message of the new time within %s%s", facts->topic,
                       TEXT(facts->limit_ns), flight);
  else if (!facts->limit_ns)
    tb__rehearsal_note(rehearsal, TB__STEP_SEEK, TB__PROOF_NONE,
                       "%s: %" PRIu64
                       " messages of the new time alone; declare rehearsal.resume, in which it has "
                       "to resume%s",
                       facts->topic, facts->good, flight);
  else
    tb__rehearsal_note(
        rehearsal, TB__STEP_SEEK,
        facts->after_ns <= facts->limit_ns ? TB__PROOF_PASS : TB__PROOF_FAIL,
        "%s: resumed after %s, limit %s; %" PRIu64 " messages of the new time alone%s",
        facts->topic, TEXT(facts->after_ns), TEXT(facts->limit_ns), facts->good, flight);
}

void tb__rehearsal_judge_trip(tb__rehearsal_t *rehearsal, tb__rehearsal_step_t step,
                              const tb__trip_facts_t *facts)
{
  if (!facts->is_known)
    tb__rehearsal_note(rehearsal, step, TB__PROOF_NONE,
                       "%s: no message came before %s; its state is not known", facts->topic,
                       facts->cause);
  else if (facts->was_tripped)
    tb__rehearsal_note(rehearsal, step, TB__PROOF_NONE,
                       "%s had tripped before %s; it has to be reset, and all inputs of the stack "
                       "have to be played",
                       facts->topic, facts->cause);
  else if (!facts->has_tripped)
    tb__rehearsal_note(rehearsal, step, TB__PROOF_FAIL,
                       "%s did not trip within %s of steady time after %s", facts->topic,
                       TEXT(facts->within_ns), facts->cause);
  else
    tb__rehearsal_note(rehearsal, step,
                       facts->after_ns <= facts->within_ns ? TB__PROOF_PASS : TB__PROOF_FAIL,
                       "%s tripped %s of steady time after %s, limit %s", facts->topic,
                       TEXT(facts->after_ns), facts->cause, TEXT(facts->within_ns));
}
