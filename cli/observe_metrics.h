/* What `timebase observe --http` serves. */
#ifndef TB_CLI_OBSERVE_METRICS_H
#define TB_CLI_OBSERVE_METRICS_H

#include <timebase/metrics_server.h>

#include "observe.h"

typedef struct observe_metrics observe_metrics_t;

/* Serves on a port of 127.0.0.1, 0: any. Prints where. EXIT_OK, or a message has been printed. */
int observe_metrics_open(observe_metrics_t **out, observe_t *observe, int port);
/* Accepts NULL. */
void observe_metrics_close(observe_metrics_t *metrics);
/* What is served from now on. About once a second, by the thread that steps. NULL does nothing. */
void observe_metrics_update(observe_metrics_t *metrics);

#endif
