/* The servers of a client, and which of them may have received a request.
 *
 * As in rmw_cyclonedds, a server exists when a reader of requests and a writer of replies with the
 * same serviceid are matched; if no reader has a serviceid, when there is any reader and any
 * writer. A server of Fast DDS exists when a reader of requests is matched with the writer of plain
 * requests, and a writer of replies of the same participant with the reader of replies. */
#include <stdlib.h>
#include <string.h>

#include "ros2/client.h"

typedef struct list {
  tb__matched_t *items;
  size_t count;
} list_t;

typedef struct matches {
  list_t readers, writers;             /* not of Fast DDS */
  list_t plain_readers, plain_writers; /* of Fast DDS */
  size_t foreign_count, misled_count;  /* as in tb_ros2_client_t */
} matches_t;

static bool any_reader_has_id(const matches_t *matches)
{
  char id[TB__SERVICE_ID_SIZE];
  for (size_t i = 0; i < matches->readers.count; i++) {
    if (tb__user_data_find(matches->readers.items[i].user_data, "serviceid", id)) return true;
  }
  return false;
}

static bool reader_has_writer(const matches_t *matches, const tb__matched_t *reader, bool with_ids)
{
  char id[TB__SERVICE_ID_SIZE], other[TB__SERVICE_ID_SIZE];
  const list_t *writers = &matches->writers;
  if (!with_ids) return writers->count > 0;
  if (!tb__user_data_find(reader->user_data, "serviceid", id)) return false;
  for (size_t i = 0; i < writers->count; i++) {
    if (tb__user_data_find(writers->items[i].user_data, "serviceid", other) &&
        strcmp(id, other) == 0)
      return true;
  }
  return false;
}

static bool plain_reader_has_writer(const matches_t *matches, const tb__matched_t *reader)
{
  const list_t *writers = &matches->plain_writers;
  for (size_t i = 0; i < writers->count; i++)
    if (tb__guid_is_beside(&writers->items[i].guid, &reader->guid)) return true;
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

static size_t servers_fill(tb_ros2_client_t *client, const matches_t *matches, tb__server_t *out)
    TB_REQUIRES(client->mutex)
{
  bool with_ids = any_reader_has_id(matches);
  size_t count = 0;
  for (size_t i = 0; i < matches->readers.count; i++) {
    const tb__matched_t *reader = &matches->readers.items[i];
    if (reader_has_writer(matches, reader, with_ids))
      out[count++] = (tb__server_t){reader->instance, serial_of(client, reader->instance), false};
  }
  for (size_t i = 0; i < matches->plain_readers.count; i++) {
    const tb__matched_t *reader = &matches->plain_readers.items[i];
    if (plain_reader_has_writer(matches, reader))
      out[count++] = (tb__server_t){reader->instance, serial_of(client, reader->instance), true};
  }
  return count;
}

static tb_status_t servers_replace(tb_ros2_client_t *client, const matches_t *matches)
{
  tb__server_t *room =
      calloc(matches->readers.count + matches->plain_readers.count + 1, sizeof *room);
  if (!room) return TB_ERR_NO_MEMORY;
  tb__mutex_lock(&client->mutex);
  size_t count = servers_fill(client, matches, room);
  free(client->servers);
  client->servers = room;
  client->server_count = count;
  client->foreign_count = matches->foreign_count;
  client->misled_count = matches->misled_count;
  fail_lost(client);
  tb__mutex_unlock(&client->mutex);
  return TB_OK;
}

/* Keeps those of Fast DDS, or the others. Returns how many it has removed. */
static size_t keep(list_t *list, bool of_fast_dds)
{
  size_t kept = 0, count = list->count;
  for (size_t i = 0; i < count; i++)
    if (tb__guid_is_of_fast_dds(&list->items[i].guid) == of_fast_dds)
      list->items[kept++] = list->items[i];
  list->count = kept;
  return count - kept;
}

/* Whether a reader takes what the writer of requests with a header sends. */
static bool is_foreign(const tb_ros2_client_t *client, const tb__matched_t *reader)
{
  return tb__guid_is_of_fast_dds(&reader->guid) && (!client->is_apart || reader->in_partition);
}

static size_t foreign_count(const tb_ros2_client_t *client, const list_t *readers)
{
  size_t count = 0;
  for (size_t i = 0; i < readers->count; i++)
    count += is_foreign(client, &readers->items[i]);
  return count;
}

static tb_status_t header_matches_read(tb_ros2_client_t *client, matches_t *out, bool *out_fast_dds)
{
  list_t *plain = &out->plain_writers;
  tb_status_t status =
      tb__raw_writer_matched_list(client->writer, &out->readers.items, &out->readers.count);
  if (status) return status;
  out->foreign_count = foreign_count(client, &out->readers);
  *out_fast_dds = keep(&out->readers, false) > 0;
  status = tb__raw_reader_matched_list(client->reader, &out->writers.items, &out->writers.count);
  if (status || out->writers.count == 0) return status;
  plain->items = malloc(out->writers.count * sizeof *plain->items);
  if (!plain->items) return TB_ERR_NO_MEMORY;
  plain->count = out->writers.count;
  memcpy(plain->items, out->writers.items, plain->count * sizeof *plain->items);
  keep(plain, true);
  keep(&out->writers, false);
  *out_fast_dds = *out_fast_dds || plain->count > 0;
  return TB_OK;
}

static tb_status_t plain_matches_read(tb_ros2_client_t *client, matches_t *out)
{
  list_t *readers = &out->plain_readers;
  tb_status_t status = tb__raw_writer_matched_list(client->plain, &readers->items, &readers->count);
  if (status) return status;
  size_t others = keep(readers, true);
  if (!client->is_marked) out->misled_count = others;
  return TB_OK;
}

static tb_status_t servers_look(tb_ros2_client_t *client) TB_REQUIRES(client->refresh_mutex)
{
  matches_t matches = {0};
  bool has_fast_dds = false;
  tb_status_t status = header_matches_read(client, &matches, &has_fast_dds);
  if (!status) {
    /* Without the writer of plain requests the other servers can be asked all the same. */
    tb_status_t opened = has_fast_dds ? tb__client_plain_open(client) : TB_OK;
    if (!opened && client->plain) opened = plain_matches_read(client, &matches);
    status = servers_replace(client, &matches);
    if (!status) status = opened;
  }
  free(matches.readers.items);
  free(matches.writers.items);
  free(matches.plain_readers.items);
  free(matches.plain_writers.items);
  return status;
}

/* Only grows. */
static uint32_t match_events(const tb_ros2_client_t *client) TB_REQUIRES(client->refresh_mutex)
{
  uint32_t events =
      tb__raw_writer_match_events(client->writer) + tb__raw_reader_match_events(client->reader);
  return client->plain ? events + tb__raw_writer_match_events(client->plain) : events;
}

tb_status_t tb__client_refresh(tb_ros2_client_t *client)
{
  tb_status_t status = TB_OK;
  tb__mutex_lock(&client->refresh_mutex);
  uint32_t events = match_events(client);
  if (events != client->refreshed_at) {
    status = servers_look(client);
    if (!status) client->refreshed_at = events;
  }
  tb__mutex_unlock(&client->refresh_mutex);
  return status;
}

void tb__client_kinds_locked(const tb_ros2_client_t *client, bool *out_header, bool *out_plain)
{
  *out_header = *out_plain = false;
  for (size_t i = 0; i < client->server_count; i++)
    *(client->servers[i].is_plain ? out_plain : out_header) = true;
}

tb_status_t tb__client_server_status(tb_ros2_client_t *client)
{
  bool header, plain;
  tb__mutex_lock(&client->mutex);
  tb__client_kinds_locked(client, &header, &plain);
  bool mixes = (header && client->foreign_count > 0) || (plain && client->misled_count > 0);
  tb__mutex_unlock(&client->mutex);
  if (mixes) return TB_ERR_UNSUPPORTED;
  return header || plain ? TB_OK : TB_ERR_TIMEOUT;
}

/* DDS may have matched more since the last refresh: its threads notify us only afterwards. So DDS
 * is asked: where the two writers do not exclude it, for all of them; otherwise whether anything
 * has changed, as only a server of Fast DDS in a partition is matched. */
tb_status_t tb__client_check_header_readers(tb_ros2_client_t *client)
{
  list_t readers = {0};
  if (client->is_apart) {
    tb_status_t refreshed = tb__client_refresh(client);
    tb__mutex_lock(&client->mutex);
    bool is_foreign = client->foreign_count > 0;
    tb__mutex_unlock(&client->mutex);
    return is_foreign ? TB_ERR_UNSUPPORTED : refreshed;
  }
  tb_status_t status = tb__raw_writer_matched_list(client->writer, &readers.items, &readers.count);
  if (!status && foreign_count(client, &readers) > 0) status = TB_ERR_UNSUPPORTED;
  free(readers.items);
  return status;
}

tb_status_t tb__client_check_plain_readers(tb_ros2_client_t *client)
{
  list_t readers = {0};
  if (client->is_marked) return TB_OK;
  tb_status_t status = tb__raw_writer_matched_list(client->plain, &readers.items, &readers.count);
  if (!status && keep(&readers, true) > 0) status = TB_ERR_UNSUPPORTED;
  free(readers.items);
  return status;
}
