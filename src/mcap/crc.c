#include "mcap/crc.h"

#include <libdeflate.h>
#include <stdlib.h>

#include "base/no_memory.h"

/* Polynomials over GF(2), as CRC-32 has them: the highest bit is the coefficient of x^0. */
#define MODULUS UINT32_C(0xedb88320)
#define ONE     UINT32_C(0x80000000)
#define PIECE   262144

static uint32_t multiply(uint32_t a, uint32_t b)
{
  uint32_t product = 0;
  for (uint32_t bit = ONE; bit; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b & 1 ? b >> 1 ^ MODULUS : b >> 1;
  }
  return product;
}

/* Zeros after A multiply its CRC by x for each bit; the inversions at the ends cancel out. */
uint32_t tb__mcap_crc_join(uint32_t a, uint32_t b, uint64_t size_of_b)
{
  uint32_t factor = ONE, power = ONE >> 8; /* x^8: one byte */
  for (uint64_t left = size_of_b; left > 0; left >>= 1) {
    if (left & 1) factor = multiply(factor, power);
    power = multiply(power, power);
  }
  return multiply(factor, a) ^ b;
}

tb_status_t tb__mcap_input_crc(const tb__bag_input_t *input, uint64_t from, uint64_t to,
                               uint32_t *crc, tb_error_t *error)
{
  uint8_t *bytes = malloc(PIECE);
  if (!bytes) return tb__no_memory(error);
  tb_status_t status = TB_OK;
  while (from < to && !status) {
    size_t size = to - from < PIECE ? (size_t)(to - from) : PIECE;
    status = tb__bag_input_read(input, from, bytes, size, error);
    if (!status) *crc = libdeflate_crc32(*crc, bytes, size);
    from += size;
  }
  free(bytes);
  return status;
}
