/* The clients of a service: how each is answered, and whether its reader of replies is there. */
#ifndef TB_ROS2_SERVICE_CLIENTS_H
#define TB_ROS2_SERVICE_CLIENTS_H

#include <timebase/ros2_service.h>

#include "dds/raw_reader.h"
#include "dds/raw_writer.h"
#include "platform/mutex.h"

#define TB__CLIENTS_CACHED 16

typedef enum tb__client_state {
  TB__CLIENT_UNKNOWN,
  TB__CLIENT_READY, /* or it cannot be known */
  TB__CLIENT_WITHOUT_READER,
  TB__CLIENT_GONE,
} tb__client_state_t;

typedef struct tb__client_entry {
  tb__guid_t guid; /* of the request's id */
  tb__client_state_t state;
  bool is_used;
  bool waited; /* for its reader, without success */
} tb__client_entry_t;

typedef struct tb__service_clients {
  tb__raw_reader_t *reader; /* of requests */
  tb__raw_writer_t *writer; /* of replies */
  atomic_bool is_closed;
  _Atomic uint32_t events; /* futex: matches have changed; raised by the service's endpoints */
  tb__mutex_t mutex;       /* held while DDS is queried, never by its threads */
  tb__client_entry_t entries[TB__CLIENTS_CACHED];
  uint32_t entries_of; /* match events when they were made */
  unsigned next;
} tb__service_clients_t;

/* All zeros; reader and writer are set by the service. */
void tb__service_clients_init(tb__service_clients_t *clients);
void tb__service_clients_fini(tb__service_clients_t *clients);

/* How a request is answered follows from the GUID in its id: 16 bytes of header, to the client
 * whose writer it is; or as Fast DDS does, with the related identity in the inline QoS, to this
 * reader, or to this writer of Fast DDS. */
bool tb__client_is_plain(const tb__guid_t *guid);

/* The id of a request without a header that came from `writer`. False: it has a header. What a
 * request claims counts only for its own participant, so a wrong identity harms nobody else. */
bool tb__client_plain_id(const tb__guid_t *writer, const tb__sample_origin_t *origin,
                         tb_ros2_request_id_t *out);

/* Ends waits, and lets none begin. */
void tb__service_clients_close(tb__service_clients_t *clients);

/* To be called after each change of the matches, soon: what clients of Fast DDS send first is not
 * lost, however large it is. Not on threads of DDS. */
void tb__service_clients_expect(tb__service_clients_t *clients);

/* Waits until the client's reader of replies is matched, up to 100 ms for each client, 1 s for one
 * of Fast DDS. False: the client is gone. */
bool tb__service_clients_wait(tb__service_clients_t *clients, const tb__guid_t *guid);

#endif
