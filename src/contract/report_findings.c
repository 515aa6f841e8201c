/* The section of findings: the first thing on the page. */
#include "contract/report_parts.h"

#define SUBJECTS_OPEN  5
#define SUBJECTS_SHOWN 50
#define LINES_SHOWN    3      /* of a subject that is not among the first */
#define SECTION_MAX    600000 /* bytes, after which findings are counted only */
#define DEPTH_MAX      4

typedef struct section {
  tb__markup_t *page;
  const tb__findings_t *findings;
  bool *is_shown;
  size_t from;     /* where the section begins */
  size_t left_out; /* findings */
} section_t;

static bool is_full(const section_t *section)
{
  return section->page->length - section->from > SECTION_MAX;
}

void tb__report_write_badge(tb__markup_t *page, tb__severity_t severity)
{
  static const char *const names[] = {"", "note", "warning", "error"};
  tb__markup_print(page, "<span class=\"p %s\">%s</span>", tb__severity_name(severity),
                   names[severity]);
}

static size_t number_of(const tb__findings_t *findings, const tb__finding_t *finding)
{
  size_t i = 0;
  while (tb__findings_at(findings, i) != finding)
    i++;
  return i;
}

static void write_subject(tb__markup_t *page, const tb__finding_subject_t *subject, size_t most)
{
  size_t shown = subject->evidence_count < most ? subject->evidence_count : most;
  uint64_t more = subject->evidence_count - shown + subject->evidence_dropped;
  tb__markup_raw(page, "<li><bdi class=\"n\">");
  tb__markup_text(page, subject->name, TB__REPORT_NAME_SHOWN);
  tb__markup_raw(page, "</bdi>");
  const char *tag = shown > 1 ? "div" : "span"; /* one line stands beside the name */
  for (size_t i = 0; i < shown; i++) {
    tb__markup_print(page, "%s<%s><bdi>", shown > 1 ? "" : " ", tag);
    tb__markup_text(page, subject->evidence[i], TB__FINDING_LINE_SIZE);
    tb__markup_print(page, "</bdi></%s>", tag);
  }
  if (more > 0)
    tb__markup_print(page, "<div class=\"q\">and %llu more line%s</div>", (unsigned long long)more,
                     more == 1 ? "" : "s");
  tb__markup_raw(page, "</li>\n");
}

static void write_subjects(section_t *section, const tb__finding_t *finding)
{
  tb__markup_t *page = section->page;
  uint64_t count = tb__finding_subject_count(finding);
  size_t i = 0,
         open = finding->subject_count < SUBJECTS_OPEN + 1 ? finding->subject_count : SUBJECTS_OPEN;
  tb__markup_raw(page, "<ul class=\"e\">\n");
  for (; i < open; i++)
    write_subject(page, &finding->subjects[i], TB__FINDING_EVIDENCE_MAX);
  tb__markup_raw(page, "</ul>\n");
  if (i == count) return;
  tb__markup_print(page, "<details><summary>%llu more</summary><ul class=\"e\">\n",
                   (unsigned long long)(count - i));
  for (; i < finding->subject_count && i < SUBJECTS_SHOWN && !is_full(section); i++)
    write_subject(page, &finding->subjects[i], LINES_SHOWN);
  if (i < count)
    tb__markup_print(page, "<li class=\"q\">and %llu more</li>\n", (unsigned long long)(count - i));
  tb__markup_raw(page, "</ul></details>\n");
}

static void write_remedy(tb__markup_t *page, const char *name, const tb__finding_t *finding,
                         const char *text)
{
  char command[TB__FINDING_TEXT_SIZE];
  tb__finding_text(finding, text, true, command, sizeof command);
  tb__markup_print(page, "<dt>%s</dt><dd><code>", name);
  tb__markup_text(page, command, TB__FINDING_TEXT_SIZE);
  tb__markup_raw(page, "</code></dd>\n");
}

static void write_title(tb__markup_t *page, const tb__finding_t *finding, int depth)
{
  char text[TB__FINDING_TEXT_SIZE];
  int level = depth < 3 ? 3 + depth : 6;
  tb__finding_title(finding, text, sizeof text);
  tb__markup_print(page, "<h%d>", level);
  tb__report_write_badge(page, finding->severity);
  tb__markup_raw(page, " <bdi>");
  tb__markup_text(page, text, TB__REPORT_LINE_SHOWN);
  tb__markup_print(page, "</bdi></h%d>\n", level);
}

static void write_finding(section_t *section, const tb__finding_t *finding, int depth);

static void write_caused(section_t *section, const tb__finding_t *finding, int depth)
{
  tb__markup_t *page = section->page;
  tb__markup_print(page,
                   "<details class=\"below\"><summary>%zu finding%s with this cause</summary>\n",
                   finding->caused_count, finding->caused_count == 1 ? "" : "s");
  for (size_t i = 0; i < finding->caused_count; i++)
    write_finding(section, finding->caused[i], depth + 1);
  tb__markup_raw(page, "</details>\n");
}

static void write_finding(section_t *section, const tb__finding_t *finding, int depth)
{
  tb__markup_t *page = section->page;
  size_t number = number_of(section->findings, finding);
  if (is_full(section) || depth > DEPTH_MAX) {
    section->left_out += 1 + finding->caused_count;
    return;
  }
  section->is_shown[number] = true;
  tb__markup_print(page, "<article class=\"f %s\" id=\"f%zu\">",
                   tb__severity_name(finding->severity), number + 1);
  write_title(page, finding, depth);
  tb__markup_raw(page, "<p>");
  char text[TB__FINDING_TEXT_SIZE];
  tb__finding_text(finding, finding->rule->consequence, false, text, sizeof text);
  tb__markup_text(page, text, TB__REPORT_LINE_SHOWN);
  tb__markup_print(page, " <span class=\"id\">%s</span></p>\n", finding->rule->id);
  write_subjects(section, finding);
  tb__markup_print(page, "<details%s><summary>What to do</summary><dl class=\"r\">\n",
                   depth == 0 && finding->severity == TB__SEVERITY_ERROR ? " open=\"open\"" : "");
  write_remedy(page, "ROS 2", finding, finding->rule->remedy_ros);
  write_remedy(page, "timebase", finding, finding->rule->remedy_timebase);
  write_remedy(page, "To make it last", finding, finding->rule->remedy_launch);
  tb__markup_raw(page, "</dl></details>\n");
  if (finding->caused_count > 0) write_caused(section, finding, depth);
  tb__markup_raw(page, "</article>\n");
}

static void write_summary(tb__markup_t *page, const tb__findings_t *findings)
{
  static const char *const names[] = {"", "note", "warning", "error"};
  tb__markup_raw(page, "<p class=\"sum\">");
  for (tb__severity_t severity = TB__SEVERITY_ERROR; severity >= TB__SEVERITY_NOTE; severity--) {
    size_t count = tb__findings_count_of(findings, severity);
    if (count > 0)
      tb__markup_print(page, "<span class=\"p %s\">%zu %s%s</span> ", tb__severity_name(severity),
                       count, names[severity], count == 1 ? "" : "s");
  }
  if (tb__findings_count(findings) == 0)
    tb__markup_raw(page, "<span class=\"p good\">no findings</span>");
  tb__markup_raw(page, "</p>\n");
}

static void write_switched_off(tb__markup_t *page, const tb__findings_t *findings)
{
  bool is_open = false;
  for (int rule = 0; rule < TB__RULE_COUNT; rule++) {
    uint64_t count = 0;
    const char *reason = tb__findings_switched_off(findings, (tb__rule_id_t)rule, &count);
    if (!reason) continue;
    if (!is_open) tb__markup_raw(page, "<h3>Rules that are switched off</h3><ul class=\"e\">\n");
    is_open = true;
    tb__markup_print(page, "<li><span class=\"n\">%s</span> (%llu not reported): ",
                     tb__rule((tb__rule_id_t)rule)->id, (unsigned long long)count);
    tb__markup_text(page, reason, TB__REPORT_NAME_SHOWN);
    tb__markup_raw(page, "</li>\n");
  }
  if (is_open) tb__markup_raw(page, "</ul>\n");
}

void tb__report_write_findings(tb__markup_t *page, const tb__findings_t *findings, bool *is_shown)
{
  section_t section = {page, findings, is_shown, page->length, 0};
  tb__markup_raw(page, "<section id=\"findings\"><h2>Findings</h2>\n");
  write_summary(page, findings);
  for (size_t i = 0; i < tb__findings_count(findings); i++)
    if (!tb__findings_at(findings, i)->below)
      write_finding(&section, tb__findings_at(findings, i), 0);
  if (section.left_out > 0)
    tb__markup_print(page, "<p class=\"q\">%zu more findings are not shown.</p>\n",
                     section.left_out);
  write_switched_off(page, findings);
  tb__markup_raw(page, "</section>\n");
}
