#include "rosbag1/connections.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "storage/clean.h"

void tb__rosbag1_connections_fini(tb__rosbag1_connections_t *all)
{
  for (size_t i = 0; i < all->count; i++) {
    free(all->items[i].header);
    free(all->items[i].caller);
  }
  free(all->items);
  *all = (tb__rosbag1_connections_t){0};
}

/* Where it is, or belongs. */
static size_t place_of(const tb__rosbag1_connections_t *all, uint32_t id)
{
  size_t low = 0, high = all->count;
  if (high > 0 && all->items[high - 1].id < id) return high;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (all->items[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

tb__rosbag1_connection_t *tb__rosbag1_connections_find(tb__rosbag1_connections_t *all, uint32_t id)
{
  if (all->last < all->count && all->items[all->last].id == id) return &all->items[all->last];
  size_t place = place_of(all, id);
  if (place == all->count || all->items[place].id != id) return NULL;
  all->last = place;
  return &all->items[place];
}

static bool same(tb__rosbag1_text_t a, tb__rosbag1_text_t b)
{
  return a.size == b.size && memcmp(a.at, b.at, a.size) == 0;
}

tb__rosbag1_connection_t *tb__rosbag1_connections_of_topic(tb__rosbag1_connections_t *all,
                                                           tb__rosbag1_text_t topic)
{
  if (!topic.at) return NULL;
  if (all->last < all->count && same(all->items[all->last].topic, topic))
    return &all->items[all->last];
  for (size_t i = 0; i < all->count; i++)
    if (same(all->items[i].topic, topic)) {
      all->last = i;
      return &all->items[i];
    }
  return NULL;
}

/* Never without an address, so that it can be compared and copied. */
static tb__rosbag1_text_t text_of(tb__rosbag1_fields_t fields, const char *name)
{
  tb__rosbag1_text_t text = tb__rosbag1_field(fields, name);
  return text.at ? text : (tb__rosbag1_text_t){"", 0};
}

static tb_status_t insert(tb__rosbag1_connections_t *all,
                          const tb__rosbag1_connection_t *connection, tb_error_t *error)
{
  if (all->count == TB__ROSBAG1_MAX_CONNECTIONS)
    return tb_error_set(error, TB_ERR_LIMIT, "more than %d connections",
                        TB__ROSBAG1_MAX_CONNECTIONS);
  if (all->count == all->capacity) {
    size_t capacity = all->capacity ? 2 * all->capacity : 16;
    tb__rosbag1_connection_t *items = reallocarray(all->items, capacity, sizeof *items);
    if (!items) return tb__no_memory(error);
    all->items = items;
    all->capacity = capacity;
  }
  size_t place = place_of(all, connection->id);
  memmove(&all->items[place + 1], &all->items[place], (all->count - place) * sizeof *all->items);
  all->items[place] = *connection;
  all->count++;
  return TB_OK;
}

/* `outer_topic` is that of the record, which counts: the other one is before remapping. */
static tb_status_t add(tb__rosbag1_connections_t *all, uint32_t id, tb__rosbag1_fields_t described,
                       tb__rosbag1_text_t outer_topic, const char *md5_name, const char *text_name,
                       tb_error_t *error)
{
  size_t size = described.left;
  tb__rosbag1_connection_t added = {.id = id, .header_size = size};
  added.header = malloc(size + outer_topic.size + 1);
  if (!added.header) return tb__no_memory(error);
  memcpy(added.header, described.at, size);
  memcpy(added.header + size, outer_topic.at, outer_topic.size);
  const tb__rosbag1_fields_t fields = {added.header, size};
  added.topic = (tb__rosbag1_text_t){(const char *)added.header + size, outer_topic.size};
  added.type = text_of(fields, "type");
  added.md5sum = text_of(fields, md5_name);
  added.definition = text_of(fields, text_name);
  added.callerid = text_of(fields, "callerid");
  added.is_latching = tb__rosbag1_text_equals(text_of(fields, "latching"), "1");
  bool has_caller = added.callerid.size > 0;
  if (has_caller) added.caller = tb__bag_clean(added.callerid.at, added.callerid.size, NULL);
  tb_status_t status =
      has_caller && !added.caller ? tb__no_memory(error) : insert(all, &added, error);
  if (!status) return TB_OK;
  free(added.header);
  free(added.caller);
  return status;
}

tb_status_t tb__rosbag1_connections_add(tb__rosbag1_connections_t *all,
                                        const tb__rosbag1_record_t *record, const uint8_t *data,
                                        bool *is_other, tb_error_t *error)
{
  uint32_t id;
  const tb__rosbag1_fields_t described = {data, record->data_size};
  tb__rosbag1_text_t topic = tb__rosbag1_field(record->fields, "topic");
  tb__rosbag1_text_t type = tb__rosbag1_field(described, "type");
  *is_other = false;
  if (!tb__rosbag1_field_u32(record->fields, "conn", &id) || !topic.at || !type.at)
    return tb_error_set(error, TB_ERR_CORRUPT, "a connection without id, topic or type");
  const tb__rosbag1_connection_t *known = tb__rosbag1_connections_find(all, id);
  if (!known) return add(all, id, described, topic, "md5sum", "message_definition", error);
  *is_other = !same(known->topic, topic) || !same(known->type, type);
  return TB_OK;
}

tb_status_t tb__rosbag1_connections_add_topic(tb__rosbag1_connections_t *all,
                                              const tb__rosbag1_record_t *record, tb_error_t *error)
{
  tb__rosbag1_text_t topic = tb__rosbag1_field(record->fields, "topic");
  if (!topic.at || !tb__rosbag1_field(record->fields, "type").at)
    return tb_error_set(error, TB_ERR_CORRUPT, "a definition without topic or type");
  if (tb__rosbag1_connections_of_topic(all, topic)) return TB_OK;
  return add(all, (uint32_t)all->count, record->fields, topic, "md5", "def", error);
}
