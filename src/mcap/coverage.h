/* Whether a summary can be true of the data, from the heads of records alone. */
#ifndef TB_MCAP_COVERAGE_H
#define TB_MCAP_COVERAGE_H

#include "mcap/index.h"

/* The blocks are chunks, sorted, as the summary has them. Everything between the header and the
 * end of the data must be one of them, the message indexes that follow it, or a record without
 * messages; only heads of records between them are read, and those of the first and the last chunk,
 * which must have the times that the summary lists. TB_ERR_NOT_FOUND: messages lie outside of
 * chunks, which no summary lists. TB_ERR_INVALID: the summary leaves something out, which the
 * text names. */
tb_status_t tb__mcap_check_coverage(const tb__bag_input_t *input, const tb__mcap_index_t *index,
                                    uint64_t summary_start, tb_error_t *error) TB_WARN_UNUSED;

#endif
