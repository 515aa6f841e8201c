#include "rosbag1/index_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/no_memory.h"

#define ENTRY_SIZE 12

void tb__rosbag1_index_check_begin(tb__rosbag1_index_check_t *check)
{
  check->count = 0;
  check->is_ordered = false;
}

void tb__rosbag1_index_check_fini(tb__rosbag1_index_check_t *check)
{
  free(check->seen);
  free(check->connections);
  *check = (tb__rosbag1_index_check_t){0};
}

tb_status_t tb__rosbag1_index_check_add(tb__rosbag1_index_check_t *check,
                                        const tb__rosbag1_found_t *message, tb_error_t *error)
{
  if (check->count == check->capacity) {
    size_t capacity = check->capacity ? 2 * check->capacity : 256;
    tb__rosbag1_seen_t *seen = reallocarray(check->seen, capacity, sizeof *seen);
    if (!seen) return tb__no_memory(error);
    check->seen = seen;
    uint32_t *connections = reallocarray(check->connections, capacity, sizeof *connections);
    if (!connections) return tb__no_memory(error);
    check->connections = connections;
    check->capacity = capacity;
  }
  check->connections[check->count] = message->connection;
  check->seen[check->count++] =
      (tb__rosbag1_seen_t){message->time_ns, message->offset, message->connection};
  return TB_OK;
}

static const tb__rosbag1_seen_t *find(const tb__rosbag1_index_check_t *check, size_t offset)
{
  size_t low = 0, high = check->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (check->seen[middle].offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low < check->count && check->seen[low].offset == offset ? &check->seen[low] : NULL;
}

static int compare(const void *a, const void *b)
{
  const uint32_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* How many are of connections below this one. */
static size_t count_below(const tb__rosbag1_index_check_t *check, uint64_t connection)
{
  size_t low = 0, high = check->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (check->connections[middle] < connection)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Ordered once for a chunk, as a hostile one has many indexes. */
static size_t count_of(tb__rosbag1_index_check_t *check, uint32_t connection)
{
  if (!check->is_ordered && check->count > 0)
    qsort(check->connections, check->count, sizeof *check->connections, compare);
  check->is_ordered = true;
  return count_below(check, (uint64_t)connection + 1) - count_below(check, connection);
}

void tb__rosbag1_index_check(tb__rosbag1_index_check_t *check, const tb__rosbag1_record_t *record,
                             const uint8_t *data, char *what, size_t what_size)
{
  uint32_t connection, count;
  if (!tb__rosbag1_field_u32(record->fields, "conn", &connection) ||
      !tb__rosbag1_field_u32(record->fields, "count", &count) ||
      record->data_size != (uint64_t)count * ENTRY_SIZE) {
    snprintf(what, what_size, "an index lacks a field, or its entries");
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *entry = data + (size_t)i * ENTRY_SIZE;
    const tb__rosbag1_seen_t *seen = find(check, tb__rosbag1_u32(entry + 8));
    if (seen && seen->connection == connection && seen->time_ns == tb__rosbag1_time(entry))
      continue;
    snprintf(what, what_size, "an index of connection %u has an entry that is no message of it",
             connection);
    return;
  }
  if (count_of(check, connection) != count)
    snprintf(what, what_size, "an index of connection %u has %u entries for %zu messages",
             connection, count, count_of(check, connection));
}
