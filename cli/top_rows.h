/* Which rows of `timebase top` are shown, and in which order. */
#ifndef TB_CLI_TOP_ROWS_H
#define TB_CLI_TOP_ROWS_H

#include "top_control.h"
#include "top_table.h"

/* Those that the filter leaves, sorted. `out` has room for all rows. Returns how many. */
size_t top_rows_select(const top_table_t *table, const top_control_t *control,
                       const top_row_t **out);

#endif
