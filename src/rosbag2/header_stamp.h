/* The stamp of a message that begins with a std_msgs/Header. Pure. */
#ifndef TB_ROSBAG2_HEADER_STAMP_H
#define TB_ROSBAG2_HEADER_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of serialized data, either byte order. False: it does not begin as such a header does: seconds,
 * nanoseconds below a second, and a string that ends within the message. Types without a header
 * hardly ever look so by chance. 0 is a stamp here. */
bool tb__header_stamp(const void *cdr, size_t size, int64_t *out_ns);

/* Whether the definition of "package/msg/Name" begins with a header, or is the header's own. */
bool tb__definition_has_header(const char *type, const char *definition);

#endif
