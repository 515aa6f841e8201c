/* Writing at a place of a file. */
#ifndef TB_STORAGE_WRITE_AT_H
#define TB_STORAGE_WRITE_AT_H

#include <stddef.h>
#include <stdint.h>

/* All of `bytes`. 0, or errno; how much was written then is unknown. */
int tb__write_at(int fd, uint64_t offset, const void *bytes, size_t size);

#endif
