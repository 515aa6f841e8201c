/* From which side /clock is carried, and whether it may be. */
#ifndef TB_CLI_BRIDGE_DIRECTION_H
#define TB_CLI_BRIDGE_DIRECTION_H

#include "bridge_view.h"

typedef enum bridge_verdict {
  BRIDGE_WAIT,    /* no publisher so far, or the graphs have not settled */
  BRIDGE_GO,      /* `from` is decided; it may be carried */
  BRIDGE_REFUSED, /* a message has been printed */
} bridge_verdict_t;

typedef struct bridge_direction {
  const bridge_ends_t *ends;
  bridge_side_t given, from; /* BRIDGE_UNDECIDED: not given, not decided */
  int64_t conflict_ns;       /* steady: since when another bridge is seen; 0: none */
  bool has_reported_wait, has_reported_other;
} bridge_direction_t;

void bridge_direction_begin(bridge_direction_t *direction, const bridge_ends_t *ends,
                            bridge_side_t given);
/* By each view until it is decided, once the graphs have settled. */
bridge_verdict_t bridge_direction_decide(bridge_direction_t *direction, const bridge_view_t *view);
/* By each view while it is carried. BRIDGE_WAIT: another bridge carries it too, which
 * may end by itself; nothing may be carried meanwhile. */
bridge_verdict_t bridge_direction_check(bridge_direction_t *direction, const bridge_view_t *view);

#endif
