#include "ros2/service_clients.h"

#include <string.h>

#include "ros2/service_pair.h"

/* Of the program; the kind is in the last byte. */
static bool is_of_reader(const tb__guid_t *guid)
{
  return guid->bytes[TB__GUID_SIZE - 1] == 0x04 || guid->bytes[TB__GUID_SIZE - 1] == 0x07;
}

bool tb__client_is_plain(const tb__guid_t *guid)
{
  return is_of_reader(guid) || tb__guid_is_of_fast_dds(guid);
}

bool tb__client_plain_id(const tb__guid_t *writer, const tb__sample_origin_t *origin,
                         tb_ros2_request_id_t *out)
{
  const tb__guid_t *related = &origin->related.guid;
  bool names_reader =
      origin->has_related && is_of_reader(related) && tb__guid_is_beside(related, writer);
  if (!names_reader && !tb__guid_is_of_fast_dds(writer)) return false;
  const tb__guid_t *guid = names_reader ? related : writer;
  *out = (tb_ros2_request_id_t){.sequence = origin->sequence};
  memcpy(&out->client, guid->bytes + TB__GUID_SIZE - sizeof out->client, sizeof out->client);
  tb__guid_copy(guid, out->writer_guid);
  return true;
}

/* Before the first endpoint of its participant. */
static tb__guid_t participant_of(const tb__guid_t *endpoint)
{
  tb__guid_t participant = *endpoint;
  memset(participant.bytes + TB__GUID_PREFIX_SIZE, 0, TB__GUID_SIZE - TB__GUID_PREFIX_SIZE);
  return participant;
}

/* A client with a header: reader and writer are of one participant, and have the same id.
 * `user_data` becomes that of the reader, or of the writer where there is no id. */
static tb__client_state_t numbered_state(const tb__peers_t *requests, const tb__peers_t *replies,
                                         const tb__guid_t *writer,
                                         char user_data[TB__USER_DATA_SIZE])
{
  char id[TB__SERVICE_ID_SIZE], other[TB__SERVICE_ID_SIZE];
  if (!tb__peers_user_data(requests, writer, user_data)) return TB__CLIENT_GONE;
  if (!tb__user_data_find(user_data, "clientid", id)) return TB__CLIENT_READY;
  for (tb__guid_t reader = participant_of(writer); tb__peers_next(replies, &reader);)
    if (tb__peers_user_data(replies, &reader, user_data) &&
        tb__user_data_find(user_data, "clientid", other) && strcmp(id, other) == 0)
      return TB__CLIENT_READY;
  return TB__CLIENT_WITHOUT_READER;
}

/* A client of Fast DDS. One that has not named its reader is not waited for, as in rmw_fastrtps. */
static tb__client_state_t plain_state(const tb__peers_t *requests, const tb__peers_t *replies,
                                      const tb__guid_t *guid)
{
  tb__guid_t writer = participant_of(guid);
  if (tb__peers_has(replies, guid)) return TB__CLIENT_READY;
  if (!is_of_reader(guid))
    return tb__peers_has(requests, guid) ? TB__CLIENT_READY : TB__CLIENT_GONE;
  return tb__peers_next(requests, &writer) ? TB__CLIENT_WITHOUT_READER : TB__CLIENT_GONE;
}

tb__client_state_t tb__client_state(const tb__peers_t *requests, const tb__peers_t *replies,
                                    const tb__guid_t *client)
{
  char user_data[TB__USER_DATA_SIZE];
  return tb__client_is_plain(client) ? plain_state(requests, replies, client)
                                     : numbered_state(requests, replies, client, user_data);
}

bool tb__client_response_hash(const tb__peers_t *requests, const tb__peers_t *replies,
                              const tb__guid_t *client, char out[TB__CLIENT_HASH_SIZE])
{
  char user_data[TB__USER_DATA_SIZE];
  bool found = tb__client_is_plain(client)
                   ? tb__peers_user_data(replies, client, user_data)
                   : numbered_state(requests, replies, client, user_data) == TB__CLIENT_READY;
  return found && tb__user_data_value(user_data, "typehash", out, TB__CLIENT_HASH_SIZE);
}
