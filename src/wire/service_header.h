/* The header of 16 bytes that rmw_cyclonedds puts between the encapsulation of a request or reply
 * and its body: the client and a sequence number. The alignment of the body does not change. Pure.
 */
#ifndef TB_ROS2_SERVICE_HEADER_H
#define TB_ROS2_SERVICE_HEADER_H

#include <stddef.h>
#include <stdint.h>
#include <timebase/status.h>

#define TB__SERVICE_HEADER_SIZE 16

typedef struct tb__service_header {
  uint64_t client; /* the client's choice, the same in all its requests; opaque to a server */
  int64_t sequence;
} tb__service_header_t;

/* Reads the header of a request or reply. TB_ERR_TRUNCATED, TB_ERR_CORRUPT (not plain CDR). */
TB_WARN_UNUSED tb_status_t tb__service_header_read(const void *cdr, size_t size,
                                                   tb__service_header_t *out);

/* `cdr` (encapsulation and body) with the header inserted; `out` has room for size +
 * TB__SERVICE_HEADER_SIZE bytes and may be where `cdr` is. TB_ERR_TRUNCATED, TB_ERR_CORRUPT. */
TB_WARN_UNUSED tb_status_t tb__service_header_insert(const tb__service_header_t *header,
                                                     const void *cdr, size_t size, uint8_t *out);

/* The reverse, for `size` bytes that tb__service_header_read accepts; `out` has room for size -
 * TB__SERVICE_HEADER_SIZE. */
void tb__service_header_remove(const void *cdr, size_t size, uint8_t *out);

#endif
