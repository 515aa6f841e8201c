/* Whether this thread is in a callback of a sibling library that runs where time arrives, or where
 * that may depend on it: of subscriptions, services and clients. */
#ifndef TB_BASE_CALLBACK_DEPTH_H
#define TB_BASE_CALLBACK_DEPTH_H

#include <stdbool.h>

#include "base/private_api.h"

/* Around such callbacks, which nest. */
TB_PRIVATE_API void tb__callback_begin(void);
TB_PRIVATE_API void tb__callback_end(void);

bool tb__in_callback(void);

#endif
