/* FNV-1a of 64 bits, for tables in memory: it is not stored, and not safe against chosen keys. */
#ifndef TB_DEFINITION_HASH_H
#define TB_DEFINITION_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TB__HASH_START UINT64_C(0xcbf29ce484222325)

/* `hash` goes on from TB__HASH_START or an earlier result. */
static inline uint64_t tb__hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
  const uint8_t *at = bytes;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
  return hash;
}

#endif
