#include "contract/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/hash.h"

typedef struct off {
  char *reason; /* NULL: the rule is on */
  char *some;   /* of a rule that is off for some subjects; else NULL */
  uint64_t count;
} switch_t;

struct tb__findings {
  tb__finding_t **list; /* those first that are below no other, once finished */
  size_t count, capacity;
  size_t kept[TB__RULE_COUNT]; /* subjects */
  switch_t off[TB__RULE_COUNT];
  tb__finding_subject_t *last;      /* NULL: it was not kept */
  tb__finding_off_fn is_off;        /* may be NULL */
  void *user;                       /* of is_off */
  tb__finding_severity_fn severity; /* may be NULL */
  void *severity_user;
  bool is_ros1, is_replay;
  bool is_lost; /* memory ran out */
};

tb__findings_t *tb__findings_create(void)
{
  return calloc(1, sizeof(tb__findings_t));
}

static void subject_fini(tb__finding_subject_t *subject)
{
  for (size_t i = 0; i < subject->evidence_count; i++)
    free(subject->evidence[i]);
  free(subject->name);
  free(subject->detail);
}

static void finding_destroy(tb__finding_t *finding)
{
  for (size_t i = 0; i < finding->subject_count; i++)
    subject_fini(&finding->subjects[i]);
  free(finding->subjects);
  free(finding->cause);
  free(finding->caused);
  free(finding);
}

void tb__findings_destroy(tb__findings_t *findings)
{
  if (!findings) return;
  for (size_t i = 0; i < findings->count; i++)
    finding_destroy(findings->list[i]);
  for (size_t i = 0; i < TB__RULE_COUNT; i++) {
    free(findings->off[i].reason);
    free(findings->off[i].some);
  }
  free(findings->list);
  free(findings);
}

void tb__findings_of_ros1(tb__findings_t *findings)
{
  findings->is_ros1 = true;
}

void tb__findings_of_replay(tb__findings_t *findings)
{
  findings->is_replay = true;
}

bool tb__findings_is_judged(const tb__findings_t *findings, tb__rule_id_t rule)
{
  return findings->is_replay == (rule >= TB__RULE_REPLAY_MISSING);
}

static tb_status_t lose(tb__findings_t *findings)
{
  findings->is_lost = true;
  return TB_ERR_NO_MEMORY;
}

static char *copy_name(const char *name)
{
  return strndup(name, TB__FINDING_NAME_SIZE - 1);
}

static tb_status_t keep_reason(tb__findings_t *findings, char **place, const char *reason)
{
  char *copy = copy_name(reason);
  if (!copy) return lose(findings);
  free(*place);
  *place = copy;
  return TB_OK;
}

tb_status_t tb__findings_switch_off(tb__findings_t *findings, tb__rule_id_t rule,
                                    const char *reason)
{
  return keep_reason(findings, &findings->off[rule].reason, reason);
}

tb_status_t tb__findings_switch_off_some(tb__findings_t *findings, tb__rule_id_t rule,
                                         const char *reason)
{
  return keep_reason(findings, &findings->off[rule].some, reason);
}

const char *tb__findings_off(const tb__findings_t *findings, tb__rule_id_t rule, bool *out_some,
                             uint64_t *out_count)
{
  const char *reason = tb__findings_switched_off(findings, rule, out_count);
  if (out_some) *out_some = !reason && findings->off[rule].some;
  return reason ? reason : findings->off[rule].some;
}

void tb__findings_ask_severity(tb__findings_t *findings, tb__finding_severity_fn severity,
                               void *user)
{
  findings->severity = severity;
  findings->severity_user = user;
}

void tb__findings_ask_off(tb__findings_t *findings, tb__finding_off_fn is_off, void *user)
{
  findings->is_off = is_off;
  findings->user = user;
}

const char *tb__findings_switched_off(const tb__findings_t *findings, tb__rule_id_t rule,
                                      uint64_t *out_count)
{
  if (out_count) *out_count = findings->off[rule].count;
  return findings->off[rule].reason;
}

/* --- adding --- */

static uint64_t hash_of(tb__subject_kind_t kind, const char *name)
{
  return tb__hash_bytes(TB__HASH_START + (uint64_t)kind, name,
                        strnlen(name, TB__FINDING_NAME_SIZE - 1));
}

static bool is_cause_of(const tb__finding_t *finding, const char *cause)
{
  if (!cause || !finding->cause) return cause == finding->cause;
  return strncmp(finding->cause, cause, TB__FINDING_NAME_SIZE - 1) == 0;
}

/* That of the rule and the cause; NULL: there is none. */
static tb__finding_t *find(const tb__findings_t *findings, tb__rule_id_t rule, const char *cause)
{
  for (size_t i = 0; i < findings->count; i++)
    if (findings->list[i]->id == rule && is_cause_of(findings->list[i], cause))
      return findings->list[i];
  return NULL;
}

static tb__finding_t *first_of(const tb__findings_t *findings, tb__rule_id_t rule)
{
  for (size_t i = 0; i < findings->count; i++)
    if (findings->list[i]->id == rule) return findings->list[i];
  return NULL;
}

static tb__finding_subject_t *find_subject(const tb__finding_t *finding,
                                           const tb__finding_input_t *input, uint64_t hash)
{
  for (size_t i = 0; i < finding->subject_count; i++) {
    tb__finding_subject_t *subject = &finding->subjects[i];
    if (subject->hash == hash && subject->kind == input->kind &&
        strncmp(subject->name, input->subject, TB__FINDING_NAME_SIZE - 1) == 0)
      return subject;
  }
  return NULL;
}

/* NULL: no memory. */
static tb__finding_t *append(tb__findings_t *findings, const tb__finding_input_t *input)
{
  if (findings->count == findings->capacity) {
    size_t capacity = findings->capacity * 2 + 16;
    tb__finding_t **list = realloc(findings->list, capacity * sizeof *list);
    if (!list) return NULL;
    findings->list = list;
    findings->capacity = capacity;
  }
  tb__finding_t *finding = calloc(1, sizeof *finding);
  if (!finding) return NULL;
  if (input->cause && !(finding->cause = copy_name(input->cause))) {
    free(finding);
    return NULL;
  }
  finding->id = input->rule;
  finding->rule = tb__rule(input->rule);
  finding->is_ros1 = findings->is_ros1;
  return findings->list[findings->count++] = finding;
}

/* NULL: no memory. */
static tb__finding_subject_t *append_subject(tb__finding_t *finding,
                                             const tb__finding_input_t *input, uint64_t hash)
{
  if (finding->subject_count == finding->subject_capacity) {
    size_t capacity = finding->subject_capacity * 2 + 4;
    tb__finding_subject_t *subjects = realloc(finding->subjects, capacity * sizeof *subjects);
    if (!subjects) return NULL;
    finding->subjects = subjects;
    finding->subject_capacity = capacity;
  }
  tb__finding_subject_t subject = {.kind = input->kind, .hash = hash};
  subject.name = copy_name(input->subject);
  if (input->detail) subject.detail = copy_name(input->detail);
  if (!subject.name || (input->detail && !subject.detail)) {
    subject_fini(&subject);
    return NULL;
  }
  finding->subjects[finding->subject_count] = subject;
  return &finding->subjects[finding->subject_count++];
}

static tb_status_t add_line(tb__findings_t *findings, const char *format, va_list args)
{
  tb__finding_subject_t *subject = findings->last;
  char line[TB__FINDING_LINE_SIZE];
  if (!subject) return TB_OK;
  vsnprintf(line, sizeof line, format, args);
  for (size_t i = 0; i < subject->evidence_count; i++)
    if (strcmp(subject->evidence[i], line) == 0) return TB_OK;
  if (subject->evidence_count == TB__FINDING_EVIDENCE_MAX) {
    subject->evidence_dropped++;
    return TB_OK;
  }
  char *copy = strdup(line);
  if (!copy) return lose(findings);
  subject->evidence[subject->evidence_count++] = copy;
  return TB_OK;
}

/* findings->last becomes the subject, NULL if it is not kept. */
static tb_status_t add_subject(tb__findings_t *findings, const tb__finding_input_t *input,
                               tb__severity_t severity)
{
  uint64_t hash = hash_of(input->kind, input->subject);
  tb__finding_t *finding = find(findings, input->rule, input->cause);
  tb__finding_subject_t *subject = finding ? find_subject(finding, input, hash) : NULL;
  findings->last = NULL;
  if (!subject && findings->kept[input->rule] >= TB__FINDING_SUBJECTS_MAX) {
    if (!finding) finding = first_of(findings, input->rule);
    finding->more++;
    if (finding->severity < severity) finding->severity = severity;
    return TB_OK;
  }
  if (!subject) {
    bool is_new = !finding;
    if (is_new) finding = append(findings, input);
    if (!finding) return lose(findings);
    subject = append_subject(finding, input, hash);
    if (!subject && is_new) finding_destroy(findings->list[--findings->count]);
    if (!subject) return lose(findings);
    findings->kept[input->rule]++;
  }
  if (subject->severity < severity) subject->severity = severity;
  if (finding->severity < severity) finding->severity = severity;
  findings->last = subject;
  return TB_OK;
}

tb_status_t tb__findings_add(tb__findings_t *findings, const tb__finding_input_t *input,
                             const char *format, ...)
{
  va_list args;
  findings->last = NULL;
  if (findings->off[input->rule].reason ||
      (findings->is_off && findings->is_off(findings->user, input->rule, input->subject))) {
    findings->off[input->rule].count++;
    return TB_OK;
  }
  tb__severity_t severity = input->severity ? input->severity : tb__rule(input->rule)->severity;
  const char *why =
      findings->severity ? findings->severity(findings->severity_user, input, &severity) : NULL;
  tb_status_t status = add_subject(findings, input, severity);
  va_start(args, format);
  if (!status) status = add_line(findings, format, args);
  va_end(args);
  return status || !why ? status : tb__findings_add_evidence(findings, "%s", why);
}

tb_status_t tb__findings_add_evidence(tb__findings_t *findings, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  tb_status_t status = add_line(findings, format, args);
  va_end(args);
  return status;
}

/* --- finishing --- */

static int by_name(const void *a, const void *b)
{
  const tb__finding_subject_t *left = a, *right = b;
  int order = strcmp(left->name, right->name);
  return order ? order : (int)left->kind - (int)right->kind;
}

static int by_gravity(const void *a, const void *b)
{
  const tb__finding_t *left = *(tb__finding_t *const *)a, *right = *(tb__finding_t *const *)b;
  if (!left->below != !right->below) return left->below ? 1 : -1;
  if (left->severity != right->severity) return right->severity > left->severity ? 1 : -1;
  if (left->id != right->id) return left->id > right->id ? 1 : -1;
  return strcmp(left->cause ? left->cause : "", right->cause ? right->cause : "");
}

static bool is_above(const tb__finding_t *finding, const tb__finding_t *other)
{
  for (; other; other = other->below)
    if (other == finding) return true;
  return false;
}

/* A subject that may be the cause of other findings. */
typedef struct cause {
  const char *name;
  tb__finding_t *finding;
  size_t place; /* among the findings */
} cause_t;

/* Of one name those first that come first in the order of the rules. */
static int by_subject(const void *a, const void *b)
{
  const cause_t *left = a, *right = b;
  int order = strcmp(left->name, right->name);
  if (order) return order;
  if (left->finding->id != right->finding->id)
    return left->finding->id > right->finding->id ? 1 : -1;
  return (left->place > right->place) - (left->place < right->place);
}

/* NULL: no memory. */
static cause_t *list_causes(const tb__findings_t *findings, size_t *out_count)
{
  size_t count = 0;
  for (size_t i = 0; i < findings->count; i++)
    if (findings->list[i]->rule->is_cause) count += findings->list[i]->subject_count;
  cause_t *causes = malloc((count + 1) * sizeof *causes);
  if (!causes) return NULL;
  *out_count = count;
  count = 0;
  for (size_t i = 0; i < findings->count; i++) {
    tb__finding_t *finding = findings->list[i];
    for (size_t k = 0; finding->rule->is_cause && k < finding->subject_count; k++)
      causes[count++] = (cause_t){finding->subjects[k].name, finding, i};
  }
  qsort(causes, count, sizeof *causes, by_subject);
  return causes;
}

/* The first in the order of the rules that names the cause as its subject. */
static tb__finding_t *cause_of(const cause_t *causes, size_t count, const tb__finding_t *finding)
{
  size_t low = 0, high = count;
  if (!finding->cause) return NULL;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(causes[middle].name, finding->cause) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < count && strcmp(causes[low].name, finding->cause) == 0; low++)
    if (!is_above(finding, causes[low].finding)) return causes[low].finding;
  return NULL;
}

static tb_status_t fold(tb__findings_t *findings)
{
  size_t count = 0;
  cause_t *causes = list_causes(findings, &count);
  if (!causes) return lose(findings);
  for (size_t i = 0; i < findings->count; i++) {
    tb__finding_t *above = cause_of(causes, count, findings->list[i]);
    findings->list[i]->below = above;
    if (above) above->caused_count++;
  }
  free(causes);
  qsort(findings->list, findings->count, sizeof(tb__finding_t *), by_gravity);
  for (size_t i = 0; i < findings->count; i++) {
    tb__finding_t *finding = findings->list[i];
    if (finding->caused_count)
      finding->caused = calloc(finding->caused_count, sizeof(tb__finding_t *));
    bool is_short = finding->caused_count && !finding->caused;
    finding->caused_count = 0;
    if (is_short) return lose(findings);
  }
  for (size_t i = 0; i < findings->count; i++) {
    tb__finding_t *above = findings->list[i]->below;
    if (above && above->caused) above->caused[above->caused_count++] = findings->list[i];
  }
  return TB_OK;
}

tb_status_t tb__findings_finish(tb__findings_t *findings)
{
  findings->last = NULL;
  for (size_t i = 0; i < findings->count; i++)
    qsort(findings->list[i]->subjects, findings->list[i]->subject_count,
          sizeof(tb__finding_subject_t), by_name);
  tb_status_t status = findings->count ? fold(findings) : TB_OK;
  return findings->is_lost ? TB_ERR_NO_MEMORY : status;
}

/* --- reading --- */

size_t tb__findings_count(const tb__findings_t *findings)
{
  return findings->count;
}

const tb__finding_t *tb__findings_at(const tb__findings_t *findings, size_t index)
{
  return findings->list[index];
}

size_t tb__findings_count_of(const tb__findings_t *findings, tb__severity_t severity)
{
  size_t count = 0;
  for (size_t i = 0; i < findings->count; i++)
    count += !severity || findings->list[i]->severity == severity;
  return count;
}

tb__severity_t tb__findings_gravest(const tb__findings_t *findings)
{
  tb__severity_t gravest = (tb__severity_t)0;
  for (size_t i = 0; i < findings->count; i++)
    if (findings->list[i]->severity > gravest) gravest = findings->list[i]->severity;
  return gravest;
}

uint64_t tb__finding_subject_count(const tb__finding_t *finding)
{
  return finding->subject_count + finding->more;
}
