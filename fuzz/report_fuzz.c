/* Texts and numbers of others in a report and in JUnit XML: every '<' is of our own markup, and the
 * page keeps its limit. The parsers of Python look closer (tests/report). */
#include <stdlib.h>
#include <string.h>

#include "contract/junit.h"
#include "contract/report.h"
#include "fuzz.h"

typedef struct input {
  const uint8_t *data;
  size_t size;
} input_t;

static int64_t take_number(input_t *input)
{
  int64_t number = 0;
  size_t count = input->size < sizeof number ? input->size : sizeof number;
  memcpy(&number, input->data, count);
  input->data += count;
  input->size -= count;
  return number;
}

/* To the next NUL. */
static const char *take_text(input_t *input, char text[256])
{
  size_t length = strnlen((const char *)input->data, input->size < 255 ? input->size : 255);
  memcpy(text, input->data, length);
  text[length] = '\0';
  length += length < input->size;
  input->data += length;
  input->size -= length;
  return text;
}

/* Tags are balanced, and bytes that XML does not have are absent. */
static void check(const tb__markup_t *markup)
{
  size_t open = 0, closed = 0;
  if (markup->length > TB__REPORT_PAGE_MAX || strlen(markup->text) != markup->length) abort();
  for (const char *at = markup->text; *at; at++) {
    if ((unsigned char)*at < 0x20 && *at != '\n') abort();
    open += *at == '<';
    closed += *at == '>';
    if (open != closed && open != closed + 1) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  input_t input = {data, size};
  char text[256], other[256];
  tb__markup_t page = {0};
  tb__report_t *report = tb__report_create(take_text(&input, text), take_text(&input, other));
  tb__findings_t *findings = tb__findings_create();
  if (!report || !findings) abort();
  for (int i = 0; input.size > 0; i++) {
    tb__report_topic_t *topic =
        tb__report_topic(report, take_text(&input, text), take_text(&input, other));
    int64_t time_ns = take_number(&input), value_ns = take_number(&input);
    tb__finding_input_t finding = {.rule = (tb__rule_id_t)((uint64_t)value_ns % TB__RULE_COUNT),
                                   .kind = (tb__subject_kind_t)((uint64_t)time_ns % 7),
                                   .subject = text,
                                   .cause = i % 2 ? other : NULL,
                                   .detail = other};
    tb__report_message(report, topic, time_ns, &value_ns);
    tb__report_tick(report, time_ns, value_ns,
                    (tb__tick_kind_t)(1 + (uint64_t)time_ns % (TB__TICK_KIND_COUNT - 1)));
    tb__report_fact(report, text, other);
    if (tb__findings_add(findings, &finding, "%s", other)) abort();
  }
  if (tb__findings_finish(findings) || tb__report_html(report, findings, &page)) abort();
  check(&page);
  tb__markup_fini(&page);
  if (tb__junit_text(findings, text, TB__SEVERITY_WARN, &page)) abort();
  check(&page);
  tb__markup_fini(&page);
  tb__report_destroy(report);
  tb__findings_destroy(findings);
  return 0;
}
