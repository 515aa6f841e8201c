/* CRCs: of bytes that were summed up in parts, and of parts of a file. */
#ifndef TB_MCAP_CRC_H
#define TB_MCAP_CRC_H

#include <stdint.h>

#include "storage/input.h"

/* CRC-32 of A and then B, from that of A, that of B and how many bytes B has. */
uint32_t tb__mcap_crc_join(uint32_t a, uint32_t b, uint64_t size_of_b);

/* Adds the bytes from `from` to `to` to *crc. */
tb_status_t tb__mcap_input_crc(const tb__bag_input_t *input, uint64_t from, uint64_t to,
                               uint32_t *crc, tb_error_t *error) TB_WARN_UNUSED;

#endif
