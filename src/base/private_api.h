/* Functions inside timebase that its sibling libraries call: libtimebase-bag and libtimebase-ros2
 * need the log hook and the waits of libtimebase, for instance. A part lives in one library only,
 * so that its state exists once, and what a sibling needs of it is marked here.
 *
 * Exported, but no API: the headers are not installed, and the symbols are in a version node that
 * names the exact release (TIMEBASE_PRIVATE_0.1.0), so that the loader refuses to mix siblings of
 * different releases. Calls within one library need no mark. */
#ifndef TB_BASE_PRIVATE_API_H
#define TB_BASE_PRIVATE_API_H

#include <timebase/export.h>

#define TB_PRIVATE_API TB_API

#endif
