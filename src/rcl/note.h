/* What the user is told: one line each, on standard error. */
#ifndef TB_RCL_NOTE_H
#define TB_RCL_NOTE_H

#include <timebase/export.h>

/* "timebase-rcl: ..." and a newline. */
void tb__rcl_note(const char *format, ...) TB_PRINTF(1, 2);

/* From here on what the core logs is such a note. */
void tb__rcl_note_core_log(void);

#endif
