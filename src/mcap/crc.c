#include "mcap/crc.h"

/* Polynomials over GF(2), as CRC-32 has them: the highest bit is the coefficient of x^0. */
#define MODULUS UINT32_C(0xedb88320)
#define ONE     UINT32_C(0x80000000)

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
