/* The servers of a client, and which of them may have received a request. As in rmw_cyclonedds, a
 * server exists when a reader of requests and a writer of replies with the same serviceid are
 * matched; if no reader has a serviceid, when there is any reader and any writer.
 *
 * Servers of Fast DDS read the header that rmw_cyclonedds puts before a request as the request, and
 * a length in it as gigabytes to allocate: nothing is sent to them. */
#include <stdlib.h>
#include <string.h>

#include "ros2/client.h"
#include "ros2/service_pair.h"

typedef struct matches {
  tb__matched_t *readers, *writers;
  size_t reader_count, writer_count;
  size_t foreign_count; /* readers that were left out */
} matches_t;

/* A GUID begins with the vendor of its participant. */
static bool is_of_fast_dds(const tb__matched_t *matched)
{
  return matched->guid.bytes[0] == 0x01 && matched->guid.bytes[1] == 0x0f;
}

static void foreign_remove(tb__matched_t *list, size_t *count)
{
  size_t kept = 0;
  for (size_t i = 0; i < *count; i++)
    if (!is_of_fast_dds(&list[i])) list[kept++] = list[i];
  *count = kept;
}

static bool any_reader_has_id(const matches_t *matches)
{
  char id[TB__SERVICE_ID_SIZE];
  for (size_t i = 0; i < matches->reader_count; i++) {
    if (tb__user_data_find(matches->readers[i].user_data, "serviceid", id)) return true;
  }
  return false;
}

static bool reader_has_writer(const matches_t *matches, const tb__matched_t *reader, bool with_ids)
{
  char id[TB__SERVICE_ID_SIZE], other[TB__SERVICE_ID_SIZE];
  if (!with_ids) return matches->writer_count > 0;
  if (!tb__user_data_find(reader->user_data, "serviceid", id)) return false;
  for (size_t i = 0; i < matches->writer_count; i++) {
    if (tb__user_data_find(matches->writers[i].user_data, "serviceid", other) &&
        strcmp(id, other) == 0)
      return true;
  }
  return false;
}

static uint64_t serial_of(tb_ros2_client_t *client, uint64_t instance) TB_REQUIRES(client->mutex)
{
  for (size_t i = 0; i < client->server_count; i++) {
    if (client->servers[i].instance == instance) return client->servers[i].serial;
  }
  return ++client->last_serial;
}

static void fail_lost(tb_ros2_client_t *client) TB_REQUIRES(client->mutex)
{
  uint64_t first = UINT64_MAX;
  for (size_t i = 0; i < client->server_count; i++)
    first = client->servers[i].serial < first ? client->servers[i].serial : first;
  for (tb__pending_t *pending = client->pending, *next; pending; pending = next) {
    next = pending->next;
    if (pending->servers_upto < first) tb__client_finish_locked(client, pending, TB_ERR_CLOSED);
  }
}

static void servers_replace(tb_ros2_client_t *client, const matches_t *matches, tb__server_t *room)
{
  bool with_ids = any_reader_has_id(matches);
  size_t count = 0;
  tb__mutex_lock(&client->mutex);
  for (size_t i = 0; i < matches->reader_count; i++) {
    const tb__matched_t *reader = &matches->readers[i];
    if (!reader_has_writer(matches, reader, with_ids)) continue;
    room[count++] = (tb__server_t){reader->instance, serial_of(client, reader->instance)};
  }
  free(client->servers);
  client->servers = room;
  client->server_count = count;
  client->foreign_count = matches->foreign_count;
  fail_lost(client);
  tb__mutex_unlock(&client->mutex);
}

static tb_status_t matches_read(tb_ros2_client_t *client, matches_t *out)
{
  tb_status_t status =
      tb__raw_writer_matched_list(client->writer, &out->readers, &out->reader_count);
  if (status) return status;
  size_t readers = out->reader_count;
  foreign_remove(out->readers, &out->reader_count);
  out->foreign_count = readers - out->reader_count;
  status = tb__raw_reader_matched_list(client->reader, &out->writers, &out->writer_count);
  if (!status) foreign_remove(out->writers, &out->writer_count);
  return status;
}

tb_status_t tb__client_refresh(tb_ros2_client_t *client)
{
  tb_status_t status = TB_OK;
  tb__mutex_lock(&client->refresh_mutex);
  uint32_t events =
      tb__raw_writer_match_events(client->writer) + tb__raw_reader_match_events(client->reader);
  if (events != client->refreshed_at) {
    matches_t matches = {0};
    tb__server_t *room = NULL;
    status = matches_read(client, &matches);
    if (!status) {
      room = calloc(matches.reader_count + 1, sizeof *room);
      if (!room) status = TB_ERR_NO_MEMORY;
    }
    if (room) {
      servers_replace(client, &matches, room);
      client->refreshed_at = events;
    }
    free(matches.readers);
    free(matches.writers);
  }
  tb__mutex_unlock(&client->refresh_mutex);
  return status;
}

bool tb__client_has_server(tb_ros2_client_t *client)
{
  tb__mutex_lock(&client->mutex);
  bool has = client->server_count > 0 && client->foreign_count == 0;
  tb__mutex_unlock(&client->mutex);
  return has;
}

bool tb__client_has_foreign_server(tb_ros2_client_t *client)
{
  tb__mutex_lock(&client->mutex);
  bool has = client->foreign_count > 0;
  tb__mutex_unlock(&client->mutex);
  return has;
}

/* DDS may have matched more since the last refresh: its threads notify us only afterwards. */
tb_status_t tb__client_check_servers(tb_ros2_client_t *client)
{
  tb__matched_t *readers = NULL;
  size_t count = 0;
  tb_status_t status = tb__raw_writer_matched_list(client->writer, &readers, &count);
  for (size_t i = 0; i < count && !status; i++)
    if (is_of_fast_dds(&readers[i])) status = TB_ERR_UNSUPPORTED;
  free(readers);
  return status;
}
