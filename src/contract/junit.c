#include "contract/junit.h"

#include "base/no_memory.h"
#include "contract/output_file.h"

/* Bytes of a rule, after which its subjects are counted only: all together stay below
 * TB__REPORT_PAGE_MAX. */
#define CASE_MAX      (1600000 / TB__RULE_COUNT)
#define NAME_SHOWN    256 /* characters */
#define TITLE_SHOWN   1024
#define SUBJECTS_MOST 100

typedef struct verdict {
  size_t failed, mild; /* findings */
  const tb__finding_t *first;
} verdict_t;

static verdict_t judge(const tb__findings_t *findings, tb__rule_id_t rule, tb__severity_t fail_on)
{
  verdict_t verdict = {0};
  for (size_t i = 0; i < tb__findings_count(findings); i++) {
    const tb__finding_t *finding = tb__findings_at(findings, i);
    if (finding->id != rule) continue;
    if (finding->severity < fail_on) {
      verdict.mild++;
      continue;
    }
    if (verdict.failed++ == 0) verdict.first = finding;
  }
  return verdict;
}

static void write_title(tb__markup_t *xml, const tb__finding_t *finding)
{
  char title[TB__FINDING_TEXT_SIZE];
  tb__finding_title(finding, title, sizeof title);
  tb__markup_text(xml, title, TITLE_SHOWN);
}

static void write_finding(tb__markup_t *xml, const tb__finding_t *finding, size_t limit)
{
  size_t i = 0;
  write_title(xml, finding);
  tb__markup_raw(xml, "\n");
  for (; i < finding->subject_count && i < SUBJECTS_MOST && xml->length < limit; i++) {
    const tb__finding_subject_t *subject = &finding->subjects[i];
    for (size_t k = 0; k < subject->evidence_count; k++) {
      tb__markup_raw(xml, "  ");
      tb__markup_text(xml, subject->name, NAME_SHOWN);
      tb__markup_raw(xml, ": ");
      tb__markup_text(xml, subject->evidence[k], TB__FINDING_LINE_SIZE);
      tb__markup_raw(xml, "\n");
    }
  }
  if (i < tb__finding_subject_count(finding))
    tb__markup_print(xml, "  and %llu more\n",
                     (unsigned long long)(tb__finding_subject_count(finding) - i));
}

/* Those that made the rule fail, or the others. */
static void write_findings(tb__markup_t *xml, const tb__findings_t *findings, tb__rule_id_t rule,
                           tb__severity_t fail_on, bool has_failed)
{
  size_t limit = xml->length + CASE_MAX, left_out = 0;
  for (size_t i = 0; i < tb__findings_count(findings); i++) {
    const tb__finding_t *finding = tb__findings_at(findings, i);
    if (finding->id != rule || (finding->severity >= fail_on) != has_failed) continue;
    if (xml->length < limit)
      write_finding(xml, finding, limit);
    else
      left_out++;
  }
  if (left_out > 0) tb__markup_print(xml, "and %zu more findings\n", left_out);
}

static void write_case(tb__markup_t *xml, const tb__findings_t *findings, tb__rule_id_t rule,
                       tb__severity_t fail_on)
{
  const char *reason = tb__findings_switched_off(findings, rule, NULL);
  verdict_t verdict = judge(findings, rule, fail_on);
  tb__markup_print(xml, "<testcase classname=\"timebase\" name=\"%s\" time=\"0\"",
                   tb__rule(rule)->id);
  if (!reason && verdict.failed == 0 && verdict.mild == 0) {
    tb__markup_raw(xml, "/>\n");
    return;
  }
  tb__markup_raw(xml, ">\n");
  if (reason) {
    tb__markup_raw(xml, "<skipped message=\"");
    tb__markup_text(xml, reason, TITLE_SHOWN);
    tb__markup_raw(xml, "\"/>\n");
  }
  if (verdict.failed > 0) {
    tb__markup_print(xml, "<failure type=\"%s\" message=\"",
                     tb__severity_name(verdict.first->severity));
    write_title(xml, verdict.first);
    tb__markup_raw(xml, "\">");
    write_findings(xml, findings, rule, fail_on, true);
    tb__markup_raw(xml, "</failure>\n");
  }
  if (verdict.mild > 0) {
    tb__markup_raw(xml, "<system-out>");
    write_findings(xml, findings, rule, fail_on, false);
    tb__markup_raw(xml, "</system-out>\n");
  }
  tb__markup_raw(xml, "</testcase>\n");
}

tb_status_t tb__junit_text(const tb__findings_t *findings, const char *suite,
                           tb__severity_t fail_on, tb__markup_t *out)
{
  tb__markup_t xml = {0};
  size_t tests = 0, failures = 0, skipped = 0;
  for (int rule = 0; rule < TB__RULE_COUNT; rule++) {
    if (!tb__findings_is_judged(findings, (tb__rule_id_t)rule)) continue;
    tests++;
    failures += judge(findings, (tb__rule_id_t)rule, fail_on).failed > 0;
    skipped += tb__findings_switched_off(findings, (tb__rule_id_t)rule, NULL) != NULL;
  }
  tb__markup_raw(&xml,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite name=\"");
  tb__markup_text(&xml, suite, TITLE_SHOWN);
  tb__markup_print(&xml,
                   "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"0\">\n",
                   tests, failures, skipped);
  for (int rule = 0; rule < TB__RULE_COUNT; rule++)
    if (tb__findings_is_judged(findings, (tb__rule_id_t)rule))
      write_case(&xml, findings, (tb__rule_id_t)rule, fail_on);
  tb__markup_raw(&xml, "</testsuite></testsuites>\n");
  if (xml.is_lost) {
    tb__markup_fini(&xml);
    return TB_ERR_NO_MEMORY;
  }
  *out = xml;
  return TB_OK;
}

tb_status_t tb__junit_write(const tb__findings_t *findings, const char *suite,
                            tb__severity_t fail_on, const char *path, tb_error_t *error)
{
  tb__markup_t xml = {0};
  if (tb__junit_text(findings, suite, fail_on, &xml)) return tb__no_memory_for(error, path);
  tb_status_t status = tb__output_file_write(path, xml.text, xml.length, error);
  tb__markup_fini(&xml);
  return status;
}
