/* The endpoints that an endpoint of this process is matched with, each looked up by its GUID, where
 * DDS itself only has a list of all. Not from callbacks of DDS. */
#ifndef TB_DDS_PEERS_H
#define TB_DDS_PEERS_H

#include "dds/endpoint.h"

struct ddsi_sertype;

typedef struct tb__peers {
  int32_t endpoint;                /* its handle */
  const struct ddsi_sertype *type; /* registered for its topic */
} tb__peers_t;

/* Whether the endpoint is matched with `peer`. False also if the endpoint is gone. */
bool tb__peers_has(const tb__peers_t *peers, const tb__guid_t *peer);

/* The same, and the beginning of the peer's USER_DATA as text. */
bool tb__peers_user_data(const tb__peers_t *peers, const tb__guid_t *peer,
                         char out[TB__USER_DATA_SIZE]);

/* Moves *guid to the next peer of the same participant, the first one if it ends with four zeros.
 * False: there is none, or the endpoint is gone. */
bool tb__peers_next(const tb__peers_t *peers, tb__guid_t *guid);

#endif
