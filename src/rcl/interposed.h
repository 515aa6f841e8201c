/* The functions of librcl that this library has in front of it. */
#ifndef TB_RCL_INTERPOSED_H
#define TB_RCL_INTERPOSED_H

#include <stddef.h>

#define TB__INTERPOSED_COUNT ((size_t)21)
extern const char *const tb__interposed_names[TB__INTERPOSED_COUNT];

#endif
