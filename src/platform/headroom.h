/* What the limits of the process still allow. For libraries that crash where they get less than
 * they need: asked before, and given back at once, so another thread may be quicker. */
#ifndef TB_PLATFORM_HEADROOM_H
#define TB_PLATFORM_HEADROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/private_api.h"

/* How many more descriptors can be open, at most `wanted`, which is at most 64. */
TB_PRIVATE_API unsigned tb__headroom_descriptors(unsigned wanted);
/* Whether so many more bytes of address space and data can be had. */
TB_PRIVATE_API bool tb__headroom_memory(size_t bytes);
/* What a thread takes of it that is started without attributes. */
TB_PRIVATE_API size_t tb__headroom_of_thread(void);

#endif
