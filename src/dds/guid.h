/* The GUID of a DDS entity. */
#ifndef TB_DDS_GUID_H
#define TB_DDS_GUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TB__GUID_SIZE        16
#define TB__GUID_PREFIX_SIZE 12 /* of its participant */

/* "01.10.ab. ... .04", as ROS and Cyclone DDS print it, with a NUL. */
#define TB__GUID_TEXT_SIZE (3 * TB__GUID_SIZE)

/* In network order. Public structs have the same bytes as an array. */
typedef struct tb__guid {
  uint8_t bytes[TB__GUID_SIZE];
} tb__guid_t;

static inline tb__guid_t tb__guid_of(const uint8_t bytes[TB__GUID_SIZE])
{
  tb__guid_t guid;
  memcpy(guid.bytes, bytes, sizeof guid.bytes);
  return guid;
}

static inline void tb__guid_copy(const tb__guid_t *guid, uint8_t out[TB__GUID_SIZE])
{
  memcpy(out, guid->bytes, sizeof guid->bytes);
}

/* The order is that of the bytes. */
static inline int tb__guid_compare(const tb__guid_t *a, const tb__guid_t *b)
{
  return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

static inline bool tb__guid_equal(const tb__guid_t *a, const tb__guid_t *b)
{
  return tb__guid_compare(a, b) == 0;
}

/* Whether both are of one participant: the prefix is the same. */
static inline bool tb__guid_is_beside(const tb__guid_t *a, const tb__guid_t *b)
{
  return memcmp(a->bytes, b->bytes, TB__GUID_PREFIX_SIZE) == 0;
}

/* A GUID begins with the vendor of its participant. */
static inline bool tb__guid_is_of_fast_dds(const tb__guid_t *guid)
{
  return guid->bytes[0] == 0x01 && guid->bytes[1] == 0x0f;
}

/* Whether an array, such as that of a public struct, has this GUID. */
static inline bool tb__guid_is(const tb__guid_t *guid, const uint8_t bytes[TB__GUID_SIZE])
{
  return memcmp(guid->bytes, bytes, sizeof guid->bytes) == 0;
}

static inline void tb__guid_format(const tb__guid_t *guid, char out[TB__GUID_TEXT_SIZE])
{
  for (size_t i = 0; i < TB__GUID_SIZE; i++)
    snprintf(out + 3 * i, 4, i + 1 < TB__GUID_SIZE ? "%02x." : "%02x", guid->bytes[i]);
}

/* Whether the endpoint is of a type with a key, as the kind in its GUID says. */
static inline bool tb__guid_is_keyed(const uint8_t guid[TB__GUID_SIZE])
{
  return guid[TB__GUID_SIZE - 1] == 0x02 || guid[TB__GUID_SIZE - 1] == 0x07;
}

#endif
