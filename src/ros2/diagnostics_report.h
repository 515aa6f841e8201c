/* A diagnostic_msgs/msg/DiagnosticArray that is put together. Pure, but for memory. */
#ifndef TB_ROS2_DIAGNOSTICS_REPORT_H
#define TB_ROS2_DIAGNOSTICS_REPORT_H

#include <stdint.h>
#include <timebase/statistics.h>

#include "wire/messages.h"

typedef struct tb__report_chunk tb__report_chunk_t;

/* All zero: empty. Everything it points to is in its chunks. */
typedef struct tb__diagnostics_report {
  tb__diagnostic_array_t array;
  size_t status_room;
  size_t value_room; /* of the last status */
  const char *node;  /* names are "NODE: TASK" */
  const char *hardware_id;
  tb__report_chunk_t *chunks;
  tb_status_t status; /* TB_ERR_NO_MEMORY: it is not whole */
} tb__diagnostics_report_t;

void tb__diagnostics_report_fini(tb__diagnostics_report_t *report);

/* Zeroed memory that lives as long as the report. NULL: the report fails. */
void *tb__diagnostics_report_take(tb__diagnostics_report_t *report, size_t size);
/* As printf. "" if the report fails. */
const char *tb__diagnostics_report_text(tb__diagnostics_report_t *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What does not fit is left out; before 1970 it is 0. */
tb__time_message_t tb__diagnostics_report_time(int64_t ns);

/* Begins a status, to which values are added. `message` is not copied. */
void tb__diagnostics_report_begin(tb__diagnostics_report_t *report, tb_level_t level,
                                  const char *task, const char *message);
/* `key` and `value` are not copied. */
void tb__diagnostics_report_add(tb__diagnostics_report_t *report, const char *key,
                                const char *value);
void tb__diagnostics_report_count(tb__diagnostics_report_t *report, const char *key,
                                  uint64_t count);
/* With a point, whatever the locale is. What is not finite is not known, and left out. */
void tb__diagnostics_report_number(tb__diagnostics_report_t *report, const char *key,
                                   double number);

#endif
