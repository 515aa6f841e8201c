/* The header stamps of the messages of one type: by its definition, or where that is unknown, by
 * what messages begin with. */
#ifndef TB_ROSBAG2_HEADER_STAMP_H
#define TB_ROSBAG2_HEADER_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <timebase/bag_reader.h>

#include "definition/message_head.h"

typedef struct tb__stamp_reader {
  tb__schema_t *schema; /* NULL: the definition is unknown */
  tb__message_head_t head;
} tb__stamp_reader_t;

/* Of a recorded topic, whose definition comes first; below AMENT_PREFIX_PATH; built in. Without a
 * type nothing is known. A definition that is nowhere is no failure. TB_ERR_NO_MEMORY. */
tb_status_t tb__stamp_reader_init(tb__stamp_reader_t *reader, const char *type,
                                  const tb_bag_topic_t *recorded, tb_error_t *error) TB_WARN_UNUSED;
void tb__stamp_reader_fini(tb__stamp_reader_t *reader);

/* True as well if the definition is unknown. */
bool tb__stamp_reader_may_find(const tb__stamp_reader_t *reader);

/* Of serialized data, either byte order. False: it has no header, or is not of the definition. 0 is
 * a stamp here. Allocates nothing. */
bool tb__stamp_reader_read(const tb__stamp_reader_t *reader, const void *cdr, size_t size,
                           int64_t *out_ns);

/* Without a definition. False: it does not begin as a header does: seconds, nanoseconds below a
 * second, and a string that ends within the message. Types without a header hardly ever look so by
 * chance. */
bool tb__header_stamp_guess(const void *cdr, size_t size, int64_t *out_ns);

#endif
