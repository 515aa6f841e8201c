/* The definitions that the library has with it: those of the time contract, and of what sensors and
 * navigation publish. */
#ifndef TB_DEFINITION_BUILT_IN_H
#define TB_DEFINITION_BUILT_IN_H

#include <stddef.h>

/* Of "package/Name", as the text of a .msg file. NULL: there is none. */
const char *tb__built_in_definition(const char *name);

/* The name of each of them; NULL after the last. */
const char *tb__built_in_name(size_t index);

#endif
