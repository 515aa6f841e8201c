#include "top_findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* --- the list --- */

static void finding_fini(top_finding_t *finding)
{
  free(finding->id);
  free(finding->subject);
  free(finding->text);
}

static void remove_at(top_findings_t *findings, size_t index)
{
  finding_fini(&findings->list[index]);
  findings->count--;
  memmove(&findings->list[index], &findings->list[index + 1],
          (findings->count - index) * sizeof *findings->list);
}

/* It replaces what was said before of the same fault. */
static void add(top_findings_t *findings, top_finding_t *finding)
{
  if (!finding->id || !finding->subject || !finding->text) { /* out of memory */
    finding_fini(finding);
    return;
  }
  for (size_t i = 0; i < findings->count; i++) {
    const top_finding_t *other = &findings->list[i];
    if (strcmp(other->id, finding->id) != 0 || strcmp(other->subject, finding->subject) != 0)
      continue;
    remove_at(findings, i);
    break;
  }
  if (findings->count == TOP_FINDINGS_MAX) remove_at(findings, 0);
  findings->list[findings->count++] = *finding;
}

static void __attribute__((format(printf, 5, 6)))
note(top_findings_t *findings, const char *id, tb__severity_t severity, const char *subject,
     const char *format, ...)
{
  char text[256]; /* of numbers */
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  top_finding_t finding = {.system_ns = findings->system_ns,
                           .id = strdup(id),
                           .subject = text_harmless(subject),
                           .text = text_harmless(text),
                           .severity = severity};
  add(findings, &finding);
}

const top_finding_t *top_findings_get(const top_findings_t *findings, size_t back)
{
  return back < findings->count ? &findings->list[findings->count - 1 - back] : NULL;
}

void top_findings_fini(top_findings_t *findings)
{
  while (findings->count)
    remove_at(findings, findings->count - 1);
}

/* --- publishers --- */

/* What can be wrong with the stamps of a publisher. */
static const struct fault {
  tb__rule_id_t rule;
  tb__stamp_kind_t kind; /* 0: steps back */
  const char *text;
} faults[] = {
    {TB__RULE_STAMP_ZERO, TB__STAMP_ZERO, "are 0"},
    {TB__RULE_STAMP_INVALID, TB__STAMP_INVALID, "are no valid time"},
    {TB__RULE_STAMP_OTHER_DOMAIN, TB__STAMP_SYSTEM, "are of system time"},
    {TB__RULE_STAMP_OTHER_DOMAIN, TB__STAMP_FAR, "are more than a year off"},
    {TB__RULE_STAMP_FUTURE, TB__STAMP_FUTURE, "are in the future"},
    {TB__RULE_STAMP_OLD, TB__STAMP_OLD, "are old"},
    {TB__RULE_STALE_EPOCH, TB__STAMP_STALE_EPOCH, "are of the time before a jump"},
    {TB__RULE_STAMP_BACKWARD, 0, "are before the one before"},
};

enum { FAULTS = sizeof faults / sizeof *faults, NOTED_GAPS = FAULTS, NOTED_MISSED, NOTED_COUNT };
_Static_assert((int)NOTED_COUNT <= OBSERVE_NOTED_MAX, "room in observe_stream_t");

static int64_t excess_of(const tb__stamps_t *stamps, const struct fault *fault)
{
  return fault->kind ? stamps->excess[fault->kind].greatest_ns : stamps->backward_ns;
}

/* True: it is more than it was. */
static bool has_risen(uint64_t *noted, uint64_t count)
{
  bool is_more = count > *noted;
  *noted = count;
  return is_more;
}

void top_findings_note_row(top_findings_t *findings, const observe_row_t *row)
{
  const tb__stamps_t *stamps = &row->is.stamps;
  uint64_t *noted = row->stream->noted;
  char subject[1024];
  snprintf(subject, sizeof subject, "%s%s%s", row->topic->name, row->node ? " of " : "",
           row->node ? row->node : "");
  for (size_t i = 0; i < FAULTS; i++) {
    const struct fault *fault = &faults[i];
    const tb__rule_t *rule = tb__rule(fault->rule);
    uint64_t count = fault->kind ? stamps->kinds[fault->kind] : stamps->backward;
    int64_t by_ns = excess_of(stamps, fault);
    if (!has_risen(&noted[i], count)) continue;
    if (by_ns > 0 && fault->kind != TB__STAMP_ZERO && fault->kind != TB__STAMP_INVALID)
      note(findings, rule->id, rule->severity, subject,
           "%" PRIu64 " of %" PRIu64 " stamps %s, by up to %.3f s", count, stamps->arrivals,
           fault->text, (double)by_ns / 1e9);
    else
      note(findings, rule->id, rule->severity, subject, "%" PRIu64 " of %" PRIu64 " stamps %s",
           count, stamps->arrivals, fault->text);
  }
  if (has_risen(&noted[NOTED_GAPS], row->is.gaps))
    note(findings, "gap", TB__SEVERITY_WARN, subject, "%" PRIu64 " gaps, up to %.1f s",
         row->is.gaps, (double)stamps->gap.max_ns / 1e9);
  if (has_risen(&noted[NOTED_MISSED], row->is.not_received))
    note(findings, "missed", TB__SEVERITY_NOTE, subject,
         "%" PRIu64 " messages were published and not received here", row->is.not_received);
}

/* --- the clock --- */

void top_findings_note_clock(top_findings_t *findings, observe_t *observe)
{
  static tb__ticks_t ticks; /* large */
  observe_clock_t *clock = &observe->clock;
  pthread_mutex_lock(&clock->lock);
  ticks = clock->ticks;
  pthread_mutex_unlock(&clock->lock);
  const tb__tick_stream_t *all = &ticks.all;
  uint32_t publishers = tb__ticks_simultaneous(&ticks);
  const struct {
    tb__rule_id_t rule;
    uint64_t count; /* from 1 on it is a finding */
    double seconds;
    const char *text;
  } now[] = {
      {TB__RULE_CLOCK_TWO_PUBLISHERS, publishers > 1 ? publishers : 0, 0, "publishers at once"},
      {TB__RULE_CLOCK_TWO_STREAMS, publishers <= 1 && tb__tick_stream_is_double(all),
       (double)all->apart_ns / 1e9, "publisher with two streams of time"},
      {TB__RULE_CLOCK_BACKWARDS, all->kinds[TB__TICK_BACKWARD], (double)all->backward_ns / 1e9,
       "jumps back"},
      {TB__RULE_CLOCK_GAP, all->kinds[TB__TICK_SKIP], (double)all->skip_ns / 1e9, "jumps forward"},
      {TB__RULE_CLOCK_STALL, all->stalls, (double)all->stall_ns / 1e9, "stalls"},
      {TB__RULE_CLOCK_ZERO, all->kinds[TB__TICK_ZERO], 0, "ticks of time 0"},
      {TB__RULE_CLOCK_INVALID, all->kinds[TB__TICK_INVALID], 0, "ticks that are no valid time"},
  };
  _Static_assert(sizeof now / sizeof *now <= 8, "room in top_findings_t");
  for (size_t i = 0; i < sizeof now / sizeof *now; i++) {
    const tb__rule_t *rule = tb__rule(now[i].rule);
    if (!has_risen(&findings->noted_clock[i], now[i].count)) continue;
    if (now[i].seconds > 0)
      note(findings, rule->id, rule->severity, "/clock", "%" PRIu64 " %s, up to %.3f s",
           now[i].count, now[i].text, now[i].seconds);
    else
      note(findings, rule->id, rule->severity, "/clock", "%" PRIu64 " %s", now[i].count,
           now[i].text);
  }
}

/* --- paths --- */

void top_findings_note_paths(top_findings_t *findings, observe_t *observe)
{
  for (size_t i = 0; i < OBSERVE_PATHS_MAX; i++) {
    const observe_path_t *path = &observe->paths[i];
    tb__path_state_t state = path->from ? path->is.state : 0; /* which only this thread writes */
    tb__path_state_t before = findings->noted_paths[i];
    char subject[1024];
    findings->noted_paths[i] = state;
    if (!state || state == before || state == TB__PATH_UNKNOWN ||
        (state == TB__PATH_HOLDS && before <= TB__PATH_UNKNOWN))
      continue;
    snprintf(subject, sizeof subject, "%s to %s", path->from, path->to);
    if (path->is.factor > 0 && path->is.held_factor > 0 && state == TB__PATH_BACKLOG)
      note(findings, "path", TB__SEVERITY_ERROR, subject,
           "%s at %.1f; highest factor that held: %.1f", tb__path_state_text(state),
           path->is.factor, path->is.held_factor);
    else
      note(findings, "path", state == TB__PATH_HOLDS ? TB__SEVERITY_NOTE : TB__SEVERITY_ERROR,
           subject, "%s", tb__path_state_text(state));
  }
}
