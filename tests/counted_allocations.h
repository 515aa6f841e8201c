/* Counts what the program allocates and frees, in all its threads. Under a sanitizer, which has its
 * own allocator, through that one's hooks. */
#ifndef TB_TEST_COUNTED_ALLOCATIONS_H
#define TB_TEST_COUNTED_ALLOCATIONS_H

#include <stdint.h>

void allocations_begin(void);
int64_t allocations_end(void);

#endif
