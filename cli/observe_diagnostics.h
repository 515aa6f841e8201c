/* What `timebase observe` measures, on /diagnostics. Of one thread, that steps the observer. */
#ifndef TB_CLI_OBSERVE_DIAGNOSTICS_H
#define TB_CLI_OBSERVE_DIAGNOSTICS_H

#include "observe.h"

#define OBSERVE_DIAGNOSTICS_MAX 256 /* publishers with a status of their own */

typedef struct observe_diagnostics observe_diagnostics_t;

/* EXIT_OK, or a message has been printed. Close it either way, before the observer. */
int observe_diagnostics_open(observe_diagnostics_t **out, observe_t *observe);
void observe_diagnostics_close(observe_diagnostics_t *diagnostics);
/* Publishes the second that has ended; nothing while ROS time is not known. NULL does nothing. */
void observe_diagnostics_update(observe_diagnostics_t *diagnostics);

#endif
