#include "source/tick_intake.h"

#include "base/log.h"

tb__tick_taken_t tb__tick_intake_take(tb__tick_intake_t *intake, const tb__tick_sample_t *tick)
{
  tb__tick_taken_t taken = {0};
  intake->last_sample_steady_ns = tick->steady_ns;
  if (!intake->first_sample_steady_ns) intake->first_sample_steady_ns = tick->steady_ns;
  taken.accepted = tb__tick_filter_sample(&intake->filter, tick) == TB__TICK_ACCEPT;
  taken.report = intake->filter.faults != intake->reported_faults;
  taken.is_state = taken.accepted && tb__clock_presence_tick(&intake->presence, tick->time_ns);
  return taken;
}

void tb__tick_taken_signal(tb__tick_taken_t taken, tb__tick_queue_t *queue)
{
  if (taken.report) tb__tick_queue_report(queue);
  if (taken.is_state) tb__tick_queue_when_drained(queue);
}

bool tb__tick_intake_refuse(tb__tick_intake_t *intake, tb_status_t status)
{
  bool is_first = intake->invalid++ == 0;
  if (is_first) intake->invalid_status = status;
  return is_first;
}

tb__tick_reports_t tb__tick_intake_reports(tb__tick_intake_t *intake)
{
  tb__tick_reports_t reports = {
      .fault = intake->filter.faults != intake->reported_faults,
      .invalid = intake->invalid && !intake->reported_invalid,
      .hold = intake->filter.options.hold_to_first,
      .why = intake->invalid_status,
  };
  intake->reported_faults = intake->filter.faults;
  intake->reported_invalid = intake->invalid > 0;
  return reports;
}

void tb__tick_reports_log_invalid(const tb__tick_reports_t *reports, const char *topic)
{
  if (reports->invalid)
    tb__log(TB_LOG_WARN, "%s: a publisher sends invalid times (%s); they are dropped", topic,
            tb_status_message(reports->why));
}
