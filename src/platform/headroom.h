/* What the limits of the process still allow, for libraries that crash if they get less than they
 * need. It is taken and released at once, so another thread may take it in between. */
#ifndef TB_PLATFORM_HEADROOM_H
#define TB_PLATFORM_HEADROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/private_api.h"

/* How many more descriptors can be open, at most `wanted`, which is at most 64. */
TB_PRIVATE_API unsigned tb__headroom_descriptors(unsigned wanted);
/* Whether this many more bytes of address space and data can be allocated. */
TB_PRIVATE_API bool tb__headroom_memory(size_t bytes);
/* How much of that a thread takes that is started without attributes. */
TB_PRIVATE_API size_t tb__headroom_of_thread(void);

#endif
