#include "ros2/diagnostics_report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"

#define VALUES_FIRST 40 /* room of a status, which doubles */
#define CHUNK_SIZE   16384
#define TEXT_SIZE    1024

/* ---- memory ---- */

struct tb__report_chunk {
  tb__report_chunk_t *next;
  size_t used, room;
  _Alignas(16) char bytes[];
};

void *tb__diagnostics_report_take(tb__diagnostics_report_t *report, size_t size)
{
  size = (size + 15) & ~(size_t)15;
  tb__report_chunk_t *chunk = report->chunks;
  if (!chunk || chunk->room - chunk->used < size) {
    size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
    chunk = calloc(1, sizeof *chunk + room);
    if (!chunk) {
      report->status = TB_ERR_NO_MEMORY;
      return NULL;
    }
    chunk->room = room;
    chunk->next = report->chunks;
    report->chunks = chunk;
  }
  void *taken = chunk->bytes + chunk->used;
  chunk->used += size;
  return taken;
}

const char *tb__diagnostics_report_text(tb__diagnostics_report_t *report, const char *format, ...)
{
  char room[TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(room, sizeof room, format, arguments);
  va_end(arguments);
  if (size < 0) return "";
  size_t length = (size_t)size < sizeof room ? (size_t)size : sizeof room - 1;
  char *copy = tb__diagnostics_report_take(report, length + 1);
  if (!copy) return "";
  memcpy(copy, room, length);
  return copy;
}

void tb__diagnostics_report_fini(tb__diagnostics_report_t *report)
{
  for (tb__report_chunk_t *chunk = report->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    free(chunk);
  }
  report->chunks = NULL;
}

/* ---- content ---- */

tb__time_message_t tb__diagnostics_report_time(int64_t ns)
{
  int64_t sec = ns / TB_NS_PER_S;
  if (ns < 0 || sec > INT32_MAX) return (tb__time_message_t){0, 0};
  return (tb__time_message_t){(int32_t)sec, (uint32_t)(ns % TB_NS_PER_S)};
}

/* Twice the items, or NULL. */
static void *grow(tb__diagnostics_report_t *report, const void *items, size_t *room, size_t first,
                  size_t size)
{
  size_t larger_room = *room ? 2 * *room : first;
  void *larger = tb__diagnostics_report_take(report, larger_room * size);
  if (!larger) return NULL;
  if (*room) memcpy(larger, items, *room * size);
  *room = larger_room;
  return larger;
}

void tb__diagnostics_report_begin(tb__diagnostics_report_t *report, tb_level_t level,
                                  const char *task, const char *message)
{
  size_t count = report->array.status.count;
  tb__diagnostic_status_t *statuses = (tb__diagnostic_status_t *)report->array.status.items;
  if (count == report->status_room) {
    statuses = grow(report, statuses, &report->status_room, 16, sizeof *statuses);
    if (!statuses) return;
    report->array.status.items = statuses;
  }
  statuses[count] = (tb__diagnostic_status_t){
      .level = (uint8_t)level,
      .name = tb__diagnostics_report_text(report, "%s: %s", report->node, task),
      .message = message,
      .hardware_id = report->hardware_id,
  };
  report->value_room = 0;
  report->array.status.count = count + 1;
}

void tb__diagnostics_report_add(tb__diagnostics_report_t *report, const char *key,
                                const char *value)
{
  if (report->status || report->array.status.count == 0) return;
  tb__diagnostic_status_t *status =
      (tb__diagnostic_status_t *)&report->array.status.items[report->array.status.count - 1];
  tb__key_value_t *values = (tb__key_value_t *)status->values.items;
  if (status->values.count == report->value_room) {
    values = grow(report, values, &report->value_room, VALUES_FIRST, sizeof *values);
    if (!values) return;
    status->values.items = values;
  }
  values[status->values.count++] = (tb__key_value_t){key, value};
}

void tb__diagnostics_report_count(tb__diagnostics_report_t *report, const char *key, uint64_t count)
{
  const char *value = tb__diagnostics_report_text(report, "%llu", (unsigned long long)count);
  tb__diagnostics_report_add(report, key, value);
}

void tb__diagnostics_report_number(tb__diagnostics_report_t *report, const char *key, double number)
{
  char room[TB__NUMBER_TEXT_SIZE];
  if (!isfinite(number)) return;
  tb__number_text(number, room);
  tb__diagnostics_report_add(report, key, tb__diagnostics_report_text(report, "%s", room));
}
