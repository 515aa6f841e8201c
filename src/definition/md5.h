/* MD5 (RFC 1321), as ROS 1 tells definitions apart by it. No protection against anybody. Pure. */
#ifndef TB_DEFINITION_MD5_H
#define TB_DEFINITION_MD5_H

#include <stddef.h>

#define TB__MD5_TEXT_SIZE 33

/* 32 digits of lower case, and a NUL. */
void tb__md5_text(const void *data, size_t size, char out[TB__MD5_TEXT_SIZE]);

#endif
