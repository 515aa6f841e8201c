/* The steps of a rehearsal as test cases. */
#include "base/no_memory.h"
#include "contract/markup.h"
#include "contract/output_file.h"
#include "contract/rehearsal.h"

#define TEXT_SHOWN 1024 /* characters */

static void write_lines(tb__markup_t *xml, const tb__rehearsal_t *rehearsal,
                        tb__rehearsal_step_t step)
{
  for (size_t i = 0; i < rehearsal->steps[step].count; i++) {
    const tb__rehearsal_line_t *line = &rehearsal->steps[step].lines[i];
    tb__markup_text(xml, tb__proof_name(line->proof), TEXT_SHOWN);
    tb__markup_raw(xml, ": ");
    tb__markup_text(xml, line->text, TEXT_SHOWN);
    tb__markup_raw(xml, "\n");
  }
  if (rehearsal->steps[step].dropped)
    tb__markup_print(xml, "and %zu more\n", rehearsal->steps[step].dropped);
}

static void write_case(tb__markup_t *xml, const tb__rehearsal_t *rehearsal,
                       tb__rehearsal_step_t step)
{
  tb__proof_t proof = tb__rehearsal_proof(rehearsal, step);
  const char *element = proof == TB__PROOF_PASS       ? "system-out"
                        : proof == TB__PROOF_FAIL     ? "failure"
                        : proof == TB__PROOF_NEEDLESS ? "skipped"
                                                      : "error";
  tb__markup_print(xml, "<testcase classname=\"timebase.rehearsal\" name=\"%s\" time=\"0\">\n<%s",
                   tb__rehearsal_step_name(step), element);
  if (proof != TB__PROOF_PASS) {
    if (proof != TB__PROOF_NEEDLESS) tb__markup_print(xml, " type=\"%s\"", tb__proof_name(proof));
    tb__markup_raw(xml, " message=\"");
    tb__markup_text(xml, tb__rehearsal_step_title(step), TEXT_SHOWN);
    tb__markup_raw(xml, "\"");
  }
  tb__markup_raw(xml, ">");
  write_lines(xml, rehearsal, step);
  tb__markup_print(xml, "</%s>\n</testcase>\n", element);
}

tb_status_t tb__rehearsal_junit_write(const tb__rehearsal_t *rehearsal, const char *suite,
                                      const char *path, tb_error_t *error)
{
  tb__markup_t xml = {0};
  int failures = 0, errors = 0, skipped = 0;
  for (int step = 0; step < TB__STEP_COUNT; step++) {
    tb__proof_t proof = tb__rehearsal_proof(rehearsal, (tb__rehearsal_step_t)step);
    failures += proof == TB__PROOF_FAIL;
    errors += proof == TB__PROOF_NONE;
    skipped += proof == TB__PROOF_NEEDLESS;
  }
  tb__markup_raw(&xml,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite name=\"");
  tb__markup_text(&xml, suite, TEXT_SHOWN);
  tb__markup_print(&xml,
                   "\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"0\">\n",
                   (int)TB__STEP_COUNT, failures, errors, skipped);
  for (int step = 0; step < TB__STEP_COUNT; step++)
    write_case(&xml, rehearsal, (tb__rehearsal_step_t)step);
  tb__markup_raw(&xml, "</testsuite></testsuites>\n");
  tb_status_t status = xml.is_lost ? tb__no_memory_for(error, path)
                                   : tb__output_file_write(path, xml.text, xml.length, error);
  tb__markup_fini(&xml);
  return status;
}
