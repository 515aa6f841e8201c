/* The clients of a service: how each is answered, and whether its reader of replies is there. */
#ifndef TB_ROS2_SERVICE_CLIENTS_H
#define TB_ROS2_SERVICE_CLIENTS_H

#include <timebase/ros2_service.h>

#include "dds/peers.h"
#include "dds/related_identity.h"

typedef enum tb__client_state {
  TB__CLIENT_READY, /* or it cannot be known */
  TB__CLIENT_WITHOUT_READER,
  TB__CLIENT_GONE,
} tb__client_state_t;

/* How a request is answered follows from the GUID in its id: 16 bytes of header, to the client
 * whose writer it is; or as Fast DDS does, with the related identity in the inline QoS, to this
 * reader, or to this writer of Fast DDS. */
bool tb__client_is_plain(const tb__guid_t *guid);

/* The id of a request without a header that came from `writer`. False: it has a header. What a
 * request claims counts only for its own participant, so a wrong identity harms nobody else. */
bool tb__client_plain_id(const tb__guid_t *writer, const tb__sample_origin_t *origin,
                         tb_ros2_request_id_t *out);

/* `requests` is the service's reader, `replies` its writer. Not on threads of DDS. */
tb__client_state_t tb__client_state(const tb__peers_t *requests, const tb__peers_t *replies,
                                    const tb__guid_t *client);

/* "RIHS01_" and 64 digits, with the NUL. */
#define TB__CLIENT_HASH_SIZE 72

/* The type hash that the client's reader of replies announces. False: none, or there is no reader.
 */
bool tb__client_response_hash(const tb__peers_t *requests, const tb__peers_t *replies,
                              const tb__guid_t *client, char out[TB__CLIENT_HASH_SIZE]);

#endif
