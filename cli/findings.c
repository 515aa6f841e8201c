#include "findings.h"

#include <stdio.h>

#include "json.h"
#include "text.h"

#define SUBJECTS_SHOWN 3 /* with their evidence; --json has all */
#define LINES_SHOWN    4 /* of a subject */
#define STEP           4

/* --- as text --- */

static void put_text(const tb__finding_t *finding, const char *text, bool is_command)
{
  char filled[TB__FINDING_TEXT_SIZE];
  tb__finding_text(finding, text, is_command, filled, sizeof filled);
  text_out("%s\n", filled);
}

static void print_subject(const tb__finding_t *finding, size_t index, int indent)
{
  const tb__finding_subject_t *subject = &finding->subjects[index];
  bool is_named = tb__finding_subject_count(finding) > 1;
  for (size_t i = 0; i < subject->evidence_count && i < LINES_SHOWN; i++) {
    text_out("%*s", indent, "");
    if (is_named) text_out("%s: ", subject->name);
    text_out("%s\n", subject->evidence[i]);
  }
}

static void print_remedies(const tb__finding_t *finding, int indent)
{
  tb__remedies_t remedies = tb__finding_remedies(finding);
  text_out("%*s%s     ", indent, "", finding->is_ros1 ? "ros1:" : "ros2:");
  put_text(finding, remedies.remedy_ros, true);
  text_out("%*stimebase: ", indent, "");
  put_text(finding, remedies.remedy_timebase, true);
  text_out("%*slaunch:   ", indent, "");
  put_text(finding, remedies.remedy_launch, false);
}

static void print_finding(const tb__finding_t *finding, int indent)
{
  char title[TB__FINDING_TEXT_SIZE];
  uint64_t count = tb__finding_subject_count(finding);
  size_t shown = finding->subject_count < SUBJECTS_SHOWN ? finding->subject_count : SUBJECTS_SHOWN;
  tb__finding_title(finding, title, sizeof title);
  text_out("%*s%s %s: ", indent, "", tb__severity_name(finding->severity), finding->rule->id);
  text_out("%s\n", title);
  indent += STEP;
  for (size_t i = 0; i < shown; i++)
    print_subject(finding, i, indent);
  if (count > shown)
    text_out("%*sand %llu more; --json has all of them\n", indent, "",
             (unsigned long long)(count - shown));
  if (finding->below) return; /* its remedy is that of its cause */
  text_out("%*s%s\n", indent, "", finding->rule->consequence);
  print_remedies(finding, indent);
}

void findings_print_line(FILE *out, const tb__finding_t *finding)
{
  char text[TB__FINDING_TEXT_SIZE];
  tb__finding_title(finding, text, sizeof text);
  text_to(out, "%s %s: ", tb__severity_name(finding->severity), finding->rule->id);
  text_to(out, "%s; ", text);
  tb__finding_text(finding, tb__finding_remedies(finding).remedy_ros, true, text, sizeof text);
  text_to(out, "%s\n", text);
}

/* With what it causes below it. */
static void print_tree(const tb__finding_t *finding, int indent)
{
  print_finding(finding, indent);
  if (finding->caused_count) text_out("%*swhich causes:\n", indent + STEP, "");
  for (size_t i = 0; i < finding->caused_count; i++)
    print_tree(finding->caused[i], indent + STEP + 2);
}

void findings_print(const tb__findings_t *findings)
{
  for (size_t i = 0; i < tb__findings_count(findings); i++) {
    const tb__finding_t *finding = tb__findings_at(findings, i);
    if (finding->below) break;
    print_tree(finding, 0);
    text_out("\n");
  }
  for (int i = 0; i < TB__RULE_COUNT; i++) {
    uint64_t count;
    bool is_some;
    const char *reason = tb__findings_off(findings, (tb__rule_id_t)i, &is_some, &count);
    if (!reason) continue;
    text_out("off %s%s: ", tb__rule((tb__rule_id_t)i)->id, is_some ? " for some" : "");
    text_out("%s", reason);
    text_out(" (%llu not reported)\n", (unsigned long long)count);
  }
}

static void print_count(size_t count, const char *one, const char *several, const char **between)
{
  if (!count) return;
  text_out("%s%zu %s", *between, count, count == 1 ? one : several);
  *between = ", ";
}

void findings_print_counts(const tb__findings_t *findings)
{
  const char *between = "";
  print_count(tb__findings_count_of(findings, TB__SEVERITY_ERROR), "error", "errors", &between);
  print_count(tb__findings_count_of(findings, TB__SEVERITY_WARN), "warning", "warnings", &between);
  print_count(tb__findings_count_of(findings, TB__SEVERITY_NOTE), "note", "notes", &between);
  if (!*between) text_out("no findings");
}

/* --- as JSON --- */

static json_t *text_of(const tb__finding_t *finding, const char *text, bool is_command)
{
  char filled[TB__FINDING_TEXT_SIZE];
  tb__finding_text(finding, text, is_command, filled, sizeof filled);
  return text_json(filled);
}

static json_t *subject_json(const tb__finding_subject_t *subject)
{
  json_t *out = json_object();
  json_t *lines = json_array();
  for (size_t i = 0; i < subject->evidence_count; i++)
    json_push(lines, text_json(subject->evidence[i]));
  json_put(out, "kind", json_string(tb__subject_kind_name(subject->kind)));
  json_put(out, "name", text_json(subject->name));
  json_put(out, "severity", json_string(tb__severity_name(subject->severity)));
  json_put(out, "evidence", lines);
  json_put(out, "evidence_dropped", json_integer((json_int_t)subject->evidence_dropped));
  return out;
}

static json_t *finding_json(const tb__finding_t *finding)
{
  char title[TB__FINDING_TEXT_SIZE];
  const tb__rule_t *rule = finding->rule;
  const tb__remedies_t remedies = tb__finding_remedies(finding);
  json_t *out = json_object();
  json_t *subjects = json_array(), *caused = json_array(), *remedy = json_object();
  tb__finding_title(finding, title, sizeof title);
  for (size_t i = 0; i < finding->subject_count; i++)
    json_push(subjects, subject_json(&finding->subjects[i]));
  for (size_t i = 0; i < finding->caused_count; i++)
    json_push(caused, finding_json(finding->caused[i]));
  json_put(remedy, finding->is_ros1 ? "ros1" : "ros2", text_of(finding, remedies.remedy_ros, true));
  json_put(remedy, "timebase", text_of(finding, remedies.remedy_timebase, true));
  json_put(remedy, "launch", text_of(finding, remedies.remedy_launch, false));
  json_put(out, "rule", json_string(rule->id));
  json_put(out, "severity", json_string(tb__severity_name(finding->severity)));
  json_put(out, "title", text_json(title));
  json_put(out, "cause", finding->cause ? text_json(finding->cause) : json_null());
  json_put(out, "count", json_integer((json_int_t)tb__finding_subject_count(finding)));
  json_put(out, "subjects", subjects);
  json_put(out, "consequence", json_string(rule->consequence));
  json_put(out, "remedy", remedy);
  json_put(out, "caused", caused);
  return out;
}

json_t *findings_json(const tb__findings_t *findings)
{
  json_t *list = json_array();
  for (size_t i = 0; i < tb__findings_count(findings); i++)
    if (!tb__findings_at(findings, i)->below)
      json_push(list, finding_json(tb__findings_at(findings, i)));
  return list;
}

json_t *findings_counts_json(const tb__findings_t *findings)
{
  json_t *out = json_object();
  for (int severity = TB__SEVERITY_ERROR; severity >= TB__SEVERITY_NOTE; severity--)
    json_put(out, tb__severity_name((tb__severity_t)severity),
             json_integer((json_int_t)tb__findings_count_of(findings, (tb__severity_t)severity)));
  return out;
}

json_t *findings_off_json(const tb__findings_t *findings)
{
  json_t *list = json_array();
  for (int i = 0; i < TB__RULE_COUNT; i++) {
    uint64_t count;
    bool is_some;
    const char *reason = tb__findings_off(findings, (tb__rule_id_t)i, &is_some, &count);
    if (!reason) continue;
    json_t *item = json_object();
    json_put(item, "all", json_boolean(!is_some));
    json_put(item, "rule", json_string(tb__rule((tb__rule_id_t)i)->id));
    json_put(item, "reason", text_json(reason));
    json_put(item, "count", json_integer((json_int_t)count));
    json_push(list, item);
  }
  return list;
}

/* --- the rules --- */

void findings_print_rules(void)
{
  text_out("| rule | severity | finds | consequence |\n|---|---|---|---|\n");
  for (int i = 0; i < TB__RULE_COUNT; i++) {
    static char name[] = "NAME", detail[] = "N";
    tb__finding_subject_t subject = {.name = name, .detail = detail};
    tb__finding_t finding = {.rule = tb__rule((tb__rule_id_t)i)};
    char title[TB__FINDING_TEXT_SIZE];
    finding.subjects = &subject;
    finding.subject_count = 1;
    tb__finding_title(&finding, title, sizeof title);
    text_out("| `%s` | %s | ", finding.rule->id, tb__severity_name(finding.rule->severity));
    text_out("%s | %s |\n", title, finding.rule->consequence);
  }
}

/* --- exit status --- */

bool findings_parse_fail_on(const command_t *command, const char *text, tb__severity_t *out)
{
  static const char *const words[] = {"warn", "error", NULL};
  int index = 0;
  if (!command_parse_word(command, "--fail-on", text, words, &index)) return false;
  *out = index ? TB__SEVERITY_ERROR : TB__SEVERITY_WARN;
  return true;
}

int findings_status(const tb__findings_t *findings, tb__severity_t fail_on)
{
  return tb__findings_gravest(findings) >= fail_on ? EXIT_CHECK : EXIT_OK;
}
