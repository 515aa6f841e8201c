/* The CRC of bytes that were summed up in parts. */
#ifndef TB_MCAP_CRC_H
#define TB_MCAP_CRC_H

#include <stdint.h>

/* CRC-32 of A and then B, from that of A, that of B and how many bytes B has. */
uint32_t tb__mcap_crc_join(uint32_t a, uint32_t b, uint64_t size_of_b);

#endif
