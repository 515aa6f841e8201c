/* The related sample identity: which sample a sample answers, or where its answer is to go. Fast
 * DDS puts it into the inline QoS of requests and replies, an RTPS parameter list. Pure. */
#ifndef TB_DDS_RELATED_IDENTITY_H
#define TB_DDS_RELATED_IDENTITY_H

#include "dds/guid.h"

#define TB__RELATED_IDENTITY_SIZE 56 /* of the parameters that tb__related_identity_write makes */

/* The sequence number in a request, whose own number the server takes instead. */
#define TB__RELATED_SEQUENCE_UNKNOWN (-(INT64_C(1) << 32))

typedef struct tb__related_identity {
  tb__guid_t guid;  /* all zeros: unknown */
  int64_t sequence; /* RTPS sequence number */
} tb__related_identity_t;

/* Where a sample from the network comes from, besides its writer. */
typedef struct tb__sample_origin {
  int64_t sequence; /* RTPS sequence number */
  bool has_related;
  tb__related_identity_t related;
} tb__sample_origin_t;

/* Reads the identity from a parameter list. The list is in the byte order of its submessage and
 * must end with a sentinel, from which on nothing is read. False, and *out untouched: it has no
 * identity, or is not a parameter list. Of several the standard one (0x0083) counts, then the
 * first. */
bool tb__related_identity_read(const void *list, size_t size, bool big_endian,
                               tb__related_identity_t *out);

/* Both parameters, that of the standard (0x0083) and that of older Fast DDS (0x800f), without a
 * sentinel, in the byte order of this machine, which is that of the submessages of Cyclone DDS. */
void tb__related_identity_write(const tb__related_identity_t *identity,
                                uint8_t out[TB__RELATED_IDENTITY_SIZE]);

#endif
