/* Text of any length that both ends of a test can make. */
#ifndef TB_TEST_PATTERN_H
#define TB_TEST_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* `length` characters that depend on `seed`, without NUL at the end. */
static inline void pattern_fill(char *out, size_t length, uint32_t seed)
{
  uint32_t x = seed * 2654435761u + 1;
  for (size_t i = 0; i < length; i++) {
    x = x * 1664525u + 1013904223u;
    out[i] = (char)('a' + (x >> 24) % 26);
  }
}

/* FNV-1a. */
static inline uint32_t pattern_hash(const char *text, size_t length)
{
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (uint8_t)text[i]) * 16777619u;
  return hash;
}

#endif
