/* The messages that report a snapshot of statistics. Pure, but for memory. */
#ifndef TB_ROS2_STATISTICS_REPORT_H
#define TB_ROS2_STATISTICS_REPORT_H

#include <timebase/statistics.h>

#include "ros2/diagnostics_report.h"

/* Everything it points to is in its chunks. */
typedef struct tb__statistics_report {
  tb__diagnostics_report_t diagnostics; /* has all memory */
  tb__metrics_message_t *metrics;
  size_t metrics_count, metrics_room;
  int64_t time_ns; /* of the clock; 0: nothing can be reported */
  int64_t from_ns; /* where the window begins, on the clock */
  double factor;   /* of the clock; NaN: unknown */
} tb__statistics_report_t;

/* `from_ns`: the time of the last report; 0: none. TB_ERR_NO_MEMORY: there is nothing to free. */
tb_status_t tb__statistics_report_init(tb__statistics_report_t *report,
                                       const tb_statistics_t *statistics, const char *hardware_id,
                                       int64_t from_ns) TB_WARN_UNUSED;
void tb__statistics_report_fini(tb__statistics_report_t *report);

#endif
