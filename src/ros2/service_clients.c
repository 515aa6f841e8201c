#include "ros2/service_clients.h"

#include <stdlib.h>
#include <string.h>

#include "held/parking.h"
#include "platform/time.h"
#include "ros2/service_pair.h"

#define WAIT_NS       INT64_C(100000000)  /* rmw_send_response */
#define PLAIN_WAIT_NS INT64_C(1000000000) /* Fast DDS announces a reader up to 1 s late */

void tb__service_clients_init(tb__service_clients_t *clients)
{
  tb__mutex_init(&clients->mutex);
}

void tb__service_clients_fini(tb__service_clients_t *clients)
{
  tb__mutex_fini(&clients->mutex);
}

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

typedef struct matches {
  tb__matched_t *writers, *readers; /* of requests, of replies */
  size_t writer_count, reader_count;
} matches_t;

static const tb__matched_t *matched_find(const tb__matched_t *list, size_t count,
                                         const tb__guid_t *guid)
{
  for (size_t i = 0; i < count; i++) {
    if (tb__guid_equal(&list[i].guid, guid)) return &list[i];
  }
  return NULL;
}

/* A client with a header: reader and writer have the same id. */
static tb__client_state_t numbered_state(const matches_t *matches, const tb__guid_t *writer_guid)
{
  char id[TB__SERVICE_ID_SIZE], other[TB__SERVICE_ID_SIZE];
  const tb__matched_t *writer = matched_find(matches->writers, matches->writer_count, writer_guid);
  if (!writer) return TB__CLIENT_GONE;
  if (!tb__user_data_find(writer->user_data, "clientid", id)) return TB__CLIENT_READY;
  for (size_t i = 0; i < matches->reader_count; i++) {
    if (tb__user_data_find(matches->readers[i].user_data, "clientid", other) &&
        strcmp(id, other) == 0)
      return TB__CLIENT_READY;
  }
  return TB__CLIENT_WITHOUT_READER;
}

/* A client of Fast DDS. One that has not named its reader is not waited for, as in rmw_fastrtps. */
static tb__client_state_t plain_state(const matches_t *matches, const tb__guid_t *guid)
{
  if (matched_find(matches->readers, matches->reader_count, guid)) return TB__CLIENT_READY;
  if (!is_of_reader(guid))
    return matched_find(matches->writers, matches->writer_count, guid) ? TB__CLIENT_READY
                                                                       : TB__CLIENT_GONE;
  for (size_t i = 0; i < matches->writer_count; i++)
    if (tb__guid_is_beside(&matches->writers[i].guid, guid)) return TB__CLIENT_WITHOUT_READER;
  return TB__CLIENT_GONE;
}

static tb__client_state_t client_query(tb__service_clients_t *clients, const tb__guid_t *guid)
{
  matches_t matches = {.writers = NULL};
  tb__client_state_t state = TB__CLIENT_READY; /* unknown: answer */
  tb_status_t queried =
      tb__raw_reader_matched_list(clients->reader, &matches.writers, &matches.writer_count);
  if (!queried)
    queried = tb__raw_writer_matched_list(clients->writer, &matches.readers, &matches.reader_count);
  if (!queried)
    state =
        tb__client_is_plain(guid) ? plain_state(&matches, guid) : numbered_state(&matches, guid);
  free(matches.writers);
  free(matches.readers);
  return state;
}

static tb__client_entry_t *client_entry(tb__service_clients_t *clients, const tb__guid_t *guid)
    TB_REQUIRES(clients->mutex)
{
  uint32_t events =
      tb__raw_reader_match_events(clients->reader) + tb__raw_writer_match_events(clients->writer);
  for (unsigned i = 0; i < TB__CLIENTS_CACHED && events != clients->entries_of; i++)
    clients->entries[i].state = TB__CLIENT_UNKNOWN; /* what was waited for stays known */
  clients->entries_of = events;
  for (unsigned i = 0; i < TB__CLIENTS_CACHED; i++) {
    tb__client_entry_t *entry = &clients->entries[i];
    if (!entry->is_used || !tb__guid_equal(&entry->guid, guid)) continue;
    if (entry->state == TB__CLIENT_UNKNOWN) entry->state = client_query(clients, guid);
    if (entry->state == TB__CLIENT_READY) entry->waited = false;
    return entry;
  }
  tb__client_entry_t *entry = &clients->entries[clients->next++ % TB__CLIENTS_CACHED];
  entry->guid = *guid;
  entry->is_used = true;
  entry->waited = false;
  entry->state = client_query(clients, guid);
  return entry;
}

/* Whether its reader, or another one of the same participant of Fast DDS, was waited for in vain. A
 * request names any reader of its participant, and must not delay the others each time. */
static bool was_waited_for(const tb__service_clients_t *clients, const tb__client_entry_t *entry)
    TB_REQUIRES(clients->mutex)
{
  if (entry->waited || !tb__client_is_plain(&entry->guid)) return entry->waited;
  for (unsigned i = 0; i < TB__CLIENTS_CACHED; i++) {
    const tb__client_entry_t *other = &clients->entries[i];
    if (other->waited && tb__guid_is_beside(&other->guid, &entry->guid)) return true;
  }
  return false;
}

/* The state of the client. A client whose reader was waited for counts as ready: `waited` records
 * it, so that a client without a reader delays the others once and not at each request. */
static tb__client_state_t client_state(tb__service_clients_t *clients, const tb__guid_t *guid,
                                       bool waited)
{
  tb__mutex_lock(&clients->mutex);
  tb__client_entry_t *entry = client_entry(clients, guid);
  entry->waited = waited || was_waited_for(clients, entry);
  tb__client_state_t state =
      entry->waited && entry->state == TB__CLIENT_WITHOUT_READER ? TB__CLIENT_READY : entry->state;
  tb__mutex_unlock(&clients->mutex);
  return state;
}

void tb__service_clients_close(tb__service_clients_t *clients)
{
  atomic_store(&clients->is_closed, true);
  atomic_fetch_add(&clients->events, 1);
  tb__futex_wake_all(&clients->events);
}

void tb__service_clients_expect(tb__service_clients_t *clients)
{
  tb__raw_reader_expect_first_of(clients->reader, tb__guid_is_of_fast_dds);
}

bool tb__service_clients_wait(tb__service_clients_t *clients, const tb__guid_t *guid)
{
  int64_t limit_ns = tb__client_is_plain(guid) ? PLAIN_WAIT_NS : WAIT_NS;
  tb__deadline_t deadline = tb__deadline_at(tb__steady_now_ns() + limit_ns);
  for (bool waited = false;;) {
    uint32_t seen = atomic_load(&clients->events);
    tb__client_state_t state = client_state(clients, guid, waited);
    if (state != TB__CLIENT_WITHOUT_READER) return state != TB__CLIENT_GONE;
    if (atomic_load(&clients->is_closed)) return false;
    waited = !tb__futex_wait(&clients->events, seen, deadline);
  }
}
