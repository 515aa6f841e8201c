/* Findings as JUnit XML, which CI systems show: one test case for each rule. */
#ifndef TB_CONTRACT_JUNIT_H
#define TB_CONTRACT_JUNIT_H

#include <timebase/error.h>

#include "contract/finding.h"
#include "contract/markup.h"

/* Of the rules that are judged (tb__findings_of_replay): one with a finding of `fail_on` or graver
 * has failed; milder ones are its output; a rule that is switched off was skipped. `findings` are
 * finished; `suite`: what was judged. The same for the same input, and at most 2 MB. To be released
 * by tb__markup_fini. TB_ERR_NO_MEMORY. */
TB_PRIVATE_API tb_status_t tb__junit_text(const tb__findings_t *findings, const char *suite,
                                          tb__severity_t fail_on, tb__markup_t *out) TB_WARN_UNUSED;

/* The same, to a file beside `path`, which is then renamed to it. Errors as those of
 * tb__report_write. */
TB_PRIVATE_API tb_status_t tb__junit_write(const tb__findings_t *findings, const char *suite,
                                           tb__severity_t fail_on, const char *path,
                                           tb_error_t *error) TB_WARN_UNUSED;

#endif
