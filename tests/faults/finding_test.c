/* The faults of core_test.c for findings: what is lost for lack of memory is reported at the end.
 */
#include <string.h>

#include "contract/finding.h"
#include "faults.h"

static tb_status_t adding(void)
{
  tb__finding_input_t wall = {
      .rule = TB__RULE_MIXED_TIME_BASE, .kind = TB__SUBJECT_NODE, .subject = "/ekf"};
  tb__finding_input_t topic = {.rule = TB__RULE_STAMP_FUTURE,
                               .kind = TB__SUBJECT_TOPIC,
                               .cause = "/ekf",
                               .detail = "detail"};
  tb__findings_t *findings = tb__findings_create();
  if (!findings) return TB_ERR_NO_MEMORY;
  tb_status_t first = tb__findings_switch_off(findings, TB__RULE_STAMP_ZERO, "known");
  tb_status_t status = tb__findings_add(findings, &wall, "its parameter is false");
  if (!first) first = status;
  for (int i = 0; i < 6; i++) {
    const char *const names[] = {"/a", "/b", "/c", "/d", "/e", "/f"};
    topic.subject = names[i];
    status = tb__findings_add(findings, &topic, "%d stamps", i);
    if (!first) first = status;
    status = tb__findings_add_evidence(findings, "further");
    if (!first) first = status;
  }
  status = tb__findings_finish(findings);
  if (first && !status) status = TB_ERR_INVALID; /* a loss that is not reported */
  tb__findings_destroy(findings);
  return status;
}

static void test_faults_in_adding(void **state)
{
  (void)state;
  fault_sweep(adding, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults_in_adding)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
